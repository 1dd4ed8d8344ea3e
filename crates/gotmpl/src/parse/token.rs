//! The pieces into which the text of a template is cut.

use crate::format::quote;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// The text cannot be cut; the token's text is the error.
    Error,
    Bool,
    /// A printable character with no other meaning, such as a comma.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Sort {
    /// The keyword that a word is.
    pub(super) fn keyword(word: &str) -> Option<Self> {
        Some(match word {
            "." => Self::Dot,
            "block" => Self::Block,
            "break" => Self::Break,
            "continue" => Self::Continue,
            "define" => Self::Define,
            "else" => Self::Else,
            "end" => Self::End,
            "if" => Self::If,
            "range" => Self::Range,
            "nil" => Self::Nil,
            "template" => Self::Template,
            "with" => Self::With,
            _ => return None,
        })
    }

    fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Dot
                | Self::Define
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

/// A piece of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) sort: Sort,
    /// Where it starts, in bytes.
    pub(super) at: usize,
    /// Where it ends; of no meaning for errors.
    pub(super) end: usize,
    /// The line on which it starts, from 1.
    pub(super) line: usize,
    /// Which of the lexer's errors this is, if it is one.
    pub(super) error: usize,
}

impl Token {
    /// A token which was never read: what a parser has before its first.
    pub(super) fn none() -> Self {
        Self { sort: Sort::Eof, at: 0, end: 0, line: 0, error: 0 }
    }

    /// How errors name the token; `errors` are those of the lexer.
    pub(super) fn describe(&self, source: &str, errors: &[String]) -> String {
        let text = source.get(self.at..self.end).unwrap_or_default();
        match self.sort {
            Sort::Eof => "EOF".to_owned(),
            Sort::Error => errors.get(self.error).cloned().unwrap_or_default(),
            sort if sort.is_keyword() => format!("<{text}>"),
            _ if text.len() > 10 => {
                let short: String = text.chars().take(10).collect();
                format!("{}...", quote::double(&short))
            }
            _ => quote::double(text),
        }
    }
}
