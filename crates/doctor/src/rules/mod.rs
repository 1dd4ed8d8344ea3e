//! The sorts of trouble that the doctor knows, one file each.

mod admission;
mod asked_port;
mod asking;
mod autoscaled_replicas;
mod backend;
mod blocked_kind;
mod built;
mod chance;
mod claim_holds_wave;
mod claim_unused;
mod claimed_host;
mod claimed_twice;
mod claims;
mod closed_nodes;
mod closed_window;
mod cluster_away;
mod cluster_error;
mod cluster_login;
mod container;
mod controller_behind;
mod controller_right;
mod crash_loop;
mod crashing;
mod denied;
mod difference;
mod early_health;
mod empty_value;
mod endless_job;
mod excluded_kind;
mod failed_job;
mod failed_sync;
mod feature_branch;
mod fit;
mod forbidden;
mod governing;
mod healing_off;
mod held_deletion;
mod held_set;
mod hollow;
mod host_port;
mod idle_patch;
mod idle_rule;
mod image_missing;
mod image_name;
mod image_not_built;
mod image_platform;
mod immutable_field;
mod invalid_object;
mod issuer;
mod lacking;
mod listeners;
mod lost_node;
mod manual_sync;
mod mass_deletion;
mod missing_class;
mod missing_key;
mod missing_kind;
mod missing_namespace;
mod missing_object;
mod missing_remote_key;
mod missing_right;
mod missing_role;
mod missing_service;
mod missing_store;
mod missing_target;
#[cfg(test)]
mod mixed;
#[cfg(test)]
mod mixed_tests;
mod mutual_wait;
pub mod near;
mod no_room;
mod no_step;
mod node_selector;
mod nowhere;
mod orphaned_application;
mod orphaned_resource;
mod out_of_memory;
pub(crate) mod outdated_pods;
mod overridden_tolerations;
mod ownership;
mod parenthood;
mod passed_over;
mod pod_security;
mod probe;
mod project_forbids;
mod provisioner;
mod pruning_off;
mod pull;
mod pull_secret;
mod quota;
mod rate_limited;
mod refused_kind;
mod registry_away;
mod rendering;
mod repeated_resource;
mod repository_away;
mod repository_login;
mod reverted;
mod rights;
mod room;
mod scaled_to_zero;
mod scheduler;
mod sealed_vault;
mod server_default;
mod serving;
mod set_nowhere;
mod set_token;
pub(crate) mod sets;
mod shared_resource;
mod skipped;
mod source_error;
mod source_path;
mod spread;
mod stale_hook;
mod storage_class;
mod store_refused;
mod store_unreachable;
mod stuck_operation;
mod switched_off;
mod sync_option;
mod taint;
mod taking;
mod target_port;
mod target_revision;
mod tolerations;
mod too_few_pods;
mod umbrella;
mod unexposed;
mod unhealthy;
mod unknown_cluster;
mod unknown_error;
mod unmade_set;
mod unreadable_kind;
mod unselected;
mod unserved_version;
mod unset_namespace;
mod value_file;
mod vanishing_job;
mod volume_held;
mod volume_limit;
mod volume_unfit;
mod wave_circle;
mod wave_needs;
mod wave_order;
mod webhook_away;
mod wide_rule;
mod written_field;
mod wrong_credentials;

pub use lacking::lacking;
pub(crate) use passed_over::explain;
pub use passed_over::{Misnamed, misnamed_value_files, optional_value_files};
pub use value_file::value_files;

use crate::case::Case;
use crate::finding::{Code, Findings};

