//! Booking what a write takes from the quotas of its namespace.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lynceus_object::{Object, Quantity, Str, Value};

use super::managed;
use crate::attributes::Admission;
use crate::core::Core;
use crate::kinds::usage::{self, Amounts};
use crate::store::{Expect, Place, Write, WriteError};
use crate::view::View;
use crate::{ApiError, admission, limits};

const QUOTAS: (&str, &str) = ("", "resourcequotas");

/// How many writes of each namespace are booked and not stored yet. The controller that counts waits for
/// them, for it would not find their objects and take them back.
#[derive(Debug, Default)]
pub(crate) struct Charges(Mutex<HashMap<Str, usize>>);

impl Charges {
    /// Whether something is booked in a namespace that is not stored yet.
    pub(crate) fn any_in(&self, namespace: &str) -> bool {
        self.lock().contains_key(namespace)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Str, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was booked for a write; given back unless it is kept.
pub(super) struct Charge<'a> {
    core: &'a Core,
    namespace: Str,
    taken: admission::Taken,
}

/// Books what a write takes, or says which quota has too little left. Nothing is booked for a dry run.
pub(super) fn charge<'a>(
    core: &'a Core,
    admission: &Admission,
    object: &Object,
    old: Option<&Object>,
) -> Result<Charge<'a>, ApiError> {
    let namespace = admission.namespace.clone();
    let mut charge = Charge { core, namespace, taken: Vec::new() };
    let quotas = || core.store.list(QUOTAS.0, QUOTAS.1, Some(&admission.namespace));
    if admission.namespace.is_empty() || quotas().is_empty() {
        return Ok(charge);
    }
    // Looking and booking are one, so that two writes cannot both take what is left for one.
    let mut charges = core.charges.lock();
    let quotas = quotas();
    let taken = admission::check_quotas(&quotas, admission, object, old, core.now())?;
    if taken.is_empty() || admission.dry_run {
        return Ok(charge);
    }
    *charges.entry(charge.namespace.clone()).or_default() += 1;
    for (quota, amounts) in &taken {
        book(core, &charge.namespace, quota, amounts, |used, amount| used + amount);
    }
    charge.taken = taken;
    Ok(charge)
}

impl Charge<'_> {
    /// The object is stored: what it takes is taken.
    pub(super) fn keep(mut self) {
        if !std::mem::take(&mut self.taken).is_empty() {
            self.done();
        }
    }

    fn done(&self) {
        let mut charges = self.core.charges.lock();
        if let Some(count) = charges.get_mut(&self.namespace) {
            *count -= 1;
            if *count == 0 {
                charges.remove(&self.namespace);
            }
        }
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        if self.taken.is_empty() {
            return;
        }
        for (quota, amounts) in &self.taken {
            book(self.core, &self.namespace, quota, amounts, |used, amount| {
                (used - amount).max(Quantity::ZERO)
            });
        }
        self.done();
    }
}

/// Changes what a quota says is used.
fn book(
    core: &Core,
    namespace: &str,
    quota: &str,
    amounts: &Amounts,
    change: impl Fn(Quantity, Quantity) -> Quantity,
) {
    let place = Place::new(QUOTAS.0, QUOTAS.1);
    for _ in 0..limits::UPDATE_RETRIES {
        let Some((old, revision)) = core.store.read(&place, namespace, quota) else { return };
        let mut used = usage::amounts(old.at(&["status", "used"]));
        for (name, amount) in amounts {
            if let Some(known) = used.get_mut(name) {
                *known = change(*known, *amount);
            }
        }
        let mut new = old.clone();
        for (name, amount) in used {
            new.set(&["status", "used", &name], Value::from(amount.to_string()));
        }
        if let Some(resource) = core.registry().preferred(QUOTAS.0, QUOTAS.1) {
            managed::track_status(core, resource, "kube-apiserver", &old, &mut new);
        }
        let write =
            Write { place: place.clone(), object: new, expect: Expect::Revision(revision), delete: false };
        match core.store.write(write) {
            Err(WriteError::Changed) => {}
            Ok(_) | Err(WriteError::Gone | WriteError::Exists) => return,
            Err(error) => {
                tracing::warn!(%error, quota, "a quota could not be charged");
                return;
            }
        }
    }
}
