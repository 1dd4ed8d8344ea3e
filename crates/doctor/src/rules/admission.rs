//! A field that admission changes on its way into the cluster.

use std::collections::HashSet;

use lynceus_diff::Origin;
use lynceus_object::{GroupKind, Object, ObjectKey, Str, Value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::links::kind::is_plural;
use crate::rules::Rule;
use crate::rules::difference::{self, Fields};
use crate::rules::ownership;
use crate::rules::written_field::{leave_out, subject};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1104",
    title: "A field is changed on its way into the cluster",
    explanation: "\
What was applied is not what stands in the cluster, and nobody has written it since: a mutating webhook or another part of
admission changes it. Each sync applies it again, and it is changed again.

## Why
Sidecar injectors, policy engines and cloud providers change objects as they come in.

## Example
```
Deployment web: spec.template.metadata.labels.policy differs; webhook defaults.policy.example.org changes Deployments
```

## What to do
Leave the field out of the comparison, or write into Git what comes out. If the webhook should not touch the object, exclude it
there.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let shared = ownership::shared(case);
    let shared: HashSet<(&str, &ObjectKey)> = shared.iter().map(|one| (one.server, &one.key)).collect();
    for app in case.apps() {
        let mut used = HashSet::new();
        // What two applications want is as the other one wrote it, by the same hand.
        let pick = |key: &ObjectKey, field: &lynceus_diff::FieldChange| {
            let is_shared = shared.contains(&(app.server(), key));
            (field.origin == Origin::Admission && !is_shared).then(Str::default)
        };
        for ((kind, _), fields) in difference::fields(app, pick) {
            if let Some(subject) = subject(app, &kind, &fields, &mut used) {
                findings.add(found(case, app, &kind, &fields, subject));
            }
        }
    }
}

fn found(
    case: &Case<'_>,
    app: &App<'_>,
    kind: &GroupKind,
    fields: &Fields<'_>,
    subject: crate::node::Node,
) -> Finding {
    let hooks = webhooks(case, app.server(), kind);
    let by = if hooks.is_empty() { String::new() } else { format!(", as {} may do", words::list(&hooks)) };
    let cause = format!(
        "{} of {} is changed on its way into the cluster{by}",
        fields.named(),
        fields.objects_named()
    );
    let seen = hooks.iter().map(|name| Evidence::seen(format!("webhook {name} is called for {kind}")));
    Finding::new(RULE.code, subject, cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P2)
        .seen(fields.evidence())
        .seen(seen.take(crate::limits::NAMED))
        .affects([app.node()])
        .fix([fields
            .ignore(app, kind, None)
            .why("what admission is for is not lost, and everything else is compared")])
        .fix(leave_out(app, fields))
}

/// The mutating webhooks that are called for a kind.
fn webhooks<'a>(case: &Case<'a>, server: &str, kind: &GroupKind) -> Vec<&'a str> {
    let configurations =
        case.of_kind(server, "admissionregistration.k8s.io", "MutatingWebhookConfiguration").iter();
    let hooks = configurations.flat_map(|one: &&'a Object| one.value().items_at(&["webhooks"]));
    hooks
        .filter(|hook| hook.items_at(&["rules"]).iter().any(|rule| is_for(rule, kind)))
        .filter_map(|hook| hook.str_at(&["name"]))
        .collect()
}

fn is_for(rule: &Value, kind: &GroupKind) -> bool {
    let texts = |field| rule.items_at(&[field]).iter().filter_map(Value::as_str);
    let group = texts("apiGroups").any(|one| one == "*" || one == kind.group);
    let resource = texts("resources").any(|one| {
        let one = one.split('/').next().unwrap_or_default();
        one == "*" || is_plural(one, &kind.kind)
    });
    group && resource
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn rules_of_webhooks_name_groups_and_resources() {
        let kind = GroupKind::new("apps", "Deployment");
        assert!(is_for(&value!({"apiGroups": ["apps"], "resources": ["deployments"]}), &kind));
        assert!(is_for(&value!({"apiGroups": ["*"], "resources": ["*/*"]}), &kind));
        assert!(!is_for(&value!({"apiGroups": [""], "resources": ["pods"]}), &kind));
    }
}
