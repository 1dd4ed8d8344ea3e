//! A list as it is sent, piece by piece: however long it is, only a piece of it is in memory, and others have their turn
//! between two of them.

use std::io::Write as _;

use axum::body::Bytes;
use flate2::write::GzEncoder;
use futures::stream::{self, Stream};
use lynceus_object::{Value, json};

use crate::call::List;
use crate::fields::Fields;
use crate::limits;

/// The text of a list.
pub(crate) struct Pieces {
    list: List,
    /// Which fields of each item.
    fields: Option<Fields>,
    /// What is between the last piece and the next item.
    before: &'static str,
    /// What is behind the last item, until it was sent.
    end: Option<String>,
}

impl Pieces {
    /// A list with the fields that somebody wants of it.
    pub(crate) fn new(list: List, fields: Option<Fields>) -> Self {
        let mut around = Value::default();
        around.set(&["items"], Value::Seq(lynceus_object::Seq::new()));
        around.set(&["metadata"], list.metadata().clone());
        if let Some(fields) = &fields {
            around = fields.of(&around);
        }
        let has_items = around.remove(&["items"]).is_some();
        let rest = json::to_string(&around);
        let (list, before, end) = match (has_items, rest.strip_prefix('{')) {
            (true, Some("}")) => (list, "{\"items\":[", "]}".to_owned()),
            (true, Some(rest)) => (list, "{\"items\":[", format!("],{rest}")),
            (false, _) | (_, None) => (list.page(0, 0), "", rest),
        };
        Pieces { list, fields: fields.and_then(|fields| fields.of_items()), before, end: Some(end) }
    }

    /// How many items are yet to come.
    pub(crate) fn left(&self) -> usize {
        self.list.left()
    }

    /// The next piece; none if there are no more.
    pub(crate) fn next(&mut self) -> Option<String> {
        let end = self.end.as_ref()?;
        let mut text = String::with_capacity(limits::PIECE / 2);
        while text.len() < limits::PIECE {
            let Some(item) = self.list.next() else {
                text.push_str(self.before.trim_end_matches(','));
                text.push_str(end);
                self.end = None;
                break;
            };
            text.push_str(std::mem::replace(&mut self.before, ","));
            match &self.fields {
                Some(fields) => json::append(&mut text, &fields.of(&item)),
                None => json::append(&mut text, &item),
            }
        }
        Some(text)
    }
}

/// Packs a text that comes in pieces.
pub(crate) struct Packer(Option<GzEncoder<Vec<u8>>>);

impl Packer {
    pub(crate) fn new(effort: flate2::Compression) -> Self {
        Packer(Some(GzEncoder::new(Vec::new(), effort)))
    }

    /// What there is to send after one more piece, or after the last.
    fn pack(&mut self, piece: Option<&str>) -> Vec<u8> {
        // Writing to memory cannot fail.
        match (piece, &mut self.0) {
            (Some(piece), Some(encoder)) => {
                let _ = encoder.write_all(piece.as_bytes());
                std::mem::take(encoder.get_mut())
            }
            (None, encoder) => encoder.take().and_then(|encoder| encoder.finish().ok()).unwrap_or_default(),
            (Some(_), None) => Vec::new(),
        }
    }
}

/// The pieces behind the first, packed if somebody wants it so.
pub(crate) fn sent(
    first: String,
    pieces: Pieces,
    packer: Option<Packer>,
) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(Some((Some(first), pieces, packer)), |state| async move {
        let (mut next, mut pieces, mut packer) = state?;
        loop {
            tokio::task::yield_now().await;
            let is_over = next.is_none();
            let bytes = match &mut packer {
                Some(packer) => packer.pack(next.as_deref()),
                None => next.take().unwrap_or_default().into_bytes(),
            };
            if is_over {
                return (!bytes.is_empty()).then(|| (Ok(bytes.into()), None));
            }
            next = pieces.next();
            if !bytes.is_empty() {
                return Some((Ok(bytes.into()), Some((next, pieces, packer))));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt as _;
    use lynceus_object::value;
    use std::io::Read as _;

    fn list(count: usize) -> List {
        List::new(value!({"resourceVersion": "7"}), count, |at| {
            Some(value!({"metadata": {"name": format!("app-{at}")}, "spec": "x".repeat(1_000)}))
        })
    }

    fn text(count: usize, fields: &str) -> String {
        let mut pieces = Pieces::new(list(count), Fields::read(fields));
        std::iter::from_fn(|| pieces.next()).collect()
    }

    #[test]
    fn the_pieces_are_the_list() {
        for count in [0, 1, 3, 2_000] {
            assert_eq!(text(count, ""), json::to_string(&list(count).whole()), "{count}");
            let fields = Fields::read("items.metadata").map(|fields| fields.of(&list(count).whole()));
            assert_eq!(Some(text(count, "items.metadata")), fields.map(|value| json::to_string(&value)));
        }
        assert_eq!(text(2, "metadata"), r#"{"metadata":{"resourceVersion":"7"}}"#);
        assert_eq!(text(2, "-items"), r#"{"metadata":{"resourceVersion":"7"}}"#);
        let names = r#"{"items":[{"metadata":{"name":"app-0"}}],"metadata":{"resourceVersion":"7"}}"#;
        assert_eq!(text(1, "-items.spec"), names);
        assert_eq!(text(1, "items.metadata,metadata"), names);
        assert_eq!(text(1, "nothing"), "{}");
    }

    #[tokio::test]
    async fn what_is_packed_piece_by_piece_is_the_same() {
        for packer in [None, Some(Packer::new(flate2::Compression::new(3)))] {
            let is_packed = packer.is_some();
            let mut pieces = Pieces::new(list(2_000), None);
            let first = pieces.next().unwrap();
            assert!(first.len() < limits::PIECE + 2_000 && pieces.left() > 0);
            let parts: Vec<Bytes> = sent(first, pieces, packer).map(Result::unwrap).collect().await;
            let mut bytes = parts.concat();
            if is_packed {
                let mut plain = Vec::new();
                flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
                bytes = plain;
            }
            assert!(parts.len() > 1);
            assert_eq!(String::from_utf8(bytes).unwrap(), json::to_string(&list(2_000).whole()));
        }
    }
}
