//! What stands in brackets: keys, indices, slices, unions and filters.

use super::comparison::Operator;
use super::error::ParseError;
use super::node::{End, Filter, Node, Slice};
use super::parser::{Parser, action};

impl Parser<'_> {
    /// Reads `[...]`. The first closing bracket ends it, in quotes or not.
    pub(super) fn brackets(&mut self) -> Result<Vec<Node>, ParseError> {
        let inside = &self.rest()[1..];
        let end = inside.find(['\n', ']']).filter(|&end| inside[end..].starts_with(']'));
        let text = &inside[..end.ok_or(ParseError::UnterminatedArray)?];
        self.skip(text.len() + 2);
        if text.contains(',') {
            let choice = |part: &str| action(&format!("[{}]", part.trim_matches(' ')), self.depth + 1);
            return Ok(vec![Node::Union(text.split(',').map(choice).collect::<Result<_, _>>()?)]);
        }
        match key(text) {
            // The key is read as a field, so that a dot in it has to be escaped here too.
            Some(key) => action(&format!(".{key}"), self.depth + 1),
            None => Ok(vec![Node::Slice(slice(if text == "*" { ":" } else { text })?)]),
        }
    }

    /// Reads a filter whose `[?(` has been taken.
    pub(super) fn filter(&mut self) -> Result<Node, ParseError> {
        let length = condition(self.rest()).ok_or(ParseError::UnterminatedFilter)?;
        let text = &self.rest()[..length];
        self.skip(length + 1);
        if !self.take("]") {
            return Err(ParseError::UnclosedFilter);
        }
        let depth = self.depth + 1;
        let (left, comparison) = match sides(text) {
            Some((left, operator, right)) => {
                let left = action(left, depth)?;
                (left, Some((Operator::named(operator), action(right, depth)?)))
            }
            None => (action(text, depth)?, None),
        };
        Ok(Node::Filter(Filter { left, comparison }))
    }
}

/// How long a condition is: up to the first `)` that is not in the first pair of quotes.
fn condition(text: &str) -> Option<usize> {
    let mut open = None;
    let mut closed = false;
    let mut previous = '(';
    for (at, char) in text.char_indices() {
        match char {
            '\n' => return None,
            '"' | '\'' if open.is_none() => open = Some(char),
            '"' | '\'' => closed |= open == Some(char) && previous != '\\',
            ')' if open.is_some() == closed => return Some(at),
            _ => {}
        }
        previous = char;
    }
    None
}

/// The left side, the operator and the right side, if there is an operator with something on both sides of it.
fn sides(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |char| matches!(char, '!' | '<' | '>' | '=');
    let start = text.find(is_operator).filter(|&start| start > 0)?;
    let (left, rest) = text.split_at(start);
    let right = rest.trim_start_matches(is_operator);
    // With nothing after it, the last character of the operator is taken for the right side.
    let right = if right.is_empty() { &rest[rest.len() - 1..] } else { right };
    let operator = &rest[..rest.len() - right.len()];
    (!operator.is_empty()).then_some((left, operator, right))
}

/// The key in `'key'`.
fn key(text: &str) -> Option<&str> {
    let key = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!key.contains('\'')).then_some(key)
}

/// Reads `start:end:step`, each of which may be left out; nothing at all is the first item.
fn slice(text: &str) -> Result<Slice, ParseError> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_index =
        |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_index) {
        return Err(ParseError::Index(text.to_owned()));
    }
    let number = |at: usize| match parts.get(at) {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse().map(Some).map_err(|_| ParseError::IndexNumber((*part).to_owned())),
    };
    let start: Option<i64> = number(0)?;
    let end = match number(1)? {
        Some(end) => End::Before(end),
        None if parts.len() > 1 => End::Open,
        None => End::AfterOne(start.unwrap_or(0).wrapping_add(1)),
    };
    Ok(Slice { start, end, step: number(2)? })
}
