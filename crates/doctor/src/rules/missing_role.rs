//! Bindings that name a role which is not there.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use super::missing_right::{self, Lacking};
use super::near;
use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::rights::{self, RBAC};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0809",
    title: "A binding names a role that is not there",
    explanation: "\
A RoleBinding or ClusterRoleBinding refers to a Role or ClusterRole that does not exist and that no application brings. Kubernetes
accepts that and gives no rights: whoever is bound may do nothing of what was meant.

## Why
The Role was renamed, is in another namespace, or is a ClusterRole while the binding says Role.

## Example
```
RoleBinding waiter: roleRef: Role image-reader        there is Role images-reader
```

## What to do
Correct `roleRef`. It cannot be changed in a binding that is there: the binding has to be deleted and made anew.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let lacking = missing_right::gather(case);
    for server in case.servers().filter(|server| rights::are_known(case, server)) {
        let mut missing: BTreeMap<ObjectKey, Vec<&Object>> = BTreeMap::new();
        for kind in ["RoleBinding", "ClusterRoleBinding"] {
            for binding in case.due(server, RBAC, kind) {
                if let Some(role) = rights::role_of(binding).filter(|role| is_gone(case, server, role)) {
                    missing.entry(role).or_default().push(binding);
                }
            }
        }
        for (role, bindings) in missing {
            let finding = found(case, server, role, &bindings, &lacking);
            // What nobody complains of and no application has is the cluster's own affair.
            if finding.severity < Severity::P3 || finding.application.is_some() {
                findings.add(finding);
            }
        }
    }
}

/// Whether a role is certainly not there and nobody brings it. A cluster always has ClusterRoles: one without was not asked for them.
pub(super) fn is_gone(case: &Case<'_>, server: &str, role: &ObjectKey) -> bool {
    let is_seen = role.kind != "ClusterRole" || !case.of_kind(server, RBAC, "ClusterRole").is_empty();
    is_seen && rights::are_known(case, server) && case.is_nowhere(server, role)
}

/// The service accounts that a binding names.
fn accounts(binding: &Object) -> Vec<ObjectKey> {
    let subjects = binding.value().items_at(&["subjects"]).iter();
    let subjects = subjects.filter(|one| one.str_at(&["kind"]) == Some("ServiceAccount"));
    subjects
        .filter_map(|one| {
            let namespace = one.str_at(&["namespace"]).filter(|text| !text.is_empty());
            let namespace = namespace.unwrap_or(binding.namespace());
            Some(ObjectKey::new("", "ServiceAccount", namespace, one.str_at(&["name"])?))
        })
        .collect()
}

type Gathered<'a> = BTreeMap<(&'a str, ObjectKey), Lacking>;

fn found(
    case: &Case<'_>,
    server: &str,
    role: ObjectKey,
    bindings: &[&Object],
    lacking: &Gathered<'_>,
) -> Finding {
    let bound: BTreeSet<ObjectKey> = bindings.iter().flat_map(|binding| accounts(binding)).collect();
    let complains = bound.iter().filter_map(|account| lacking.get(&(server, account.clone())));
    let complains: Vec<&Lacking> = complains.collect();
    let is_ill = case.pod_owners(server).any(|owner| {
        let account = |pods: &Pods<'_>| {
            bound.contains(&ObjectKey::new("", "ServiceAccount", owner.namespace(), pods.service_account()))
        };
        case.is_unwell(owner) && Pods::of(owner).is_some_and(|pods| account(&pods))
    });
    let meant = meant(case, server, &role, bindings);
    let hint = meant.as_ref().map(|one| format!("; there is {} {}", one.kind, one.name)).unwrap_or_default();
    let names = words::list(bindings.iter().map(|one| format!("{} {}", one.kind(), one.name())));
    let cause = format!("{} {} is named by {names} and defined nowhere{hint}", role.kind, role.name);
    let app = bindings.iter().find_map(|binding| case.owner(server, &binding.key()));
    let seen = bindings.iter().map(|binding| Evidence::Field {
        object: binding.key(),
        path: FieldPath::fields(["roleRef", "name"]),
        value: role.name.to_string(),
    });
    let severity = match (complains.is_empty(), is_ill) {
        (false, true) => Severity::P1,
        (false, false) => Severity::P2,
        // What nobody complains of may not be needed.
        (true, _) => Severity::P3,
    };
    let made =
        complains.first().zip(app.as_ref()).and_then(|(lacking, app)| make(app, &role, lacking, bindings));
    Finding::new(RULE.code, Node::object(server, role.clone()), cause)
        .of(app.clone())
        .severity(severity)
        .seen(seen.take(crate::limits::NAMED))
        .seen(complains.iter().flat_map(|one| one.evidence.iter().cloned()).take(1))
        .affects(complains.iter().flat_map(|one| one.users.iter().cloned()))
        .fix(meant.and_then(|meant| correct(case, server, &meant, bindings)))
        .fix(made)
        .fix([Fix::new(format!("Bring {} {}", role.kind, role.name)).person(format!(
            "add {} {} with the rights that are meant, or take {names} away",
            role.kind, role.name
        ))])
}

