//! An object that needs a namespace and is given none.

use std::collections::BTreeMap;

use lynceus_api::ApplicationConditionType;
use lynceus_object::{FieldPath, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0204",
    title: "Objects have no namespace, and their application gives them none",
    explanation: "\
An object of a kind that lives in namespaces names none, and the Application's destination has none either. The application
cannot be compared or synced as a whole.

## Why
The sources were written for `kubectl apply -n`, or a generator of a kustomization makes objects without its namespace.

## Example
```
InvalidSpecError: Namespace for default-install-config-9h2h2b6hbk /v1, Kind=ConfigMap is missing.
```

## What to do
Set spec.destination.namespace of the Application, which holds for all objects that name none; or give the object its namespace
where it is made.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in
        case.apps().filter(|app| app.application().spec.destination.namespace.is_empty() || is_told(app))
    {
        let lacking = lacking(case, app);
        if !lacking.is_empty() {
            findings.add(found(app, &lacking));
        }
    }
}

fn is_told(app: &App<'_>) -> bool {
    told(app).next().is_some()
}

/// What is said of each: `Namespace for settings /v1, Kind=ConfigMap is missing.`
fn told<'a>(app: &App<'a>) -> impl Iterator<Item = (String, &'a str)> + use<'a> {
    app.told(ApplicationConditionType::InvalidSpecError).filter_map(|message| {
        let rest = message.split_once("Namespace for ")?.1;
        let (object, _) = rest.split_once(" is missing")?;
        let (name, kind) = object.split_once(' ')?;
        let kind = kind.split_once("Kind=").map_or(kind, |(_, kind)| kind);
        Some((format!("{kind} {name}"), message))
    })
}

/// The objects that have none, with how that was seen.
fn lacking(case: &Case<'_>, app: &App<'_>) -> BTreeMap<String, Evidence> {
    let mut lacking: BTreeMap<String, Evidence> =
        told(app).map(|(name, message)| (name, app.status(format!("InvalidSpecError: {message}")))).collect();
    let kinds = case.cluster(app.server()).map(|view| &view.kinds);
    let is_housed =
        |kind: &lynceus_object::GroupKind| kinds.is_some_and(|kinds| kinds.get(kind) == Some(&true));
    for one in app.wanted().iter().filter(|one| one.object.namespace().is_empty()) {
        // Generated names are given out in a namespace as well, but nobody can tell them apart here.
        if is_housed(&one.object.group_kind()) && !one.object.name().is_empty() {
            let name = format!("{} {}", one.object.kind(), one.object.name());
            let seen = app.file(one, format!("{name} names no namespace"));
            lacking.entry(name.clone()).or_insert_with(|| {
                seen.unwrap_or_else(|| Evidence::seen(format!("{name} names no namespace")))
            });
        }
    }
    lacking
}

fn found(app: &App<'_>, lacking: &BTreeMap<String, Evidence>) -> Finding {
    let names = words::list(lacking.keys());
    let verb = if lacking.len() == 1 { "has" } else { "have" };
    let cause =
        format!("{names} of {} {verb} no namespace, and the application's destination names none", app.name);
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .seen(lacking.values().take(limits::EVIDENCE).cloned())
        .fix([fix(app)])
}

fn fix(app: &App<'_>) -> Fix {
    let fix = Fix::new(format!("Give application {} a namespace", app.name))
        .risk(Risk::Low, "the objects that name no namespace")
        .why("it holds for every object that names none")
        .verify(format!("lynceus app get {}", app.name));
    match usual(app) {
        Some(namespace) => {
            let path = FieldPath::fields(["spec", "destination", "namespace"]);
            fix.git(&app.name, Place::Application { path, value: Some(Value::from(namespace)) })
        }
        None => fix.person("set spec.destination.namespace of the Application to where its objects belong"),
    }
}

/// The namespace that most of its objects are in.
fn usual(app: &App<'_>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let wanted = app.wanted().iter().map(|one| one.object.namespace().to_owned());
    let listed = app.resources().map(|(key, _)| key.namespace.to_string());
    for namespace in wanted.chain(listed).filter(|namespace| !namespace.is_empty()) {
        *counts.entry(namespace).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(namespace, _)| namespace)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn what_the_status_says_of_objects_without_a_namespace_is_found_once() {
        let text = "
@app common OutOfSync Missing
@spec {destination: {namespace: null}}
@condition InvalidSpecError Namespace for settings-9h2h2b6hbk /v1, Kind=ConfigMap is missing.
@condition InvalidSpecError Namespace for web apps/v1, Kind=Deployment is missing.
";
        assert_eq!(
            check("LYN0204", text),
            "P1 LYN0204/common/Application/common: ConfigMap settings-9h2h2b6hbk and Deployment web of common have no \
             namespace, and the application's destination names none\n  status of common: InvalidSpecError: Namespace for \
             settings-9h2h2b6hbk /v1, Kind=ConfigMap is missing.\n  status of common: InvalidSpecError: Namespace for web \
             apps/v1, Kind=Deployment is missing.\n  fix: Give application common a namespace\n"
        );
    }

    #[test]
    fn what_was_rendered_without_a_namespace_is_found_unless_the_destination_has_one() {
        let text = "
@app common OutOfSync Missing
@spec {destination: {namespace: null}}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
";
        assert!(check("LYN0204", text).contains("common.yaml:1: ConfigMap a names no namespace\n"));
        assert_eq!(check("LYN0204", &text.replace("namespace: null", "namespace: shop")), "");
        assert_eq!(check("LYN0204", &text.replace("kind: ConfigMap", "kind: Gadget")), "");
    }
}
