//! `.Files`: what a chart has besides templates and values.

use std::collections::BTreeMap;

use lynceus_gotmpl::types::{BYTES, STRING};
use lynceus_gotmpl::{
    Context, Failure, List, Map, Method, Shape, Signature, Str, TypeInfo, Value, signature,
};

use super::functions::to_yaml;
use crate::chart::ChartFile;
use crate::go::{glob::Glob, path};
use crate::values::base64;

/// The type of `.Files`.
pub(super) static FILES: TypeInfo = TypeInfo::declared("engine.files", Shape::Map(&BYTES), &METHODS);

static METHODS: [Method; 6] = [
    Method { name: "Get", signature: signature!((STRING) -> STRING), call: get },
    Method { name: "GetBytes", signature: signature!((STRING) -> BYTES), call: get_bytes },
    Method {
        name: "Glob",
        signature: Signature { params: &[&STRING], variadic: false, result: &FILES },
        call: glob,
    },
    Method { name: "AsConfig", signature: signature!(() -> STRING), call: as_config },
    Method { name: "AsSecrets", signature: signature!(() -> STRING), call: as_secrets },
    Method { name: "Lines", signature: signature!((STRING) -> STRINGS), call: lines },
];

/// The files of a chart.
pub(super) fn files(files: &[ChartFile]) -> Value {
    let items: BTreeMap<Str, Value> = files
        .iter()
        .map(|file| (file.name.as_str().into(), Value::List(List::bytes(file.data.clone()))))
        .collect();
    Value::Map(Map::typed(&FILES, items))
}

/// The content of a file; nothing if there is no such file.
fn content(files: &Value, args: &[Value]) -> Option<List> {
    let name = args.first()?.as_str()?;
    files.get(name)?.as_list().cloned()
}

fn bytes(list: &List) -> &[u8] {
    list.as_bytes().unwrap_or_default()
}

fn get(_: &mut Context<'_>, files: &Value, args: &[Value]) -> Result<Value, Failure> {
    Ok(Value::Str(content(files, args).map(|list| Str::from_bytes(bytes(&list))).unwrap_or_default()))
}

fn get_bytes(_: &mut Context<'_>, files: &Value, args: &[Value]) -> Result<Value, Failure> {
    Ok(Value::List(content(files, args).unwrap_or_else(|| List::bytes(Vec::new()))))
}

fn glob(_: &mut Context<'_>, files: &Value, args: &[Value]) -> Result<Value, Failure> {
    let pattern = args.first().and_then(Value::as_str).cloned().unwrap_or_default();
    let glob = Glob::new(&pattern);
    let entries = files.as_map().map(Map::entries).unwrap_or_default();
    let found = entries.into_iter().filter(|(name, _)| glob.matches(name)).collect();
    Ok(Value::Map(Map::typed(&FILES, found)))
}

fn as_config(_: &mut Context<'_>, files: &Value, _: &[Value]) -> Result<Value, Failure> {
    Ok(flattened(files, Str::from_bytes))
}

fn as_secrets(_: &mut Context<'_>, files: &Value, _: &[Value]) -> Result<Value, Failure> {
    Ok(flattened(files, |content| base64(content).into()))
}

/// Files by their last names, as YAML. Of two with one name the last is told.
fn flattened(files: &Value, print: fn(&[u8]) -> Str) -> Value {
    let entries = files.as_map().map(Map::entries).unwrap_or_default();
    let items = entries.iter().filter_map(|(name, content)| {
        Some((Str::from(path::base(name)), Value::Str(print(bytes(content.as_list()?)))))
    });
    Value::from(to_yaml(&Value::Map(items.collect())).unwrap_or_default())
}

fn lines(_: &mut Context<'_>, files: &Value, args: &[Value]) -> Result<Value, Failure> {
    let Some(content) = content(files, args) else { return Ok(Value::strings::<Str>([])) };
    let content = bytes(&content);
    if content.is_empty() {
        return Err(Failure::new("runtime error: index out of range [-1]"));
    }
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    Ok(Value::strings(content.split(|byte| *byte == b'\n').map(Str::from_bytes)))
}
