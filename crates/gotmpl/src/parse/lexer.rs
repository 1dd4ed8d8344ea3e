//! Cuts the text of a template into tokens.

use super::token::{Sort, Token};
use crate::format::quote;
use crate::unicode;

/// The marks around actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delims {
    /// What an action starts with.
    pub(crate) left: String,
    /// What an action ends with.
    pub(crate) right: String,
}

impl Default for Delims {
    fn default() -> Self {
        Self { left: "{{".to_owned(), right: "}}".to_owned() }
    }
}

pub(super) struct Lexer<'s> {
    input: &'s str,
    delims: &'s Delims,
    /// Where the next character is.
    at: usize,
    /// Where the token starts that is being read.
    start: usize,
    /// The line of `start`.
    line: usize,
    parens: usize,
    inside: bool,
    /// Whether `break` and `continue` are keywords: not if there are functions of that name.
    pub(super) break_is_keyword: bool,
    pub(super) continue_is_keyword: bool,
    /// What is wrong with the text. Tokens have only the numbers, so that they are copied at no cost.
    pub(super) errors: Vec<String>,
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

impl<'s> Lexer<'s> {
    pub(super) fn new(input: &'s str, delims: &'s Delims) -> Self {
        Self {
            input,
            delims,
            at: 0,
            start: 0,
            line: 1,
            parens: 0,
            inside: false,
            break_is_keyword: true,
            continue_is_keyword: true,
            errors: Vec::new(),
        }
    }

    /// The next token; after the end of the text, the end again.
    pub(super) fn next(&mut self) -> Token {
        if self.inside { self.action() } else { self.text() }
    }

    fn rest(&self) -> &'s str {
        &self.input[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take_while(&mut self, take: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !take(c)).unwrap_or(rest.len());
    }

    /// Takes what a word may go on with. Nearly all of it is ASCII.
    fn take_word(&mut self) {
        let rest = self.rest().as_bytes();
        let end = rest.iter().position(|&byte| byte != b'_' && !byte.is_ascii_alphanumeric());
        self.at += end.unwrap_or(rest.len());
        if self.peek().is_some_and(|c| !c.is_ascii()) {
            self.take_while(is_alphanumeric);
        }
    }

    fn take_spaces(&mut self) {
        let rest = self.rest().as_bytes();
        let end = rest.iter().position(|&byte| !is_space(char::from(byte)));
        self.at += end.unwrap_or(rest.len());
    }

    fn take_if(&mut self, take: impl Fn(char) -> bool) -> bool {
        let found = self.peek().is_some_and(take);
        if found {
            self.bump();
        }
        found
    }

    /// Ends the token here.
    fn emit(&mut self, sort: Sort) -> Token {
        let token = Token { sort, at: self.start, end: self.at, line: self.line, error: 0 };
        match sort {
            // Words, names, numbers and scalars in quotes end with their line at the latest.
            Sort::Identifier | Sort::Field | Sort::Variable | Sort::Dot | Sort::Pipe | Sort::String => {
                self.start = self.at;
            }
            _ => self.skip(),
        }
        token
    }

    /// Starts the next token here.
    fn skip(&mut self) {
        self.line += count_lines(&self.input[self.start..self.at]);
        self.start = self.at;
    }

    fn fail(&mut self, message: impl Into<String>) -> Token {
        let error = self.errors.len();
        self.errors.push(message.into());
        let token = Token { sort: Sort::Error, at: self.start, end: self.start, line: self.line, error };
        self.at = self.input.len();
        self.start = self.at;
        token
    }

    fn text(&mut self) -> Token {
        loop {
            let Some(length) = find(self.rest(), &self.delims.left) else {
                self.at = self.input.len();
                return self.emit(if self.at > self.start { Sort::Text } else { Sort::Eof });
            };
            let delim = self.at + length;
            let trimmed = starts_with_left_trim(&self.input[delim + self.delims.left.len()..]);
            let text = &self.input[self.start..delim];
            self.at = self.start + if trimmed { text.trim_end_matches(SPACES).len() } else { text.len() };
            if self.at > self.start {
                let token = self.emit(Sort::Text);
                self.at = delim;
                self.skip();
                return token;
            }
            self.at = delim;
            self.skip();
            if let Some(token) = self.left_delim() {
                return token;
            }
        }
    }

