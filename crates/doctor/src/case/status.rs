//! What the status of an Application tells, whoever wrote it.

use std::collections::BTreeSet;

use lynceus_api::{
    ApplicationConditionType, OperationPhase, OperationState, Reason, ReasonCode, ResourceStatus,
    SyncStatusCode,
};
use lynceus_diff::{Change, Update, Verdict};
use lynceus_object::ObjectKey;

use super::App;

/// The reasons that are about an object which a sync waits for.
const WAITS: [ReasonCode; 5] = [
    ReasonCode::WaitsForHealth,
    ReasonCode::WaitsForHook,
    ReasonCode::WaitsForDeletion,
    ReasonCode::WaitsForConfirmation,
    ReasonCode::HeldByFinalizer,
];

impl<'a> App<'a> {
    /// The objects that its status lists.
    pub fn resources(&self) -> impl Iterator<Item = (ObjectKey, &'a ResourceStatus)> + use<'a> {
        self.application().status.resources.iter().map(|one| {
            let (group, kind) = (one.group.clone(), one.kind.clone());
            (ObjectKey::new(group, kind, one.namespace.clone(), one.name.clone()), one)
        })
    }

    /// The messages of its conditions of one type.
    pub fn told(&self, kind: ApplicationConditionType) -> impl Iterator<Item = &'a str> + use<'a> {
        let conditions = self.application().status.conditions.iter();
        conditions.filter(move |one| one.type_ == kind).map(|one| one.message.as_str())
    }

    /// The last or running sync.
    pub fn operation(&self) -> Option<&'a OperationState> {
        self.application().status.operation_state.as_ref()
    }

    /// Whether a sync is under way or asked for.
    pub fn is_operating(&self) -> bool {
        let running = |state: &OperationState| state.phase.known().is_some_and(|phase| !phase.is_completed());
        self.application().operation.is_some() || self.operation().is_some_and(running)
    }

    /// The last sync, if it went wrong and was more than a try.
    pub fn failed_sync(&self) -> Option<&'a OperationState> {
        let is_try = |state: &OperationState| state.operation.sync.as_ref().is_some_and(|sync| sync.dry_run);
        let failed = |state: &&OperationState| {
            state.phase.known().is_some_and(OperationPhase::is_unsuccessful) && !is_try(state)
        };
        self.operation().filter(failed)
    }

    /// Whether the last sync was of what Git has now. Nothing if neither says which commit it was.
    pub fn is_of_head(&self, state: &OperationState) -> Option<bool> {
        let now = &self.application().status.sync;
        let then = state.sync_result.as_ref()?;
        if !now.revisions.is_empty() && !then.revisions.is_empty() {
            return Some(now.revisions == then.revisions);
        }
        let known = !now.revision.is_empty() && !then.revision.is_empty();
        known.then(|| now.revision == then.revision)
    }

    /// Whether the last sync brought what Git has now.
    pub fn is_synced_to_head(&self) -> bool {
        self.operation().is_some_and(|state| {
            state.phase == OperationPhase::Succeeded && self.is_of_head(state) == Some(true)
        })
    }

    /// Everything that its status says went wrong, and of which object where that is said.
    pub fn complaints(&self) -> Vec<(Option<ObjectKey>, &'a str)> {
        let mut all: Vec<_> = self.failures().into_iter().map(|(key, text)| (Some(key), text)).collect();
        all.extend(self.errors().map(|(_, text)| (None, text)));
        let unfinished = |state: &&OperationState| state.phase != OperationPhase::Succeeded;
        all.extend(self.operation().filter(unfinished).map(|state| (None, state.message.as_str())));
        all
    }

    /// The objects that differ and that a sync would bring or change.
    pub fn differing(&self) -> BTreeSet<ObjectKey> {
        let listed = self
            .resources()
            .filter(|(_, one)| one.status == SyncStatusCode::OutOfSync && !one.requires_pruning)
            .map(|(key, _)| key);
        let compared = self.delivery.changes.changes.iter();
        let compared = compared.filter(|one| matches!(one.verdict, Verdict::Create | Verdict::Update(_)));
        listed.chain(compared.map(Change::key)).collect()
    }

    /// The objects that are no longer in Git and still there.
    pub fn leftovers(&self) -> BTreeSet<ObjectKey> {
        let changes = &self.delivery.changes.changes;
        if !changes.is_empty() {
            let pruned = changes.iter().filter(|one| matches!(one.verdict, Verdict::Prune));
            return pruned.map(Change::key).collect();
        }
        self.resources().filter(|(_, one)| one.requires_pruning).map(|(key, _)| key).collect()
    }

    /// The objects that exist and differ, with how.
    pub fn updates(&self) -> impl Iterator<Item = (ObjectKey, &'a Change, &'a Update)> + use<'a> {
        self.delivery.changes.changes.iter().filter_map(|change| match &change.verdict {
            Verdict::Update(update) => Some((change.key(), change, update)),
            _ => None,
        })
    }

    /// How many objects it wants, as far as that is known.
    pub fn size(&self) -> usize {
        if self.delivery.rendered {
            return self.wanted().len();
        }
        self.resources().filter(|(_, one)| !one.requires_pruning).count()
    }

    /// What the sync that is under way waits for: all of it where Lynceus wrote that down, and else the one thing that Argo CD's
    /// message names, which says nothing of its namespace.
    pub fn awaited(&self) -> Vec<ObjectKey> {
        if !self.is_operating() {
            return Vec::new();
        }
        let reasons = self.reasons();
        let waits = reasons.iter().filter(|one| one.code == ReasonCode::SyncWaits).flat_map(Reason::all);
        let is_wait = |one: &&Reason| one.code.known().is_some_and(|code| WAITS.contains(&code));
        let written: Vec<ObjectKey> = waits.filter(is_wait).filter_map(|one| one.object.clone()).collect();
        let named = self.operation().and_then(|state| awaited_in(&state.message));
        if written.is_empty() { named.into_iter().collect() } else { written }
    }

    /// Why it is as it is, as Lynceus wrote it down.
    pub fn reasons(&self) -> Vec<Reason> {
        Reason::of(&self.application().metadata)
    }
}

/// The object in `waiting for healthy state of apps/Deployment/web and 1 more resources`.
fn awaited_in(message: &str) -> Option<ObjectKey> {
    let (_, rest) = message.split_once("waiting for ")?;
    let mut parts = rest.split_whitespace().find(|word| word.contains('/'))?.splitn(3, '/');
    let (group, kind, name) = (parts.next()?, parts.next()?, parts.next()?);
    (!kind.is_empty() && !name.is_empty()).then(|| ObjectKey::new(group, kind, "", name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_what_is_waited_for() {
        let named =
            |message| awaited_in(message).map(|key| format!("{}/{}/{}", key.group, key.kind, key.name));
        let first = "waiting for healthy state of argoproj.io/Application/db and 1 more resources";
        assert_eq!(named(first).as_deref(), Some("argoproj.io/Application/db"));
        assert_eq!(named("waiting for completion of hook /Pod/a").as_deref(), Some("/Pod/a"));
        assert_eq!(named("one or more tasks are running"), None);
        assert_eq!(named("waiting for healthy state"), None);
    }
}
