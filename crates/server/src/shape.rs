//! How much of an answer is sent, and how: chosen fields, a page of a list, compressed.

use std::io::Write as _;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use lynceus_object::{Value, json};

use crate::call::List;
use crate::fields::Fields;
use crate::limits;
use crate::pieces::{self, Packer, Pieces};
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

    /// An answer as it is sent.
    pub(crate) fn sent(&self, value: Value) -> Response {
        let value = match self.page {
            Some((limit, offset)) => page(value, limit, offset),
            None => value,
        };
        let value = self.fields.as_ref().map(|fields| fields.of(&value)).unwrap_or(value);
        self.packed(json::to_string(&value))
    }

    /// A list as it is sent: if it is long, piece by piece.
    pub(crate) fn sent_list(mut self, list: List) -> Response {
        let list = match self.page {
            Some((limit, offset)) => list.page(limit, offset),
            None => list,
        };
        let count = list.left();
        let mut pieces = Pieces::new(list, self.fields.take());
        let first = pieces.next().unwrap_or_default();
        if pieces.left() == 0 {
            let rest: String = std::iter::from_fn(|| pieces.next()).collect();
            return self.packed(first + &rest);
        }
        let whole = first.len() / (count - pieces.left()).max(1) * count;
        let packer = self.gzip.then(|| Packer::new(effort(whole)));
        rest::json(Body::from_stream(pieces::sent(first, pieces, packer)), self.gzip)
    }

    fn packed(&self, text: String) -> Response {
        let is_worth_it = self.gzip && text.len() >= limits::COMPRESSED;
        match is_worth_it.then(|| packed(text.as_bytes())).flatten() {
            Some(packed) => rest::json(packed.into(), true),
            None => rest::json(text.into(), false),
        }
    }
}

/// A part of a list, and how many are behind it.
fn page(mut list: Value, limit: usize, offset: usize) -> Value {
    let items = list.items_at(&["items"]);
    if items.is_empty() {
        return list;
    }
    let shown: Value = items.iter().skip(offset).take(limit).cloned().collect();
    let left = items.len().saturating_sub(offset.saturating_add(limit));
    list.set(&["items"], shown);
    list.set(&["metadata", "remainingItemCount"], Value::Int(i64::try_from(left).unwrap_or(i64::MAX)));
    list
}

/// Whether somebody who asks says that they understand gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|one| one.trim().split(';').next() == Some("gzip"))
}

/// Quick rather than small, because a list is asked for again and again; and where it is very long, as quick as can be.
fn effort(bytes: usize) -> Compression {
    if bytes > limits::PACKED_WELL { Compression::fast() } else { Compression::new(3) }
}

/// A text in less room.
pub(crate) fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 8), effort(bytes.len()));
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
            json::to_string(&page(list.clone(), 2, 1)),
            r#"{"items":[2,3],"metadata":{"remainingItemCount":2}}"#
        );
        assert_eq!(
            json::to_string(&page(list.clone(), 9, 4)),
            r#"{"items":[5],"metadata":{"remainingItemCount":0}}"#
        );
        assert_eq!(
            json::to_string(&page(list, 2, 99)),
            r#"{"items":[],"metadata":{"remainingItemCount":0}}"#
        );
    }
}
