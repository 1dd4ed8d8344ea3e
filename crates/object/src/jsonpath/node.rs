//! What a template is made of.

use super::comparison::Operator;
use crate::value::Str;

/// A part of a template that is evaluated by itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// What stands outside of braces.
    Text(Vec<u8>),
    /// What stands inside: steps, each from where the one before has led.
    Action(Vec<Node>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// `"text"`, without its quotes.
    Text(Vec<u8>),
    /// `.name`
    Field(Str),
    /// A bare word: `range`, `end`, or a mistake that shows when it is evaluated.
    Word(Str),
    /// `[0]`, `[1:3]`
    Slice(Slice),
    /// `[?(@.a == 1)]`
    Filter(Filter),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// `.*`
    Wildcard,
    /// `..`
    Descent,
    /// `[0,2]`
    Union(Vec<Vec<Node>>),
}

/// Which items of a list are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slice {
    /// From here on; the first one where it is not said.
    pub(super) start: Option<i64>,
    pub(super) end: End,
    pub(super) step: Option<i64>,
}

/// Where a slice ends: before this item.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum End {
    /// `[1:]`
    #[default]
    Open,
    /// `[1:3]`
    Before(i64),
    /// `[1]` ends after one item. Unlike a written one, an end of 0 is then the end of the list.
    AfterOne(i64),
}

/// A condition on the items of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) left: Vec<Node>,
    /// Without one, the left side has to lead somewhere.
    pub(super) comparison: Option<(Operator, Vec<Node>)>,
}
