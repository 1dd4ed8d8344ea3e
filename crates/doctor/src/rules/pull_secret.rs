//! Images that are not given to everybody.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::near;
use super::pull::{self, Pull, Why};
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::snapshot::Override;

pub(super) const RULE: Rule = Rule {
    code: "LYN0502",
    title: "The pull secret is missing or does not open the registry",
    explanation: "\
The registry gives the image only to those who log in. The pods name no Secret for that, name one that is not there, or one that does
not open the registry.

## Why
The Secret was never made in this namespace, what makes it cannot, its password has changed, or the chart's `imagePullSecrets` is
empty.

## Example
```
imagePullSecrets: [{name: ghcr-pull}]
Unable to retrieve some image pull secrets (ghcr-pull); attempting to pull the image may not succeed.
unauthorized: authentication required
```

## What to do
Have the Secret made in the namespace of the pods, by whatever makes the others, and name it in the pods or in their service account.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let failed = pull::failed(case, Why::Denied);
    let mut missing: BTreeMap<(&str, ObjectKey), Vec<Pull<'_>>> = BTreeMap::new();
    for (image, pulls) in failed {
        let mut others = Vec::new();
        for one in pulls {
            match absent(case, &one) {
                Some(secret) => missing.entry((one.server, secret)).or_default().push(one),
                None => others.push(one),
            }
        }
        if !others.is_empty() {
            findings.add(refused(case, &image, &others));
        }
    }
    for ((server, secret), pulls) in missing {
        findings.add(not_there(case, server, secret, &pulls));
    }
}

/// The first pull secret of a pod that is not there.
fn absent(case: &Case<'_>, one: &Pull<'_>) -> Option<ObjectKey> {
    let pods = Pods::of(one.pod)?;
    let secrets = pods.pull_secrets().map(|name| ObjectKey::new("", "Secret", one.pod.namespace(), name));
    let mut absent = secrets.filter(|secret| case.is_absent(one.server, secret));
    absent.next()
}

/// One finding for the Secret, whatever images it would open. What would make it is looked at first.
fn not_there(case: &Case<'_>, server: &str, secret: ObjectKey, pulls: &[Pull<'_>]) -> Finding {
    let images: BTreeSet<&str> = pulls.iter().map(|one| one.image).collect();
    let near = nearest(case, server, &secret);
    let cause = format!(
        "the pull secret {} is not in namespace {}, and without it the registry does not give {}; {} cannot start{}",
        secret.name,
        secret.namespace,
        crate::words::list(images.iter()),
        pull::users(pulls),
        near.map(|near| format!("; there is {near}")).unwrap_or_default()
    );
    let naming = naming(case, &secret, pulls);
    let seen = naming.iter().map(|(_, object, path)| Evidence::Field {
        object: object.clone(),
        path: path.clone(),
        value: secret.name.to_string(),
    });
    let rename = near.and_then(|near| {
        let fix =
            naming.iter().fold(Fix::new(format!("Name pull secret {near}")), |fix, (app, object, path)| {
                let value = Some(Value::from(near));
                fix.git(app, Place::Field { object: object.clone(), path: path.clone(), value })
            });
        let fix = fix.risk(Risk::Low, "pods that do not start now").why("the namespace has it");
        fix.has_edits().then_some(fix)
    });
    let told =
        pulls.iter().find_map(|one| case.event(server, &one.pod.key(), &["FailedToRetrieveImagePullSecret"]));
    let elsewhere = elsewhere(case, server, &secret);
    let elsewhere =
        elsewhere.map(|namespace| Evidence::seen(format!("namespace {namespace} has a Secret of that name")));
    let whose = case.wanted(server, &secret).first().map(|(app, _)| app.name.clone());
    // Those that name it in one file were forgotten together.
    let file =
        pull::affected(pulls).iter().filter_map(Node::key).find_map(|key| case.written_in(server, key));
    Finding::new(RULE.code, Node::object(server, secret.clone()), cause)
        .alike(file.map(|file| format!("{} {file}", secret.name)))
        .of(whose.or_else(|| pull::app(case, pulls)))
        .seen(pull::evidence(pulls))
        .seen(told)
        .seen(elsewhere)
        .seen(seen.take(crate::limits::NAMED))
        .affects(pull::affected(pulls))
        .unless_deeper()
        .fix(rename)
        .fix([Fix::new(format!("Have Secret {} made in namespace {}", secret.name, secret.namespace))
            .person(format!(
                "make it by what makes the others, or: kubectl -n {} create secret docker-registry {} --docker-server=… \
                 --docker-username=… --docker-password=…",
                secret.namespace, secret.name
            ))
            .verify(format!("kubectl -n {} get secret {}", secret.namespace, secret.name))])
}

