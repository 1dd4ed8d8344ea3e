//! Fields of what a kustomization makes, in the patches, resources and generators that had a part in it.

use lynceus_doctor::provenance::{Cell, Form, Place as Spot, Spot as Where, Whose};
use lynceus_doctor::surgery::{Change, path_at};
use lynceus_files::FilePath;
use lynceus_kustomize::{Cause, Explanation, Place};
use lynceus_object::{FieldPath, Map, Segment, Value, value, yaml};

use super::desk::read;
use super::trial::{Candidate, Goal};
use crate::rendering::Traced;

/// The files with the field changed, that of the overlay before that of the base.
pub(super) fn candidates(traced: &Traced, explanation: &Explanation, goal: &Goal<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for cause in [&explanation.last].into_iter().chain(&explanation.before) {
        let (line, field) = match cause {
            Cause::Written(line) | Cause::Field { within: Some(line), .. } => (line, None),
            Cause::Field { field, place, within: None } => (place, Some(field)),
            Cause::Hash | Cause::Reference { .. } | Cause::Variable { .. } => continue,
        };
        let Ok(file) = FilePath::new(&line.file) else { continue };
        let Ok(text) = read(&*traced.tree, &file) else { continue };
        let found = match field {
            Some(own) => in_generator(&text, own, goal),
            None => in_document(&text, line, goal),
        };
        for (place, change, is_exact) in found {
            let place = Spot { whose: Whose::Source, file: file.clone(), spot: place };
            if let Ok(text) = place.operate(&text, &change) {
                candidates.push(Candidate { number: traced.number, file: file.clone(), text, is_exact });
            }
        }
    }
    candidates
}

type Changes = Vec<(Where, Change, bool)>;

/// A resource or a patch, in a file of its own or in a kustomization.
fn in_document(text: &str, line: &Place, goal: &Goal<'_>) -> Changes {
    let Some(found) = path_at(text, line.line, line.column) else { return Vec::new() };
    let Some(document) = parse(text, found.document) else { return Vec::new() };
    let cell = |document: usize, path: FieldPath| Cell { document, path, form: Form::Value };
    match &found.inside {
        None => {
            let changes = changes(&document, goal).into_iter();
            changes.map(|(path, change, is)| (Where::Field(cell(found.document, path)), change, is)).collect()
        }
        Some(inner) => {
            let text = found.path.get(&document).and_then(Value::as_str).unwrap_or_default();
            let Some(value) = parse(text, inner.document) else { return Vec::new() };
            let spot = |path: FieldPath| Where::Inside {
                document: found.document,
                path: found.path.clone(),
                cell: cell(inner.document, path),
            };
            changes(&value, goal).into_iter().map(|(path, change, is)| (spot(path), change, is)).collect()
        }
    }
}

/// What could be changed in a resource or a patch.
fn changes(document: &Value, goal: &Goal<'_>) -> Vec<(FieldPath, Change, bool)> {
    if let Some(operations) = document.as_seq() {
        return operation_changes(operations, goal);
    }
    let path = by_name(goal);
    let mut changes = Vec::new();
    let mut way = FieldPath::root();
    for segment in path.segments() {
        way.push(segment.clone());
        // Nothing in a patch takes away what is there without it.
        if matches!(way.get(document), Some(Value::Null)) {
            changes.push((way.clone(), Change::Remove, false));
        }
    }
    changes.push((path, goal.change.clone(), true));
    changes
}

