//! What the Go templates of ApplicationSets can call: sprig without what looks at the machine, and five of Argo CD's.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::{Context, Failure, Functions, Value, json, signature, sprig};
use lynceus_object::{json as text, yaml};

use crate::name::normalize;
use crate::param::{Param, kind};
use crate::slug::{USUAL, slugify};

/// All functions.
pub(crate) static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| Arc::new(functions()));

fn functions() -> Functions {
    let mut all = sprig::functions();
    for name in ["env", "expandenv", "getHostByName"] {
        all.remove(name);
    }
    all.add("normalize", signature!((STRING) -> STRING), |_, args| {
        Ok(Value::from(normalize(&text_of(args))))
    });
    all.add("slugify", signature!((...ANY) -> STRING), |_, args| slug(args));
    all.add("toYaml", signature!((ANY) -> STRING), to_yaml);
    all.add("fromYaml", signature!((STRING) -> MAP), |_, args| from_yaml(args, yaml::parse_str("{}").ok()));
    all.add("fromYamlArray", signature!((STRING) -> LIST), |_, args| {
        from_yaml(args, yaml::parse_str("[]").ok())
    });
    all
}

fn text_of(args: &[Value]) -> gotmpl::Str {
    args.last().and_then(Value::as_str).cloned().unwrap_or_default()
}

/// `slugify [length [whole words]] text`
fn slug(args: &[Value]) -> Result<Value, Failure> {
    let wrong =
        || Failure::new("slugify takes a length, whether words stay whole, and a text, in this order");
    let (name, options) = match args.split_last() {
        None => return Ok(Value::from("")),
        Some((name, options)) => (name.as_str().ok_or_else(wrong)?, options),
    };
    let longest = match options.first() {
        None => USUAL,
        Some(length) => length.as_i64().and_then(|length| usize::try_from(length).ok()).ok_or_else(wrong)?,
    };
    let whole = options.get(1).map_or(Some(true), Value::as_bool).ok_or_else(wrong)?;
    Ok(Value::from(slugify(&normalize(name), longest, whole)))
}

/// A value as YAML: through JSON, as Go does it.
fn to_yaml(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    let value = args.first().cloned().unwrap_or_default();
    let json = json::encode_in(context, &value, json::Style::Compact)?;
    let value = text::parse(json.as_bytes()).map_err(|error| Failure::new(error.to_string()))?;
    let mut yaml = yaml::to_string(&value);
    if yaml.ends_with('\n') {
        yaml.pop();
    }
    context.charge(yaml.len())?;
    Ok(Value::from(yaml))
}

/// A text of YAML as a value of the same sort as `empty`, which is what nothing becomes.
fn from_yaml(args: &[Value], empty: Option<lynceus_object::Value>) -> Result<Value, Failure> {
    let empty = empty.unwrap_or_default();
    let failed = |why: String| Failure::new(format!("error converting YAML to JSON: {why}"));
    let value = yaml::parse(&text_of(args).bytes()).map_err(|error| failed(error.to_string()))?;
    if value.is_null() {
        return Ok(plain(&empty));
    }
    if kind(&value) != kind(&empty) {
        return Err(failed(format!("it is {} and not {}", kind(&value), kind(&empty))));
    }
    Ok(plain(&value))
}

fn plain(value: &lynceus_object::Value) -> Value {
    match Param::from(value) {
        Param::Map(map) => {
            let items: BTreeMap<_, _> =
                map.iter().map(|(key, param)| (key.clone().into(), param.to_template())).collect();
            Value::Map(gotmpl::Map::new(items))
        }
        other => other.to_template(),
    }
}
