//! Replays recorded comparisons of the real engine.

use std::io;
use std::path::Path;

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{Ignore, KnownTypes, Settings, Sides, sides};
use lynceus_object::{Object, Value};

use super::{Report, cases};

/// Replays every case of `dir/diff/cases.jsonl.gz`.
pub fn run(dir: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    for case in cases(&dir.join("diff/cases.jsonl.gz"))? {
        let case = case?;
        let outcome = replay(&case);
        report.count_with(case.str_at(&["id"]).unwrap_or_default(), outcome, reason(&case));
    }
    Ok(report)
}

fn replay(case: &Value) -> Result<(), String> {
    let object = |field: &str| case.get(field).cloned().and_then(|value| Object::new(value).ok());
    let (ignore, errors) = Ignore::new(&rules(case)?);
    if let Some(error) = errors.first() {
        return Err(error.to_string());
    }
    // The recording was made without the normaliser for types inside custom resources.
    let settings = Settings { ignore, known_types: KnownTypes::none(), ..Settings::default() };
    let found = sides(object("config").as_ref(), object("live").as_ref(), &settings);
    let expected = case.get("expected").unwrap_or(&Value::Null);
    match (found, expected.str_at(&["error"])) {
        (Err(_), Some(_)) => Ok(()),
        (Err(error), None) => Err(format!("refused: {error}")),
        (Ok(_), Some(error)) => Err(format!("not refused: {error}")),
        (Ok(found), None) => compare(&found, expected),
    }
}

fn rules(case: &Value) -> Result<Vec<ResourceIgnoreDifferences>, String> {
    let rules = case.items_at(&["ignoreDifferences"]).iter();
    rules.map(|rule| serde_json::from_value(rule.into()).map_err(|error| error.to_string())).collect()
}

fn compare(found: &Sides, expected: &Value) -> Result<(), String> {
    let modified = expected.bool_at(&["modified"]).unwrap_or(false);
    if found.is_modified() != modified {
        return Err(format!("modified is {}\n{}", !modified, explain(found, expected)));
    }
    let same = |side: &Option<Object>, field: &str| {
        side.as_ref().map_or(&Value::Null, Object::value) == expected.get(field).unwrap_or(&Value::Null)
    };
    if same(&found.live, "normalizedLive") && same(&found.predicted, "predictedLive") {
        Ok(())
    } else {
        Err(format!("right verdict, wrong form\n{}", explain(found, expected)))
    }
}

/// The first places where the two sides are not as recorded.
fn explain(found: &Sides, expected: &Value) -> String {
    let mut lines = Vec::new();
    for (side, field) in [(&found.live, "normalizedLive"), (&found.predicted, "predictedLive")] {
        let got = side.as_ref().map_or(&Value::Null, Object::value);
        differences(field, Some(got), expected.get(field), &mut lines);
    }
    lines.truncate(6);
    lines.join("\n")
}

fn differences(path: &str, got: Option<&Value>, want: Option<&Value>, lines: &mut Vec<String>) {
    match (got, want) {
        (Some(Value::Map(got)), Some(Value::Map(want))) => {
            let keys: std::collections::BTreeSet<_> = got.keys().chain(want.keys()).collect();
            for key in keys {
                differences(&format!("{path}.{key}"), got.get(key), want.get(key), lines);
            }
        }
        (Some(Value::Seq(a)), Some(Value::Seq(b))) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{at}]"), Some(a), Some(b), lines);
            }
        }
        (got, want) if got == want => {}
        (got, want) => {
            let show =
                |value: Option<&Value>| value.map_or("nothing".to_owned(), lynceus_object::json::to_string);
            lines.push(format!("  {path}: got {}, want {}", show(got), show(want)));
        }
    }
}

/// Why a case has to differ, where that is known.
fn reason(case: &Value) -> Option<&'static str> {
    let object = case.get("config").filter(|config| !config.is_null()).or(case.get("live"))?;
    let options =
        object.str_at(&["metadata", "annotations", "argocd.argoproj.io/sync-options"]).unwrap_or_default();
    match (object.str_at(&["apiVersion"])?, object.str_at(&["kind"])?) {
        _ if options.contains("ServerSideApply=true") || case.get("manager").is_some() => {
            Some("recorded without the cluster's schema, so that every list is one value")
        }
        ("v1", "Endpoints") => Some("the real engine sorts ports by a hash of their memory"),
        (version, _) if version.ends_with("/v1beta1") || version.ends_with("/v1beta2") => {
            Some("the defaults of a version that no supported server has")
        }
        _ => None,
    }
}
