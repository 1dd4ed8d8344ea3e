//! An ignore rule that hides a whole part of its objects.

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{Place as RulePlace, RuleVerdict};
use lynceus_object::{FieldPath, Segment};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1105",
    title: "An ignore rule hides a whole part of its objects",
    explanation: "\
A rule leaves out all of `spec` or `data`, or the whole object. Whatever is changed there, in Git or in the cluster, is never
seen again: the application is Synced and wrong.

## Why
It was the quickest way to be rid of one field that an operator writes.

## Example
```
ignoreDifferences:
- {group: networking.istio.io, kind: Gateway, jsonPointers: [/spec]}
```

## What to do
Name the fields that are written by others, one by one, or name their writer (`managedFieldsManagers`).
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let rules = &app.application().spec.ignore_differences;
        let wide: Vec<String> =
            rules.iter().enumerate().flat_map(|(place, rule)| wide(place, rule)).collect();
        if !wide.is_empty() {
            findings.add(of_app(app, &wide));
        }
        of_settings(app, findings);
    }
}

/// What a rule leaves out that is a whole part.
fn wide(place: usize, rule: &ResourceIgnoreDifferences) -> Vec<String> {
    let pointers = rule.json_pointers.iter().filter(|text| is_wide_pointer(text));
    let expressions = rule.jq_path_expressions.iter().filter(|text| is_wide_expression(text));
    let kind =
        if rule.group.is_empty() { rule.kind.to_string() } else { format!("{}/{}", rule.group, rule.kind) };
    let told = |text| format!("spec.ignoreDifferences[{place}]: {text} of {kind}");
    pointers.chain(expressions).map(told).collect()
}

/// Nobody minds about a status: it is not in Git.
fn is_wide_pointer(text: &str) -> bool {
    let Ok(path) = FieldPath::parse_pointer(text) else { return false };
    match path.segments() {
        [Segment::Field(name)] => name != "status",
        segments => segments.is_empty(),
    }
}

fn is_wide_expression(text: &str) -> bool {
    let name = text.trim().strip_prefix('.').map(|name| name.trim_end_matches("[]"));
    name.is_some_and(|name| name != "status" && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn of_app(app: &App<'_>, wide: &[String]) -> Finding {
    let rules = if wide.len() == 1 { "a rule" } else { "rules" };
    let verb = if wide.len() == 1 { "hides" } else { "hide" };
    let cause =
        format!("{rules} of {} {verb} a whole part of their objects, and every difference in it", app.name);
    let cause = if wide.len() == 1 { cause.replace("their objects", "its objects") } else { cause };
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P3)
        .seen(wide.iter().take(crate::limits::EVIDENCE).map(Evidence::seen))
        .fix([narrow("spec.ignoreDifferences of the Application")])
}

fn narrow(place: &str) -> Fix {
    Fix::new("Name the fields that others write, one by one")
        .person(format!(
            "take the rule out of {place}, see with `lynceus app diff` which fields differ, and name those"
        ))
        .risk(Risk::Low, "differences that were hidden are seen again")
        .why("what people change by hand, and what changes in Git, is seen again")
}

/// Rules of the installation are in every application's account, and are told of once.
fn of_settings(app: &App<'_>, findings: &mut Findings) {
    for rule in &app.delivery.changes.rules {
        if rule.place == RulePlace::System && rule.verdict() == RuleVerdict::HidesAll {
            let subject =
                Node::Setting(format!("resource.customizations.ignoreDifferences.{}", rule.kind).into());
            let remark = rule.remark().unwrap_or_default();
            findings.add(
                Finding::new(RULE.code, subject, words::quote(&remark))
                    .severity(Severity::P3)
                    .seen([Evidence::seen(format!("{} of {} in the settings", rule.what, rule.kind))])
                    .fix([narrow("resource.customizations of ConfigMap argocd-cm")]),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_rule_for_all_of_a_spec_is_found() {
        let text = "
@app mesh Synced Healthy
@spec {ignoreDifferences: [{group: networking.istio.io, kind: Gateway, jsonPointers: [/spec, /status]}]}
";
        assert_eq!(
            check("LYN1105", text),
            "P3 LYN1105/mesh/Application/mesh: a rule of mesh hides a whole part of its objects, and every difference in \
             it\n  spec.ignoreDifferences[0]: /spec of networking.istio.io/Gateway\n  fix: Name the fields that others write, \
             one by one\n"
        );
    }

    #[test]
    fn rules_for_single_fields_or_a_status_are_not() {
        let text = "
@app mesh Synced Healthy
@spec {ignoreDifferences: [{kind: Service, jsonPointers: [/spec/clusterIP, /status], jqPathExpressions: [.status, '.spec.ports[]?.nodePort']}]}
";
        assert_eq!(check("LYN1105", text), "");
    }
}
