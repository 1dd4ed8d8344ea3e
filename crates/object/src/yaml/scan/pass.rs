//! Stepping over the value of a field, line by line and without tokens.
//!
//! Nearly every line of a manifest is `key: value`, `- value` or part of a text. Whether such lines fit together
//! is known from their columns, so that no token has to be made of them. This knows less than the scanner: it
//! gives up at the first thing that it is not sure about, and the scanner then decides. What it accepts, the
//! scanner and the parser accept too.

use super::super::chars::{self, BREAK, STOP};
use super::super::resolve::{self, Scalar};
use super::{Scanner, Token, Version};

/// A key that is longer is left to the scanner, which counts characters.
pub(super) const MAX_KEY_BYTES: usize = 256;

/// A block collection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Block {
    column: usize,
    is_seq: bool,
}

/// What the lines so far have left open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// Nothing: the next line belongs to a collection that is open.
    Nothing,
    /// The value of a key or an item, which may begin on the next line.
    Value,
    /// A plain scalar, which may go on.
    Plain,
}

impl Scanner<'_> {
    /// Takes a `:` that is the next token, and steps to the line after its value, if that is of the plainest kind and
    /// opens at most `max_depth` collections. Otherwise nothing has happened.
    pub(in super::super) fn pass_value(&mut self, max_depth: usize) -> bool {
        let is_next = self.queue.len() == 1 && matches!(self.queue.front(), Some((Token::Value, _)));
        if !is_next || !self.in_block() || self.indent < 0 || self.has_odd_breaks() {
            return false;
        }
        let mut lines =
            Lines { pos: self.cursor.pos, line: self.cursor.line, ..Lines::new(self.cursor.text) };
        if lines.pass_value_of(self.indent as usize, max_depth).is_none() {
            return false;
        }
        self.take();
        self.cursor.move_to_line(lines.pos, lines.line);
        self.key_allowed = true;
        true
    }

    /// Whether any line of the text ends in another way than with a line feed.
    fn has_odd_breaks(&mut self) -> bool {
        let text = self.text();
        *self.odd_breaks.get_or_insert_with(|| has_odd_breaks(text))
    }
}

/// Whether any line of a text ends in another way than with a line feed.
pub(super) fn has_odd_breaks(text: &str) -> bool {
    // Two passes: this one is a tight loop over bytes that almost always finds nothing.
    let suspect = |byte: u8| byte == b'\r' || byte == 0xc2 || byte == 0xe2;
    text.bytes().fold(false, |found, byte| found | suspect(byte))
        && text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Every method that gives an option gives nothing when it is not sure.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) pos: usize,
    line: u32,
    /// The mapping that has the value, and the collections in the value.
    open: Vec<Block>,
    pending: Pending,
    max_depth: usize,
}

impl<'a> Lines<'a> {
    /// The lines of a text, from its start.
    pub(super) fn new(text: &'a str) -> Self {
        Lines { text, pos: 0, line: 0, open: Vec::new(), pending: Pending::Nothing, max_depth: 0 }
    }
}

