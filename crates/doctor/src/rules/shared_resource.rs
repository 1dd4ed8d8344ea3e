//! Two applications want one object.

use std::collections::BTreeMap;

use lynceus_object::{ObjectKey, Str};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::snapshot::Wanted;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0101",
    title: "Two applications want one object",
    explanation: "\
Two or more applications have the same object in their sources. Whoever synced last owns it, the other is OutOfSync from then
on, and if one of them is deleted or stops wanting it the object goes although the other needs it.

## Why
A manifest was copied beside a chart that makes the same object, or two charts of one name make it.

## Example
```
application grafana-prod            makes ConfigMap grafana-prod from a chart
application monitoring-secrets-prod has it in environments/prod/secrets/grafana-configmap.yaml
```

## What to do
Keep the object in one application. Remove it where it was copied, and keep it where a chart or operator makes it: that one
brings it up to date by itself.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut wanted: BTreeMap<(&str, ObjectKey), Vec<(&App<'_>, &Wanted)>> = BTreeMap::new();
    for app in case.apps() {
        for one in app.wanted().iter().filter(|one| !one.object.name().is_empty()) {
            wanted.entry((app.server(), one.object.key())).or_default().push((app, one));
        }
    }
    for ((server, key), mut owners) in wanted {
        owners.dedup_by(|a, b| a.0.name == b.0.name);
        // Namespaces are brought along by many on purpose, and nobody minds.
        if owners.len() > 1 && !(key.group.is_empty() && key.kind == "Namespace") {
            findings.add(found(server, key, &owners));
        }
    }
}

fn found(server: &str, key: ObjectKey, owners: &[(&App<'_>, &Wanted)]) -> Finding {
    let names = words::list(owners.iter().map(|(app, _)| app.name.name.as_str()));
    let cause = format!("{} {} is wanted by {names}, and only one can have it", key.kind, key.name);
    let evidence = owners.iter().filter_map(|(app, one)| app.file(one, format!("{} wants it", app.name)));
    let keeper = keeper(owners);
    let fixes = owners.iter().filter(|(app, _)| app.name != keeper.0.name).map(|(app, _)| {
        let title = format!("Keep it in {} and remove it from {}", keeper.0.name, app.name);
        Fix::new(title)
            .git(&app.name, Place::Remove { object: key.clone() })
            .risk(
                Risk::Medium,
                format!("{} {}; what {} says of it holds from then on", key.kind, key.name, keeper.0.name),
            )
            .why("the other one has it in a source that many objects come from")
            .verify(format!("lynceus app get {}", keeper.0.name))
    });
    Finding::new(RULE.code, Node::object(server, key.clone()), cause)
        .of(owners.first().map(|(app, _)| app.name.clone()))
        .severity(Severity::P2)
        .seen(evidence)
        .seen(owners.iter().flat_map(|(app, _)| warned(app)))
        .affects(owners.iter().map(|(app, _)| app.node()))
        .fix(fixes)
}

/// The one that should keep it: the one whose file it does not fill alone, because a chart or overlay makes it there.
fn keeper<'a, 'b>(owners: &'b [(&'b App<'a>, &'b Wanted)]) -> &'b (&'b App<'a>, &'b Wanted) {
    let weight = |(app, one): &&(&App<'_>, &Wanted)| {
        let template = one.span.as_ref().is_some_and(|span| span.file.as_str().contains("/templates/"));
        (template, app.wanted().len())
    };
    owners.iter().max_by_key(weight).unwrap_or(&owners[0])
}

/// What the application is told about it.
fn warned(app: &App<'_>) -> Option<Evidence> {
    let told = |kind: &Str| kind == "SharedResourceWarning";
    let conditions = &app.application().status.conditions;
    let condition = conditions.iter().find(|one| told(&one.type_.as_str().into()))?;
    Some(app.status(format!("SharedResourceWarning: {}", condition.message)))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_config_map_that_two_applications_want_is_found() {
        let found = check(
            "LYN0101",
            "
@app grafana OutOfSync Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: grafana, namespace: monitoring}
---
apiVersion: v1
kind: Service
metadata: {name: grafana, namespace: monitoring}
@app secrets OutOfSync Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: grafana, namespace: monitoring}
",
        );
        assert_eq!(
            found,
            "P2 LYN0101/grafana/ConfigMap/grafana: ConfigMap grafana is wanted by grafana and secrets, and only one can \
             have it\n  grafana.yaml:1: grafana wants it\n  secrets.yaml:1: secrets wants it\n  fix: Keep it in grafana \
             and remove it from secrets\n"
        );
    }

    #[test]
    fn objects_of_one_name_in_two_namespaces_are_two() {
        let text = "
@app a Synced Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: one}
@app b Synced Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: x, namespace: two}
";
        assert_eq!(check("LYN0101", text), "");
    }
}
