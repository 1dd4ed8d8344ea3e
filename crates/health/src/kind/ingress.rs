//! An Ingress is healthy when it has an address.

use lynceus_object::Object;

use crate::Health;

pub(super) fn check(object: &Object) -> Health {
    let addresses = object.value().items_at(&["status", "loadBalancer", "ingress"]);
    if addresses.is_empty() { Health::progressing("") } else { Health::healthy("") }
}
