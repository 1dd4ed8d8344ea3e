//! Evictions, and what disruption budgets have to say about them.

use super::cluster::{Cluster, condition, count};

/// Two pods, the second of which is never ready, and a budget.
async fn guarded(budget: &str) -> Cluster {
    let cluster = Cluster::on("programs: [{image: sick, readyAfter: 10h}]").await;
    cluster
        .apply(&format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: web}}\n\
             spec: {{selector: {{matchLabels: {{app: web}}}}, {budget}}}\n"
        ))
        .await;
    for (name, image) in [("well", "app"), ("ill", "sick")] {
        cluster
            .apply(&format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: web}}}}\n\
                 spec: {{containers: [{{name: main, image: {image}}}]}}\n"
            ))
            .await;
    }
    cluster.pass(5).await;
    assert_eq!(cluster.pods(), ["ill Running", "well Running ready"]);
    cluster
}

const REFUSED: &str = "429 Cannot evict pod as it would violate the pod's disruption budget.";

#[tokio::test]
async fn a_pod_that_is_ill_may_go_where_the_others_are_enough_or_the_budget_says_so() {
    for (budget, well, ill) in [
        ("minAvailable: 1", "needs 1 healthy pods and has 1 currently", "evicted"),
        (
            "minAvailable: 2",
            "needs 2 healthy pods and has 1 currently",
            "needs 2 healthy pods and has 1 currently",
        ),
        ("minAvailable: 2, unhealthyPodEvictionPolicy: IfHealthyBudget", "", "needs 2 healthy pods"),
        (
            "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow",
            "needs 2 healthy pods and has 1 currently",
            "evicted",
        ),
    ] {
        let cluster = guarded(budget).await;
        for (name, wanted) in [("well", well), ("ill", ill)] {
            let answer = cluster.evict(name).await;
            let refused = format!("{REFUSED} The disruption budget web {wanted}");
            let wanted = if wanted == "evicted" { wanted } else { refused.as_str() };
            assert!(answer.starts_with(wanted.trim_end()), "{budget}, {name}: {answer}");
        }
    }
}

#[tokio::test]
async fn an_evicted_pod_says_that_it_was() {
    let cluster = guarded("minAvailable: 0").await;
    assert_eq!(cluster.evict("well").await, "evicted");
    let well = cluster.get("pods", "well");
    assert!(well.is_deleting());
    assert_eq!(condition(&well, "DisruptionTarget"), "True EvictionByEvictionAPI: Eviction API: evicting");
}

#[tokio::test]
async fn a_budget_that_was_just_changed_is_waited_for() {
    let cluster = guarded("minAvailable: 0").await;
    // Nobody has looked at the new budget yet: the controllers rest until they are told to go on.
    let patch = lynceus_object::yaml::parse_str("spec: {minAvailable: 2}").unwrap();
    let target = lynceus_sim::Target {
        group: "policy",
        resource: "poddisruptionbudgets",
        namespace: "default",
        name: "web",
    };
    cluster.local.patch(target, "", lynceus_sim::PatchKind::Merge, patch).await.unwrap();
    let pending = format!("{REFUSED} The disruption budget web is still being processed by the server.");
    assert_eq!(cluster.evict("well").await, pending);
    cluster.sim.settle().await;
    let looked_at = format!("{REFUSED} The disruption budget web needs 2 healthy pods and has 1 currently");
    assert_eq!(cluster.evict("well").await, looked_at);
}

#[tokio::test]
async fn of_evictions_at_once_only_as_many_pass_as_the_budget_allows() {
    let cluster = Cluster::start().await;
    cluster
        .apply(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n\
             spec: {selector: {matchLabels: {app: web}}, minAvailable: 2}\n",
        )
        .await;
    for name in ["a", "b", "c"] {
        cluster
            .apply(&format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: web}}}}\n\
                 spec: {{containers: [{{name: main, image: app}}]}}\n"
            ))
            .await;
    }
    cluster.pass(5).await;
    let budget = || cluster.get("poddisruptionbudgets.policy", "web");
    assert_eq!(count(&budget(), "disruptionsAllowed"), 1);
    // No controller looks in between.
    assert_eq!(cluster.evict("a").await, "evicted");
    let spent = budget();
    assert_eq!((count(&spent, "disruptionsAllowed"), count(&spent, "currentHealthy")), (0, 3));
    assert_eq!(condition(&spent, "DisruptionAllowed"), "False InsufficientPods: ");
    assert!(spent.at(&["status", "disruptedPods", "a"]).is_some(), "{spent:?}");
    let full = format!("{REFUSED} The disruption budget web does not allow evicting pods currently");
    assert_eq!(cluster.evict("b").await, full);
    cluster.sim.settle().await;
    let counted = budget();
    assert_eq!((count(&counted, "disruptionsAllowed"), count(&counted, "currentHealthy")), (0, 2));
    assert_eq!(counted.at(&["status", "disruptedPods"]), None, "it is being deleted");
}

#[tokio::test]
async fn a_pod_that_was_let_go_and_stays_counts_again_after_two_minutes() {
    let cluster = guarded("minAvailable: 0").await;
    let target = lynceus_sim::Target {
        group: "policy",
        resource: "poddisruptionbudgets",
        namespace: "default",
        name: "web",
    };
    let since = cluster.get("poddisruptionbudgets.policy", "web");
    let since = since.value().items_at(&["status", "conditions"])[0]
        .str_at(&["lastTransitionTime"])
        .unwrap()
        .to_owned();
    let mark = move |budget: &mut lynceus_object::Object| {
        budget.set(&["status", "disruptedPods", "well"], since.as_str());
    };
    cluster.local.edit(target, "status", mark).await.unwrap();
    cluster.sim.settle().await;
    assert_eq!(count(&cluster.get("poddisruptionbudgets.policy", "web"), "currentHealthy"), 0);
    cluster.pass(130).await;
    let budget = cluster.get("poddisruptionbudgets.policy", "web");
    assert_eq!((count(&budget, "currentHealthy"), budget.at(&["status", "disruptedPods"])), (1, None));
    let words = "Pod was expected by PDB default/default to be deleted but it wasn't";
    assert_eq!(cluster.told("well", "NotDeleted"), [words]);
}
