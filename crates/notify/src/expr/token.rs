//! The words of expressions.

use lynceus_gotmpl::Str;

use super::ExprError;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Number(String),
    Text(Str),
    /// `b"text"`
    Bytes(Vec<u8>),
    /// An operator or a word that is one, such as `in`.
    Operator(String),
    Bracket(char),
    End,
}

/// A word and where it begins, in characters.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) place: usize,
}

const WORDS: [&str; 11] =
    ["in", "or", "and", "matches", "contains", "startsWith", "endsWith", "let", "if", "else", "not"];

/// Splits a text into words. The last one is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ExprError> {
    let mut reader = Reader { text: text.chars().collect(), at: 0, tokens: Vec::new() };
    while let Some(c) = reader.peek(0) {
        reader.token(c)?;
    }
    reader.push(reader.at, Token::End);
    Ok(reader.tokens)
}

/// What may stand behind a backslash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    All,
    /// No characters by their number.
    OfBytes,
}

struct Reader {
    text: Vec<char>,
    at: usize,
    tokens: Vec<Placed>,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn push(&mut self, place: usize, token: Token) {
        self.tokens.push(Placed { token, place });
    }

    fn operator(&mut self, length: usize) {
        let word = self.text[self.at..self.at + length].iter().collect();
        self.push(self.at, Token::Operator(word));
        self.at += length;
    }

    fn token(&mut self, c: char) -> Result<(), ExprError> {
        let (start, next) = (self.at, self.peek(1));
        match c {
            _ if c.is_whitespace() => self.at += 1,
            '\'' | '"' => {
                let text = self.quoted(c, Escapes::All)?;
                self.push(start, Token::Text(Str::from_bytes(&text)));
            }
            'b' | 'B' if let Some(quote @ ('\'' | '"')) = next => {
                self.at += 1;
                let bytes = self.quoted(quote, Escapes::OfBytes)?;
                self.push(start, Token::Bytes(bytes));
            }
            '`' => self.raw()?,
            '0'..='9' => self.number()?,
            '.' if next.is_some_and(|c| c.is_ascii_digit()) => self.number()?,
            '/' if next == Some('/') => self.skip_line(),
            '/' if next == Some('*') => self.skip_comment()?,
            '(' | ')' | '[' | ']' | '{' | '}' => {
                self.push(self.at, Token::Bracket(c));
                self.at += 1;
            }
            '?' => self.operator(if matches!(next, Some('.' | '?')) { 2 } else { 1 }),
            '|' | ':' | '.' | '#' => self.operator(if next == Some(c) { 2 } else { 1 }),
            '&' | '!' | '=' | '*' | '<' | '>' => {
                self.operator(if matches!(next, Some('&' | '=' | '*')) { 2 } else { 1 });
            }
            ',' | ';' | '%' | '+' | '-' | '^' | '/' => self.operator(1),
            _ if is_name(c) => self.name(),
            _ => return Err(ExprError::at(self.at, format!("{c:?} cannot stand here"))),
        }
        Ok(())
    }

    fn name(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(is_name) {
            self.at += 1;
        }
        let word: String = self.text[start..self.at].iter().collect();
        let is_word = WORDS.contains(&word.as_str());
        self.push(start, if is_word { Token::Operator(word) } else { Token::Name(word) });
    }

    fn number(&mut self) -> Result<(), ExprError> {
        let start = self.at;
        let radix = match (self.peek(0), self.peek(1)) {
            (Some('0'), Some('x' | 'X')) => 16,
            (Some('0'), Some('o' | 'O')) => 8,
            (Some('0'), Some('b' | 'B')) => 2,
            _ => 10,
        };
        if radix != 10 {
            self.at += 2;
        }
        self.digits(radix);
        // Two dots are a range.
        if self.peek(0) == Some('.') && self.peek(1) != Some('.') {
            self.at += 1;
            self.digits(radix);
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.peek(0), Some('+' | '-')) {
                self.at += 1;
            }
            self.digits(radix);
        }
        if self.peek(0).is_some_and(is_name) {
            return Err(ExprError::at(start, "this is no number"));
        }
        let word = self.text[start..self.at].iter().collect();
        self.push(start, Token::Number(word));
        Ok(())
    }

    fn digits(&mut self, radix: u32) {
        while self.peek(0).is_some_and(|c| c.is_digit(radix) || c == '_') {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) -> Result<(), ExprError> {
        let start = self.at;
        self.at += 2;
        while self.peek(0).is_some() {
            if self.peek(0) == Some('*') && self.peek(1) == Some('/') {
                self.at += 2;
                return Ok(());
            }
            self.at += 1;
        }
        Err(ExprError::at(start, "the comment does not end"))
    }

    fn raw(&mut self) -> Result<(), ExprError> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err(ExprError::at(start, "the text does not end")),
                // A backquote is written twice.
                Some('`') if self.peek(1) == Some('`') => {
                    text.push('`');
                    self.at += 2;
                }
                Some('`') => break,
                Some(c) => {
                    text.push(c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        self.push(start, Token::Text(text.into()));
        Ok(())
    }

    fn quoted(&mut self, quote: char, escapes: Escapes) -> Result<Vec<u8>, ExprError> {
        let start = self.at;
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            match self.peek(0) {
                None | Some('\n') => return Err(ExprError::at(start, "the text does not end")),
                Some(c) if c == quote => break,
                Some('\\') => self.escape(quote, &mut bytes, escapes)?,
                Some(c) => {
                    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Ok(bytes)
    }

    fn escape(&mut self, quote: char, bytes: &mut Vec<u8>, escapes: Escapes) -> Result<(), ExprError> {
        let start = self.at;
        let wrong = || ExprError::at(start, "this is no escape sequence");
        let c = self.peek(1).ok_or_else(wrong)?;
        self.at += 2;
        let code = match c {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '\\' => u32::from(c),
            _ if c == quote => u32::from(c),
            'x' => {
                bytes.push(self.code(2, 16).and_then(|code| u8::try_from(code).ok()).ok_or_else(wrong)?);
                return Ok(());
            }
            'u' | 'U' if escapes == Escapes::OfBytes => return Err(wrong()),
            'u' if self.peek(0) == Some('{') => {
                self.at += 1;
                let length = self.text[self.at..].iter().take(7).position(|c| *c == '}').ok_or_else(wrong)?;
                let code = self.code(length, 16).ok_or_else(wrong)?;
                self.at += 1;
                code
            }
            'u' => self.code(4, 16).ok_or_else(wrong)?,
            'U' => self.code(8, 16).ok_or_else(wrong)?,
            '0'..='3' => {
                self.at -= 1;
                bytes.push(self.code(3, 8).and_then(|code| u8::try_from(code).ok()).ok_or_else(wrong)?);
                return Ok(());
            }
            _ => return Err(wrong()),
        };
        // Halves of characters stand for none, as in Go.
        let is_half = (0xd800..0xe000).contains(&code);
        let c = if is_half { char::REPLACEMENT_CHARACTER } else { char::from_u32(code).ok_or_else(wrong)? };
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// A number of so many digits.
    fn code(&mut self, length: usize, radix: u32) -> Option<u32> {
        let digits: String = self.text.get(self.at..self.at + length)?.iter().collect();
        self.at += length;
        (!digits.starts_with(['+', '-'])).then(|| u32::from_str_radix(&digits, radix).ok()).flatten()
    }
}

fn is_name(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}
