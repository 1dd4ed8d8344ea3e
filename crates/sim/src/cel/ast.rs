//! Expressions after parsing, macros already recognised.

use lynceus_object::Str;

use super::pattern::Pattern;
use super::value::Val;

/// An expression and the place of the token that made it.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Literal(Val),
    Ident(Str),
    /// `operand.field`; with `optional`, `operand.?field`.
    Select {
        operand: Box<Expr>,
        field: Str,
        optional: bool,
    },
    /// `has(operand.field)`
    Has {
        operand: Box<Expr>,
        field: Str,
    },
    Call {
        function: Str,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
        pattern: Option<Pattern>,
    },
    List(Vec<Entry>),
    Map(Vec<(Entry, Expr)>),
    /// `Object.spec{replicas: 1}`: the fields of a value of a named type.
    Message {
        name: Str,
        fields: Vec<(Entry, Expr)>,
    },
    Fold(Box<Fold>),
    /// `target.optMap(var, body)`, or `optFlatMap` with `flat`.
    OptMap {
        target: Box<Expr>,
        var: Str,
        body: Box<Expr>,
        flat: bool,
    },
}

/// An item of a literal; an optional one is left out when it has no value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) expr: Expr,
    pub(super) optional: bool,
}

/// A macro that walks a list or a map.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) kind: FoldKind,
    pub(super) range: Expr,
    pub(super) var: Str,
    /// The second variable of the two-variable forms: index and item, or key and value.
    pub(super) second: Option<Str>,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoldKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
    TransformMap,
    TransformMapEntry,
    SortBy,
}
