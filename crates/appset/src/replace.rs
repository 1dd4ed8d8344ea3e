//! Filling every text of a value, one by one: what a parameter holds can never become structure.

use lynceus_object::{Map, Seq, Str, Value};

use crate::limits;
use crate::template::{Engine, Filling, TemplateError};

/// A text somewhere in a value that cannot be filled.
#[derive(Debug)]
pub(crate) struct ReplaceError {
    /// Where it stands, such as `spec.source.path`.
    pub(crate) field: String,
    /// What is wrong with it.
    pub(crate) error: TemplateError,
}

/// Fills the texts of values.
pub(crate) struct Replacer<'a, 'e> {
    engine: &'a Engine<'e>,
    filling: &'a Filling<'a>,
    /// Which maps are filled in a way of their own, by the names of their field and of what holds it.
    values_of: &'a [&'a str],
}

impl<'a, 'e> Replacer<'a, 'e> {
    /// Fills all texts alike.
    pub(crate) fn new(engine: &'a Engine<'e>, filling: &'a Filling<'a>) -> Self {
        Replacer { engine, filling, values_of: &[] }
    }

    /// Leaves a text of `values` as it is where it asks for what is not known yet: it is filled once more, later, with
    /// the parameters of its own generator.
    pub(crate) fn keeping_values_of(mut self, generators: &'a [&'a str]) -> Self {
        self.values_of = generators;
        self
    }

    /// The value with every text in it filled, keys of maps included.
    pub(crate) fn value(&self, value: &Value) -> Result<Value, ReplaceError> {
        self.at(value, &mut Vec::new())
    }

    fn at<'v>(&self, value: &'v Value, path: &mut Vec<Step<'v>>) -> Result<Value, ReplaceError> {
        if path.len() > limits::DEPTH {
            let message = format!("it nests deeper than {} levels", limits::DEPTH);
            let error = TemplateError { message, line: None, is_missing_key: false };
            return Err(ReplaceError { field: printed(path), error });
        }
        Ok(match value {
            Value::Str(text) => Value::Str(self.text(text, path)?),
            Value::Seq(items) => Value::Seq(self.list(items, path)?),
            Value::Map(map) if self.is_values(path) => Value::Map(self.values(map, path)?),
            Value::Map(map) => Value::Map(self.map(map, path)?),
            other => other.clone(),
        })
    }

    fn text(&self, text: &Str, path: &[Step<'_>]) -> Result<Str, ReplaceError> {
        self.engine.replace(text, self.filling).map_err(|error| ReplaceError { field: printed(path), error })
    }

    fn list<'v>(&self, items: &'v Seq, path: &mut Vec<Step<'v>>) -> Result<Seq, ReplaceError> {
        let mut filled = Seq::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            path.push(Step::Index(at));
            filled.push(self.at(item, path)?);
            path.pop();
        }
        Ok(filled)
    }

    /// Nothing is kept of a key without a value.
    fn map<'v>(&self, map: &'v Map, path: &mut Vec<Step<'v>>) -> Result<Map, ReplaceError> {
        let mut filled = Map::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            path.push(Step::Key(key));
            let value = self.at(value, path)?;
            filled.insert(self.text(key, path)?, value);
            path.pop();
        }
        Ok(filled)
    }

    fn is_values(&self, path: &[Step<'_>]) -> bool {
        match path {
            [.., Step::Key(holder), Step::Key("values")] => self.values_of.contains(holder),
            _ => false,
        }
    }

    fn values(&self, map: &Map, path: &[Step<'_>]) -> Result<Map, ReplaceError> {
        let mut filled = Map::default();
        for (key, value) in map.iter() {
            let text: Str = value.as_str().unwrap_or_default().into();
            let text = match self.engine.replace_strictly(&text, self.filling) {
                Ok(text) => text,
                Err(error) if error.is_missing_key => text,
                Err(error) => return Err(ReplaceError { field: format!("{}.{key}", printed(path)), error }),
            };
            filled.insert(key.clone(), Value::Str(text));
        }
        Ok(filled)
    }
}

enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

fn printed(path: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.extend([".", key]),
            Step::Index(at) => out.push_str(&format!("[{at}]")),
        }
    }
    out
}
