//! Where a repository is.

use std::path::{Path, PathBuf};

use crate::error::SourceError;
use crate::limits::MAX_TEXT;
use crate::secret::Secret;

/// The URL of a Git repository, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoUrl {
    /// A repository on this machine, bare or with a work tree.
    Local(PathBuf),
    /// A repository behind the smart HTTP protocol.
    Http(HttpUrl),
    /// A repository behind SSH.
    Ssh(SshUrl),
}

/// An `https://` or `http://` URL without what it says about the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl {
    /// The URL, free of user and password.
    pub url: String,
    /// `host:port`.
    pub host: String,
    /// The user that the URL named.
    pub username: String,
    /// The password that the URL held.
    pub password: Secret,
}

/// `ssh://user@host:port/path` or `user@host:path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshUrl {
    /// Who logs in.
    pub user: String,
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path as the server gets it: absolute, from `~`, or relative to the user's home.
    pub path: String,
}

impl RepoUrl {
    /// Takes a URL apart. A plain path is a repository on this machine.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let text = text.trim();
        let wrong = |reason: &str| SourceError::Url { url: redact(text), reason: reason.to_owned() };
        if text.is_empty() {
            return Err(wrong("it is empty"));
        }
        if text.len() > MAX_TEXT || text.chars().any(char::is_control) {
            return Err(wrong("it is too long or has control characters"));
        }
        match text.split_once("://") {
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                "file" => {
                    local(rest).ok_or_else(|| wrong("a file URL names an absolute path on this machine"))
                }
                "http" | "https" => http(text).map(RepoUrl::Http).map_err(|reason| wrong(&reason)),
                "ssh" | "git+ssh" | "ssh+git" => ssh(rest).map(RepoUrl::Ssh).map_err(|reason| wrong(&reason)),
                "git" => {
                    Err(wrong("the git:// protocol is neither encrypted nor authenticated; use https or ssh"))
                }
                _ => Err(wrong("its scheme is not https, http, ssh or file")),
            },
            None if is_path(text) => Ok(RepoUrl::Local(PathBuf::from(text))),
            None => scp(text)
                .ok_or_else(|| {
                    wrong("it has no scheme; expected https://, ssh://, git@host:path or an absolute path")
                })?
                .map(RepoUrl::Ssh)
                .map_err(|reason| wrong(&reason)),
        }
    }

    /// `host:port`, or the path.
    pub fn host(&self) -> String {
        match self {
            RepoUrl::Local(path) => path.display().to_string(),
            RepoUrl::Http(http) => http.host.clone(),
            RepoUrl::Ssh(ssh) => ssh.authority(),
        }
    }
}

impl SshUrl {
    /// `host:port`, with brackets round an IPv6 address.
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || matches!(text, "." | "..")
}

fn local(rest: &str) -> Option<RepoUrl> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    Path::new(path).is_absolute().then(|| RepoUrl::Local(PathBuf::from(percent_decode(path))))
}

fn http(text: &str) -> Result<HttpUrl, String> {
    let mut url = reqwest::Url::parse(text).map_err(|error| error.to_string())?;
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or("it has no host")?.to_owned();
    let port = url.port_or_known_default().unwrap_or(443);
    let username = percent_decode(url.username());
    let password = Secret::from(url.password().map(percent_decode).unwrap_or_default());
    // Cannot fail: a URL with a host takes both.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url.set_query(None);
    let url = url.as_str().trim_end_matches('/').to_owned();
    Ok(HttpUrl { url, host: format!("{host}:{port}"), username, password })
}

fn ssh(rest: &str) -> Result<SshUrl, String> {
    let (authority, path) = rest.split_once('/').ok_or("it has no path")?;
    let (user, address) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = split_port(address)?;
    // `/~user/x` is relative to a home directory, as in git.
    let path = if path.starts_with('~') { path.to_owned() } else { format!("/{path}") };
    ssh_url(user, host, port, &percent_decode(&path))
}

