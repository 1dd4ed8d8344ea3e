//! Fields that are others at each rendering.

use std::collections::BTreeMap;

use lynceus_api::{Glob, options};
use lynceus_object::{FieldPath, ObjectKey, Value, value};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::{Rule, sync_option};
use crate::snapshot::Chance;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1109",
    title: "A template gives another value each time",
    explanation: "\
A template asks for chance or for the time, so that rendering it again gives something else. Whenever the sources are rendered anew, the
application is OutOfSync, and each sync changes what nobody has changed: passwords no longer fit, and pods are made anew.

## Why
`randAlphaNum`, `genCA`, `uuidv4`, `now` and their like are meant for a chart that is installed once by hand. `lookup`, by which charts
keep what is there, finds nothing where manifests are rendered for Git.

## Example
```
password: {{ randAlphaNum 16 | b64enc }}        templates/secret.yaml:7
```

## What to do
Give the value, or name a Secret that is made once and by something else. Where pods are to be made anew when their settings change,
write the checksum of the settings into an annotation in the place of chance. What has to stay can be left out of the comparison.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let mut objects: BTreeMap<&ObjectKey, Vec<&Chance>> = BTreeMap::new();
        for one in app.delivery.chances.iter().filter(|one| !is_left_out(app, one)) {
            objects.entry(&one.object).or_default().push(one);
        }
        for (key, fields) in objects {
            findings.add(found(app, key, &fields));
        }
    }
}

/// Whether a field of an application is another one at each rendering.
pub(super) fn is_by_chance(app: &App<'_>, key: &ObjectKey, path: &FieldPath) -> bool {
    app.delivery.chances.iter().any(|one| one.object == *key && pointer(&one.path) == pointer(path))
}

/// A path as a pointer. What is given as text for a Secret is compared as its data.
fn pointer(path: &FieldPath) -> String {
    let pointer = path.to_pointer().unwrap_or_else(|| path.to_string());
    match pointer.strip_prefix("/stringData/") {
        Some(rest) => format!("/data/{rest}"),
        None => pointer,
    }
}

