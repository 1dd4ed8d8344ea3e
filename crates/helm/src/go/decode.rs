//! A document into a Go struct, the way `sigs.k8s.io/yaml` and `encoding/json` do it.
//!
//! Where a string is wanted, numbers and booleans become strings. Names of fields match in any case. What does
//! not fit is told in the decoder's words, because Helm shows them.

use lynceus_object::{Map, Str, Value, yaml};

/// What a Go type takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Str,
    Bool,
    Any,
    List(&'static Shape),
    Map(&'static Shape),
    Struct(&'static Struct),
    Pointer(&'static Struct),
}

/// A Go struct: the names of its type, and its fields by their names in JSON.
#[derive(Debug)]
pub(crate) struct Struct {
    /// The name in the place of an error; empty where the type has none.
    pub(crate) name: &'static str,
    /// The name with its package.
    pub(crate) full_name: &'static str,
    pub(crate) fields: &'static [(&'static str, Shape)],
}

impl Struct {
    /// The field for a key, which may be written in any case unless there is one of just that name.
    fn field(&self, key: &str) -> Option<&'static (&'static str, Shape)> {
        let exact = self.fields.iter().find(|(name, _)| *name == key);
        exact.or_else(|| self.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)))
    }
}

impl yaml::Fields for Struct {
    fn wanted(&self, key: &str) -> Option<yaml::Wanted<'_>> {
        self.field(key).map(|(_, shape)| match shape {
            Shape::Struct(inner) | Shape::Pointer(inner) => yaml::Wanted::Fields(*inner),
            Shape::Str | Shape::Bool | Shape::Any | Shape::List(_) | Shape::Map(_) => yaml::Wanted::All,
        })
    }
}

/// Reads one document into a struct. Fields that the struct does not have are left out.
pub(crate) fn document(text: &[u8], wanted: &'static Struct) -> Result<Map, String> {
    let value =
        yaml::parse_only(text, wanted).map_err(|error| format!("error converting YAML to JSON: {error}"))?;
    value_into(&value, wanted)
}

/// Turns a value into a struct.
pub(crate) fn value_into(value: &Value, wanted: &'static Struct) -> Result<Map, String> {
    let mut decoder = Decoder::default();
    let decoded = decoder.value(value, Shape::Struct(wanted));
    match (decoder.first_error, decoded) {
        (Some(error), _) => Err(format!("error unmarshaling JSON: while decoding JSON: {error}")),
        (None, Value::Map(map)) => Ok(map),
        (None, _) => Ok(Map::new()),
    }
}

/// The words for a document that is not of the type that is wanted.
pub(crate) fn not_a(value: &Value, wanted: &str) -> String {
    let error = mismatch(value, wanted, None);
    format!("error unmarshaling JSON: while decoding JSON: {error}")
}

#[derive(Default)]
struct Decoder {
    /// The fields on the way to here.
    fields: Vec<&'static str>,
    /// The struct that the last of them is part of.
    holder: Option<&'static str>,
    first_error: Option<String>,
}

impl Decoder {
    fn value(&mut self, value: &Value, wanted: Shape) -> Value {
        match (wanted, value) {
            (Shape::Any, value) => value.clone(),
            (_, Value::Null) => Value::Null,
            (Shape::Str, value) => match as_text(value) {
                Some(text) => Value::Str(text),
                None => self.fail(value, wanted),
            },
            (Shape::Bool, Value::Bool(_)) => value.clone(),
            (Shape::List(inner), Value::Seq(items)) => {
                items.iter().map(|item| self.value(item, *inner)).collect::<Vec<Value>>().into()
            }
            (Shape::Map(inner), Value::Map(map)) => {
                let map: Map =
                    map.iter().map(|(key, value)| (key.clone(), self.value(value, *inner))).collect();
                Value::Map(map)
            }
            (Shape::Struct(wanted) | Shape::Pointer(wanted), Value::Map(map)) => {
                Value::Map(self.fields(map, wanted))
            }
            (wanted, value) => self.fail(value, wanted),
        }
    }

    fn fields(&mut self, map: &Map, wanted: &'static Struct) -> Map {
        let mut out = Map::new();
        for (key, value) in map.iter() {
            let Some((name, shape)) = wanted.field(key) else { continue };
            let holder = self.holder.replace(wanted.name);
            self.fields.push(name);
            let value = self.value(value, *shape);
            self.fields.pop();
            self.holder = holder;
            out.insert(*name, value);
        }
        out
    }

