//! Two applications want one object.

use lynceus_files::FilePath;
use lynceus_object::ObjectKey;

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::orphaned_application;
use crate::rules::ownership::{self, Owner, Shared};
use crate::rules::taking::{self, Taking};
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
    let shared = ownership::shared(case);
    // Of what one application includes of another there is one finding, and it is another rule's.
    let included = ownership::included(&ownership::overlaps(&shared));
    if shared.is_empty() {
        return;
    }
    let left_over = orphaned_application::left_over(case);
    for one in shared.iter().filter(|one| !included.contains(&(one.server.into(), one.key.clone()))) {
        let apps = one.owners.iter().map(|owner| owner.app);
        findings.add(ownership::unless_left_over(found(one), apps, &left_over));
    }
}

fn found(Shared { server, key, owners }: &Shared<'_, '_>) -> Finding {
    let names = words::list(owners.iter().map(|owner| owner.app.name.name.as_str()));
    let cause = format!("{} {} is wanted by {names}, and only one can have it", key.kind, key.name);
    let file = |owner: &Owner<'_, '_>| owner.app.file(owner.wanted?, format!("{} wants it", owner.app.name));
    let keeper = keeper(owners);
    let others = owners.iter().filter(|owner| owner.app.name != keeper.app.name);
    Finding::new(RULE.code, Node::object(*server, key.clone()), cause)
        .of(owners.first().map(|owner| owner.app.name.clone()))
        .severity(Severity::P2)
        .seen(owners.iter().filter_map(file))
        .seen(owners.iter().filter_map(|owner| ownership::warning(owner.app, key)))
        .affects(owners.iter().map(|owner| owner.app.node()))
        .fix(others.map(|other| fix(key, keeper, other)))
}

fn fix(key: &ObjectKey, keeper: &Owner<'_, '_>, other: &Owner<'_, '_>) -> Fix {
    if let Some(file) = taking::common_file(keeper.app, other.app, key) {
        return left_out(key, keeper.app, other.app)
            .unwrap_or_else(|| parted(key, &file, keeper.app, other.app));
    }
    let (keeper, other) = (&keeper.app.name, &other.app.name);
    Fix::new(format!("Keep it in {keeper} and remove it from {other}"))
        .git(other, Place::Remove { object: key.clone() })
        .risk(Risk::Medium, format!("{} {}; what {keeper} says of it holds from then on", key.kind, key.name))
        .why("the other one has it in a source that many objects come from")
        .verify(format!("lynceus app get {keeper}"))
}

/// Has the one leave a file to the other that takes in more than its own: whoever deletes it there deletes it for both.
fn left_out(key: &ObjectKey, keeper: &App<'_>, other: &App<'_>) -> Option<Fix> {
    let objects = std::slice::from_ref(key);
    let ways = [(other, keeper), (keeper, other)].into_iter();
    let mut ways = ways.filter_map(|(wide, other)| {
        Some((&wide.name, &other.name, taking::left_out(&[Taking { wide, other, objects }])?))
    });
    let (wide, stays, places) = ways.next()?;
    let fix = Fix::new(format!("Keep it in {stays} and have {wide} leave it out"));
    let fix = places.into_iter().fold(fix, |fix, place| fix.git(wide, place));
    Some(
        fix.risk(Risk::Medium, format!("{} {}; {stays} owns it from then on", key.kind, key.name))
            .why("both read the same file, so that it cannot be taken out there for one of them")
            .verify(format!("lynceus app get {stays}")),
    )
}

/// What only a person can do about a file that both read, and that neither can leave out.
fn parted(key: &ObjectKey, file: &FilePath, keeper: &App<'_>, other: &App<'_>) -> Fix {
    let (keeper, other) = (&keeper.name, &other.name);
    Fix::new(format!("Have only one of {keeper} and {other} read {file}"))
        .person(format!(
            "both have {} {} from {file}: point {other} at sources without it, or give up one of the two applications without \
             deleting its objects (lynceus app delete {other} --cascade=false)",
            key.kind, key.name
        ))
        .risk(Risk::Medium, format!("{} {}", key.kind, key.name))
        .why("what is taken out of the file is taken away from both")
        .verify(format!("lynceus app get {keeper}"))
}