/// What could be changed in a list of operations: one that takes the field away goes, or one comes that sets it.
fn operation_changes(operations: &[Value], goal: &Goal<'_>) -> Vec<(FieldPath, Change, bool)> {
    let Some(pointer) = goal.path.to_pointer() else { return Vec::new() };
    let mut changes = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        let is_above = operation.str_at(&["path"]).is_some_and(|path| {
            pointer.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if is_above && operation.str_at(&["op"]) == Some("remove") {
            changes.push((FieldPath::root().index(at), Change::Remove, false));
        }
    }
    let new = match goal.change {
        Change::Set(value) => {
            Some(value!({"op": "add", "path": (pointer.as_str()), "value": (value.clone())}))
        }
        Change::Append(item) => {
            Some(value!({"op": "add", "path": (format!("{pointer}/-")), "value": (item.clone())}))
        }
        Change::Remove => Some(value!({"op": "remove", "path": (pointer.as_str())})),
        Change::Merge(_) => None,
    };
    changes.extend(new.map(|operation| (FieldPath::root(), Change::Append(operation), true)));
    changes
}

/// Labels and annotations of what a generator makes stand in its options.
fn in_generator(text: &str, own: &FieldPath, goal: &Goal<'_>) -> Changes {
    let [Segment::Field(list), Segment::Index(_), ..] = own.segments() else { return Vec::new() };
    let [Segment::Field(metadata), Segment::Field(which), rest @ ..] = goal.path.segments() else {
        return Vec::new();
    };
    if !list.ends_with("Generator")
        || *metadata != "metadata"
        || !["labels", "annotations"].contains(&which.as_str())
    {
        return Vec::new();
    }
    let Some(document) = parse(text, 0) else { return Vec::new() };
    let generator: FieldPath = own.segments().iter().take(2).cloned().collect();
    let ways = [generator.field("options"), FieldPath::fields(["generatorOptions"])];
    let below = |way: FieldPath| -> FieldPath {
        way.field(which.clone()).segments().iter().chain(rest).cloned().collect()
    };
    // What all generators share is changed only where the field is set there.
    let [single, shared] = ways.map(below);
    let shared = Some(shared).filter(|path| path.get(&document).is_some());
    let spot = |path| Where::Field(Cell { document: 0, path, form: Form::Value });
    [single].into_iter().chain(shared).map(|path| (spot(path), goal.change.clone(), true)).collect()
}

/// The path with items called by their names, since a patch has only those that it changes.
fn by_name(goal: &Goal<'_>) -> FieldPath {
    let mut at = FieldPath::root();
    let mut path = FieldPath::root();
    for segment in goal.path.segments() {
        at.push(segment.clone());
        let name = at.get(goal.object.value()).and_then(|item| item.get("name"));
        path.push(match (segment, name) {
            (Segment::Index(_), Some(name)) => Segment::Key(Map::from_iter([("name", name.clone())])),
            _ => segment.clone(),
        });
    }
    path
}

fn parse(text: &str, document: usize) -> Option<Value> {
    yaml::documents(text.as_bytes(), &yaml::Options::default()).into_iter().nth(document)?.result.ok()
}

#[cfg(test)]
mod tests {
    use lynceus_object::{Object, json};

    use super::*;

    const OBJECT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: side, image: s}, {name: web, image: w, securityContext: {runAsNonRoot: true}}]}}}
";

    /// All texts that a patch, of which a line had a part in the object, may become.
    #[track_caller]
    fn check(text: &str, line: u32, path: &str, value: &str, expected: &[&str]) {
        let object = Object::new(yaml::parse(OBJECT.as_bytes()).unwrap()).unwrap();
        let path = FieldPath::parse(path).unwrap();
        let change = Change::Set(json::parse(value.as_bytes()).unwrap());
        let goal = Goal { key: &object.key(), path: &path, change: &change, object: &object };
        let place = Place { file: "patch.yaml".to_owned(), line, column: 0 };
        texts(text, in_document(text, &place, &goal), expected);
    }

    #[track_caller]
    fn texts(text: &str, changes: Changes, expected: &[&str]) {
        let file = FilePath::new("patch.yaml").unwrap();
        let spot = |spot| Spot { whose: Whose::Source, file: file.clone(), spot };
        let found: Vec<String> =
            changes.into_iter().filter_map(|(at, change, _)| spot(at).operate(text, &change).ok()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_missing_field_goes_into_the_patch_of_the_overlay() {
        check(
            "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: x\n",
            5,
            "spec.template.spec.hostNetwork",
            "true",
            &[
                "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: x\n      hostNetwork: true\n",
            ],
        );
    }

    #[test]
    fn items_are_called_by_name_and_what_takes_a_field_away_goes_first() {
        check(
            "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: x\n        securityContext: null\n",
            8,
            "spec.template.spec.containers[1].securityContext.runAsUser",
            "7",
            &[
                "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: x\n",
                "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: x\n        securityContext:\n          runAsUser: 7\n",
            ],
        );
    }

    #[test]
    fn an_operation_that_takes_a_field_away_goes_or_one_comes() {
        check(
            "- op: remove\n  path: /spec/paused\n- op: add\n  path: /spec/a\n  value: 1\n",
            1,
            "spec.paused",
            "true",
            &[
                "- op: add\n  path: /spec/a\n  value: 1\n",
                "- op: remove\n  path: /spec/paused\n- op: add\n  path: /spec/a\n  value: 1\n- op: add\n  path: /spec/paused\n  value: true\n",
            ],
        );
    }

    #[test]
    fn annotations_of_what_a_generator_makes_stand_in_its_options() {
        let object = Object::new(yaml::parse(OBJECT.as_bytes()).unwrap()).unwrap();
        let (path, change) =
            (FieldPath::fields(["metadata", "annotations", "wave"]), Change::Set("0".into()));
        let goal = Goal { key: &object.key(), path: &path, change: &change, object: &object };
        let text = "configMapGenerator:\n- name: a\n  options: {annotations: {wave: \"2\"}}\n";
        let own = FieldPath::parse("configMapGenerator[0].options").unwrap();
        let after = "configMapGenerator:\n- name: a\n  options: {annotations: {wave: \"0\"}}\n";
        texts(text, in_generator(text, &own, &goal), &[after]);
    }
}
