//! What went wrong with a sync: its objects, and what the server said of them.

use lynceus_api::{Application, OperationPhase, OperationState, Reason, ReasonCode, ResultCode};
use lynceus_object::ObjectKey;

use crate::look::Look;

/// What a server says of a field that it does not let anybody change, after the field's name and the sort of the error.
const IMMUTABLE: [&str; 4] =
    ["field is immutable", "is immutable after creation", "may not change once set", "for fields other than"];

/// The last sync, if it failed and was of what would be synced now.
pub(super) fn last(application: &Application, look: &Look) -> Option<Reason> {
    let state = application.status.operation_state.as_ref()?;
    let is_try = state.operation.sync.as_ref().is_some_and(|sync| sync.dry_run);
    if is_try || !state.phase.known().is_some_and(OperationPhase::is_unsuccessful) || !is_of(state, look) {
        return None;
    }
    let words = match state.message.as_str() {
        "" => "the last sync failed".to_owned(),
        message => format!("the last sync failed: {message}"),
    };
    Some(Reason::new(ReasonCode::SyncFailed, words).since(state.finished_at).because(of_objects(state)))
}

/// Whether a sync was of the commits that a look found. One that did not get as far as to name them was of any.
fn is_of(state: &OperationState, look: &Look) -> bool {
    let Some(result) = &state.sync_result else { return true };
    let then: Vec<&str> = match result.revisions.is_empty() {
        true => vec![result.revision.as_str()],
        false => result.revisions.iter().map(|one| one.as_str()).collect(),
    };
    let now = look.sourced.iter().map(|one| one.revision.as_str());
    look.sourced.is_empty() || then.iter().all(|one| one.is_empty()) || then.into_iter().eq(now)
}

/// What an attempt that is repeated ended with.
pub(super) fn of_attempt(state: &OperationState) -> Vec<Reason> {
    let objects = of_objects(state);
    match objects.is_empty() {
        true => vec![Reason::new(ReasonCode::Failed, &state.message).since(state.finished_at)],
        false => objects,
    }
}

/// What a sync said of the objects that it could not apply, and of the hooks that failed.
fn of_objects(state: &OperationState) -> Vec<Reason> {
    let resources = state.sync_result.as_ref().map(|result| result.resources.as_slice()).unwrap_or_default();
    let failed = resources.iter().filter(|one| {
        one.status == ResultCode::SyncFailed
            || one.hook_phase.known().is_some_and(OperationPhase::is_unsuccessful)
    });
    let told = failed.map(|one| {
        let (group, kind) = (one.group.clone(), one.kind.clone());
        let key = ObjectKey::new(group, kind, one.namespace.clone(), one.name.clone());
        let because: Vec<Reason> = immutable(&one.message).into_iter().map(fixed).collect();
        let words = format!("{} {}: {}", one.kind, one.name, one.message);
        Reason::new(ReasonCode::Failed, words).about(key).because(because)
    });
    told.collect()
}

fn fixed(field: &str) -> Reason {
    let words = format!(
        "{field} cannot be changed while the object is there; it has to be deleted and made anew, as the sync options \
         Replace=true and Force=true together do"
    );
    Reason::new(ReasonCode::ImmutableField, words)
}

/// The fields that a server's words call immutable: `spec.selector: Invalid value: {…}: field is immutable`. The words
/// are all that there is: neither the result of a sync nor the server's own answer has the field apart from them.
fn immutable(message: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let mut rest = message;
    while let Some((at, words)) =
        IMMUTABLE.iter().filter_map(|words| Some((rest.find(words)?, *words))).min_by_key(|(at, _)| *at)
    {
        let before = &rest[..at];
        let sort = [": Invalid value: ", ": Forbidden: "].iter().filter_map(|sort| before.rfind(sort)).max();
        let named = sort.map(|end| &before[..end]);
        let named = named.and_then(|text| text.rsplit([' ', '\n']).next());
        let named = named.map(|field| field.trim_start_matches('['));
        fields.extend(named.filter(|field| !field.is_empty() && !fields.contains(field)));
        rest = &rest[at + words.len()..];
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_that_cannot_be_changed_are_found_in_the_servers_words() {
        let deployment = "Deployment.apps \"web\" is invalid: spec.selector: Invalid value: \
                          {\"matchLabels\":{\"app\":\"b\"}}: field is immutable";
        assert_eq!(immutable(deployment), ["spec.selector"]);
        let job = "Job.batch \"j\" is invalid: [spec.completions: Invalid value: 2: field is immutable, spec.template: \
                   Invalid value: {}: field is immutable]";
        assert_eq!(immutable(job), ["spec.completions", "spec.template"]);
        let set = "StatefulSet.apps \"db\" is invalid: spec: Forbidden: updates to statefulset spec for fields other than \
                   'replicas', 'template' are forbidden";
        assert_eq!(immutable(set), ["spec"]);
        let service = "Service \"web\" is invalid: spec.clusterIPs[0]: Invalid value: []string{\"10.0.0.1\"}: may not \
                       change once set";
        assert_eq!(immutable(service), ["spec.clusterIPs[0]"]);
        assert_eq!(
            immutable("Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1"),
            [""; 0]
        );
        assert_eq!(immutable("field is immutable"), [""; 0]);
    }
}
