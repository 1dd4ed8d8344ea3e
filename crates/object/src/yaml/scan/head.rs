//! The wanted fields of a document that is plain from end to end, without a token.
//!
//! Whoever sorts manifests wants the kind, the name and the annotations of each. Such fields are words on lines of their
//! own nearly always, and everything else is stepped over as [`super::pass`] does. As there, whatever is not
//! of the plainest kind is left to the scanner.

use super::super::resolve::{self, Scalar};
use super::super::{Fields, Version, Wanted};
use super::pass::{Lines, MAX_KEY_BYTES, has_odd_breaks, is_key_byte};
use crate::map::Map;
use crate::value::Value;

/// How many wanted mappings are read inside each other; more are left to the scanner, which does not recurse.
const MAX_LEVELS: usize = 8;

/// The wanted fields; nothing if the document has to be read in another way.
pub(in super::super) fn read(text: &str, max_depth: usize, wanted: &dyn Fields) -> Option<Value> {
    if max_depth < MAX_LEVELS || has_odd_breaks(text) {
        return None;
    }
    let mut head = Head { lines: Lines::new(text), max_depth };
    let fields = head.mapping(0, wanted, 1)?;
    head.lines.is_end().then_some(Value::Map(fields))
}

/// Every method gives nothing when it is not sure.
struct Head<'a> {
    lines: Lines<'a>,
    max_depth: usize,
}

/// All that a mapping has.
struct Everything;

impl Fields for Everything {
    fn wanted(&self, _: &str) -> Option<Wanted<'_>> {
        Some(Wanted::All)
    }
}

impl<'a> Head<'a> {
    /// Reads a mapping in this column, to the line after it. `level` counts the mappings that are open with it.
    fn mapping(&mut self, column: usize, wanted: &dyn Fields, level: usize) -> Option<Map> {
        if level > MAX_LEVELS {
            return None;
        }
        let mut fields = Map::new();
        let mut is_mapping = false;
        while let Some(found) = self.lines.next_column() {
            if found < column {
                break;
            }
            self.lines.skip(column);
            let key = self.key().filter(|_| found == column)?;
            is_mapping = true;
            match wanted.wanted(key) {
                None => self.lines.pass_value_of(column, self.max_depth - level)?,
                Some(wanted) => {
                    let value = self.value(column, wanted, level)?;
                    if fields.insert(key, value).is_some() {
                        return None;
                    }
                }
            }
        }
        is_mapping.then_some(fields)
    }

    /// A key that is a word, and steps over its `:`.
    fn key(&mut self) -> Option<&'a str> {
        let key = self.word()?;
        let is_key = self.lines.byte() == b':' && self.lines.is_space_at(self.lines.pos + 1);
        self.lines.pos += 1;
        (is_key && key.len() <= MAX_KEY_BYTES).then_some(key)
    }

    /// A word that means itself, whatever the version.
    fn word(&mut self) -> Option<&'a str> {
        let word = self.lines.word();
        let is_letter = word.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        (is_letter && resolve::resolve(word, Version::V2) == Scalar::Str).then_some(word)
    }

    fn value(&mut self, column: usize, wanted: Wanted<'_>, level: usize) -> Option<Value> {
        self.lines.skip_spaces();
        let text = match self.lines.byte() {
            b'\n' => {
                self.lines.next_line();
                let inner = self.lines.next_column().filter(|inner| *inner > column)?;
                let map = match wanted {
                    Wanted::All => self.mapping(inner, &Everything, level + 1),
                    Wanted::Fields(fields) => self.mapping(inner, fields, level + 1),
                };
                return map.map(Value::Map);
            }
            quote @ (b'"' | b'\'') => {
                self.lines.pos += 1;
                let text = self.lines.word();
                (self.lines.byte() == quote).then_some(())?;
                self.lines.pos += 1;
                text
            }
            _ => {
                let text = self.word()?;
                (!self.goes_on(column)).then_some(())?;
                text
            }
        };
        match self.lines.byte() {
            b'\n' => self.lines.next_line(),
            0 => {}
            _ => return None,
        }
        Some(Value::Str(text.into()))
    }

    /// Whether the next line may belong to a scalar that ends here.
    fn goes_on(&self, column: usize) -> bool {
        let next = self.lines.pos + 1;
        let spaces = (next..).take_while(|at| self.lines.at(*at) == b' ').count();
        spaces > column || self.lines.at(next + spaces) == b'\n'
    }
}

impl<'a> Lines<'a> {
    fn is_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// The column of the next line that has something in it; the position is the start of that line.
    fn next_column(&mut self) -> Option<usize> {
        loop {
            let start = self.pos;
            self.skip_spaces();
            match self.byte() {
                0 => return None,
                b'\n' => self.next_line(),
                b'#' => self.skip_line(),
                _ => {
                    let column = self.pos - start;
                    self.pos = start;
                    return Some(column);
                }
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.pos += bytes;
    }

    /// Letters, digits and the like, as many as there are.
    fn word(&mut self) -> &'a str {
        let rest = &self.text.as_bytes()[self.pos..];
        let len = rest.iter().position(|byte| !is_key_byte(*byte)).unwrap_or(rest.len());
        let word = &self.text[self.pos..self.pos + len];
        self.pos += len;
        word
    }
}
