//! CEL text to tokens.

use lynceus_object::Str;

use super::error::Issue;

/// A token and where it starts, counted in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Ident(Str),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str),
    Bytes(Vec<u8>),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

impl TokenKind {
    /// How the token is shown in a syntax error.
    pub(super) fn shown(&self) -> String {
        match self {
            TokenKind::Ident(name) => name.to_string(),
            TokenKind::Int(i) => i.to_string(),
            TokenKind::Uint(u) => format!("{u}u"),
            TokenKind::Double(d) => d.to_string(),
            TokenKind::String(text) => format!("'{text}'"),
            TokenKind::Bytes(_) => "b''".into(),
            TokenKind::Sign(sign) => (*sign).into(),
            TokenKind::End => "<EOF>".into(),
        }
    }
}

const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", "<", ">", "+", "-",
    "*", "/", "%", "!",
];

/// Splits the text; the last token is [`TokenKind::End`]. What is no token is skipped and told.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<Issue>) {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0 };
    let (mut out, mut issues) = (Vec::new(), Vec::new());
    loop {
        let start = lexer.at;
        match lexer.next() {
            Ok(token) => {
                let done = token.kind == TokenKind::End;
                out.push(token);
                if done {
                    return (out, issues);
                }
            }
            Err(issue) => {
                issues.push(issue);
                lexer.at = lexer.at.max(start + 1);
            }
        }
    }
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Result<Token, Issue> {
        self.skip_blank();
        let at = self.at;
        let Some(c) = self.peek(0) else { return Ok(Token { at, kind: TokenKind::End }) };
        let kind = if c.is_ascii_digit() || (c == '.' && self.peek(1).is_some_and(|d| d.is_ascii_digit())) {
            self.number()?
        } else if let Some(kind) = self.prefixed_string()? {
            kind
        } else if c.is_ascii_alphabetic() || c == '_' {
            self.ident()
        } else {
            self.sign(at)?
        };
        Ok(Token { at, kind })
    }

    fn skip_blank(&mut self) {
        while let Some(c) = self.peek(0) {
            if c == '/' && self.peek(1) == Some('/') {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            } else if c.is_ascii_whitespace() {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn sign(&mut self, at: usize) -> Result<TokenKind, Issue> {
        for sign in SIGNS {
            let fits = sign.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c));
            if fits {
                self.at += sign.len();
                return Ok(TokenKind::Sign(sign));
            }
        }
        let found = self.peek(0).unwrap_or_default();
        self.at += 1;
        Err(Issue::new(at, format!("Syntax error: token recognition error at: '{found}'")))
    }

    fn ident(&mut self) -> TokenKind {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        TokenKind::Ident(self.chars[start..self.at].iter().collect::<String>().into())
    }

    fn number(&mut self) -> Result<TokenKind, Issue> {
        let start = self.at;
        if self.peek(0) == Some('0') && matches!(self.peek(1), Some('x' | 'X')) {
            self.at += 2;
            let digits = self.take(|c| c.is_ascii_hexdigit());
            return self.whole(start, u64::from_str_radix(&digits, 16).ok());
        }
        let mut text = self.take(|c| c.is_ascii_digit());
        let mut float = false;
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            float = true;
            self.at += 1;
            text.push('.');
            text.push_str(&self.take(|c| c.is_ascii_digit()));
        }
        let signed = usize::from(matches!(self.peek(1), Some('+' | '-')));
        if matches!(self.peek(0), Some('e' | 'E'))
            && self.peek(1 + signed).is_some_and(|c| c.is_ascii_digit())
        {
            float = true;
            text.extend(self.chars[self.at..=self.at + signed].iter());
            self.at += 1 + signed;
            text.push_str(&self.take(|c| c.is_ascii_digit()));
        }
        if float {
            return text
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(TokenKind::Double)
                .ok_or_else(|| Issue::new(start, "invalid double literal"));
        }
        self.whole(start, text.parse().ok())
    }

    fn whole(&mut self, start: usize, number: Option<u64>) -> Result<TokenKind, Issue> {
        if matches!(self.peek(0), Some('u' | 'U')) {
            self.at += 1;
            return number.map(TokenKind::Uint).ok_or_else(|| Issue::new(start, "invalid uint literal"));
        }
        // One more than the largest int stands for the smallest, which the parser negates.
        match number {
            Some(number) if number <= i64::MAX as u64 => Ok(TokenKind::Int(number as i64)),
            Some(number) if number == i64::MAX as u64 + 1 => Ok(TokenKind::Int(i64::MIN)),
            _ => Err(Issue::new(start, "invalid int literal")),
        }
    }

    fn take(&mut self, keep: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(&keep) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn prefixed_string(&mut self) -> Result<Option<TokenKind>, Issue> {
        let (mut raw, mut bytes, mut ahead) = (false, false, 0);
        while let Some(c) = self.peek(ahead) {
            match c {
                'r' | 'R' if !raw => raw = true,
                'b' | 'B' if !bytes => bytes = true,
                '"' | '\'' => {
                    self.at += ahead;
                    return self.string(c, raw, bytes).map(Some);
                }
                _ => return Ok(None),
            }
            ahead += 1;
        }
        Ok(None)
    }

    fn string(&mut self, quote: char, raw: bool, bytes: bool) -> Result<TokenKind, Issue> {
        let start = self.at;
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let width = if triple { 3 } else { 1 };
        self.at += width;
        let mut out: Vec<u8> = Vec::new();
        let mut buffer = [0u8; 4];
        loop {
            let Some(c) = self.peek(0) else { return Err(self.unclosed(start)) };
            let ends = (0..width).all(|ahead| self.peek(ahead) == Some(quote));
            if ends {
                self.at += width;
                break;
            }
            if c == '\n' && !triple {
                return Err(self.unclosed(start));
            }
            if c == '\\' && !raw {
                self.escape(bytes, &mut out)?;
            } else {
                self.at += 1;
                out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            }
        }
        if bytes {
            return Ok(TokenKind::Bytes(out));
        }
        String::from_utf8(out)
            .map(|text| TokenKind::String(text.into()))
            .map_err(|_| Issue::new(start, "invalid string literal"))
    }

    fn unclosed(&self, start: usize) -> Issue {
        let text: String = self.chars[start..self.at].iter().collect();
        Issue::new(start, format!("Syntax error: token recognition error at: '{text}'"))
    }

    fn escape(&mut self, bytes: bool, out: &mut Vec<u8>) -> Result<(), Issue> {
        let at = self.at;
        let c = self.peek(1).ok_or_else(|| Issue::new(at, "unable to unescape string"))?;
        self.at += 2;
        let simple = match c {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '`' | '?' => c as u8,
            'x' | 'X' => return self.code(2, 16, bytes, out, at),
            'u' => return self.code(4, 16, false, out, at),
            'U' => return self.code(8, 16, false, out, at),
            '0'..='3' => {
                self.at -= 1;
                return self.code(3, 8, bytes, out, at);
            }
            _ => return Err(Issue::new(at, format!("Syntax error: token recognition error at: '\\{c}'"))),
        };
        out.push(simple);
        Ok(())
    }

    fn code(
        &mut self,
        digits: usize,
        radix: u32,
        byte: bool,
        out: &mut Vec<u8>,
        at: usize,
    ) -> Result<(), Issue> {
        let text: String = self.chars.iter().skip(self.at).take(digits).collect();
        self.at += digits;
        let code = u32::from_str_radix(&text, radix)
            .ok()
            .filter(|_| text.chars().count() == digits)
            .ok_or_else(|| Issue::new(at, "unable to unescape string"))?;
        if byte {
            out.push(u8::try_from(code).map_err(|_| Issue::new(at, "unable to unescape string"))?);
            return Ok(());
        }
        let c = char::from_u32(code).ok_or_else(|| Issue::new(at, "unable to unescape string"))?;
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }
}
