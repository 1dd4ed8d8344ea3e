//! One line per state of a kind: the object, and what is said of it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{Object, yaml};

/// What the check says of an object with this status, as `Status message`.
fn said(kind: &str, object: &str) -> String {
    let (group, kind) = kind.split_once(' ').unwrap_or(("v1", kind));
    let text = format!("{{apiVersion: {group}, kind: {kind}, {object}}}");
    let value = yaml::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    match lynceus_health::check(&Object::new(value).unwrap()) {
        Some(health) => format!("{} {}", health.status, health.message),
        None => "none".to_owned(),
    }
}

fn check(kind: &str, cases: &[(&str, &str)]) {
    for (object, expected) in cases {
        assert_eq!(said(kind, object), *expected, "{kind}: {object}");
    }
}

fn ready(status: &str) -> String {
    format!("status: {{conditions: [{{type: Ready, status: '{status}', reason: R, message: m}}]}}")
}

#[test]
fn kinds_with_a_ready_condition() {
    for (kind, waiting) in [
        ("cert-manager.io/v1 Certificate", "Waiting for certificate"),
        ("cert-manager.io/v1 ClusterIssuer", "Initializing ClusterIssuer"),
        ("external-secrets.io/v1 ExternalSecret", "Waiting for ExternalSecret"),
        ("karpenter.sh/v1 NodePool", "Waiting for NodePool to be ready"),
        ("camel.apache.org/v1 Integration", "Waiting for Integration"),
    ] {
        assert_eq!(said(kind, &ready("True")), "Healthy m", "{kind}");
        assert_eq!(said(kind, &ready("False")), "Degraded m", "{kind}");
        assert_eq!(said(kind, "status: {}"), format!("Progressing {waiting}"), "{kind}");
        assert_eq!(said(kind, "spec: {}"), format!("Progressing {waiting}"), "{kind}");
    }
}

#[test]
fn a_certificate_that_is_being_issued_is_on_its_way() {
    let object = "status: {conditions: [{type: Ready, status: 'False', message: old}, {type: Issuing, status: 'True', message: new}]}";
    check("cert-manager.io/v1 Certificate", &[(object, "Progressing new")]);
}

#[test]
fn groups_of_crossplane() {
    check(
        "rds.aws.upbound.io/v1 Instance",
        &[
            (&ready("True"), "Healthy Resource is up-to-date."),
            (&ready("False"), "Progressing Provisioning ..."),
            ("spec: {}", "Healthy Resource is up-to-date."),
            ("status: {conditions: [{type: Synced, status: 'False', message: never}]}", "Degraded never"),
        ],
    );
    let both = |ready: &str, synced: &str, reason: &str| {
        format!(
            "status: {{conditions: [{{type: Ready, status: '{ready}', reason: Available}}, {{type: Synced, status: '{synced}', reason: {reason}, message: why}}]}}"
        )
    };
    check(
        "s3.aws.crossplane.io/v1 Bucket",
        &[
            (&both("True", "True", "ReconcileSuccess"), "Healthy Available"),
            (&both("False", "True", "ReconcileSuccess"), "Progressing Waiting for Bucket to be available"),
            (&both("False", "False", "ReconcileError"), "Degraded why"),
            (&both("False", "False", "ReconcilePaused"), "Suspended ReconcilePaused"),
            ("status: {}", "Progressing Waiting for Bucket to be created"),
        ],
    );
    // An exact kind comes before the group.
    check(
        "pkg.crossplane.io/v1 Provider",
        &[("spec: {}", "Progressing Waiting for provider to be installed")],
    );
}

#[test]
fn flux_counts() {
    let two = |ready: &str, other: &str| {
        format!(
            "spec: {{}}, status: {{conditions: [{{type: Ready, status: '{ready}', reason: R}}, {{type: {other}, status: 'True', reason: O}}]}}"
        )
    };
    check(
        "source.toolkit.fluxcd.io/v1 GitRepository",
        &[
            (&two("True", "ArtifactInStorage"), "Healthy R"),
            (&two("Unknown", "Reconciling"), "Progressing R"),
            (&two("False", "ArtifactOutdated"), "Degraded R O"),
            ("spec: {suspend: true}", "Suspended GitRepository is suspended"),
            ("spec: {}", "Progressing Status unknown"),
        ],
    );
    check(
        "source.toolkit.fluxcd.io/v1 HelmRepository",
        &[(
            "spec: {type: oci}",
            "Healthy Helm repositories of type 'oci' do not contain any information in the status.",
        )],
    );
}

