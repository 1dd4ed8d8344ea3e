//! A Route of OpenShift is healthy when every router has admitted it.

use lynceus_object::{Object, Value};

use crate::Health;

pub(super) fn check(object: &Object) -> Health {
    let waiting = Health::progressing("Route is still getting admitted");
    let Some(routers) = object.at(&["status", "ingress"]).and_then(Value::as_seq) else { return waiting };
    let admitted = |status: &str| {
        let conditions = routers.iter().flat_map(|router| router.items_at(&["conditions"]));
        conditions
            .filter(|one| {
                one.str_at(&["type"]) == Some("Admitted") && one.str_at(&["status"]) == Some(status)
            })
            .count()
    };
    if admitted("True") == routers.len() {
        Health::healthy("Route is healthy")
    } else if admitted("False") > 0 {
        Health::degraded("Route is degraded")
    } else {
        waiting
    }
}
