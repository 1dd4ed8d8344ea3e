//! Values between the two forms: those of charts, which are shared between renderings, and those of templates, which
//! one rendering may change.

use std::collections::BTreeMap;

use lynceus_gotmpl as gotmpl;
use lynceus_object::{Map, Value};

/// A value for templates. Nothing in it is shared with anything else.
pub(crate) fn to_template(value: &Value) -> gotmpl::Value {
    match value {
        Value::Null => gotmpl::Value::Nil,
        Value::Bool(bool) => gotmpl::Value::Bool(*bool),
        Value::Int(int) => gotmpl::Value::int64(*int),
        Value::Float(float) => gotmpl::Value::Float(*float),
        Value::Str(text) => gotmpl::Value::Str(text.clone().into()),
        Value::Seq(items) => gotmpl::Value::list(items.iter().map(to_template)),
        Value::Map(map) => gotmpl::Value::Map(to_template_map(map)),
    }
}

/// A map for templates. Nothing in it is shared with anything else.
pub(crate) fn to_template_map(map: &Map) -> gotmpl::Map {
    let items: BTreeMap<gotmpl::Str, gotmpl::Value> =
        map.iter().map(|(key, value)| (key.clone().into(), to_template(value))).collect();
    gotmpl::Map::new(items)
}

/// How many maps and lists may stand inside each other when a value of a template is printed.
const DEPTH: usize = lynceus_object::limits::MAX_DEPTH;

/// A value of a template as JSON would have it; none if it nests too deep or has something that JSON has not.
pub(crate) fn from_template(value: &gotmpl::Value) -> Option<Value> {
    json(value, DEPTH)
}

fn json(value: &gotmpl::Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    Some(match value {
        gotmpl::Value::Nil => Value::Null,
        gotmpl::Value::Bool(bool) => Value::Bool(*bool),
        gotmpl::Value::Int(..) => match value.as_u64() {
            Some(number) => Value::from(number),
            None => Value::Int(value.as_i64().unwrap_or_default()),
        },
        gotmpl::Value::Float(float) if float.is_finite() => Value::Float(*float),
        gotmpl::Value::Float(_) => return None,
        gotmpl::Value::Str(text) => Value::Str(valid(text)),
        gotmpl::Value::List(list) if list.is_nil() => Value::Null,
        gotmpl::Value::List(list) => match list.as_bytes() {
            Some(bytes) => Value::from(base64(bytes)),
            None => {
                let items: Option<Vec<Value>> = list.to_vec().iter().map(|item| json(item, depth)).collect();
                items?.into()
            }
        },
        gotmpl::Value::Map(map) if map.is_nil() => Value::Null,
        gotmpl::Value::Map(map) => {
            let items = map.read();
            let fields: Option<Vec<(lynceus_object::Str, Value)>> =
                items.iter().map(|(key, value)| Some((valid(key), json(value, depth)?))).collect();
            Value::Map(fields?.into_iter().collect())
        }
        gotmpl::Value::Object(object) => json(&object.json().into(), depth)?,
    })
}

/// The text with every byte that is not UTF-8 replaced, as Go's JSON encoder does.
fn valid(text: &gotmpl::Str) -> lynceus_object::Str {
    if text.is_ascii() || text.chars().all(|char| gotmpl::held_byte(char).is_none()) {
        return text.as_str().into();
    }
    String::from_utf8_lossy(&text.bytes()).as_ref().into()
}

/// What `%v` prints; nothing where that would be very long.
pub(crate) fn shown(value: &gotmpl::Value) -> String {
    gotmpl::format::text(value, crate::limits::MAX_SHOWN_BYTES).map(String::from).unwrap_or_default()
}

/// Bytes as Go's JSON encoder prints them.
pub(crate) fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
