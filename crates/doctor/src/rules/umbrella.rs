//! An application includes what other applications own.

use std::collections::BTreeMap;

use lynceus_api::HealthStatusCode;
use lynceus_object::ObjectKey;

use crate::case::{App, Case};
use crate::finding::{Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::limits;
use crate::node::AppName;
use crate::rules::Rule;
use crate::rules::orphaned_application;
use crate::rules::ownership::{self, Overlap};
use crate::rules::taking::{self, Taking};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0102",
    title: "An application includes what other applications own",
    explanation: "\
The sources of one application contain most of what another one delivers. Every object in common has two owners that undo each
other, and whatever is wrong with a part stops the umbrella and everything that waits for it.

## Why
An application points at a directory or kustomization that was made to install everything at once, beside applications for the
parts.

## Example
```
application common-services  path: example          all of it, trainer and spark too
application trainer          path: apps/trainer
application spark            path: apps/spark
SharedResourceWarning: CustomResourceDefinition/trainjobs.trainer.example.org is part of applications argocd/common-services and trainer
```

## What to do
Give the umbrella a kustomization of its own that has only what nobody else owns, and point it there. Or delete the
applications for the parts, if one application is to deliver everything.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let overlaps = ownership::overlaps(&ownership::shared(case));
    let mut umbrellas: BTreeMap<&AppName, Vec<&Overlap<'_, '_>>> = BTreeMap::new();
    for overlap in &overlaps {
        umbrellas.entry(&overlap.umbrella.name).or_default().push(overlap);
    }
    if umbrellas.is_empty() {
        return;
    }
    let left_over = orphaned_application::left_over(case);
    for overlaps in umbrellas.into_values() {
        let apps = overlaps.iter().map(|one| one.other).chain([overlaps[0].umbrella]);
        findings.add(ownership::unless_left_over(found(&overlaps), apps, &left_over));
    }
}

fn found(overlaps: &[&Overlap<'_, '_>]) -> Finding {
    let umbrella = overlaps[0].umbrella;
    let others = words::list(overlaps.iter().map(|one| one.other.name.name.as_str()));
    let objects: Vec<&ObjectKey> = overlaps.iter().flat_map(|one| &one.objects).collect();
    let cause = format!(
        "application {} includes {} that {others} {} too",
        umbrella.name,
        words::count(objects.len(), "object"),
        if overlaps.len() == 1 { "has" } else { "have" }
    );
    let evidence = overlaps.iter().flat_map(|one| {
        let names = words::list(one.objects.iter().map(|key| format!("{} {}", key.kind, key.name)));
        let seen =
            crate::finding::Evidence::seen(format!("in {} and {}: {names}", umbrella.name, one.other.name));
        let warned = one.objects.first().and_then(|key| ownership::warning(umbrella, key));
        Some(seen).into_iter().chain(warned)
    });
    Finding::new(RULE.code, umbrella.node(), cause)
        .of(Some(umbrella.name.clone()))
        .severity(if works(umbrella) { Severity::P2 } else { Severity::P1 })
        .seen(evidence.take(limits::EVIDENCE))
        .affects(overlaps.iter().map(|one| one.other.node()))
        .fix(fixes(overlaps, &others, &objects))
}

/// Whether an application works, whatever differs: which of several that have an object is Synced just now is chance.
fn works(app: &App<'_>) -> bool {
    app.health() == Some(HealthStatusCode::Healthy)
        && app.errors().next().is_none()
        && app.failures().is_empty()
}

