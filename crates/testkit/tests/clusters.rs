//! Many clusters and many replicas: what is broken costs its own applications something and the others nothing, nothing
//! is lost, and no operation runs twice.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use jiff::SignedDuration;
use lynceus_api::OperationPhase;
use lynceus_engine::Options;
use lynceus_object::value;
use lynceus_testkit::fixture::{FINE, config_map as config, job};
use lynceus_testkit::fleet::{Clusters, Condition, HOME};

fn data(clusters: &Clusters, cluster: &str, name: &str) -> String {
    let found = clusters.object(cluster, "ConfigMap", name);
    found.and_then(|map| map.value().str_at(&["data", "key"]).map(str::to_owned)).unwrap_or_default()
}

/// One replica, the clusters `east` and `west`, and an application on each and at home.
async fn three() -> Clusters {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.add("west", "t1").await;
    clusters.commit(&[("app/a.yaml", &config("a", "one"))]);
    for (name, cluster) in [("here", HOME), ("in-east", "east"), ("in-west", "west")] {
        clusters.deliver(name, "app", cluster, &value!({})).await;
    }
    clusters.start_alone().await;
    clusters.until("all three", all_fine).await;
    clusters
}

fn all_fine(clusters: &Clusters) -> bool {
    ["here", "in-east", "in-west"].iter().all(|name| clusters.state(name) == FINE)
}

#[tokio::test]
async fn applications_go_to_the_cluster_that_they_name() {
    let clusters = three().await;
    for cluster in [HOME, "east", "west"] {
        assert_eq!(data(&clusters, cluster, "a"), "one", "{cluster}");
    }
    // A change in one cluster is seen, and healed there and nowhere else.
    clusters.delete("east", "ConfigMap", "default", "a").await;
    clusters.until("the deletion", |clusters| clusters.object("east", "ConfigMap", "a").is_none()).await;
    clusters.until("the healing", |clusters| clusters.object("east", "ConfigMap", "a").is_some()).await;
    // The same by address.
    let by_address = value!({"spec": {"destination": {"name": null, "server": "https://west/"}}});
    clusters.commit(&[("more/b.yaml", &config("b", "one"))]);
    clusters.deliver("by-address", "more", "west", &by_address).await;
    clusters.until("the sync", |clusters| clusters.state("by-address") == FINE).await;
    assert_eq!(data(&clusters, "west", "b"), "one");
}

#[tokio::test]
async fn a_destination_that_leads_nowhere_is_told_of_as_argo_cd_tells_it() {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.commit(&[("app/a.yaml", &config("a", "one"))]);
    let to = |destination| value!({"spec": {"destination": destination}});
    let cases = [
        ("unknown", value!({"name": null, "server": "https://nowhere"})),
        ("nameless", value!({"name": "nobody"})),
        ("both", value!({"name": "east", "server": "https://east"})),
        ("neither", value!({"name": null})),
    ];
    for (name, destination) in &cases {
        clusters.deliver(name, "app", "east", &to(destination.clone())).await;
    }
    clusters.start_alone().await;
    clusters
        .until("what is wrong", |clusters| cases.iter().all(|(name, _)| !clusters.said(name).is_empty()))
        .await;
    let said: String = cases.iter().map(|(name, _)| clusters.said(name)).collect();
    assert_eq!(
        said,
        "InvalidSpecError: error getting cluster by server \"https://nowhere\": rpc error: code = NotFound desc = \
         cluster \"https://nowhere\" not found\n\
         InvalidSpecError: there are no clusters with this name: nobody\n\
         InvalidSpecError: application destination can't have both name and server defined: east https://east\n\
         InvalidSpecError: Destination server missing from app spec\n"
    );
    assert_eq!(clusters.state("unknown"), "Unknown Unknown");
    clusters.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n  cluster.inClusterEnabled: \"false\"\n").await;
    clusters.deliver("here", "app", HOME, &value!({})).await;
    clusters.until("the refusal", |clusters| !clusters.said("here").is_empty()).await;
    assert_eq!(clusters.said("here"), "InvalidSpecError: there are no clusters with this name: in-cluster\n");
}

