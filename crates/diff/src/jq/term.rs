//! An expression as it was read.

use super::Ctx;
use super::eval::Stop;
use super::value::Val;

/// A function of values, with its arguments.
pub(super) type Native = fn(&Ctx, Val, &[Val]) -> Result<Val, Stop>;

#[derive(Debug)]
pub(super) enum Term {
    Id,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    /// A text with expressions in it, and how their values are written.
    Text(Vec<Part>, Format),
    Format(Format),
    List(Option<Box<Term>>),
    Map(Vec<(Term, Term)>),
    Negate(Box<Term>),
    Index(Box<Term>, Box<Term>),
    Slice(Box<Term>, Option<Box<Term>>, Option<Box<Term>>),
    Each(Box<Term>),
    Try(Box<Term>, Option<Box<Term>>),
    Pipe(Box<Term>, Box<Term>),
    Comma(Box<Term>, Box<Term>),
    Bind(Box<Term>, Vec<Pattern>, Box<Term>),
    Binary(Op, Box<Term>, Box<Term>),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Alternative(Box<Term>, Box<Term>),
    Assign(Box<Term>, Box<Term>),
    Modify(Box<Term>, Box<Term>),
    /// `a op= b`; without an operation it is `//=`.
    Update(Option<Op>, Box<Term>, Box<Term>),
    If(Box<Term>, Box<Term>, Option<Box<Term>>),
    Reduce(Box<Term>, Pattern, Box<Term>, Box<Term>),
    Foreach(Box<Term>, Pattern, Box<Term>, Box<Term>, Option<Box<Term>>),
    Label(String, Box<Term>),
    Break(String),
    Def(Def, Box<Term>),
    Var(String),
    /// What was defined in the expression, or is a parameter.
    Call(String, Vec<Term>),
    /// What is defined in `defs.jq`.
    Defined(usize, Vec<Term>),
    Native(Native, Vec<Term>),
    Special(Special, Vec<Term>),
}

#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Term(Term),
}

#[derive(Debug)]
pub(super) struct Def {
    pub(super) name: String,
    pub(super) params: Vec<String>,
    pub(super) body: Box<Term>,
}

#[derive(Debug)]
pub(super) enum Pattern {
    Var(String),
    List(Vec<Pattern>),
    /// A field's name, the variable that it is also bound to, and what it is taken apart by.
    Map(Vec<(Term, Option<String>, Option<Pattern>)>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Format {
    Text,
    Json,
    Html,
    Uri,
    Urid,
    Csv,
    Tsv,
    Sh,
    Base64,
    Base64d,
    Other(String),
}

/// What is neither a function of values nor can be said in jq without going deep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Special {
    Empty,
    Path,
    GetPath,
    Range,
    Recurse,
    Repeat,
    While,
    Until,
    First,
    Last,
    Limit,
    Skip,
    IsEmpty,
    Halt,
}