fn fixes(overlaps: &[&Overlap<'_, '_>], others: &str, objects: &[&ObjectKey]) -> Vec<Fix> {
    let umbrella = &overlaps[0].umbrella.name;
    let blast = format!("{}; {others} own them from then on", words::count(objects.len(), "object"));
    let takings: Vec<Taking<'_, '_>> = overlaps.iter().map(|one| one.taking()).collect();
    // Files that both read cannot be taken away from one of them alone: whoever deletes them there deletes them for both.
    let places = taking::left_out(&takings).or_else(|| copies(overlaps));
    let narrow = places.map(|places| {
        let narrow = Fix::new(format!("Take what is of {others} out of {umbrella}"));
        places
            .into_iter()
            .fold(narrow, |fix, place| fix.git(umbrella, place))
            .risk(Risk::Medium, blast.clone())
            .why("each object has one owner then, and the applications for the parts stay as they are")
            .verify(format!("lynceus app get {umbrella}"))
    });
    let point = Fix::new(format!("Point {umbrella} at a kustomization of its own"))
        .person(format!(
            "make a kustomization that has only what nobody but {umbrella} owns, and set spec.source.path of the \
             Application to it"
        ))
        .risk(Risk::Medium, blast)
        .why("does the same where the objects cannot be taken out one by one");
    narrow.into_iter().chain([point]).collect()
}

