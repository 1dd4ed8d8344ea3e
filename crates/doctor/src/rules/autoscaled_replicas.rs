//! A number of copies that Git sets and an autoscaler owns.

use std::collections::{BTreeSet, HashMap};

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value, json, split_api_version};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::idle_rule::{self, Misfit};

pub(super) const RULE: Rule = Rule {
    code: "LYN1107",
    title: "Git sets the number of copies, and an autoscaler owns it",
    explanation: "\
A workload has `spec.replicas` in Git and is scaled by an autoscaler. Each sync sets the number back, pods are stopped or started
for nothing, and in between the application is OutOfSync.

## Why
Charts write replicas by default; the autoscaler was added later.

## Example
```
Deployment web: spec.replicas: 2 in Git, 7 in the cluster
HorizontalPodAutoscaler web: scaleTargetRef: Deployment web
```

## What to do
Take replicas out of Git: Kubernetes leaves a field alone that nobody names. Most charts do so when their own autoscaling is
switched on.
",
    check,
};

/// Who scales what: by cluster and workload the autoscaler, as it is there or wanted.
pub(super) struct Scalers(HashMap<(Str, ObjectKey), ObjectKey>);

impl Scalers {
    pub(super) fn new(case: &Case<'_>) -> Self {
        let mut targets = HashMap::new();
        let mut note = |server: &str, scaler: &Object| {
            if let Some(target) = target(scaler) {
                targets.insert((Str::from(server), target), scaler.key());
            }
        };
        for server in case.servers() {
            for (group, kind) in [("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject")] {
                case.of_kind(server, group, kind).iter().for_each(|scaler| note(server, scaler));
            }
        }
        for app in case.apps() {
            app.wanted().iter().for_each(|one| note(app.server(), &one.object));
        }
        Scalers(targets)
    }

    /// The autoscaler of a workload.
    pub(super) fn of(&self, server: &str, workload: &ObjectKey) -> Option<&ObjectKey> {
        self.0.get(&(server.into(), workload.clone()))
    }

    /// Whether a field is the number of copies of a workload, and an autoscaler sets it: then it differs from Git for that reason, whatever
    /// else is off or on.
    pub(super) fn own(&self, server: &str, object: &ObjectKey, path: &FieldPath) -> bool {
        path.to_pointer().as_deref() == Some("/spec/replicas") && self.of(server, object).is_some()
    }

    /// The rules of an application that should leave out what autoscalers set and name something else, by their numbers.
    pub(super) fn slips(&self, case: &Case<'_>, app: &App<'_>) -> BTreeSet<usize> {
        let set = set_by(case, app).into_iter().map(|(key, _)| key);
        let scaled = set.filter(|key| self.of(app.server(), key).is_some() && !is_ignored(app, key));
        scaled.filter_map(|key| Some(slip(app, &key)?.0)).collect()
    }

    /// The workloads of an application whose number of copies differs from what Git sets, because an autoscaler has set it.
    pub(super) fn differing(&self, case: &Case<'_>, app: &App<'_>) -> Vec<ObjectKey> {
        let live = |key: &ObjectKey| case.live(app.server(), key)?.value().int_at(&["spec", "replicas"]);
        let scaled = set_by(case, app).into_iter().filter(|(key, _)| self.of(app.server(), key).is_some());
        scaled
            .filter(|(key, said)| said.is_none_or(|said| live(key) != Some(said)))
            .map(|(key, _)| key)
            .collect()
    }
}

/// What an autoscaler scales.
pub(super) fn target(scaler: &Object) -> Option<ObjectKey> {
    let (api, kind) = match (scaler.group(), scaler.kind()) {
        ("autoscaling", "HorizontalPodAutoscaler") => ("", ""),
        ("keda.sh", "ScaledObject") => ("apps/v1", "Deployment"),
        _ => return None,
    };
    let text = |field, default| scaler.value().str_at(&["spec", "scaleTargetRef", field]).unwrap_or(default);
    let (group, _) = split_api_version(text("apiVersion", api));
    Some(ObjectKey::new(group, text("kind", kind), scaler.namespace(), text("name", "")))
}

