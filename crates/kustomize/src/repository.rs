//! The many ways to write where a kustomization is in a Git repository.

use std::time::Duration;

/// A directory in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryPath {
    /// What was written down.
    pub(crate) raw: String,
    /// What is cloned.
    pub(crate) url: String,
    /// The directory in it.
    pub(crate) directory: String,
    /// The branch, tag or commit; empty for what the repository takes by itself.
    pub(crate) reference: String,
    /// Whether what the repository refers to comes with it.
    pub(crate) submodules: bool,
    /// How long getting it may take.
    pub(crate) timeout: Duration,
    /// Whether it began with `git::`, which is warned of.
    pub(crate) is_forced: bool,
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(27);
const FILE: &str = "file://";
const SCHEMES: [&str; 4] = ["ssh://", "https://", "http://", FILE];

/// What is said when a path begins with `git::`.
pub(crate) const FORCED_WARNING: &str = "Warning: Forcing the git protocol using the 'git::' URL prefix is not \
    supported. Kustomize currently strips this invalid prefix, but will stop doing so in a future release. Please \
    remove the 'git::' prefix from your configuration.";

impl RepositoryPath {
    /// Reads a path; nothing if it does not lead into a repository.
    pub(crate) fn parse(raw: &str) -> Option<Self> {
        if raw.starts_with('/') {
            return None;
        }
        let (address, query) = raw.split_once('?').unwrap_or((raw, ""));
        let address = Address::parse(address)?;
        let (repository, directory) = split(&address.rest, address.is_file)?;
        if repository.is_empty() || leaves(directory) {
            return None;
        }
        let mut path = RepositoryPath {
            raw: raw.to_owned(),
            url: format!("{}{repository}", address.host),
            directory: directory.strip_prefix('/').unwrap_or(directory).to_owned(),
            reference: String::new(),
            submodules: true,
            timeout: DEFAULT_TIMEOUT,
            is_forced: address.is_forced,
        };
        path.read_query(query);
        Some(path)
    }

    /// What the part after the `?` says. One that cannot be read says nothing.
    fn read_query(&mut self, query: &str) {
        let Some(pairs) = pairs(query) else { return };
        let first = |name: &str| {
            let found = pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
            found.filter(|value| !value.is_empty())
        };
        if let Some(reference) = first("ref").or_else(|| first("version")) {
            self.reference = reference.to_owned();
        }
        if let Some(timeout) = first("timeout").and_then(duration) {
            self.timeout = timeout;
        }
        match first("submodules") {
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => self.submodules = true,
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => self.submodules = false,
            _ => {}
        }
    }
}

/// The beginning of a path with what follows it.
struct Address {
    host: String,
    rest: String,
    is_file: bool,
    is_forced: bool,
}

impl Address {
    fn parse(text: &str) -> Option<Self> {
        let (is_forced, text) = match without_prefix(text, "git::") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (scheme, text) = SCHEMES
            .iter()
            .find_map(|scheme| without_prefix(text, scheme).map(|rest| (*scheme, rest)))
            .unwrap_or(("", text));
        let (user, rest) = text.split_at(user_length(text));
        if scheme == FILE {
            return Some(Address { host: FILE.to_owned(), rest: text.to_owned(), is_file: true, is_forced });
        }
        let is_github =
            without_prefix(rest, "github.com/").or_else(|| without_prefix(rest, "github.com:")).is_some();
        let by_colon = scheme.is_empty() && (!user.is_empty() || is_github);
        if scheme.is_empty() && !by_colon {
            return None;
        }
        let (host, rest) = rest.split_at(separator(rest, by_colon).map_or(rest.len(), |at| at + 1));
        let host = match (is_github, scheme, user) {
            (true, "ssh://", _) => format!("{user}github.com:"),
            (true, _, "") => "https://github.com/".to_owned(),
            (true, ..) => format!("{user}github.com:"),
            _ if host.is_empty() => return None,
            _ => format!("{scheme}{user}{host}"),
        };
        Some(Address { host, rest: rest.to_owned(), is_file: false, is_forced })
    }
}

/// What follows a prefix, in whatever case that is written.
fn without_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// How long the user before a host is, with its `@`.
fn user_length(text: &str) -> usize {
    let Some((user, _)) = text.split_once('@') else { return 0 };
    let begins = user.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let goes_on = user.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    if begins && goes_on { user.len() + 1 } else { 0 }
}

/// Where the host ends: at a `/`, or at a `:` before it where that is allowed.
fn separator(text: &str, by_colon: bool) -> Option<usize> {
    let slash = text.find('/');
    if !by_colon {
        return slash;
    }
    let colon = text.find(':');
    match (slash, colon) {
        (None, colon) => colon,
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => Some(colon),
        (slash, _) => slash,
    }
}

