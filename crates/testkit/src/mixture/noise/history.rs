//! What happened before and is over: it stands in the cluster and means nothing any more.

use crate::mixture::scene::{Pods, Scene};

/// When it happened: shortly before the rehearsal begins.
const THEN: &str = "2025-12-31T23:40:00Z";

/// What is left of former days in a namespace.
pub(super) fn past(scene: &mut Scene, namespace: &str, work: &str) {
    if !scene.random.coin() {
        return;
    }
    scene.given.push(format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n"));
    match scene.random.below(4) {
        0 => warnings(scene, namespace, work),
        1 => failed_job(scene, namespace, work),
        2 => evicted_pod(scene, namespace, work),
        _ => left_over(scene, namespace, work),
    }
}

/// Warnings about pods that have gone, and about what is well now.
fn warnings(scene: &mut Scene, namespace: &str, work: &str) {
    let told = [
        (
            "Pod",
            format!("{work}-7d9f-x2x1"),
            "FailedScheduling",
            "0/3 nodes are available: 3 Insufficient cpu.",
        ),
        ("Pod", format!("{work}-7d9f-x2x1"), "BackOff", "Back-off restarting failed container main in pod"),
        (
            "Deployment",
            work.to_owned(),
            "FailedCreate",
            "Error creating: exceeded quota: old, requested: pods=1",
        ),
        (
            "PersistentVolumeClaim",
            work.to_owned(),
            "ProvisioningFailed",
            "storageclass.storage.k8s.io \"old\" not found",
        ),
    ];
    for (place, (kind, name, reason, text)) in told.iter().enumerate() {
        scene.given.push(format!(
            "apiVersion: v1\nkind: Event\nmetadata: {{name: {work}.{place}, namespace: {namespace}}}\ninvolvedObject: {{kind: {kind}, \
             namespace: {namespace}, name: {name}}}\ntype: Warning\nreason: {reason}\nmessage: '{text}'\ncount: 3\nfirstTimestamp: \
             '{THEN}'\nlastTimestamp: '{THEN}'\nsource: {{component: cluster}}\n"
        ));
    }
}

/// A Job of nobody that failed, and a later one that did not.
fn failed_job(scene: &mut Scene, namespace: &str, work: &str) {
    let place = format!("metadata: {{namespace: {namespace}, ");
    let ended = |name: &str, status: &str| {
        let job = Pods::new(name).job("").replacen("metadata: {", &place, 1);
        format!("{job}status: {{startTime: '{THEN}', {status}}}\n")
    };
    let failed = format!(
        "failed: 2, conditions: [{{type: Failed, status: 'True', reason: BackoffLimitExceeded, message: Job has reached the specified \
         backoff limit, lastTransitionTime: '{THEN}'}}]"
    );
    let done = format!(
        "succeeded: 1, completionTime: '{THEN}', conditions: [{{type: Complete, status: 'True', lastTransitionTime: '{THEN}'}}]"
    );
    scene.given.push(ended(&format!("{work}-report-1"), &failed));
    scene.given.push(ended(&format!("{work}-report-2"), &done));
}

/// A pod of nobody that had to go.
fn evicted_pod(scene: &mut Scene, namespace: &str, work: &str) {
    scene.given.push(format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {work}-old, namespace: {namespace}}}\nspec: {{containers: [{{name: main, image: \
         'busybox:1'}}], nodeName: general-0}}\nstatus: {{phase: Failed, reason: Evicted, message: 'The node was low on resource: \
         memory.', startTime: '{THEN}'}}\n"
    ));
}

/// A ConfigMap and a claim that no Application knows.
fn left_over(scene: &mut Scene, namespace: &str, work: &str) {
    scene.given.push(format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {work}-by-hand, namespace: {namespace}}}\ndata: {{a: b}}\n"
    ));
    scene.given.push(format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {work}-by-hand, namespace: {namespace}}}\n"
    ));
}
