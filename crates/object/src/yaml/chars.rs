//! Classes of characters, and a cursor that counts lines.

/// Space and tab.
pub(super) const BLANK: u8 = 1;
/// Carriage return and line feed.
pub(super) const BREAK: u8 = 2;
/// The first byte of a character that may be a line break of Unicode (NEL, LS, PS).
pub(super) const LEAD: u8 = 4;
/// Letters, digits, `_` and `-`: what an anchor's name is made of.
pub(super) const WORD: u8 = 8;
/// What ends a plain scalar inside brackets.
pub(super) const FLOW: u8 = 16;
/// What may stand in a tag besides [`WORD`].
pub(super) const URI: u8 = 32;
/// The colon, which may end a key.
pub(super) const COLON: u8 = 64;
/// What may end a plain scalar on its line outside of brackets, besides a line break.
pub(super) const STOP: u8 = 128;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    const GROUPS: [(&[u8], u8); 7] = [
        (b" \t", BLANK),
        (b"\r\n", BREAK),
        (b"\xc2\xe2", LEAD),
        (b",?[]{}", FLOW),
        (b";/?:@&=+$,.!~*'()[]%", URI),
        (b":", COLON),
        (b":#\t", STOP),
    ];
    let mut table = [0; 256];
    let mut group = 0;
    while group < GROUPS.len() {
        let (bytes, bit) = GROUPS[group];
        let mut i = 0;
        while i < bytes.len() {
            table[bytes[i] as usize] |= bit;
            i += 1;
        }
        group += 1;
    }
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' || byte as u8 == b'-' {
            table[byte] |= WORD;
        }
        byte += 1;
    }
    table
}

/// Whether `byte` has any of the classes in `mask`.
#[inline(always)]
pub(super) fn is(byte: u8, mask: u8) -> bool {
    CLASS[byte as usize] & mask != 0
}

/// A place in the text. Line and column count from 0, the column in bytes.
///
/// Only what stands before a token on its line counts for the indentation, and that is ASCII, so that
/// bytes are as good as characters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) pos: usize,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A position that moves through the text.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) pos: usize,
    pub(super) line: u32,
    line_start: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Cursor { text, bytes: text.as_bytes(), pos: 0, line: 0, line_start: 0 }
    }

    /// The byte at `at`; 0 after the end. The text itself has no 0.
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The next byte; 0 at the end.
    #[inline(always)]
    pub(super) fn byte(&self) -> u8 {
        self.at(self.pos)
    }

    #[inline(always)]
    pub(super) fn column(&self) -> usize {
        self.pos - self.line_start
    }

    #[inline(always)]
    pub(super) fn mark(&self) -> Mark {
        Mark { pos: self.pos, line: self.line, column: self.column() as u32 }
    }

    pub(super) fn is_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// How many bytes the line break at `at` has; 0 if there is none.
    #[inline(always)]
    pub(super) fn break_at(&self, at: usize) -> usize {
        match self.at(at) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.at(at + 1) == b'\n'),
            0xc2 if self.at(at + 1) == 0x85 => 2,
            0xe2 if self.at(at + 1) == 0x80 && matches!(self.at(at + 2), 0xa8 | 0xa9) => 3,
            _ => 0,
        }
    }

    /// Whether a blank, a line break or the end is at `at`.
    #[inline(always)]
    pub(super) fn is_space_at(&self, at: usize) -> bool {
        let byte = self.at(at);
        byte == 0 || is(byte, BLANK | BREAK) || is(byte, LEAD) && self.break_at(at) > 0
    }

    /// Steps over a line break and gives it as it counts in a scalar: `\n` for all but LS and PS.
    pub(super) fn take_break(&mut self) -> Option<&'a str> {
        let len = self.break_at(self.pos);
        if len == 0 {
            return None;
        }
        let found = if len == 3 { &self.text[self.pos..self.pos + 3] } else { "\n" };
        self.pos += len;
        self.line += 1;
        self.line_start = self.pos;
        Some(found)
    }

    /// Goes on at the start of a line.
    pub(super) fn move_to_line(&mut self, pos: usize, line: u32) {
        self.pos = pos;
        self.line = line;
        self.line_start = pos;
    }

    /// Steps over spaces and tabs.
    pub(super) fn skip_blanks(&mut self) {
        while is(self.byte(), BLANK) {
            self.pos += 1;
        }
    }

    /// Steps to the end of the line.
    pub(super) fn skip_to_break(&mut self) {
        loop {
            let found = self.bytes[self.pos..].iter().position(|byte| is(*byte, BREAK | LEAD));
            self.pos = found.map_or(self.bytes.len(), |len| self.pos + len);
            if self.is_end() || self.break_at(self.pos) > 0 {
                return;
            }
            self.pos += 1;
        }
    }

    /// Steps over a comment if one begins here.
    pub(super) fn skip_comment(&mut self) {
        if self.byte() == b'#' {
            self.skip_to_break();
        }
    }

    /// Counts the end of the text as the end of a line, where go-yaml sees the end of a stream.
    pub(super) fn end_line(&mut self) {
        if self.column() != 0 {
            self.line += 1;
            self.line_start = self.pos;
        }
    }

    /// Whether `---` or `...` stands here at the start of a line.
    #[inline]
    pub(super) fn is_marker(&self, sign: u8) -> bool {
        self.pos == self.line_start
            && self.byte() == sign
            && self.at(self.pos + 1) == sign
            && self.at(self.pos + 2) == sign
            && self.is_space_at(self.pos + 3)
    }

    /// Whether either marker of a document stands here.
    #[inline]
    pub(super) fn is_document_marker(&self) -> bool {
        self.pos == self.line_start && (self.is_marker(b'-') || self.is_marker(b'.'))
    }
}

/// The line and column of a byte position, from 1, the column in characters.
pub(super) fn place(text: &str, mark: Mark) -> (u32, u32) {
    let start = mark.pos.saturating_sub(mark.column as usize);
    let column = text.get(start..mark.pos).map_or(mark.column as usize, |before| before.chars().count());
    (mark.line + 1, column as u32 + 1)
}
