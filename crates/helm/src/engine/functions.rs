//! The functions that Helm adds to sprig's.

use std::sync::{Arc, LazyLock};

use lynceus_gotmpl::types::{LIST, MAP};
use lynceus_gotmpl::{Context, Failure, Functions, List, Map, Str, Value, json, signature, sprig};
use lynceus_object::yaml;

use super::host::Host;
use super::{pretty, toml};
use crate::go::{decode, text};
use crate::limits;
use crate::values::{floats, from_template, to_template};
use crate::warning::Warning;

/// All functions of a template. What they need to know of a rendering is in its [`Host`].
pub(super) static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| Arc::new(functions()));

fn functions() -> Functions {
    let mut all = sprig::functions();
    all.add("include", signature!((STRING, ANY) -> STRING), include);
    all.add("tpl", signature!((STRING, ANY) -> STRING), tpl);
    all.add("required", signature!((STRING, ANY) -> ANY), required);
    all.add("fail", signature!((STRING) -> STRING), fail);
    all.add("lookup", signature!((STRING, STRING, STRING, STRING) -> MAP), lookup);
    // Names are resolved only for who asks for it, and nobody can: rendering does not talk to anybody.
    all.add("getHostByName", signature!((STRING) -> STRING), |_, _| Ok(Value::from("")));
    all.add("toYaml", signature!((ANY) -> STRING), |context, args| {
        let made = context.once("toYaml", &args[0], |_| Ok(to_yaml(&args[0]).unwrap_or_default().into()));
        made.map(Value::Str)
    });
    all.add("mustToYaml", signature!((ANY) -> STRING), |_, args| {
        to_yaml(&args[0]).map(Value::from).ok_or_else(|| Failure::new("json: unsupported value"))
    });
    all.add("toYamlPretty", signature!((ANY) -> STRING), |_, args| Ok(Value::from(pretty::encode(&args[0]))));
    all.add("fromYaml", signature!((STRING) -> MAP), |_, args| Ok(from_yaml(&string(args, 0))));
    all.add("fromYamlArray", signature!((STRING) -> LIST), |_, args| Ok(from_yaml_list(&string(args, 0))));
    all.add("toJson", signature!((ANY) -> STRING), |context, args| {
        Ok(Value::Str(json::encode_in(context, &args[0], json::Style::Compact).unwrap_or_default()))
    });
    all.add("mustToJson", signature!((ANY) -> STRING), |context, args| {
        json::encode_in(context, &args[0], json::Style::Compact).map(Value::Str)
    });
    all.add("fromJson", signature!((STRING) -> MAP), |_, args| Ok(from_json(&string(args, 0))));
    all.add("fromJsonArray", signature!((STRING) -> LIST), |_, args| Ok(from_json_list(&string(args, 0))));
    all.add("toToml", signature!((ANY) -> STRING), |_, args| {
        Ok(Value::from(toml::encode(&args[0]).unwrap_or_else(|error| error)))
    });
    all.add("mustToToml", signature!((ANY) -> STRING), |_, args| {
        toml::encode(&args[0]).map(Value::from).map_err(Failure::new)
    });
    all.add("fromToml", signature!((STRING) -> MAP), |_, args| Ok(toml::decode(&string(args, 0))));
    all
}

fn string(args: &[Value], at: usize) -> Str {
    args.get(at).and_then(Value::as_str).cloned().unwrap_or_default()
}

/// Marks a message that is meant for the user, so that it is told without the way to it.
pub(super) const WARN_START: &str = "HELM_ERR_START";
pub(super) const WARN_END: &str = "HELM_ERR_END";

fn include(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    let name = string(args, 0);
    if let Some(host) = context.host::<Host>() {
        let count = host.included.entry(name.clone()).or_default();
        if *count > limits::MAX_INCLUDES {
            return Err(Failure::new(format!(
                "rendering template has a nested reference name: {name}: unable to execute template"
            )));
        }
        *count += 1;
    }
    let result = context.execute(&name, args[1].clone());
    if let Some(count) = context.host::<Host>().and_then(|host| host.included.get_mut(&name)) {
        *count -= 1;
    }
    Ok(Value::Str(result?))
}

fn tpl(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    let source = string(args, 0);
    let made = context.once_for(&source, &args[1], |context| {
        let name = context.set_name();
        let parsed = context.parse_text(&name, &source).map_err(|cause| {
            Failure::wrap(format!("cannot parse template {}: ", text::quote(&source)), cause)
        })?;
        let output = context.execute_text(&parsed, args[1].clone()).map_err(|cause| {
            let words = format!("error during tpl function execution for {}: ", text::quote(&source));
            Failure::wrap(words, cause)
        })?;
        Ok(without_no_value(output))
    });
    made.map(Value::Str)
}

/// What Go prints where a value is missing.
pub(super) const NO_VALUE: &str = "<no value>";

/// The output without it, as Helm has it.
pub(super) fn without_no_value(output: Str) -> Str {
    if output.contains(NO_VALUE) { output.replace(NO_VALUE, "").into() } else { output }
}

