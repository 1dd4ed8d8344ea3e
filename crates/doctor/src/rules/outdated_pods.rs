//! Pods of an older revision that nobody replaces.

use lynceus_object::{Object, ObjectKey};

use crate::case::{Case, Pods};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Risk};
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0406",
    title: "Pods of an outdated revision are not replaced",
    explanation: "\
A StatefulSet or DaemonSet has a newer template, and pods that were made from an older one. What was put right in Git does not reach
them: the set waits for its pods to be ready before it replaces them, or replaces none by itself. Its application is Synced all the same.

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
        for kind in ["StatefulSet", "DaemonSet"] {
            for set in case.of_kind(server, "apps", kind).iter().copied() {
                of_set(case, server, set, findings);
            }
        }
    }
}

fn of_set<'a>(case: &Case<'a>, server: &str, set: &'a Object, findings: &mut Findings) {
    let all = pods_of(case, server, set);
    let Some(newest) = newest(case, server, set) else { return };
    let old = all.iter().copied().filter(|pod| is_old(newest, pod) && !is_kept_back(set, pod));
    let old: Vec<&Object> = old.collect();
    let ill = old.iter().copied().filter(|pod| case.is_unwell(pod) && differs(set, pod));
    let ill: Vec<&Object> = ill.collect();
    if !ill.is_empty() && is_stuck(case, set, &all) {
        return findings.add(found(case, server, set, newest, &ill));
    }
    // Whoever deletes pods one by one is at it while one of them is away or not ready yet.
    let is_at_rest = all.iter().all(|pod| !pod.is_deleting() && !case.is_unwell(pod));
    // What is of no application has nobody whose wish it would not follow.
    let is_wanted = case.owner(server, &set.key()).is_some();
    if waits_for_deletion(set) && is_at_rest && is_wanted && !old.is_empty() {
        findings.add(found(case, server, set, newest, &old).severity(Severity::P2));
    }
}

fn pods_of<'a>(case: &Case<'a>, server: &str, set: &'a Object) -> Vec<&'a Object> {
    case.children(server, set).iter().copied().filter(|one| one.kind() == "Pod").collect()
}

/// The revision that the pods of a set are to be of. A DaemonSet does not say it: it is that of its latest ControllerRevision.
fn newest<'a>(case: &Case<'a>, server: &str, set: &'a Object) -> Option<&'a str> {
    let seen = set.value().int_at(&["status", "observedGeneration"]);
    let generation = set.value().int_at(&["metadata", "generation"]);
    if set.kind() == "StatefulSet" {
        return set.value().str_at(&["status", "updateRevision"]).filter(|text| !text.is_empty());
    }
    let revisions = case.children(server, set).iter().filter(|one| one.kind() == "ControllerRevision");
    let latest = revisions.max_by_key(|one| one.value().int_at(&["revision"]))?;
    latest.label(REVISION).filter(|_| seen == generation)
}

/// Whether a pod is of an older revision and stays.
fn is_old(newest: &str, pod: &Object) -> bool {
    let own = pod.label(REVISION).unwrap_or_default();
    !own.is_empty() && own != newest && !pod.is_deleting()
}

/// Whether a set replaces pods only when somebody deletes them.
fn waits_for_deletion(set: &Object) -> bool {
    set.value().str_at(&["spec", "updateStrategy", "type"]) == Some("OnDelete")
}