/// The umbrella's own copies of what others have, if it reads none of their files.
fn copies(overlaps: &[&Overlap<'_, '_>]) -> Option<Vec<Place>> {
    let is_copy = |one: &&Overlap<'_, '_>| {
        one.objects.iter().all(|key| taking::common_file(one.umbrella, one.other, key).is_none())
    };
    let objects = || overlaps.iter().flat_map(|one| &one.objects);
    let places = || objects().map(|key| Place::Remove { object: key.clone() }).collect();
    overlaps.iter().all(is_copy).then(places)
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots, roots_with_fixes};

    fn config_maps(names: &[&str]) -> String {
        let one = |name| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: kf}}\n---\n")
        };
        names.iter().map(|name| one(*name)).collect()
    }

    #[test]
    fn an_application_that_has_all_of_two_others_is_found_once() {
        let text = format!(
            "@app common OutOfSync Healthy\n{}@app spark OutOfSync Healthy\n{}@app trainer OutOfSync Healthy\n{}",
            config_maps(&["istio", "dex", "s1", "s2", "t1", "t2", "t3"]),
            config_maps(&["s1", "s2"]),
            config_maps(&["t1", "t2", "t3", "t4"]),
        );
        assert_eq!(
            check("LYN0102", &text),
            "P2 LYN0102/common/Application/common: application common includes 5 objects that spark and trainer have \
             too\n  in common and spark: ConfigMap s1 and ConfigMap s2\n  in common and trainer: ConfigMap t1, ConfigMap \
             t2 and ConfigMap t3\n  fix: Take what is of spark and trainer out of common\n  fix: Point common at a \
             kustomization of its own\n"
        );
        assert_eq!(roots(&text), "P2 LYN0102/common/Application/common explains common spark trainer\n");
        // Who was the last to sync makes it neither better nor worse.
        let turned = text.replacen("common OutOfSync", "common Synced", 1);
        assert!(roots(&turned).starts_with("P2 LYN0102/common/Application/common "), "{}", roots(&turned));
        let stuck = text.replacen("common OutOfSync Healthy", "common OutOfSync Degraded", 1);
        assert!(roots(&stuck).starts_with("P0 LYN0102/common/Application/common "), "{}", roots(&stuck));
    }

    /// A folder that is read as a whole, and two folders in it that are read by others.
    fn nested(sort: &str) -> String {
        let app = |name: &str, path: &str| {
            format!(
                "@app {name} OutOfSync Healthy\n@spec {{source: {{repoURL: 'https://git.example.com/all.git', path: {path}}}}}\n"
            )
        };
        let part = |name: &str| {
            format!(
                "@file platform/{name}/all.yaml\n{}",
                config_maps(&[&format!("{name}-a"), &format!("{name}-b")])
            )
        };
        let own = format!("@file platform/own.yaml\n{}", config_maps(&["own"]));
        format!(
            "{}@status {{sourceType: {sort}}}\n{own}{}{}{}{}{}{}",
            app("platform", "platform"),
            part("nats"),
            part("redis"),
            app("nats", "platform/nats"),
            part("nats"),
            app("redis", "platform/redis"),
            part("redis"),
        )
    }

    #[test]
    fn folders_within_the_umbrella_go_from_its_kustomization_and_are_not_deleted() {
        let told = roots_with_fixes(&nested("Kustomize"));
        assert!(
            told.contains(
                "  Take what is of nats and redis out of platform\n    in the files of platform: take platform/nats out of what \
                 the kustomization takes in\n    in the files of platform: take platform/redis out of what the kustomization takes \
                 in\n"
            ),
            "{told}"
        );
    }

    #[test]
    fn files_of_both_that_the_umbrella_cannot_leave_out_are_not_deleted() {
        let told = roots_with_fixes(&nested("Helm"));
        assert!(told.contains("  Point platform at a kustomization of its own\n"), "{told}");
        assert!(!told.contains("remove "), "{told}");
    }

    #[test]
    fn many_warnings_between_two_applications_are_one_finding() {
        let warnings: String = (0..6)
            .map(|number| {
                format!(
                    "@condition SharedResourceWarning ConfigMap/m{number} is part of applications argocd/common and trainer\n"
                )
            })
            .collect();
        let text = format!(
            "@app common OutOfSync Healthy\n@unrendered\n{warnings}@app trainer OutOfSync Healthy\n@unrendered\n"
        );
        assert!(
            check("LYN0102", &text)
                .starts_with("P2 LYN0102/common/Application/common: application common includes 6 ")
        );
        assert_eq!(check("LYN0101", &text), "");
    }

    #[test]
    fn two_applications_with_one_object_in_common_are_no_umbrella() {
        let text = format!(
            "@app common OutOfSync Healthy\n{}@app trainer OutOfSync Healthy\n{}",
            config_maps(&["a", "b", "c"]),
            config_maps(&["c", "d"]),
        );
        assert_eq!(check("LYN0102", &text), "");
    }

    /// An umbrella in wave 0 that cannot be synced, its parts beside it, and what waits for its definitions in wave 4.
    #[test]
    fn an_umbrella_that_is_stuck_is_the_cause_of_what_waits_for_its_definitions() {
        let child = |name: &str, wave: i64| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, annotations: \
                 {{argocd.argoproj.io/sync-wave: '{wave}'}}}}\n---\n"
            )
        };
        let warnings: String = (0..6)
            .map(|number| {
                format!(
                    "@condition SharedResourceWarning ConfigMap/s{number} is part of applications argocd/common and spark\n"
                )
            })
            .collect();
        let failed = "The Kubernetes API could not find networking.istio.io/VirtualService for requested resource kf/web. Make \
                      sure the \"VirtualService\" CRD is installed on the destination cluster.";
        let text = format!(
            "@app apps OutOfSync Progressing\n{}{}{}@app common OutOfSync Missing\n@unrendered\n@condition InvalidSpecError \
             Namespace for settings /v1, Kind=ConfigMap is missing.\n{warnings}@app spark Synced Healthy\n@unrendered\n@app web \
             OutOfSync Missing\n@unrendered\n@status {{operationState: {{phase: Failed, message: one or more synchronization \
             tasks are not valid, operation: {{}}, startedAt: '2026-01-01T10:00:00Z', syncResult: {{revision: a, resources: \
             [{{group: networking.istio.io, version: v1, kind: VirtualService, namespace: kf, name: web, status: SyncFailed, \
             message: '{failed}'}}]}}}}}}\n",
            child("common", 0),
            child("spark", 5),
            child("web", 4),
        );
        assert_eq!(
            roots(&text),
            "P0 LYN0102/common/Application/common explains apps common web\nP0 LYN0204/common/Application/common explains \
             apps common web\n"
        );
    }
}