impl Lines<'_> {
    /// Steps from behind a `:` to the first line after the value of its key, which stands in the given column. The value opens
    /// at most `max_depth` collections.
    pub(super) fn pass_value_of(&mut self, column: usize, max_depth: usize) -> Option<()> {
        self.open.clear();
        self.open.push(Block { column, is_seq: false });
        self.pending = Pending::Nothing;
        self.max_depth = max_depth;
        self.value()?;
        loop {
            let start = self.pos;
            self.skip_spaces();
            match self.byte() {
                0 => return Some(()),
                b'\n' => self.next_line(),
                // A comment ends a plain scalar.
                b'#' => {
                    self.end_plain();
                    self.skip_line();
                }
                _ if self.is_over(self.pos - start) => {
                    self.pos = start;
                    return Some(());
                }
                _ => self.content(self.pos - start)?,
            }
        }
    }

    pub(super) fn byte(&self) -> u8 {
        self.at(self.pos)
    }

    /// The byte at `at`; 0 after the end. The text itself has no 0.
    pub(super) fn at(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.byte() == b' ' {
            self.pos += 1;
        }
    }

    /// Steps over a line feed.
    pub(super) fn next_line(&mut self) {
        self.pos += 1;
        self.line += 1;
    }

    pub(super) fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.pos..];
        match rest.iter().position(|byte| *byte == b'\n') {
            Some(len) => {
                self.pos += len;
                self.next_line();
            }
            None => self.pos = self.text.len(),
        }
    }

    fn end_plain(&mut self) {
        if self.pending == Pending::Plain {
            self.pending = Pending::Nothing;
        }
    }

    /// Whether a space, a line feed or the end is at `at`.
    pub(super) fn is_space_at(&self, at: usize) -> bool {
        matches!(self.at(at), b' ' | b'\n' | 0)
    }

    fn is_dash(&self) -> bool {
        self.byte() == b'-' && self.is_space_at(self.pos + 1)
    }

    fn top(&self) -> Option<Block> {
        self.open.last().copied()
    }

    /// Whether a line in this column comes after the value.
    fn is_over(&self, column: usize) -> bool {
        let Some(base) = self.open.first() else { return true };
        if column != base.column || !self.is_dash() {
            return column <= base.column;
        }
        // A list may stand in the column of its key.
        match self.open.get(1) {
            Some(first) => *first != Block { column, is_seq: true },
            None => self.pending != Pending::Value,
        }
    }

    /// Reads a line that has something in it, in the given column.
    fn content(&mut self, column: usize) -> Option<()> {
        let top = self.top()?;
        if self.pending == Pending::Plain && column > top.column {
            return self.plain_line();
        }
        self.end_plain();
        let is_dash = self.is_dash();
        let goes_in = column > top.column || column == top.column && is_dash && !top.is_seq;
        if self.pending == Pending::Value && goes_in {
            return self.block(column);
        }
        while self
            .top()
            .is_some_and(|top| top.column > column || top.column == column && top.is_seq && !is_dash)
        {
            self.open.pop();
        }
        if self.top()? != (Block { column, is_seq: is_dash }) {
            return None;
        }
        if is_dash { self.item() } else { self.key()?.then_some(()) }
    }

    /// Opens a collection in this column and reads the first of what is in it.
    fn block(&mut self, column: usize) -> Option<()> {
        let is_seq = self.is_dash();
        if self.open.len() > self.max_depth {
            return None;
        }
        self.open.push(Block { column, is_seq });
        if is_seq { self.item() } else { self.key()?.then_some(()) }
    }

    /// Reads what follows a `-`: a list, a mapping or a scalar may begin on its line.
    fn item(&mut self) -> Option<()> {
        let dash = self.pos;
        let column = self.top()?.column;
        self.pos += 1;
        self.skip_spaces();
        let inner = column + (self.pos - dash);
        if self.is_dash() {
            // Two dashes on a line are rare enough for the scanner.
            return None;
        }
        let start = self.pos;
        if self.open.len() > self.max_depth {
            return None;
        }
        self.open.push(Block { column: inner, is_seq: false });
        if self.key()? {
            return Some(());
        }
        self.open.pop();
        self.pos = start;
        self.value()
    }

    /// Reads a key and its value, if what stands here is a key.
    fn key(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        let rest = &bytes[self.pos..bytes.len().min(self.pos + MAX_KEY_BYTES)];
        let end = self.pos + rest.iter().position(|byte| !is_key_byte(*byte)).unwrap_or(rest.len());
        if end == self.pos || self.at(end) != b':' || !self.is_space_at(end + 1) {
            return Some(false);
        }
        if is_no_name(&self.text[self.pos..end]) {
            return None;
        }
        self.pos = end + 1;
        self.value()?;
        Some(true)
    }

    /// Reads the rest of a line, on which a value may begin.
    fn value(&mut self) -> Option<()> {
        self.skip_spaces();
        match self.byte() {
            0 | b'\n' | b'#' => {
                self.pending = Pending::Value;
                self.skip_line();
                Some(())
            }
            b'|' | b'>' => self.block_scalar(),
            quote @ (b'"' | b'\'') => {
                self.quoted(quote)?;
                self.end_of_line()
            }
            b'[' | b'{' => {
                self.flow()?;
                self.end_of_line()
            }
            b'-' | b':' | b'?' if self.is_space_at(self.pos + 1) => None,
            b'\t' | b'%' | b'@' | b'`' | b'&' | b'*' | b'!' | b',' | b']' | b'}' => None,
            _ if resolve::may_be_unbounded(&self.text[self.pos..]) => None,
            _ => self.plain_line(),
        }
    }

    /// Steps over a line of a plain scalar.
    fn plain_line(&mut self) -> Option<()> {
        self.pending = Pending::Plain;
        let bytes = self.text.as_bytes();
        loop {
            let found = bytes[self.pos..].iter().position(|byte| chars::is(*byte, STOP | BREAK));
            self.pos = found.map_or(bytes.len(), |len| self.pos + len);
            match self.byte() {
                0 => return Some(()),
                b'\n' => {
                    self.next_line();
                    return Some(());
                }
                b'\t' => return None,
                b':' if self.is_space_at(self.pos + 1) => return None,
                b'#' if self.at(self.pos - 1) == b' ' => {
                    self.pending = Pending::Nothing;
                    self.skip_line();
                    return Some(());
                }
                _ => self.pos += 1,
            }
        }
    }

    /// Steps over a scalar in quotes that ends on its line.
    fn quoted(&mut self, quote: u8) -> Option<()> {
        let bytes = self.text.as_bytes();
        self.pos += 1;
        loop {
            self.pos += bytes[self.pos..].iter().position(|byte| QUOTE_ENDS[*byte as usize])?;
            match self.byte() {
                b'\\' if quote == b'"' => {
                    if !matches!(self.at(self.pos + 1), b'"' | b'\\' | b'n' | b't' | b'r') {
                        return None;
                    }
                    self.pos += 2;
                }
                b'\n' => return None,
                byte if byte != quote => self.pos += 1,
                _ => {
                    self.pos += 1;
                    // Two single quotes stand for one.
                    if quote == b'"' || self.byte() != quote {
                        return Some(());
                    }
                    self.pos += 1;
                }
            }
        }
    }

    /// Steps over `[]`, `{}`, or a list or mapping of words and of scalars in quotes.
    fn flow(&mut self) -> Option<()> {
        if self.open.len() > self.max_depth {
            return None;
        }
        if matches!(&self.text.as_bytes()[self.pos..], [b'[', b']', ..] | [b'{', b'}', ..]) {
            self.pos += 2;
            return Some(());
        }
        let is_map = self.byte() == b'{';
        let mut before = self.byte();
        while self.byte() == before {
            self.pos += 1;
            self.skip_spaces();
            if is_map {
                self.flow_key()?;
            }
            match self.byte() {
                quote @ (b'"' | b'\'') => self.quoted(quote)?,
                _ => self.flow_word()?,
            }
            self.skip_spaces();
            before = b',';
        }
        (self.byte() == if is_map { b'}' } else { b']' }).then(|| self.pos += 1)
    }

    /// Steps over a key that is a word, and the space after its `:`.
    fn flow_key(&mut self) -> Option<()> {
        let start = self.pos;
        self.flow_word()?;
        if is_no_name(&self.text[start..self.pos]) || self.byte() != b':' || self.at(self.pos + 1) != b' ' {
            return None;
        }
        self.pos += 1;
        self.skip_spaces();
        Some(())
    }

    fn flow_word(&mut self) -> Option<()> {
        let start = self.pos;
        while is_key_byte(self.byte()) {
            self.pos += 1;
        }
        let word = &self.text[start..self.pos];
        // A dash by itself may be an indicator.
        (!matches!(word, "" | "-") && !resolve::may_be_unbounded(word)).then_some(())
    }

    /// Ends a line on which there may only be a comment yet.
    fn end_of_line(&mut self) -> Option<()> {
        self.pending = Pending::Nothing;
        let end = self.pos;
        self.skip_spaces();
        match self.byte() {
            0 | b'\n' => {}
            b'#' if self.pos > end => {}
            _ => return None,
        }
        self.skip_line();
        Some(())
    }

    /// Steps over a literal or folded scalar that says nothing about its indentation.
    fn block_scalar(&mut self) -> Option<()> {
        self.pos += 1;
        if matches!(self.byte(), b'-' | b'+') {
            self.pos += 1;
        }
        self.end_of_line()?;
        let outer = self.top()?.column;
        let Some(indent) = self.first_indent()?.filter(|indent| *indent > outer) else { return Some(()) };
        loop {
            let start = self.pos;
            while self.pos - start < indent && self.byte() == b' ' {
                self.pos += 1;
            }
            match self.byte() {
                0 => return Some(()),
                b'\n' => self.next_line(),
                _ if self.pos - start == indent => self.skip_line(),
                b'\t' => return None,
                _ => {
                    self.pos = start;
                    return Some(());
                }
            }
        }
    }

    /// The column of the first line that is not empty, which is where the next step begins. Empty lines may not
    /// have more spaces than it.
    fn first_indent(&mut self) -> Option<Option<usize>> {
        let mut longest = 0;
        loop {
            let start = self.pos;
            self.skip_spaces();
            let column = self.pos - start;
            match self.byte() {
                0 => return Some(None),
                b'\t' => return None,
                b'\n' => {
                    longest = longest.max(column);
                    self.next_line();
                }
                _ => {
                    self.pos = start;
                    return (longest <= column).then_some(Some(column));
                }
            }
        }
    }
}

/// Whether a word cannot be the name of a field. All versions agree on these.
fn is_no_name(word: &str) -> bool {
    // Most begin with a letter that none of these begins with.
    let may_be = |byte: &u8| !byte.is_ascii_alphabetic() || matches!(byte, b'n' | b'N');
    word.as_bytes().first().is_none_or(may_be)
        && matches!(resolve::resolve(word, Version::V2), Scalar::Null | Scalar::Uint(_))
}

/// What a key may be made of to be taken for one here.
#[inline]
pub(super) fn is_key_byte(byte: u8) -> bool {
    KEY_BYTES[byte as usize]
}

/// What may end a scalar in quotes, or has a meaning in it.
static QUOTE_ENDS: [bool; 256] = {
    let mut table = [false; 256];
    table[b'"' as usize] = true;
    table[b'\'' as usize] = true;
    table[b'\\' as usize] = true;
    table[b'\n' as usize] = true;
    table
};

static KEY_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'-' | b'.' | b'/');
        byte += 1;
    }
    table
};