/// `user@host:path`; `None` if it is nothing of the kind.
fn scp(text: &str) -> Option<Result<SshUrl, String>> {
    let (address, path) = match text.find(']') {
        // user@[::1]:path
        Some(end) if text.contains('[') => (text.get(..=end)?, text.get(end + 1..)?.strip_prefix(':')?),
        _ => text.split_once(':')?,
    };
    if address.contains('/') {
        return None;
    }
    let (user, host) = address.rsplit_once('@').unwrap_or(("", address));
    Some(ssh_url(user, host.trim_matches(['[', ']']), 22, path))
}

fn ssh_url(user: &str, host: &str, port: u16, path: &str) -> Result<SshUrl, String> {
    // The password of an ssh URL is never used, and must not be shown.
    let user = user.split_once(':').map_or(user, |(user, _)| user);
    if host.is_empty() {
        return Err("it has no host".to_owned());
    }
    if path.trim_matches('/').is_empty() {
        return Err("it has no path".to_owned());
    }
    let user = if user.is_empty() { "git" } else { user };
    Ok(SshUrl { user: user.to_owned(), host: host.to_owned(), port, path: path.to_owned() })
}

fn split_port(address: &str) -> Result<(&str, u16), String> {
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or("the address has no closing bracket")?;
            (host, port.strip_prefix(':').unwrap_or_default())
        }
        None => address.split_once(':').unwrap_or((address, "")),
    };
    let port =
        if port.is_empty() { 22 } else { port.parse().map_err(|_| format!("{port:?} is not a port"))? };
    Ok((host, port))
}