fn check(case: &Case<'_>, findings: &mut Findings) {
    let scalers = Scalers::new(case);
    if scalers.0.is_empty() {
        return;
    }
    for app in case.apps() {
        for (key, said) in set_by(case, app) {
            if let Some(scaler) = scalers.of(app.server(), &key)
                && !is_ignored(app, &key)
            {
                findings.add(found(case, app, &key, scaler, said));
            }
        }
    }
}

/// The workloads whose number of copies an application sets, and to what.
fn set_by<'a>(case: &Case<'a>, app: &App<'a>) -> Vec<(ObjectKey, Option<i64>)> {
    if app.delivery.rendered {
        let set = |object: &Object| object.value().int_at(&["spec", "replicas"]);
        let wanted = app.wanted().iter().filter_map(|one| Some((one.object.key(), Some(set(&one.object)?))));
        return wanted.collect();
    }
    // What was applied last tells what Git says.
    let live = app.resources().filter_map(|(key, _)| case.live(app.server(), &key));
    live.filter_map(|object| Some((object.key(), applied(object)?))).collect()
}

/// The number that an apply wrote, if one did and it can be seen.
fn applied(object: &Object) -> Option<Option<i64>> {
    let last = object.annotation(lynceus_api::annotations::LAST_APPLIED);
    if let Some(last) = last.and_then(|text| json::parse(text.as_bytes()).ok()) {
        return last.int_at(&["spec", "replicas"]).map(Some);
    }
    let managers = object.value().items_at(&["metadata", "managedFields"]).iter();
    let ours = |one: &&Value| one.str_at(&["manager"]) == Some(lynceus_api::FIELD_MANAGER);
    let owned = |one: &Value| one.at(&["fieldsV1", "f:spec", "f:replicas"]).is_some();
    managers.filter(ours).any(owned).then_some(None)
}

/// Whether the application leaves the field out of the account already.
fn is_ignored(app: &App<'_>, key: &ObjectKey) -> bool {
    let fits =
        |pattern: &str, text: &str| lynceus_api::Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
    app.application().spec.ignore_differences.iter().any(|rule| {
        let named = rule.name.is_empty() || rule.name == key.name;
        is_of_replicas(rule) && named && fits(&rule.group, &key.group) && fits(&rule.kind, &key.kind)
    })
}

/// Whether a rule leaves out the number of copies.
fn is_of_replicas(rule: &ResourceIgnoreDifferences) -> bool {
    rule.json_pointers.iter().any(|one| matches!(one.as_str(), "/spec/replicas" | "/spec"))
        || rule.jq_path_expressions.iter().any(|one| one.contains("replicas"))
        || rule.managed_fields_managers.iter().any(|one| one == "kube-controller-manager")
}

/// The rule that would leave out the number of copies of a workload if it named what was meant.
fn slip(app: &App<'_>, key: &ObjectKey) -> Option<(usize, Misfit)> {
    let rules = &app.application().spec.ignore_differences;
    let mut all = idle_rule::nearly_for(app, key).into_iter();
    all.find(|(number, _)| rules.get(*number).is_some_and(is_of_replicas))
}

