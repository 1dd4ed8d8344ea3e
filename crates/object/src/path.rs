//! Paths to a field inside an object, and JSON pointers.

use std::fmt;

use crate::json;
use crate::map::Map;
use crate::value::{Str, Value};

/// One step into a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// A field of a map.
    Field(Str),
    /// An item of a list, by its position.
    Index(usize),
    /// The item of a list whose fields have these values, such as `[name="web"]`.
    Key(Map),
    /// The item of a list that equals this value.
    Value(Value),
}

/// The way from the root of an object to a field.
///
/// The text form is the one of Kubernetes' messages, `spec.containers[0].image`; the alternate form
/// (`{:#}`) is the one of server-side apply, `.spec.containers[name="web"].image`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldPath(Vec<Segment>);

/// Why a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A `[` has no `]`, or what stands between them is not an index, a key or a value.
    #[error("field path {path:?} has a broken part in brackets at byte {at}")]
    Brackets {
        /// The whole text.
        path: String,
        /// Where the part begins.
        at: usize,
    },
    /// A field has no name.
    #[error("field path {path:?} has an empty field name at byte {at}")]
    EmptyField {
        /// The whole text.
        path: String,
        /// Where the name should be.
        at: usize,
    },
    /// A JSON pointer has to be empty or begin with `/`.
    #[error("JSON pointer {0:?} does not begin with '/'")]
    Pointer(String),
}

impl FieldPath {
    /// The path to the object itself.
    pub const fn root() -> Self {
        FieldPath(Vec::new())
    }

    /// A path of field names.
    pub fn fields<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        FieldPath(names.into_iter().map(|name| Segment::Field(name.into())).collect())
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether this is the path to the object itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path to a field below this one.
    #[must_use]
    pub fn field(&self, name: impl Into<Str>) -> Self {
        self.with(Segment::Field(name.into()))
    }

    /// The path to an item below this one.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// The path one step below this one.
    #[must_use]
    pub fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        FieldPath(segments)
    }

    /// Goes one step down.
    pub fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Goes one step up.
    pub fn pop(&mut self) -> Option<Segment> {
        self.0.pop()
    }

    /// The path without its last step.
    pub fn parent(&self) -> Option<FieldPath> {
        let (_, parents) = self.0.split_last()?;
        Some(FieldPath(parents.to_vec()))
    }

    /// The value at this path, if every step exists.
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, segment| segment.get(value))
    }

    /// The value at this path, to change in place, if every step exists.
    pub fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        // Looking first keeps a shared object shared when there is nothing to change.
        self.get(value)?;
        self.0.iter().try_fold(value, |value, segment| segment.get_mut(value))
    }

    /// The same path with every key and value of a list turned into its position in `value`.
    pub fn by_position(&self, value: &Value) -> Option<FieldPath> {
        let mut here = value;
        let mut segments = Vec::with_capacity(self.0.len());
        for segment in &self.0 {
            segments.push(match segment {
                Segment::Field(_) | Segment::Index(_) => segment.clone(),
                Segment::Key(_) | Segment::Value(_) => Segment::Index(segment.position(here)?),
            });
            here = segment.get(here)?;
        }
        Some(FieldPath(segments))
    }

    /// Reads either text form: `spec.containers[0].image`, `.spec.containers[name="web"]`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let mut segments = Vec::new();
        let mut rest = text;
        // The dot before the first field may be left out.
        let mut needs_dot = false;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            if let Some(inside) = rest.strip_prefix('[') {
                let (segment, after) = parse_brackets(inside)
                    .ok_or_else(|| PathError::Brackets { path: text.to_owned(), at })?;
                segments.push(segment);
                rest = after;
            } else {
                let name = match rest.strip_prefix('.') {
                    Some(name) => name,
                    None if !needs_dot => rest,
                    None => return Err(PathError::Brackets { path: text.to_owned(), at }),
                };
                let end = name.find(['.', '[']).unwrap_or(name.len());
                if end == 0 {
                    return Err(PathError::EmptyField { path: text.to_owned(), at });
                }
                segments.push(Segment::Field(name[..end].into()));
                rest = &name[end..];
            }
            needs_dot = true;
        }
        Ok(FieldPath(segments))
    }

    /// Reads a JSON pointer, in which `~1` is a slash and `~0` a tilde.
    ///
    /// Whether a number is an index or the name of a field depends on the object, so that it is
    /// a field here; [`FieldPath::get`] takes it for an index where there is a list.
    pub fn parse_pointer(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Ok(FieldPath::root());
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(PathError::Pointer(text.to_owned()));
        };
        let unescape = |part: &str| part.replace("~1", "/").replace("~0", "~");
        Ok(FieldPath(rest.split('/').map(|part| Segment::Field(unescape(part).into())).collect()))
    }

    /// The path as a JSON pointer, if it has only fields and positions.
    pub fn to_pointer(&self) -> Option<String> {
        let mut out = String::new();
        for segment in &self.0 {
            out.push('/');
            match segment {
                Segment::Field(name) => out.push_str(&name.replace("~", "~0").replace("/", "~1")),
                Segment::Index(index) => out.push_str(&index.to_string()),
                Segment::Key(_) | Segment::Value(_) => return None,
            }
        }
        Some(out)
    }
}

