//! How Jobs end, and what makes them count a pod.

use lynceus_object::Object;

use super::cluster::{Cluster, condition, count};

/// A Job with more in its spec, whose pods run a command (or nothing in particular) until something else is said.
fn job(spec: &str, pod: &str, annotations: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: sum}}\nspec:\n  {spec}\n  template:\n    \
         metadata: {{annotations: {{{annotations}}}}}\n    spec: {{{pod}}}\n"
    )
}

const TASK: &str = "restartPolicy: Never, containers: [{name: main, image: task}]";
const FAILS: &str = "sim.lynceus.dev/exit-code: '3'";
const ENDLESS: &str = "sim.lynceus.dev/run-for: 1h";

impl Cluster {
    /// How the Job stands: its numbers, and how it ended.
    fn job(&self) -> String {
        let job = self.get("jobs.batch", "sum");
        let mut line = String::new();
        for field in ["active", "succeeded", "failed"] {
            if job.at(&["status", field]).is_some() {
                line += &format!("{} {field}, ", count(&job, field));
            }
        }
        for field in ["completedIndexes", "failedIndexes"] {
            if let Some(list) = job.value().str_at(&["status", field]) {
                line += &format!("{field} [{list}], ");
            }
        }
        let end = ["Complete", "Failed"].map(|type_| condition(&job, type_));
        let end = end.iter().find(|text| !text.is_empty()).map_or("goes on", |text| &text[5..]);
        line + end
    }

    /// The pods of an index, by name.
    fn of_index(&self, index: i64) -> Vec<Object> {
        let mut pods = self.list("pods");
        let wanted = index.to_string();
        pods.retain(|pod| pod.label("batch.kubernetes.io/job-completion-index") == Some(&wanted));
        pods
    }