    /// Remembers the first thing that does not fit; the decoder goes on with nothing in its place.
    fn fail(&mut self, value: &Value, wanted: Shape) -> Value {
        if self.first_error.is_none() {
            let place = self.holder.map(|holder| format!("{holder}.{}", self.fields.join(".")));
            self.first_error = Some(mismatch(value, &type_name(wanted, true), place));
        }
        Value::Null
    }
}

fn mismatch(value: &Value, wanted: &str, place: Option<String>) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Seq(_) => "array",
        Value::Map(_) => "object",
    };
    match place {
        Some(place) => {
            format!("json: cannot unmarshal {found} into Go struct field {place} of type {wanted}")
        }
        None => format!("json: cannot unmarshal {found} into Go value of type {wanted}"),
    }
}

/// The name of a type. The decoder follows a pointer before it looks at the type.
fn type_name(shape: Shape, followed: bool) -> String {
    match shape {
        Shape::Str => "string".to_owned(),
        Shape::Bool => "bool".to_owned(),
        Shape::Any => "interface {}".to_owned(),
        Shape::List(inner) => format!("[]{}", type_name(*inner, false)),
        Shape::Map(inner) => format!("map[string]{}", type_name(*inner, false)),
        Shape::Struct(inner) => inner.full_name.to_owned(),
        Shape::Pointer(inner) if followed => inner.full_name.to_owned(),
        Shape::Pointer(inner) => format!("*{}", inner.full_name),
    }
}

/// A scalar as the text that it becomes where a string is wanted.
fn as_text(value: &Value) -> Option<Str> {
    match value {
        Value::Str(text) => Some(text.clone()),
        Value::Bool(true) => Some("true".into()),
        Value::Bool(false) => Some("false".into()),
        Value::Int(int) => Some(int.to_string().into()),
        // The emitter prints a number with a fraction as `strconv` does; one without would become an integer there.
        Value::Float(float) => Some(general(*float).into()),
        Value::Null | Value::Seq(_) | Value::Map(_) => None,
    }
}

/// As `strconv.FormatFloat(value, 'g', -1, 64)`.
fn general(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{float}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    static INNER: Struct = Struct { name: "Inner", full_name: "x.Inner", fields: &[("name", Shape::Str)] };
    static OUTER: Struct = Struct {
        name: "Outer",
        full_name: "x.Outer",
        fields: &[
            ("name", Shape::Str),
            ("words", Shape::List(&Shape::Str)),
            ("notes", Shape::Map(&Shape::Str)),
            ("inner", Shape::List(&Shape::Pointer(&INNER))),
            ("off", Shape::Bool),
        ],
    };

    fn read(text: &str) -> Result<String, String> {
        document(text.as_bytes(), &OUTER).map(|map| lynceus_object::json::to_string(&Value::Map(map)))
    }

    #[test]
    fn scalars_become_strings_where_strings_are_wanted() {
        assert_eq!(
            read("name: 1.10\nwords: [1, true, null]\nnotes: {a: 2}\nother: 1\n").unwrap(),
            r#"{"name":"1.1","notes":{"a":"2"},"words":["1","true",null]}"#
        );
        assert_eq!(read("Name: a\nNAME: b").unwrap(), r#"{"name":"a"}"#);
    }

    #[test]
    fn what_does_not_fit_is_told_as_go_tells_it() {
        for (text, expected) in [
            ("name: []", "json: cannot unmarshal array into Go struct field Outer.name of type string"),
            ("words: a", "json: cannot unmarshal string into Go struct field Outer.words of type []string"),
            (
                "inner: [{name: {}}]",
                "json: cannot unmarshal object into Go struct field Inner.inner.name of type string",
            ),
            ("inner: [1]", "json: cannot unmarshal number into Go struct field Outer.inner of type x.Inner"),
            ("inner: 1", "json: cannot unmarshal number into Go struct field Outer.inner of type []*x.Inner"),
            ("- a", "json: cannot unmarshal array into Go value of type x.Outer"),
        ] {
            let expected = format!("error unmarshaling JSON: while decoding JSON: {expected}");
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }
}