/// A Secret of the namespace that is called almost so.
fn nearest<'a>(case: &Case<'a>, server: &str, secret: &ObjectKey) -> Option<&'a str> {
    let live = case.of_kind(server, "", "Secret").iter().copied();
    let wanted = case.apps().filter(|app| app.server() == server).flat_map(|app| app.wanted());
    let wanted = wanted.map(|wanted| &wanted.object).filter(|one| one.kind() == "Secret");
    let here = live.chain(wanted).filter(|one| one.namespace() == secret.namespace.as_str());
    near::likely(&secret.name, here.map(Object::name))
}

/// Where those whose images are not given name a pull secret.
fn naming(case: &Case<'_>, secret: &ObjectKey, pulls: &[Pull<'_>]) -> Vec<(AppName, ObjectKey, FieldPath)> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for pull in pulls.iter().filter(|pull| known.insert(pull.owner.key())) {
        let (Some(app), Some(pods)) = (case.owner(pull.server, &pull.owner.key()), Pods::of(pull.owner))
        else {
            continue;
        };
        let place = pods.pull_secrets().position(|name| name == secret.name.as_str());
        found.extend(place.map(|place| {
            let path = pods.path.field("imagePullSecrets").index(place).field("name");
            (app, pull.owner.key(), path)
        }));
    }
    found
}

/// Another namespace that has a Secret of the same name.
fn elsewhere<'a>(case: &Case<'a>, server: &str, secret: &ObjectKey) -> Option<&'a str> {
    let mut all = case
        .of_kind(server, "", "Secret")
        .iter()
        .copied()
        .filter(|one: &&'a Object| one.name() == secret.name);
    all.next().map(Object::namespace)
}

/// No secret is named, or the one that is there does not open the registry.
fn refused(case: &Case<'_>, image: &str, pulls: &[Pull<'_>]) -> Finding {
    let named: BTreeSet<ObjectKey> = pulls.iter().flat_map(|one| named(one)).collect();
    let users = pull::users(pulls);
    let one = &pulls[0];
    let names_some =
        |object: &Object| Pods::of(object).is_some_and(|pods| pods.pull_secrets().next().is_some());
    let covered = case.override_of(one.server, &one.owner.key(), names_some).filter(|_| named.is_empty());
    let why = Override::ending(covered.as_ref());
    let cause = match named.first() {
        None => {
            format!("the registry does not give {image} to everybody, and {users} names no pull secret{why}")
        }
        Some(secret) => format!(
            "the pull secret {} does not open the registry for {image}; {users} cannot start",
            secret.name
        ),
    };
    let finding = Finding::new(RULE.code, Node::Image(image.into()), cause)
        .of(pull::app(case, pulls))
        .seen(pull::evidence(pulls))
        .seen(covered.iter().flat_map(|(app, covered)| covered.evidence(app)))
        .affects(pull::affected(pulls));
    let server = pulls[0].server;
    match named.is_empty() {
        true => {
            let back = covered.map(|(app, covered)| covered.fix(&app, &one.owner.key()));
            finding
                .fix(back.map(|fix| fix.risk(Risk::Low, "pods that do not start now")))
                .fix(name_it(case, pulls))
        }
        false => finding
            .because(named.iter().map(|secret| Node::object(server, secret.clone())))
            .fix([Fix::new(format!("Put the right login for {image} into the Secret"))
            .person(format!(
                "check that the name exists and that the login may read it: docker login, docker pull {image}"
            ))
            .why("a name that does not exist is refused in the same words")]),
    }
}

fn named(one: &Pull<'_>) -> Vec<ObjectKey> {
    let Some(pods) = Pods::of(one.pod) else { return Vec::new() };
    pods.pull_secrets().map(|name| ObjectKey::new("", "Secret", one.pod.namespace(), name)).collect()
}