    /// Says what the pods of an index do.
    async fn annotate_index(&self, index: i64, annotation: &str) {
        for pod in self.of_index(index) {
            let patch = format!("metadata: {{annotations: {{{annotation}}}}}");
            self.patch("pods", pod.name(), &patch).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_pod_that_is_restarted_in_place_uses_up_the_limit() {
    let failing = "containers: [{name: main, image: task, command: ['false']}]";
    let init = "initContainers: [{name: first, image: task, command: ['false']}], containers: [{name: main, image: task}]";
    for (limit, pod, runs) in
        [(0, failing, 1), (1, failing, 1), (2, failing, 2), (3, failing, 3), (2, init, 2)]
    {
        let cluster = Cluster::start().await;
        let pod = format!("restartPolicy: OnFailure, {pod}");
        cluster.apply(&job(&format!("backoffLimit: {limit}"), &pod, "")).await;
        let mut changes = cluster.local.changes();
        cluster.pass(200).await;
        let mut restarts = 0;
        while let Ok(change) = changes.try_recv() {
            for list in ["initContainerStatuses", "containerStatuses"] {
                let statuses = change.object.value().items_at(&["status", list]);
                let most = statuses.iter().filter_map(|one| one.int_at(&["restartCount"])).max();
                restarts = restarts.max(most.unwrap_or(0));
            }
        }
        let ended = "1 failed, BackoffLimitExceeded: Job has reached the specified backoff limit";
        assert_eq!((cluster.job().as_str(), restarts), (ended, runs), "{limit}, {pod}");
    }
}

#[tokio::test]
async fn a_failed_pod_counts_as_the_failure_policy_says() {
    let policy = |rule: &str| format!("backoffLimit: 1\n  podFailurePolicy: {{rules: [{rule}]}}");
    let codes = |action: &str, rest: &str| {
        policy(&format!("{{action: {action}, onExitCodes: {{operator: {rest}}}}}"))
    };
    let exceeded = "2 failed, BackoffLimitExceeded: Job has reached the specified backoff limit";
    for (spec, wanted) in [
        (
            codes("FailJob", "In, values: [3]"),
            "1 failed, PodFailurePolicy: Container main for pod default/POD failed with exit code 3 matching FailJob rule at index 0",
        ),
        (codes("FailJob", "NotIn, values: [3]"), exceeded),
        (
            codes("FailJob", "In, values: [3], containerName: main"),
            "1 failed, PodFailurePolicy: Container main for pod default/POD failed with exit code 3 matching FailJob rule at index 0",
        ),
        (codes("Count", "In, values: [3]"), exceeded),
        (codes("Ignore", "In, values: [3]"), "goes on"),
        (policy("{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: 'True'}]}"), exceeded),
    ] {
        let cluster = Cluster::start().await;
        cluster.apply(&job(&spec, TASK, FAILS)).await;
        cluster.pass(100).await;
        let pod = cluster.list("pods").first().map(|pod| pod.name().to_owned()).unwrap_or_default();
        // Whether the next pod runs already is a question of the wait before it.
        let told = cluster.job().replace(&pod, "POD").replace("1 active, ", "");
        assert_eq!(told, wanted, "{spec}");
    }
}

#[tokio::test]
async fn a_pod_that_is_evicted_is_ignored_where_the_policy_says_so() {
    for (action, wanted) in [
        ("Ignore", "1 active, goes on"),
        (
            "FailJob",
            "1 failed, PodFailurePolicy: Pod default/POD has condition DisruptionTarget matching FailJob rule at index 0",
        ),
    ] {
        let cluster = Cluster::start().await;
        let rule =
            format!("{{action: {action}, onPodConditions: [{{type: DisruptionTarget, status: 'True'}}]}}");
        let spec = format!("backoffLimit: 0\n  podFailurePolicy: {{rules: [{rule}]}}");
        cluster.apply(&job(&spec, TASK, ENDLESS)).await;
        cluster.pass(5).await;
        let pod = cluster.list("pods")[0].name().to_owned();
        assert_eq!(cluster.evict(&pod).await, "evicted");
        cluster.pass(60).await;
        assert_eq!(cluster.job().replace(&pod, "POD"), wanted);
    }
}

#[tokio::test]
async fn a_job_is_done_when_enough_of_its_indexes_are() {
    for (rule, first, second) in [
        ("{succeededIndexes: '1'}", "goes on", "SuccessPolicy: Matched rules at index 0"),
        ("{succeededIndexes: '2-3', succeededCount: 1}", "SuccessPolicy: Matched rules at index 0", ""),
        (
            "{succeededIndexes: '0'}, {succeededCount: 2}",
            "goes on",
            "SuccessPolicy: Matched rules at index 1",
        ),
    ] {
        let cluster = Cluster::start().await;
        let size = "completionMode: Indexed\n  completions: 4\n  parallelism: 4";
        let spec = format!("{size}\n  successPolicy: {{rules: [{rule}]}}");
        cluster.apply(&job(&spec, TASK, ENDLESS)).await;
        for (index, wanted) in [(2, first), (1, second)] {
            if wanted.is_empty() {
                continue;
            }
            cluster.annotate_index(index, "sim.lynceus.dev/run-for: 1s").await;
            cluster.pass(10).await;
            assert!(cluster.job().ends_with(wanted), "{rule}: {}", cluster.job());
        }
        let job = cluster.get("jobs.batch", "sum");
        assert_eq!((count(&job, "failed"), count(&job, "active")), (0, 0), "{rule}");
        assert!(condition(&job, "SuccessCriteriaMet").starts_with("True SuccessPolicy"));
        assert_eq!(cluster.told("sum", "Completed"), ["Job completed"]);
        assert!(cluster.pods().iter().all(|pod| pod.ends_with("Succeeded")), "{:?}", cluster.pods());
    }
}

#[tokio::test]
async fn each_index_has_a_limit_of_its_own() {
    for (limits, wanted) in [
        (
            "backoffLimitPerIndex: 1",
            "1 succeeded, 4 failed, completedIndexes [0], failedIndexes [1,2], FailedIndexes: Job has failed indexes",
        ),
        (
            "backoffLimitPerIndex: 0\n  maxFailedIndexes: 1",
            "1 succeeded, 2 failed, completedIndexes [0], failedIndexes [1,2], MaxFailedIndexesExceeded: Job has \
             exceeded the specified maximal number of failed indexes",
        ),
        (
            "backoffLimitPerIndex: 5\n  podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [3]}}]}",
            "1 succeeded, 2 failed, completedIndexes [0], failedIndexes [1,2], FailedIndexes: Job has failed indexes",
        ),
    ] {
        let cluster = Cluster::start().await;
        let spec = format!("completionMode: Indexed\n  completions: 3\n  parallelism: 3\n  {limits}");
        cluster.apply(&job(&spec, TASK, FAILS)).await;
        cluster.annotate_index(0, "sim.lynceus.dev/exit-code: '0'").await;
        cluster.pass(100).await;
        assert_eq!(cluster.job(), wanted, "{limits}");
        let again = cluster.of_index(1);
        let counts: Vec<_> = again
            .iter()
            .filter_map(|pod| pod.annotation("batch.kubernetes.io/job-index-failure-count"))
            .collect();
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        let tries: &[&str] = if limits == "backoffLimitPerIndex: 1" { &["0", "1"] } else { &["0"] };
        assert_eq!(sorted, tries, "{limits}");
    }
}

#[tokio::test]
async fn an_index_that_failed_is_tried_again_after_its_own_wait() {
    let cluster = Cluster::start().await;
    let spec = "completionMode: Indexed\n  completions: 2\n  parallelism: 2\n  backoffLimitPerIndex: 3";
    cluster.apply(&job(spec, TASK, ENDLESS)).await;
    cluster.annotate_index(0, &format!("{FAILS}, sim.lynceus.dev/run-for: 1s")).await;
    cluster.pass(11).await;
    assert_eq!(cluster.job(), "1 active, failedIndexes [], goes on");
    cluster.pass(3).await;
    assert_eq!(cluster.job(), "2 active, 1 failed, failedIndexes [], goes on");
}

#[tokio::test]
async fn a_pod_that_stops_is_replaced_at_once_or_when_it_has_stopped() {
    for (policy, meanwhile) in [("TerminatingOrFailed", 2), ("Failed", 1)] {
        let cluster = Cluster::start().await;
        let spec = format!("podReplacementPolicy: {policy}");
        cluster.apply(&job(&spec, TASK, ENDLESS)).await;
        cluster.pass(5).await;
        let first = cluster.list("pods")[0].name().to_owned();
        cluster.delete("pods", &first).await;
        // A failed pod is replaced after a wait.
        assert_eq!(cluster.list("pods").len(), meanwhile, "{policy}: {:?}", cluster.pods());
        cluster.pass(15).await;
        assert!(cluster.job().starts_with("1 active, 1 failed"), "{policy}: {}", cluster.job());
    }
}

#[tokio::test]
async fn pods_that_a_quota_refuses_are_not_active() {
    let cluster = Cluster::start().await;
    cluster
        .apply("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: '0'}}\n")
        .await;
    cluster.apply(&job("parallelism: 2", TASK, "")).await;
    cluster.pass(5).await;
    assert_eq!(cluster.job(), "goes on");
    let told = cluster.told("sum", "FailedCreate");
    assert!(
        told[0].ends_with("exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"),
        "{told:?}"
    );
    cluster.delete("resourcequotas", "q").await;
    cluster.pass(600).await;
    assert!(cluster.job().starts_with("2 succeeded, CompletionsReached"), "{}", cluster.job());
}

#[tokio::test]
async fn a_job_that_somebody_made_from_a_cron_job_is_none_of_its_own() {
    let cluster = Cluster::start().await;
    let spec = "restartPolicy: Never, containers: [{name: main, image: task}]";
    let cron = cluster_cron(spec);
    cluster.apply(&cron).await;
    let uid = cluster.get("cronjobs.batch", "tick").uid().to_owned();
    cluster
        .apply(&format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: by-hand\n  annotations: {{cronjob.kubernetes.io/instantiate: manual}}\n  \
             ownerReferences: [{{apiVersion: batch/v1, kind: CronJob, name: tick, uid: {uid}, controller: true}}]\n\
             spec: {{template: {{spec: {{{spec}}}}}}}\n"
        ))
        .await;
    assert_eq!(cluster.get("cronjobs.batch", "tick").at(&["status", "active"]), None);
    let told = ["Saw a job that the controller did not create or forgot: by-hand"];
    assert_eq!(cluster.told("tick", "UnexpectedJob"), told);
    cluster.pass(60).await;
    let done = cluster.get("cronjobs.batch", "tick");
    assert!(done.at(&["status", "lastSuccessfulTime"]).is_some());
}

fn cluster_cron(pod: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: tick}}\nspec:\n  schedule: '0 0 1 1 *'\n  \
         jobTemplate: {{spec: {{template: {{spec: {{{pod}}}}}}}}}\n"
    )
}
