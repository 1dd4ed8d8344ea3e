//! Objects in, findings out. A case is a title, a manifest, for changes a merge patch after `=>`, and
//! the findings after `!`; a finding that ends in `…` is compared up to there.

use lynceus_object::{patch, yaml};

use super::*;
use crate::kinds;

fn object(text: &str) -> (&'static Resource, Object) {
    let mut object = Object::new(yaml::parse(text.as_bytes()).expect(text)).expect("a map");
    let resource = kinds::resources().iter().find(|resource| resource.kind == object.kind()).expect(text);
    object.set(&["apiVersion"], resource.api_version());
    object.set(&["metadata", "resourceVersion"], "1");
    kinds::default(resource, &mut object);
    (resource, object)
}

fn check(cases: &str, found: impl Fn(&str) -> Report) {
    for case in cases.split("\n\n") {
        let mut expected = Vec::new();
        let mut text = String::new();
        for line in case.lines() {
            match line.strip_prefix("! ") {
                Some(finding) => expected.push(finding),
                None => text.push_str(&format!("{line}\n")),
            }
        }
        let found: Vec<String> = found(&text).into_errors().iter().map(ToString::to_string).collect();
        let agree = |(found, expected): (&String, &&str)| match expected.strip_suffix('…') {
            Some(start) => found.replace('\n', " ").starts_with(start),
            None => found == expected,
        };
        let all = found.len() == expected.len() && found.iter().zip(&expected).all(agree);
        assert!(all, "{text}\nfound:\n{}\nexpected:\n{}", found.join("\n"), expected.join("\n"));
    }
}

#[test]
fn new_objects_that_break_a_rule_are_refused() {
    check(include_str!("cases.txt"), |text| {
        let (resource, object) = object(text);
        let mut report = Report::default();
        create(resource, &object, &mut report);
        report
    });
}

#[test]
fn changes_that_break_a_rule_are_refused() {
    check(include_str!("changes.txt"), |text| {
        let (manifest, change) = text.split_once("=> ").expect("a change");
        let (resource, old) = object(manifest);
        let change = yaml::parse(change.as_bytes()).expect(change);
        let new = Object::new(patch::merge(old.value(), &change).expect("a patch")).expect("a map");
        let mut report = Report::default();
        update(&resource.kind, resource, &new, &old, &mut report);
        report
    });
}

#[test]
fn objects_in_order_are_let_through() {
    for text in [
        "kind: Pod\nmetadata: {name: p, namespace: d}\nspec: {containers: [{name: c, image: x}]}",
        "kind: Namespace\nmetadata: {name: front}",
        "kind: Lease\nmetadata: {name: l, namespace: d}\nspec: {holderIdentity: me}",
        "kind: ClusterRole\nmetadata: {name: 'system:node'}\nrules: [{verbs: ['*'], nonResourceURLs: ['*']}]",
    ] {
        let (resource, object) = object(text);
        let mut report = Report::default();
        create(resource, &object, &mut report);
        let found: Vec<String> = report.into_errors().iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{text}\n{}", found.join("\n"));
    }
}
