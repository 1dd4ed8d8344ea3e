//! Keys that a Secret or ConfigMap lacks.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{FieldPath, Object, ObjectKey, Str, Value};

use super::near;
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::links::produced;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0302",
    title: "A key is named that the Secret or ConfigMap has not",
    explanation: "\
The Secret or ConfigMap is there, or is wanted, but not with the key that pods read from it. Containers that need it as a variable or
as a file are not started.

## Why
The key is called differently by whoever makes the object: `username` and `user`, `tls.crt` and `cert`; or it was never added.

## Example
```
couldn't find key password in Secret shop/db       it has pass and user
```

## What to do
Read the key that is there, or have it made under the name that is read.
",
    check,
};

const PARTS: [&str; 3] = ["data", "binaryData", "stringData"];

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut lacking: BTreeMap<(&str, ObjectKey), Vec<Lack<'_>>> = BTreeMap::new();
    for (server, holder, pods) in case.holders() {
        let told = told(case, server, holder);
        for (key, path, part) in pods.needs() {
            let Some(part) = part else { continue };
            if lacks(case, server, &key, &part, &told) {
                lacking.entry((server, key)).or_default().push(Lack { holder, path, part });
            }
        }
    }
    if lacking.is_empty() {
        return;
    }
    let makers = produced::makers(case);
    for ((server, key), lacks) in lacking {
        let makers = makers.get(&(server, key.clone())).cloned().unwrap_or_default();
        findings.add(found(case, server, &key, &lacks, &makers));
    }
}

/// A key that somebody reads and that is not there.
struct Lack<'a> {
    holder: &'a Object,
    path: FieldPath,
    part: Str,
}

/// Whether an object lacks a key for certain. Objects of which only the metadata was seen say nothing; kubelets may.
fn lacks(case: &Case<'_>, server: &str, key: &ObjectKey, part: &str, told: &str) -> bool {
    if key.kind != "Secret" && key.kind != "ConfigMap" {
        return false;
    }
    let wanted = case.wanted(server, key);
    let is_wanted = wanted.iter().any(|(_, wanted)| has(&wanted.object, part));
    let Some(live) = case.live(server, key) else {
        return !is_wanted && wanted.iter().any(|(_, wanted)| keys(&wanted.object).next().is_some());
    };
    let is_told = told
        .contains(&format!("couldn't find key {part} in {} {}/{}", key.kind, key.namespace, key.name))
        || (told.contains(&format!("non-existent secret key: {part}")) && key.kind == "Secret")
        || (told.contains(&format!("non-existent config key: {part}")) && key.kind == "ConfigMap");
    !has(live, part) && !is_wanted && (is_told || keys(live).next().is_some())
}

fn has(object: &Object, part: &str) -> bool {
    keys(object).any(|key| key == part)
}

fn keys(object: &Object) -> impl Iterator<Item = &str> {
    let maps = PARTS.iter().filter_map(|part| object.at(&[part])).filter_map(Value::as_map);
    maps.flat_map(|map| map.iter()).map(|(key, _)| key.as_str())
}

/// What kubelets say of the pods of a workload.
fn told(case: &Case<'_>, server: &str, holder: &Object) -> String {
    let Some(live) = case.live(server, &holder.key()) else { return String::new() };
    let mut told = String::new();
    for pod in case.pods(server, live) {
        let statuses = ["initContainerStatuses", "containerStatuses"].iter();
        let statuses = statuses.flat_map(|field| pod.value().items_at(&["status", field]));
        let waits = statuses.filter_map(|status| status.str_at(&["state", "waiting", "message"]));
        let events =
            case.events(server, &pod.key()).iter().filter_map(|event| event.value().str_at(&["message"]));
        waits.chain(events).for_each(|text| {
            told.push_str(text);
            told.push('\n');
        });
    }
    told
}

