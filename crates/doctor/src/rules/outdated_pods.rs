//! Pods of an older revision that nobody replaces.

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Action, Fix, Risk};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0406",
    title: "Pods of an outdated revision are not replaced",
    explanation: "\
The StatefulSet has a newer template, and a pod that was made from an older one and does not become ready. What was put right in Git
does not reach it: the set waits for its pods to be ready before it replaces them, or replaces none by itself.

## Why
With `updateStrategy: OnDelete` pods are replaced only when somebody deletes them. With `RollingUpdate`, a pod that never became ready
stops the update that would have mended it: ordered pods wait for it, and those that start all at once are replaced only while fewer
are unavailable than `maxUnavailable` lets be, which is one.

## Example
```
status.updateRevision: vault-7c9   pod vault-0: controller-revision-hash: vault-5f4, Pending
```

## What to do
Delete the pods that are named: they are made anew from the template as it is now. Their volumes stay.
",
    check,
};

const REVISION: &str = "controller-revision-hash";

fn check(case: &Case<'_>, findings: &mut Findings) {
    for server in case.servers() {
        for set in case.of_kind(server, "apps", "StatefulSet").iter().copied() {
            let all = case.children(server, set);
            let pods: Vec<&Object> =
                all.iter().copied().filter(|pod| is_left_behind(case, set, pod)).collect();
            if !pods.is_empty() && is_stuck(case, set, all) {
                findings.add(found(case, server, set, &pods));
            }
        }
    }
}

/// Whether a pod is of an older revision and not ready.
fn is_left_behind(case: &Case<'_>, set: &Object, pod: &Object) -> bool {
    let newest = set.value().str_at(&["status", "updateRevision"]).unwrap_or_default();
    let own = pod.label(REVISION).unwrap_or_default();
    let is_old = !newest.is_empty() && !own.is_empty() && own != newest;
    is_old && !pod.is_deleting() && !is_kept_back(set, pod) && case.is_unwell(pod) && differs(set, pod)
}

/// Whether the set replaces no pods by itself, waits for each to be ready first, or has as many unavailable as may be.
pub(crate) fn is_stuck(case: &Case<'_>, set: &Object, pods: &[&Object]) -> bool {
    let text = |path: &[&str]| set.value().str_at(path).unwrap_or_default();
    text(&["spec", "updateStrategy", "type"]) == "OnDelete"
        || text(&["spec", "podManagementPolicy"]) != "Parallel"
        || pods.iter().filter(|pod| case.is_unwell(pod)).count() >= most_unavailable(set, pods.len())
}