pub(crate) fn percent_decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digits = (byte == b'%').then(|| Some((hex(ahead.next()?)?, hex(ahead.next()?)?))).flatten();
        match digits {
            Some((high, low)) => {
                out.push(high * 16 + low);
                bytes = ahead;
            }
            None => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The URL without a password or token, fit for errors and logs.
pub fn redact(url: &str) -> String {
    let url = url.trim();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // A signature or token may stand in the query.
    let path = path.split('?').next().unwrap_or_default();
    let Some((user, host)) = authority.rsplit_once('@') else {
        let host = authority.split('?').next().unwrap_or_default();
        return format!("{scheme}://{host}{path}");
    };
    let host = host.split('?').next().unwrap_or_default();
    // With https, a token is often given as the user.
    let keep = if scheme.to_ascii_lowercase().contains("ssh") { user.split(':').next() } else { None };
    match keep {
        Some(user) => format!("{scheme}://{user}@{host}{path}"),
        None => format!("{scheme}://{host}{path}"),
    }
}

/// The URL as Argo CD compares it: lower case, no `.git`, the forms of SSH made one.
///
/// Only for telling repositories apart and for finding their credentials; it may not work as a URL.
pub fn normalize(url: &str) -> String {
    let mut text = url.trim().to_lowercase();
    if is_ssh(&text) && !text.starts_with("ssh://") {
        text = text.replacen(':', "/", 1);
    }
    let text = text.strip_suffix(".git").unwrap_or(&text);
    text.strip_prefix("ssh://").unwrap_or(text).to_owned()
}

/// Whether two URLs name the same repository.
pub fn same(left: &str, right: &str) -> bool {
    normalize(left) == normalize(right)
}

/// What tells a repository from others however it is reached: host and path, without scheme, user, port and `.git`.
pub fn identity(url: &str) -> String {
    let bare = |path: &str| path.trim_matches('/').trim_end_matches(".git").to_lowercase();
    match RepoUrl::parse(url) {
        Ok(RepoUrl::Local(path)) => path.canonicalize().unwrap_or(path).display().to_string(),
        Ok(RepoUrl::Http(http)) => {
            let rest = http.url.split_once("://").map_or("", |(_, rest)| rest);
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
            format!("{}/{}", host.to_lowercase(), bare(path))
        }
        Ok(RepoUrl::Ssh(ssh)) => format!("{}/{}", ssh.host.to_lowercase(), bare(&ssh.path)),
        Err(_) => normalize(url),
    }
}

/// Argo CD's test: something before an `@` that has neither slash nor colon, and only one `@`.
fn is_ssh(text: &str) -> bool {
    let text = text.strip_prefix("ssh://").unwrap_or(text);
    text.split_once('@')
        .is_some_and(|(user, rest)| !user.contains(['/', ':']) && !rest.is_empty() && !rest.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        match RepoUrl::parse(text) {
            Ok(RepoUrl::Local(path)) => format!("local {}", path.display()),
            Ok(RepoUrl::Http(http)) => format!("http {} at {} as {:?}", http.url, http.host, http.username),
            Ok(RepoUrl::Ssh(ssh)) => format!("ssh {} as {} path {}", ssh.authority(), ssh.user, ssh.path),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_form_of_url_is_taken_apart() {
        assert_eq!(check("/srv/repo"), "local /srv/repo");
        assert_eq!(check("file:///srv/my%20repo.git"), "local /srv/my repo.git");
        assert_eq!(check("file://localhost/srv"), "local /srv");
        assert_eq!(check("./here"), "local ./here");
        assert_eq!(
            check("https://GitHub.com/a/b.git"),
            "http https://github.com/a/b.git at github.com:443 as \"\""
        );
        assert_eq!(check("http://u:p@h:8080/a/"), "http http://h:8080/a at h:8080 as \"u\"");
        assert_eq!(check("git@github.com:a/b.git"), "ssh github.com:22 as git path a/b.git");
        assert_eq!(check("github.com:a/b"), "ssh github.com:22 as git path a/b");
        assert_eq!(check("ssh://me@h:2222/a/b"), "ssh h:2222 as me path /a/b");
        assert_eq!(check("ssh://h/~me/b"), "ssh h:22 as git path ~me/b");
        assert_eq!(check("ssh://[::1]:7/b"), "ssh [::1]:7 as git path /b");
        assert_eq!(check("git@[::1]:b"), "ssh [::1]:22 as git path b");
    }

    #[test]
    fn a_bad_url_says_what_is_wrong_and_shows_no_password() {
        assert_eq!(check(""), "\"\" is not the URL of a repository: it is empty");
        assert!(check("ftp://u:hidden@h/x").contains("\"ftp://h/x\""));
        assert!(check("git://h/x").contains("neither encrypted"));
        assert!(check("somewhere").contains("no scheme"));
        assert!(check("ssh://h:nope/x").contains("\"nope\" is not a port"));
        assert!(check("https://").contains("host"));
        assert!(check("file://server/share").contains("absolute path"));
    }

    #[test]
    fn passwords_are_cut_out() {
        assert_eq!(redact("https://me:hidden@h/x"), "https://h/x");
        assert_eq!(redact("https://token@h/x"), "https://h/x");
        assert_eq!(redact("ssh://me:hidden@h/x"), "ssh://me@h/x");
        assert_eq!(redact("git@h:x"), "git@h:x");
        assert_eq!(redact("https://h/x?sig=hidden"), "https://h/x");
        assert_eq!(redact("https://me:hidden@h?sig=hidden"), "https://h");
    }

    #[test]
    fn one_repository_is_known_however_it_is_reached() {
        for url in [
            "https://git.example.com/Team/shop.git",
            "https://me:hidden@git.example.com:8443/team/shop/",
            "git@git.example.com:team/shop.git",
            "ssh://git@git.example.com:2222/team/shop",
        ] {
            assert_eq!(identity(url), "git.example.com/team/shop", "{url}");
        }
        assert_ne!(identity("https://git.example.com/team/shop2"), "git.example.com/team/shop");
    }

    #[test]
    fn urls_are_compared_as_argo_cd_does() {
        assert!(same("https://github.com/Argoproj/argo-cd", "https://github.com/argoproj/argo-cd.git"));
        assert!(same("git@github.com:argoproj/argo-cd", "ssh://git@github.com/argoproj/argo-cd.git"));
        assert!(same(" https://GITHUB.com/x ", "https://github.com/x"));
        assert!(!same("https://github.com/x", "git@github.com:x"));
        assert_eq!(normalize("git@github.com:a/b.git"), "git@github.com/a/b");
        assert_eq!(normalize("ssh://git@host:2222/a"), "git@host:2222/a");
    }
}
