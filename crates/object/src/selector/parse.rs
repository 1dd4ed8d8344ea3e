//! The text form of a label selector.

use std::collections::BTreeSet;

use super::{Operator, Requirement, SelectorError, label};
use crate::value::Str;

/// Reads requirements and sorts them by key.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let mut parser = Parser { tokens: tokens(text), at: 0 };
    let mut requirements = parser.requirements().map_err(SelectorError)?;
    requirements.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(requirements)
}

/// A part of the text. Signs and words are told apart by what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Sign(&'a str),
    Word(&'a str),
    End,
}

impl<'a> Token<'a> {
    fn text(self) -> String {
        match self {
            Token::Sign(text) | Token::Word(text) => text.to_owned(),
            Token::End => String::new(),
        }
    }

    fn is(self, sign: &str) -> bool {
        self == Token::Sign(sign)
    }
}

const SIGNS: &[char] = &['=', '!', '(', ')', ',', '>', '<'];

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    // Kubernetes takes a NUL for the end of the text.
    let mut rest = text.split('\0').next().unwrap_or_default();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if rest.is_empty() {
            tokens.push(Token::End);
            return tokens;
        }
        let len = match rest.as_bytes() {
            [b'=', b'=', ..] | [b'!', b'=', ..] => 2,
            _ if rest.starts_with(SIGNS) => 1,
            _ => {
                let end = |char: char| SIGNS.contains(&char) || matches!(char, ' ' | '\t' | '\r' | '\n');
                rest.find(end).unwrap_or(rest.len())
            }
        };
        let (token, after) = rest.split_at(len);
        tokens.push(if token.starts_with(SIGNS) { Token::Sign(token) } else { Token::Word(token) });
        rest = after;
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).copied().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::End => return Ok(requirements),
                token if !starts_requirement(token) => {
                    return Err(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        token.text()
                    ));
                }
                _ => {}
            }
            let requirement =
                self.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
            requirements.push(requirement);
            match self.next() {
                Token::End => return Ok(requirements),
                token if token.is(",") => {
                    let next = self.peek();
                    if !starts_requirement(next) {
                        return Err(format!("found '{}', expected: identifier after ','", next.text()));
                    }
                }
                token => return Err(format!("found '{}', expected: ',' or 'end of string'", token.text())),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.next();
        let negated = token.is("!");
        if negated {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(format!("found '{}', expected: identifier", token.text()));
        };
        if let Some(problem) = label::joined(label::key_problems(key)) {
            return Err(format!("<nil>: Invalid value: {key:?}: {problem}"));
        }
        let (operator, values) = if negated {
            (Operator::DoesNotExist, BTreeSet::new())
        } else if self.peek() == Token::End || self.peek().is(",") {
            (Operator::Exists, BTreeSet::new())
        } else {
            self.comparison()?
        };
        let values = values.into_iter().map(Str::from).collect();
        Requirement::new(key, operator, values).map_err(|error| error.0)
    }

    fn comparison(&mut self) -> Result<(Operator, BTreeSet<&'a str>), String> {
        let operator = match self.next() {
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            Token::Sign("=") => Operator::Equals,
            Token::Sign("==") => Operator::DoubleEquals,
            Token::Sign("!=") => Operator::NotEquals,
            Token::Sign(">") => Operator::GreaterThan,
            Token::Sign("<") => Operator::LessThan,
            token => {
                return Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", token.text()));
            }
        };
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => BTreeSet::from([self.value()?]),
        };
        Ok((operator, values))
    }

    fn value(&mut self) -> Result<&'a str, String> {
        match self.peek() {
            Token::End => Ok(""),
            token if token.is(",") => Ok(""),
            Token::Word(value) => {
                self.at += 1;
                Ok(value)
            }
            token => Err(format!("found '{}', expected: identifier", token.text())),
        }
    }

    /// Values in parentheses; one that is left out between commas is the empty string.
    fn values(&mut self) -> Result<BTreeSet<&'a str>, String> {
        let token = self.next();
        if !token.is("(") {
            return Err(format!("found '{}' expected: '('", token.text()));
        }
        let mut values = BTreeSet::new();
        let first = self.peek();
        if !(first.is(")") || first.is(",") || matches!(first, Token::Word(_))) {
            return Err(format!("found '{}', expected: ',', ')' or identifier", first.text()));
        }
        let mut after_value = false;
        loop {
            match self.next() {
                token if token.is(")") => {
                    if !after_value {
                        values.insert("");
                    }
                    return Ok(values);
                }
                token if token.is(",") => {
                    if !after_value {
                        values.insert("");
                    }
                    after_value = false;
                }
                Token::Word(value) if !after_value => {
                    values.insert(value);
                    after_value = true;
                }
                token if after_value => {
                    return Err(format!("found '{}', expected: ',' or ')'", token.text()));
                }
                token => return Err(format!("found '{}', expected: ',', or identifier", token.text())),
            }
        }
    }
}

fn starts_requirement(token: Token<'_>) -> bool {
    token.is("!") || matches!(token, Token::Word(_))
}
