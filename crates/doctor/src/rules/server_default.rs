//! A field that the server fills in.

use std::collections::HashSet;

use lynceus_diff::Origin;
use lynceus_object::Str;

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::rules::difference::{self, Fields};
use crate::rules::written_field::subject;

pub(super) const RULE: Rule = Rule {
    code: "LYN1103",
    title: "A field is filled in by the server",
    explanation: "\
The application is OutOfSync because of a field that nobody has written: the API server, or the definition of a custom kind, fills
it in where nothing is said.

## Why
Defaults are part of what an object means, and not of what Git has. Most are known and passed over; those of custom kinds and
of new releases are not.

## Example
```
Gadget web: spec.mode: Fast is there and not in Git
```

## What to do
Write the value into Git, where it does no harm. Or leave the field out of the comparison.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let mut used = HashSet::new();
        let pick =
            |_: &_, field: &lynceus_diff::FieldChange| (field.origin == Origin::Default).then(Str::default);
        for ((kind, _), fields) in difference::fields(app, pick) {
            let Some(subject) = subject(app, &kind, &fields, &mut used) else { continue };
            let cause = format!(
                "{} of {} is filled in by the server and not in Git",
                fields.named(),
                fields.objects_named()
            );
            let ignore = fields.ignore(app, &kind, None).why("right where the default is to stay a default");
            findings.add(
                Finding::new(RULE.code, subject, cause)
                    .of(Some(app.name.clone()))
                    .severity(Severity::P2)
                    .seen(fields.evidence())
                    .affects([app.node()])
                    .fix([write(app, &fields), ignore]),
            );
        }
    }
}

fn write(app: &App<'_>, fields: &Fields<'_>) -> Fix {
    let fix = Fix::new(format!("Write {} into Git as it is", fields.named()))
        .risk(Risk::Low, "nothing in the cluster changes")
        .why("what is in Git is compared like everything else")
        .verify(format!("lynceus app diff {}", app.name));
    fields.all.iter().fold(fix, |fix, (key, field)| {
        let value = field.live.clone();
        fix.git(&app.name, Place::Field { object: key.clone(), path: field.path.clone(), value })
    })
}

#[cfg(test)]
mod tests {
    use lynceus_diff::{FieldChange, Origin, Update, Verdict};
    use lynceus_object::{FieldPath, value};

    use crate::tests::{check_snapshot, snapshot};

    /// A comparison that found one field of such an origin.
    fn found(code: &str, origin: Origin) -> String {
        let mut snapshot = snapshot(
            "
@app web OutOfSync Healthy
@compared
apiVersion: example.org/v1
kind: Gadget
metadata: {name: web, namespace: shop}
@live
apiVersion: example.org/v1
kind: Gadget
metadata: {name: web, namespace: shop}
spec: {mode: Fast}
",
        );
        let change = &mut snapshot.applications[0].changes.changes[0];
        let object = change.pair.live().unwrap().clone();
        change.verdict = Verdict::Update(Update {
            live: object.clone(),
            predicted: object,
            fields: vec![FieldChange {
                path: FieldPath::fields(["spec", "mode"]),
                desired: None,
                live: Some(value!("Fast")),
                writer: None,
                origin,
            }],
        });
        check_snapshot(code, &snapshot)
    }

    #[test]
    fn a_field_that_the_server_fills_in_is_found() {
        assert_eq!(
            found("LYN1103", Origin::Default),
            "P2 LYN1103/web/Gadget/web: spec.mode of Gadget web is filled in by the server and not in Git\n  Gadget \
             shop/web: spec.mode: Fast\n  fix: Write spec.mode into Git as it is\n  fix: Leave spec.mode of Gadget out of \
             the comparison\n"
        );
    }

    #[test]
    fn a_field_that_git_has_changed_is_not() {
        assert_eq!(found("LYN1103", Origin::Source), "");
    }

    #[test]
    fn what_admission_changes_is_another_rules() {
        assert_eq!(found("LYN1103", Origin::Admission), "");
        assert_eq!(
            found("LYN1104", Origin::Admission),
            "P2 LYN1104/web/Gadget/web: spec.mode of Gadget web is changed on its way into the cluster\n  Gadget shop/web: \
             spec.mode: Fast\n  fix: Leave spec.mode of Gadget out of the comparison\n"
        );
        assert_eq!(found("LYN1104", Origin::Default), "");
    }
}
