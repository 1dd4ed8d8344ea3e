//! URLs, taken apart.

use std::collections::BTreeMap;

use lynceus_object::Str;

use super::error::EvalError;
use super::value::Val;

type Outcome = Result<Val, EvalError>;

/// The parts of an absolute URL or of an absolute path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    scheme: Str,
    host: Str,
    path: Str,
    query: Str,
}

impl Url {
    /// Reads a URL; `None` if it is neither absolute nor a path.
    pub fn parse(text: &str) -> Option<Self> {
        if !crate::crd::is_uri(text) {
            return None;
        }
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        if text.starts_with('/') {
            return Some(Url { path: text.into(), query: query.into(), ..Url::default() });
        }
        let (scheme, rest) = text.split_once(':')?;
        let Some(rest) = rest.strip_prefix("//") else {
            return Some(Url { scheme: scheme.into(), query: query.into(), ..Url::default() });
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let url = Url { scheme: scheme.into(), host: host.into(), path: path.into(), query: query.into() };
        let port = url.port();
        (port.is_empty() || port.bytes().all(|byte| byte.is_ascii_digit())).then_some(url)
    }

    /// The scheme, such as `https`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Host and port as they stand.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> &str {
        if let Some(rest) = self.host.strip_prefix('[') {
            return rest.split(']').next().unwrap_or_default();
        }
        self.host.rsplit_once(':').map_or(&self.host, |(name, _)| name)
    }

    /// The port, or nothing.
    pub fn port(&self) -> &str {
        let rest = match self.host.rfind(']') {
            Some(at) => &self.host[at + 1..],
            None => &self.host,
        };
        rest.rsplit_once(':').map_or("", |(_, port)| port)
    }

    fn queries(&self) -> BTreeMap<String, Vec<Val>> {
        let mut out: BTreeMap<String, Vec<Val>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            out.entry(decode(key)).or_default().push(Val::text(decode(value)));
        }
        out
    }
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                out.push(code);
                at += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) fn call(name: &str, _: bool, args: &[Val]) -> Option<Outcome> {
    Some(match (name, args) {
        ("url", [Val::String(text)]) => Url::parse(text).map(|url| Val::Url(url.into())).ok_or_else(|| {
            EvalError::failed(format!(
                "URL parse error during conversion from string: parse {text:?}: invalid URI for request"
            ))
        }),
        ("isURL", [Val::String(text)]) => Ok(Val::Bool(Url::parse(text).is_some())),
        ("getScheme", [Val::Url(url)]) => Ok(Val::String(url.scheme.clone())),
        ("getHost", [Val::Url(url)]) => Ok(Val::String(url.host.clone())),
        ("getHostname", [Val::Url(url)]) => Ok(Val::text(url.hostname())),
        ("getPort", [Val::Url(url)]) => Ok(Val::text(url.port())),
        ("getEscapedPath", [Val::Url(url)]) => Ok(Val::String(url.path.clone())),
        ("getQuery", [Val::Url(url)]) => {
            let entries = url.queries().into_iter().map(|(key, values)| (Val::text(key), Val::list(values)));
            Ok(Val::Map(entries.collect()))
        }
        _ => return None,
    })
}
