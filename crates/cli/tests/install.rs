//! What `lynceus install` prints, given to a cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use jiff::SignedDuration;
use lynceus_cluster::{ApplyOptions, Cluster};
use lynceus_files::FilePath;
use lynceus_object::{Gvk, Object, Value, manifest, yaml};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_sim::clock::ManualClock;
use support::Home;

fn printed(arguments: &[&str]) -> Vec<Object> {
    let home = Home::new();
    let output = home.run(&[&["install"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = manifest::read(&FilePath::root(), &output.stdout, &yaml::Options::default());
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    read.objects.into_iter().map(|placed| placed.object).collect()
}

async fn applied(cluster: &Cluster, objects: &[Object]) -> Vec<String> {
    let mut messages = Vec::new();
    for object in objects {
        messages.push(cluster.apply(object, ApplyOptions::default()).await.unwrap().message);
    }
    messages
}

#[tokio::test]
async fn an_installation_starts_and_can_be_applied_again() {
    let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
    let options =
        lynceus_sim::Options { clock: Some(clock), seed: Some(7), ..lynceus_sim::Options::default() };
    let sim = Sim::start(options).await.unwrap();
    let cluster = Cluster::open(
        kube::Client::new(sim.service(User::admin()), "default"),
        lynceus_cluster::Options::default(),
    )
    .await
    .unwrap();
    let objects = printed(&["--namespace", "gitops"]);
    let first = applied(&cluster, &objects).await;
    assert!(first.iter().all(|message| message.ends_with(" created")), "{first:?}");
    sim.advance(SignedDuration::from_secs(60)).await;
    let deployment = Gvk::new("apps", "v1", "Deployment");
    for name in ["lynceus-controller", "lynceus-server"] {
        let live = cluster.get(&deployment, "gitops", name).await.unwrap().unwrap();
        assert_eq!(live.at(&["status", "availableReplicas"]).and_then(Value::as_int), Some(2), "{name}");
    }
    let again = applied(&cluster, &objects).await;
    // A selector is always sent, as kubectl does it: its patch strategy is to replace.
    let changed: Vec<&String> = again.iter().filter(|message| !message.ends_with(" unchanged")).collect();
    let budgets = |message: &&String| message.starts_with("poddisruptionbudget.policy/");
    assert!(changed.iter().all(budgets), "{changed:?}");
}

#[test]
fn every_container_keeps_to_the_restricted_standard() {
    for deployment in printed(&[]).iter().filter(|object| object.kind() == "Deployment") {
        let pod = deployment.at(&["spec", "template", "spec"]).unwrap();
        assert_eq!(pod.bool_at(&["securityContext", "runAsNonRoot"]), Some(true));
        assert_eq!(pod.str_at(&["securityContext", "seccompProfile", "type"]), Some("RuntimeDefault"));
        for container in pod.items_at(&["containers"]) {
            assert_eq!(container.bool_at(&["securityContext", "allowPrivilegeEscalation"]), Some(false));
            assert_eq!(container.bool_at(&["securityContext", "readOnlyRootFilesystem"]), Some(true));
            let dropped = container.items_at(&["securityContext", "capabilities", "drop"]);
            assert_eq!(dropped, [Value::from("ALL")]);
            for probe in ["livenessProbe", "readinessProbe", "resources"] {
                assert!(container.get(probe).is_some(), "{} has no {probe}", deployment.name());
            }
        }
    }
}
