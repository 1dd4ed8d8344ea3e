//! Images that are built in the cluster, and that somebody wants before they are.

use std::collections::BTreeMap;

use lynceus_api::wave;
use lynceus_object::ObjectKey;

use super::built::{self, Builder};
use super::pull::{self, Pull, Why};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN0504",
    title: "The image is not built yet when it is wanted",
    explanation: "\
The image is built inside the cluster, by a build that has not ended, has failed or was never started; and something wants to run
the image already.

## Why
A sync applies what builds the image and what uses it in one go or wave after wave, and an object that starts builds counts as
healthy as soon as it is there. Nothing waits for the image.

## Example
```
BuildConfig validator    wave -4, its build runs for ten minutes
Job validate             wave -3, image-registry…/validator:latest: not found
```

## What to do
If the build failed or was never started, mend that first. Then have the users come later: in a later wave behind a Sync hook that
waits until the image is there.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let failed = pull::failed(case, Why::Missing);
    if failed.is_empty() {
        return;
    }
    let builders = built::builders(case);
    let mut early: BTreeMap<(String, ObjectKey), (Builder, Vec<Pull<'_>>)> = BTreeMap::new();
    for (image, pulls) in failed {
        if let Some(builder) = builders.of(&image) {
            let place = (builder.server.to_string(), builder.key.clone());
            early.entry(place).or_insert_with(|| (builder.clone(), Vec::new())).1.extend(pulls);
        }
    }
    early.into_values().for_each(|(builder, pulls)| findings.add(found(case, &builder, &pulls)));
}

fn found(case: &Case<'_>, builder: &Builder, pulls: &[Pull<'_>]) -> Finding {
    let key = &builder.key;
    let image = pulls[0].image;
    let state = match builder.state.as_str() {
        "" => "has not built it yet".to_owned(),
        state => format!("has not built it: its last build is {state}"),
    };
    let cause = format!("{} wants image {image}, and {} {} {state}", pull::users(pulls), key.kind, key.name);
    let node = case.node(&builder.server, key);
    let images = pulls.iter().map(|pull| Node::Image(pull.image.into()));
    let images: std::collections::BTreeSet<Node> = images.collect();
    let there = case.live(&builder.server, key).is_some();
    let state = match there {
        true => Evidence::seen(format!("{} {} has no complete build", key.kind, key.name)),
        false => Evidence::seen(format!("{} {} is not there yet", key.kind, key.name)),
    };
    Finding::new(RULE.code, node, cause)
        .of(case.owner(&builder.server, key))
        .seen(pull::evidence(pulls))
        .seen([state])
        .affects(images.into_iter().chain(pull::affected(pulls)))
        .unless_deeper()
        .fix(fixes(case, builder, pulls))
}

fn fixes(case: &Case<'_>, builder: &Builder, pulls: &[Pull<'_>]) -> Vec<Fix> {
    let key = &builder.key;
    let start = match key.group.as_str() {
        "build.openshift.io" => format!("oc -n {} start-build {} --follow", key.namespace, key.name),
        _ => format!(
            "look at the builds of {} {} in namespace {}, and start one",
            key.kind, key.name, key.namespace
        ),
    };
    let build = Fix::new(format!("Have {} {} build the image", key.kind, key.name))
        .person(start)
        .why("the pods that wait take the image as soon as it is there")
        .verify(format!("kubectl -n {} get pods", pulls[0].pod.namespace()));
    let later = later(case, builder, &pulls[0]);
    let user = case.owner(pulls[0].server, &pulls[0].owner.key());
    let is_same = user == case.owner(&builder.server, key);
    let (title, step) = match user.filter(|_| !is_same) {
        Some(app) => (
            format!("Wait for the image in a PreSync hook of {app}"),
            format!("add a Job with the annotation argocd.argoproj.io/hook: PreSync to {app} that ends when the image is there; waves order \
                     nothing between applications"),
        ),
        None => (
            "Wait for the image in a Sync hook between the two".to_owned(),
            "add a Job with the annotation argocd.argoproj.io/hook: Sync, in the wave after the build, that ends when the image is there"
                .to_owned(),
        ),
    };
    let hook =
        Fix::new(title).person(step).why("it is the only way that waits exactly as long as the build takes");
    [build].into_iter().chain(later).chain([hook]).collect()
}