    /// Reads the left delimiter, or a comment, after which the text goes on.
    fn left_delim(&mut self) -> Option<Token> {
        self.at += self.delims.left.len();
        let marker = if starts_with_left_trim(self.rest()) { 2 } else { 0 };
        if self.input[self.at + marker..].starts_with("/*") {
            self.at += marker;
            self.skip();
            return self.comment();
        }
        let token = self.emit(Sort::LeftDelim);
        self.inside = true;
        self.at += marker;
        self.skip();
        self.parens = 0;
        Some(token)
    }

    /// Skips a comment; gives a token only if something is wrong.
    fn comment(&mut self) -> Option<Token> {
        self.at += 2;
        let Some(length) = self.rest().find("*/") else {
            return Some(self.fail("unclosed comment"));
        };
        self.at += length + 2;
        let Some(marker) = self.right_delim_here() else {
            return Some(self.fail("comment ends before closing delimiter"));
        };
        self.leave(marker);
        self.skip();
        None
    }

    /// Whether a right delimiter is next, and how long the trim marker before it is.
    fn right_delim_here(&self) -> Option<usize> {
        let rest = self.rest();
        let right = self.delims.right.as_str();
        // Most of what is looked at is neither.
        let first = rest.bytes().next()?;
        if !is_space(char::from(first)) && !right.as_bytes().starts_with(&[first]) {
            return None;
        }
        if starts_with_right_trim(rest) && rest[2..].starts_with(right) {
            return Some(2);
        }
        rest.starts_with(right).then_some(0)
    }

    /// Goes past the right delimiter and, after a trim marker, past the spaces that follow.
    fn leave(&mut self, marker: usize) {
        self.at += marker + self.delims.right.len();
        if marker > 0 {
            self.take_spaces();
        }
    }

    fn right_delim(&mut self, marker: usize) -> Token {
        self.at += marker;
        self.skip();
        self.at += self.delims.right.len();
        let token = self.emit(Sort::RightDelim);
        if marker > 0 {
            self.take_spaces();
            self.skip();
        }
        self.inside = false;
        token
    }

    fn action(&mut self) -> Token {
        if let Some(marker) = self.right_delim_here() {
            if self.parens == 0 {
                return self.right_delim(marker);
            }
            return self.fail("unclosed left paren");
        }
        let Some(c) = self.bump() else {
            return self.fail("unclosed action");
        };
        match c {
            _ if is_space(c) => self.space(),
            '=' => self.emit(Sort::Assign),
            ':' => match self.bump() {
                Some('=') => self.emit(Sort::Declare),
                _ => self.fail("expected :="),
            },
            '|' => self.emit(Sort::Pipe),
            '"' => self.quoted(),
            '`' => self.raw(),
            '$' => self.field_or_variable(Sort::Variable),
            '\'' => self.char_constant(),
            '.' if !self.peek().is_none_or(|c| c.is_ascii_digit()) => self.field_or_variable(Sort::Field),
            '.' | '+' | '-' | '0'..='9' => {
                self.at = self.start;
                self.number()
            }
            _ if is_alphanumeric(c) => self.word(),
            '(' => {
                self.parens += 1;
                self.emit(Sort::LeftParen)
            }
            ')' if self.parens == 0 => self.fail("unexpected right paren"),
            ')' => {
                self.parens -= 1;
                self.emit(Sort::RightParen)
            }
            ' '..='~' => self.emit(Sort::Char),
            _ => self.fail(format!("unrecognized character in action: {}", quote::code_point(c))),
        }
    }

    /// Reads spaces, of which the first is past, but leaves one that belongs to a trim marker.
    fn space(&mut self) -> Token {
        self.take_spaces();
        let last = self.at - 1;
        if starts_with_right_trim(&self.input[last..])
            && self.input[last + 2..].starts_with(self.delims.right.as_str())
        {
            self.at = last;
            if last == self.start {
                return self.right_delim(2);
            }
        }
        self.emit(Sort::Space)
    }

    fn word(&mut self) -> Token {
        self.take_word();
        if let Some(error) = self.bad_terminator() {
            return error;
        }
        let sort = match &self.input[self.start..self.at] {
            "break" if !self.break_is_keyword => Sort::Identifier,
            "continue" if !self.continue_is_keyword => Sort::Identifier,
            "true" | "false" => Sort::Bool,
            word => Sort::keyword(word).unwrap_or(Sort::Identifier),
        };
        self.emit(sort)
    }