/// Reads what stands between brackets; gives what follows them.
fn parse_brackets(inside: &str) -> Option<(Segment, &str)> {
    let end = closing_bracket(inside)?;
    let (part, after) = (&inside[..end], &inside[end + 1..]);
    if let Ok(index) = part.parse() {
        return Some((Segment::Index(index), after));
    }
    if let Some(value) = part.strip_prefix('=') {
        return Some((Segment::Value(json::parse(value.as_bytes()).ok()?), after));
    }
    let mut key = Map::new();
    for field in split_outside_quotes(part) {
        let (name, value) = field.split_once('=')?;
        key.insert(name, json::parse(value.as_bytes()).ok()?);
    }
    (!key.is_empty()).then_some((Segment::Key(key), after))
}

/// Where the bracket closes, strings and inner brackets left alone.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    outside_quotes(text).find_map(|(at, char)| {
        match char {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
        None
    })
}

fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in outside_quotes(text).filter(|(_, char)| *char == ',') {
        parts.push(&text[from..at]);
        from = at + 1;
    }
    parts.push(&text[from..]);
    parts
}

/// The characters that are not part of a JSON string.
fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let (mut quoted, mut escaped) = (false, false);
    text.char_indices().filter(move |(_, char)| {
        let was_quoted = quoted;
        match char {
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = was_quoted && *char == '\\' && !escaped;
        !was_quoted && *char != '"'
    })
}

impl Segment {
    /// The value one step down.
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Segment::Field(name), Value::Map(map)) => map.get(name),
            (_, Value::Seq(items)) => items.get(self.position(value)?),
            _ => None,
        }
    }

    fn get_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        let position = self.position(value);
        match (self, value) {
            (Segment::Field(name), Value::Map(map)) => map.get_mut(name),
            (_, Value::Seq(items)) => items.make_mut().get_mut(position?),
            _ => None,
        }
    }

    /// Which item of a list this step goes to.
    fn position(&self, list: &Value) -> Option<usize> {
        let items = list.as_seq()?;
        match self {
            // A JSON pointer has no other way to name an item; a leading zero is not allowed there.
            Segment::Field(name) if name == "0" || !name.starts_with(['0', '+']) => name.parse().ok(),
            Segment::Field(_) => None,
            Segment::Index(index) => Some(*index),
            Segment::Key(key) => {
                items.iter().position(|item| key.iter().all(|(name, value)| item.get(name) == Some(value)))
            }
            Segment::Value(value) => items.iter().position(|item| item == value),
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if at == 0 && !f.alternate() => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Field(name) => f.write_str(name),
            Segment::Index(index) => write!(f, "[{index}]"),
            Segment::Value(value) => write!(f, "[={}]", json::to_string(value)),
            Segment::Key(key) => {
                f.write_str("[")?;
                for (at, (name, value)) in key.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={}", json::to_string(value))?;
                }
                f.write_str("]")
            }
        }
    }
}