/// The user in a later wave than the build, if it is not yet. Waves order nothing between applications.
fn later(case: &Case<'_>, builder: &Builder, pull: &Pull<'_>) -> Option<Fix> {
    let user = pull.owner.key();
    let (app, wanted) = case.wanted(pull.server, &user).into_iter().next()?;
    let (other, source) = case.wanted(&builder.server, &builder.key).into_iter().next()?;
    if other.name != app.name {
        return None;
    }
    let (first, own) = (wave(&source.object), wave(&wanted.object));
    if own > first {
        return None;
    }
    let path =
        lynceus_object::FieldPath::fields(["metadata", "annotations", lynceus_api::annotations::SYNC_WAVE]);
    let value = Some((first + 1).to_string().as_str().into());
    let fix = Fix::new(format!("Have {} {} come a wave later", user.kind, user.name))
        .git(&app.name, Place::Field { object: user, path, value })
        .risk(Risk::Low, "the order of the next sync")
        .why("it helps only if something in the wave of the build waits for the image");
    Some(fix)
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const EARLY: &str = "
@app ml Synced Degraded
apiVersion: build.openshift.io/v1
kind: BuildConfig
metadata: {name: validator, namespace: ml}
spec: {output: {to: {kind: ImageStreamTag, name: 'validator:latest'}}}
---
apiVersion: v1
kind: Pod
metadata: {name: validate, namespace: ml}
spec: {restartPolicy: Always, containers: [{name: v, image: 'image-registry.openshift-image-registry.svc:5000/ml/validator:latest'}]}
@live
apiVersion: build.openshift.io/v1
kind: BuildConfig
metadata: {name: validator, namespace: ml}
spec: {output: {to: {kind: ImageStreamTag, name: 'validator:latest'}}}
---
apiVersion: build.openshift.io/v1
kind: Build
metadata: {name: validator-1, namespace: ml, labels: {buildconfig: validator}}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: validate, namespace: ml}
spec: {restartPolicy: Always, containers: [{name: v, image: 'image-registry.openshift-image-registry.svc:5000/ml/validator:latest'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: v, state: {waiting: {reason: ErrImagePull, message: 'manifest unknown'}}}
";

    #[test]
    fn an_image_whose_build_has_not_ended_is_found() {
        assert_eq!(
            check("LYN0504", EARLY),
            "P1 LYN0504/ml/BuildConfig/validator: Pod validate wants image \
             image-registry.openshift-image-registry.svc:5000/ml/validator:latest, and BuildConfig validator has not built it: \
             its last build is Running\n  Pod ml/validate: status.containerStatuses: ErrImagePull: manifest unknown\n  \
             BuildConfig validator has no complete build\n  fix: Have BuildConfig validator build the image\n  fix: Have Pod \
             validate come a wave later\n  fix: Wait for the image in a Sync hook between the two\n"
        );
        assert_eq!(roots(EARLY), "P1 LYN0504/ml/BuildConfig/validator explains ml\n", "not the image too");
    }

    #[test]
    fn a_wave_is_not_offered_where_another_application_builds() {
        let apart = EARLY.replacen(
            "---\napiVersion: v1\nkind: Pod",
            "@app user Synced Degraded\napiVersion: v1\nkind: Pod",
            1,
        );
        let found = check("LYN0504", &apart);
        assert!(found.contains("LYN0504/ml/BuildConfig/validator"), "{found}");
        assert!(!found.contains("come a wave later"), "{found}");
        assert!(found.ends_with("fix: Wait for the image in a PreSync hook of user\n"), "{found}");
    }

    #[test]
    fn an_image_that_was_built_and_is_gone_is_another_matter() {
        let built = EARLY.replace("phase: Running}", "phase: Complete}");
        assert_eq!(check("LYN0504", &built), "");
        assert!(check("LYN0501", &built).contains("LYN0501"));
    }
}