/// Whether the set replaces no pods by itself, waits for each to be ready first, or has as many unavailable as may be.
pub(crate) fn is_stuck(case: &Case<'_>, set: &Object, pods: &[&Object]) -> bool {
    if waits_for_deletion(set) || set.kind() != "StatefulSet" {
        // A DaemonSet replaces first what does not work.
        return waits_for_deletion(set);
    }
    set.value().str_at(&["spec", "podManagementPolicy"]) != Some("Parallel")
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

fn found(case: &Case<'_>, server: &str, set: &Object, newest: &str, pods: &[&Object]) -> Finding {
    let names = words::list(pods.iter().map(|pod| pod.name()));
    let why = match waits_for_deletion(set) {
        true => "it replaces pods only when they are deleted",
        false if set.value().str_at(&["spec", "podManagementPolicy"]) == Some("Parallel") => {
            "no more of its pods may be unavailable than are"
        }
        _ => "it waits for them to be ready before it goes on",
    };
    let (pod, are) = if pods.len() == 1 { ("pod", "is") } else { ("pods", "are") };
    let cause = format!(
        "{pod} {names} of {} {} {are} of an outdated revision, and not replaced: {why}",
        set.kind(),
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
        .fix([delete(case, server, set, pods)])
}

fn delete(case: &Case<'_>, server: &str, set: &Object, pods: &[&Object]) -> Fix {
    let fix = Fix::new(format!("Delete the outdated pods of {} {}", set.kind(), set.name()));
    let fix = match pods.iter().all(|pod| case.is_unwell(pod)) {
        true => fix.risk(Risk::Low, "pods that are not ready; their volumes stay"),
        false => fix.risk(
            Risk::Medium,
            "pods that work now, which are best deleted one after the other; their volumes stay",
        ),
    };
    let fix = fix.why("they are made anew from the template as it is now").verify(format!(
        "kubectl -n {} rollout status {} {}",
        set.namespace(),
        set.kind().to_lowercase(),
        set.name()
    ));
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
    fn pods_that_work_and_that_nobody_deletes_are_not_as_git_wants_them() {
        let fine = OLD
            .replace("Synced Progressing", "Synced Healthy")
            .replace("phase: Pending", "phase: Running")
            .replace("]}\nstatus:\n  phase", "], restartPolicy: Always}\nstatus:\n  phase")
            .replace("{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) had untolerated taint {env: dev}.'}", "{type: Ready, status: 'True'}");
        assert!(
            check("LYN0406", &fine).starts_with("P2 LYN0406/vault/StatefulSet/vault: pod vault-0"),
            "{}",
            check("LYN0406", &fine)
        );
        assert_eq!(check("LYN0406", &fine.replace("OnDelete", "RollingUpdate")), "", "the set is at it");
        let leaving =
            fine.replace("name: vault-0\n", "name: vault-0\n  deletionTimestamp: '2026-01-01T11:59:00Z'\n");
        assert_eq!(check("LYN0406", &leaving), "", "somebody is at it");
    }

    const DAEMON: &str = "
@app agent Synced Healthy
@status {resources: [{group: apps, kind: DaemonSet, namespace: dev, name: agent, status: Synced, health: {status: Healthy}}]}
@live
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: dev, uid: d1, generation: 2, annotations: {argocd.argoproj.io/tracking-id: 'agent:apps/DaemonSet:dev/agent'}}
spec: {updateStrategy: {type: OnDelete}, template: {spec: {containers: [{name: a, image: 'a:2'}]}}}
status: {observedGeneration: 2, desiredNumberScheduled: 1, currentNumberScheduled: 1, numberAvailable: 1, updatedNumberScheduled: 0}
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: agent-1, namespace: dev, labels: {controller-revision-hash: '1'}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d1, controller: true}]}
revision: 1
---
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: agent-2, namespace: dev, labels: {controller-revision-hash: '2'}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d1, controller: true}]}
revision: 2
---
apiVersion: v1
kind: Pod
metadata: {name: agent-x, namespace: dev, labels: {controller-revision-hash: '1'}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d1, controller: true}]}
spec: {nodeName: a, restartPolicy: Always, containers: [{name: a, image: 'a:1'}]}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
";

    #[test]
    fn outdated_pods_of_a_daemon_set_are_found() {
        assert_eq!(
            check("LYN0406", DAEMON),
            "P2 LYN0406/agent/DaemonSet/agent: pod agent-x of DaemonSet agent is of an outdated revision, and not replaced: it replaces \
             pods only when they are deleted\n  pod agent-x is of revision 1, the newest is 2\n  fix: Delete the outdated pods of \
             DaemonSet agent\n"
        );
        assert_eq!(check("LYN0406", &DAEMON.replace("OnDelete", "RollingUpdate")), "");
        let new = DAEMON.replace("labels: {controller-revision-hash: '1'}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d1, controller: true}]}\nspec", "labels: {controller-revision-hash: '2'}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d1, controller: true}]}\nspec");
        assert_eq!(check("LYN0406", &new), "");
    }

    #[test]
    fn a_partition_keeps_pods_back_on_purpose() {
        let kept = OLD.replace("{type: OnDelete}", "{type: RollingUpdate, rollingUpdate: {partition: 1}}");
        assert_eq!(check("LYN0406", &kept), "");
    }
}
