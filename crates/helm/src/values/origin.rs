//! Where a value came from.

use std::fmt;

use lynceus_object::{FieldPath, Map, Segment, Value};

/// What gave a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A file of values of the user.
    File(String),
    /// A flag and its text.
    Flag(&'static str, String),
    /// The `values.yaml` of a chart, by the chart's full path.
    Chart(String),
}

/// One source of the user's values.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) origin: Origin,
    /// What it says itself, if that does not depend on what was there before.
    pub(crate) own: Option<Map>,
    /// What all values are with it.
    pub(crate) after: Map,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(name) => f.write_str(name),
            Origin::Flag(flag, text) => write!(f, "{flag} {text}"),
            Origin::Chart(path) => write!(f, "{path}/values.yaml"),
        }
    }
}

/// The value at a path, or at the longest part of it that is there.
pub(crate) fn at<'a>(values: &'a Map, path: &FieldPath) -> Option<&'a Value> {
    let mut segments = path.segments().iter();
    let mut value = match segments.next()? {
        Segment::Field(name) => values.get(name)?,
        _ => return None,
    };
    for segment in segments {
        value = match (segment, value) {
            (Segment::Field(name), Value::Map(map)) => map.get(name)?,
            (Segment::Index(index), Value::Seq(items)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Which of the layers gave the value at a path.
pub(crate) fn in_layers<'a>(layers: &'a [Layer], path: &FieldPath) -> Option<&'a Origin> {
    let last = layers.last()?;
    let value = at(&last.after, path)?;
    for (index, layer) in layers.iter().enumerate().rev() {
        let given = match &layer.own {
            Some(own) => at(own, path).is_some(),
            None => {
                let before = index.checked_sub(1).and_then(|before| at(&layers[before].after, path));
                before != Some(value)
            }
        };
        if given {
            return Some(&layer.origin);
        }
    }
    None
}
