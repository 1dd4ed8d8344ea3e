//! A template's text to its pieces.

use super::error::ParseError;
use super::node::{Node, Piece};
use super::quote::unquoted;
use crate::limits;
use crate::value::Str;

/// Reads text and actions. `depth` is how many filters and unions this is inside of.
pub(super) fn pieces(text: &str, depth: usize) -> Result<Vec<Piece>, ParseError> {
    if depth > limits::JSONPATH_DEPTH {
        return Err(ParseError::TooDeep);
    }
    let mut parser = Parser { text, at: 0, depth };
    let mut pieces = Vec::new();
    while !parser.rest().is_empty() {
        let plain = parser.until(|char| char == '{');
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.as_bytes().to_vec()));
        }
        if parser.take("{") {
            pieces.push(Piece::Action(parser.action()?));
        }
    }
    Ok(pieces)
}

/// Reads what stands in a filter or in brackets, as if it were in braces of its own.
///
/// A closing brace inside ends it, and what follows has no effect, as long as it can be read.
pub(super) fn action(text: &str, depth: usize) -> Result<Vec<Node>, ParseError> {
    let first = pieces(&format!("{{{text}}}"), depth)?.into_iter().next();
    Ok(match first {
        Some(Piece::Action(nodes)) => nodes,
        Some(Piece::Text(_)) | None => Vec::new(),
    })
}

pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    pub(super) depth: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Skips `prefix` if it comes next.
    pub(super) fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.skip(prefix.len());
        }
        found
    }

    /// Takes everything before the first such character.
    fn until(&mut self, stop: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = &rest[..rest.find(stop).unwrap_or(rest.len())];
        self.skip(taken.len());
        taken
    }

    /// Reads an action whose brace has been taken, to its end.
    fn action(&mut self) -> Result<Vec<Node>, ParseError> {
        let mut nodes = Vec::new();
        loop {
            if self.take("[?(") {
                nodes.push(self.filter()?);
                continue;
            }
            if self.take("..") {
                self.descent(&mut nodes)?;
                continue;
            }
            match self.rest().chars().next().ok_or(ParseError::UnclosedAction)? {
                '}' => {
                    self.skip(1);
                    return Ok(nodes);
                }
                '\r' | '\n' => return Err(ParseError::UnclosedAction),
                // An action always begins at the current value, whether it says so or not.
                ' ' | '@' | '$' => self.skip(1),
                '[' => nodes.extend(self.brackets()?),
                quote @ ('"' | '\'') => nodes.push(self.quoted(quote)?),
                '.' => {
                    self.skip(1);
                    nodes.push(self.field());
                }
                '+' | '-' | '0'..='9' => nodes.push(self.number()?),
                char if begins_word(char) => nodes.push(self.word()),
                char => return Err(ParseError::Character(char)),
            }
        }
    }

    fn descent(&mut self, nodes: &mut Vec<Node>) -> Result<(), ParseError> {
        if nodes.last() == Some(&Node::Descent) {
            return Err(ParseError::RepeatedDescent);
        }
        nodes.push(Node::Descent);
        if self.rest().starts_with(begins_word) {
            nodes.push(self.field());
        }
        Ok(())
    }

    /// A name up to something that ends names; a backslash keeps the next character from doing so.
    fn field(&mut self) -> Node {
        let mut escaped = false;
        let mut end = self.rest().len();
        for (at, char) in self.rest().char_indices() {
            match char {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                char if ends_name(char) => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        let name = &self.rest()[..end];
        self.skip(end);
        if name == "*" {
            return Node::Wildcard;
        }
        Node::Field(name.split('\\').collect())
    }

    fn word(&mut self) -> Node {
        match self.until(ends_name) {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            word => Node::Word(Str::from(word)),
        }
    }

    fn number(&mut self) -> Result<Node, ParseError> {
        let rest = self.rest();
        let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        let after = digits.trim_start_matches(|char: char| char == '.' || char.is_ascii_digit());
        let text = &rest[..rest.len() - after.len()];
        self.skip(text.len());
        if let Ok(int) = text.parse() {
            return Ok(Node::Int(int));
        }
        let float = text.parse().ok().filter(|float: &f64| float.is_finite());
        float.map(Node::Float).ok_or_else(|| ParseError::Number(text.to_owned()))
    }

    /// Text in quotes. A quote after a backslash does not close, even if another backslash comes before that one.
    fn quoted(&mut self, quote: char) -> Result<Node, ParseError> {
        let inside = &self.rest()[1..];
        let mut previous = quote;
        for (at, char) in inside.char_indices() {
            if char == '\n' {
                break;
            }
            if char == quote && previous != '\\' {
                self.skip(at + 2);
                let text = unquoted(&inside[..at], quote);
                return text
                    .map(Node::Text)
                    .ok_or_else(|| ParseError::Quote(format!("{quote}{}{quote}", &inside[..at])));
            }
            previous = char;
        }
        Err(ParseError::UnterminatedQuote)
    }
}

/// Digits count here only in ASCII: what begins with another one is refused in either case.
fn begins_word(char: char) -> bool {
    char == '_' || char.is_alphabetic() || char.is_ascii_digit()
}

fn ends_name(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}
