//! A sync's ledger, as it stands on the Application and back.

use lynceus_api::{Open, ResourceResult, SyncPhase};
use lynceus_object::ObjectKey;
use lynceus_sync::{Ledger, Record};

use crate::limits;

/// Reads what an earlier step, or an earlier process, has written down.
pub(crate) fn read(results: &[ResourceResult]) -> Ledger {
    Ledger::new(results.iter().map(|result| Record {
        key: ObjectKey::new(
            result.group.clone(),
            result.kind.clone(),
            result.namespace.clone(),
            result.name.clone(),
        ),
        version: result.version.clone(),
        phase: result.sync_phase.known().unwrap_or(SyncPhase::Sync),
        hook: result.hook_type.known(),
        status: result.status.known(),
        progress: result.hook_phase.known(),
        message: result.message.clone(),
        images: result.images.clone(),
    }))
}

/// Writes down what a sync has done.
pub(crate) fn write(ledger: &Ledger) -> Vec<ResourceResult> {
    let record = |record: &Record| ResourceResult {
        group: record.key.group.clone(),
        version: record.version.clone(),
        kind: record.key.kind.clone(),
        namespace: record.key.namespace.clone(),
        name: record.key.name.clone(),
        status: record.status.map(Open::from).unwrap_or_default(),
        message: record.message.chars().take(limits::MESSAGE).collect(),
        hook_type: record.hook.map(Open::from).unwrap_or_default(),
        hook_phase: record.progress.map(Open::from).unwrap_or_default(),
        sync_phase: record.phase.into(),
        images: record.images.clone(),
        ..ResourceResult::default()
    };
    ledger.records().iter().map(record).collect()
}
