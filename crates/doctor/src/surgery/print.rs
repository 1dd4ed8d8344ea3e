//! Values as text, in the ways of a document's author.

mod flow;
mod scalar;

use lynceus_object::{Map, Value};

use super::anatomy::Quotes;
use super::habits::Habits;

/// Writes values as they stand on lines of their own. Nothing ends with a line break.
pub(super) struct Printer<'h> {
    pub(super) habits: &'h Habits,
}

impl Printer<'_> {
    /// A whole document.
    pub(super) fn document(&self, value: &Value) -> String {
        let mut out = String::new();
        match value {
            Value::Map(map) if !map.is_empty() => self.fields(map, 0, true, &mut out),
            Value::Seq(items) if !items.is_empty() => self.items(items, 0, true, &mut out),
            other => out.push_str(&self.scalar(other, None, 0, self.habits.step)),
        }
        out
    }

    /// What follows the colon of a key in this column, with the blank or line break before it.
    pub(super) fn after_key(&self, value: &Value, column: usize, was: Option<Quotes>) -> String {
        let mut out = String::new();
        let inner = column + self.habits.step;
        match value {
            Value::Map(map) if !map.is_empty() => self.fields(map, inner, false, &mut out),
            Value::Seq(items) if !items.is_empty() => {
                let column = if self.habits.indentless { column } else { inner };
                self.items(items, column, false, &mut out);
            }
            other => {
                out.push(' ');
                out.push_str(&self.scalar(other, was, column, self.habits.step));
            }
        }
        out
    }

    /// What follows a dash in this column, with the blank before it.
    pub(super) fn after_dash(&self, value: &Value, column: usize, was: Option<Quotes>) -> String {
        let mut out = " ".to_owned();
        match value {
            Value::Map(map) if !map.is_empty() => self.fields(map, column + 2, true, &mut out),
            Value::Seq(items) if !items.is_empty() => self.items(items, column + 2, true, &mut out),
            other => out.push_str(&self.scalar(other, was, column, 2)),
        }
        out
    }

    /// A field of a map in this column.
    pub(super) fn field(&self, name: &str, value: &Value, column: usize) -> String {
        format!("{}:{}", self.key(name, false), self.after_key(value, column, None))
    }

    /// A line break and blanks.
    pub(super) fn line(&self, column: usize) -> String {
        format!("{}{}", self.habits.newline, " ".repeat(column))
    }

    fn fields(&self, map: &Map, column: usize, first_in_line: bool, out: &mut String) {
        for (at, (name, value)) in map.iter().enumerate() {
            if at > 0 || !first_in_line {
                out.push_str(&self.line(column));
            }
            out.push_str(&self.field(name, value, column));
        }
    }

    fn items(&self, items: &[Value], column: usize, first_in_line: bool, out: &mut String) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 || !first_in_line {
                out.push_str(&self.line(column));
            }
            out.push('-');
            out.push_str(&self.after_dash(item, column, None));
        }
    }
}
