//! Remembers which fields differed when, to tell those that come back after each sync.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use lynceus_api::{Application, OperationPhase};
use lynceus_diff::{ChangeSet, FieldChange, Origin, Sighting, Verdict, flip};
use lynceus_object::{ObjectKey, Str};

use crate::limits;

/// The differences that were seen before, by application and object. Values of Secrets are masked in them.
#[derive(Default)]
pub(crate) struct Flips(Mutex<HashMap<(Str, ObjectKey), Vec<Sighting>>>);

impl Flips {
    /// Marks the fields that another writer changes again after each sync. What differs now is remembered where it is to
    /// be.
    pub(crate) fn mark(
        &self,
        application: &str,
        changes: &mut ChangeSet,
        syncs: &[Timestamp],
        now: Timestamp,
        notes: bool,
    ) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notes && seen.len() >= limits::FLIPS {
            seen.clear();
        }
        for change in &mut changes.changes {
            let place = (Str::from(application), change.pair.key());
            let Verdict::Update(update) = &mut change.verdict else { continue };
            let mut sightings = seen.get(&place).cloned().unwrap_or_default();
            for field in update.fields.iter_mut().take(limits::FLIPS_PER_OBJECT) {
                note(&mut sightings, field, syncs, now);
                let told = matches!(field.origin, Origin::Writer | Origin::Unknown);
                if told && flip(&field.path, &sightings, syncs).is_some() {
                    field.origin = Origin::Loop;
                }
            }
            if notes {
                let excess = sightings.len().saturating_sub(limits::FLIPS_PER_OBJECT);
                sightings.drain(..excess);
                seen.insert(place, sightings);
            }
        }
    }
}

/// One sighting between two syncs is enough.
fn note(sightings: &mut Vec<Sighting>, field: &FieldChange, syncs: &[Timestamp], now: Timestamp) {
    let last = syncs.iter().filter(|sync| **sync <= now).max();
    let known = |seen: &Sighting| seen.path == field.path && last.is_none_or(|last| seen.at > *last);
    if !sightings.iter().any(known) {
        sightings.push(Sighting { path: field.path.clone(), live: field.live.clone(), at: now });
    }
}

/// When syncs of an application ended well.
pub(crate) fn syncs(application: &Application) -> Vec<Timestamp> {
    let status = &application.status;
    let last = status.operation_state.as_ref().filter(|state| state.phase == OperationPhase::Succeeded);
    let history = status.history.iter().filter_map(|entry| entry.deployed_at);
    history.chain(last.and_then(|state| state.finished_at)).map(|at| at.timestamp()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_diff::{Change, Pair, Update, Writer};
    use lynceus_object::{FieldPath, Gvk, Object, value};

    fn differing() -> ChangeSet {
        let object = Object::named(&Gvk::new("apps", "v1", "Deployment"), "shop", "web");
        let field = FieldChange {
            path: FieldPath::parse("spec.replicas").unwrap(),
            desired: Some(value!(1)),
            live: Some(value!(5)),
            writer: Some(Writer { manager: "hpa".into(), ..Writer::default() }),
            origin: Origin::Writer,
        };
        let update = Update { live: object.clone(), predicted: object.clone(), fields: vec![field] };
        let pair = Pair::Both { desired: object.clone(), live: object };
        ChangeSet { changes: vec![Change { pair, verdict: Verdict::Update(update) }], ..ChangeSet::default() }
    }

    #[test]
    fn a_field_that_comes_back_after_each_sync_is_marked_the_third_time() {
        let (flips, at) = (Flips::default(), |second| Timestamp::from_second(second).unwrap());
        let mut syncs = Vec::new();
        let mut origins = Vec::new();
        for round in 1..=3 {
            let mut changes = differing();
            flips.mark("shop", &mut changes, &syncs, at(round * 10), true);
            flips.mark("shop", &mut changes, &syncs, at(round * 10 + 1), true);
            let Verdict::Update(update) = &changes.changes[0].verdict else { panic!("it differs") };
            origins.push(update.fields[0].origin);
            syncs.push(at(round * 10 + 5));
        }
        assert_eq!(origins, [Origin::Writer, Origin::Writer, Origin::Loop]);
    }

    #[test]
    fn who_only_looks_leaves_nothing_behind() {
        let (flips, at) = (Flips::default(), |second| Timestamp::from_second(second).unwrap());
        let syncs = [at(15), at(25)];
        for time in [10, 20, 30] {
            flips.mark("shop", &mut differing(), &syncs, at(time), false);
        }
        assert!(flips.0.lock().unwrap().is_empty());
    }
}
