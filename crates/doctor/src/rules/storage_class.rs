//! Claims of a storage class that is not there.

use std::collections::BTreeMap;

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::claims::{self, Sets};
use super::near;
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0602",
    title: "The storage class is not there",
    explanation: "\
Claims name a storage class that the cluster has not and that nobody brings; or they name none, and no class is the one for such
claims. They are never bound, and what uses them never starts.

## Why
Classes are called differently by every provider: a manifest that was written for one cluster asks for a class of its, `gp2`,
`managed-premium`, `standard`. A new cluster may have no default.

## Example
```
storageclass.storage.k8s.io \"gp2\" not found; there are gp3 and efs
```

## What to do
Name a class that is there, in the values of the environment; or mark one as default. The class of a claim cannot be changed: the
claim has to be made anew, which costs nothing while it has no volume.
",
    check,
};

const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        let mut missing: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
        let mut unnamed = Vec::new();
        for claim in claims::pending(case, server) {
            match claims::class_name(claim) {
                Some("") => {}
                Some(name) if is_nowhere(case, server, name) && !is_waiting_for_volume(claim) => {
                    missing.entry(name).or_default().push(claim);
                }
                Some(_) => {}
                None => unnamed.push(claim),
            }
        }
        for claim in to_come(case, server) {
            if let Some(name) = claims::class_name(claim).filter(|name| is_foreseen(case, server, name)) {
                missing.entry(name).or_default().push(claim);
            }
        }
        missing.into_iter().for_each(|(name, claims)| findings.add(found(case, server, name, &claims)));
        if !unnamed.is_empty() && !has_default(case, server) {
            findings.add(no_default(case, server, &unnamed));
        }
    }
}

/// Whether a class is not there and nobody wants it either.
fn is_nowhere(case: &Case<'_>, server: &str, name: &str) -> bool {
    let key = claims::class_key(name);
    case.is_absent(server, &key) && case.wanted(server, &key).is_empty()
}

/// The claims that are in Git and that nobody has made yet.
fn to_come<'a>(case: &Case<'a>, server: &str) -> impl Iterator<Item = &'a Object> {
    let all = case.to_come(server).iter().copied();
    all.filter(|one| {
        (one.group(), one.kind()) == ("", "PersistentVolumeClaim") && !is_waiting_for_volume(one)
    })
}

/// Whether the class of a claim that is still to come will not be there: there are others, and nothing that is to run is called after it.
fn is_foreseen(case: &Case<'_>, server: &str, name: &str) -> bool {
    !name.is_empty()
        && is_nowhere(case, server, name)
        && !classes(case, server).is_empty()
        && !case.is_promised(server, name)
}

/// Whether a claim names a volume itself: its class is then a mere label.
fn is_waiting_for_volume(claim: &Object) -> bool {
    claim.value().str_at(&["spec", "volumeName"]).is_some_and(|name| !name.is_empty())
        || claim.at(&["spec", "selector"]).is_some()
}

/// How many classes are offered in place of one that is not there.
const OFFERED: usize = 3;

fn classes<'a>(case: &Case<'a>, server: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        case.of_kind(server, "storage.k8s.io", "StorageClass").iter().map(|class| class.name()).collect();
    names.sort_unstable();
    names
}

fn default_of<'a>(case: &Case<'a>, server: &str) -> Option<&'a str> {
    let mut all = case.of_kind(server, "storage.k8s.io", "StorageClass").iter().copied();
    let is_default = |class: &&'a Object| {
        [DEFAULT, "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|key| class.annotation(key) == Some("true"))
    };
    all.find(is_default).map(Object::name)
}

/// Whether a class is the default, or that cannot be told because not all were seen.
fn has_default(case: &Case<'_>, server: &str) -> bool {
    default_of(case, server).is_some() || !case.is_absent(server, &claims::class_key(""))
}

fn found<'a>(case: &Case<'a>, server: &str, name: &str, claims: &[&'a Object]) -> Finding {
    let there = classes(case, server);
    let near = near::likely(name, there.iter().copied());
    let others = match (near, there.is_empty()) {
        (Some(near), _) => format!("; there is {near}"),
        (None, false) => {
            format!("; there {} {}", if there.len() == 1 { "is" } else { "are" }, words::list(&there))
        }
        (None, true) => String::new(),
    };
    let cause = format!(
        "there is no StorageClass {name}, which {} ask for, and nobody brings it{others}",
        words::count(claims.len(), "claim")
    )
    .replace("1 claim ask ", "1 claim asks ");
    let mut others: Vec<&str> = near.or_else(|| default_of(case, server)).into_iter().collect();
    others.extend(there.iter().filter(|_| near.is_none() && there.len() <= OFFERED));
    let mut known = std::collections::BTreeSet::new();
    others.retain(|other| known.insert(*other));
    let fixes = others.into_iter().filter_map(|other| take_other(case, server, (name, other), claims));
    Finding::new(RULE.code, Node::object(server, claims::class_key(name)), cause)
        .of(Sets::new(case, server).app(case, server, claims))
        .seen(named(claims))
        .seen(claims.first().and_then(|claim| case.event(server, &claim.key(), &["ProvisioningFailed"])))
        .affects(claims.iter().map(|claim| case.node(server, &claim.key())))
        .affects(claims.iter().map(|claim| Node::object(server, claim.key())))
        .fix(fixes)
        .fix([Fix::new(format!("Bring StorageClass {name}"))
            .person(format!("install what provides volumes, with a StorageClass {name}"))
            .verify("kubectl get storageclass")])
}