fn found(
    case: &Case<'_>,
    server: &str,
    key: &ObjectKey,
    lacks: &[Lack<'_>],
    makers: &[ObjectKey],
) -> Finding {
    let wanted = case.wanted(server, key);
    let object = case.live(server, key).or_else(|| wanted.first().map(|(_, wanted)| &wanted.object));
    let there: BTreeSet<&str> = object.into_iter().flat_map(keys).collect();
    let parts: BTreeSet<&str> = lacks.iter().map(|lack| lack.part.as_str()).collect();
    let users: BTreeSet<String> =
        lacks.iter().map(|lack| format!("{} {}", lack.holder.kind(), lack.holder.name())).collect();
    let cause = format!(
        "{} {} has no key {}, which {} reads",
        key.kind,
        key.name,
        words::list(&parts),
        words::list(users)
    );
    let has = match there.is_empty() {
        true => format!("{} {} has no keys", key.kind, key.name),
        false => format!("{} {} has {}", key.kind, key.name, words::list(&there)),
    };
    let fields = lacks.iter().map(|lack| Evidence::Field {
        object: lack.holder.key(),
        path: lack.path.clone(),
        value: format!("{}, key {}", key.name, lack.part),
    });
    let app = wanted.first().map(|(app, _)| app.name.clone());
    let app = app.or_else(|| case.owner(server, &lacks[0].holder.key()));
    let finding = Finding::new(RULE.code, Node::object(server, key.clone()), cause)
        .of(app)
        .seen(fields.take(crate::limits::NAMED))
        .seen([Evidence::seen(has)])
        .affects(lacks.iter().map(|lack| case.node(server, &lack.holder.key())))
        .fix(fixes(case, server, key, lacks, &there, makers));
    // What makes it may not have come to it yet.
    if makers.is_empty() { finding } else { finding.unless_deeper() }
}

fn fixes(
    case: &Case<'_>,
    server: &str,
    key: &ObjectKey,
    lacks: &[Lack<'_>],
    there: &BTreeSet<&str>,
    makers: &[ObjectKey],
) -> Vec<Fix> {
    let mut fixes = Vec::new();
    for lack in lacks {
        let near = near::nearest(&lack.part, there.iter().copied());
        let app = case.owner(server, &lack.holder.key());
        if let Some((near, app, path)) =
            near.zip(app).and_then(|(near, app)| Some((near, app, key_path(lack, key)?)))
        {
            let fix = Fix::new(format!("Have {} {} read key {near}", lack.holder.kind(), lack.holder.name()))
                .git(&app, Place::Field { object: lack.holder.key(), path, value: Some(Value::from(near)) })
                .risk(Risk::Low, "pods that do not start now")
                .why("it is there under a name that differs little");
            fixes.push(fix);
        }
    }
    let who = match makers.first() {
        Some(maker) => format!("have {} {} bring it", maker.kind, maker.name),
        None => "add it where the object is defined".to_owned(),
    };
    let parts: BTreeSet<&str> = lacks.iter().map(|lack| lack.part.as_str()).collect();
    fixes.push(
        Fix::new(format!("Add key {} to {} {}", words::list(parts), key.kind, key.name)).person(who).verify(
            format!("kubectl -n {} describe {} {}", key.namespace, key.kind.to_lowercase(), key.name),
        ),
    );
    fixes
}

/// Where the key itself stands that is read.
fn key_path(lack: &Lack<'_>, key: &ObjectKey) -> Option<FieldPath> {
    let parent = lack.path.parent()?;
    let items = parent.field("items");
    let pods = Pods::of(lack.holder)?;
    let value = pods.holder.value();
    if parent.field("key").get(value).and_then(Value::as_str) == Some(lack.part.as_str()) {
        return Some(parent.field("key"));
    }
    let place = items
        .get(value)?
        .as_seq()?
        .iter()
        .position(|item| item.str_at(&["key"]) == Some(lack.part.as_str()))?;
    (!key.name.is_empty()).then(|| items.index(place).field("key"))
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const LACKS: &str = "
@app web Synced Degraded
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: web, image: web, env: [{name: P, valueFrom: {secretKeyRef: {name: db, key: pasword}}}]}]}}}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop, uid: s1, generation: 1}
spec: {replicas: 1, template: {spec: {containers: [{name: web, image: web, env: [{name: P, valueFrom: {secretKeyRef: {name: db, key: pasword}}}]}]}}}
status: {observedGeneration: 1, replicas: 1, readyReplicas: 0}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
data: {password: x, username: x}
";

    #[test]
    fn a_key_that_the_secret_has_not_is_found_and_the_nearest_offered() {
        assert_eq!(
            check("LYN0302", LACKS),
            "P1 LYN0302/web/Secret/db: Secret db has no key pasword, which StatefulSet web reads\n  StatefulSet shop/web: \
             spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name: db, key pasword\n  Secret db has password and \
             username\n  fix: Have StatefulSet web read key password\n  fix: Add key pasword to Secret db\n"
        );
        assert_eq!(roots(LACKS), "P1 LYN0302/web/Secret/db explains web\n");
    }

    #[test]
    fn a_key_that_has_nothing_to_do_with_it_is_not_offered() {
        let other = LACKS.replace("data: {password: x, username: x}", "data: {colour: x}");
        let found = check("LYN0302", &other);
        assert!(found.ends_with("  Secret db has colour\n  fix: Add key pasword to Secret db\n"), "{found}");
    }

    #[test]
    fn a_secret_of_which_only_the_name_was_seen_may_have_it() {
        assert_eq!(check("LYN0302", &LACKS.replace("data: {password: x, username: x}\n", "")), "");
    }

    #[test]
    fn a_key_that_git_has_and_the_cluster_has_not_yet_is_on_its_way() {
        let comes = format!(
            "@app secrets OutOfSync Healthy\napiVersion: v1\nkind: Secret\nmetadata: {{name: db, namespace: shop}}\nstringData: {{pasword: x}}\n{LACKS}"
        );
        assert_eq!(check("LYN0302", &comes), "");
    }
}
