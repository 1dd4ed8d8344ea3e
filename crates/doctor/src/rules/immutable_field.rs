//! A field that cannot be changed while its object is there.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::{Options, annotations};
use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Action, Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1101",
    title: "A field cannot be changed while its object is there",
    explanation: "\
Git has changed a field that Kubernetes does not let anybody change. Every sync fails on it, and the rest of the wave waits.

## Why
Selectors of workloads, templates of Jobs and of volume claims, classes of volumes, cluster addresses and bindings are fixed when
the object is made. A chart or a label that is added to everything changes them all the same.

## Example
```
Deployment.apps \"web\" is invalid: spec.selector: Invalid value: ...: field is immutable
```

## What to do
Put the old value back, if nothing needs the new one. Otherwise let the sync delete the object and make it anew (Replace=true and
Force=true), or delete it yourself. Mind what is lost with it: pods for a while, a volume's data for ever.
",
    check,
};

/// What servers say of a field that nobody may change.
const WORDS: [&str; 7] = [
    "immutable",
    "may not change once set",
    "for fields other than",
    "may not change fields other than",
    "cannot change roleRef",
    "are forbidden",
    "can not be unset",
];

/// The parts of a StatefulSet's spec that may be changed.
const OPEN: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps().filter(|app| !is_past(app)) {
        let mut told: BTreeMap<ObjectKey, &str> = BTreeMap::new();
        for (key, text) in app.complaints() {
            if is_immutable(text)
                && let Some(key) = key.or_else(|| named(app, text))
            {
                told.entry(key).or_insert(text);
            }
        }
        for (key, text) in told {
            findings_of(case, app, key, text).into_iter().for_each(|one| findings.add(one));
        }
    }
}

/// Whether what went wrong was of another commit than Git has now.
fn is_past(app: &App<'_>) -> bool {
    app.failed_sync().is_some_and(|state| app.is_of_head(state) == Some(false))
}

fn is_immutable(text: &str) -> bool {
    let is_update = |text: &str| text.contains("updates to ") || !text.contains("are forbidden");
    WORDS.iter().any(|words| text.contains(words)) && is_update(text)
}

/// `Deployment.apps "web" is invalid: …`: the object that a text is about, as the application lists it.
fn named(app: &App<'_>, text: &str) -> Option<ObjectKey> {
    let (before, after) = text.split_once(" \"")?;
    let kind = before.rsplit([' ', ':']).next()?;
    let name = after.split('"').next()?;
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let fits = |key: &ObjectKey| key.kind == kind && key.group == group && key.name == name;
    app.resources().map(|(key, _)| key).find(fits)
}

fn findings_of(case: &Case<'_>, app: &App<'_>, key: ObjectKey, text: &str) -> Option<Finding> {
    let paths = paths(case, app, &key, text);
    let live = case.live(app.server(), &key);
    let wanted = app.wants(&key).map(|one| one.object.value());
    // Git has it as the cluster does: the trouble is over.
    let differs = |path: &FieldPath| match (live, wanted) {
        (Some(live), Some(wanted)) => path.get(wanted) != path.get(live.value()),
        _ => true,
    };
    if !paths.is_empty() && !paths.iter().any(differs) {
        return None;
    }
    let named = match paths.is_empty() {
        true => "a field".to_owned(),
        false => words::list(paths.iter().map(ToString::to_string)),
    };
    let cause = format!("{named} of {} {} cannot be changed while the object is there", key.kind, key.name);
    Some(
        Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
            .of(Some(app.name.clone()))
            .seen([app.status(text)])
            .seen(wanted.and_then(|_| app.file(app.wants(&key)?, "Git has another value")))
            .seen(paths.iter().filter_map(|path| stands(case, app, &key, path)).take(crate::limits::NAMED))
            .affects([app.node()])
            .fix(fixes(case, app, &key, &paths)),
    )
}

fn stands(case: &Case<'_>, app: &App<'_>, key: &ObjectKey, path: &FieldPath) -> Option<Evidence> {
    let value = path.get(case.live(app.server(), key)?.value())?;
    Some(Evidence::Field { object: key.clone(), path: path.clone(), value: words::shown(value) })
}