/// The role that is meant: one of that name and the other kind, or one that is called almost so.
fn meant(case: &Case<'_>, server: &str, role: &ObjectKey, bindings: &[&Object]) -> Option<ObjectKey> {
    let wide = ObjectKey::new(RBAC, "ClusterRole", "", role.name.clone());
    if role.kind == "Role" && case.live(server, &wide).is_some() {
        return Some(wide);
    }
    let near_ones = case.of_kind(server, RBAC, &role.kind).iter().copied();
    let near_ones: Vec<&Object> =
        near_ones.filter(|one| one.namespace() == role.namespace.as_str()).collect();
    let near = near::likely(&role.name, near_ones.iter().map(|one| one.name()));
    let own = bindings.iter().find_map(|binding| case.owner(server, &binding.key()));
    // Of an application's own roles the only one that nobody is bound to.
    let bound: BTreeSet<ObjectKey> = ["RoleBinding", "ClusterRoleBinding"]
        .iter()
        .flat_map(|kind| case.of_kind(server, RBAC, kind))
        .filter_map(|binding| rights::role_of(binding))
        .collect();
    let only = || {
        let is_free = |one: &&&Object| {
            own.is_some() && case.owner(server, &one.key()) == own && !bound.contains(&one.key())
        };
        let mut free = near_ones.iter().filter(is_free);
        let first = free.next()?;
        free.next().is_none().then(|| first.name())
    };
    let name = near.or_else(only)?;
    Some(ObjectKey { name: name.into(), ..role.clone() })
}

/// Has the bindings name another role.
fn correct(case: &Case<'_>, server: &str, meant: &ObjectKey, bindings: &[&Object]) -> Option<Fix> {
    let mut fix = Fix::new(format!("Bind {} {}", meant.kind, meant.name));
    for binding in bindings {
        let Some((app, _)) = case.wanted(server, &binding.key()).into_iter().next() else { continue };
        for (field, is) in [("kind", &meant.kind), ("name", &meant.name)] {
            let path = FieldPath::fields(["roleRef", field]);
            if path.get(binding.value()).and_then(Value::as_str) != Some(is.as_str()) {
                let value = Some(Value::from(is.as_str()));
                fix = fix.git(&app.name, Place::Field { object: binding.key(), path, value });
            }
        }
    }
    fix.has_edits().then(|| {
        fix.risk(Risk::Low, "whoever is bound, who has none of these rights now")
            .why("it is there; a binding has to be made anew for it")
    })
}

/// The role with what is lacking, where that is known.
fn make(app: &AppName, role: &ObjectKey, lacking: &Lacking, bindings: &[&Object]) -> Option<Fix> {
    let beside = bindings.first()?.key();
    let object = missing_right::role(role, lacking);
    Some(
        Fix::new(format!("Add {} {} with what is lacking", role.kind, role.name))
            .git(app, Place::Add { beside, object })
            .risk(Risk::Low, "whoever is bound to it")
            .why("it is bound already, and gives what was asked for in vain"),
    )
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots, roots_with_fixes};

    const BOUND: &str = "
@app ci OutOfSync Degraded
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter, namespace: ci}
@live
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci, uid: j1}
spec: {template: {spec: {serviceAccountName: waiter, containers: [{name: wait, image: cli}]}}}
status: {failed: 1, conditions: [{type: Failed, status: 'True'}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: waiter, namespace: ci}
---
apiVersion: v1
kind: Pod
metadata: {name: wait-1, namespace: ci, ownerReferences: [{kind: Job, name: wait, uid: j1, controller: true}]}
spec: {serviceAccountName: waiter, containers: [{name: wait, image: cli}]}
status:
  phase: Failed
  containerStatuses:
  - name: wait
    state: {terminated: {exitCode: 1, message: 'pods is forbidden: User \"system:serviceaccount:ci:waiter\" cannot list resource \"pods\" in API group \"\" in the namespace \"ci\"'}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter, namespace: ci}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pod-reader}
subjects: [{kind: ServiceAccount, name: waiter}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pods-reader, namespace: ci}
rules: [{apiGroups: [''], resources: [pods], verbs: [list]}]
";

    #[test]
    fn a_binding_to_a_role_that_is_not_there_is_the_cause_of_what_its_account_may_not_do() {
        assert_eq!(roots(BOUND), "P1 LYN0809/ci/Role/pod-reader explains ci\n");
        let fixes = roots_with_fixes(BOUND);
        assert!(
            fixes.contains(
                "  Bind Role pods-reader\n    in the files of ci: set roleRef.name of RoleBinding waiter to \"pods-reader\"\n    kubectl -n \
                 ci delete rolebinding waiter\n"
            ),
            "{fixes}"
        );
        assert!(fixes.contains("  Add Role pod-reader with what is lacking\n"), "{fixes}");
    }

    #[test]
    fn a_cluster_role_of_that_name_is_meant() {
        let wide = BOUND.replace(
            "kind: Role\nmetadata: {name: pods-reader, namespace: ci}",
            "kind: ClusterRole\nmetadata: {name: pod-reader}",
        );
        assert!(
            roots_with_fixes(&wide).contains("set roleRef.kind of RoleBinding waiter to \"ClusterRole\"")
        );
    }

    #[test]
    fn what_nobody_complains_of_is_only_worth_putting_right() {
        let calm = BOUND.replace("pods is forbidden", "it failed").replace("cannot list resource", "likes");
        assert!(
            check("LYN0809", &calm).starts_with("P3 LYN0809/ci/Role/pod-reader"),
            "{}",
            check("LYN0809", &calm)
        );
    }

    #[test]
    fn a_role_that_is_there_or_comes_is_fine() {
        assert_eq!(check("LYN0809", &BOUND.replace("pods-reader", "pod-reader")), "");
        let comes = BOUND.replacen(
            "---\napiVersion: rbac",
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: pod-reader, namespace: ci}\n---\napiVersion: rbac",
            1,
        );
        assert_eq!(check("LYN0809", &comes), "");
    }
}
