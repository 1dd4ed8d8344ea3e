//! The words of an expression.

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    /// A name or a keyword.
    Word(String),
    /// `$name`.
    Var(String),
    /// `.name`.
    Field(String),
    Number(String),
    /// `@name`.
    Format(String),
    /// The pieces of a text, and the words of what is put between them.
    Text(Vec<Piece>),
    Sign(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Words(Vec<Tok>),
}

/// Longer signs first.
const SIGNS: [&str; 38] = [
    "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", ">=", "<=", "//", "..", "|", ",", ";", ":",
    "(", ")", "[", "]", "{", "}", "+", "-", "*", "/", "%", "=", ">", "<", "?", ".", "$", "@", "!", "&",
];

/// Splits a text into words; an error if it cannot be.
pub(super) fn words(text: &str) -> Result<Vec<Tok>, String> {
    let mut lexer = Lexer { rest: text, depth: 0 };
    let words = lexer.until_closed()?;
    if lexer.rest.is_empty() { Ok(words) } else { Err(unexpected(lexer.rest)) }
}

struct Lexer<'t> {
    rest: &'t str,
    /// How many texts it is inside of.
    depth: usize,
}

fn unexpected(rest: &str) -> String {
    match rest.chars().next() {
        Some(sign) => format!("`{sign}` is not expected there"),
        None => "it ends too early".to_owned(),
    }
}

fn is_word(byte: u8, first: bool) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !first && byte.is_ascii_digit()
}

impl<'t> Lexer<'t> {
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Words up to a closing bracket that was not opened, or to the end.
    fn until_closed(&mut self) -> Result<Vec<Tok>, String> {
        let mut words = Vec::new();
        let mut open = 0usize;
        loop {
            self.skip();
            if self.rest.is_empty() {
                return Ok(words);
            }
            if self.depth > 0 && open == 0 && self.rest.starts_with(')') {
                return Ok(words);
            }
            let word = self.word()?;
            match word {
                Tok::Sign("(") => open += 1,
                Tok::Sign(")") => open = open.saturating_sub(1),
                _ => {}
            }
            words.push(word);
        }
    }

    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
            if !self.rest.starts_with('#') {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
    }

    fn name(&mut self) -> &'t str {
        let bytes = self.rest.as_bytes();
        let length = bytes.iter().enumerate().take_while(|(at, byte)| is_word(**byte, *at == 0)).count();
        self.take(length)
    }

    fn word(&mut self) -> Result<Tok, String> {
        let bytes = self.rest.as_bytes();
        let second = bytes.get(1).copied().unwrap_or(0);
        match bytes.first().copied().unwrap_or(0) {
            b'"' => {
                self.take(1);
                self.text()
            }
            byte if is_word(byte, true) => Ok(Tok::Word(self.name().to_owned())),
            byte if byte.is_ascii_digit() => self.number(),
            b'.' if second.is_ascii_digit() => self.number(),
            b'.' if is_word(second, true) => {
                self.take(1);
                Ok(Tok::Field(self.name().to_owned()))
            }
            b'$' if is_word(second, true) => {
                self.take(1);
                Ok(Tok::Var(self.name().to_owned()))
            }
            b'@' if is_word(second, false) => {
                self.take(1);
                let length = self.rest.bytes().take_while(|byte| is_word(*byte, false)).count();
                Ok(Tok::Format(self.take(length).to_owned()))
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
                let sign = sign.ok_or_else(|| unexpected(self.rest))?;
                self.take(sign.len());
                Ok(Tok::Sign(sign))
            }
        }
    }

    fn number(&mut self) -> Result<Tok, String> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end += 1;
            end += digits(end);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(bytes.len()));
            if exponent == 0 {
                return Err(unexpected(&self.rest[end..]));
            }
            end += 1 + sign + exponent;
        }
        if bytes.get(end).is_some_and(|byte| is_word(*byte, true) || *byte == b'.') {
            return Err(unexpected(&self.rest[end..]));
        }
        Ok(Tok::Number(self.take(end).to_owned()))
    }

    fn text(&mut self) -> Result<Tok, String> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        loop {
            let mut chars = self.rest.chars();
            let sign = chars.next().ok_or("a text is not closed")?;
            self.rest = chars.as_str();
            match sign {
                '"' => break,
                '\\' if self.rest.starts_with('(') => {
                    self.take(1);
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Words(self.inside()?));
                }
                '\\' => text.push(self.escaped()?),
                sign if (sign as u32) < 0x20 => return Err("a text has a control character".to_owned()),
                sign => text.push(sign),
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok(Tok::Text(pieces))
    }

    /// The words of an expression in a text.
    fn inside(&mut self) -> Result<Vec<Tok>, String> {
        self.depth += 1;
        if self.depth > super::parse::NESTED {
            return Err("it is nested too deeply".to_owned());
        }
        let words = self.until_closed()?;
        self.depth -= 1;
        if !self.rest.starts_with(')') {
            return Err("a text is not closed".to_owned());
        }
        self.take(1);
        Ok(words)
    }

    fn escaped(&mut self) -> Result<char, String> {
        let mut chars = self.rest.chars();
        let sign = chars.next().ok_or("a text is not closed")?;
        self.rest = chars.as_str();
        Ok(match sign {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '"' | '\\' | '/' => sign,
            'u' => {
                let high = self.hex()?;
                let pair = (0xd800..0xdc00).contains(&high) && self.rest.starts_with("\\u");
                if !pair {
                    return Ok(char::from_u32(high).unwrap_or('\u{fffd}'));
                }
                let before = self.rest;
                self.take(2);
                let low = self.hex()?;
                if (0xdc00..0xe000).contains(&low) {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                self.rest = before;
                '\u{fffd}'
            }
            other => return Err(format!("a text has `\\{other}`")),
        })
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.rest.get(..4).ok_or("a text has a short `\\u`")?;
        let code = u32::from_str_radix(digits, 16).map_err(|_| "a text has a wrong `\\u`".to_owned())?;
        self.take(4);
        Ok(code)
    }
}
