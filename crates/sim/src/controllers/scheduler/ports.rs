//! Ports of a node that a pod wants for itself.

use lynceus_object::{Object, Str};

use super::load::Machine;
use super::words::Obstacle;

const ANY: &str = "0.0.0.0";

/// A port of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    address: Str,
    protocol: Str,
    number: i64,
}

impl Port {
    fn conflicts(&self, other: &Port) -> bool {
        self.number == other.number
            && self.protocol == other.protocol
            && (self.address == other.address || self.address == ANY || other.address == ANY)
    }
}

/// The ports of its node that a pod takes; sidecars have ports too, other init containers have none to keep.
pub(super) fn of(pod: &Object) -> Vec<Port> {
    let spec = |list| pod.value().items_at(&["spec", list]);
    let sidecars = spec("initContainers")
        .iter()
        .filter(|container| container.str_at(&["restartPolicy"]) == Some("Always"));
    let ports =
        spec("containers").iter().chain(sidecars).flat_map(|container| container.items_at(&["ports"]));
    let text = |value: Option<&str>, otherwise: &str| -> Str {
        value.filter(|text| !text.is_empty()).unwrap_or(otherwise).into()
    };
    ports
        .filter_map(|port| {
            Some(Port {
                number: port.int_at(&["hostPort"]).filter(|number| *number > 0)?,
                protocol: text(port.str_at(&["protocol"]), "TCP"),
                address: text(port.str_at(&["hostIP"]), ANY),
            })
        })
        .collect()
}

/// Whether somebody else has one of the ports already.
pub(super) fn obstacle(ports: &[Port], machine: &Machine) -> Option<Obstacle> {
    let taken = ports.iter().any(|port| machine.ports.iter().any(|other| port.conflicts(other)));
    taken.then(|| Obstacle::passing("node(s) didn't have free ports for the requested pod ports"))
}
