//! The parts of an expression.

use std::sync::Arc;

use lynceus_gotmpl::Str;

/// A part and where its operator or its first word stands, in characters.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) place: usize,
    /// How many parts stand inside each other here.
    pub(super) depth: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Str),
    Bytes(Arc<[u8]>),
    Name(String),
    /// `#`, `#index` and `#acc`: what a predicate is asked about.
    Pointer(String),
    Unary(Unary, Box<Node>),
    /// Shared, because the middle of `1 < x < 3` stands in two of them.
    Binary(Binary, Arc<Node>, Arc<Node>),
    /// What is nil as a whole as soon as one of its `?.` meets nil.
    Chain(Box<Node>),
    Member {
        of: Box<Node>,
        property: Box<Node>,
        optional: bool,
    },
    Slice {
        of: Box<Node>,
        from: Option<Box<Node>>,
        to: Option<Box<Node>>,
    },
    Call {
        callee: Box<Node>,
        arguments: Vec<Node>,
    },
    Builtin {
        name: &'static str,
        arguments: Vec<Node>,
    },
    /// An argument that is evaluated for each element.
    Predicate(Box<Node>),
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    /// `condition ?: other`
    Elvis(Box<Node>, Box<Node>),
    Let {
        name: String,
        value: Box<Node>,
        body: Box<Node>,
    },
    /// The value of the last one.
    Sequence(Vec<Node>),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Minus,
    Plus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    In,
    Matches,
    Contains,
    StartsWith,
    EndsWith,
    Range,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Coalesce,
}

impl Binary {
    /// The operator of a word, with how strongly it binds.
    pub(super) fn of(word: &str) -> Option<(Self, u16)> {
        Some(match word {
            "or" | "||" => (Self::Or, 10),
            "and" | "&&" => (Self::And, 15),
            "==" => (Self::Equal, 20),
            "!=" => (Self::NotEqual, 20),
            "<" => (Self::Less, 20),
            ">" => (Self::More, 20),
            ">=" => (Self::MoreOrEqual, 20),
            "<=" => (Self::LessOrEqual, 20),
            "in" => (Self::In, 20),
            "matches" => (Self::Matches, 20),
            "contains" => (Self::Contains, 20),
            "startsWith" => (Self::StartsWith, 20),
            "endsWith" => (Self::EndsWith, 20),
            ".." => (Self::Range, 25),
            "+" => (Self::Add, 30),
            "-" => (Self::Subtract, 30),
            "*" => (Self::Multiply, 60),
            "/" => (Self::Divide, 60),
            "%" => (Self::Remainder, 60),
            "**" | "^" => (Self::Power, 100),
            "??" => (Self::Coalesce, 500),
            _ => return None,
        })
    }

    /// Whether `not` may stand before it.
    pub(super) fn can_be_negated(self) -> bool {
        matches!(self, Self::In | Self::Matches | Self::Contains | Self::StartsWith | Self::EndsWith)
    }

    /// Whether it can be chained: `1 < x < 3`.
    pub(super) fn is_comparison(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual | Self::More | Self::MoreOrEqual)
    }

    /// The word, for errors.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::More => ">",
            Self::MoreOrEqual => ">=",
            Self::In => "in",
            Self::Matches => "matches",
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Range => "..",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Power => "**",
            Self::Coalesce => "??",
        }
    }
}
