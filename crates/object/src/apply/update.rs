//! The rules of ownership: who gains and who loses fields by a write.

use std::sync::LazyLock;

use super::conflict::{Conflict, Conflicts};
use super::managers::{ManagerId, Managers, Operation, Owned};
use super::set::FieldSet;
use super::typed::{Comparison, compare, members, merge, reconcile, remove};
use crate::id::split_api_version;
use crate::schema::TypeRef;
use crate::value::{Str, Value};

/// What every write needs to know.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) ty: TypeRef<'a>,
    pub(super) api_version: &'a str,
    /// Fields that this endpoint does not write, whatever the request says.
    pub(super) reset: &'a FieldSet,
}

/// Metadata that no manager owns.
static UNTRACKED: LazyLock<FieldSet> = LazyLock::new(|| {
    FieldSet::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

impl Context<'_> {
    /// Sets in terms of the type as it is now. All versions of a group are taken to have one shape;
    /// managers of another group are those of a version that is gone.
    pub(super) fn reconciled(&self, managers: &mut Managers) {
        let group = split_api_version(self.api_version).0;
        managers.0.retain(|_, owned| split_api_version(&owned.api_version).0 == group);
        for owned in managers.0.values_mut() {
            if let Some(fields) = reconcile(&owned.fields, self.ty) {
                owned.fields = fields;
            }
        }
    }

    /// Takes from all managers but `own` what changed; without force, a field that another manager owns
    /// and that changed is a conflict.
    fn take(
        &self,
        old: &Value,
        new: &Value,
        managers: &mut Managers,
        own: Option<&ManagerId>,
        force: bool,
    ) -> Result<Comparison, Conflicts> {
        let changed = compare(old, new, self.ty).without(self.reset);
        let written = changed.written();
        let mut conflicts = Vec::new();
        for (id, owned) in managers.0.iter().filter(|(id, _)| Some(*id) != own) {
            let lost = owned.fields.intersection(&written);
            conflicts.extend(lost.paths().into_iter().map(|path| Conflict { manager: id.clone(), path }));
        }
        if !force && !conflicts.is_empty() {
            // Sorting is stable: the fields of a manager keep their order.
            conflicts.sort_by_cached_key(|conflict| conflict.manager.sort_key());
            return Err(Conflicts(conflicts));
        }
        for (_, owned) in managers.0.iter_mut().filter(|(id, _)| Some(*id) != own) {
            owned.fields = owned.fields.difference(&written).difference(&changed.removed);
        }
        managers.0.retain(|_, owned| !owned.fields.is_empty());
        Ok(changed)
    }

    /// What a plain write does: returns the fields that the writer gained.
    pub(super) fn update(&self, old: &Value, new: &Value, managers: &mut Managers) -> FieldSet {
        self.reconciled(managers);
        let change = self.change(old, new);
        for owned in managers.0.values_mut() {
            change.take_from(&mut owned.fields);
        }
        managers.0.retain(|_, owned| !owned.fields.is_empty());
        change.gained
    }

    /// What a plain write changes, in terms of fields.
    pub(super) fn change(&self, old: &Value, new: &Value) -> Change {
        let Comparison { removed, modified, added } = compare(old, new, self.ty).without(self.reset);
        let mut written = modified;
        written.absorb(added);
        let untracked = written.intersection(&UNTRACKED);
        let mut gained = written;
        gained.subtract(&UNTRACKED);
        Change { gained, untracked, removed }
    }

    /// What applying a configuration does: returns the new object, or none if nothing changed.
    pub(super) fn apply(
        &self,
        live: &Value,
        config: &Value,
        managers: &mut Managers,
        id: &ManagerId,
        force: bool,
    ) -> Result<Option<Value>, Conflicts> {
        self.reconciled(managers);
        let merged = merge(live, config, self.ty);
        let fields = members(config, self.ty).without_subtrees(self.reset);
        let api_version = Str::from(self.api_version);
        let last = managers.0.get(id).cloned();
        let time = last.as_ref().and_then(|last| last.time);
        // Usually everything is applied again, and there is nothing to prune.
        let dropped = last.filter(|last| !last.fields.difference(&fields).is_empty());
        managers.0.insert(id.clone(), Owned { fields, api_version, time });
        let new = match dropped {
            Some(last) => self.prune(&merged, managers, &last.fields),
            None => merged,
        };
        self.take(live, &new, managers, Some(id), force)?;
        if let Some(owned) = managers.0.get_mut(id) {
            owned.fields = owned.fields.difference(&UNTRACKED);
        }
        managers.0.retain(|_, owned| !owned.fields.is_empty());
        Ok((new != *live).then_some(new))
    }

    /// Removes what the manager applied last time and not this time, unless somebody else owns it.
    fn prune(&self, merged: &Value, managers: &Managers, last: &FieldSet) -> Value {
        let named = |set: &FieldSet| set.with_named_parents(self.ty);
        let merged_set = named(&members(merged, self.ty));
        let last = named(last);

        let pruned = remove(merged, &last, self.ty);
        let kept = named(&members(&pruned, self.ty));
        let owned = managers.0.values().fold(FieldSet::new(), |all, owned| all.union(&owned.fields));
        let pruned = remove(merged, &merged_set.difference(&kept.union(&named(&owned))), self.ty);

        // Only what this manager had may go.
        let kept = named(&members(&pruned, self.ty));
        remove(merged, &merged_set.difference(&kept).intersection(&last), self.ty)
    }
}

/// What a plain write changes, in terms of fields.
#[derive(Debug)]
pub(super) struct Change {
    /// Fields that were set, and are the writer's from now on.
    pub(super) gained: FieldSet,
    /// Fields that were set, and that nobody owns.
    pub(super) untracked: FieldSet,
    /// Fields that are gone.
    pub(super) removed: FieldSet,
}

impl Change {
    /// Leaves a manager what it still owns after the write.
    pub(super) fn take_from(&self, fields: &mut FieldSet) {
        fields.subtract(&self.gained);
        fields.subtract(&self.untracked);
        fields.subtract(&self.removed);
    }
}

/// Adds what a plain write gained to the writer's entry.
pub(super) fn credit(
    managers: &mut Managers,
    id: ManagerId,
    gained: FieldSet,
    api_version: &str,
    now: jiff::Timestamp,
) {
    debug_assert_eq!(id.operation, Operation::Update);
    if gained.is_empty() {
        return;
    }
    let mut fields = managers.0.remove(&id).map(|owned| owned.fields).unwrap_or_default();
    fields.absorb(gained);
    managers.0.insert(id, Owned { fields, api_version: api_version.into(), time: Some(now) });
}
