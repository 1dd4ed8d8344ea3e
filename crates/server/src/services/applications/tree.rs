//! The objects of an application and everything that they own.

mod hosts;
mod info;
mod network;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use lynceus_api::{Application, HealthStatusCode};
use lynceus_cluster::Cluster;
use lynceus_engine::{Aim, AppKey, Checks, Look, health_of};
use lynceus_object::{Object, ObjectKey, Value, value};
use tokio::sync::broadcast::error::RecvError;

pub(crate) use hosts::Hosts;

use crate::call::{Answer, Answered, Call};
use crate::limits;
use crate::refusal::Refusal;

/// The tree as it is now.
pub(super) async fn tree(call: &Call) -> Answered {
    Ok(Answer::One(now(call).await?))
}

/// The tree, and again after each change of it.
pub(super) fn watch(call: Call) -> Answered {
    let application = call.application("get", "applicationName")?;
    let tracked = AppKey::of(&application).tracked_as(call.server.namespace());
    let state = (call, tracked, None);
    let trees = stream::unfold(Some(state), |state| async move {
        let (call, tracked, last) = state?;
        match next(&call, &tracked, last.as_ref()).await {
            Ok(tree) => Some((Ok(tree.clone()), Some((call, tracked, Some(tree))))),
            // What the caller may no longer see ends the stream.
            Err(refusal) => Some((Err(refusal), None)),
        }
    });
    Ok(Answer::Many(trees.boxed()))
}

/// The next tree that differs from the last one.
async fn next(call: &Call, tracked: &str, last: Option<&Value>) -> Result<Value, Refusal> {
    let Some(last) = last else { return now(call).await };
    let application = call.application("get", "applicationName")?;
    let look = call.server.engine.look(&application, &Aim::default()).await;
    let (cluster, _) = ground(call, &application, &look).await;
    let mut changes = cluster.cache().changes();
    loop {
        let tree = now(call).await?;
        if tree != *last {
            return Ok(tree);
        }
        loop {
            match changes.recv().await {
                Ok(change) if change.applications.iter().any(|owner| owner == tracked) => break,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return Ok(tree),
            }
        }
        // Changes come in bursts; one tree serves all of a moment.
        tokio::time::sleep(Duration::from_millis(limits::TREE_PAUSE)).await;
        while changes.try_recv().is_ok() {}
    }
}

/// Where an application's objects are, and those that it has there itself. They do not go because Git cannot be read:
/// then they are known by their marks.
async fn ground(call: &Call, application: &Application, look: &Look) -> (Arc<Cluster>, Vec<Object>) {
    let live = || look.changes.changes.iter().filter_map(|change| change.pair.live().cloned()).collect();
    let engine = &call.server.engine;
    match &look.cluster {
        Some(cluster) => (cluster.clone(), live()),
        None => match engine.belongings_in(application, look.clone()).await {
            Ok(found) => (found.cluster.clone(), found.managed().cloned().collect()),
            Err(_) => (engine.home().clone(), Vec::new()),
        },
    }
}

async fn now(call: &Call) -> Result<Value, Refusal> {
    let application = call.application("get", "applicationName")?;
    let look = call.server.engine.look(&application, &Aim::default()).await;
    let (cluster, roots) = ground(call, &application, &look).await;
    let nodes = lynceus_cluster::tree(cluster.cache(), roots);
    let parents: BTreeMap<ObjectKey, Object> =
        nodes.iter().map(|node| (node.object.key(), node.object.clone())).collect();
    let checks = call.server.checks();
    let mut shown: Vec<Value> = nodes
        .iter()
        .map(|node| {
            let parent = node.parent.as_ref().and_then(|key| parents.get(key));
            shown_node(&node.object, parent, &checks)
        })
        .collect();
    shown.extend(missing(&look));
    let pods = nodes
        .iter()
        .map(|node| &node.object)
        .filter(|object| object.kind() == "Pod" && object.group().is_empty());
    let pods: Vec<&Object> = pods.collect();
    // On the heap, as everything that is large and awaited in a chain of others.
    let hosts = Box::pin(hosts::of(call, &cluster, &pods)).await;
    let mut tree = Value::default();
    tree.set(&["nodes"], shown.into_iter().collect::<Value>());
    tree.set(&["hosts"], hosts);
    if !look.orphans.is_empty() {
        tree.set(&["orphanedNodes"], orphans(&look, &checks));
    }
    Ok(tree)
}

/// What belongs to nobody, each with what owns it.
fn orphans(look: &Look, checks: &Checks) -> Vec<Value> {
    let by_uid: BTreeMap<&str, &Object> = look.orphans.iter().map(|object| (object.uid(), object)).collect();
    let owner = |object: &Object| {
        let owners = object.value().items_at(&["metadata", "ownerReferences"]);
        owners.iter().find_map(|owner| by_uid.get(owner.str_at(&["uid"])?).copied())
    };
    let shown = look.orphans.iter().take(limits::ORPHANS);
    shown.map(|object| shown_node(object, owner(object), checks)).collect()
}

fn reference(object: &Object) -> Value {
    value!({
        "group": object.group(), "version": object.gvk().version, "kind": object.kind(),
        "namespace": object.namespace(), "name": object.name(), "uid": object.uid(),
    })
}

fn shown_node(object: &Object, parent: Option<&Object>, checks: &Checks) -> Value {
    let mut node = reference(object);
    if let Some(parent) = parent {
        node.set(&["parentRefs"], Value::from_iter([reference(parent)]));
    }
    node.set(&["resourceVersion"], object.resource_version());
    if let Some(created) = object.value().str_at(&["metadata", "creationTimestamp"]) {
        node.set(&["createdAt"], created);
    }
    if let Some(health) = health_of(Some(object), checks) {
        node.set(&["health"], value!({"status": health.status.to_string(), "message": health.message}));
    }
    let images = info::images(object);
    if !images.is_empty() {
        node.set(&["images"], images.into_iter().map(Value::from).collect::<Value>());
    }
    let info = info::of(object);
    if !info.is_empty() {
        node.set(&["info"], info);
    }
    if let Some(network) = network::of(object) {
        node.set(&["networkingInfo"], network);
    }
    node
}

/// What Git wants and the cluster does not have.
fn missing(look: &Look) -> Vec<Value> {
    let absent = look.changes.changes.iter().filter(|change| change.pair.live().is_none());
    absent
        .filter_map(|change| change.pair.desired())
        .filter(|object| !lynceus_api::hook::is_hook(object))
        .map(|object| {
            let mut node = reference(object);
            node.set(&["health"], value!({"status": HealthStatusCode::Missing.to_string()}));
            node
        })
        .collect()
}
