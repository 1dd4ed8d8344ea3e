//! ResourceQuotas: how much of what is allowed is used.
//!
//! What a new object takes is booked when it is let in; this counts again, for objects that go, end or
//! change, and for quotas that are new.

use std::collections::BTreeSet;

use lynceus_object::{Object, Quantity, Value};

use super::key::Key;
use super::kind::{CLAIM, POD, RESOURCE_QUOTA, SERVICE};
use super::steps::Steps;
use super::world::World;
use super::{Controller, Writer, manager, pods};
use crate::kinds::usage::{self, Amounts};
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
        // What is booked already and stored in a moment would not be found.
        if world.local.has_charges(quota.namespace()) {
            out.again_after(world.now, 1);
            return;
        }
        let hard = quota.at(&["spec", "hard"]).cloned().unwrap_or_default();
        let mut used = Value::Map(lynceus_object::Map::new());
        for (resource, amount) in used_of(&hard, &quota, world) {
            used.set(&[resource.as_str()], amount.to_string());
        }
        let mut new = quota.clone();
        new.set(&["status", "hard"], hard);
        new.set(&["status", "used"], used);
        out.status_if_changed(RESOURCE_QUOTA, &quota, new);
    }
}

/// A pod that ends gives back what it used; a service may change its type, a claim its size.
fn counts_changes(event: &Event) -> bool {
    let ended = |pod: &Object| pods::is_finished(pod);
    (POD.is(&event.place) && event.previous.as_ref().is_some_and(|old| ended(old) != ended(&event.object)))
        || SERVICE.is(&event.place)
        || CLAIM.is(&event.place)
}

/// How much is used in the quota's namespace of what the quota limits and something counts for.
fn used_of(hard: &Value, quota: &Object, world: &World<'_>) -> Amounts {
    let names = hard.as_map().into_iter().flat_map(|hard| hard.iter()).map(|(name, _)| name.as_str());
    let served = |name: &&str| {
        usage::counts(name)
            .is_some_and(|(group, resource)| world.local.registry().preferred(group, resource).is_some())
    };
    let names: Vec<&str> = names.filter(served).collect();
    let mut used: Amounts = names.iter().map(|name| ((*name).to_owned(), Quantity::ZERO)).collect();
    let kinds: BTreeSet<(&str, &str)> = names.iter().filter_map(|name| usage::counts(name)).collect();
    for (group, resource) in kinds {
        for object in world.local.list(group, resource, Some(quota.namespace())) {
            if usage::in_scope(quota, group, resource, &object) {
                let mut counted = usage::of(group, resource, &object, world.now);
                counted.retain(|name, _| used.contains_key(name));
                usage::add(&mut used, &counted);
            }
        }
    }
    used
}
