//! The way from dot to a value.

use std::fmt;

use crate::Str;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// A key of a map, or a field of a struct.
    Key(Str),
    /// A position in a list.
    Index(usize),
}

/// The way from the dot of the outermost template to a value: `.Values.image.tag`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(pub Vec<Segment>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(".");
        }
        self.0.iter().try_for_each(|segment| match segment {
            Segment::Index(at) => write!(f, "[{at}]"),
            Segment::Key(key) if is_name(key) => write!(f, ".{key}"),
            Segment::Key(key) => write!(f, "[{}]", crate::format::quote::double(key)),
        })
    }
}

/// Whether a key can be written after a dot.
fn is_name(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c == '_' || c.is_alphanumeric())
}
