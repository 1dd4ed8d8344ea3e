//! What an Application's status may weigh: the cluster's store takes no object of more than 1.5 MiB, and an application may
//! have thousands of resources.
//!
//! What is left out is what is least missed: what a sync did to resources with which nothing is wrong, then resources that
//! are as they should be. Whoever looks at the cluster still finds them.

use lynceus_api::{
    OperationPhase, ResourceResult, ResourceStatus, ResultCode, RevisionHistory, SyncStatusCode,
};
use lynceus_object::{Str, json, typed};

use crate::limits;

/// The resources as they are listed in the status, in their order; all of them if they are not too many.
pub(crate) fn listed(resources: Vec<ResourceStatus>) -> Vec<ResourceStatus> {
    if weight_of_resources(&resources) <= limits::RESOURCES_BYTES {
        return resources;
    }
    let is_fine = |resource: &ResourceStatus| resource.status == SyncStatusCode::Synced;
    keep(resources, is_fine, of_resource, limits::RESOURCES_BYTES)
}

/// The last entries of a history that may stay; the last one always does.
pub(crate) fn remembered(mut history: Vec<RevisionHistory>) -> Vec<RevisionHistory> {
    let mut left = limits::HISTORY_BYTES;
    let mut count = 0;
    for entry in history.iter().rev() {
        left = left.saturating_sub(of_entry(entry));
        if left == 0 && count > 0 {
            break;
        }
        count += 1;
    }
    history.drain(..history.len() - count);
    history
}

/// The results of a sync that may stand beside these resources and this history. Messages are cut first, then results are
/// left out. A sync that goes on from there applies those objects once more, which changes nothing; hooks and what failed
/// are never left out before the rest.
pub(crate) fn recorded(
    results: Vec<ResourceResult>,
    resources: &[ResourceStatus],
    history: &[RevisionHistory],
) -> Vec<ResourceResult> {
    let others = weight_of_resources(resources) + history.iter().map(of_entry).sum::<usize>();
    let room = limits::STATUS_BYTES.saturating_sub(others).max(limits::RESULTS_BYTES);
    let said = |result: &ResourceResult| {
        escaped(&result.message) + result.images.iter().map(|image| escaped(image) + 3).sum::<usize>()
    };
    let bare: usize = results.iter().map(of_result).sum();
    if bare + results.iter().map(said).sum::<usize>() <= room {
        return results;
    }
    // A quarter is for messages, most of it for what failed.
    let mut results = keep(results, is_unremarkable, of_result, room / 4 * 3);
    let bare: usize = results.iter().map(of_result).sum();
    let words = room.saturating_sub(bare);
    let fine = results.iter().filter(|result| is_unremarkable(result)).count();
    let shares = [words / 4 * 3 / (results.len() - fine).max(1), words / 4 / fine.max(1)];
    for result in &mut results {
        result.images.clear();
        result.message = cut(&result.message, shares[usize::from(is_unremarkable(result))]);
    }
    results
}

/// Whether a result is of no interest once there are thousands: an object that was applied or pruned without trouble.
fn is_unremarkable(result: &ResourceResult) -> bool {
    let went_well = result.status == ResultCode::Synced || result.status == ResultCode::Pruned;
    let is_unfinished = result.hook_phase.known().is_some_and(OperationPhase::is_unsuccessful);
    went_well && !is_unfinished && result.hook_type.is_empty()
}

/// Leaves items out until the rest weighs no more than it may: from the end, first those of the less interesting sort.
fn keep<T>(items: Vec<T>, is_dull: impl Fn(&T) -> bool, weight: impl Fn(&T) -> usize, most: usize) -> Vec<T> {
    let mut left = most;
    let mut fits = vec![false; items.len()];
    for dull in [false, true] {
        for (at, item) in items.iter().enumerate().filter(|(_, item)| is_dull(item) == dull) {
            let weight = weight(item);
            if weight > left {
                break;
            }
            left -= weight;
            fits[at] = true;
        }
    }
    items.into_iter().zip(fits).filter_map(|(item, fits)| fits.then_some(item)).collect()
}

