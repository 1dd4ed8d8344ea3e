//! Addresses for Services of type LoadBalancer, as a cloud would give them.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use lynceus_object::{Object, value};

use super::key::Key;
use super::kind::{SERVICE, is_among};
use super::steps::{Announcement, Steps};
use super::world::World;
use super::{Controller, Writer};
use crate::store::{Event, Place};

/// The first address that is given out, from a range that is kept for documentation and never routed.
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// How many addresses there are.
const COUNT: u32 = 1 << 17;
const CLEANUP: &str = "service.kubernetes.io/load-balancer-cleanup";

/// Gives addresses to Services.
#[derive(Default)]
pub(crate) struct LoadBalancers {
    /// Services that have one: their status is empty as soon as they do not want it any more.
    given: BTreeSet<Key>,
}

impl Controller for LoadBalancers {
    fn component(&self) -> &'static str {
        "service-controller"
    }

    fn writer(&self) -> Writer {
        Writer {
            user: "system:serviceaccount:kube-system:service-controller",
            manager: "cloud-controller-manager",
        }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[SERVICE], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if SERVICE.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key).filter(|object| !object.is_deleting()) else {
            self.given.remove(key);
            return;
        };
        if wants_address(&object) {
            self.given.insert(key.clone());
            if !has_address(&object) {
                out.announce(Announcement::normal(&object, "EnsuringLoadBalancer", "Ensuring load balancer"));
                let ip = free_address(&object, world);
                let mut new = object.clone();
                new.set(&["status", "loadBalancer", "ingress"], value!([{"ip": ip, "ipMode": "VIP"}]));
                out.status_if_changed(SERVICE, &object, new);
                out.announce(Announcement::normal(&object, "EnsuredLoadBalancer", "Ensured load balancer"));
            }
        } else if self.given.remove(key) || has_address(&object) {
            out.announce(Announcement::normal(&object, "DeletingLoadBalancer", "Deleting load balancer"));
            let mut new = object.clone();
            new.set(&["status", "loadBalancer"], value!({}));
            out.status_if_changed(SERVICE, &object, new);
            out.announce(Announcement::normal(&object, "DeletedLoadBalancer", "Deleted load balancer"));
        }
        if !wants_address(&object) && object.finalizers().any(|name| name == CLEANUP) {
            out.steps.push(super::steps::Step::Unfinalize { key: key.clone(), finalizer: CLEANUP });
        }
    }
}

fn wants_address(service: &Object) -> bool {
    service.value().str_at(&["spec", "type"]) == Some("LoadBalancer")
        // A class of its own means a controller of its own.
        && service.value().str_at(&["spec", "loadBalancerClass"]).unwrap_or_default().is_empty()
}

fn has_address(service: &Object) -> bool {
    !service.value().items_at(&["status", "loadBalancer", "ingress"]).is_empty()
}

/// The address that is asked for, or the first that no service has.
fn free_address(service: &Object, world: &World<'_>) -> String {
    if let Some(wanted) = service.value().str_at(&["spec", "loadBalancerIP"]).filter(|ip| !ip.is_empty()) {
        return wanted.to_owned();
    }
    let taken: BTreeSet<String> = world
        .list_all(SERVICE)
        .iter()
        .flat_map(|service| service.value().items_at(&["status", "loadBalancer", "ingress"]))
        .filter_map(|address| address.str_at(&["ip"]).map(str::to_owned))
        .collect();
    let first = u32::from(FIRST);
    (first..first + COUNT)
        .map(|at| Ipv4Addr::from(at).to_string())
        .find(|ip| !taken.contains(ip))
        .unwrap_or_else(|| FIRST.to_string())
}
