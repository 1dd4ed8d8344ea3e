//! Addresses of repositories as people write them, for links in messages.

/// What can be told from an address: `git@host:org/repo.git` has a host and a path like any other.
struct Address<'a> {
    host: &'a str,
    path: String,
    query: &'a str,
}

fn read(url: &str) -> Result<Address<'_>, String> {
    let wrong = || format!("{url:?} is no address of a repository");
    if let Some((_, rest)) = url.split_once("://") {
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let host = authority.rsplit('@').next().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        return Ok(Address { host, path: path.to_owned(), query });
    }
    // What ssh takes: the user may be missing.
    match url.split_once(':') {
        Some((authority, path)) if !authority.contains('/') && !authority.is_empty() => {
            let host = authority.rsplit('@').next().unwrap_or_default();
            Ok(Address { host, path: path.to_owned(), query: "" })
        }
        _ if url.is_empty() => Err(wrong()),
        _ => Ok(Address { host: "", path: url.to_owned(), query: "" }),
    }
}

/// `org/repo` of an address, without `.git`.
pub(crate) fn full_name(url: &str) -> Result<String, String> {
    let address = read(url)?;
    let path = address.path.strip_suffix(".git").unwrap_or(&address.path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    Ok(match parts.as_slice() {
        [owner, name, ..] => format!("{owner}/{name}"),
        _ => path.to_owned(),
    })
}

/// The same address for a browser, without a user.
pub(crate) fn to_https(url: &str) -> Result<String, String> {
    let Address { host, path, query } = read(url)?;
    let slash = if path.starts_with('/') || path.is_empty() { "" } else { "/" };
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(format!("https://{host}{slash}{path}{query}"))
}

/// What Go's QueryEscape makes of a text.
pub(crate) fn query_escape(bytes: &[u8]) -> String {
    let mut escaped = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(*byte));
            }
            b' ' => escaped.push('+'),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{full_name, query_escape, to_https};

    #[test]
    fn every_way_to_write_an_address_gives_the_same_link() {
        for url in [
            "https://github.com/argoproj/argo-cd.git",
            "https://user:word@github.com/argoproj/argo-cd.git",
            "git@github.com:argoproj/argo-cd.git",
            "ssh://git@github.com/argoproj/argo-cd.git",
        ] {
            assert_eq!(full_name(url).as_deref(), Ok("argoproj/argo-cd"), "{url}");
            assert_eq!(to_https(url).as_deref(), Ok("https://github.com/argoproj/argo-cd.git"), "{url}");
        }
        assert!(full_name("").is_err());
    }

    #[test]
    fn texts_are_escaped_for_queries() {
        assert_eq!(query_escape("a b&c=ü/".as_bytes()), "a+b%26c%3D%C3%BC%2F");
    }
}
