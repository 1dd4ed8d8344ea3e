//! Strings in each of the four ways to write them.

use std::fmt::Write as _;

use super::super::style::{self, Style, break_len, is_printable};
use super::{Emitter, STEP, WIDTH};

impl Emitter {
    /// Writes a string. A simple key is not folded.
    pub(super) fn string(&mut self, text: &str, indent: usize, is_simple_key: bool) {
        let folds = !is_simple_key;
        match style::choose(text, is_simple_key) {
            Style::Plain => self.words(text, indent, folds, false),
            Style::Single => self.single_quoted(text, indent, folds),
            Style::Double => self.double_quoted(text, indent, folds),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Whether the line has become so long that it is folded at this space.
    fn is_full(&self) -> bool {
        let line = &self.out[self.line_start..];
        line.len() > WIDTH && line.chars().count() > WIDTH
    }

    /// Whether the line stays short enough even with all of `text` on it.
    fn has_room_for(&self, text: &str) -> bool {
        self.out.len() - self.line_start + text.len() <= WIDTH
    }

    /// Writes text, folded at single spaces where lines get long.
    fn words(&mut self, text: &str, indent: usize, folds: bool, quoted: bool) {
        if !folds || self.has_room_for(text) {
            self.out.push_str(text);
            return;
        }
        let bytes = text.as_bytes();
        let mut from = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if *byte != b' ' || at > 0 && bytes[at - 1] == b' ' || bytes.get(at + 1) == Some(&b' ') {
                continue;
            }
            // Quotes keep spaces at either end, which a fold would lose.
            if quoted && (at == 0 || at + 1 == bytes.len()) {
                continue;
            }
            self.out.push_str(&text[from..at]);
            from = at;
            if self.is_full() {
                self.start_line(indent);
                from = at + 1;
            }
        }
        self.out.push_str(&text[from..]);
    }

    fn single_quoted(&mut self, text: &str, indent: usize, folds: bool) {
        self.out.push('\'');
        if style::is_multiline(text) {
            self.single_quoted_lines(text, indent, folds);
        } else if text.contains('\'') {
            self.words(&text.replace('\'', "''"), indent, folds, true);
        } else {
            self.words(text, indent, folds, true);
        }
        self.out.push('\'');
    }

    /// The rare single-quoted string that has line breaks, which can only be those of Unicode.
    fn single_quoted_lines(&mut self, text: &str, indent: usize, folds: bool) {
        let bytes = text.as_bytes();
        let (mut after_space, mut after_break) = (false, false);
        for (at, char) in text.char_indices() {
            let is_break = break_len(bytes, at) > 0;
            if after_break && !is_break && char != ' ' {
                self.start_line(indent);
            }
            let inside = at > 0 && at + 1 < bytes.len() && bytes[at + 1] != b' ';
            if char == ' ' && folds && !after_space && inside && self.is_full() {
                self.start_line(indent);
            } else {
                self.out.push(char);
                if char == '\'' {
                    self.out.push(char);
                }
            }
            if is_break {
                self.line_start = self.out.len();
            }
            after_space = char == ' ' || after_space && is_break;
            after_break = is_break || after_break && char == ' ';
        }
    }

    fn double_quoted(&mut self, text: &str, indent: usize, folds: bool) {
        self.out.push('"');
        // go-yaml looks for the byte-order mark at the start of the string, whatever it is about to write.
        let escape_all = text.starts_with('\u{feff}');
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            let is_break = matches!(char, '\n' | '\u{2028}' | '\u{2029}');
            if escape_all || !is_printable(char) || is_break || matches!(char, '"' | '\\') {
                self.escape(char);
                after_space = false;
            } else if char == ' ' {
                let inside = at > 0 && at + 1 < text.len();
                if folds && !after_space && inside && self.is_full() {
                    self.start_line(indent);
                    if chars.peek().is_some_and(|(_, next)| *next == ' ') {
                        self.out.push('\\');
                    }
                } else {
                    self.out.push(' ');
                }
                after_space = true;
            } else {
                self.out.push(char);
                after_space = false;
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, char: char) {
        self.out.push('\\');
        let short = match char {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            other => {
                let code = u32::from(other);
                // Writing to a string cannot fail.
                let _ = match code {
                    0..=0xff => write!(self.out, "x{code:02X}"),
                    0x100..=0xffff => write!(self.out, "u{code:04X}"),
                    _ => write!(self.out, "U{code:08X}"),
                };
                return;
            }
        };
        self.out.push(short);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let bytes = text.as_bytes();
        self.out.push('|');
        if bytes.first().is_some_and(|byte| *byte == b' ') || break_len(bytes, 0) > 0 {
            // Without the hint the blanks would be taken for indentation.
            let _ = write!(self.out, "{STEP}");
        }
        self.out.push_str(chomp_sign(text));
        self.out.push('\n');
        self.line_start = self.out.len();
        for line in text.split_inclusive(['\n', '\u{2028}', '\u{2029}']) {
            let content = line.trim_end_matches(['\n', '\u{2028}', '\u{2029}']);
            if !content.is_empty() {
                self.start_line(indent);
                self.out.push_str(content);
            }
            self.out.push_str(&line[content.len()..]);
            if content.len() < line.len() {
                self.line_start = self.out.len();
            }
        }
    }
}

/// What says how many line breaks the text ends with: none, one, or more.
fn chomp_sign(text: &str) -> &'static str {
    let is_break = |char: &char| matches!(char, '\n' | '\u{2028}' | '\u{2029}');
    let mut ends = text.chars().rev();
    match (ends.next().filter(is_break), ends.next()) {
        (None, _) => "-",
        (Some(_), None) => "+",
        (Some(_), Some(before)) if is_break(&before) => "+",
        (Some(_), Some(_)) => "",
    }
}