fn required(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    let is_missing = match &args[1] {
        Value::Nil => true,
        Value::Str(text) => text.is_empty(),
        _ => false,
    };
    if !is_missing {
        return Ok(args[1].clone());
    }
    if !is_linting(context) {
        return Err(warning(&string(args, 0)));
    }
    let what = if args[1].is_nil() { "missing required value" } else { "missing required values" };
    say(context, Warning::warn(what).about("message", string(args, 0).as_str()));
    Ok(Value::from(""))
}

fn fail(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    if !is_linting(context) {
        return Err(warning(&string(args, 0)));
    }
    say(context, Warning::info("funcMap fail").about("message", string(args, 0).as_str()));
    Ok(Value::from(""))
}

/// Says something beside the output: a text that says so is not remembered, so that it is said each time.
fn say(context: &mut Context<'_>, warning: Warning) {
    context.unsteady();
    if let Some(host) = context.host::<Host>() {
        host.said.push(warning);
    }
}

fn is_linting(context: &mut Context<'_>) -> bool {
    context.host::<Host>().is_some_and(|host| host.lint)
}

fn warning(message: &str) -> Failure {
    Failure::new(format!("{WARN_START}{message}{WARN_END}"))
}

fn lookup(context: &mut Context<'_>, args: &[Value]) -> Result<Value, Failure> {
    context.unsteady();
    let Some(host) = context.host::<Host>() else { return Ok(Value::Map(Map::default())) };
    let Some(lookup) = host.lookup.as_ref().filter(|_| !host.lint) else {
        return Ok(Value::Map(Map::default()));
    };
    let [api_version, kind, namespace, name] = [0, 1, 2, 3].map(|at| string(args, at));
    match lookup.lookup(&api_version, &kind, &namespace, &name) {
        Ok(Some(object)) => Ok(to_template(&object)),
        Ok(None) => Ok(Value::Map(Map::default())),
        Err(error) => Err(Failure::new(error)),
    }
}

/// YAML without the line break at its end.
pub(super) fn to_yaml(value: &Value) -> Option<String> {
    let value = from_template(value)?;
    if !survives_yaml(&value) {
        return None;
    }
    let mut out = yaml::to_string(&value);
    if out.ends_with('\n') {
        out.pop();
    }
    Some(out)
}

/// Whether the library that reads the JSON again takes every character: it refuses some that JSON leaves as they are.
fn survives_yaml(value: &lynceus_object::Value) -> bool {
    let is_refused =
        |char: char| matches!(char, '\x7f'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    let is_fine = |text: &str| text.is_ascii() && !text.contains('\x7f') || !text.contains(is_refused);
    match value {
        lynceus_object::Value::Str(text) => is_fine(text),
        lynceus_object::Value::Seq(items) => items.iter().all(survives_yaml),
        lynceus_object::Value::Map(map) => {
            map.iter().all(|(key, value)| is_fine(key) && survives_yaml(value))
        }
        _ => true,
    }
}

fn from_yaml(text: &Str) -> Value {
    match yaml::parse(&text.bytes()).map(floats) {
        Ok(value) => table_or_error(&value),
        Err(error) => error_table(&format!("error converting YAML to JSON: {}", error.words())),
    }
}

fn from_json(text: &Str) -> Value {
    match json::decode(text) {
        Ok(Value::Nil) => Value::Map(Map::nil(&MAP)),
        Ok(value @ Value::Map(_)) => value,
        Ok(other) => error_table(&mismatch(&other, MAP.name)),
        // It is no table at all, which is found before the number in it that is too large.
        Err(error) if error.partial.as_list().is_some() => error_table(&mismatch(&error.partial, MAP.name)),
        Err(error) => {
            let table = error.partial.as_map().cloned().unwrap_or_default();
            table.insert("Error", Value::from(error.message));
            Value::Map(table)
        }
    }
}

fn table_or_error(value: &lynceus_object::Value) -> Value {
    match value {
        lynceus_object::Value::Map(_) => to_template(value),
        // A null leaves the table that Helm has made.
        lynceus_object::Value::Null => Value::Map(Map::default()),
        other => error_table(&decode::not_a(other, MAP.name)),
    }
}

/// The words of Go's decoder for a value of another type than is wanted.
fn mismatch(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Bool(_) => "bool",
        Value::Str(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "number",
    };
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

fn error_table(message: &str) -> Value {
    Value::map([("Error", Value::from(message))])
}

fn from_yaml_list(text: &Str) -> Value {
    match yaml::parse(&text.bytes()).map(floats) {
        Ok(value) => list_or_error(&value),
        Err(error) => error_list(&format!("error converting YAML to JSON: {}", error.words())),
    }
}

fn from_json_list(text: &Str) -> Value {
    match json::decode(text) {
        Ok(Value::Nil) => Value::List(List::nil(&LIST)),
        Ok(value @ Value::List(_)) => value,
        Ok(other) => error_list(&mismatch(&other, LIST.name)),
        Err(error) if error.partial.as_map().is_some() => error_list(&mismatch(&error.partial, LIST.name)),
        Err(error) => error_list(&error.message),
    }
}

fn list_or_error(value: &lynceus_object::Value) -> Value {
    match value {
        lynceus_object::Value::Seq(_) => to_template(value),
        lynceus_object::Value::Null => Value::list([]),
        other => error_list(&decode::not_a(other, LIST.name)),
    }
}

fn error_list(message: &str) -> Value {
    Value::list([Value::from(message)])
}
