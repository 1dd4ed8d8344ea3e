//! The type of `.Values`, and what can be called on it.

use lynceus_gotmpl::types::{ANY, MAP, STRING};
use lynceus_gotmpl::{Context, Failure, Map, Method, Shape, Signature, TypeInfo, Value, signature};

use super::functions::to_yaml;
use crate::values;

/// The type of `.Values`, of `.Template` and of the dot.
pub(super) static VALUES: TypeInfo = TypeInfo::declared("common.Values", Shape::Map(&ANY), &METHODS);

static METHODS: [Method; 4] = [
    Method { name: "AsMap", signature: signature!(() -> MAP), call: as_map },
    Method { name: "YAML", signature: signature!(() -> STRING), call: yaml },
    Method {
        name: "Table",
        signature: Signature { params: &[&STRING], variadic: false, result: &VALUES },
        call: table,
    },
    Method { name: "PathValue", signature: signature!((STRING) -> ANY), call: path_value },
];

fn own(value: &Value) -> Map {
    value.as_map().cloned().unwrap_or_default()
}

/// The same map under its plain type; nothing is copied.
fn as_map(_: &mut Context<'_>, value: &Value, _: &[Value]) -> Result<Value, Failure> {
    Ok(Value::Map(own(value).as_type(&MAP)))
}

fn yaml(_: &mut Context<'_>, value: &Value, _: &[Value]) -> Result<Value, Failure> {
    let printed = to_yaml(value).ok_or_else(|| Failure::new("json: unsupported value"))?;
    Ok(Value::from(format!("{printed}\n")))
}

fn table(_: &mut Context<'_>, value: &Value, args: &[Value]) -> Result<Value, Failure> {
    let table = values::table(&own(value), &path(args)).map_err(Failure::new)?;
    Ok(Value::Map(table.as_type(&VALUES)))
}

fn path_value(_: &mut Context<'_>, value: &Value, args: &[Value]) -> Result<Value, Failure> {
    let path = path(args);
    if path.is_empty() {
        return Err(Failure::new("YAML path cannot be empty"));
    }
    let (holder, name) = match path.rsplit_once('.') {
        Some((holder, name)) => (values::table(&own(value), holder).ok(), name),
        None => (Some(own(value)), path.as_str()),
    };
    let found = holder.and_then(|holder| holder.get(name)).filter(|value| value.as_map().is_none());
    found.ok_or_else(|| Failure::new(format!("{name:?} is not a value")))
}

fn path(args: &[Value]) -> String {
    args.first().and_then(Value::as_str).map(|text| text.to_string()).unwrap_or_default()
}
