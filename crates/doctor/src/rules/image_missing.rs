//! Images that are not there.

use std::collections::BTreeMap;

use lynceus_object::Object;

use super::built;
use super::pull::{self, Pull, Why};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::Fix;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0501",
    title: "The image is not there",
    explanation: "\
The registry answers, and says that it has no image of that name and tag. Nothing in the cluster can help: pods that need it never
start.

## Why
The pipeline that makes it did not run, failed, or gives it another tag: `dev` is pushed and `main` is asked for. Or the tag was
deleted, or is misspelt.

## Example
```
Failed to pull image \"ghcr.io/shop/web:main\": ghcr.io/shop/web:main: not found
```

## What to do
Have the pipeline push the tag, or ask for one that is there. Those that run elsewhere in the cluster are there for certain.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let failed = pull::lost(case, Why::Missing);
    if failed.is_empty() {
        return;
    }
    let builders = built::builders(case);
    let running = running(case);
    for (image, pulls) in failed {
        // What is still to be built has a rule of its own.
        if builders.of(&image).is_none() {
            findings.add(found(case, &image, &pulls, running.get(pull::split(&image).0)));
        }
    }
}

/// The images that run, by repository.
fn running<'a>(case: &Case<'a>) -> BTreeMap<&'a str, BTreeMap<&'a str, usize>> {
    let mut running: BTreeMap<&'a str, BTreeMap<&'a str, usize>> = BTreeMap::new();
    for server in case.servers() {
        for pod in case.of_kind(server, "", "Pod").iter().copied() {
            for image in started(pod) {
                *running.entry(pull::split(image).0).or_default().entry(image).or_default() += 1;
            }
        }
    }
    running
}

/// The images of a pod's containers that were started at least once.
fn started(pod: &Object) -> impl Iterator<Item = &str> {
    let statuses = pod.value().items_at(&["status", "containerStatuses"]).iter();
    let ran = statuses.filter(|one| {
        one.at(&["state", "running"]).is_some_and(|state| !state.is_null())
            || one.at(&["lastState", "terminated"]).is_some_and(|state| !state.is_null())
    });
    ran.filter_map(move |status| {
        let name = status.str_at(&["name"])?;
        let containers = pod.value().items_at(&["spec", "containers"]).iter();
        let mut named = containers.filter(move |one| one.str_at(&["name"]) == Some(name));
        named.next()?.str_at(&["image"])
    })
}

fn found(
    case: &Case<'_>,
    image: &str,
    pulls: &[Pull<'_>],
    running: Option<&BTreeMap<&str, usize>>,
) -> Finding {
    let never = pulls.iter().all(|pull| pull.said.contains("pull policy of Never"));
    let cause = match never {
        true => format!(
            "image {image} is not on the node and may not be pulled; {} cannot start",
            pull::users(pulls)
        ),
        false => format!("the registry has no image {image}; {} cannot start", pull::users(pulls)),
    };
    let mut others: Vec<(&str, usize)> =
        running.into_iter().flatten().map(|(other, count)| (*other, *count)).collect();
    others.sort_by_key(|(other, count)| (std::cmp::Reverse(*count), *other));
    let tags = words::list(others.iter().map(|(other, _)| pull::split(other).1));
    let seen =
        (!others.is_empty()).then(|| Evidence::seen(format!("of the same repository these run: {tags}")));
    let take = others.first().and_then(|(other, _)| {
        let title = format!("Take {other}, which runs elsewhere");
        let fix = pull::take(case, pulls, other, title)?;
        Some(fix.why("it is there, and what it does may differ"))
    });
    Finding::new(RULE.code, Node::Image(image.into()), cause)
        .of(pull::app(case, pulls))
        .seen(pull::evidence(pulls))
        .seen(seen)
        .about(pull::fields(case, pulls))
        .affects(pull::affected(pulls))
        .fix([push(image)].into_iter().chain(take))
}

fn push(image: &str) -> Fix {
    Fix::new(format!("Push {image}"))
        .person(format!("have the pipeline that makes {image} run, and look at which tag it gives"))
        .verify(format!("docker manifest inspect {image}"))
        .why("what Git asks for stays as it is")
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const MISSING: &str = "
@app web Synced Degraded
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: prod, uid: s1, annotations: {argocd.argoproj.io/tracking-id: 'web:apps/StatefulSet:prod/web'}}
spec: {template: {spec: {containers: [{name: web, image: 'reg.io/web:main'}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: prod, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: s1, controller: true}]}
spec: {containers: [{name: web, image: 'reg.io/web:main'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: web, image: 'reg.io/web:main', state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image \"reg.io/web:main\": ErrImagePull: reg.io/web:main: not found'}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: dev}
spec: {containers: [{name: web, image: 'reg.io/web:dev'}]}
status: {phase: Running, containerStatuses: [{name: web, state: {running: {}}}]}
";

    #[test]
    fn a_tag_that_the_registry_has_not_is_found_and_one_that_runs_offered() {
        assert_eq!(
            check("LYN0501", MISSING),
            "P1 LYN0501/web/Image/reg.io/web:main: the registry has no image reg.io/web:main; StatefulSet web cannot \
             start\n  Pod prod/web-0: status.containerStatuses: ImagePullBackOff: Back-off pulling image \
             \"reg.io/web:main\": ErrImagePull: reg.io/web:main: not found\n  of the same repository these run: dev\n  fix: \
             Push reg.io/web:main\n  fix: Take reg.io/web:dev, which runs elsewhere\n"
        );
    }

    #[test]
    fn what_only_an_event_says_is_found_too() {
        let text = MISSING.replace(": ErrImagePull: reg.io/web:main: not found", "");
        assert_eq!(check("LYN0501", &text), "", "nobody says why");
        let event = "---\napiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: prod}\ninvolvedObject: {kind: Pod, \
                     namespace: prod, name: web-0}\nreason: Failed\nmessage: 'Failed to pull image \"reg.io/web:main\": manifest unknown'\n";
        assert!(check("LYN0501", &format!("{text}{event}")).contains("LYN0501/web/Image/reg.io/web:main"));
    }

    #[test]
    fn a_pod_whose_template_asks_for_another_image_by_now_is_not() {
        let text = MISSING.replacen("image: 'reg.io/web:main'", "image: 'reg.io/web:v2'", 1);
        assert_eq!(check("LYN0501", &text), "");
    }

    #[test]
    fn a_registry_that_does_not_answer_is_another_matter() {
        let text = MISSING.replace("main: not found", "main: dial tcp: lookup reg.io: no such host");
        assert_eq!(check("LYN0501", &text), "");
    }

    #[test]
    fn an_image_of_pods_to_come_is_told_where_it_is_known_not_to_be_there() {
        let text = "@app web OutOfSync Missing\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: prod}\nspec: {template: \
                    {spec: {containers: [{name: web, image: 'reg.io/web:main'}]}}}\n@live\n";
        let mut snapshot = crate::tests::snapshot(text);
        assert_eq!(crate::tests::check_snapshot("LYN0501", &snapshot), "");
        snapshot.lost_images.insert("reg.io/web:main".into(), "it is not found".to_owned());
        assert_eq!(
            crate::tests::check_snapshot("LYN0501", &snapshot),
            "P1 LYN0501/web/Image/reg.io/web:main: the registry has no image reg.io/web:main; Deployment web cannot start\n  Deployment \
             prod/web: spec.template.spec.containers[0].image: reg.io/web:main: it is not found\n  fix: Push reg.io/web:main\n"
        );
    }
}
