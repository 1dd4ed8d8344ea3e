//! A value to YAML, byte for byte as `sigs.k8s.io/yaml` prints it.

mod scalar;

use std::fmt::Write as _;

use super::go_float;
use super::order;
use super::style;
use crate::map::Map;
use crate::value::Value;

/// The width after which a long string is folded at the next space.
const WIDTH: usize = 80;

/// How much further in each level is.
const STEP: usize = 2;

/// Prints a value as one document, without `---`.
pub fn to_string(value: &Value) -> String {
    let mut emitter = Emitter::default();
    emitter.document(value);
    emitter.out
}

/// Prints values as a stream of documents with `---` between them.
pub fn to_string_many<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut emitter = Emitter::default();
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            emitter.out.push_str("---\n");
            emitter.line_start = emitter.out.len();
        }
        emitter.document(value);
    }
    emitter.out
}

#[derive(Default)]
struct Emitter {
    out: String,
    /// Where the current line begins in `out`.
    line_start: usize,
}

impl Emitter {
    fn document(&mut self, value: &Value) {
        match value {
            Value::Map(map) if !map.is_empty() => self.map(map, 0, true),
            Value::Seq(items) if !items.is_empty() => self.seq(items, 0, true),
            other => self.scalar(other, STEP),
        }
        self.start_line(0);
    }

    /// Ends the line unless it is empty, and indents the next.
    fn start_line(&mut self, indent: usize) {
        if self.out.len() > self.line_start {
            self.out.push('\n');
        }
        self.line_start = self.out.len();
        const SPACES: &str = "                                                                ";
        let mut left = indent;
        while left > 0 {
            let part = left.min(SPACES.len());
            self.out.push_str(&SPACES[..part]);
            left -= part;
        }
    }

    fn map(&mut self, map: &Map, indent: usize, first_in_line: bool) {
        order::fields(map).for_each(|at, key, value| {
            if at > 0 || !first_in_line {
                self.start_line(indent);
            }
            if key.len() <= 128 && !style::is_multiline(key) {
                self.string(key, indent + STEP, true);
                self.out.push(':');
                self.value_after_key(value, indent);
            } else {
                self.out.push_str("? ");
                self.string(key, indent + STEP, false);
                self.start_line(indent);
                self.out.push(':');
                self.value_after_sign(value, indent);
            }
        });
    }

    fn seq(&mut self, items: &[Value], indent: usize, first_in_line: bool) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 || !first_in_line {
                self.start_line(indent);
            }
            self.out.push('-');
            self.value_after_sign(item, indent);
        }
    }

    /// What follows `key:`; a collection begins on the next line, a sequence in the column of the key.
    fn value_after_key(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Map(map) if !map.is_empty() => self.map(map, indent + STEP, false),
            Value::Seq(items) if !items.is_empty() => self.seq(items, indent, false),
            other => {
                self.out.push(' ');
                self.scalar(other, indent + STEP);
            }
        }
    }

    /// What follows `-`, or the `:` of a long key; a collection begins on the same line.
    fn value_after_sign(&mut self, value: &Value, indent: usize) {
        self.out.push(' ');
        match value {
            Value::Map(map) if !map.is_empty() => self.map(map, indent + STEP, true),
            Value::Seq(items) if !items.is_empty() => self.seq(items, indent + STEP, true),
            other => self.scalar(other, indent + STEP),
        }
    }

    /// Anything that is not a collection with something in it.
    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Int(int) => {
                // Writing to a string cannot fail.
                let _ = write!(self.out, "{int}");
            }
            Value::Float(float) => self.float(*float),
            Value::Str(text) => self.string(text, indent, false),
            Value::Seq(_) => self.out.push_str("[]"),
            Value::Map(_) => self.out.push_str("{}"),
        }
    }

    /// On its way through JSON a float without a fraction becomes an integer, if there is one for it.
    fn float(&mut self, float: f64) {
        let json = go_float::json(float);
        if let Ok(int) = json.parse::<i64>() {
            let _ = write!(self.out, "{int}");
        } else if json.parse::<u64>().is_ok() {
            self.out.push_str(&json);
        } else {
            self.out.push_str(&go_float::general(float));
        }
    }
}
