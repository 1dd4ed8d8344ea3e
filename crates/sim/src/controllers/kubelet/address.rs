//! Addresses of pods.

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;

use lynceus_object::{Object, Str};

/// The first address of the range that pods get addresses from (`10.244.0.0` to `10.255.255.255`).
const FIRST: u32 = u32::from_be_bytes([10, 244, 0, 0]);
/// How many addresses the range has.
const COUNT: u32 = 12 << 16;

/// Which pod has which address.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    by_pod: HashMap<Str, u32>,
    taken: HashSet<u32>,
    next: u32,
}

impl Addresses {
    /// Remembers the address that a pod's status says it has.
    pub(super) fn note(&mut self, pod: &Object) {
        let ip = pod.value().str_at(&["status", "podIP"]).and_then(|ip| ip.parse::<Ipv4Addr>().ok());
        let Some(at) = ip.and_then(|ip| u32::from(ip).checked_sub(FIRST)).filter(|at| *at < COUNT) else {
            return;
        };
        if self.by_pod.insert(pod.uid().into(), at).is_none() {
            self.taken.insert(at);
        }
    }

    /// Gives up a pod's address.
    pub(super) fn free(&mut self, uid: &str) {
        if let Some(at) = self.by_pod.remove(uid) {
            self.taken.remove(&at);
        }
    }

    /// A pod's address: the one that it has, its node's, or one that is free.
    pub(super) fn of(&mut self, pod: &Object, node: &Object) -> Str {
        if pod.value().bool_at(&["spec", "hostNetwork"]) == Some(true) {
            return internal_ip(node);
        }
        let at = match self.by_pod.get(pod.uid()) {
            Some(at) => *at,
            None => self.take(pod.uid()),
        };
        ecow::eco_format!("{}", Ipv4Addr::from(FIRST + at))
    }

    fn take(&mut self, uid: &str) -> u32 {
        // The first address is the network's own. A full range hands addresses out twice rather than none.
        for _ in 0..COUNT {
            self.next = self.next % (COUNT - 2) + 1;
            if self.taken.insert(self.next) {
                break;
            }
        }
        self.by_pod.insert(uid.into(), self.next);
        self.next
    }
}

/// The address that a node is reached at inside the cluster.
pub(super) fn internal_ip(node: &Object) -> Str {
    let addresses = node.value().items_at(&["status", "addresses"]);
    let internal = addresses.iter().find(|address| address.str_at(&["type"]) == Some("InternalIP"));
    internal.and_then(|address| address.str_at(&["address"])).unwrap_or_default().into()
}