#[tokio::test]
async fn a_cluster_that_is_away_for_ten_minutes_costs_its_own_applications_the_time_only() {
    let clusters = three().await;
    clusters.line("east").set(Condition::Cut);
    clusters.until("the absence", |clusters| !clusters.said("in-east").is_empty()).await;
    let said = clusters.said("in-east");
    let start = "ComparisonError: Failed to load live state: cluster \"east\" (https://east) cannot be reached since \
                 2026-01-01T00:";
    assert!(said.starts_with(start), "{said}");
    assert!(clusters.state("in-east").starts_with("Unknown Unknown"), "{}", clusters.state("in-east"));
    assert_eq!(
        clusters.application("in-east").status.resources.len(),
        1,
        "what was seen last is not forgotten"
    );
    clusters.commit(&[("app/a.yaml", &config("a", "two"))]);
    clusters.until("the others", |clusters| data(clusters, "west", "a") == "two").await;
    clusters.pass(SignedDuration::from_mins(10)).await;
    assert_eq!(clusters.said("in-east"), said, "it says so once");
    assert_eq!((data(&clusters, "east", "a").as_str(), clusters.said("in-west").as_str()), ("one", ""));
    clusters.line("east").set(Condition::Open);
    clusters.until("recovery", |clusters| data(clusters, "east", "a") == "two" && all_fine(clusters)).await;
    assert_eq!(clusters.said("in-east"), "");
}

#[tokio::test]
async fn a_cluster_that_never_answers_does_not_hold_the_others_up() {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.add("west", "t1").await;
    clusters.line("east").set(Condition::Silent);
    clusters.commit(&[("app/a.yaml", &config("a", "one"))]);
    clusters.deliver("in-east", "app", "east", &value!({})).await;
    clusters.deliver("in-west", "app", "west", &value!({})).await;
    clusters.start_alone().await;
    clusters.until("the other", |clusters| clusters.state("in-west") == FINE).await;
    clusters.until("what is wrong", |clusters| !clusters.said("in-east").is_empty()).await;
    let said = clusters.said("in-east");
    assert!(said.contains("the cluster did not answer GET /version within 10 s"), "{said}");
    clusters.line("east").set(Condition::Open);
    clusters.until("the answer", |clusters| clusters.state("in-east") == FINE).await;
}

#[tokio::test]
async fn a_token_that_is_not_accepted_any_more_is_told_of_and_a_new_one_heals() {
    let clusters = three().await;
    clusters.accept("east", "t2");
    clusters.until("the refusal", |clusters| !clusters.said("in-east").is_empty()).await;
    let said = clusters.said("in-east");
    assert!(
        said.ends_with("it does not accept the credentials of Secret cluster-east: Unauthorized\n"),
        "{said}"
    );
    clusters.register("east", "t2", "").await;
    clusters.until("recovery", |clusters| clusters.said("in-east").is_empty() && all_fine(clusters)).await;
}

#[tokio::test]
async fn a_broken_secret_takes_nobody_along() {
    let clusters = three().await;
    clusters
        .apply(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: broken\n  namespace: argocd\n  labels: \
             {argocd.argoproj.io/secret-type: cluster}\nstringData:\n  server: https://broken\n  config: '{nonsense'\n",
        )
        .await;
    clusters.commit(&[("app/a.yaml", &config("a", "two"))]);
    clusters
        .until("the next commit", |clusters| data(clusters, "east", "a") == "two" && all_fine(clusters))
        .await;
}

