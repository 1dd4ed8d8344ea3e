//! URLs: `urlParse` takes one apart into a dictionary, `urlJoin` puts one together.

use super::args::{NIL_DEREFERENCE, map, text};
use super::url::{Url, Userinfo, parse};
use crate::{Failure, Functions, Map, Str, Value, signature};

pub(super) fn register(to: &mut Functions) {
    to.add("urlParse", signature!((STRING) -> MAP), |_, args| {
        let url = parse(&text(args, 0).bytes())
            .map_err(|error| Failure::new(format!("unable to parse url: {error}")))?;
        let userinfo = url.user.as_ref().map(Userinfo::show).unwrap_or_default();
        Ok(Value::map([
            ("scheme", bytes(&url.scheme)),
            ("host", bytes(&url.host)),
            ("hostname", bytes(url.hostname())),
            ("path", bytes(&url.path)),
            ("query", bytes(&url.query)),
            ("opaque", bytes(&url.opaque)),
            ("fragment", bytes(&url.fragment)),
            ("userinfo", bytes(&userinfo)),
        ]))
    });
    to.add("urlJoin", signature!((MAP) -> STRING), |_, args| join(&map(args, 0)));
}

fn bytes(bytes: &[u8]) -> Value {
    Str::from_bytes(bytes).into()
}

fn join(parts: &Map) -> Result<Value, Failure> {
    let mut url = Url {
        scheme: part(parts, "scheme")?,
        host: part(parts, "host")?,
        path: part(parts, "path")?,
        query: part(parts, "query")?,
        opaque: part(parts, "opaque")?,
        fragment: part(parts, "fragment")?,
        ..Url::default()
    };
    let userinfo = part(parts, "userinfo")?;
    if !userinfo.is_empty() {
        let whole = [b"proto://", &*userinfo, b"@host"].concat();
        let parsed = parse(&whole)
            .map_err(|error| Failure::new(format!("unable to parse userinfo in dict: {error}")))?;
        url.user = parsed.user;
    }
    Ok(bytes(&url.show()))
}

/// A part of the URL, nothing if it is left out.
fn part(parts: &Map, key: &str) -> Result<Vec<u8>, Failure> {
    match parts.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Nil) => Err(Failure::new(NIL_DEREFERENCE)),
        Some(value) => match value.underlying() {
            Value::Str(text) => Ok(text.bytes().into_owned()),
            _ => Err(Failure::new(format!(
                "unable to parse {key} key, must be of type string, but {} found",
                value.kind().name()
            ))),
        },
    }
}
