//! Scalars without quotes.

use std::borrow::Cow;

use super::super::chars::{self, BLANK, BREAK, COLON, FLOW, LEAD, Mark};
use super::super::error::Error;
use super::Scanner;
use super::fold::Gap;

impl<'a> Scanner<'a> {
    /// Reads a plain scalar. It is borrowed from the text if it stands on one line.
    pub(super) fn plain(&mut self, start: Mark) -> Result<Cow<'a, str>, Error> {
        let min_column = self.indent + 1;
        let mut end = self.skip_plain_line();
        let mut text = Cow::Borrowed(&self.text()[start.pos..end]);
        while self.cursor.break_at(self.cursor.pos) > 0 {
            let gap = self.plain_gap(start, min_column)?;
            self.key_allowed = true;
            if self.in_block() && (self.cursor.column() as i64) < min_column || !self.plain_goes_on() {
                break;
            }
            self.key_allowed = false;
            let from = self.cursor.pos;
            end = self.skip_plain_line();
            if self.keeps_text {
                gap.write(text.to_mut());
                text.to_mut().push_str(&self.text()[from..end]);
            } else {
                self.note_left_out();
            }
        }
        Ok(text)
    }

    /// Steps over the words on this line and the blanks after them; gives the end of the last word.
    fn skip_plain_line(&mut self) -> usize {
        loop {
            self.skip_plain_word();
            let end = self.cursor.pos;
            self.cursor.skip_blanks();
            if self.cursor.pos == end || self.cursor.byte() == b'#' || !self.plain_word_starts() {
                return end;
            }
        }
    }

    #[inline]
    fn skip_plain_word(&mut self) {
        let flow = if self.in_block() { 0 } else { FLOW };
        let mut at = self.cursor.pos;
        loop {
            let byte = self.cursor.at(at);
            if byte == 0 {
                break;
            }
            if !chars::is(byte, BLANK | BREAK | LEAD | COLON | flow) {
                at += 1;
                continue;
            }
            if chars::is(byte, BLANK | BREAK | flow)
                || byte == b':' && self.cursor.is_space_at(at + 1)
                || chars::is(byte, LEAD) && self.cursor.break_at(at) > 0
            {
                break;
            }
            at += 1;
        }
        self.cursor.pos = at;
    }

    /// Whether a word of the scalar, and not its end, stands here.
    fn plain_word_starts(&self) -> bool {
        let (at, byte) = (self.cursor.pos, self.cursor.byte());
        !(self.cursor.is_space_at(at)
            || byte == b':' && self.cursor.is_space_at(at + 1)
            || !self.in_block() && chars::is(byte, FLOW))
    }

    /// Whether the scalar goes on at the start of this line.
    fn plain_goes_on(&self) -> bool {
        !self.cursor.is_document_marker() && self.cursor.byte() != b'#' && self.plain_word_starts()
    }

    /// Steps over line breaks and the indentation after them.
    fn plain_gap(&mut self, start: Mark, min_column: i64) -> Result<Gap<'a>, Error> {
        let mut gap = Gap::default();
        loop {
            if let Some(found) = self.cursor.take_break() {
                gap.add_break(found);
            } else if chars::is(self.cursor.byte(), BLANK) {
                if self.cursor.byte() == b'\t' && (self.cursor.column() as i64) < min_column {
                    return Err(self.error(Some(start), "found a tab character that violates indentation"));
                }
                self.cursor.pos += 1;
            } else {
                return Ok(gap);
            }
        }
    }
}
