//! Answers on many lines for people: those who say so, and those who look with a browser or curl.

use http::header::{CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Response};
use http_body::Body as _;
use http_body_util::BodyExt;

use super::query::Query;
use super::{Body, full};

/// Programs that people read the output of.
const FOR_PEOPLE: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// Indents an answer in JSON where the client wants that. Watches go on as they come, and the documents
/// of OpenAPI are for programs.
pub(super) async fn indent(request: &Parts, response: Response<Body>) -> Response<Body> {
    let whole = response.body().size_hint().exact().is_some();
    if !whole || !is_json(response.headers()) || !is_wanted(request) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(collected) = body.collect().await;
    Response::from_parts(parts, full(indented(&collected.to_bytes())))
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media_type.split(';').next() == Some("application/json")
}

fn is_wanted(request: &Parts) -> bool {
    if request.uri.path().starts_with("/openapi") {
        return false;
    }
    let query = Query::parse(request.uri.query().unwrap_or_default());
    if let Some(said) = query.get("pretty").filter(|said| !said.is_empty()) {
        return matches!(said, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let agent = request.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    FOR_PEOPLE.iter().any(|program| agent.starts_with(program))
}

/// The same JSON with a line for each value, two spaces for each level.
fn indented(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut bytes = json.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\n' | b'\t' | b'\r' => {}
            b'"' => {
                out.push(byte);
                while let Some(inner) = bytes.next() {
                    out.push(inner);
                    match inner {
                        b'\\' => out.extend(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'{' | b'[' => {
                out.push(byte);
                while bytes.next_if(u8::is_ascii_whitespace).is_some() {}
                match bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        new_line(&mut out, depth);
                    }
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(&mut out, depth);
            }
            b':' => out.extend(*b": "),
            _ => out.push(byte),
        }
    }
    out
}

fn new_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_a_line_of_its_own() {
        let text = indented(br#"{"b":[1,{"a\"":"x, {y}: [z]"}],"c":{},"d":[ ]}"#);
        let expected = "{\n  \"b\": [\n    1,\n    {\n      \"a\\\"\": \"x, {y}: [z]\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(String::from_utf8_lossy(&text), expected);
        assert_eq!(indented(&text), text);
    }
}
