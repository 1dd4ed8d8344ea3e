//! Makes a real cluster as it was when it was new, so that every scenario begins alike.
//!
//! What a new cluster has is written down in the cluster itself, the first time that a scenario meets it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use lynceus_cluster::{Cluster, Deletion, Kind};
use lynceus_object::{Gvk, Object, Propagation, Value, json, value};

/// Where the list of a new cluster's objects is kept.
const BASELINE: (&str, &str) = ("kube-system", "lynceus-baseline");

/// How long it may take until everything is gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long one kind may take to be listed: one whose conversion is broken never is.
const LIST: Duration = Duration::from_secs(5);

/// How many requests are under way at once.
const PARALLEL: usize = 16;

/// Kinds that come and go with others and hold nothing back.
const FLEETING: [&str; 6] = ["Event", "EndpointSlice", "Endpoints", "Lease", "Node", "CSINode"];

/// Deletes everything that a new cluster does not have. The first time, writes down what it has.
pub(crate) async fn clean(client: &Client) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        // Opened anew each time: definitions go, and their kinds with them.
        let cluster = Cluster::open(client.clone(), super::unhurried()).await.map_err(words)?;
        let Some(baseline) = baseline(&cluster).await? else { return note(&cluster, client).await };
        let mut extra: Vec<Object> = everything(&cluster, client).await;
        extra.retain(|object| !baseline.contains(&line(object)) && !is_fleeting(object, &baseline));
        if extra.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            let left: Vec<String> = extra.iter().map(line).collect();
            return Err(format!("the rig does not become clean: {}", left.join(", ")));
        }
        for definition in extra.iter().filter(|object| object.kind() == "CustomResourceDefinition") {
            // A webhook that is gone would keep its objects from being read, and so from being deleted.
            let plain = value!({"spec": {"conversion": {"strategy": "None", "webhook": Value::Null}}});
            let _ = cluster.patch_record(&definition.gvk(), "", definition.name(), &plain).await;
        }
        // What guards writes goes first, and definitions last.
        for rank in 0..=2 {
            let of_rank = extra.iter().filter(|object| order(object) == rank);
            futures::stream::iter(of_rank)
                .map(|object| remove(&cluster, client, object))
                .buffer_unordered(PARALLEL)
                .collect::<Vec<()>>()
                .await;
        }
    }
}

fn config_maps() -> Gvk {
    Gvk::new("", "v1", "ConfigMap")
}

async fn baseline(cluster: &Cluster) -> Result<Option<BTreeSet<String>>, String> {
    let known = cluster.get(&config_maps(), BASELINE.0, BASELINE.1).await.map_err(words)?;
    let text = known.map(|known| known.value().str_at(&["data", "objects"]).unwrap_or_default().to_owned());
    Ok(text.map(|text| text.lines().map(str::to_owned).collect()))
}

/// Notes what there is, with what the engine needs anyway: making definitions anew would take most of the time.
async fn note(cluster: &Cluster, client: &Client) -> Result<(), String> {
    lynceus_engine::bootstrap(cluster, super::HOME).await.map_err(words)?;
    let everything = everything(cluster, client).await;
    let mut lines: Vec<String> =
        everything.iter().filter(|object| object.kind() != "AppProject").map(line).collect();
    lines.sort();
    let mut object = Object::named(&config_maps(), BASELINE.0, BASELINE.1);
    object.set(&["data", "objects"], lines.join("\n"));
    cluster.create_record(&object).await.map(drop).map_err(words)
}

/// Every object of every kind that can be listed, with its metadata only.
async fn everything(cluster: &Cluster, client: &Client) -> Vec<Object> {
    let kinds = cluster.kinds();
    futures::stream::iter(kinds.watchable())
        .map(|kind| list(client, kind))
        .buffer_unordered(PARALLEL)
        .collect::<Vec<Vec<Object>>>()
        .await
        .into_iter()
        .flatten()
        .collect()
}

async fn list(client: &Client, kind: &Kind) -> Vec<Object> {
    let request = Request::get(kind.collection_path(""))
        .header("accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    let Ok(request) = request.body(Body::empty()) else { return Vec::new() };
    let answer = async { client.send(request).await?.into_body().collect_bytes().await };
    // A kind that cannot be listed holds nothing that a scenario could trip over, or the next round will see it.
    let Ok(Ok(bytes)) = tokio::time::timeout(LIST, answer).await else { return Vec::new() };
    let list = json::parse(&bytes).unwrap_or_default();
    let objects = list.items_at(&["items"]).iter().filter_map(|item| Object::new(item.clone()).ok());
    objects
        .map(|mut object| {
            object.set(&["apiVersion"], kind.gvk.api_version());
            object.set(&["kind"], kind.gvk.kind.clone());
            object
        })
        .collect()
}

fn line(object: &Object) -> String {
    format!("{}/{}/{}/{}", object.group(), object.kind(), object.namespace(), object.name())
}

/// Whether the cluster itself makes and removes it.
fn is_fleeting(object: &Object, baseline: &BTreeSet<String>) -> bool {
    let made_for_namespace = matches!(
        (object.kind(), object.name()),
        ("ConfigMap", "kube-root-ca.crt") | ("ServiceAccount", "default")
    ) && baseline.contains(&format!("/Namespace//{}", object.namespace()));
    FLEETING.contains(&object.kind())
        || object.namespace() == "kube-system"
        || object.label("kube-aggregator.kubernetes.io/automanaged").is_some()
        || made_for_namespace
}

fn order(object: &Object) -> u8 {
    match object.kind() {
        "ValidatingWebhookConfiguration"
        | "MutatingWebhookConfiguration"
        | "ValidatingAdmissionPolicyBinding"
        | "ResourceQuota" => 0,
        "CustomResourceDefinition" => 2,
        _ => 1,
    }
}

/// Deletes one object, whatever holds it. What fails is seen again in the next round.
async fn remove(cluster: &Cluster, client: &Client, object: &Object) {
    let (gvk, namespace, name) = (object.gvk(), object.namespace(), object.name());
    if object.finalizers().next().is_some() {
        let bare = value!({"metadata": {"finalizers": Value::Null}});
        let _ = cluster.patch_record(&gvk, namespace, name, &bare).await;
    }
    let deletion = Deletion { propagation: Propagation::Background, ..Deletion::default() };
    if object.kind() == "Pod" {
        return force(client, namespace, name).await;
    }
    let _ = cluster.delete(&gvk, namespace, name, &deletion).await;
    if object.kind() == "Namespace" {
        finalize(client, object).await;
    }
}

/// The namespace controller waits five seconds before it looks; everything in the namespace is deleted here anyway.
async fn finalize(client: &Client, namespace: &Object) {
    let mut body = namespace.clone();
    body.set(&["spec"], value!({"finalizers": []}));
    body.remove(&["metadata", "resourceVersion"]);
    let path = format!("/api/v1/namespaces/{}/finalize", namespace.name());
    send(client, Method::PUT, &path, body.value()).await;
}

/// No kubelet has to agree.
async fn force(client: &Client, namespace: &str, name: &str) {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    send(client, Method::DELETE, &path, &value!({"gracePeriodSeconds": 0})).await;
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if let Ok(request) = request.body(Body::from(json::to_vec(body))) {
        let _ = client.send(request).await;
    }
}

fn words(error: lynceus_cluster::ClusterError) -> String {
    lynceus_engine::words(&error)
}
