//! Anchors, tags and directives.

use super::super::chars::{self, Mark, URI, WORD};
use super::super::error::Error;
use super::{Scanner, Token};

impl<'a> Scanner<'a> {
    /// Reads the name after `&` or `*`.
    pub(super) fn scan_anchor_name(&mut self, start: Mark) -> Result<&'a str, Error> {
        self.cursor.pos += 1;
        let name = self.word();
        let ends_well = self.cursor.is_space_at(self.cursor.pos) || b"?:,]}%@`".contains(&self.cursor.byte());
        if name.is_empty() || !ends_well {
            return Err(self.error(Some(start), "did not find expected alphabetic or numeric character"));
        }
        Ok(name)
    }

    /// Letters, digits, `_` and `-`.
    fn word(&mut self) -> &'a str {
        let from = self.cursor.pos;
        while chars::is(self.cursor.byte(), WORD) {
            self.cursor.pos += 1;
        }
        &self.text()[from..self.cursor.pos]
    }

    /// Reads `!<uri>`, `!handle!suffix`, `!suffix` or `!`.
    pub(super) fn scan_tag(&mut self, start: Mark) -> Result<Token<'a>, Error> {
        let (handle, suffix) = if self.cursor.at(self.cursor.pos + 1) == b'<' {
            self.cursor.pos += 2;
            let suffix = self.uri(start, "", true)?;
            if self.cursor.byte() != b'>' {
                return Err(self.error(Some(start), "did not find the expected '>'"));
            }
            self.cursor.pos += 1;
            ("", suffix)
        } else {
            let handle = self.handle();
            if handle.len() > 1 && handle.ends_with('!') {
                (handle, self.uri(start, "", true)?)
            } else {
                let suffix = self.uri(start, &handle[1..], false)?;
                if suffix.is_empty() { ("", "!".to_owned()) } else { ("!", suffix) }
            }
        };
        if !self.cursor.is_space_at(self.cursor.pos) {
            return Err(self.error(Some(start), "did not find expected whitespace or line break"));
        }
        Ok(Token::Tag { handle, suffix })
    }

    /// `!`, letters, and another `!` if there is one. The first `!` is known to be there.
    fn handle(&mut self) -> &'a str {
        let from = self.cursor.pos;
        self.cursor.pos += 1;
        self.word();
        if self.cursor.byte() == b'!' {
            self.cursor.pos += 1;
        }
        &self.text()[from..self.cursor.pos]
    }

    /// The rest of a tag after `head`, with its percent escapes decoded.
    fn uri(&mut self, start: Mark, head: &str, needed: bool) -> Result<String, Error> {
        let from = self.cursor.pos;
        let mut out = head.as_bytes().to_vec();
        while chars::is(self.cursor.byte(), WORD | URI) {
            if self.cursor.byte() == b'%' {
                out.push(self.escaped_octet(start)?);
            } else {
                out.push(self.cursor.byte());
                self.cursor.pos += 1;
            }
        }
        if needed && self.cursor.pos == from {
            return Err(self.error(Some(start), "did not find expected tag URI"));
        }
        String::from_utf8(out).map_err(|_| self.error(Some(start), "found an incorrect trailing UTF-8 octet"))
    }

    fn escaped_octet(&mut self, start: Mark) -> Result<u8, Error> {
        let digit = |at| char::from(self.cursor.at(at)).to_digit(16);
        match (digit(self.cursor.pos + 1), digit(self.cursor.pos + 2)) {
            (Some(high), Some(low)) => {
                self.cursor.pos += 3;
                Ok((high << 4 | low) as u8)
            }
            _ => Err(self.error(Some(start), "did not find URI escaped octet")),
        }
    }

    /// Reads a line that begins with `%`.
    pub(super) fn scan_directive(&mut self) -> Result<Token<'a>, Error> {
        let start = self.cursor.mark();
        self.cursor.pos += 1;
        let name = self.word();
        if name.is_empty() {
            return Err(self.error(Some(start), "could not find expected directive name"));
        }
        if !self.cursor.is_space_at(self.cursor.pos) {
            return Err(self.error(Some(start), "found unexpected non-alphabetical character"));
        }
        let token = match name {
            "YAML" => self.version_directive(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return Err(self.error(Some(start), "found unknown directive name")),
        };
        self.cursor.skip_blanks();
        self.cursor.skip_comment();
        if !self.cursor.is_end() && self.cursor.take_break().is_none() {
            return Err(self.error(Some(start), "did not find expected comment or line break"));
        }
        Ok(token)
    }

    fn version_directive(&mut self, start: Mark) -> Result<Token<'a>, Error> {
        self.cursor.skip_blanks();
        let major = self.version_number(start)?;
        if self.cursor.byte() != b'.' {
            return Err(self.error(Some(start), "did not find expected digit or '.' character"));
        }
        self.cursor.pos += 1;
        let minor = self.version_number(start)?;
        Ok(Token::VersionDirective(major, minor))
    }

    fn version_number(&mut self, start: Mark) -> Result<u8, Error> {
        let from = self.cursor.pos;
        while self.cursor.byte().is_ascii_digit() {
            self.cursor.pos += 1;
            if self.cursor.pos - from > 2 {
                return Err(self.error(Some(start), "found extremely long version number"));
            }
        }
        let digits = &self.text()[from..self.cursor.pos];
        digits.parse().map_err(|_| self.error(Some(start), "did not find expected version number"))
    }

    fn tag_directive(&mut self, start: Mark) -> Result<Token<'a>, Error> {
        self.cursor.skip_blanks();
        if self.cursor.byte() != b'!' {
            return Err(self.error(Some(start), "did not find expected '!'"));
        }
        let handle = self.handle();
        if handle != "!" && !handle.ends_with('!') {
            return Err(self.error(Some(start), "did not find expected '!'"));
        }
        let blanks = self.cursor.pos;
        self.cursor.skip_blanks();
        if self.cursor.pos == blanks {
            return Err(self.error(Some(start), "did not find expected whitespace"));
        }
        let prefix = self.uri(start, "", true)?;
        if !self.cursor.is_space_at(self.cursor.pos) {
            return Err(self.error(Some(start), "did not find expected whitespace or line break"));
        }
        Ok(Token::TagDirective { handle, prefix })
    }
}