fn weight_of_resources(resources: &[ResourceStatus]) -> usize {
    resources.iter().map(of_resource).sum()
}

/// What stands in a resource, and the names of its fields.
fn of_resource(resource: &ResourceStatus) -> usize {
    let names = [&resource.group, &resource.version, &resource.kind, &resource.namespace, &resource.name];
    let named: usize = names.map(|name| name.len()).iter().sum();
    let marks = [
        (resource.hook, 12),
        (resource.requires_pruning, 23),
        (resource.requires_deletion_confirmation, 36),
        (resource.sync_wave != 0, 32),
    ];
    let marks: usize = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, width)| width).sum();
    let health = resource.health.as_ref().map_or(0, |health| 110 + escaped(&health.message));
    80 + named + resource.status.as_str().len() + marks + health
}

/// What stands in a result, and the names of its fields, without its message and images.
fn of_result(result: &ResourceResult) -> usize {
    let names = [&result.group, &result.version, &result.kind, &result.namespace, &result.name];
    let named: usize = names.map(|name| name.len()).iter().sum();
    let words = [
        result.status.as_str(),
        result.hook_phase.as_str(),
        result.sync_phase.as_str(),
        result.hook_type.as_str(),
    ];
    150 + named + words.map(str::len).iter().sum::<usize>()
}

fn of_entry(entry: &RevisionHistory) -> usize {
    typed::from_typed(entry).map_or(0, |value| json::to_string(&value).len())
}

/// How long a text is as Go's JSON.
fn escaped(text: &str) -> usize {
    let width = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => 6,
        c if c.is_control() => 6,
        c => c.len_utf8(),
    };
    text.chars().map(width).sum()
}

