//! The templates of `kubectl -o jsonpath`, `helm show --jsonpath` and printer columns.
//!
//! A template is text with actions in braces: `{range .items[*]}{.metadata.name}{"\n"}{end}`. The language is the one of
//! Kubernetes' client library, with its oddities, because templates out there rely on them: a key in brackets is split
//! at its dots unless they are escaped, an index out of bounds makes an existence filter true, a range that is not
//! closed goes on behind itself.
//!
//! Two things differ. Where the original visits a map in random order, here it is the order of the keys; and where it
//! crashes, which an index on nothing does, here it is an error.

mod comparison;
mod error;
mod evaluation;
mod found;
mod node;
mod parser;
mod quote;
mod subscript;

pub use error::{FindError, ParseError};
pub use found::Found;

use crate::value::Value;
use node::Piece;

/// What a field that is nowhere means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingKeys {
    /// It is an error, as in `helm show`.
    Refused,
    /// It leads to nothing, as in `kubectl get`.
    Allowed,
}

/// A template that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Ok(Template { pieces: parser::pieces(text, 0)? })
    }

    /// What each piece of the template leads to, ranges unrolled.
    pub fn find<'a>(
        &'a self,
        value: &'a Value,
        missing: MissingKeys,
    ) -> Result<Vec<Vec<Found<'a>>>, FindError> {
        evaluation::evaluate(&self.pieces, value, missing)
    }

    /// The first value that the first piece leads to: what a cell of a table shows. An error leads nowhere.
    pub fn first<'a>(&'a self, value: &'a Value, missing: MissingKeys) -> Option<Found<'a>> {
        self.find(value, missing).ok()?.first()?.first().copied()
    }

    /// What the template prints. These are bytes, because `{"\xff"}` is a byte.
    pub fn print(&self, value: &Value, missing: MissingKeys) -> Result<Vec<u8>, FindError> {
        let mut out = Vec::new();
        for results in self.find(value, missing)? {
            for (at, found) in results.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                found.print(&mut out);
            }
        }
        Ok(out)
    }
}
