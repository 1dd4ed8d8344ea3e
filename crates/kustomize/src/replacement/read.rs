//! Replacements as they stand in a kustomization or in a file that it names.

use lynceus_object::{Str, Value, yaml};

use super::{FieldOptions, Replacement, Source, Target};
use crate::error::KustomizeError;
use crate::id::Kind;
use crate::selector::Selector;
use crate::written::text_of;

/// Reads the items of `replacements`. `load` gives the text of a file that an item names.
pub(crate) fn read_replacements(
    items: &[Value],
    mut load: impl FnMut(&str) -> Result<Vec<u8>, KustomizeError>,
) -> Result<Vec<Replacement>, KustomizeError> {
    let mut out = Vec::new();
    for item in items {
        let path = text(item, "path");
        if path.is_empty() {
            let mut replacement = read(item);
            // On its way an empty list in the kustomization itself becomes none, but not one in a file.
            replacement.targets = replacement.targets.filter(|targets| !targets.is_empty());
            out.push(replacement);
            continue;
        }
        if present(item, "source").is_some() || !item.items_at(&["targets"]).is_empty() {
            return Err(KustomizeError::new("cannot specify both path and inline replacement"));
        }
        let content = load(&path)?;
        match yaml::parse(&content).map_err(|error| KustomizeError::new(error.to_string()))? {
            Value::Seq(list) => out.extend(list.iter().map(read)),
            one @ Value::Map(_) => out.push(read(&one)),
            other => {
                let kind = match other {
                    Value::Null => "invalid",
                    Value::Str(_) => "string",
                    Value::Bool(_) => "bool",
                    _ => "float64",
                };
                return Err(KustomizeError::new(format!(
                    "unsupported replacement type encountered within replacement path: {kind}"
                )));
            }
        }
    }
    Ok(out)
}

fn present<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|value| !value.is_null())
}

fn text(value: &Value, name: &str) -> Str {
    value.get(name).map(text_of).unwrap_or_default()
}

fn read(value: &Value) -> Replacement {
    Replacement {
        source: present(value, "source").map(|source| Source {
            kind: Kind {
                group: text(source, "group"),
                version: text(source, "version"),
                kind: text(source, "kind"),
            },
            name: text(source, "name"),
            namespace: text(source, "namespace"),
            field_path: text(source, "fieldPath"),
            options: options(source),
        }),
        source_value: present(value, "sourceValue").map(text_of),
        targets: present(value, "targets").and_then(Value::as_seq).map(|targets| {
            targets
                .iter()
                .map(|target| Target {
                    select: present(target, "select").map(Selector::read),
                    reject: target.items_at(&["reject"]).iter().map(Selector::read).collect(),
                    field_paths: target.items_at(&["fieldPaths"]).iter().map(text_of).collect(),
                    options: options(target),
                })
                .collect()
        }),
    }
}

fn options(value: &Value) -> Option<FieldOptions> {
    present(value, "options").map(|options| FieldOptions {
        delimiter: text(options, "delimiter"),
        index: options.int_at(&["index"]).unwrap_or_default(),
        create: options.bool_at(&["create"]).unwrap_or_default(),
    })
}