#[test]
fn rollouts_by_phase_and_by_replicas() {
    check(
        "argoproj.io/v1alpha1 Rollout",
        &[
            (
                "metadata: {generation: 2}, spec: {}, status: {observedGeneration: '2', phase: Paused, message: p}",
                "Suspended p",
            ),
            (
                "metadata: {generation: 3}, spec: {}, status: {observedGeneration: '2', phase: Healthy}",
                "Progressing Waiting for rollout spec update to be observed",
            ),
            (
                "metadata: {generation: 2}, spec: {}, status: {observedGeneration: '2', phase: Odd}",
                "Unknown Lua returned an invalid health status",
            ),
            (
                "metadata: {generation: 1}, spec: {strategy: {canary: {}}}, status: {conditions: [], currentPodHash: a, stableRS: a, updatedReplicas: 1, availableReplicas: 1, replicas: 1}",
                "Healthy ",
            ),
            (
                "metadata: {generation: 1}, spec: {strategy: {canary: {}}}, status: {conditions: [], currentPodHash: a, stableRS: b, updatedReplicas: 1, availableReplicas: 1, replicas: 1}",
                "Progressing Waiting for rollout to finish steps",
            ),
        ],
    );
}

#[test]
fn routes_have_parents() {
    let parent = |condition: &str, status: &str| {
        format!(
            "metadata: {{generation: 1}}, status: {{parents: [{{parentRef: {{name: gw}}, conditions: [{{type: {condition}, status: '{status}', message: m, observedGeneration: 1}}]}}]}}"
        )
    };
    check(
        "gateway.networking.k8s.io/v1 HTTPRoute",
        &[
            (&parent("Accepted", "True"), "Healthy HTTPRoute is healthy"),
            (&parent("Accepted", "False"), "Degraded Parent gw: m"),
            (&parent("Programmed", "Unknown"), "Progressing Parent gw: m"),
            (
                &parent("Accepted", "False").replace("generation: 1}, status", "generation: 2}, status"),
                "Progressing Waiting for HTTPRoute status",
            ),
            ("status: {parents: []}", "Progressing Waiting for HTTPRoute status"),
        ],
    );
}

#[test]
fn messages_that_are_put_together() {
    check(
        "ceph.rook.io/v1 CephCluster",
        &[(
            "status: {state: Created, message: done, ceph: {health: HEALTH_OK, details: {B: {message: two}, A: {message: one}}}}",
            "Healthy Ceph health is HEALTH_OK (one; two) - Ceph cluster state is Created - done",
        )],
    );
    check(
        "pxc.percona.com/v1 PerconaXtraDBCluster",
        &[
            ("status: {state: error, message: [a, b]}", "Degraded Cluster is on error: a, b"),
            ("status: {state: ready, ready: 3, size: 3}", "Healthy 3/3 node(s) are ready"),
        ],
    );
    check(
        "flagger.app/v1beta1 Canary",
        &[(
            "status: {phase: Progressing, canaryWeight: 5, conditions: [{message: moving}]}",
            "Progressing Progressing --- Canary Weight: 5 % --- moving",
        )],
    );
    check(
        "nmstate.io/v1 NodeNetworkConfigurationPolicy",
        &[(
            "status: {conditions: [{type: Available, status: 'True', reason: Done, message: ok}]}",
            "Healthy Done: ok",
        )],
    );
}

#[test]
fn what_is_missing_is_no_error() {
    for kind in [
        "apiextensions.k8s.io/v1 CustomResourceDefinition",
        "lifecycle.keptn.sh/v1 KeptnTask",
        "rollouts.kruise.io/v1alpha1 Rollout",
        "cluster.x-k8s.io/v1beta1 Cluster",
        "postgresql.cnpg.io/v1 Cluster",
    ] {
        assert!(said(kind, "metadata: {}").starts_with("Progressing"), "{kind}");
    }
}

#[test]
fn every_check_survives_any_status() {
    let odd = [
        "status: 3",
        "status: []",
        "status: {conditions: 3}",
        "status: {conditions: [3, null, {}]}",
        "spec: [], metadata: 3",
        "status: {conditions: {}}",
    ];
    let kinds = include_str!("../data/checks.txt")
        .lines()
        .filter(|line| line.contains('/') && !line.starts_with([' ', '#']));
    for name in kinds.flat_map(str::split_whitespace) {
        let (group, kind) = name.split_once('/').unwrap();
        let (group, kind) = (group.replace('*', "x"), kind.replace('*', "Thing"));
        for object in odd {
            said(&format!("{group}/v1 {kind}"), object);
        }
    }
}

#[test]
fn a_kind_that_nobody_knows_has_no_health() {
    check("example.com/v1 Thing", &[(&ready("False"), "none")]);
    check("v1 ConfigMap", &[("data: {}", "none")]);
}

#[test]
fn an_object_that_is_being_deleted_is_on_its_way() {
    let value = "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {deletionTimestamp: '2024-01-01T00:00:00Z'}}";
    let object = Object::new(yaml::parse_str(value).unwrap()).unwrap();
    assert_eq!(lynceus_health::assess(&object).unwrap().message, "Pending deletion");
    assert_eq!(lynceus_health::check(&object).unwrap().message, "Initializing issuer");
}
