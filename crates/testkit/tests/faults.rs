//! The engine goes on whatever befalls the cluster, and arrives when that is over.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use jiff::SignedDuration;
use lynceus_object::{Object, json, value};
use lynceus_sim::Stage;
use lynceus_testkit::fixture::{FINE, automated, config_map};
use lynceus_testkit::world::{Setting, World};

/// Rights for the engine under a name of its own, so that nobody else is hit.
const RIGHTS: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: engine}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: engine}]
";

/// Delivers a change while something goes wrong for the engine.
async fn delivers_in_spite_of(spec: &str) {
    let setting = Setting {
        user: Some("engine".to_owned()),
        given: RIGHTS.to_owned(),
        stage: Some(Stage::default()),
        ..Setting::default()
    };
    let world = World::open(setting).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    // An object that is refused fails its sync, as in Argo CD, so that the application has to say that it is tried again.
    let mut policy = automated();
    policy.set(
        &["syncPolicy", "retry"],
        value!({"limit": 20, "backoff": {"duration": "5s", "maxDuration": "1m"}}),
    );
    world.deliver("shop", "app", &policy).await;
    world.until("the first sync", |world| world.state("shop") == FINE).await;
    world
        .apply(&format!(
            "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Fault\nmetadata: {{name: trouble}}\nspec: {spec}\n"
        ))
        .await;
    world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    world.pass(SignedDuration::from_secs(30)).await;
    world
        .until("the change", |world| {
            let map = world.object("", "ConfigMap", "default", "a");
            let is_two = |map: Object| json::to_string(map.value()).contains("\"two\"");
            map.is_some_and(is_two) && world.state("shop") == FINE
        })
        .await;
    world.end().await;
}

#[tokio::test]
async fn it_delivers_although_some_requests_fail() {
    delivers_in_spite_of("{answer: 500, share: 0.3, requests: {users: [engine]}, for: 10m}").await;
}

#[tokio::test]
async fn it_delivers_after_a_time_in_which_all_requests_failed() {
    delivers_in_spite_of("{answer: 503, requests: {users: [engine]}, for: 30s}").await;
}

#[tokio::test]
async fn it_delivers_although_writes_take_too_long() {
    delivers_in_spite_of(
        "{answer: 504, share: 0.5, requests: {verbs: [create, patch, update], users: [engine]}, for: 5m}",
    )
    .await;
}

#[tokio::test]
async fn it_delivers_after_its_watches_were_cut() {
    delivers_in_spite_of("{cutWatches: ended, requests: {users: [engine]}}").await;
}

#[tokio::test]
async fn it_delivers_after_its_watches_were_cut_and_their_versions_expired() {
    delivers_in_spite_of("{cutWatches: expired, requests: {users: [engine]}}").await;
}

#[tokio::test]
async fn it_delivers_although_a_group_is_slow() {
    delivers_in_spite_of("{slow: 2s, requests: {groups: [core], users: [engine]}, for: 10m}").await;
}

#[tokio::test]
async fn it_delivers_although_the_server_asks_for_patience() {
    delivers_in_spite_of("{answer: 429, share: 0.1, requests: {users: [engine]}, for: 10m}").await;
}
