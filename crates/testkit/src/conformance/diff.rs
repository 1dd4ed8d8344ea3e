//! Replays recorded comparisons of the real engine.

use std::io;
use std::path::Path;

use lynceus_api::{ResourceIgnoreDifferences, hook};
use lynceus_diff::{
    DiffError, Ignore, KnownTypes, Pair, Pairs, Settings, Sides, Verdict, compare_all, sides,
};
use lynceus_object::{FieldPath, Object, Segment, Value};

use super::{Report, cases};

const LAST_APPLIED: &str = lynceus_api::annotations::LAST_APPLIED;

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

/// Why the two ways may part on objects that were recorded with something put into them.
const FOREIGN_FIELD: &str = "the live object has a field that its kind does not have: no server keeps one, and only the full comparison sees it";

/// How many of the recorded objects are changed.
const EVERY: usize = 4;

/// Changes recorded objects in one place each, always in the same way, and asks whether the comparison of an application,
/// which takes a shorter way where nothing differs, comes to the same verdict as the full one.
pub fn change(dir: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    for (number, case) in cases(&dir.join("diff/cases.jsonl.gz"))?.enumerate() {
        let case = case?;
        if number.is_multiple_of(EVERY) {
            let id = case.str_at(&["id"]).unwrap_or_default();
            let foreign = id.ends_with("-live-extra").then_some(FOREIGN_FIELD);
            report.count_with(id, changed(&case, number), reason(&case).or(foreign));
        }
    }
    Ok(report)
}

/// The desired object beside what an apply made of it, and then with one field of either another or gone.
fn changed(case: &Value, seed: usize) -> Result<(), String> {
    let object = |value: Option<&Value>| value.cloned().and_then(|value| Object::new(value).ok());
    let after = object(case.at(&["expected", "predictedLive"])).or_else(|| object(case.get("live")));
    let (Some(desired), Some(mut live)) = (object(case.get("config")), after) else { return Ok(()) };
    if !seed.is_multiple_of(3) {
        let mut applied = desired.clone();
        applied.remove(&["metadata", "annotations", LAST_APPLIED]);
        live.set_annotation(LAST_APPLIED, lynceus_object::json::go_string(applied.value()));
    }
    let mut leaves = Vec::new();
    collect(desired.value(), &FieldPath::root(), &mut leaves);
    let settings = Settings { known_types: KnownTypes::none(), ..Settings::default() };
    for round in 0..8 {
        let (mut desired, mut live) = (desired.clone(), live.clone());
        let at = seed.wrapping_mul(31).wrapping_add(round * 17) % leaves.len().max(1);
        if let (Some(path), true) = (leaves.get(at), round > 0) {
            let side = if round % 2 == 0 { &mut desired } else { &mut live };
            alter(side, path, round / 2);
        }
        let found = sides(Some(&desired), Some(&live), &settings);
        agrees(&found, Pair::Both { desired, live }, &settings)
            .map_err(|why| format!("round {round}, {:?}: {why}", leaves.get(at).map(ToString::to_string)))?;
    }
    Ok(())
}

fn collect(value: &Value, path: &FieldPath, leaves: &mut Vec<FieldPath>) {
    match value {
        Value::Map(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| collect(value, &path.field(key.clone()), leaves));
        }
        Value::Seq(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, value)| collect(value, &path.index(at), leaves));
        }
        _ => leaves.push(path.clone()),
    }
}

/// Makes a field another, or takes it away with what it stands in.
fn alter(object: &mut Object, path: &FieldPath, how: usize) {
    let parent = path.parent().unwrap_or_default();
    match (how, path.segments().last()) {
        (1, Some(Segment::Field(name))) => {
            if let Some(Value::Map(map)) = parent.get_mut(object.value_mut()) {
                map.remove(name);
            }
        }
        (2, _) => {
            if let Some(value) = parent.get_mut(object.value_mut()).filter(|_| !parent.is_root()) {
                *value = Value::Null;
            }
        }
        _ => {
            if let Some(value) = path.get_mut(object.value_mut()) {
                *value = match value {
                    Value::Int(number) => Value::Int(number.wrapping_add(1)),
                    Value::Bool(set) => Value::Bool(!*set),
                    _ => "another".into(),
                };
            }
        }
    }
}

fn replay(case: &Value) -> Result<(), String> {
    let object = |field: &str| case.get(field).cloned().and_then(|value| Object::new(value).ok());
    let (ignore, errors) = Ignore::new(&rules(case)?);
    if let Some(error) = errors.first() {
        return Err(error.to_string());
    }
    // The recording was made without the normaliser for types inside custom resources.
    let settings = Settings { ignore, known_types: KnownTypes::none(), ..Settings::default() };
    let (config, live) = (object("config"), object("live"));
    let found = sides(config.as_ref(), live.as_ref(), &settings);
    if let (Some(desired), Some(live)) = (config, live) {
        agrees(&found, Pair::Both { desired, live }, &settings)?;
    }
    let expected = case.get("expected").unwrap_or(&Value::Null);
    match (found, expected.str_at(&["error"])) {
        (Err(_), Some(_)) => Ok(()),
        (Err(error), None) => Err(format!("refused: {error}")),
        (Ok(_), Some(error)) => Err(format!("not refused: {error}")),
        (Ok(found), None) => compare(&found, expected),
    }
}

/// Whether the comparison of an application, which takes a shorter way where nothing differs, comes to the same.
fn agrees(found: &Result<Sides, DiffError>, pair: Pair, settings: &Settings) -> Result<(), String> {
    if pair.desired().is_some_and(hook::is_skipped) {
        return Ok(());
    }
    let changes = compare_all(Pairs { pairs: vec![pair], hooks: Vec::new() }, settings, &|_| true);
    let same = changes.changes.iter().all(|change| change.verdict == Verdict::Same);
    match found {
        Ok(sides) if sides.is_modified() == same => {
            Err("the shorter way comes to another verdict".to_owned())
        }
        Err(error) if same => Err(format!("the shorter way does not find that {error}")),
        _ => Ok(()),
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
