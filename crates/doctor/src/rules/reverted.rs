//! Edits of an Application that its ApplicationSet takes back.

use std::collections::BTreeMap;

use lynceus_object::{Object, Str};

use crate::case::{Case, message};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::sets;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1403",
    title: "An ApplicationSet takes back what others write into its Applications",
    explanation: "\
Somebody, or a program, changes an Application that an ApplicationSet makes, and the set writes back what its template says. The change is
lost, and where a program makes it the two go on for ever: each time the Application is compared, and perhaps synced, anew.

## Why
The fields of such an Application are decided by the template: what is set by `lynceus app set`, in the page, by an image updater or with
kubectl does not last. Automation that was switched off for a moment comes back by itself, too.

## Example
```
event reverted of ApplicationSet argocd/shops, 12 times: reverted Application \"shop-eu\": spec.source.targetRevision
```

## What to do
Make the change where the set takes it from: in its template, or in the parameters of the element. If others are meant to decide a field, say so:
`ignoreApplicationDifferences` with the field's pointer, or `preservedFields` for annotations and labels.
",
    check,
};

/// As often as this within the time that events are kept, nobody's hand does it.
const OFTEN: i64 = 3;

/// A controller that does not tell one from the other writes an Application as often as this only against somebody.
const VERY_OFTEN: i64 = 10;

fn check(case: &Case<'_>, findings: &mut Findings) {
    let home = case.servers().next().unwrap_or_default();
    for set in sets::sets(case) {
        for (name, told) in reverts(case.events(home, &set.key())) {
            let app = AppName::new(set.namespace(), name);
            if case.app(&app).is_none() {
                continue;
            }
            let often = if told.count == 1 { "once".to_owned() } else { format!("{} times", told.count) };
            let cause = format!(
                "ApplicationSet {} has taken back what somebody wrote into application {app}, {often}",
                set.name()
            );
            let severity = if told.count >= OFTEN { Severity::P2 } else { Severity::P3 };
            let evidence = Evidence::Event {
                object: set.key(),
                reason: told.reason,
                message: words::quote(&told.message),
                count: told.count,
            };
            let template = Fix::new("Make the change where the set takes it from")
                .person(format!(
                    "the template or the parameters of ApplicationSet {}/{}",
                    set.namespace(),
                    set.name()
                ))
                .risk(Risk::Low, format!("the Applications of {} that the change is for", set.name()))
                .verify(format!("lynceus appset preview {}/{}", set.namespace(), set.name()));
            let leave = Fix::new("Have the set leave the field to others")
                .person(format!(
                    "spec.ignoreApplicationDifferences of ApplicationSet {}/{}{}",
                    set.namespace(),
                    set.name(),
                    pointers(&told.fields)
                ))
                .risk(Risk::Medium, "nobody puts the field right any more")
                .why("right if somebody else is meant to decide it, such as an image updater");
            findings.add(
                Finding::new(RULE.code, Node::Application(app.clone()), cause)
                    .of(Some(app))
                    // What one program writes into all of them is one slip.
                    .alike(Some(format!("{}/{}", set.namespace(), set.name())))
                    .severity(severity)
                    .seen([evidence])
                    .fix([template, leave]),
            );
        }
    }
}

/// How often an Application was written back, and what is said of it last.
struct Told {
    count: i64,
    reason: Str,
    message: String,
    fields: Vec<String>,
}

/// The Applications that were written back, by the events of their set.
fn reverts(events: &[&Object]) -> BTreeMap<String, Told> {
    let mut by_name: BTreeMap<(String, &str), Told> = BTreeMap::new();
    for event in events {
        let reason = event.value().str_at(&["reason"]).unwrap_or_default();
        let text = message(event);
        let Some((_, rest)) = text.split_once(" Application \"") else { continue };
        let Some((name, fields)) = rest.split_once('"') else { continue };
        let count = event.value().int_at(&["count"]).unwrap_or(1).max(1);
        let known = by_name.entry((name.to_owned(), reason)).or_insert_with(|| Told {
            count: 0,
            reason: reason.into(),
            message: String::new(),
            fields: Vec::new(),
        });
        known.count += count;
        text.clone_into(&mut known.message);
        for field in
            fields.trim_start_matches(':').split(',').map(str::trim).filter(|field| !field.is_empty())
        {
            if !known.fields.iter().any(|one| one == field) {
                known.fields.push(field.to_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    for ((name, reason), told) in by_name {
        let counts = match reason {
            "reverted" => true,
            "updated" => told.count >= VERY_OFTEN,
            _ => false,
        };
        // What says that it was taken back says more than what says that it was written.
        if counts && (reason == "reverted" || !found.contains_key(&name)) {
            found.insert(name, told);
        }
    }
    found
}

/// `: jsonPointers: [/spec/source/targetRevision]`.
fn pointers(fields: &[String]) -> String {
    let plain = fields.iter().filter(|field| !field.contains('['));
    let all: Vec<String> = plain.map(|field| format!("/{}", field.replace('.', "/"))).collect();
    if all.is_empty() { String::new() } else { format!(": jsonPointers: [{}]", all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots_with_fixes};

    const REVERTED: &str = "@app shop-eu Synced Healthy
@live
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: shops, namespace: argocd}
---
apiVersion: v1
kind: Event
metadata: {name: e1, namespace: argocd}
involvedObject: {apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, namespace: argocd, name: shops}
reason: reverted
message: 'reverted Application \"shop-eu\": spec.source.targetRevision'
count: 4
";

    #[test]
    fn edits_that_are_taken_back_are_found_with_the_field() {
        assert_eq!(
            check("LYN1403", REVERTED),
            "P2 LYN1403/shop-eu/Application/shop-eu: ApplicationSet shops has taken back what somebody wrote into application shop-eu, 4 \
             times\n  event reverted of ApplicationSet argocd/shops, 4 times: reverted Application \"shop-eu\": \
             spec.source.targetRevision\n  fix: Make the change where the set takes it from\n  fix: Have the set leave the field to others\n"
        );
        let fixes = roots_with_fixes(REVERTED);
        assert!(fixes.contains("jsonPointers: [/spec/source/targetRevision]"), "{fixes}");
        let updated = REVERTED.replace("reverted", "updated").replace("count: 4", "count: 30");
        assert!(check("LYN1403", &updated).starts_with("P2 LYN1403"), "Argo CD says no more than that");
    }

    #[test]
    fn applications_that_follow_their_template_are_not() {
        assert_eq!(check("LYN1403", &REVERTED.replace("reverted", "updated")), "");
        assert_eq!(
            check("LYN1403", &REVERTED.replace("reverted", "created").replace("count: 4", "count: 30")),
            ""
        );
        assert_eq!(check("LYN1403", &REVERTED.replace("@app shop-eu", "@app other")), "");
    }
}
