//! jq expressions of `ignoreDifferences`, held to what gojq answered.

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::Ignore;
use lynceus_object::{Object, Value, json};

/// The object without what an expression names, or `None` if it cannot be read.
fn without(expression: &str, object: &Object) -> Option<Value> {
    let rule = ResourceIgnoreDifferences {
        group: "*".into(),
        kind: "*".into(),
        jq_path_expressions: vec![expression.into()],
        ..Default::default()
    };
    let (ignore, errors) = Ignore::new([&rule]);
    let mut object = object.clone();
    ignore.strip(&mut object);
    errors.is_empty().then(|| object.value().clone())
}

#[test]
fn expressions_delete_what_gojq_deletes() {
    let object: Value = json::parse(include_bytes!("jq/object.json")).expect("it is JSON");
    let object = Object::new(object).expect("it is an object");
    let lines: Vec<&str> =
        include_str!("jq/answers.txt").lines().filter(|line| !line.starts_with("# ")).collect();
    let mut wrong = Vec::new();
    for pair in lines.chunks(2) {
        let [expression, answer] = pair else { panic!("an expression has no answer") };
        let cut = |path: &[&str]| {
            let mut value = object.value().clone();
            value.remove(path);
            // One that would leave no object is not followed.
            Some(Object::new(value).map_or(object.value().clone(), |cut| cut.value().clone()))
        };
        let expected = match answer.trim() {
            "refused" => None,
            "unchanged" => Some(object.value().clone()),
            "kind" => cut(&["kind"]),
            "replicas" => cut(&["spec", "replicas"]),
            text => {
                let value = json::parse(text.as_bytes()).expect("an answer is JSON");
                Some(Object::new(value).map_or(object.value().clone(), |cut| cut.value().clone()))
            }
        };
        let found = without(expression, &object);
        let printed = |value: &Option<Value>| value.as_ref().map(json::to_string);
        if printed(&found) != printed(&expected) {
            wrong.push(format!(
                "{expression}\n  gojq {:?}\n  ours {:?}",
                printed(&expected),
                printed(&found)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len() / 2, wrong.join("\n"));
}
