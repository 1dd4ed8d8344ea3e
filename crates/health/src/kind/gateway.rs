//! The Gateway API: gateways with listeners, routes with parents, and policies with ancestors.

use lynceus_object::{Object, Value};

use crate::{Health, present};

pub(super) fn gateway(object: &Object) -> Health {
    let listeners = object.value().items_at(&["status", "listeners"]);
    let own = object.value().items_at(&["status", "conditions"]);
    if let Some(health) = trouble(own, "", "Gateway") {
        return health;
    }
    let of_listeners =
        |listener: &Value| trouble(listener.items_at(&["conditions"]), "Listener: ", "Listener");
    if let Some(health) = listeners.iter().find_map(of_listeners) {
        return health;
    }
    if present(object, &["status", "conditions"]) || !listeners.is_empty() {
        return Health::healthy("Gateway is healthy");
    }
    Health::progressing("Waiting for Gateway status")
}

pub(super) fn grpc_route(object: &Object) -> Health {
    route(object, |_| true)
}

/// A parent that has not seen the route as it is says nothing about it.
pub(super) fn http_route(object: &Object) -> Health {
    let generation = object.value().int_at(&["metadata", "generation"]);
    route(object, |parent| {
        generation.is_none()
            || parent
                .items_at(&["conditions"])
                .iter()
                .filter_map(|condition| condition.int_at(&["observedGeneration"]))
                .all(|observed| Some(observed) == generation)
    })
}

fn route(object: &Object, is_current: impl Fn(&Value) -> bool) -> Health {
    let parents = object.value().items_at(&["status", "parents"]);
    let current = || {
        parents
            .iter()
            .filter(|parent| !parent.items_at(&["conditions"]).is_empty())
            .filter(|parent| is_current(parent))
    };
    let trouble = current().find_map(|parent| {
        let name = parent.str_at(&["parentRef", "name"]).unwrap_or_default();
        trouble(parent.items_at(&["conditions"]), &format!("Parent {name}: "), "Route")
    });
    match trouble {
        Some(health) => health,
        None if current().next().is_some() => Health::healthy(format!("{} is healthy", object.kind())),
        None => Health::progressing(format!("Waiting for {} status", object.kind())),
    }
}

/// What is wrong by the conditions of one part: references first, then acceptance, then what still has to be done.
fn trouble(conditions: &[Value], before: &str, part: &str) -> Option<Health> {
    let status = |condition: &Value, kind: &str| {
        (condition.str_at(&["type"]) == Some(kind))
            .then(|| condition.str_at(&["status"]).unwrap_or_default().to_owned())
    };
    let message = |condition: &Value, default: String| {
        format!("{before}{}", condition.str_at(&["message"]).map_or(default, str::to_owned))
    };
    for kind in ["ResolvedRefs", "Accepted"] {
        let failed = conditions.iter().find(|one| status(one, kind).is_some_and(|status| status == "False"));
        if let Some(failed) = failed {
            return Some(Health::degraded(message(failed, format!("Failed condition: {kind}"))));
        }
    }
    let waiting =
        conditions.iter().find(|one| status(one, "Programmed").is_some_and(|status| status != "True"))?;
    Some(Health::progressing(message(waiting, format!("{part} is still being programmed"))))
}

pub(super) fn backend_tls_policy(object: &Object) -> Health {
    policy(object, &Policy { needs_generation: false, needs_acceptance: false })
}

/// The kinds of Airlock Microgateway: policies are as the Gateway API has them, and all else is as it should be.
pub(super) fn airlock(object: &Object) -> Health {
    if !object.kind().ends_with("Policy") {
        return Health::healthy(format!("{} is healthy", object.kind()));
    }
    policy(object, &Policy { needs_generation: true, needs_acceptance: true })
}

/// How strictly a policy is read.
struct Policy {
    /// A condition without a generation is an old one.
    needs_generation: bool,
    /// An ancestor that does not say whether it accepts the policy does not.
    needs_acceptance: bool,
}

fn policy(object: &Object, policy: &Policy) -> Health {
    let kind = object.kind();
    let ancestors = object.value().items_at(&["status", "ancestors"]);
    let name = |ancestor: &Value| ancestor.str_at(&["ancestorRef", "name"]).unwrap_or_default().to_owned();
    if let Some(generation) = object.value().int_at(&["metadata", "generation"]) {
        let is_old = |condition: &Value| match condition.int_at(&["observedGeneration"]) {
            Some(observed) => observed != generation,
            None => policy.needs_generation,
        };
        let old = ancestors.iter().find(|ancestor| ancestor.items_at(&["conditions"]).iter().any(is_old));
        if let Some(ancestor) = old {
            let name = name(ancestor);
            return Health::progressing(format!("Waiting for Ancestor {name} to update {kind} status"));
        }
    }
    let mut health = Health::progressing(format!("Waiting for {kind} status"));
    for ancestor in ancestors {
        let mut accepted = false;
        for condition in ancestor.items_at(&["conditions"]) {
            let field = |field| condition.str_at(&[field]).unwrap_or_default();
            let fails = field("status") != "True";
            match field("type") {
                "Accepted" | "ResolvedRefs" if fails => {
                    return Health::degraded(format!("Ancestor {}: {}", name(ancestor), field("message")));
                }
                "Accepted" => {
                    accepted = true;
                    health = Health::healthy(format!("{kind} is healthy"));
                }
                _ => {}
            }
        }
        if policy.needs_acceptance && !accepted {
            health = Health::degraded(format!("Ancestor {}: {kind} is not accepted", name(ancestor)));
        }
    }
    health
}
