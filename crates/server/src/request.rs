//! Questions of REST: path, query and body to one message, by its type.

use lynceus_object::schema::{Scalar, Shape, TypeRef};
use lynceus_object::{Value, json};

use crate::limits;
use crate::method::{Body, Found};
use crate::refusal::Refusal;

/// Puts a message together.
pub(crate) fn read(found: &Found<'_>, query: &str, body: &[u8]) -> Result<Value, Refusal> {
    let input = found.method.input;
    let mut request = match (&found.way.body, body.is_empty()) {
        (Body::None, _) | (_, true) => Value::Map(lynceus_object::Map::new()),
        (Body::Whole, false) => parsed(body)?,
        (Body::Field(field), false) => {
            let mut request = Value::default();
            request.set(&[*field], parsed(body)?);
            request
        }
    };
    for (name, text) in pairs(query) {
        set(&mut request, input, &name, &text)?;
    }
    for (name, text) in &found.fields {
        set(&mut request, input, name, text)?;
    }
    Ok(request)
}

fn parsed(body: &[u8]) -> Result<Value, Refusal> {
    json::parse(body).map_err(|error| Refusal::invalid(format!("the body is no JSON: {error}")))
}

/// Sets a field by its path. One that the message does not have is passed over, as gateways do.
fn set(request: &mut Value, input: TypeRef<'_>, path: &str, text: &str) -> Result<(), Refusal> {
    let names: Vec<&str> = path.split('.').collect();
    if names.len() > limits::QUERY_DEPTH {
        return Err(Refusal::invalid("a field of the query is nested too deep"));
    }
    let mut ty = input;
    for name in &names {
        match ty.field(name) {
            Some(field) => ty = field.ty(),
            None => return Ok(()),
        }
    }
    let wrong = || Refusal::invalid(format!("{path} cannot be {text:?}"));
    match ty.shape() {
        Shape::List(item, _) => {
            let value = scalar(item, text).ok_or_else(wrong)?;
            let mut items = match request.at(&names) {
                Some(Value::Seq(items)) => items.clone(),
                _ => lynceus_object::Seq::new(),
            };
            items.push(value);
            request.set(&names, Value::Seq(items));
        }
        _ => request.set(&names, scalar(ty, text).ok_or_else(wrong)?),
    }
    Ok(())
}

fn scalar(ty: TypeRef<'_>, text: &str) -> Option<Value> {
    match ty.shape() {
        Shape::Scalar(Scalar::Bool) => match text {
            "" | "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => text.parse().ok().map(Value::Int),
        Shape::Scalar(Scalar::Float64) => text.parse().ok().map(Value::Float),
        Shape::Scalar(_) => Some(text.into()),
        Shape::Struct | Shape::Map(_) | Shape::List(..) | Shape::Any => None,
    }
}

/// The names and values of a query.
pub(crate) fn pairs(query: &str) -> Vec<(String, String)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (plain(name, true), plain(value, true))
        })
        .collect()
}

/// The pieces of a path. What is encoded in a piece does not end it, so that an address can be one.
pub(crate) fn pieces(path: &str) -> Vec<String> {
    path.trim_start_matches('/').split('/').map(|piece| plain(piece, false)).collect()
}

/// Text without its percent signs. What is no encoding stays as it is.
pub(crate) fn plain(text: &str, plus: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |byte: Option<&u8>| byte.and_then(|byte| (*byte as char).to_digit(16));
        match (bytes[at], hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', ..) if plus => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::methods;

    fn check(verb: &str, target: &str, body: &str) -> String {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let found = methods().by_path(verb, &pieces(path)).expect("a method");
        match read(&found, query, body.as_bytes()) {
            Ok(request) => json::to_string(&request),
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn a_query_is_read_by_the_types_of_the_message() {
        assert_eq!(
            check("GET", "/api/v1/applications?projects=a&projects=b&selector=x%3Dy&unknown=1", ""),
            r#"{"projects":["a","b"],"selector":"x=y"}"#
        );
        assert_eq!(
            check("DELETE", "/api/v1/applications/shop?cascade=false&appNamespace=team", ""),
            r#"{"appNamespace":"team","cascade":false,"name":"shop"}"#
        );
        assert_eq!(check("DELETE", "/api/v1/applications/shop?cascade=maybe", ""), "cascade cannot be \"maybe\"");
    }

    #[test]
    fn a_body_is_the_message_or_one_field_of_it() {
        assert_eq!(
            check("POST", "/api/v1/applications/shop/sync", r#"{"prune":true,"name":"other"}"#),
            r#"{"name":"shop","prune":true}"#
        );
        assert_eq!(
            check("PUT", "/api/v1/applications/shop?validate=false", r#"{"metadata":{"name":"other"},"spec":{}}"#),
            r#"{"application":{"metadata":{"name":"shop"},"spec":{}},"validate":false}"#
        );
        assert!(check("POST", "/api/v1/applications/shop/sync", "{").starts_with("the body is no JSON"));
    }

    #[test]
    fn an_address_is_one_piece_of_a_path() {
        assert_eq!(
            check("GET", "/api/v1/repositories/https%3A%2F%2Fexample.com%2Fa.git", ""),
            r#"{"repo":"https://example.com/a.git"}"#
        );
        assert_eq!(
            check("GET", "/api/v1/clusters/https%3A%2F%2Fa?id.type=url", ""),
            r#"{"id":{"type":"url","value":"https://a"}}"#
        );
    }
}
