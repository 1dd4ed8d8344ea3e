//! Go's `net/url`: what is a URL, and what its parts are.

mod escape;
mod host;

use escape::{Part, escape, unescape};

use crate::Str;
use crate::format::quote::double;

/// A URL in its parts, which are bytes, as escapes can stand for any.
#[derive(Default)]
pub(super) struct Url {
    pub(super) scheme: Vec<u8>,
    pub(super) opaque: Vec<u8>,
    pub(super) user: Option<Userinfo>,
    pub(super) host: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) query: Vec<u8>,
    pub(super) fragment: Vec<u8>,
}

/// A name and perhaps a password.
pub(super) struct Userinfo {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// Whether a text is a URL with a scheme, as `url.ParseRequestURI` reads it: nothing in it is a fragment.
pub fn is_request_url(text: &str) -> bool {
    parse_without_fragment(text.as_bytes()).is_ok_and(|url| !url.scheme.is_empty())
}

/// Reads a URL; errors have Go's words.
pub(super) fn parse(text: &[u8]) -> Result<Url, String> {
    let wrong = |part: &[u8], error: String| format!("parse {}: {error}", double(&Str::from_bytes(part)));
    let (rest, fragment) = cut(text, b'#');
    let mut url = parse_without_fragment(rest).map_err(|error| wrong(rest, error))?;
    url.fragment = unescape(fragment, Part::Fragment).map_err(|error| wrong(text, error))?;
    Ok(url)
}

fn cut(text: &[u8], separator: u8) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == separator) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, b""),
    }
}

fn parse_without_fragment(text: &[u8]) -> Result<Url, String> {
    if text.iter().any(|&byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut url = Url::default();
    if text == b"*" {
        url.path = text.to_vec();
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = cut(rest, b'?');
    url.query = query.to_vec();
    if !rest.starts_with(b"/") {
        if !scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
        if cut(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let mut path = rest;
    if let Some(authority) = rest.strip_prefix(b"//")
        && (!scheme.is_empty() || !rest.starts_with(b"///"))
    {
        let end = authority.iter().position(|&byte| byte == b'/').unwrap_or(authority.len());
        (url.user, url.host) = parse_authority(&url.scheme, &authority[..end])?;
        path = &authority[end..];
    }
    url.path = unescape(path, Part::Path)?;
    Ok(url)
}

/// What stands before the first colon, if it can be a scheme.
fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let member = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let end = text.iter().position(|&byte| !member(byte)).unwrap_or(text.len());
    match (text.get(end), text.first()) {
        (Some(b':'), _) if end == 0 => Err("missing protocol scheme".to_owned()),
        (Some(b':'), Some(first)) if first.is_ascii_alphabetic() => Ok((&text[..end], &text[end + 1..])),
        _ => Ok((b"", text)),
    }
}

fn parse_authority(scheme: &[u8], authority: &[u8]) -> Result<(Option<Userinfo>, Vec<u8>), String> {
    let Some(at) = authority.iter().rposition(|&byte| byte == b'@') else {
        return Ok((None, host::parse(scheme, authority)?));
    };
    let host = host::parse(scheme, &authority[at + 1..])?;
    let userinfo = &authority[..at];
    let member = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !userinfo.iter().all(|&byte| member(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(userinfo, b':');
    let name = unescape(name, Part::Userinfo)?;
    let password = match userinfo.contains(&b':') {
        true => Some(unescape(password, Part::Userinfo)?),
        false => None,
    };
    Ok((Some(Userinfo { name, password }), host))
}

impl Userinfo {
    /// As it stands in a URL.
    pub(super) fn show(&self) -> Vec<u8> {
        let mut text = escape(&self.name, Part::Userinfo);
        if let Some(password) = &self.password {
            text.push(b':');
            text.extend(escape(password, Part::Userinfo));
        }
        text
    }
}

impl Url {
    /// The host without its port and without brackets.
    pub(super) fn hostname(&self) -> &[u8] {
        let host = match self.host.iter().rposition(|&byte| byte == b':') {
            Some(colon) if host::is_port(&self.host[colon..]) => &self.host[..colon],
            _ => &self.host,
        };
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }

    /// The URL as text.
    pub(super) fn show(&self) -> Vec<u8> {
        let mut text = Vec::new();
        if !self.scheme.is_empty() {
            text.extend_from_slice(&self.scheme);
            text.push(b':');
        }
        if self.opaque.is_empty() {
            self.show_hierarchy(&mut text);
        } else {
            text.extend_from_slice(&self.opaque);
        }
        if !self.query.is_empty() {
            text.push(b'?');
            text.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            text.push(b'#');
            text.extend(escape(&self.fragment, Part::Fragment));
        }
        text
    }

    fn show_hierarchy(&self, text: &mut Vec<u8>) {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
            text.extend_from_slice(b"//");
            if let Some(user) = &self.user {
                text.extend(user.show());
                text.push(b'@');
            }
            text.extend(escape(&self.host, Part::Host));
        }
        let path = if self.path == b"*" { self.path.clone() } else { escape(&self.path, Part::Path) };
        if !self.host.is_empty() && path.first().is_some_and(|&first| first != b'/') {
            text.push(b'/');
        }
        // A colon in the first segment would be taken for the end of a scheme.
        if text.is_empty() && cut(&path, b'/').0.contains(&b':') {
            text.extend_from_slice(b"./");
        }
        text.extend(path);
    }
}
