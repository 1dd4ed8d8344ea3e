//! What the status of an Application tells, whoever wrote it.

use std::collections::BTreeSet;

use lynceus_api::{
    ApplicationConditionType, OperationPhase, OperationState, Reason, ReasonCode, ResourceResult,
    ResourceStatus, SyncStatusCode,
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

    /// What the sync that is under way waits for: what Lynceus wrote down of it, or else the results that are not complete. Where there
    /// are none, it is the one thing that the message names, which says nothing of its namespace.
    pub fn awaited(&self) -> Vec<ObjectKey> {
        if !self.is_operating() {
            return Vec::new();
        }
        let reasons = self.reasons();
        let waits = reasons.iter().filter(|one| one.code == ReasonCode::SyncWaits).flat_map(Reason::all);
        let is_wait = |one: &&Reason| one.code.known().is_some_and(|code| WAITS.contains(&code));
        let written: Vec<ObjectKey> = waits.filter(is_wait).filter_map(|one| one.object.clone()).collect();
        if !written.is_empty() {
            return written;
        }
        let Some(state) = self.operation() else { return Vec::new() };
        let incomplete = incomplete(state);
        if incomplete.is_empty() { awaited_in(&state.message).into_iter().collect() } else { incomplete }
    }

    /// Whether the sync that is under way waits for an object.
    pub fn awaits(&self, key: &ObjectKey) -> bool {
        self.awaited().iter().any(|one| {
            let is_near = one.namespace.is_empty() || one.namespace == key.namespace;
            is_near && one.group_kind() == key.group_kind() && one.name == key.name
        })
    }

    /// Why it is as it is, as Lynceus wrote it down.
    pub fn reasons(&self) -> Vec<Reason> {
        Reason::of(&self.application().metadata)
    }
}

/// The objects that a running sync has applied and that are not healthy yet, and its hooks that have not ended. Once it is over
/// nobody completes the results of the last wave.
fn incomplete(state: &OperationState) -> Vec<ObjectKey> {
    let is_running = state.phase.known().is_some_and(|phase| !phase.is_completed());
    let results = state.sync_result.iter().filter(|_| is_running).flat_map(|result| &result.resources);
    let running = results.filter(|one| one.hook_phase == OperationPhase::Running);
    let key = |one: &ResourceResult| {
        ObjectKey::new(one.group.clone(), one.kind.clone(), one.namespace.clone(), one.name.clone())
    };
    running.map(key).collect()
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
    use crate::case::Case;
    use crate::tests::snapshot;

    /// What is waited for in a sync of `one`, `two` and `three`, of which a message names the first.
    fn awaited(phase: &str, results: &str, reasons: &str) -> String {
        let text = format!(
            "@app shop OutOfSync Progressing\n@metadata {{annotations: {{lynceus.dev/reasons: '{reasons}'}}}}\n@status {{operationState: \
             {{phase: {phase}, message: 'waiting for healthy state of /Service/one and 2 more resources', operation: {{}}, startedAt: \
             null, syncResult: {{revision: a, resources: [{results}]}}}}}}\n"
        );
        let snapshot = snapshot(&text);
        let case = Case::new(&snapshot);
        let keys = case.apps().flat_map(App::awaited);
        keys.map(|key| format!("{}/{}/{} ", key.kind, key.namespace, key.name)).collect()
    }

    fn result(name: &str, phase: &str) -> String {
        format!(
            "{{group: '', version: v1, kind: Service, namespace: shop, name: {name}, status: Synced, hookPhase: {phase}}}, "
        )
    }

    #[test]
    fn results_that_are_not_complete_are_waited_for_though_the_message_names_another() {
        let results = [result("one", "Succeeded"), result("two", "Running"), result("three", "Running")];
        assert_eq!(awaited("Running", &results.concat(), ""), "Service/shop/two Service/shop/three ");
    }

    #[test]
    fn without_results_the_message_counts_and_over_all_what_lynceus_wrote_down() {
        assert_eq!(awaited("Running", "", ""), "Service//one ");
        let reasons = "[{\"code\": \"SyncWaits\", \"text\": \"\", \"because\": [{\"code\": \"WaitsForHealth\", \"text\": \"\", \
                       \"object\": {\"group\": \"\", \"kind\": \"Service\", \"namespace\": \"shop\", \"name\": \"two\"}}]}]";
        assert_eq!(awaited("Running", &result("one", "Running"), reasons), "Service/shop/two ");
    }

    #[test]
    fn nothing_is_waited_for_when_a_sync_is_over() {
        assert_eq!(awaited("Succeeded", &result("one", "Running"), ""), "");
    }

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
