//! A Service is healthy, unless it waits for its load balancer.

use lynceus_object::Object;

use crate::{Health, text, unsupported};

pub(super) fn check(object: &Object) -> Health {
    if object.api_version() != "v1" {
        return unsupported(object);
    }
    let balanced = text(object, &["spec", "type"]) == "LoadBalancer";
    let addresses = object.value().items_at(&["status", "loadBalancer", "ingress"]);
    if balanced && addresses.is_empty() { Health::progressing("") } else { Health::healthy("") }
}
