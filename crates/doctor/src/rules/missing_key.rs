//! Keys that a Secret or ConfigMap lacks.

use std::cell::LazyCell;
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
    let makers = LazyCell::new(|| produced::makers(case));
    let makers_of =
        |server, key: &ObjectKey| makers.get(&(server, key.clone())).map_or(&[][..], Vec::as_slice);
    for (server, holder, pods) in case.holders() {
        let told = told(case, server, holder);
        for (key, path, part) in pods.needs() {
            let Some(part) = part else { continue };
            if lacks(case, server, &key, &part, &told)
                || is_to_come(case, server, &key)
                    && written(case, server, makers_of(server, &key)).is_some_and(|all| !all.contains(&*part))
            {
                lacking.entry((server, key)).or_default().push(Lack { holder, path, part });
            }
        }
    }
    for ((server, key), lacks) in lacking {
        findings.add(found(case, server, &key, &lacks, makers_of(server, &key)));
    }
}

/// Whether a Secret is not there yet, and is not in Git either: then what makes it tells which keys it is going to have.
fn is_to_come(case: &Case<'_>, server: &str, key: &ObjectKey) -> bool {
    key.kind == "Secret" && case.is_absent(server, key) && case.wanted(server, key).is_empty()
}

/// The keys that the makers of a Secret write, as Git has them or else as they are there; nothing where one of them may write others.
fn written<'a>(case: &Case<'a>, server: &str, makers: &[ObjectKey]) -> Option<BTreeSet<&'a str>> {
    let mut keys = BTreeSet::new();
    for maker in makers {
        let wanted: Vec<&Object> =
            case.wanted(server, maker).into_iter().map(|(_, one)| &one.object).collect();
        let all = if wanted.is_empty() { vec![case.live(server, maker)?] } else { wanted };
        for maker in all {
            keys.extend(produced::keys_written(maker)?);
        }
    }
    (!makers.is_empty()).then_some(keys)
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
    let coming = if object.is_none() { written(case, server, makers) } else { None };
    let is_coming = coming.is_some();
    let there: BTreeSet<&str> = coming.unwrap_or_else(|| object.into_iter().flat_map(keys).collect());
    let parts: BTreeSet<&str> = lacks.iter().map(|lack| lack.part.as_str()).collect();
    let users: BTreeSet<String> =
        lacks.iter().map(|lack| format!("{} {}", lack.holder.kind(), lack.holder.name())).collect();
    let named = words::list(makers.iter().map(|maker| format!("{} {}", maker.kind, maker.name)));
    let (parts, users) = (words::list(&parts), words::list(users));
    let cause = match is_coming {
        true => format!("{named} writes no key {parts} into Secret {}, which {users} reads", key.name),
        false => format!("{} {} has no key {parts}, which {users} reads", key.kind, key.name),
    };
    let has = match there.is_empty() {
        true => format!("{} {} has no keys", key.kind, key.name),
        false if is_coming => format!("{named} writes {}", words::list(&there)),
        false => format!("{} {} has {}", key.kind, key.name, words::list(&there)),
    };
    let maker_files = makers.iter().filter(|_| is_coming).filter_map(|maker| {
        let (app, wanted) = case.wanted(server, maker).into_iter().next()?;
        app.file(wanted, format!("{} {}", maker.kind, maker.name))
    });
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
        .seen(maker_files)
        .affects(lacks.iter().map(|lack| case.node(server, &lack.holder.key())))
        .fix(fixes(case, server, key, lacks, &there, makers));
    // What makes it may not have come to it yet, if it is not known to write other keys alone.
    if makers.is_empty() || is_coming { finding } else { finding.unless_deeper() }
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

    /// An ExternalSecret whose store is not there, so that there is no Secret yet.
    fn coming(spec: &str) -> String {
        let maker = format!(
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {{name: db, namespace: shop}}\nspec: {spec}\n"
        );
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {password: x, username: x}\n";
        LACKS.replace("@live\n", &format!("---\n{maker}@live\n")).replace(secret, &maker)
    }

    #[test]
    fn a_key_that_nobody_writes_is_found_before_there_is_a_secret() {
        let text =
            coming("{secretStoreRef: {name: vault}, data: [{secretKey: password}, {secretKey: username}]}");
        assert_eq!(
            check("LYN0302", &text),
            "P1 LYN0302/web/Secret/db: ExternalSecret db writes no key pasword into Secret db, which StatefulSet web reads\n  \
             StatefulSet shop/web: spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name: db, key pasword\n  \
             ExternalSecret db writes password and username\n  web.yaml:6: ExternalSecret db\n  fix: Have StatefulSet web read key \
             password\n  fix: Add key pasword to Secret db\n"
        );
        assert!(roots(&text).contains("P1 LYN0302/web/Secret/db explains web\n"), "{}", roots(&text));
    }

    #[test]
    fn a_key_that_may_come_from_the_backend_or_is_written_is_waited_for() {
        assert_eq!(check("LYN0302", &coming("{dataFrom: [{extract: {key: shop}}]}")), "");
        assert_eq!(check("LYN0302", &coming("{data: [{secretKey: pasword}]}")), "");
        let other = coming("{data: [{secretKey: password}]}")
            .replace("kind: ExternalSecret", "kind: ClusterGenerator");
        assert_eq!(check("LYN0302", &other), "", "nobody is known to make it");
    }
}
