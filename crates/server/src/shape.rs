//! How much of an answer is sent, and how: chosen fields, a page of a list, compressed.

use std::io::Write as _;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use lynceus_object::{Value, json};

use crate::fields::Fields;
use crate::limits;
use crate::{request, rest};

/// What somebody wants of an answer.
#[derive(Default)]
pub(crate) struct Shape {
    /// Which fields.
    pub(crate) fields: Option<Fields>,
    /// How many items of a list at the most, and how many before them are left out.
    page: Option<(usize, usize)>,
    /// Whether they understand gzip.
    gzip: bool,
}

impl Shape {
    /// Reads it from the query and the headers of a request.
    pub(crate) fn of(query: &str, headers: &HeaderMap) -> Self {
        let pairs = request::pairs(query);
        let text = |name: &str| pairs.iter().find(|(found, _)| found == name).map(|(_, text)| text.as_str());
        let number = |name: &str| text(name).and_then(|text| text.parse::<usize>().ok());
        Shape {
            fields: text("fields").and_then(Fields::read),
            page: number("limit")
                .filter(|limit| *limit > 0)
                .map(|limit| (limit, number("offset").unwrap_or(0))),
            gzip: takes_gzip(headers),
        }
    }

    /// The answer as it is sent.
    pub(crate) fn sent(&self, value: &Value) -> Response {
        let paged = self.page.map(|(limit, offset)| page(value, limit, offset));
        let value = paged.as_ref().unwrap_or(value);
        let chosen = self.fields.as_ref().map(|fields| fields.of(value));
        let value = chosen.as_ref().unwrap_or(value);
        if !self.gzip {
            return rest::said(StatusCode::OK, value);
        }
        let bytes = json::to_vec(value);
        match (bytes.len() >= limits::COMPRESSED).then(|| packed(&bytes)).flatten() {
            None => rest::said(StatusCode::OK, value),
            Some(packed) => {
                let mut response = rest::said(StatusCode::OK, &Value::Null);
                *response.body_mut() = packed.into();
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
                response.headers_mut().remove(header::CONTENT_LENGTH);
                response
            }
        }
    }
}

/// A part of a list, and how many are behind it.
fn page(list: &Value, limit: usize, offset: usize) -> Value {
    let items = list.items_at(&["items"]);
    if items.is_empty() {
        return list.clone();
    }
    let shown: Value = items.iter().skip(offset).take(limit).cloned().collect();
    let left = items.len().saturating_sub(offset.saturating_add(limit));
    let mut page = list.clone();
    page.set(&["items"], shown);
    page.set(&["metadata", "remainingItemCount"], Value::Int(i64::try_from(left).unwrap_or(i64::MAX)));
    page
}

/// Whether somebody who asks says that they understand gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|one| one.trim().split(';').next() == Some("gzip"))
}

/// Quick rather than small, because a list is asked for again and again; and where it is very long, as quick as can be.
pub(crate) fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let effort = if bytes.len() > limits::PACKED_WELL { Compression::fast() } else { Compression::new(3) };
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 8), effort);
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn a_page_says_how_many_are_behind_it() {
        let list = value!({"metadata": {}, "items": [1, 2, 3, 4, 5]});
        assert_eq!(
            json::to_string(&page(&list, 2, 1)),
            r#"{"items":[2,3],"metadata":{"remainingItemCount":2}}"#
        );
        assert_eq!(
            json::to_string(&page(&list, 9, 4)),
            r#"{"items":[5],"metadata":{"remainingItemCount":0}}"#
        );
        assert_eq!(
            json::to_string(&page(&list, 2, 99)),
            r#"{"items":[],"metadata":{"remainingItemCount":0}}"#
        );
    }
}