/// The repository and the directory in it: cut where a marker says so, else after the second step.
fn split(rest: &str, is_file: bool) -> Option<(&str, &str)> {
    if let Some(at) = rest.find("_git/") {
        let start = at + "_git/".len();
        let end = rest[start..].find('/').map_or(rest.len(), |at| start + at);
        return Some((&rest[..end], rest.get(end + 1..).unwrap_or_default()));
    }
    if let Some(at) = rest.find("//") {
        return Some((&rest[..at], &rest[at + 2..]));
    }
    if let Some(at) = rest.find(".git") {
        return Some(rest.split_at(at + ".git".len()));
    }
    if is_file {
        return Some((rest, ""));
    }
    let mut slashes = rest.match_indices('/');
    slashes.next()?;
    match slashes.next() {
        Some((at, _)) => Some((&rest[..at], &rest[at + 1..])),
        None => Some((rest, "")),
    }
}

/// Whether a directory is outside of its repository.
fn leaves(directory: &str) -> bool {
    let mut depth = 0_i64;
    for part in directory.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

/// The pairs of a query; nothing if one of them is not written as it should be.
fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            if part.contains(';') {
                return None;
            }
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            Some((unescaped(key)?, unescaped(value)?))
        })
        .collect()
}

/// A text of a query as it was meant.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A positive time: seconds, or a number with its unit, any number of times.
fn duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<i64>() {
        return u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs);
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut total = 0.0;
    while !rest.is_empty() {
        let number = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let unit_end = rest[number..]
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .map_or(rest.len(), |at| number + at);
        let unit = match &rest[number..unit_end] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total += rest[..number].parse::<f64>().ok()? * unit;
        rest = &rest[unit_end..];
    }
    Duration::try_from_secs_f64(total).ok().filter(|total| !total.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: Option<(&str, &str, &str)>) {
        let found = RepositoryPath::parse(raw);
        let told =
            found.as_ref().map(|path| (path.url.as_str(), path.directory.as_str(), path.reference.as_str()));
        assert_eq!(told, expected, "{raw}");
    }

    #[test]
    fn a_repository_ends_where_a_marker_says_or_after_two_steps() {
        check("github.com/o/r", Some(("https://github.com/o/r", "", "")));
        check("github.com/o/r//a/b?ref=v1", Some(("https://github.com/o/r", "a/b", "v1")));
        check("https://github.com/o/r/a/b?ref=v1", Some(("https://github.com/o/r", "a/b", "v1")));
        check("https://github.com/o/r.git/a", Some(("https://github.com/o/r.git", "a", "")));
        check("https://host/o/r", Some(("https://host/o/r", "", "")));
        check("https://gitlab.com/g/s/p//a", Some(("https://gitlab.com/g/s/p", "a", "")));
        check(
            "https://dev.azure.com/o/p/_git/r/a/b?version=x",
            Some(("https://dev.azure.com/o/p/_git/r", "a/b", "x")),
        );
        check("https://github.com/o", None);
    }

    #[test]
    fn hosts_are_written_in_many_ways() {
        check("git@github.com:o/r.git/a", Some(("git@github.com:o/r.git", "a", "")));
        check("git@host.example:o/r//a?ref=b", Some(("git@host.example:o/r", "a", "b")));
        check("ssh://git@host:2222/o/r.git//a", Some(("ssh://git@host:2222/o/r.git", "a", "")));
        check("ssh://git@github.com/o/r//a", Some(("git@github.com:o/r", "a", "")));
        check("git::https://github.com/o/r//a", Some(("https://github.com/o/r", "a", "")));
        check("GitHub.com/o/r", Some(("https://github.com/o/r", "", "")));
        check("file:///srv/r.git//a", Some(("file:///srv/r.git", "a", "")));
        check("file:///srv/r", Some(("file:///srv/r", "", "")));
    }

    #[test]
    fn a_path_is_not_a_repository() {
        for path in ["../base", "base", "/o/r", "a/b/c", "./github.com/o/r", "host.example/o/r"] {
            check(path, None);
        }
        check("https://github.com/o/r//../x", None);
    }

    #[test]
    fn a_query_says_what_to_get_and_how() {
        let path =
            RepositoryPath::parse("github.com/o/r?timeout=2m30s&submodules=0&version=a&ref=b%2Fc").unwrap();
        assert_eq!((path.reference.as_str(), path.submodules), ("b/c", false));
        assert_eq!(path.timeout, Duration::from_secs(150));
        let path = RepositoryPath::parse("github.com/o/r?timeout=61").unwrap();
        assert_eq!((path.timeout, path.submodules), (Duration::from_secs(61), true));
        assert_eq!(RepositoryPath::parse("github.com/o/r?timeout=-1").unwrap().timeout, DEFAULT_TIMEOUT);
    }
}
