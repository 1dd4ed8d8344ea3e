//! What a registry asks for when it does not let one in.

/// A way to get in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// User and password.
    Basic,
    /// A token that another service gives out.
    Bearer {
        /// Where it is given out.
        realm: String,
        /// Whom it is for.
        service: String,
        /// What it is for.
        scope: String,
    },
}

/// Reads `WWW-Authenticate` headers, each of which may offer several ways. Those that are not known are
/// passed over.
pub(super) fn read(headers: &[String]) -> Vec<Challenge> {
    headers.iter().flat_map(|header| offers(header)).collect()
}

fn offers(header: &str) -> Vec<Challenge> {
    let mut found = Vec::new();
    let mut rest = header.trim_start();
    while !rest.is_empty() {
        let (scheme, after) = rest.split_at(rest.find([' ', ',']).unwrap_or(rest.len()));
        let (parameters, after) = parameters(after);
        let value = |name: &str| {
            let found = parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        if scheme.eq_ignore_ascii_case("basic") {
            found.push(Challenge::Basic);
        } else if scheme.eq_ignore_ascii_case("bearer") && !value("realm").is_empty() {
            let (realm, service, scope) = (value("realm"), value("service"), value("scope"));
            found.push(Challenge::Bearer { realm, service, scope });
        }
        rest = after.trim_start_matches([' ', ',', '\t']);
    }
    found
}

/// `key=value, key="value"` up to where another scheme begins, and what follows.
fn parameters(text: &str) -> (Vec<(String, String)>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches([' ', ',', '\t']);
        let end =
            next.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(next.len());
        let (key, after) = next.split_at(end);
        let Some(value) = after.trim_start().strip_prefix('=').filter(|_| !key.is_empty()) else {
            return (found, next);
        };
        let (value, after) = match value.trim_start().strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => {
                let end = value.find([',', ' ']).unwrap_or(value.len());
                (value[..end].to_owned(), &value[end..])
            }
        };
        found.push((key.to_owned(), value));
        rest = after;
    }
}

fn unquote(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, text.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            character => value.push(character),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str) -> Vec<Challenge> {
        read(&[header.to_owned()])
    }

    fn bearer(realm: &str, service: &str, scope: &str) -> Challenge {
        Challenge::Bearer { realm: realm.to_owned(), service: service.to_owned(), scope: scope.to_owned() }
    }

    #[test]
    fn every_form_of_challenge_is_read() {
        assert_eq!(check("Basic realm=\"x, y\""), [Challenge::Basic]);
        assert_eq!(check("basic"), [Challenge::Basic]);
        assert_eq!(
            check(r#"Bearer realm="https://a/token",service="r",scope="repository:x:pull,push""#),
            [bearer("https://a/token", "r", "repository:x:pull,push")]
        );
        assert_eq!(
            check(r#"Negotiate, Bearer realm=https://a/t , service=r, Basic realm="b""#),
            [bearer("https://a/t", "r", ""), Challenge::Basic]
        );
        assert_eq!(check(r#"Bearer realm="a\"b""#), [bearer("a\"b", "", "")]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_a_server_sends_is_too_much(text in "(Bearer |Basic|realm=|[\"\\\\=, üa]){0,12}") {
            check(&text);
        }
    }

    #[test]
    fn nonsense_is_no_challenge() {
        for text in
            ["", ",,,", "Bearer", "Bearer realm=\"\"", "Digest nonce=\"x", "=", "\"", "Bearer =x", "ü=ü"]
        {
            assert_eq!(check(text), [], "{text}");
        }
    }
}