/// One sort of trouble: how it is told from others, and everything that is said about it.
pub struct Rule {
    /// Its stable code.
    pub code: Code,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What it means, why it happens, an example and what to do, in Markdown. `lynceus explain` prints it.
    pub explanation: &'static str,
    /// Looks for it. A rule that cannot tell says nothing.
    pub check: fn(&Case<'_>, &mut Findings),
}

/// All rules, in the order of their codes.
pub const RULES: &[Rule] = &[
    shared_resource::RULE,
    umbrella::RULE,
    orphaned_application::RULE,
    orphaned_resource::RULE,
    repeated_resource::RULE,
    missing_kind::RULE,
    blocked_kind::RULE,
    missing_namespace::RULE,
    unset_namespace::RULE,
    excluded_kind::RULE,
    unserved_version::RULE,
    missing_object::RULE,
    missing_key::RULE,
    missing_service::RULE,
    missing_class::RULE,
    switched_off::RULE,
    unexposed::RULE,
    claimed_host::RULE,
    missing_target::RULE,
    scaled_to_zero::RULE,
    taint::RULE,
    overridden_tolerations::RULE,
    node_selector::RULE,
    no_room::RULE,
    volume_limit::RULE,
    outdated_pods::RULE,
    lost_node::RULE,
    spread::RULE,
    host_port::RULE,
    closed_nodes::RULE,
    image_missing::RULE,
    pull_secret::RULE,
    image_platform::RULE,
    image_not_built::RULE,
    registry_away::RULE,
    image_name::RULE,
    claim_holds_wave::RULE,
    storage_class::RULE,
    provisioner::RULE,
    volume_unfit::RULE,
    volume_held::RULE,
    claim_unused::RULE,
    missing_store::RULE,
    sealed_vault::RULE,
    store_refused::RULE,
    store_unreachable::RULE,
    wrong_credentials::RULE,
    missing_remote_key::RULE,
    issuer::RULE,
    pod_security::RULE,
    quota::RULE,
    missing_right::RULE,
    webhook_away::RULE,
    denied::RULE,
    controller_right::RULE,
    project_forbids::RULE,
    invalid_object::RULE,
    missing_role::RULE,
    crash_loop::RULE,
    out_of_memory::RULE,
    probe::RULE,
    endless_job::RULE,
    failed_job::RULE,
    stale_hook::RULE,
    held_deletion::RULE,
    mutual_wait::RULE,
    target_revision::RULE,
    source_path::RULE,
    feature_branch::RULE,
    repository_away::RULE,
    repository_login::RULE,
    rendering::RULE,
    empty_value::RULE,
    value_file::RULE,
    idle_patch::RULE,
    passed_over::RULE,
    immutable_field::RULE,
    written_field::RULE,
    server_default::RULE,
    admission::RULE,
    wide_rule::RULE,
    idle_rule::RULE,
    autoscaled_replicas::RULE,
    vanishing_job::RULE,
    chance::RULE,
    manual_sync::RULE,
    closed_window::RULE,
    failed_sync::RULE,
    stuck_operation::RULE,
    healing_off::RULE,
    pruning_off::RULE,
    mass_deletion::RULE,
    early_health::RULE,
    wave_order::RULE,
    skipped::RULE,
    cluster_away::RULE,
    cluster_login::RULE,
    rate_limited::RULE,
    unreadable_kind::RULE,
    controller_behind::RULE,
    unknown_cluster::RULE,
    unmade_set::RULE,
    claimed_twice::RULE,
    reverted::RULE,
    held_set::RULE,
    set_nowhere::RULE,
    set_token::RULE,
    no_step::RULE,
    unhealthy::RULE,
    unknown_error::RULE,
    too_few_pods::RULE,
];

/// A rule by its code, in any case.
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_code_of_its_own_in_order_and_says_what_to_do() {
        let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
        for rule in RULES {
            assert!(rule.code.len() == 7 && rule.code.starts_with("LYN"), "{}", rule.code);
            for part in ["## Why", "## Example", "## What to do"] {
                assert!(rule.explanation.contains(part), "{} lacks {part}", rule.code);
            }
        }
    }

    /// Parents, marks, hooks, waves, windows and rules as they are where nothing is wrong.
    #[test]
    fn what_is_in_order_is_not_spoken_of() {
        let text = "
@app apps Synced Healthy
@spec {syncPolicy: {automated: {prune: true, selfHeal: true}}}
@status {resources: [{group: argoproj.io, kind: Application, namespace: argocd, name: shop, status: Synced}]}
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd, annotations: {argocd.argoproj.io/sync-wave: '1'}}
@app shop Synced Healthy
@compared
@metadata {annotations: {argocd.argoproj.io/tracking-id: 'apps:argoproj.io/Application:argocd/shop'}}
@spec {syncPolicy: {automated: {}}, ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]}
@status {sync: {status: Synced, revision: abc}, operationState: {phase: Succeeded, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: abc}}}
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, annotations: {argocd.argoproj.io/hook: PreSync}}
spec: {template: {spec: {serviceAccountName: migrate, containers: [{name: a, image: a}]}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: migrate, namespace: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 2}
@live
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: migrate, namespace: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {argocd.argoproj.io/tracking-id: 'shop:apps/Deployment:shop/web'}}
spec: {replicas: 7}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
";
        assert_eq!(crate::tests::roots(text), "");
    }

    /// Independent causes at once, each with its own application.
    #[test]
    fn causes_that_have_nothing_to_do_with_each_other_are_all_named() {
        let text = "
@app apps OutOfSync Degraded
@unrendered
@status {resources: [{group: argoproj.io, kind: Application, namespace: argocd, name: old, status: OutOfSync, requiresPruning: true}]}
@app old Synced Healthy
@metadata {annotations: {argocd.argoproj.io/tracking-id: 'apps:argoproj.io/Application:argocd/old'}}
@app manual OutOfSync Healthy
@spec {syncPolicy: null}
@status {resources: [{kind: ConfigMap, namespace: shop, name: a, status: OutOfSync}]}
@app mesh OutOfSync Missing
@status {operationState: {phase: Failed, message: one or more synchronization tasks are not valid, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: example.org, version: v1, kind: Gadget, namespace: shop, name: g, status: SyncFailed, message: 'no matches for kind \"Gadget\" in version \"example.org/v1\"'}]}}}
@app left OutOfSync Healthy
@status {resources: [{kind: ConfigMap, namespace: shop, name: gone, status: OutOfSync, requiresPruning: true}]}
@app hung OutOfSync Progressing
@status {operationState: {phase: Running, message: waiting for healthy state, operation: {}, startedAt: '2026-01-01T08:00:00Z'}}
";
        assert_eq!(
            crate::tests::roots(text),
            "P1 LYN0201/mesh/Kind/Gadget.example.org explains mesh\nP1 LYN1204/hung/Application/hung explains hung\nP2 \
             LYN1201/manual/Application/manual explains manual\nP2 LYN1206/left/Application/left explains left\nP3 \
             LYN0103/old/Application/old explains apps\n"
        );
    }
}
