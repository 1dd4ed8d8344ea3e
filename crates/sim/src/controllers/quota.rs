//! ResourceQuotas: how much of what is allowed is used.

use std::collections::BTreeMap;

use lynceus_object::{Object, Quantity, Value};

use super::key::Key;
use super::kind::{CLAIM, POD, RESOURCE_QUOTA, SERVICE};
use super::steps::Steps;
use super::world::World;
use super::{Controller, Writer, manager, pods};
use crate::kinds::quality::amount_of;
use crate::store::{Event, EventKind};
use crate::view::View;

/// Keeps the usage of quotas.
pub(crate) struct Quotas;

impl Controller for Quotas {
    fn component(&self) -> &'static str {
        "resourcequota-controller"
    }

    fn writer(&self) -> Writer {
        manager!("resourcequota-controller")
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if RESOURCE_QUOTA.is(&event.place) {
            wake.push(Key::of(&event.place, object));
        } else if !object.namespace().is_empty()
            && (event.kind != EventKind::Modified || counts_changes(event))
        {
            let quotas = world.list(RESOURCE_QUOTA, object.namespace());
            wake.extend(quotas.iter().map(|quota| Key::of(&RESOURCE_QUOTA.place(), quota)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(quota) = world.find(key) else { return };
        let hard = quota.at(&["spec", "hard"]).cloned().unwrap_or_default();
        let mut used = Value::Map(lynceus_object::Map::new());
        for (resource, _) in hard.as_map().into_iter().flat_map(|hard| hard.iter()) {
            used.set(&[resource.as_str()], usage(resource, &quota, world));
        }
        let mut new = quota.clone();
        new.set(&["status", "hard"], hard);
        new.set(&["status", "used"], used);
        out.status_if_changed(RESOURCE_QUOTA, &quota, new);
    }
}

/// A pod that ends gives back what it used; a service may change its type.
fn counts_changes(event: &Event) -> bool {
    let ended = |pod: &Object| pods::is_finished(pod);
    (POD.is(&event.place) && event.previous.as_ref().is_some_and(|old| ended(old) != ended(&event.object)))
        || SERVICE.is(&event.place)
        || CLAIM.is(&event.place)
}

/// How much of a resource is used in the quota's namespace, as it is printed.
fn usage(resource: &str, quota: &Object, world: &World<'_>) -> String {
    let namespace = quota.namespace();
    let living = || world.list(POD, namespace).into_iter().filter(|pod| !pods::is_finished(pod));
    match resource {
        "pods" => living().count().to_string(),
        "cpu" | "requests.cpu" => sum_of_pods(living(), "requests", "cpu"),
        "memory" | "requests.memory" => sum_of_pods(living(), "requests", "memory"),
        "requests.ephemeral-storage" => sum_of_pods(living(), "requests", "ephemeral-storage"),
        "limits.cpu" => sum_of_pods(living(), "limits", "cpu"),
        "limits.memory" => sum_of_pods(living(), "limits", "memory"),
        "requests.storage" => {
            let claims = world.list(CLAIM, namespace);
            let path = ["spec", "resources", "requests", "storage"];
            sum(claims.iter().filter_map(|claim| claim.at(&path).and_then(amount_of)))
        }
        "services.loadbalancers" => count_services(world, namespace, &["LoadBalancer"]),
        "services.nodeports" => count_services(world, namespace, &["LoadBalancer", "NodePort"]),
        other => {
            let name = other.strip_prefix("count/").unwrap_or(other);
            let (resource, group) = name.split_once('.').unwrap_or((name, ""));
            world.local.list(group, resource, Some(namespace)).len().to_string()
        }
    }
}

fn count_services(world: &World<'_>, namespace: &str, types: &[&str]) -> String {
    let services = world.list(SERVICE, namespace);
    let of_type = |service: &&Object| {
        service.value().str_at(&["spec", "type"]).is_some_and(|type_| types.contains(&type_))
    };
    services.iter().filter(of_type).count().to_string()
}

fn sum_of_pods(pods: impl Iterator<Item = Object>, list: &str, resource: &str) -> String {
    let mut amounts: BTreeMap<usize, Quantity> = BTreeMap::new();
    for pod in pods {
        for container in pod.value().items_at(&["spec", "containers"]) {
            if let Some(amount) = container.at(&["resources", list, resource]).and_then(amount_of) {
                amounts.insert(amounts.len(), amount);
            }
        }
    }
    sum(amounts.into_values())
}

fn sum(amounts: impl Iterator<Item = Quantity>) -> String {
    amounts.reduce(|a, b| a + b).map_or_else(|| "0".to_owned(), |total| total.to_string())
}