/// Names a pull secret that the namespace has, or says that one is needed.
fn name_it(case: &Case<'_>, pulls: &[Pull<'_>]) -> Vec<Fix> {
    let one = &pulls[0];
    let is_login = |secret: &&&Object| {
        secret.namespace() == one.pod.namespace()
            && secret.value().str_at(&["type"]) == Some("kubernetes.io/dockerconfigjson")
    };
    let there = case.of_kind(one.server, "", "Secret").iter().find(is_login);
    let edit = there.and_then(|secret| {
        let app = case.owner(one.server, &one.owner.key())?;
        let path = Pods::of(one.owner)?.path.field("imagePullSecrets");
        let value = Some(lynceus_object::value!([{"name": (secret.name())}]));
        let fix = Fix::new(format!(
            "Name pull secret {} in {} {}",
            secret.name(),
            one.owner.kind(),
            one.owner.name()
        ))
        .git(&app, Place::Field { object: one.owner.key(), path, value })
        .risk(Risk::Low, "pods that do not start now")
        .why("the namespace has it; whether it opens this registry cannot be seen");
        Some(fix)
    });
    let make = Fix::new("Make a pull secret and name it")
        .person("make a Secret of type kubernetes.io/dockerconfigjson in the namespace, and name it under imagePullSecrets");
    edit.into_iter().chain([make]).collect()
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const DENIED: &str = "
@app web Synced Degraded
@status {resources: [{group: '', version: v1, kind: Pod, namespace: dev, name: web, status: Synced, health: {status: Degraded}}]}
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: dev, annotations: {argocd.argoproj.io/tracking-id: 'web:/Pod:dev/web'}}
spec: {restartPolicy: Always, imagePullSecrets: [{name: pull}], containers: [{name: web, image: 'ghcr.io/web:1'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: web, state: {waiting: {reason: ErrImagePull, message: 'failed to authorize: unexpected status: 403 Forbidden'}}}
";

    #[test]
    fn a_pull_secret_that_is_not_there_is_found() {
        assert_eq!(
            check("LYN0502", DENIED),
            "P1 LYN0502/web/Secret/pull: the pull secret pull is not in namespace dev, and without it the registry does not \
             give ghcr.io/web:1; Pod web cannot start\n  Pod dev/web: status.containerStatuses: ErrImagePull: failed to \
             authorize: unexpected status: 403 Forbidden\n  Pod dev/web: spec.imagePullSecrets[0].name: pull\n  fix: Have \
             Secret pull made in namespace dev\n"
        );
        let near = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: image-pull, namespace: dev}\n";
        let found = check("LYN0502", &format!("{DENIED}{near}"));
        assert!(found.contains("cannot start; there is image-pull\n"), "{found}");
        let other = check("LYN0502", &format!("{DENIED}{}", near.replace("image-pull", "database")));
        assert!(other.contains("cannot start\n"), "{other}");
        assert_eq!(roots(DENIED), "P1 LYN0502/web/Secret/pull explains web\n");
    }

    #[test]
    fn pods_that_name_no_secret_are_found() {
        let text = DENIED.replace("imagePullSecrets: [{name: pull}], ", "");
        assert!(check("LYN0502", &text).contains("to everybody, and Pod web names no pull secret"));
    }

    #[test]
    fn an_empty_list_that_covers_the_one_of_the_chart_is_named() {
        let wanted = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: dev}\nspec: {containers: [{name: web, image: \
                      'ghcr.io/web:1'}]}\n@covers site.yaml:2 imagePullSecrets [] values.yaml Pod web spec.imagePullSecrets \
                      [{name: pull}]\n@live\n";
        let text = DENIED.replace("imagePullSecrets: [{name: pull}], ", "").replacen("@live\n", wanted, 1);
        let found = check("LYN0502", &text);
        assert!(
            found.contains(
                "names no pull secret; `imagePullSecrets: []` in site.yaml covers what values.yaml has\n"
            ),
            "{found}"
        );
        assert!(found.contains("  fix: Take `imagePullSecrets: []` out of site.yaml\n"), "{found}");
        let other = text.replace("Pod web spec.imagePullSecrets", "Pod web spec.hostAliases");
        assert!(!check("LYN0502", &other).contains("site.yaml"), "what covers something else is not named");
    }

    #[test]
    fn an_image_that_is_not_there_is_another_matter() {
        let text = DENIED
            .replace("failed to authorize: unexpected status: 403 Forbidden", "ghcr.io/web:1: not found");
        assert_eq!(check("LYN0502", &text), "");
    }
}
