//! Scalars in each of the ways to write them, and what stands before a node.

use super::{Cursor, Kind, Node, Quotes, Unreadable};

/// What stands before a node.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) anchor: Option<String>,
    pub(super) any: bool,
    /// Where the last of them ends.
    pub(super) end: usize,
}

impl Cursor<'_> {
    /// Reads an anchor and a tag on this line, with the blanks behind them.
    pub(super) fn properties(&mut self) -> Properties {
        let mut found = Properties { end: self.pos, ..Properties::default() };
        while let Some(sign @ (b'&' | b'!')) = self.byte() {
            let from = self.pos + 1;
            self.pos = from;
            while !self.is_space(self.pos) && !matches!(self.byte(), Some(b',' | b'[' | b']' | b'{' | b'}')) {
                self.pos += 1;
            }
            if sign == b'&' {
                found.anchor = Some(self.text[from..self.pos].to_owned());
            }
            found.any = true;
            found.end = self.pos;
            self.skip_blanks();
        }
        found
    }

    pub(super) fn alias(&mut self) -> Node {
        let start = self.pos;
        self.pos += 1;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        while self.byte().is_some_and(is_word) {
            self.pos += 1;
        }
        let name = self.text[start + 1..self.pos].to_owned();
        Node { start, body: start, end: self.pos, anchor: None, kind: Kind::Alias(name) }
    }

    pub(super) fn scalar(&self, start: usize, quotes: Quotes) -> Node {
        Node { start, body: start, end: self.pos, anchor: None, kind: Kind::Scalar(quotes) }
    }

    pub(super) fn quoted(&mut self, quote: u8) -> Result<Node, Unreadable> {
        let start = self.pos;
        self.pos += 1;
        loop {
            match self.byte() {
                None => return Err(Unreadable),
                Some(b'\\') if quote == b'"' => self.pos += 2,
                Some(byte) if byte == quote && quote == b'\'' && self.at(self.pos + 1) == Some(b'\'') => {
                    self.pos += 2;
                }
                Some(byte) => {
                    self.pos += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        Ok(self.scalar(start, if quote == b'"' { Quotes::Double } else { Quotes::Single }))
    }

    /// Reads a scalar without quotes whose further lines are further in than `parent`.
    pub(super) fn plain(&mut self, parent: i64, in_flow: bool) -> Result<Node, Unreadable> {
        let start = self.pos;
        self.plain_line(in_flow);
        if self.pos == start {
            return Err(Unreadable);
        }
        loop {
            let end = self.pos;
            self.skip_blanks();
            while self.byte() == Some(b'\n') {
                self.pos += 1;
                self.skip_blanks();
            }
            let is_further_in = in_flow || self.column(self.pos) as i64 > parent;
            let goes_on = !self.is_one_line(end, self.pos)
                && is_further_in
                && !self.is_over()
                && !self.plain_ends(self.pos, in_flow)
                && self.byte() != Some(b'#');
            if !goes_on {
                self.pos = end;
                return Ok(self.scalar(start, Quotes::Plain));
            }
            self.plain_line(in_flow);
        }
    }

    /// Steps over the words on this line; the blanks behind them stay.
    pub(super) fn plain_line(&mut self, in_flow: bool) {
        let mut end = self.pos;
        while let Some(byte) = self.byte() {
            let is_comment = byte == b'#' && self.pos > end;
            if byte == b'\n' || is_comment || self.plain_ends(self.pos, in_flow) {
                break;
            }
            self.pos += 1;
            if !matches!(byte, b' ' | b'\t' | b'\r') {
                end = self.pos;
            }
        }
        self.pos = end;
    }

    /// Whether a sign stands there that is not part of a plain scalar.
    fn plain_ends(&self, pos: usize, in_flow: bool) -> bool {
        match self.at(pos) {
            Some(b':') => self.is_space(pos + 1),
            Some(_) => in_flow && self.is_bracket(pos),
            None => true,
        }
    }

    fn is_bracket(&self, pos: usize) -> bool {
        matches!(self.at(pos), Some(b',' | b'[' | b']' | b'{' | b'}'))
    }

    /// Reads a literal or folded scalar inside of something that is `parent` far in.
    pub(super) fn block_scalar(&mut self, parent: i64) -> Node {
        let start = self.pos;
        let is_literal = self.byte() == Some(b'|');
        self.pos += 1;
        let header_from = self.pos;
        while matches!(self.byte(), Some(b'+' | b'-' | b'1'..=b'9')) {
            self.pos += 1;
        }
        let header = &self.text[header_from..self.pos];
        let increment = header.bytes().find(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0'));
        let given = increment.map(|increment| increment + parent.max(0) as usize);
        let (indent, end) = self.block_lines(given, header.contains('+'), (parent + 1).max(1) as usize);
        self.pos = end;
        self.scalar(start, if is_literal { Quotes::Literal(indent) } else { Quotes::Folded(indent) })
    }

    /// How far in the lines of a block are, and where it ends.
    fn block_lines(&self, given: Option<usize>, keeps: bool, least: usize) -> (usize, usize) {
        let mut indent = given;
        let mut end = self.pos;
        let mut line = self.line_end(self.pos) + 1;
        while self.at(line).is_some() {
            let line_end = self.line_end(line);
            let content = self.text[line..line_end].trim_end_matches('\r');
            let spaces = content.len() - content.trim_start_matches(' ').len();
            let is_blank = spaces == content.len();
            if is_blank && indent.is_none_or(|indent| spaces <= indent) {
                end = if keeps { line_end } else { end };
            } else {
                let indent = *indent.get_or_insert(spaces.max(least));
                if spaces < indent {
                    break;
                }
                end = line + content.len();
            }
            line = line_end + 1;
        }
        (indent.unwrap_or(least), end)
    }
}