    /// Reads what follows a `.` or a `$`.
    fn field_or_variable(&mut self, sort: Sort) -> Token {
        if self.at_terminator() {
            return self.emit(if sort == Sort::Field { Sort::Dot } else { sort });
        }
        self.take_word();
        self.bad_terminator().unwrap_or_else(|| self.emit(sort))
    }

    fn bad_terminator(&mut self) -> Option<Token> {
        if self.at_terminator() {
            return None;
        }
        let c = self.peek()?;
        Some(self.fail(format!("bad character {}", quote::code_point(c))))
    }

    /// Whether a word may end here.
    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(c) => is_space(c) || self.rest().starts_with(self.delims.right.as_str()),
        }
    }

    fn char_constant(&mut self) -> Token {
        if self.until('\'') {
            return self.emit(Sort::CharConstant);
        }
        self.fail("unterminated character constant")
    }

    fn quoted(&mut self) -> Token {
        if self.until('"') {
            return self.emit(Sort::String);
        }
        self.fail("unterminated quoted string")
    }

    /// Goes past the closing quote, if there is one on this line.
    fn until(&mut self, quote: char) -> bool {
        loop {
            match self.bump() {
                None | Some('\n') => return false,
                Some('\\') if self.bump().is_none_or(|c| c == '\n') => return false,
                Some(c) if c == quote => return true,
                Some(_) => {}
            }
        }
    }

    fn raw(&mut self) -> Token {
        match self.rest().find('`') {
            Some(length) => {
                self.at += length + 1;
                self.emit(Sort::RawString)
            }
            None => self.fail("unterminated raw quoted string"),
        }
    }

    fn number(&mut self) -> Token {
        let mut good = self.scan_number();
        let mut sort = Sort::Number;
        if good && matches!(self.peek(), Some('+' | '-')) {
            sort = Sort::Complex;
            good = self.scan_number() && self.input[..self.at].ends_with('i');
        }
        if good {
            return self.emit(sort);
        }
        let text = &self.input[self.start..self.at];
        self.fail(format!("bad number syntax: {}", quote::double(text)))
    }

    /// Takes what may be a number, roughly: what is wrong with it is found when it is read.
    fn scan_number(&mut self) -> bool {
        self.take_if(|c| matches!(c, '+' | '-'));
        let mut radix = 10;
        if self.take_if(|c| c == '0') {
            let prefix = self.peek().map(|c| c.to_ascii_lowercase());
            radix = match prefix {
                Some('x') => 16,
                Some('o') => 8,
                Some('b') => 2,
                _ => 10,
            };
            if radix != 10 {
                self.bump();
            }
        }
        let digit = |c: char| c == '_' || c.is_digit(radix);
        self.take_while(digit);
        if self.take_if(|c| c == '.') {
            self.take_while(digit);
        }
        let exponent = if radix == 16 { 'p' } else { 'e' };
        if matches!(radix, 10 | 16) && self.take_if(|c| c.eq_ignore_ascii_case(&exponent)) {
            self.take_if(|c| matches!(c, '+' | '-'));
            self.take_while(|c| c == '_' || c.is_ascii_digit());
        }
        self.take_if(|c| c == 'i');
        !self.take_if(is_alphanumeric)
    }
}

/// Where a mark is. Texts between actions are short, for which the search of the standard library takes long to get ready.
fn find(text: &str, mark: &str) -> Option<usize> {
    let first = *mark.as_bytes().first()?;
    let mut at = 0;
    loop {
        at += text.as_bytes()[at..].iter().position(|byte| *byte == first)?;
        if text.as_bytes()[at..].starts_with(mark.as_bytes()) {
            return Some(at);
        }
        at += 1;
    }
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

fn is_space(c: char) -> bool {
    SPACES.contains(&c)
}

fn is_alphanumeric(c: char) -> bool {
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphanumeric();
    }
    unicode::is_letter(c) || unicode::is_digit(c)
}

fn starts_with_left_trim(text: &str) -> bool {
    matches!(text.as_bytes(), [b'-', space, ..] if is_space(char::from(*space)))
}

fn starts_with_right_trim(text: &str) -> bool {
    matches!(text.as_bytes(), [space, b'-', ..] if is_space(char::from(*space)))
}