/// The fields: as the server names them, or, where it names all of a spec, those that differ and may not.
fn paths(case: &Case<'_>, app: &App<'_>, key: &ObjectKey, text: &str) -> Vec<FieldPath> {
    let named: Vec<FieldPath> = fields(text).iter().filter_map(|one| FieldPath::parse(one).ok()).collect();
    let spec = FieldPath::fields(["spec"]);
    if named != [spec.clone()] {
        return named;
    }
    let (Some(wanted), Some(live)) = (app.wants(key), case.live(app.server(), key)) else { return named };
    let parts = wanted.object.at(&["spec"]).and_then(Value::as_map);
    let names: BTreeSet<&str> =
        parts.into_iter().flat_map(|map| map.iter()).map(|(name, _)| name.as_str()).collect();
    let closed = names.into_iter().filter(|name| !OPEN.contains(name)).map(|name| spec.field(name));
    let differing = closed.filter(|path| path.get(wanted.object.value()) != path.get(live.value()));
    // What the server fills in differs as well; where Git says less than the cluster has, it is the same.
    let changed: Vec<FieldPath> = differing
        .filter(|path| !is_within(path.get(wanted.object.value()), path.get(live.value())))
        .collect();
    if changed.is_empty() { named } else { changed }
}

/// Whether everything that one value says stands in the other.
fn is_within(less: Option<&Value>, more: Option<&Value>) -> bool {
    match (less, more) {
        (Some(Value::Map(less)), Some(Value::Map(more))) => {
            less.iter().all(|(name, value)| is_within(Some(value), more.get(name)))
        }
        (Some(Value::Seq(less)), Some(Value::Seq(more))) => {
            less.len() == more.len() && less.iter().zip(more.iter()).all(|(a, b)| is_within(Some(a), Some(b)))
        }
        (less, more) => less == more,
    }
}

/// The fields that a server's words call fixed: `spec.selector: Invalid value: {…}: field is immutable`.
fn fields(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((at, words)) =
        WORDS.iter().filter_map(|words| Some((rest.find(words)?, *words))).min_by_key(|(at, _)| *at)
    {
        let before = &rest[..at];
        let sort = [": Invalid value: ", ": Forbidden: "].iter().filter_map(|sort| before.rfind(sort)).max();
        let field = sort.and_then(|end| before[..end].rsplit([' ', '\n']).next());
        let field = field.map(|field| field.trim_start_matches('[').to_owned());
        found.extend(field.filter(|field| !field.is_empty() && !found.contains(field)));
        rest = &rest[at + words.len()..];
    }
    found
}

