//! What a sync has done so far: all that it has to remember.

use std::collections::HashMap;

use lynceus_api::{HookType, OperationPhase, ResultCode, SyncPhase};
use lynceus_object::{Object, ObjectKey, Str};

/// What was done to one object in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The object.
    pub key: ObjectKey,
    /// The API version that it was written in, without the group.
    pub version: Str,
    /// The phase.
    pub phase: SyncPhase,
    /// The hook's type, for a hook.
    pub hook: Option<HookType>,
    /// What was done.
    pub status: Option<ResultCode>,
    /// How far it has come; hooks and ordinary objects alike.
    pub progress: Option<OperationPhase>,
    /// What there is to say about it.
    pub message: Str,
    /// The container images of the object.
    pub images: Vec<Str>,
}

/// The records of one operation in the order in which they were first made.
///
/// This is what stands in `status.operationState.syncResult.resources`; a run that is given a stored ledger goes on
/// where another left off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    records: Vec<Record>,
    places: HashMap<(ObjectKey, SyncPhase), usize>,
}

impl Ledger {
    /// Takes over records that were stored; of two for the same object and phase the later counts.
    pub fn new(records: impl IntoIterator<Item = Record>) -> Self {
        let mut ledger = Ledger::default();
        for record in records {
            ledger.put(record);
        }
        ledger
    }

    /// The records in the order in which they were first made.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Whether nothing has been done yet.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn get(&self, key: &ObjectKey, phase: SyncPhase) -> Option<&Record> {
        let place = self.places.get(&(key.clone(), phase))?;
        self.records.get(*place)
    }

    /// Adds a record, or brings the one of the same object and phase up to date.
    pub(crate) fn put(&mut self, record: Record) {
        match self.places.entry((record.key.clone(), record.phase)) {
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(self.records.len());
                self.records.push(record);
            }
            std::collections::hash_map::Entry::Occupied(place) => {
                if let Some(known) = self.records.get_mut(*place.get()) {
                    known.status = record.status;
                    known.progress = record.progress;
                    known.message = record.message;
                }
            }
        }
    }
}

/// The container images of a pod, of anything with a pod template, and of a cron job.
pub fn images(object: &Object) -> Vec<Str> {
    const PATHS: [&[&str]; 3] = [
        &["spec", "containers"],
        &["spec", "template", "spec", "containers"],
        &["spec", "jobTemplate", "spec", "template", "spec", "containers"],
    ];
    let containers = PATHS.iter().find_map(|path| object.at(path)?.as_seq()).unwrap_or_default();
    containers.iter().filter_map(|container| container.str_at(&["image"])).map(Str::from).collect()
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn record(name: &str, progress: OperationPhase) -> Record {
        Record {
            key: ObjectKey::new("", "Pod", "shop", name),
            version: "v1".into(),
            phase: SyncPhase::Sync,
            hook: None,
            status: Some(ResultCode::Synced),
            progress: Some(progress),
            message: Str::new(),
            images: vec![],
        }
    }

    #[test]
    fn a_record_keeps_its_place_when_it_changes() {
        let mut ledger =
            Ledger::new([record("a", OperationPhase::Running), record("b", OperationPhase::Running)]);
        ledger.put(record("a", OperationPhase::Succeeded));
        let names: Vec<_> =
            ledger.records().iter().map(|record| (record.key.name.as_str(), record.progress)).collect();
        assert_eq!(names, [("a", Some(OperationPhase::Succeeded)), ("b", Some(OperationPhase::Running))]);
    }

    #[test]
    fn images_are_found_in_pods_templates_and_cron_jobs() {
        let containers = value!([{"image": "a:1"}, {"name": "none"}, {"image": "b:2"}]);
        for path in [
            &["spec"][..],
            &["spec", "template", "spec"],
            &["spec", "jobTemplate", "spec", "template", "spec"],
        ] {
            let mut object = Object::default();
            object.set(&[path, &["containers"]].concat(), containers.clone());
            assert_eq!(images(&object), ["a:1", "b:2"], "{path:?}");
        }
        assert!(images(&Object::default()).is_empty());
    }
}
