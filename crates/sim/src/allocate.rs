//! Cluster IPs and node ports: what only one Service may have.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lynceus_object::{Object, Str};

use crate::context::{AllocationError, Allocators};
use crate::store::{Event, Store};
use crate::view::View;

const V4: (Ipv4Addr, u32) = (Ipv4Addr::new(10, 0, 0, 0), 16);
const V6: (u128, u32) = (0xfd00_0000_0000_0000_0000_0000_0000_0000, 112);
const PORTS: std::ops::RangeInclusive<u16> = 30000..=32767;

/// What is taken: by a stored Service, or by a write that is on its way.
#[derive(Debug, Default)]
pub(crate) struct Allocations(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    addresses: HashMap<IpAddr, Holder>,
    ports: HashMap<u16, Holder>,
    next: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Holder {
    /// A write that has yet to be stored.
    Pending,
    /// A stored Service, by namespace and name.
    Service(Str, Str),
}

impl Allocations {
    /// What the stored Services have.
    pub(crate) fn of(store: &Store) -> Self {
        let allocations = Allocations::default();
        for service in store.list("", "services", None) {
            allocations.lock().hold(&service);
        }
        allocations
    }

    /// Keeps up with a Service that was written or deleted.
    pub(crate) fn follow(&self, event: &Event) {
        if !event.place.group.is_empty() || event.place.resource != "services" {
            return;
        }
        let mut taken = self.lock();
        if let Some(previous) = &event.previous {
            taken.release(previous);
        }
        if event.kind != crate::store::EventKind::Deleted {
            taken.hold(&event.object);
        }
    }

    /// Gives back what a write took that then failed.
    pub(crate) fn give_back(&self, object: &Object) {
        let mut taken = self.lock();
        for address in addresses(object) {
            if taken.addresses.get(&address) == Some(&Holder::Pending) {
                taken.addresses.remove(&address);
            }
        }
        for port in ports(object) {
            if taken.ports.get(&port) == Some(&Holder::Pending) {
                taken.ports.remove(&port);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn hold(&mut self, service: &Object) {
        let holder = Holder::Service(service.namespace().into(), service.name().into());
        self.addresses.extend(addresses(service).map(|address| (address, holder.clone())));
        self.ports.extend(ports(service).map(|port| (port, holder.clone())));
    }

    fn release(&mut self, service: &Object) {
        let holder = Holder::Service(service.namespace().into(), service.name().into());
        for address in addresses(service) {
            if self.addresses.get(&address) == Some(&holder) {
                self.addresses.remove(&address);
            }
        }
        for port in ports(service) {
            if self.ports.get(&port) == Some(&holder) {
                self.ports.remove(&port);
            }
        }
    }

    /// Candidates for an address, starting after the last one given so that addresses are not reused
    /// at once.
    fn free_address(&mut self, v6: bool) -> Option<IpAddr> {
        let size = if v6 { 1 << 16 } else { 1_u32 << (32 - V4.1) };
        // The first address is the network's, the second the API server's own Service, the last the
        // broadcast address; the lower ones are left for those who ask for them.
        let (low, high) = ((size / 16).min(256), size - 1);
        for step in 0..high - low {
            let offset = low + (self.next + step) % (high - low);
            let address = address_at(offset, v6);
            if !self.addresses.contains_key(&address) {
                self.next = (self.next + step + 1) % (high - low);
                return Some(address);
            }
        }
        (2..low).map(|offset| address_at(offset, v6)).find(|address| !self.addresses.contains_key(address))
    }
}

impl Allocators for Allocations {
    fn cluster_ip(&self, wanted: Option<&str>, v6: bool) -> Result<String, AllocationError> {
        let mut taken = self.lock();
        let address = match wanted {
            Some(wanted) => {
                let address: IpAddr = wanted.parse().map_err(|_| AllocationError::NoSuchAddress)?;
                if !in_range(address) {
                    return Err(AllocationError::NoSuchAddress);
                }
                if taken.addresses.contains_key(&address) {
                    return Err(AllocationError::Taken("IP"));
                }
                address
            }
            None => taken.free_address(v6).ok_or(AllocationError::Full)?,
        };
        taken.addresses.insert(address, Holder::Pending);
        Ok(address.to_string())
    }

    fn node_port(&self, wanted: Option<u16>) -> Result<u16, AllocationError> {
        let mut taken = self.lock();
        let port = match wanted {
            Some(port) if !PORTS.contains(&port) => return Err(AllocationError::NoSuchPort),
            Some(port) if taken.ports.contains_key(&port) => return Err(AllocationError::Taken("port")),
            Some(port) => port,
            None => {
                PORTS.into_iter().find(|port| !taken.ports.contains_key(port)).ok_or(AllocationError::Full)?
            }
        };
        taken.ports.insert(port, Holder::Pending);
        Ok(port)
    }
}

fn address_at(offset: u32, v6: bool) -> IpAddr {
    if v6 {
        Ipv6Addr::from(V6.0 + u128::from(offset)).into()
    } else {
        Ipv4Addr::from(u32::from(V4.0) + offset).into()
    }
}

fn in_range(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => u32::from(address) >> (32 - V4.1) == u32::from(V4.0) >> (32 - V4.1),
        IpAddr::V6(address) => u128::from(address) >> (128 - V6.1) == V6.0 >> (128 - V6.1),
    }
}

fn addresses(service: &Object) -> impl Iterator<Item = IpAddr> + '_ {
    service
        .value()
        .items_at(&["spec", "clusterIPs"])
        .iter()
        .filter_map(|address| address.as_str()?.parse().ok())
}

fn ports(service: &Object) -> impl Iterator<Item = u16> + '_ {
    let of_ports = service
        .value()
        .items_at(&["spec", "ports"])
        .iter()
        .filter_map(|port| port.int_at(&["nodePort"]))
        .chain(service.value().int_at(&["spec", "healthCheckNodePort"]));
    of_ports.filter_map(|port| u16::try_from(port).ok()).filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_given_once() {
        let allocations = Allocations::default();
        let first = allocations.cluster_ip(None, false).unwrap();
        assert_eq!(first, "10.0.1.0");
        assert_eq!(allocations.cluster_ip(Some(&first), false), Err(AllocationError::Taken("IP")));
        assert_eq!(allocations.cluster_ip(Some("10.9.0.1"), false), Err(AllocationError::NoSuchAddress));
    }

    #[test]
    fn a_full_range_says_so() {
        let allocations = Allocations::default();
        while allocations.cluster_ip(None, false).is_ok() {}
        assert_eq!(allocations.cluster_ip(None, false), Err(AllocationError::Full));
        assert_eq!(allocations.lock().addresses.len(), (1 << 16) - 3);
    }

    #[test]
    fn a_port_outside_of_the_range_is_refused() {
        let allocations = Allocations::default();
        assert_eq!(allocations.node_port(None), Ok(30000));
        assert_eq!(allocations.node_port(Some(30000)), Err(AllocationError::Taken("port")));
        assert_eq!(allocations.node_port(Some(80)), Err(AllocationError::NoSuchPort));
    }
}