fn fixes(case: &Case<'_>, app: &App<'_>, key: &ObjectKey, paths: &[FieldPath]) -> Vec<Fix> {
    // The template of a Job that is there has the server's own labels in it, which nobody may write.
    let back = back(case, app, key, paths).filter(|_| key.kind != "Job");
    let (anew, delete) = (anew(app, key), delete(app, key));
    let is_cheap = matches!(key.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
    match back {
        Some(back) if is_cheap => vec![anew, back, delete],
        back => back.into_iter().chain([anew, delete]).collect(),
    }
}

fn back(case: &Case<'_>, app: &App<'_>, key: &ObjectKey, paths: &[FieldPath]) -> Option<Fix> {
    let live = case.live(app.server(), key)?;
    let fix = Fix::new(format!(
        "Put the old value of {} back into Git",
        words::list(paths.iter().map(ToString::to_string))
    ))
    .risk(Risk::Low, format!("{} {} stays as it is", key.kind, key.name))
    .why("nothing is deleted; right if nothing needs the new value")
    .verify(format!("lynceus app sync {}", app.name));
    let fix = paths.iter().fold(fix, |fix, path| {
        let value = path.get(live.value()).cloned();
        fix.git(&app.name, Place::Field { object: key.clone(), path: path.clone(), value })
    });
    let fix = labels(app, live, paths).into_iter().fold(fix, |fix, (path, value)| {
        fix.git(&app.name, Place::Field { object: key.clone(), path, value: Some(value) })
    });
    fix.has_edits().then_some(fix)
}

/// The labels of the pods that a selector asks for once it is as it was, where Git has changed them with it.
fn labels(app: &App<'_>, live: &Object, paths: &[FieldPath]) -> Vec<(FieldPath, Value)> {
    let selector = FieldPath::fields(["spec", "selector"]);
    let labels = FieldPath::fields(["spec", "template", "metadata", "labels"]);
    let wanted = app.wants(&live.key()).and_then(|one| labels.get(one.object.value()));
    let selected = live.at(&["spec", "selector", "matchLabels"]).and_then(Value::as_map);
    if wanted.is_none() || !paths.iter().any(|path| path.segments().starts_with(selector.segments())) {
        return Vec::new();
    }
    let lacks = |(name, value): &(&Str, &Value)| wanted.and_then(|all| all.get(name)) != Some(value);
    let lacking = selected.into_iter().flat_map(|map| map.iter()).filter(lacks);
    lacking.map(|(name, value)| (labels.field(name.clone()), value.clone())).collect()
}

/// What goes when an object is deleted and made anew.
fn lost(key: &ObjectKey) -> (Risk, String) {
    let name = format!("{} {}", key.kind, key.name);
    match key.kind.as_str() {
        "PersistentVolumeClaim" | "PersistentVolume" => {
            (Risk::High, format!("the data of {name} may be lost"))
        }
        "StatefulSet" | "Service" => (Risk::High, format!("{name} is away until it is made anew")),
        "Job" | "RoleBinding" | "ClusterRoleBinding" => {
            (Risk::Low, format!("{name} is deleted and made anew"))
        }
        _ => (Risk::Medium, format!("{name} and its pods are deleted and made anew")),
    }
}

fn anew(app: &App<'_>, key: &ObjectKey) -> Fix {
    let (risk, blast) = lost(key);
    let had = app.wants(key).map(|one| Options::sync(&one.object)).unwrap_or_default();
    let mut options: Vec<String> = had.iter().map(str::to_owned).collect();
    for option in ["Force=true", "Replace=true"] {
        if !had.has(option) {
            options.push(option.to_owned());
        }
    }
    let path = FieldPath::fields(["metadata", "annotations"]).field(annotations::SYNC_OPTIONS);
    let value = Some(Value::from(options.join(",")));
    Fix::new(format!("Let a sync delete {} {} and make it anew", key.kind, key.name))
        .git(&app.name, Place::Field { object: key.clone(), path, value })
        .risk(risk, blast)
        .why("the new value holds, and Git says how it gets there")
        .verify(format!("lynceus app sync {}", app.name))
}

fn delete(app: &App<'_>, key: &ObjectKey) -> Fix {
    let (risk, blast) = lost(key);
    Fix::new(format!("Delete {} {}, and sync", key.kind, key.name))
        .cluster(Action::Delete { cluster: app.server().to_owned(), object: key.clone() })
        .cluster(Action::Sync { application: app.name.clone() })
        .risk(risk.max(Risk::Medium), blast)
        .why("does the same once, by hand, and has to be done in every cluster")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{check, roots};

    const SELECTOR: &str = "
@app web OutOfSync Healthy
@status {operationState: {phase: Failed, message: one or more objects failed to apply, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: SyncFailed, message: 'Deployment.apps \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable'}]}}}
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: b}}}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: a}}}
";

    #[test]
    fn a_selector_that_git_has_changed_is_found_with_three_ways_out() {
        assert_eq!(
            check("LYN1101", SELECTOR),
            "P1 LYN1101/web/Deployment/web: spec.selector of Deployment web cannot be changed while the object is there\n  \
             status of web: Deployment.apps \"web\" is invalid: spec.selector: Invalid value: \
             {\"matchLabels\":{\"app\":\"b\"}}: field is immutable\n  web.yaml:1: Git has another value\n  Deployment \
             shop/web: spec.selector: {\"matchLabels\":{\"app\":\"a\"}}\n  fix: Put the old value of spec.selector back into \
             Git\n  fix: Let a sync delete Deployment web and make it anew\n  fix: Delete Deployment web, and sync\n"
        );
        assert_eq!(roots(SELECTOR), "P1 LYN1101/web/Deployment/web explains web\n");
    }

    #[test]
    fn the_labels_that_went_with_a_selector_come_back_with_it() {
        let changed = SELECTOR.replace(
            "spec: {selector: {matchLabels: {app: b}}}",
            "spec: {selector: {matchLabels: {app: b}}, template: {metadata: {labels: {app: b}}}}",
        );
        let fixes = crate::tests::roots_with_fixes(&changed);
        let back =
            "    in the files of web: set spec.template.metadata.labels.app of Deployment web to \"a\"\n";
        assert!(fixes.contains(back), "{fixes}");
    }

    #[test]
    fn a_field_that_was_put_back_since_and_other_errors_are_not() {
        assert_eq!(check("LYN1101", &SELECTOR.replace("{app: b}", "{app: a}")), "");
        assert_eq!(check("LYN1101", &SELECTOR.replace("field is immutable", "must be set")), "");
    }

    #[test]
    fn the_fields_of_a_set_are_told_by_what_differs() {
        let text = SELECTOR
            .replace("Deployment.apps", "StatefulSet.apps")
            .replace("kind: Deployment", "kind: StatefulSet")
            .replace(
                "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable",
                "spec: Forbidden: updates to statefulset spec for fields other than ''replicas'', ''template'' are forbidden",
            );
        assert!(check("LYN1101", &text).contains(": spec.selector of StatefulSet web cannot be changed"));
    }

    #[test]
    fn fields_are_found_in_the_servers_words() {
        let job = "Job.batch \"j\" is invalid: [spec.completions: Invalid value: 2: field is immutable, spec.template: \
                   Invalid value: {}: field is immutable]";
        assert_eq!(fields(job), ["spec.completions", "spec.template"]);
        assert!(is_immutable("roleRef: Invalid value: x: cannot change roleRef"));
        assert!(!is_immutable("pods \"a\" is forbidden: exceeded quota, updates are forbidden"));
    }
}
