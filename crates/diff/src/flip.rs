//! Fields that come back after each sync.
//!
//! Two controllers that want different values of one field undo each other for ever. Each round looks like an ordinary
//! difference; only the history shows the loop.

use jiff::Timestamp;
use lynceus_object::{FieldPath, Value};

use crate::limits;

/// A field that was once seen to differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// The field.
    pub path: FieldPath,
    /// What stood in the cluster.
    pub live: Option<Value>,
    /// When it was seen.
    pub at: Timestamp,
}

/// A field that comes back after each sync.
#[derive(Clone, Debug, PartialEq)]
pub struct Flip {
    /// The field.
    pub path: FieldPath,
    /// After how many of the last syncs, without a gap, it came back.
    pub rounds: usize,
    /// Whether it came back with the same value each time.
    pub same: bool,
    /// When it first did.
    pub since: Timestamp,
}

/// Whether a field comes back after each sync. `syncs` are the times at which syncs of the object ended well.
///
/// Two rounds are enough: a field that was put right and differs again was changed by somebody, and one that was put
/// right twice and differs again by somebody who goes on with it.
pub fn flip(path: &FieldPath, sightings: &[Sighting], syncs: &[Timestamp]) -> Option<Flip> {
    let mut syncs = syncs.to_vec();
    syncs.sort_unstable();
    syncs.dedup();
    let mut rounds: Vec<&Sighting> = Vec::new();
    let mut until: Option<Timestamp> = None;
    for sync in syncs.iter().rev() {
        let in_round = |seen: &&Sighting| {
            seen.path == *path && seen.at > *sync && until.is_none_or(|until| seen.at <= until)
        };
        match sightings.iter().filter(in_round).min_by_key(|seen| seen.at) {
            Some(seen) => rounds.push(seen),
            None => break,
        }
        until = Some(*sync);
    }
    let first = rounds.last().filter(|_| rounds.len() >= limits::LOOP_ROUNDS)?;
    Some(Flip {
        path: path.clone(),
        rounds: rounds.len(),
        same: rounds.iter().all(|seen| seen.live == first.live),
        since: first.at,
    })
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn rounds(seen: &[(&str, i64, i64)], syncs: &[i64]) -> Option<(usize, bool)> {
        let sightings: Vec<Sighting> = seen
            .iter()
            .map(|(path, second, number)| Sighting {
                path: FieldPath::parse(path).expect("a path"),
                live: Some(value!(number)),
                at: at(*second),
            })
            .collect();
        let syncs: Vec<Timestamp> = syncs.iter().map(|second| at(*second)).collect();
        let path = FieldPath::parse("spec.replicas").expect("a path");
        flip(&path, &sightings, &syncs).map(|flip| (flip.rounds, flip.same))
    }

    const REPLICAS: &str = "spec.replicas";

    #[test]
    fn a_field_that_comes_back_after_each_sync_is_a_loop() {
        assert_eq!(
            rounds(&[(REPLICAS, 5, 3), (REPLICAS, 15, 3), (REPLICAS, 25, 3)], &[10, 20]),
            Some((2, true))
        );
        assert_eq!(rounds(&[(REPLICAS, 15, 3), (REPLICAS, 25, 4)], &[10, 20]), Some((2, false)));
    }

    #[test]
    fn one_that_was_put_right_once_or_stayed_right_is_not() {
        assert_eq!(rounds(&[(REPLICAS, 5, 3), (REPLICAS, 15, 3)], &[10]), None);
        assert_eq!(rounds(&[(REPLICAS, 5, 3), (REPLICAS, 25, 3)], &[10, 20]), None);
        assert_eq!(rounds(&[(REPLICAS, 15, 3)], &[10, 20]), None);
        assert_eq!(rounds(&[("spec.other", 15, 3), ("spec.other", 25, 3)], &[10, 20]), None);
        assert_eq!(rounds(&[], &[]), None);
    }
}