fn named(claims: &[&Object]) -> Vec<Evidence> {
    let told = claims.iter().map(|claim| Evidence::Field {
        object: claim.key(),
        path: FieldPath::fields(["spec", "storageClassName"]),
        value: claims::class_name(claim).unwrap_or_default().to_owned(),
    });
    told.take(crate::limits::NAMED).collect()
}

/// Names another class wherever the claims come from.
fn take_other<'a>(
    case: &Case<'a>,
    server: &str,
    (name, other): (&str, &str),
    claims: &[&'a Object],
) -> Option<Fix> {
    let sets = Sets::new(case, server);
    let mut fix = Fix::new(format!("Ask for StorageClass {other}"));
    let mut known = std::collections::BTreeSet::new();
    for claim in claims {
        let (maker, app) = sets.maker(case, server, claim);
        let Some(app) = app.filter(|_| known.insert(maker.key())) else { continue };
        let paths = match (maker.kind(), template(maker, claim)) {
            ("PersistentVolumeClaim", _) => vec![FieldPath::fields(["spec", "storageClassName"])],
            (_, Some(place)) => vec![
                FieldPath::fields(["spec", "volumeClaimTemplates"])
                    .index(place)
                    .field("spec")
                    .field("storageClassName"),
            ],
            // What an operator makes has its class from a field of what it works for.
            (_, None) => named_in(maker.value(), name),
        };
        let own: Vec<(ObjectKey, FieldPath)> = paths.into_iter().map(|path| (maker.key(), path)).collect();
        let places = if own.is_empty() { beside(case, &app, claim, name) } else { own };
        for (object, path) in places {
            fix = fix.git(&app, Place::Field { object, path, value: Some(Value::from(other)) });
        }
    }
    fix.has_edits().then(|| {
        fix.risk(
            Risk::Medium,
            "the claims, and the StatefulSets that they come from, have to be deleted and made anew",
        )
        .why("the class is there; claims cannot be changed afterwards, and these hold nothing yet")
        .verify("kubectl get pvc -A")
    })
}

/// The fields of an application's custom resources in the namespace of a claim that name its class: an operator may be told of it elsewhere
/// than in what owns the claim.
fn beside(case: &Case<'_>, app: &AppName, claim: &Object, name: &str) -> Vec<(ObjectKey, FieldPath)> {
    let wanted = case.app(app).into_iter().flat_map(|app| app.wanted()).map(|wanted| &wanted.object);
    let custom = wanted.filter(|one| one.group().contains('.') && one.namespace() == claim.namespace());
    custom.flat_map(|one| named_in(one.value(), name).into_iter().map(|path| (one.key(), path))).collect()
}

/// The fields of an object's spec that name a class: `class`, `storageClass`, `storageClassName`.
fn named_in(object: &Value, name: &str) -> Vec<FieldPath> {
    fn walk(value: &Value, at: &FieldPath, name: &str, found: &mut Vec<FieldPath>) {
        if at.segments().len() > crate::limits::REFERENCE_DEPTH {
            return;
        }
        for (key, part) in value.as_map().into_iter().flat_map(|map| map.iter()) {
            let here = at.field(key.clone());
            if part.as_str() == Some(name) && key.to_lowercase().contains("class") {
                found.push(here.clone());
            }
            walk(part, &here, name, found);
        }
        for (place, part) in value.as_seq().unwrap_or_default().iter().enumerate() {
            walk(part, &at.index(place), name, found);
        }
    }
    let mut found = Vec::new();
    let spec = FieldPath::fields(["spec"]);
    if let Some(value) = spec.get(object) {
        walk(value, &spec, name, &mut found);
    }
    found
}

/// Which template of a StatefulSet a claim comes from.
fn template(set: &Object, claim: &Object) -> Option<usize> {
    let templates = set.value().items_at(&["spec", "volumeClaimTemplates"]).iter();
    let mut names = templates.map(|one| one.str_at(&["metadata", "name"]).unwrap_or_default());
    names.position(|name| claim.name().starts_with(&format!("{name}-{}-", set.name())))
}