#[tokio::test]
async fn an_application_whose_cluster_is_gone_can_go_and_one_whose_cluster_is_away_waits() {
    let clusters = three().await;
    let finalizer = value!({"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
    clusters.patch("in-east", &finalizer).await;
    clusters.patch("in-west", &finalizer).await;
    clusters.line("east").set(Condition::Cut);
    clusters.until("the absence", |clusters| !clusters.said("in-east").is_empty()).await;
    clusters.delete(HOME, "Application", "argocd", "in-east").await;
    clusters.until("why it stays", |clusters| clusters.said("in-east").contains("DeletionError: ")).await;
    clusters.pass(SignedDuration::from_mins(3)).await;
    assert!(clusters.at_home("argoproj.io", "Application", "in-east").is_some());
    clusters.line("east").set(Condition::Open);
    clusters
        .until("its end", |clusters| clusters.at_home("argoproj.io", "Application", "in-east").is_none())
        .await;
    assert!(clusters.object("east", "ConfigMap", "a").is_none());
    // A Secret that is deleted takes the cluster out of the fleet; its objects stay as they are.
    clusters.delete(HOME, "Secret", "argocd", "cluster-west").await;
    clusters
        .until("the loss", |clusters| {
            clusters.said("in-west").contains("there are no clusters with this name: west")
        })
        .await;
    assert_eq!(data(&clusters, "west", "a"), "one");
    clusters.delete(HOME, "Application", "argocd", "in-west").await;
    clusters
        .until("its end", |clusters| clusters.at_home("argoproj.io", "Application", "in-west").is_none())
        .await;
    assert_eq!(data(&clusters, "west", "a"), "one");
}

#[tokio::test]
async fn an_operation_waits_for_a_cluster_that_goes_away_in_the_middle() {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.commit(&[
        ("app/a.yaml", &config("a", "one")),
        ("app/hook.yaml", &job("migrate", "PreSync", "[sleep, \"60\"]")),
    ]);
    clusters.deliver("shop", "app", "east", &value!({})).await;
    clusters.start_alone().await;
    clusters.until("the hook", |clusters| clusters.object("east", "Job", "migrate").is_some()).await;
    let first = clusters.object("east", "Job", "migrate").unwrap().uid().to_owned();
    clusters.line("east").set(Condition::Cut);
    clusters.pass(SignedDuration::from_mins(5)).await;
    let state = clusters.application("shop").status.operation_state.unwrap();
    assert_eq!(state.phase, OperationPhase::Running, "{}", state.message);
    clusters.line("east").set(Condition::Open);
    clusters.until("the end", |clusters| clusters.state("shop") == FINE).await;
    let hook = clusters.object("east", "Job", "migrate");
    assert!(hook.is_none_or(|hook| hook.uid() == first), "the hook ran once");
}

#[tokio::test]
async fn a_wall_clock_that_jumps_changes_nothing() {
    let clusters = three().await;
    for hours in [-24, 48] {
        clusters.jump(SignedDuration::from_hours(hours));
        clusters.commit(&[("app/a.yaml", &config("a", &format!("after-{}", hours + 24)))]);
        let wanted = format!("after-{}", hours + 24);
        clusters
            .until("the commit", |clusters| data(clusters, "west", "a") == wanted && all_fine(clusters))
            .await;
    }
}

#[tokio::test]
async fn an_object_that_is_too_large_is_told_of_and_the_rest_goes_on() {
    let clusters = three().await;
    let big = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: big\ndata:\n  key: {}\n",
        "x".repeat(3 << 20)
    );
    clusters.commit(&[("big/big.yaml", &big), ("big/small.yaml", &config("small", "one"))]);
    clusters.deliver("big", "big", "east", &value!({})).await;
    clusters.until("the failure", |clusters| clusters.state("big").ends_with("Failed")).await;
    let results = clusters.application("big").status.operation_state.unwrap().sync_result.unwrap().resources;
    let said = results.iter().find(|result| result.name == "big").unwrap().message.to_string();
    assert!(said.contains("large") || said.contains("long"), "{said}");
    clusters.commit(&[("app/a.yaml", &config("a", "two"))]);
    clusters.until("the others", |clusters| data(clusters, "east", "a") == "two" && all_fine(clusters)).await;
}

#[tokio::test]
async fn observing_writes_nothing_and_tells_what_differs() {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.commit(&[("app/a.yaml", &config("a", "one"))]);
    clusters.deliver("shop", "app", "east", &value!({})).await;
    clusters
        .start_with("eye", Options { observe: true, replica: Some("eye".into()), ..Options::default() })
        .await;
    let key = lynceus_engine::AppKey::new("argocd", "shop");
    clusters
        .until("an observation", |clusters| clusters.engine("eye").observations().contains_key(&key))
        .await;
    clusters
        .patch("shop", &value!({"metadata": {"annotations": {"argocd.argoproj.io/refresh": "hard"}}}))
        .await;
    clusters.patch("shop", &value!({"operation": {"sync": {}}})).await;
    clusters.pass(SignedDuration::from_mins(5)).await;
    let observation = clusters.engine("eye").observations().remove(&key).unwrap();
    assert_eq!((observation.sync.as_str(), observation.health.as_str()), ("OutOfSync", "Missing"));
    let differs: Vec<String> = observation.disagreements.iter().map(ToString::to_string).collect();
    assert_eq!(
        differs,
        [
            "sync: OutOfSync here, nothing there",
            "health: Missing here, nothing there",
            "/ConfigMap/default/a: OutOfSync here, nothing there"
        ]
    );
    assert!(clusters.line_of("eye", HOME).writes().is_empty());
    assert!(clusters.line_of("eye", "east").writes().is_empty());
    assert_eq!(clusters.state("shop"), "");
}

/// Whether every cluster is in one pair of hands, and each of these replicas has some.
fn is_shared_out(clusters: &Clusters, replicas: &[&str], count: usize) -> bool {
    let mut all: Vec<String> = replicas.iter().flat_map(|name| clusters.held(name)).collect();
    let total = all.len();
    all.sort();
    all.dedup();
    total == count && all.len() == count && replicas.iter().all(|name| !clusters.held(name).is_empty())
}

/// Six clusters with an application on each.
async fn six() -> Clusters {
    let clusters = Clusters::new().await;
    clusters.commit(&[("app/a.yaml", &config("a", "one"))]);
    for number in 1..=6 {
        let name = format!("c{number}");
        clusters.add(&name, "t1").await;
        clusters.deliver(&format!("app-{number}"), "app", &name, &value!({})).await;
    }
    clusters
}

fn all_six(clusters: &Clusters, wanted: &str) -> bool {
    (1..=6).all(|number| {
        data(clusters, &format!("c{number}"), "a") == wanted
            && clusters.state(&format!("app-{number}")) == FINE
    })
}

#[tokio::test]
async fn replicas_share_the_clusters_out_and_one_that_dies_is_followed_within_the_lease_time() {
    let mut clusters = six().await;
    clusters.start("a").await;
    clusters.until("one has all", |clusters| clusters.held("a").len() == 7 && all_six(clusters, "one")).await;
    clusters.start("b").await;
    clusters.until("two share", |clusters| is_shared_out(clusters, &["a", "b"], 7)).await;
    clusters.start("c").await;
    clusters.until("three share", |clusters| is_shared_out(clusters, &["a", "b", "c"], 7)).await;
    clusters.commit(&[("app/a.yaml", &config("a", "two"))]);
    clusters.until("the next commit", |clusters| all_six(clusters, "two")).await;
    clusters.kill("b");
    clusters.pass(SignedDuration::from_secs(25)).await;
    assert!(is_shared_out(&clusters, &["a", "c"], 7), "{:?} {:?}", clusters.held("a"), clusters.held("c"));
    clusters.commit(&[("app/a.yaml", &config("a", "three"))]);
    clusters.until("the commit after", |clusters| all_six(clusters, "three")).await;
    // One that is asked to stop gives its share back at once.
    clusters.stop("c").await;
    clusters.pass(SignedDuration::from_secs(5)).await;
    assert_eq!(clusters.held("a").len(), 7);
}

#[tokio::test]
async fn a_pinned_cluster_goes_to_its_replica() {
    let mut clusters = six().await;
    for name in ["c1", "c2", "c3"] {
        clusters.register(name, "t1", "  shard: \"1\"\n").await;
    }
    clusters.start("a").await;
    clusters.start("b").await;
    clusters
        .until("the pinned ones", |clusters| {
            let held = clusters.held("b");
            ["c1", "c2", "c3"].iter().all(|name| held.iter().any(|one| one == name))
        })
        .await;
}

/// The cluster `east` and replica `a`, whose sync there waits for the hook `migrate`.
async fn in_the_middle_of_a_sync() -> Clusters {
    let mut clusters = Clusters::new().await;
    clusters.add("east", "t1").await;
    clusters.commit(&[
        ("app/a.yaml", &config("a", "one")),
        ("app/hook.yaml", &job("migrate", "PreSync", "[sleep, \"40\"]")),
    ]);
    clusters.deliver("shop", "app", "east", &value!({})).await;
    clusters.start("a").await;
    clusters.until("the hook", |clusters| clusters.object("east", "Job", "migrate").is_some()).await;
    clusters
}

/// How many Jobs a replica has created in `east`.
fn jobs_made(clusters: &Clusters, replica: &str) -> usize {
    let writes = clusters.line_of(replica, "east").writes();
    writes.iter().filter(|line| line.starts_with("POST") && line.contains("/jobs")).count()
}

#[tokio::test]
async fn a_replica_killed_in_the_middle_of_a_sync_is_followed_and_the_hook_runs_once() {
    let mut clusters = in_the_middle_of_a_sync().await;
    let first = clusters.object("east", "Job", "migrate").unwrap().uid().to_owned();
    let started = clusters.application("shop").status.operation_state.unwrap().started_at;
    clusters.kill("a");
    clusters.start("b").await;
    clusters.until("the end", |clusters| clusters.state("shop") == FINE).await;
    let state = clusters.application("shop").status.operation_state.unwrap();
    assert_eq!(state.started_at, started, "it is the same operation");
    assert_eq!(jobs_made(&clusters, "b"), 0, "{:?}", clusters.line_of("b", "east").writes());
    let hook = clusters.object("east", "Job", "migrate");
    assert!(hook.is_none_or(|hook| hook.uid() == first));
    assert_eq!(data(&clusters, "east", "a"), "one");
}

#[tokio::test]
async fn a_replica_that_loses_its_lease_without_noticing_writes_nothing() {
    let mut clusters = in_the_middle_of_a_sync().await;
    // It still reaches the cluster that it works on, and thinks that it has all the time in the world.
    clusters.line_of("a", HOME).set(Condition::Silent);
    clusters.start("b").await;
    clusters.pass(SignedDuration::from_secs(12)).await;
    let before = clusters.line_of("a", "east").writes().len();
    clusters.until("the end", |clusters| clusters.state("shop") == FINE).await;
    assert_eq!(clusters.line_of("a", "east").writes().len(), before);
    // It wakes up, sees what has happened, and takes its place again.
    clusters.line_of("a", HOME).set(Condition::Open);
    clusters
        .until("both", |clusters| {
            let all = clusters.held("a").len() + clusters.held("b").len();
            all == 2
        })
        .await;
    clusters.commit(&[("app/a.yaml", &config("a", "two"))]);
    clusters
        .until("the next commit", |clusters| {
            data(clusters, "east", "a") == "two" && clusters.state("shop") == FINE
        })
        .await;
}

#[tokio::test]
async fn a_stop_in_the_middle_of_a_sync_stores_what_was_done_and_another_goes_on() {
    let mut clusters = in_the_middle_of_a_sync().await;
    let first = clusters.object("east", "Job", "migrate").unwrap().uid().to_owned();
    clusters.stop("a").await;
    let state = clusters.application("shop").status.operation_state.unwrap();
    assert_eq!(state.phase, OperationPhase::Running);
    assert!(!state.sync_result.unwrap().resources.is_empty(), "what was begun is written down");
    clusters.start("b").await;
    clusters.pass(SignedDuration::from_secs(5)).await;
    assert_eq!(clusters.held("b").len(), 2, "nothing has to run out first");
    clusters.until("the end", |clusters| clusters.state("shop") == FINE).await;
    assert_eq!(jobs_made(&clusters, "b"), 0, "{:?}", clusters.line_of("b", "east").writes());
    let hook = clusters.object("east", "Job", "migrate");
    assert!(hook.is_none_or(|hook| hook.uid() == first));
}
