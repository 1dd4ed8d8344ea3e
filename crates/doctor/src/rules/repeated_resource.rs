//! One object stands twice in the sources of one application.

use std::collections::BTreeMap;

use lynceus_api::ApplicationConditionType;
use lynceus_object::ObjectKey;

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0105",
    title: "One object stands twice in one application",
    explanation: "\
The sources of an application have an object more than once. Only the last one counts; what the others say is lost without a
word.

## Why
A file was copied, a directory is read together with a chart that makes the same, or two sources of the application overlap.

## Example
```
Resource /ConfigMap/shop/settings appeared 2 times among application resources.
```

## What to do
Keep the one that is meant and remove the other.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let repeated = repeated(app);
        if !repeated.is_empty() {
            findings.add(found(app, &repeated));
        }
    }
}

/// The objects that are there more than once, with how that was seen.
fn repeated(app: &App<'_>) -> BTreeMap<ObjectKey, Vec<Evidence>> {
    let mut seen: BTreeMap<ObjectKey, Vec<Evidence>> = BTreeMap::new();
    let mut times: BTreeMap<ObjectKey, usize> = BTreeMap::new();
    for one in app.wanted().iter().filter(|one| !one.object.name().is_empty()) {
        let key = one.object.key();
        *times.entry(key.clone()).or_default() += 1;
        seen.entry(key).or_default().extend(app.file(one, "it stands here"));
    }
    seen.retain(|key, _| times.get(key).is_some_and(|times| *times > 1));
    for message in app.told(ApplicationConditionType::RepeatedResourceWarning) {
        if let Some(key) = parse(message) {
            let told = app.status(format!("RepeatedResourceWarning: {message}"));
            seen.entry(key).or_default().push(told);
        }
    }
    seen
}

/// `Resource apps/Deployment/shop/web appeared 2 times among application resources.`
fn parse(message: &str) -> Option<ObjectKey> {
    let (name, _) = message.strip_prefix("Resource ")?.split_once(" appeared ")?;
    let mut parts = name.split('/');
    let mut next = || parts.next();
    Some(ObjectKey::new(next()?, next()?, next()?, next()?))
}

fn found(app: &App<'_>, repeated: &BTreeMap<ObjectKey, Vec<Evidence>>) -> Finding {
    let names = words::list(repeated.keys().map(|key| format!("{} {}", key.kind, key.name)));
    let verb = if repeated.len() == 1 { "stands" } else { "stand" };
    let cause =
        format!("{names} {verb} more than once in the sources of {}; only the last one counts", app.name);
    let mut keys = repeated.keys();
    let subject = match (keys.next(), keys.next()) {
        (Some(key), None) => Node::object(app.server(), key.clone()),
        _ => app.node(),
    };
    let fix = Fix::new("Keep the one that is meant and remove the other");
    let fix = repeated
        .keys()
        .fold(fix, |fix, key| fix.git(&app.name, Place::Remove { object: key.clone() }))
        .risk(Risk::Low, "what the last one says holds already")
        .verify(format!("lynceus app get {}", app.name));
    Finding::new(RULE.code, subject, cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P3)
        .seen(repeated.values().flatten().take(limits::EVIDENCE).cloned())
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn an_object_that_stands_twice_is_found() {
        let text = "
@app shop Synced Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
@app told Synced Healthy
@condition RepeatedResourceWarning Resource apps/Deployment/shop/web appeared 2 times among application resources.
";
        assert_eq!(
            check("LYN0105", text),
            "P3 LYN0105/shop/ConfigMap/a: ConfigMap a stands more than once in the sources of shop; only the last one \
             counts\n  shop.yaml:1: it stands here\n  shop.yaml:5: it stands here\n  fix: Keep the one that is meant and \
             remove the other\nP3 LYN0105/told/Deployment/web: Deployment web stands more than once in the sources of \
             told; only the last one counts\n  status of told: RepeatedResourceWarning: Resource apps/Deployment/shop/web \
             appeared 2 times among application resources.\n  fix: Keep the one that is meant and remove the other\n"
        );
    }

    #[test]
    fn objects_of_one_name_and_two_kinds_are_two() {
        let text = "
@app shop Synced Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: shop}
";
        assert_eq!(check("LYN0105", text), "");
    }
}