fn found(case: &Case<'_>, app: &App<'_>, key: &ObjectKey, scaler: &ObjectKey, said: Option<i64>) -> Finding {
    let live = case.live(app.server(), key).and_then(|one| one.value().int_at(&["spec", "replicas"]));
    let slip = slip(app, key);
    let hint = slip.as_ref().map(|(number, misfit)| {
        format!(
            "; spec.ignoreDifferences[{number}] of {} should leave them out{}",
            app.name,
            misfit.told().replacen("; its", ", but its", 1)
        )
    });
    let cause = format!(
        "Git sets the replicas of {} {}, and {} {} owns them{}",
        key.kind,
        key.name,
        scaler.kind,
        scaler.name,
        hint.unwrap_or_default()
    );
    let path = FieldPath::fields(["spec", "replicas"]);
    let now = live.map(|number| Evidence::Field {
        object: key.clone(),
        path: path.clone(),
        value: match said {
            Some(said) => format!("{number} in the cluster, {said} in Git"),
            None => number.to_string(),
        },
    });
    let differs = live.is_some() && said.is_some() && live != said;
    let fix = Fix::new(format!("Take replicas of {} {} out of Git", key.kind, key.name))
        .git(&app.name, Place::Field { object: key.clone(), path, value: None })
        .risk(Risk::Low, "the autoscaler decides, as it does already; a new workload begins with one copy")
        .why("a field that Git does not name is left alone")
        .verify(format!("lynceus app diff {}", app.name));
    let finding = Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .severity(if differs { Severity::P2 } else { Severity::P3 })
        .seen(now)
        .seen([Evidence::seen(format!("{} {} scales {} {}", scaler.kind, scaler.name, key.kind, key.name))])
        .fix(slip.and_then(|(_, misfit)| idle_rule::mend(app, std::iter::once(&misfit))))
        .fix([fix]);
    if app.is_out_of_sync() && differs { finding.affects([app.node()]) } else { finding }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::tests::check;

    /// Two copies in Git, seven by an autoscaler.
    pub(in crate::rules) const SCALED: &str = "
@app web OutOfSync Healthy
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 7}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
";

    #[test]
    fn replicas_that_an_autoscaler_owns_are_found() {
        assert_eq!(
            check("LYN1107", SCALED),
            "P2 LYN1107/web/Deployment/web: Git sets the replicas of Deployment web, and HorizontalPodAutoscaler web owns \
             them\n  Deployment shop/web: spec.replicas: 7 in the cluster, 2 in Git\n  HorizontalPodAutoscaler web scales \
             Deployment web\n  fix: Take replicas of Deployment web out of Git\n"
        );
    }

    #[test]
    fn a_rule_that_should_leave_them_out_and_names_something_else_is_told_with_them() {
        let text = SCALED.replace(
            "@app web OutOfSync Healthy",
            "@app web OutOfSync Healthy\n@compared\n@spec {ignoreDifferences: [{group: extensions, kind: Deployment, jsonPointers: \
             [/spec/replicas]}]}",
        );
        assert_eq!(
            check("LYN1107", &text),
            "P2 LYN1107/web/Deployment/web: Git sets the replicas of Deployment web, and HorizontalPodAutoscaler web owns them; \
             spec.ignoreDifferences[0] of web should leave them out, but its group extensions fits nothing, there is apps\n  Deployment \
             shop/web: spec.replicas: 7 in the cluster, 2 in Git\n  HorizontalPodAutoscaler web scales Deployment web\n  fix: Name \
             what is there\n  fix: Take replicas of Deployment web out of Git\n"
        );
        assert_eq!(check("LYN1106", &text), "", "one trouble has one name");
        let other = text.replace("/spec/replicas]", "/spec/paused]");
        assert!(check("LYN1106", &other).starts_with("P3 LYN1106"), "what it is for is not theirs");
        assert!(!check("LYN1107", &other).contains("ignoreDifferences"));
    }

    #[test]
    fn a_workload_whose_replicas_are_not_in_git_or_are_passed_over_is_not() {
        assert_eq!(check("LYN1107", &SCALED.replace("spec: {replicas: 2}", "spec: {paused: false}")), "");
        let ignored = SCALED.replace(
            "@app web OutOfSync Healthy",
            "@app web Synced Healthy\n@spec {ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]}",
        );
        assert_eq!(check("LYN1107", &ignored), "");
        assert_eq!(
            check("LYN1107", &SCALED.replace("kind: Deployment, name: web", "kind: Deployment, name: api")),
            ""
        );
    }
}
