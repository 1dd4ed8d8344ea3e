//! Scalars in single and double quotes.

use std::borrow::Cow;

use super::super::chars::{self, BLANK, BREAK, LEAD, Mark};
use super::super::error::Error;
use super::Scanner;
use super::fold::Gap;

impl<'a> Scanner<'a> {
    /// Reads a quoted scalar. It is borrowed from the text if nothing in it has to be changed.
    pub(super) fn quoted(&mut self, start: Mark, quote: u8) -> Result<Cow<'a, str>, Error> {
        self.cursor.pos += 1;
        let from = self.cursor.pos;
        let mut at = from;
        loop {
            let byte = self.cursor.at(at);
            if byte == quote && (quote == b'"' || self.cursor.at(at + 1) != quote) {
                self.cursor.pos = at + 1;
                return Ok(Cow::Borrowed(&self.text()[from..at]));
            }
            let plain = byte != 0 && byte != quote && !(byte == b'\\' && quote == b'"');
            if !plain || chars::is(byte, BREAK) || chars::is(byte, LEAD) && self.cursor.break_at(at) > 0 {
                break;
            }
            at += 1;
        }
        self.quoted_with_changes(start, quote).map(Cow::Owned)
    }

    fn quoted_with_changes(&mut self, start: Mark, quote: u8) -> Result<String, Error> {
        let mut out = String::new();
        loop {
            if self.cursor.is_document_marker() {
                return Err(self.error(Some(start), "found unexpected document indicator"));
            }
            if self.cursor.is_end() {
                return Err(self.error(Some(start), "found unexpected end of stream"));
            }
            let escaped_break = self.quoted_word(start, quote, &mut out)?;
            if self.cursor.byte() == quote {
                self.cursor.pos += 1;
                return Ok(out);
            }
            self.quoted_gap(escaped_break, &mut out);
        }
    }

    /// Reads until a blank, a line break or the closing quote; says whether it met an escaped break.
    fn quoted_word(&mut self, start: Mark, quote: u8, out: &mut String) -> Result<bool, Error> {
        loop {
            let at = self.cursor.pos;
            let byte = self.cursor.byte();
            if self.cursor.is_space_at(at) {
                return Ok(false);
            }
            if byte == quote {
                if quote == b'\'' && self.cursor.at(at + 1) == quote {
                    out.push('\'');
                    self.cursor.pos += 2;
                    continue;
                }
                return Ok(false);
            }
            if byte == b'\\' && quote == b'"' {
                if self.cursor.break_at(at + 1) > 0 {
                    self.cursor.pos += 1;
                    self.cursor.take_break();
                    return Ok(true);
                }
                self.escape(start, out)?;
                continue;
            }
            self.quoted_run(quote, out);
        }
    }

    /// Copies characters that stand for themselves.
    fn quoted_run(&mut self, quote: u8, out: &mut String) {
        let from = self.cursor.pos;
        // The first character is known to be one of them; it may look like the start of a break.
        self.cursor.pos += 1;
        loop {
            let byte = self.cursor.byte();
            let ends = byte == 0 || byte == quote || byte == b'\\' || chars::is(byte, BLANK | BREAK);
            if ends || chars::is(byte, LEAD) && self.cursor.break_at(self.cursor.pos) > 0 {
                break;
            }
            self.cursor.pos += 1;
        }
        out.push_str(&self.text()[from..self.cursor.pos]);
    }

    fn quoted_gap(&mut self, escaped_break: bool, out: &mut String) {
        let mut gap = Gap::default();
        if escaped_break {
            gap.add_escaped_break();
        }
        let from = self.cursor.pos;
        let mut blanks_end = from;
        loop {
            if let Some(found) = self.cursor.take_break() {
                gap.add_break(found);
            } else if chars::is(self.cursor.byte(), BLANK) {
                self.cursor.pos += 1;
                if !gap.broken {
                    blanks_end = self.cursor.pos;
                }
            } else {
                break;
            }
        }
        if gap.broken {
            gap.write(out);
        } else {
            out.push_str(&self.text()[from..blanks_end]);
        }
    }

    fn escape(&mut self, start: Mark, out: &mut String) -> Result<(), Error> {
        let found = match self.cursor.at(self.cursor.pos + 1) {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' => ' ',
            b'"' => '"',
            b'\'' => '\'',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => self.escaped_code(start, 2)?,
            b'u' => self.escaped_code(start, 4)?,
            b'U' => self.escaped_code(start, 8)?,
            _ => return Err(self.error(Some(start), "found unknown escape character")),
        };
        self.cursor.pos += 2;
        out.push(found);
        Ok(())
    }

    /// Reads the digits of an escape and leaves the cursor two bytes before their end.
    fn escaped_code(&mut self, start: Mark, len: usize) -> Result<char, Error> {
        self.cursor.pos += 2;
        let mut code: u32 = 0;
        for at in self.cursor.pos..self.cursor.pos + len {
            let Some(digit) = char::from(self.cursor.at(at)).to_digit(16) else {
                return Err(self.error(Some(start), "did not find expected hexdecimal number"));
            };
            code = code << 4 | digit;
        }
        let Some(found) = char::from_u32(code) else {
            return Err(self.error(Some(start), "found invalid Unicode character escape code"));
        };
        self.cursor.pos += len - 2;
        Ok(found)
    }
}