/// The beginning of a text that weighs no more than this.
fn cut(text: &str, most: usize) -> Str {
    if escaped(text) <= most {
        return text.into();
    }
    let mut left = most.saturating_sub('…'.len_utf8());
    let fits = |c: &char| {
        let width = escaped(c.encode_utf8(&mut [0; 4]));
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let kept: String = text.chars().take_while(fits).collect();
    if kept.is_empty() { Str::new() } else { format!("{kept}…").into() }
}

#[cfg(test)]
mod tests {
    use lynceus_api::{Application, HookType, Kind as _, OperationState, SyncOperationResult};

    use super::*;

    /// The most that etcd takes where nobody has raised it.
    const ETCD: usize = 1_572_864;

    fn name(number: usize, length: usize) -> Str {
        format!("{number:0>5}-{}", "n".repeat(length - 6)).into()
    }

    fn resource(number: usize, length: usize) -> ResourceStatus {
        ResourceStatus {
            group: "serving.knative.dev".into(),
            version: "v1beta1".into(),
            kind: "ConfigurationRevision".into(),
            namespace: name(0, 63),
            name: name(number, length),
            status: if number % 100 == 7 { SyncStatusCode::OutOfSync } else { SyncStatusCode::Synced }.into(),
            requires_pruning: true,
            requires_deletion_confirmation: true,
            sync_wave: -2_147_483_648,
            ..ResourceStatus::default()
        }
    }

    fn result(number: usize, length: usize, message: &str) -> ResourceResult {
        let failed = number % 100 == 7;
        ResourceResult {
            group: "serving.knative.dev".into(),
            version: "v1beta1".into(),
            kind: "ConfigurationRevision".into(),
            namespace: name(0, 63),
            name: name(number, length),
            status: if failed { ResultCode::SyncFailed } else { ResultCode::Synced }.into(),
            message: message.into(),
            hook_type: if number == 3 { HookType::PreSync.into() } else { Default::default() },
            hook_phase: if failed { OperationPhase::Failed } else { OperationPhase::Succeeded }.into(),
            images: vec!["registry.example.com/team/image@sha256:0123456789".into(); 3],
            ..ResourceResult::default()
        }
    }

    /// What an application of so many resources comes to: bytes, resources, results, failures among them.
    fn check(count: usize, length: usize, message: &str) -> (usize, usize, usize, usize) {
        let mut application = Application::default();
        let status = &mut application.status;
        status.resources = listed((0..count).map(|number| resource(number, length)).collect());
        let results = (0..count).map(|number| result(number, length, message)).collect();
        let results = recorded(results, &status.resources, &status.history);
        let failures = results.iter().filter(|result| result.status == ResultCode::SyncFailed).count();
        assert!(results.iter().any(|result| !result.hook_type.is_empty()));
        let counts = (status.resources.len(), results.len(), failures);
        let result = SyncOperationResult { resources: results, ..SyncOperationResult::default() };
        status.operation_state =
            Some(OperationState { sync_result: Some(result), ..OperationState::default() });
        let bytes = json::to_string(application.to_object().value()).len();
        (bytes, counts.0, counts.1, counts.2)
    }

    #[test]
    fn what_is_weighed_is_what_is_written() {
        let written = |value| json::to_string(&value).len() + 1;
        let resource = resource(7, 63);
        let bytes = written(typed::from_typed(&resource).unwrap());
        assert!((bytes..bytes + 30).contains(&of_resource(&resource)), "{bytes}");
        let result =
            ResourceResult { sync_phase: lynceus_api::SyncPhase::PostSync.into(), ..result(3, 63, "") };
        let images: usize = result.images.iter().map(|image| escaped(image) + 3).sum();
        let bytes = written(typed::from_typed(&result).unwrap());
        assert!((bytes..bytes + 30).contains(&(of_result(&result) + images)), "{bytes}");
    }

    #[test]
    fn a_few_hundred_resources_are_left_as_they_are() {
        let (_, resources, results, _) = check(500, 40, "configmap/a created");
        assert_eq!((resources, results), (500, 500));
        let few = vec![result(1, 40, "service/a \"created\" <here>")];
        assert_eq!(recorded(few.clone(), &[], &[]), few);
    }

    #[test]
    fn thousands_of_resources_fit_with_long_names_and_messages() {
        let long = "the server \"said\" <no> & more\n".repeat(140);
        for (count, length, message) in [
            (3_000, 63, "deployment.apps/web created"),
            (3_000, 63, &*long),
            (3_000, 253, &*long),
            (5_000, 63, &*long),
            (5_000, 253, &*long),
        ] {
            let (bytes, resources, results, failures) = check(count, length, message);
            println!("{count} × {length}: {bytes} bytes, {resources} resources, {results} results");
            assert!(bytes < ETCD - 150_000, "{count} × {length}: {bytes} bytes");
            assert!(resources > 0 && results > 0);
            assert_eq!(failures, count / 100);
        }
    }

    #[test]
    fn what_is_left_out_is_what_is_fine() {
        let resources = listed((0..5_000).map(|number| resource(number, 253)).collect());
        let wrong = resources.iter().filter(|resource| resource.status == SyncStatusCode::OutOfSync).count();
        assert_eq!(wrong, 50);
        assert!(resources.is_sorted_by_key(|resource| resource.name.clone()));
    }

    #[test]
    fn a_history_of_large_sources_keeps_its_last_entries() {
        let entry = |id: i64| RevisionHistory {
            id,
            revision: "x".repeat(60_000).into(),
            ..RevisionHistory::default()
        };
        let ids = |history: Vec<RevisionHistory>| history.iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(remembered((0..10).map(entry).collect())), [7, 8, 9]);
        let huge = RevisionHistory { revision: "x".repeat(900_000).into(), ..entry(1) };
        assert_eq!(ids(remembered(vec![entry(0), huge])), [1]);
        assert_eq!(ids(remembered(Vec::new())), [] as [i64; 0]);
    }
}