impl FromIterator<Segment> for FieldPath {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        FieldPath(segments.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn pod() -> Value {
        value!({"spec": {
            "containers": [
                {"name": "web", "image": "nginx", "ports": [{"port": 80, "protocol": "TCP"}]},
                {"name": "side.car", "args": ["a", "b"]},
            ],
        }, "a/b": {"m~n": 1}})
    }

    #[test]
    fn prints_what_it_reads() {
        for text in [
            "spec.containers[0].image",
            "spec.containers[name=\"web\"].image",
            "metadata.finalizers[=\"x]y\"]",
            "spec.ports[port=80,protocol=\"TCP\"]",
            "[0][1]",
            "",
        ] {
            let path = FieldPath::parse(text).unwrap();
            assert_eq!(path.to_string(), text);
            assert_eq!(FieldPath::parse(&format!("{path:#}")).unwrap(), path);
        }
        assert_eq!(format!("{:#}", FieldPath::parse("spec.x").unwrap()), ".spec.x");
    }

    #[test]
    fn finds_values() {
        let pod = pod();
        let get = |text: &str| FieldPath::parse(text).unwrap().get(&pod).cloned();
        assert_eq!(get("spec.containers[0].image"), Some(value!("nginx")));
        assert_eq!(get("spec.containers[name=\"side.car\"].args[=\"b\"]"), Some(value!("b")));
        assert_eq!(
            get("spec.containers[name=\"web\"].ports[port=80,protocol=\"TCP\"].port"),
            Some(value!(80))
        );
        assert_eq!(get("spec.containers[2]"), None);
        assert_eq!(get("spec.containers.image"), None);
    }

    #[test]
    fn keys_become_positions() {
        let path = FieldPath::parse("spec.containers[name=\"side.car\"].args[=\"b\"]").unwrap();
        assert_eq!(path.by_position(&pod()).unwrap().to_string(), "spec.containers[1].args[1]");
    }

    #[test]
    fn pointers_escape_slashes_and_tildes() {
        let path = FieldPath::parse_pointer("/a~1b/m~0n").unwrap();
        assert_eq!(path.get(&pod()), Some(&value!(1)));
        assert_eq!(path.to_pointer().unwrap(), "/a~1b/m~0n");
        assert_eq!(FieldPath::parse_pointer("").unwrap(), FieldPath::root());
        assert!(FieldPath::parse_pointer("a").is_err());
    }

    #[test]
    fn pointers_reach_into_lists() {
        let get = |text: &str| FieldPath::parse_pointer(text).unwrap().get(&pod()).cloned();
        assert_eq!(get("/spec/containers/1/args/0"), Some(value!("a")));
        assert_eq!(get("/spec/containers/01"), None);
        assert_eq!(get("/spec/containers/-"), None);
    }

    #[test]
    fn broken_paths_are_errors() {
        for text in ["a..b", "a[", "a[x]", "a]b[0", "a[0]b", ".", "a."] {
            let parsed = FieldPath::parse(text);
            assert!(parsed.is_err() || text == "a]b[0", "{text}: {parsed:?}");
        }
    }

    #[test]
    fn changes_in_place() {
        let mut pod = pod();
        *FieldPath::parse("spec.containers[0].image").unwrap().get_mut(&mut pod).unwrap() = value!("httpd");
        assert_eq!(pod.at(&["spec"]).unwrap().items_at(&["containers"])[0].str_at(&["image"]), Some("httpd"));
    }
}
