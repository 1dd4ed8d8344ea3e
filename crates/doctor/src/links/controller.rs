//! A custom resource that nobody has looked at yet waits for whoever looks after its kind.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{GroupKind, Object, ObjectKey, Str, Value};

use super::kind::{DEFINITION, DEFINITIONS, defined};
use crate::case::{Case, Pods};
use crate::graph::Graph;
use crate::node::{AppName, Node};

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) fn link(case: &Case<'_>, server: &str, graph: &mut Graph) {
    let mut waiting: BTreeMap<GroupKind, Vec<&Object>> = BTreeMap::new();
    for object in case.objects(server).iter().filter(|object| is_custom(object)) {
        if is_unseen(object) && case.is_unwell(object) {
            waiting.entry(object.group_kind()).or_default().push(object);
        }
    }
    if waiting.is_empty() {
        return;
    }
    let idle: Vec<&Object> = case.pod_owners(server).filter(|owner| case.is_unwell(owner)).collect();
    let homes = homes(case, server);
    for (kind, objects) in waiting {
        let home = homes.get(&kind);
        let looks_after = |owner: &&&Object| {
            home.is_some_and(|app| case.owner(server, &owner.key()).as_ref() == Some(app))
                || may_write(case, server, owner, &kind.group)
        };
        for owner in idle.iter().filter(looks_after) {
            for object in &objects {
                graph.link(case.node(server, &object.key()), Node::object(server, owner.key()));
            }
        }
    }
}

/// Whether an object is of a kind that some controller outside of Kubernetes looks after.
fn is_custom(object: &Object) -> bool {
    let group = object.group();
    group.contains('.')
        && !group.ends_with(".k8s.io")
        && group != lynceus_api::GROUP
        && object.controller().is_none()
}

/// Whether nobody has written down how an object is, as it stands now.
fn is_unseen(object: &Object) -> bool {
    let Some(status) = object.at(&["status"]).filter(|status| !status.is_empty()) else { return true };
    let generation = object.value().int_at(&["metadata", "generation"]);
    status.int_at(&["observedGeneration"]).is_some_and(|seen| generation.is_some_and(|now| seen < now))
}

/// The applications that the definitions of kinds belong to: most bring the controller as well.
fn homes(case: &Case<'_>, server: &str) -> BTreeMap<GroupKind, AppName> {
    let definitions = case.of_kind(server, DEFINITIONS, DEFINITION).iter();
    definitions
        .filter_map(|definition| Some((defined(definition)?, case.owner(server, &definition.key())?)))
        .collect()
}

/// Whether the account of a workload was given a right to write objects of a group, by its name.
fn may_write(case: &Case<'_>, server: &str, owner: &Object, group: &Str) -> bool {
    let Some(pods) = Pods::of(owner) else { return false };
    let (account, namespace) = (pods.service_account(), owner.namespace());
    let bindings = case.of_kind(server, RBAC, "ClusterRoleBinding").iter();
    let roles: BTreeSet<&str> = bindings
        .filter(|binding| {
            binding.value().items_at(&["subjects"]).iter().any(|subject| {
                subject.str_at(&["name"]) == Some(account)
                    && subject.str_at(&["namespace"]) == Some(namespace)
            })
        })
        .filter_map(|binding| binding.value().str_at(&["roleRef", "name"]))
        .collect();
    roles.into_iter().any(|role| {
        let key = ObjectKey::new(RBAC, "ClusterRole", "", role);
        let rules = case.live(server, &key).map(|role| role.value().items_at(&["rules"])).unwrap_or_default();
        rules.iter().any(|rule| {
            let has = |field, words: &[&str]| {
                rule.items_at(&[field]).iter().filter_map(Value::as_str).any(|word| words.contains(&word))
            };
            has("apiGroups", &[group.as_str()]) && has("verbs", &["*", "update", "patch"])
        })
    })
}

#[cfg(test)]
mod tests {
    const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec: {group: cert-manager.io, names: {kind: Certificate, plural: certificates}}
";
    const MAKER: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: maker, namespace: makers}
";
    const MAKERS: &str = "
@app makers Synced Progressing
@status {resources: [{group: apps, kind: Deployment, namespace: makers, name: maker, status: Synced, health: {status: Progressing}}]}
";
    const REST: &str = "
@app shop Synced Progressing
@status {resources: [{group: cert-manager.io, kind: Certificate, namespace: shop, name: web, status: Synced, health: {status: Progressing}}]}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: shop}
spec: {secretName: web-tls}
@live
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec: {group: cert-manager.io, names: {kind: Certificate, plural: certificates}}
status: {conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: shop}
spec: {secretName: web-tls}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: maker, namespace: makers}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: maker, namespace: makers, uid: d, generation: 1}
spec: {replicas: 1, template: {spec: {serviceAccountName: maker, containers: [{name: a, image: a, envFrom: [{secretRef: {name: gone}}]}]}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}
";

    #[test]
    fn what_nobody_has_looked_at_waits_for_the_controller_that_comes_with_its_kind() {
        let text = format!("{MAKERS}{DEFINITION}---{MAKER}{REST}");
        assert_eq!(crate::tests::roots(&text), "P0 LYN0301/makers/Secret/gone explains makers shop\n");
    }

    #[test]
    fn or_for_the_one_that_has_the_right_to_write_it() {
        let rights = "---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: maker}
roleRef: {kind: ClusterRole, name: maker}
subjects: [{kind: ServiceAccount, name: maker, namespace: makers}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: maker}
rules: [{apiGroups: [cert-manager.io], resources: [certificates/status], verbs: [update]}]
";
        let text = format!("@app kinds Synced Healthy\n{DEFINITION}{MAKERS}{MAKER}{REST}{rights}");
        assert_eq!(crate::tests::roots(&text), "P0 LYN0301/makers/Secret/gone explains makers shop\n");
    }

    #[test]
    fn what_was_looked_at_does_not() {
        let seen = REST.replacen(
            "spec: {secretName: web-tls}\n---",
            "spec: {secretName: web-tls}\nstatus: {conditions: [{type: Ready, status: 'False', message: it is refused}]}\n---",
            1,
        );
        let found = crate::tests::roots(&format!("{MAKERS}{DEFINITION}---{MAKER}{seen}"));
        assert!(found.contains("LYN0301/makers/Secret/gone explains makers\n"), "{found}");
    }
}
