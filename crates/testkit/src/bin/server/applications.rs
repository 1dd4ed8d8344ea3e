//! Applications as large as those of a busy installation, and changes of them.

use std::path::Path;
use std::sync::Arc;

use lynceus_api::crds;
use lynceus_cluster::Cluster;
use lynceus_object::{Gvk, Object, Value, json, value};

use crate::{Outcome, load};

const HOME: &str = "argocd";

/// How many objects each application has.
const OBJECTS: usize = 110;

/// The definitions and the namespace; gives a connection that knows them.
pub(crate) async fn prepare(kubeconfig: &Path) -> Outcome<Arc<Cluster>> {
    let cluster = load::open(kubeconfig).await?;
    load::create(&cluster, crds().into_iter()).await?;
    load::create(&cluster, std::iter::once(load::namespace(HOME))).await?;
    let mut project = Object::named(&Gvk::new("argoproj.io", "v1alpha1", "AppProject"), HOME, "default");
    project
        .set(&["spec"], value!({"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}));
    for _ in 0..100 {
        let cluster = load::open(kubeconfig).await?;
        if cluster.kinds().get(&kind()).is_some() {
            load::create(&cluster, std::iter::once(project)).await?;
            return Ok(cluster);
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    Err("the definitions are not served".into())
}

/// Creates so many; gives the size of one, in bytes.
pub(crate) async fn create(hand: &Cluster, count: usize) -> Outcome<usize> {
    load::create(hand, (0..count).map(application)).await?;
    Ok(json::to_vec(application(0).value()).len())
}

/// Changes the status of one, as a controller does.
pub(crate) async fn change(hand: &Cluster, number: usize, round: usize) -> Outcome {
    let status = if round.is_multiple_of(2) { "OutOfSync" } else { "Synced" };
    let revision = revision(number + round + 1);
    let patch = value!({"status": {"sync": {"status": status, "revision": revision}}});
    hand.patch_record(&kind(), HOME, &name(number), &patch).await?;
    Ok(())
}

/// What an application is called.
pub(crate) fn name(number: usize) -> String {
    format!("app-{number:05}")
}

fn kind() -> Gvk {
    Gvk::new("argoproj.io", "v1alpha1", "Application")
}

/// Forty digits that look like chance, because commits do and cannot be packed.
fn revision(number: usize) -> String {
    let mut state = number as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut digits = String::new();
    while digits.len() < 40 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        digits.push_str(&format!("{:08x}", state >> 32));
    }
    digits
}

/// A moment, another for each number.
fn moment(number: usize) -> String {
    format!(
        "2026-01-{:02}T{:02}:{:02}:{:02}Z",
        number / 86_400 % 28 + 1,
        number / 3_600 % 24,
        number / 60 % 60,
        number % 60
    )
}

fn application(number: usize) -> Object {
    let team = format!("team-{:02}", number % 40);
    let mut object = Object::named(&kind(), HOME, &name(number));
    object.set(
        &["metadata", "labels"],
        value!({"team": team.clone(), "env": (["dev", "test", "prod"][number % 3])}),
    );
    let source = value!({
        "repoURL": format!("https://git.example.com/{team}/deploy.git"), "path": format!("apps/{}/overlays", name(number)),
        "targetRevision": "main",
    });
    let destination =
        value!({"server": "https://kubernetes.default.svc", "namespace": format!("{team}-{number}")});
    object.set(
        &["spec"],
        value!({
            "project": "default", "source": source.clone(), "destination": destination.clone(),
            "syncPolicy": {"automated": {"prune": true, "selfHeal": true}, "syncOptions": ["CreateNamespace=true"]},
        }),
    );
    object.set(&["status"], status(number, &source, &destination));
    object
}

fn status(number: usize, source: &Value, destination: &Value) -> Value {
    let revision = |more: usize| revision(number * 16 + more);
    let (began, ended) = (moment(number * 37), moment(number * 37 + 12));
    let place = destination.str_at(&["namespace"]).unwrap_or_default();
    let named = |at: usize| {
        let sort = ["ConfigMap", "Secret", "Service", "Deployment", "Ingress"][at % 5];
        (sort, format!("{}-{}-{at:03}", name(number), sort.to_lowercase()))
    };
    let resources: Value = (0..OBJECTS)
        .map(|at| {
            let (sort, name) = named(at);
            value!({
                "version": "v1", "kind": sort, "namespace": place, "name": name, "status": "Synced",
                "health": {"status": "Healthy"},
            })
        })
        .collect();
    let results: Value = (0..OBJECTS / 2)
        .map(|at| {
            let (sort, name) = named(at);
            value!({
                "group": "", "version": "v1", "kind": sort, "namespace": place, "name": name.clone(), "status": "Synced",
                "message": format!("{}/{name} configured", sort.to_lowercase()), "hookPhase": "Running", "syncPhase": "Sync",
            })
        })
        .collect();
    let history: Value = (0..10)
        .map(|at| {
            value!({
                "id": (at as i64), "revision": revision(at), "deployedAt": ended.clone(), "deployStartedAt": began.clone(),
                "source": source.clone(), "initiatedBy": {"automated": true},
            })
        })
        .collect();
    value!({
        "sync": {"status": "Synced", "revision": revision(9), "comparedTo": {"source": source.clone(), "destination": destination.clone()}},
        "health": {"status": "Healthy", "lastTransitionTime": ended.clone()},
        "reconciledAt": moment(number * 61), "sourceType": "Kustomize",
        "summary": {"images": [format!("registry.example.com/web:{number}")], "externalURLs": [format!("https://{}.example.com/", name(number))]},
        "resources": resources, "history": history,
        "operationState": {
            "phase": "Succeeded", "message": "successfully synced (all tasks run)", "startedAt": began, "finishedAt": ended,
            "operation": {"sync": {"revision": revision(9), "prune": true}, "initiatedBy": {"automated": true}},
            "syncResult": {"revision": revision(9), "source": source.clone(), "resources": results},
        },
    })
}
