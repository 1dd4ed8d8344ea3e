//! An ignore rule that names nothing that is there.

use lynceus_api::Glob;
use lynceus_diff::{ChangeSet, Place as RulePlace, RuleReport, RuleVerdict, Verdict};
use lynceus_object::Object;

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::limits;
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN1106",
    title: "An ignore rule names nothing that is there",
    explanation: "\
A rule of the Application is for objects that it does not have, or names fields that they do not have. What it was meant to hide is
not hidden.

## Why
A wrong group (`extensions` for `apps`), a kind in the plural, a pointer with a dot or without its escapes (`~1` for a slash), or
the object was renamed.

## Example
```
the rule /spec/replicas for extensions/Deployment is for no object of the application
```

## What to do
Correct the rule, or remove it.
",
    check,
};

/// How a rule begins that names managers and no fields.
const BY_MANAGERS: &str = "managed by ";

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let changes = &app.delivery.changes;
        let idle: Vec<String> = changes
            .rules
            .iter()
            .filter(|rule| is_idle(rule, changes))
            .filter_map(RuleReport::remark)
            .collect();
        if !idle.is_empty() {
            findings.add(found(app, &idle));
        }
    }
}

/// Whether a rule of the application did nothing and could not have done anything.
fn is_idle(rule: &RuleReport, changes: &ChangeSet) -> bool {
    let verdict = rule.verdict();
    // A manager's fields are left out where they differ only, and now they may not.
    let by_writer = verdict == RuleVerdict::NoField && rule.what.starts_with(BY_MANAGERS);
    matches!(verdict, RuleVerdict::NoObject | RuleVerdict::NoField)
        && matches!(rule.place, RulePlace::Application(_))
        && !by_writer
        && !comes_later(rule, changes)
}

/// What is not there yet was not compared, and hooks never are.
fn comes_later(rule: &RuleReport, changes: &ChangeSet) -> bool {
    let uncompared = changes.changes.iter().filter(|change| matches!(change.verdict, Verdict::Create));
    let mut uncompared = uncompared.filter_map(|change| change.pair.desired()).chain(&changes.hooks);
    uncompared.any(|object| fits(&rule.kind, object))
}

/// Whether an object is of the kinds that a rule is for, as they are written.
fn fits(kinds: &str, object: &Object) -> bool {
    let (group, kind) = kinds.rsplit_once('/').unwrap_or(("", kinds));
    let fits = |pattern, text| Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
    fits(group, object.group()) && fits(kind, object.kind())
}

fn found(app: &App<'_>, idle: &[String]) -> Finding {
    let cause = match idle {
        [only] => only.replace("of the application", &format!("of {}", app.name)),
        _ => format!("{} rules of {} name nothing that is there", idle.len(), app.name),
    };
    let fix = Fix::new("Correct the rule, or remove it")
        .person("compare group, kind and path in spec.ignoreDifferences of the Application with the objects")
        .risk(Risk::Low, "the rule does nothing now");
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(Severity::P3)
        .seen(idle.iter().take(limits::EVIDENCE).map(Evidence::seen))
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const RULES: &str = "
@app web Synced Healthy
@compared
@spec {ignoreDifferences: [{group: extensions, kind: Deployment, jsonPointers: [/spec/replicas]}]}
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1}
@live
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 1}
";

    #[test]
    fn a_rule_for_another_group_is_found() {
        assert_eq!(
            check("LYN1106", RULES),
            "P3 LYN1106/web/Application/web: the rule /spec/replicas for extensions/Deployment is for no object of web\n  the \
             rule /spec/replicas for extensions/Deployment is for no object of the application\n  fix: Correct the rule, or \
             remove it\n"
        );
    }

    #[test]
    fn a_rule_that_hides_something_or_whose_object_is_yet_to_come_is_not() {
        assert_eq!(check("LYN1106", &RULES.replace("group: extensions", "group: apps")), "");
        let absent = RULES.replace("group: extensions", "group: apps").replace(
            "@live\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web",
            "@live\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: other",
        );
        assert_eq!(check("LYN1106", &absent), "");
    }
}