/// Claims that name no class where none is for such: the cluster lacks something, not each of them.
fn no_default<'a>(case: &Case<'a>, server: &str, claims: &[&'a Object]) -> Finding {
    let there = classes(case, server);
    let names = words::list(claims.iter().map(|claim| format!("{}/{}", claim.namespace(), claim.name())));
    let cause =
        format!("no storage class is the default, and {names} names none").replace(" and names", " names");
    let mark = there.first().map(|class| {
        let patch = format!("kubectl annotate storageclass {class} {DEFAULT}=true");
        Fix::new(format!("Mark StorageClass {class} as the default"))
            .person(patch)
            .risk(Risk::Low, "claims that name no class get volumes of it")
            .undo(format!("kubectl annotate storageclass {class} {DEFAULT}-"))
            .verify("kubectl get storageclass")
    });
    Finding::new(RULE.code, Node::Cluster(server.into()), cause)
        .of(Sets::new(case, server).app(case, server, claims))
        .seen(claims.first().and_then(|claim| case.event(server, &claim.key(), &["FailedBinding"])))
        .seen([Evidence::seen(match there.is_empty() {
            true => "there is no storage class at all".to_owned(),
            false => format!("these are there: {}", words::list(&there)),
        })])
        .affects(claims.iter().map(|claim| Node::object(server, claim.key())))
        .fix(mark)
        .fix([
            Fix::new("Name a class in the claims").person("set storageClassName where the claims come from")
        ])
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const MISSING: &str = "
@app db Synced Progressing
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: gp22}
@live
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: managed-premum}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: managed-premium}
";

    #[test]
    fn a_class_that_is_not_there_is_found_and_the_nearest_named() {
        assert_eq!(
            check("LYN0602", MISSING),
            "P1 LYN0602/db/StorageClass/managed-premum: there is no StorageClass managed-premum, which 1 claim asks for, and \
             nobody brings it; there is managed-premium\n  PersistentVolumeClaim shop/data: spec.storageClassName: \
             managed-premum\n  fix: Ask for StorageClass managed-premium\n  fix: Bring StorageClass managed-premum\n"
        );
        assert_eq!(roots(MISSING), "P1 LYN0602/db/StorageClass/managed-premum explains db\n");
    }

    #[test]
    fn what_an_operator_makes_claims_of_names_one_of_the_classes_that_are_there() {
        let text = "
@app kafka Synced Progressing
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: brokers, namespace: streaming}
spec: {storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, class: premium-rwo}]}}
@live
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: brokers, namespace: streaming, uid: p1}
spec: {storage: {type: jbod, volumes: [{id: 0, type: persistent-claim, class: premium-rwo}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-0-brokers-0, namespace: streaming, ownerReferences: [{apiVersion: kafka.strimzi.io/v1, kind: KafkaNodePool, name: brokers, uid: p1, controller: true}]}
spec: {storageClassName: premium-rwo}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard}
";
        let found = check("LYN0602", text);
        assert!(
            found.ends_with(
                "  fix: Ask for StorageClass fast\n  fix: Ask for StorageClass standard\n  fix: Bring StorageClass premium-rwo\n"
            ),
            "{found}"
        );
        assert!(crate::tests::told(text).contains("spec.storage.volumes[0].class of KafkaNodePool brokers"));
    }

    #[test]
    fn a_claim_without_a_class_where_none_is_default_is_found() {
        let text = MISSING.replace("storageClassName: managed-premum", "accessModes: [ReadWriteOnce]");
        let found = check("LYN0602", &text);
        assert!(found.contains("no storage class is the default, and shop/data names none"), "{found}");
    }

    #[test]
    fn a_claim_that_waits_for_its_first_consumer_is_no_trouble() {
        assert_eq!(check("LYN0602", &MISSING.replace("managed-premum", "managed-premium")), "");
    }

    #[test]
    fn a_class_that_somebody_brings_is_waited_for() {
        let brought = format!(
            "@app storage OutOfSync Missing\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: managed-premum}}\n{MISSING}"
        );
        assert_eq!(check("LYN0602", &brought), "");
    }

    #[test]
    fn claims_that_a_stopped_sync_has_not_come_to_are_told_where_other_classes_are_there() {
        let (wanted, _) = MISSING.split_once("@live").unwrap();
        let class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: managed-premium}\n";
        let text = format!("{wanted}@live\n{class}");
        assert_eq!(
            check("LYN0602", &text),
            "P1 LYN0602/db/StorageClass/gp22: there is no StorageClass gp22, which 1 claim asks for, and nobody brings it; there is \
             managed-premium\n  PersistentVolumeClaim shop/data: spec.storageClassName: gp22\n  fix: Ask for StorageClass \
             managed-premium\n  fix: Bring StorageClass gp22\n"
        );
        let promised = format!("@app csi-gp22 OutOfSync Progressing\n{text}");
        assert_eq!(check("LYN0602", &promised), "", "what is to run may bring it");
        assert_eq!(check("LYN0602", wanted), "", "no class is seen");
    }
}
