//! A place in a text that moves on.

use std::ops::Range;

/// Reads some bytes of a text. Positions are those of the whole text.
#[derive(Clone)]
pub(in super::super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(in super::super) pos: usize,
    /// Where the bytes begin, behind a byte-order mark, and where they end.
    from: usize,
    to: usize,
}

impl<'a> Cursor<'a> {
    pub(in super::super) fn new(text: &'a str, range: Range<usize>) -> Self {
        Cursor { text, pos: range.start, from: range.start, to: range.end }
    }

    /// The byte at a position; nothing behind the end.
    pub(super) fn at(&self, pos: usize) -> Option<u8> {
        if pos < self.to { self.text.as_bytes().get(pos).copied() } else { None }
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.at(self.pos)
    }

    /// Whether a blank, a line break or the end is at a position.
    pub(super) fn is_space(&self, pos: usize) -> bool {
        matches!(self.at(pos), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
    }

    /// Whether a sign stands here that counts only before a space.
    pub(super) fn is_sign(&self, sign: u8) -> bool {
        self.byte() == Some(sign) && self.is_space(self.pos + 1)
    }

    pub(super) fn line_start(&self, pos: usize) -> usize {
        self.text[self.from..pos].rfind('\n').map_or(self.from, |at| self.from + at + 1)
    }

    /// How far in a position is, in bytes.
    pub(super) fn column(&self, pos: usize) -> usize {
        pos - self.line_start(pos)
    }

    /// Where the line of a position ends, before its line break.
    pub(super) fn line_end(&self, pos: usize) -> usize {
        self.text[pos..self.to].find('\n').map_or(self.to, |at| pos + at)
    }

    /// Whether no line ends between two positions.
    pub(super) fn is_one_line(&self, from: usize, to: usize) -> bool {
        !self.text[from..to].contains('\n')
    }

    /// Whether the document ends here.
    pub(in super::super) fn is_over(&self) -> bool {
        self.pos >= self.to || self.is_marker("---") || self.is_marker("...")
    }

    fn is_marker(&self, marker: &str) -> bool {
        self.text[self.pos..self.to].starts_with(marker)
            && self.is_space(self.pos + marker.len())
            && self.column(self.pos) == 0
    }

    /// Steps over directives and the line that begins the document.
    pub(in super::super) fn skip_prologue(&mut self) {
        let start = self.pos;
        loop {
            self.skip_gap();
            if self.byte() == Some(b'%') && self.column(self.pos) == 0 {
                self.pos = self.line_end(self.pos);
            } else if self.pos < self.to && self.is_marker("---") {
                self.pos += 3;
                return;
            } else {
                // Comments before the content are looked at again, with it.
                self.pos = if self.text[start..self.pos].contains('%') { self.pos } else { start };
                return;
            }
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\r')) {
            self.pos += 1;
        }
    }

    /// Steps over blanks, comments and line breaks.
    pub(in super::super) fn skip_gap(&mut self) {
        loop {
            self.skip_blanks();
            match self.byte() {
                Some(b'\n') => self.pos += 1,
                Some(b'#') if self.pos == self.from || self.is_space(self.pos - 1) => {
                    self.pos = self.line_end(self.pos);
                }
                _ => return,
            }
        }
    }
}