/// The one that should keep it: the one whose file it does not fill alone, because a chart or overlay makes it there.
fn keeper<'b, 'c, 'a>(owners: &'b [Owner<'c, 'a>]) -> &'b Owner<'c, 'a> {
    let weight = |owner: &&Owner<'_, '_>| {
        let span = owner.wanted.and_then(|one| one.span.as_ref());
        let template = span.is_some_and(|span| span.file.as_str().contains("/templates/"));
        (template, owner.app.size())
    };
    owners.iter().max_by_key(weight).unwrap_or(&owners[0])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots_with_fixes};

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

    #[test]
    fn what_argo_cd_warns_of_is_enough() {
        let text = "
@app grafana OutOfSync Healthy
@unrendered
@condition SharedResourceWarning ConfigMap/grafana is part of applications argocd/grafana and secrets
@app secrets OutOfSync Healthy
@unrendered
@status {resources: [{kind: ConfigMap, namespace: monitoring, name: other, status: Synced}]}
";
        assert_eq!(
            check("LYN0101", text),
            "P2 LYN0101/grafana/ConfigMap/grafana: ConfigMap grafana is wanted by grafana and secrets, and only one can \
             have it\n  status of grafana: SharedResourceWarning: ConfigMap/grafana is part of applications argocd/grafana \
             and secrets\n  fix: Keep it in secrets and remove it from grafana\n"
        );
    }

    #[test]
    fn a_warning_about_an_application_that_is_gone_says_nothing() {
        let text = "
@app grafana OutOfSync Healthy
@unrendered
@condition SharedResourceWarning ConfigMap/grafana is part of applications argocd/grafana and gone
";
        assert_eq!(check("LYN0101", text), "");
    }

    /// A folder with two files, and two applications that read it.
    fn both(wide: &str, part: &str, file: &str) -> String {
        format!(
            "@app wide OutOfSync Healthy\n@spec {{source: {wide}}}\n@file platform/own.yaml\napiVersion: v1\nkind: \
             ConfigMap\nmetadata: {{name: own, namespace: kf}}\n@file platform/{file}\napiVersion: v1\nkind: ConfigMap\nmetadata: \
             {{name: loki, namespace: kf}}\n@app part OutOfSync Healthy\n@spec {{source: {part}}}\n@file \
             platform/{file}\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: loki, namespace: kf}}\n"
        )
    }

    #[test]
    fn a_file_that_both_read_is_left_out_by_the_one_that_reads_more() {
        let wide = "{path: platform, directory: {recurse: true}}";
        let told = roots_with_fixes(&both(wide, "{path: platform/loki}", "loki/all.yaml"));
        assert!(
            told.contains(
                "  Keep it in part and have wide leave it out\n    in the files of wide: set spec.source.directory.exclude of \
                 the Application to \"loki/*\"\n"
            ),
            "{told}"
        );
        let told = roots_with_fixes(&both("{path: all}", "{path: platform/loki}", "loki/all.yaml"));
        assert!(
            told.contains(
                "  in the files of wide: take platform/loki out of what the kustomization takes in\n"
            ),
            "{told}"
        );
    }

    #[test]
    fn a_base_of_both_is_no_folder_that_one_takes_in() {
        let app = |name: &str| {
            format!(
                "@app {name} OutOfSync Healthy\n@spec {{source: {{path: overlays/{name}}}}}\n@status {{sourceType: \
                 Kustomize}}\n@file base/role.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: loki, namespace: kf}}\n"
            )
        };
        let told = roots_with_fixes(&format!("{}{}", app("dev"), app("prod")));
        assert!(told.contains("  Have only one of prod and dev read base/role.yaml\n"), "{told}");
        assert!(!told.contains("takes in"), "{told}");
    }

    #[test]
    fn where_neither_can_leave_it_out_nobody_deletes_it_for_both() {
        let told = roots_with_fixes(&both("{path: platform}", "{path: platform}", "all.yaml"));
        assert!(
            told.contains("  Have only one of wide and part read platform/all.yaml\n    both have "),
            "{told}"
        );
        assert!(!told.contains("remove"), "{told}");
        // The same path in another repository or on another branch is another file.
        let apart = both("{path: platform}", "{path: platform, targetRevision: v2}", "all.yaml");
        assert!(roots_with_fixes(&apart).contains("in the files of part: remove ConfigMap loki\n"));
    }
}