/// Whether the application leaves the field out of the comparison already.
fn is_left_out(app: &App<'_>, one: &Chance) -> bool {
    let fits = |pattern: &str, text: &str| Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
    let (pointer, last) = (pointer(&one.path), one.path.segments().last().map(ToString::to_string));
    app.application().spec.ignore_differences.iter().any(|rule| {
        let is_below = |above: &str| {
            pointer.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let names = rule.json_pointers.iter().any(|above| is_below(above))
            || rule
                .jq_path_expressions
                .iter()
                .any(|text| last.as_ref().is_some_and(|last| text.contains(last.trim_start_matches('.'))));
        let is_named = rule.name.is_empty() || rule.name == one.object.name;
        names && is_named && fits(&rule.group, &one.object.group) && fits(&rule.kind, &one.object.kind)
    })
}

fn found(app: &App<'_>, key: &ObjectKey, fields: &[&Chance]) -> Finding {
    let paths = words::list(fields.iter().map(|one| one.path.to_string()));
    let site = fields.iter().find(|one| one.span.is_some()).or(fields.first());
    let by = match site {
        Some(Chance { span: Some(span), function, .. }) if !function.is_empty() => {
            format!(": {}:{} calls {function}", span.file, span.line)
        }
        Some(Chance { function, .. }) if !function.is_empty() => format!(": a template calls {function}"),
        _ => String::new(),
    };
    let cause = format!("{paths} of {} {} is another one at each rendering{by}", key.kind, key.name);
    let mut seen: Vec<Evidence> = Vec::new();
    for one in fields.iter().take(crate::limits::NAMED) {
        let text = format!("{} calls {} for {}", "the template", one.function, one.path);
        seen.extend(one.span.clone().map(|span| Evidence::File {
            application: app.name.clone(),
            span,
            text,
        }));
    }
    let differs = app.updates().any(|(own, _, update)| {
        own == *key && update.fields.iter().any(|field| is_by_chance(app, &own, &field.path))
    });
    let finding = Finding::new(RULE.code, Node::object(app.server(), key.clone()), cause)
        .of(Some(app.name.clone()))
        .severity(if differs { Severity::P2 } else { Severity::P3 })
        .seen(seen)
        .fix(ignore(app, key, fields))
        .fix([by_hand(key, &paths, site.copied())]);
    if differs { finding.affects([app.node()]) } else { finding }
}

/// Leaves the fields out of the comparison and of syncs. A name cannot be left out.
fn ignore(app: &App<'_>, key: &ObjectKey, fields: &[&Chance]) -> Option<Fix> {
    let is_name = |one: &&Chance| one.path == FieldPath::fields(["metadata", "name"]);
    if fields.iter().any(is_name) {
        return None;
    }
    let pointers: Value = fields.iter().map(|one| Value::from(pointer(&one.path))).collect();
    let mut rule =
        value!({"kind": (key.kind.as_str()), "name": (key.name.as_str()), "jsonPointers": pointers});
    if !key.group.is_empty() {
        rule.set(&["group"], key.group.as_str());
    }
    let path = FieldPath::fields(["spec", "ignoreDifferences"]);
    let fix = Fix::new(format!("Leave what chance gives {} {} out of the comparison", key.kind, key.name))
        .git(&app.name, Place::ApplicationItem { path, value: rule })
        .risk(
            Risk::Low,
            "the values that are in the cluster stay, and differences in them are no longer seen",
        )
        .why("what was given once stays, and no template is changed")
        .verify(format!("lynceus app diff {}", app.name));
    if app.application().sync_options().has(options::sync::RESPECT_IGNORE_DIFFERENCES) {
        return Some(fix);
    }
    Some(sync_option::set(fix, app, options::sync::RESPECT_IGNORE_DIFFERENCES))
}

fn by_hand(key: &ObjectKey, paths: &str, site: Option<&Chance>) -> Fix {
    let place =
        site.and_then(|one| one.span.as_ref()).map(|span| format!("In {}:{}, ", span.file, span.line));
    let rest = match key.kind.as_str() {
        "Secret" => {
            "name a Secret that is made once, by an external secret or by hand, in the place of chance"
        }
        _ => "write what stays the same as long as nothing changes, such as a checksum of the settings",
    };
    Fix::new(format!("Have the template give {} {} the same each time", key.kind, key.name))
        .person(format!("{}{rest} ({paths}).", place.unwrap_or_else(|| "In the chart, ".to_owned())))
        .risk(Risk::Medium, format!("{} {} changes once more", key.kind, key.name))
        .why("then Git says what is delivered")
}

#[cfg(test)]
mod tests {
    use lynceus_files::{FilePath, Span};
    use lynceus_object::{FieldPath, ObjectKey};

    use crate::snapshot::Chance;
    use crate::tests::{check_snapshot, snapshot};

    fn by_chance(text: &str, path: &str) -> String {
        let mut snapshot = snapshot(text);
        snapshot.applications[0].chances.push(Chance {
            object: ObjectKey::new("", "Secret", "shop", "login"),
            path: FieldPath::parse(path).unwrap(),
            span: Some(Span {
                file: FilePath::new("shop/templates/login.yaml").unwrap(),
                line: 5,
                column: 0,
            }),
            function: "randAlphaNum".into(),
        });
        check_snapshot("LYN1109", &snapshot)
    }

    #[test]
    fn a_field_by_chance_is_told_with_template_line_and_function() {
        assert_eq!(
            by_chance("\n@app shop Synced Healthy\n", "stringData.password"),
            "P3 LYN1109/shop/Secret/login: stringData.password of Secret login is another one at each rendering: \
             shop/templates/login.yaml:5 calls randAlphaNum\n  shop/templates/login.yaml:5: the template calls randAlphaNum for \
             stringData.password\n  fix: Leave what chance gives Secret login out of the comparison\n  fix: Have the template \
             give Secret login the same each time\n"
        );
    }

    #[test]
    fn a_name_by_chance_cannot_be_left_out() {
        let found = by_chance("\n@app shop Synced Healthy\n", "metadata.name");
        assert!(!found.contains("out of the comparison"), "{found}");
    }

    #[test]
    fn what_is_left_out_of_the_comparison_already_is_not_told() {
        let text = "\n@app shop Synced Healthy\n@spec {ignoreDifferences: [{kind: Secret, jsonPointers: [/data]}]}\n";
        assert_eq!(by_chance(text, "stringData.password"), "");
        assert_ne!(by_chance(&text.replace("/data", "/metadata"), "stringData.password"), "");
    }
}
