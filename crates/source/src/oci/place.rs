//! Where an artifact is: a registry, a name in it, and a tag or digest.

use std::net::IpAddr;

use reqwest::Url;

use crate::digest::is_digest;
use crate::error::SourceError;
use crate::limits::{MAX_NAME_TEXT, MAX_TEXT};
use crate::repository::Access;
use crate::secret::Secret;
use crate::url::{percent_decode, redact};

/// A registry and the start of the names that are meant in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// `https://host:port/`, or http.
    pub(crate) home: Url,
    /// The name in the registry, or the part that the names of all charts start with; may be empty.
    pub(crate) name: String,
    /// The tag or digest that the URL holds; empty if it has none.
    pub(crate) reference: String,
}

/// Whether the URL of a Helm repository means a registry even if nothing else says so: by its scheme, or by
/// having none.
pub(crate) fn is_registry(url: &str) -> bool {
    url.starts_with("oci://") || !url.contains("://")
}

impl Place {
    /// Takes a URL apart: `oci://host/name`, the same without a scheme, or with `https://` or `http://`.
    /// A user and password that it holds are moved to the credentials.
    pub(crate) fn parse(url: &str, access: &mut Access) -> Result<Self, SourceError> {
        let wrong = |reason: &str| SourceError::Url { url: redact(url), reason: reason.to_owned() };
        let text = url.trim();
        if text.is_empty() || text.len() > MAX_TEXT || text.chars().any(char::is_control) {
            return Err(wrong("it is empty, too long or has control characters"));
        }
        let (scheme, rest) = text.split_once("://").unwrap_or(("oci", text));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let encrypted = match scheme {
            "http" => false,
            "https" => true,
            // Certificates for loopback are rare, and nobody else can listen there.
            "oci" => !access.plain_http && (!is_loopback(host) || !access.certificate_authority.is_empty()),
            _ => return Err(wrong("the scheme of a registry is oci")),
        };
        let scheme = if encrypted { "https" } else { "http" };
        // The name by which people know it is not that of its server.
        let host = if host == "docker.io" { "registry-1.docker.io" } else { host };
        let home = Url::parse(&format!("{scheme}://{host}/")).map_err(|error| wrong(&error.to_string()))?;
        if home.host_str().is_none_or(str::is_empty) || home.path() != "/" {
            return Err(wrong("it has no host"));
        }
        if let Some((user, _)) = authority.rsplit_once('@')
            && access.username.is_empty()
            && access.password.is_empty()
        {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            access.username = percent_decode(user);
            access.password = Secret::from(percent_decode(password));
        }
        let (name, reference) = split_reference(path.trim_matches('/'));
        if !name.is_empty() && !is_name(name) {
            return Err(wrong("the name in the registry is not one"));
        }
        if !reference.is_empty() && !is_reference(reference) {
            return Err(wrong("the tag or digest is not one"));
        }
        Ok(Place { home, name: name.to_owned(), reference: reference.to_owned() })
    }

    /// The name of a chart below this place.
    pub(crate) fn chart(&self, chart: &str) -> Result<String, SourceError> {
        let full = if self.name.is_empty() { chart.to_owned() } else { format!("{}/{chart}", self.name) };
        if is_name(chart) && full.len() <= MAX_NAME_TEXT {
            return Ok(full);
        }
        Err(SourceError::ChartName {
            chart: chart.chars().take(200).collect(),
            reason: "a registry has names of small letters and digits, with dots, dashes and slashes between",
        })
    }

    /// The place as users write it.
    pub(crate) fn shown(&self) -> String {
        let port = self.home.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = self.home.host_str().unwrap_or_default();
        format!("oci://{host}{port}/{}", self.name).trim_end_matches('/').to_owned()
    }
}

/// Whether a host, with or without its port, is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else { return false };
    let name = url.host_str().unwrap_or_default();
    match name.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

/// `name:tag`, `name@digest` or `name:tag@digest`, of which the digest counts.
fn split_reference(path: &str) -> (&str, &str) {
    let (rest, digest) = path.split_once('@').unwrap_or((path, ""));
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (rest, ""),
    };
    (name, if digest.is_empty() { tag } else { digest })
}

/// Words of small letters and digits, with single separators between; no dot segments, nothing encoded.
fn is_name(name: &str) -> bool {
    let word = |word: &str| {
        let edges = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
        edges(word.chars().next())
            && edges(word.chars().next_back())
            && word.chars().all(inner)
            && !word.contains("..")
    };
    name.len() <= MAX_NAME_TEXT && name.split('/').all(word)
}

/// Whether a text is a tag or a digest.
pub(crate) fn is_reference(text: &str) -> bool {
    is_tag(text) || is_digest(text)
}

/// Whether a text is a tag.
pub(crate) fn is_tag(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str) -> String {
        match Place::parse(url, &mut Access::default()) {
            Ok(Place { home, name, reference }) => format!("{home} {name} {reference}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_form_of_place_is_taken_apart() {
        assert_eq!(check("oci://ghcr.io/org/charts"), "https://ghcr.io/ org/charts ");
        assert_eq!(check("ghcr.io/org/charts/"), "https://ghcr.io/ org/charts ");
        assert_eq!(check("r.example.com:5000"), "https://r.example.com:5000/  ");
        assert_eq!(check("oci://docker.io/library/x:1.0"), "https://registry-1.docker.io/ library/x 1.0");
        assert_eq!(check("oci://localhost:5000/x"), "http://localhost:5000/ x ");
        assert_eq!(check("oci://127.0.0.1:5000/x"), "http://127.0.0.1:5000/ x ");
        assert_eq!(check("http://r/x"), "http://r/ x ");
        let digest = crate::digest::sha256(b"");
        assert_eq!(check(&format!("r/x:1@{digest}")), format!("https://r/ x {digest}"));
    }

    #[test]
    fn a_place_that_leads_elsewhere_is_refused() {
        for url in
            ["oci://r/../x", "oci://r/a/./b", "oci://r/a//b", "oci://r/%2e%2e/x", "oci://r/A", "ftp://r/x"]
        {
            assert!(check(url).contains("is not the URL of a repository"), "{url}: {}", check(url));
        }
        let place = Place::parse("oci://r/org", &mut Access::default()).unwrap();
        assert_eq!(place.chart("team/nginx").unwrap(), "org/team/nginx");
        for chart in ["../x", "a/../b", "/x", "", ".", "x/", "a?b", "a#b", "a%2fb"] {
            assert!(matches!(place.chart(chart), Err(SourceError::ChartName { .. })), "{chart}");
        }
    }

    #[test]
    fn a_user_in_the_url_becomes_a_credential() {
        let mut access = Access::default();
        let place = Place::parse("oci://me:p%40ss@r/x", &mut access).unwrap();
        assert_eq!((access.username.as_str(), access.password.reveal()), ("me", "p@ss"));
        assert_eq!(place.shown(), "oci://r/x");
    }
}
