//! ConfigMaps and Secrets that are made of literals, files and environment files.

mod pairs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Map, Str, Value};

use crate::error::KustomizeError;
use crate::kustomization::fields::{ConfigMapArguments, GeneratorOptions, SecretArguments};
use crate::labels::check_name;
use crate::load::Loader;
use crate::resource::{Behavior, Resource};
use pairs::{Pair, Sources};

/// How long a line of base64 may be.
const LINE: usize = 70;

/// Makes a ConfigMap.
pub(crate) fn config_map(
    arguments: &ConfigMapArguments,
    loader: &Loader<'_>,
) -> Result<Resource, KustomizeError> {
    let mut value = base("ConfigMap", &arguments.name, &arguments.namespace)?;
    let sources = Sources { literals: &arguments.literals, files: &arguments.files, envs: &arguments.envs };
    let (mut data, mut binary) = (Map::new(), Map::new());
    for Pair { key, value } in sources.read(&arguments.name, loader)? {
        match String::from_utf8(value) {
            Ok(text) => {
                check(&key, &text)?;
                data.insert(key, text)
            }
            Err(bytes) => binary.insert(key, encoded(bytes.as_bytes())),
        };
    }
    if !data.is_empty() {
        value.set(&["data"], data);
    }
    if !binary.is_empty() {
        value.set(&["binaryData"], binary);
    }
    finished(value, arguments.options.as_ref(), &arguments.behavior)
}

/// Whether Kustomize can read what it writes of a text, which it does before it prints.
fn check(key: &str, text: &str) -> Result<(), KustomizeError> {
    let is_refused =
        |character| matches!(character, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    let problem = if text.contains(is_refused) {
        "control characters are not allowed"
    } else if text.starts_with('\t') && text.contains('\n') && !text.contains('\r') {
        "found a tab character where an indentation space is expected"
    } else {
        return Ok(());
    };
    Err(KustomizeError::new(format!("yaml: {problem}, which Kustomize does not print"))
        .hint(format!("change the value of {key}")))
}

/// Makes a Secret.
pub(crate) fn secret(arguments: &SecretArguments, loader: &Loader<'_>) -> Result<Resource, KustomizeError> {
    let mut value = base("Secret", &arguments.name, &arguments.namespace)?;
    let sources = Sources { literals: &arguments.literals, files: &arguments.files, envs: &arguments.envs };
    let kind = if arguments.kind.is_empty() { "Opaque" } else { arguments.kind.as_str() };
    value.set(&["type"], kind);
    let pairs = sources.read(&arguments.name, loader)?;
    let data: Map = pairs.into_iter().map(|pair| (pair.key, encoded(&pair.value))).collect();
    value.set(&["data"], data);
    finished(value, arguments.options.as_ref(), &arguments.behavior)
}

fn base(kind: &str, name: &Str, namespace: &Str) -> Result<Value, KustomizeError> {
    if name.is_empty() {
        return Err(KustomizeError::new("a configmap must have a name"));
    }
    let mut value = Value::default();
    value.set(&["apiVersion"], "v1");
    value.set(&["kind"], kind);
    value.set(&["metadata", "name"], name.clone());
    if !namespace.is_empty() {
        value.set(&["metadata", "namespace"], namespace.clone());
    }
    Ok(value)
}

fn finished(
    mut value: Value,
    options: Option<&GeneratorOptions>,
    behavior: &str,
) -> Result<Resource, KustomizeError> {
    for field in ["data", "binaryData"] {
        value.get(field).and_then(Value::as_map).into_iter().flat_map(Map::keys).try_for_each(check_name)?;
    }
    let mut needs_hash = true;
    if let Some(options) = options {
        options.labels.keys().chain(options.annotations.keys()).try_for_each(check_name)?;
        for (key, text) in &options.labels {
            value.set(&["metadata", "labels", key], text.clone());
        }
        for (key, text) in &options.annotations {
            value.set(&["metadata", "annotations", key], text.clone());
        }
        if options.immutable {
            value.set(&["immutable"], true);
        }
        needs_hash = !options.disable_name_suffix_hash;
    }
    let behavior = match behavior {
        "replace" => Some(Behavior::Replace),
        "merge" => Some(Behavior::Merge),
        "create" => Some(Behavior::Create),
        _ => None,
    };
    Ok(Resource { behavior, needs_hash, ..Resource::new(value) })
}

/// Bytes as base64. What is longer than a line is broken into lines, each of which ends.
fn encoded(bytes: &[u8]) -> String {
    let line = STANDARD.encode(bytes);
    if line.len() < LINE {
        return line;
    }
    let mut lines = String::with_capacity(line.len() + line.len() / LINE + 1);
    for (index, letter) in line.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            lines.push('\n');
        }
        lines.push(letter);
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_broken_into_lines_that_end() {
        assert_eq!(encoded(b"x"), "eA==");
        assert_eq!(encoded(&[b'a'; 51]).len(), 68);
        let two = encoded(&[b'a'; 54]);
        assert_eq!(two.lines().map(str::len).collect::<Vec<_>>(), [70, 2]);
        assert!(two.ends_with('\n'));
    }

    #[test]
    fn a_generator_without_a_name_is_an_error() {
        assert!(base("ConfigMap", &Str::new(), &Str::new()).is_err());
    }
}