/// How many pods may be unavailable while a set is updated; one if it does not say. A share is of all, rounded down.
fn most_unavailable(set: &Object, pods: usize) -> usize {
    let told = set.at(&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
    let share = || told?.as_str()?.strip_suffix('%')?.parse::<usize>().ok();
    let number = || told?.as_int().and_then(|number| usize::try_from(number).ok());
    number().or_else(|| share().map(|share| pods * share / 100)).unwrap_or(1).max(1)
}

/// Whether a partition keeps a pod at the older revision on purpose.
fn is_kept_back(set: &Object, pod: &Object) -> bool {
    let partition =
        set.value().int_at(&["spec", "updateStrategy", "rollingUpdate", "partition"]).unwrap_or(0);
    let number = pod.name().rsplit_once('-').and_then(|(_, number)| number.parse::<i64>().ok());
    number.is_some_and(|number| number < partition)
}

/// Whether the template says something else than the pod about what can keep a pod from starting. What both have in common is
/// not mended by making the pod anew.
fn differs(set: &Object, pod: &Object) -> bool {
    let (Some(new), Some(old)) = (Pods::of(set), Pods::of(pod)) else { return false };
    let is_pending = pod.value().str_at(&["spec", "nodeName"]).is_none_or(str::is_empty);
    if is_pending {
        let asked = |pods: &Pods<'_>| super::room::asked(pods);
        return placing(&new) != placing(&old) || asked(&new) != asked(&old);
    }
    let needs =
        |pods: &Pods<'_>| pods.needs().into_iter().map(|(key, _, part)| (key, part)).collect::<Vec<_>>();
    let parts = |pods: &Pods<'_>| pods.containers().iter().map(|(_, one)| part(one)).collect::<Vec<_>>();
    parts(&new) != parts(&old) || needs(&new).iter().any(|need| !needs(&old).contains(need))
}

/// What decides where pods go, without what every pod is given.
fn placing(pods: &Pods<'_>) -> Vec<String> {
    let given = |one: &&lynceus_object::Value| {
        one.str_at(&["key"]).is_some_and(|key| key.starts_with("node.kubernetes.io/"))
    };
    let tolerations = pods.spec.items_at(&["tolerations"]).iter().filter(|one| !given(one)).map(words::shown);
    let fields = ["nodeSelector", "affinity", "topologySpreadConstraints"].iter();
    let rest =
        fields.filter_map(|field| pods.spec.get(field)).filter(|value| !value.is_empty()).map(words::shown);
    tolerations.chain(rest).collect()
}

/// What of a container can keep it from starting.
fn part(container: &lynceus_object::Value) -> Vec<String> {
    let fields = ["image", "command", "args", "env", "envFrom", "securityContext", "resources", "ports"];
    fields
        .iter()
        .filter_map(|field| container.get(field))
        .filter(|value| !value.is_empty())
        .map(words::shown)
        .collect()
}

fn found(case: &Case<'_>, server: &str, set: &Object, pods: &[&Object]) -> Finding {
    let names = words::list(pods.iter().map(|pod| pod.name()));
    let newest = set.value().str_at(&["status", "updateRevision"]).unwrap_or_default();
    let why = match set.value().str_at(&["spec", "updateStrategy", "type"]) {
        Some("OnDelete") => "it replaces pods only when they are deleted",
        _ if set.value().str_at(&["spec", "podManagementPolicy"]) == Some("Parallel") => {
            "no more of its pods may be unavailable than are"
        }
        _ => "it waits for them to be ready before it goes on",
    };
    let (pod, are) = if pods.len() == 1 { ("pod", "is") } else { ("pods", "are") };
    let cause = format!(
        "{pod} {names} of StatefulSet {} {are} of an outdated revision, and not replaced: {why}",
        set.name()
    );
    let node = case.node(server, &set.key());
    let evidence = pods.iter().map(|pod| {
        let own = pod.label(REVISION).unwrap_or_default();
        Evidence::seen(format!("pod {} is of revision {own}, the newest is {newest}", pod.name()))
    });
    Finding::new(RULE.code, node, cause)
        .of(case.owner(server, &set.key()))
        .seen(evidence.take(crate::limits::EVIDENCE))
        .fix([delete(server, set, pods)])
}

fn delete(server: &str, set: &Object, pods: &[&Object]) -> Fix {
    let fix = Fix::new(format!("Delete the outdated pods of StatefulSet {}", set.name()))
        .risk(Risk::Low, "pods that are not ready; their volumes stay")
        .why("they are made anew from the template as it is now")
        .verify(format!("kubectl -n {} rollout status statefulset {}", set.namespace(), set.name()));
    pods.iter().fold(fix, |fix, pod| {
        let object: ObjectKey = pod.key();
        fix.cluster(Action::Delete { cluster: server.to_owned(), object })
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const OLD: &str = "
@app vault Synced Progressing
@status {resources: [{group: apps, kind: StatefulSet, namespace: dev, name: vault, status: Synced, health: {status: Progressing}}]}
@live
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vault, namespace: dev, uid: s1, annotations: {argocd.argoproj.io/tracking-id: 'vault:apps/StatefulSet:dev/vault'}}
spec:
  updateStrategy: {type: OnDelete}
  template: {spec: {tolerations: [{key: env, value: dev}], containers: [{name: vault, image: vault}]}}
status: {replicas: 1, updateRevision: vault-2, currentRevision: vault-1}
---
apiVersion: v1
kind: Pod
metadata:
  name: vault-0
  namespace: dev
  labels: {controller-revision-hash: vault-1}
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: vault, uid: s1, controller: true}]
spec: {containers: [{name: vault, image: vault}]}
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.'}
---
apiVersion: v1
kind: Node
metadata: {name: dev-1}
spec: {taints: [{key: env, value: dev, effect: NoSchedule}]}
";

    #[test]
    fn a_pod_that_was_made_before_its_template_was_put_right_is_found() {
        assert_eq!(
            check("LYN0406", OLD),
            "P1 LYN0406/vault/StatefulSet/vault: pod vault-0 of StatefulSet vault is of an outdated revision, and not \
             replaced: it replaces pods only when they are deleted\n  pod vault-0 is of revision vault-1, the newest is \
             vault-2\n  fix: Delete the outdated pods of StatefulSet vault\n"
        );
        assert_eq!(
            roots(OLD),
            "P1 LYN0406/vault/StatefulSet/vault explains vault\n",
            "the taint is no trouble any more"
        );
    }

    #[test]
    fn a_pod_that_the_new_template_would_not_help_is_not() {
        let same = OLD.replace("tolerations: [{key: env, value: dev}], ", "");
        assert_eq!(check("LYN0406", &same), "");
        assert!(check("LYN0401", &same).contains("LYN0401/vault"));
    }

    #[test]
    fn pods_that_start_at_once_wait_while_too_many_are_unavailable() {
        let parallel =
            OLD.replace("{type: OnDelete}", "{type: RollingUpdate}\n  podManagementPolicy: Parallel");
        assert!(check("LYN0406", &parallel).contains("no more of its pods may be unavailable than are"));
        let more = parallel
            .replace("{type: RollingUpdate}", "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}");
        assert_eq!(check("LYN0406", &more), "");
    }

    #[test]
    fn a_partition_keeps_pods_back_on_purpose() {
        let kept = OLD.replace("{type: OnDelete}", "{type: RollingUpdate, rollingUpdate: {partition: 1}}");
        assert_eq!(check("LYN0406", &kept), "");
    }
}
