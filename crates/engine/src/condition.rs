//! Conditions of an application: kept when they stay true, dropped when they are not.

use jiff::Timestamp;
use lynceus_api::{ApplicationCondition, ApplicationConditionType};

use crate::limits;

/// Something to say about an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What sort of thing.
    pub kind: ApplicationConditionType,
    /// What.
    pub message: String,
}

impl Condition {
    /// Says something. Messages are cut, because a status has to fit the store of the cluster.
    pub fn new(kind: ApplicationConditionType, message: impl Into<String>) -> Self {
        let message: String = message.into();
        Condition { kind, message: message.chars().take(limits::MESSAGE).collect() }
    }

    /// The application could not be compared.
    pub fn comparison(message: impl Into<String>) -> Self {
        Condition::new(ApplicationConditionType::ComparisonError, message)
    }

    /// The application's spec cannot be followed.
    pub fn invalid_spec(message: impl Into<String>) -> Self {
        Condition::new(ApplicationConditionType::InvalidSpecError, message)
    }
}

/// The conditions after a look that could have found any of `evaluated`. One that was there before keeps its time.
pub(crate) fn merge(
    before: &[ApplicationCondition],
    found: &[Condition],
    evaluated: &[ApplicationConditionType],
    now: Timestamp,
) -> Vec<ApplicationCondition> {
    let is = |condition: &ApplicationCondition, kind| condition.type_.known() == Some(kind);
    let mut after: Vec<ApplicationCondition> = before
        .iter()
        .filter(|condition| !evaluated.iter().any(|kind| is(condition, *kind)))
        .cloned()
        .collect();
    for condition in found {
        let old = before.iter().find(|old| is(old, condition.kind) && old.message == condition.message);
        after.push(old.cloned().unwrap_or_else(|| ApplicationCondition {
            type_: condition.kind.into(),
            message: condition.message.as_str().into(),
            last_transition_time: Some(now.into()),
            ..ApplicationCondition::default()
        }));
    }
    after.sort_by(|a, b| (a.type_.as_str(), &a.message).cmp(&(b.type_.as_str(), &b.message)));
    after.dedup_by(|a, b| a.type_ == b.type_ && a.message == b.message);
    bounded(after, before)
}

/// So many of a sort and no more: a status has to fit the store of the cluster, and nobody reads thousands.
fn bounded(
    conditions: Vec<ApplicationCondition>,
    before: &[ApplicationCondition],
) -> Vec<ApplicationCondition> {
    let mut kept: Vec<ApplicationCondition> = Vec::with_capacity(conditions.len().min(limits::CONDITIONS));
    for sort in conditions.chunk_by(|a, b| a.type_ == b.type_) {
        if sort.len() <= limits::CONDITIONS {
            kept.extend_from_slice(sort);
            continue;
        }
        let (told, left) = sort.split_at(limits::CONDITIONS - 1);
        kept.extend_from_slice(told);
        let mut rest = left.first().cloned().unwrap_or_default();
        rest.message = format!("… and {} more of this sort", left.len()).into();
        let old = before.iter().find(|old| old.type_ == rest.type_ && old.message == rest.message);
        kept.push(old.cloned().unwrap_or(rest));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_stays_true_keeps_its_time() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let all = [ApplicationConditionType::ComparisonError];
        let first = merge(&[], &[Condition::comparison("no")], &all, at(1));
        let second = merge(&first, &[Condition::comparison("no")], &all, at(2));
        assert_eq!(first, second);
        let third = merge(&second, &[Condition::comparison("still no")], &all, at(3));
        assert_eq!(third.len(), 1);
        assert_ne!(third[0].last_transition_time, first[0].last_transition_time);
        assert!(merge(&third, &[], &all, at(4)).is_empty());
    }

    #[test]
    fn of_thousands_the_first_are_told_and_how_many_more_there_are() {
        let found: Vec<Condition> =
            (0..3_000).map(|number| Condition::comparison(format!("no {number:04}"))).collect();
        let all = [ApplicationConditionType::ComparisonError];
        let first = merge(&[], &found, &all, Timestamp::UNIX_EPOCH);
        assert_eq!(first.len(), limits::CONDITIONS);
        assert_eq!(first.last().unwrap().message, "… and 2901 more of this sort");
        let later = Timestamp::from_second(1).unwrap();
        assert_eq!(merge(&first, &found, &all, later), first);
        assert_eq!(merge(&first, &found[..50], &all, later).len(), 50);
    }

    #[test]
    fn a_condition_that_was_not_looked_for_stays() {
        let at = Timestamp::UNIX_EPOCH;
        let before = merge(&[], &[Condition::comparison("no")], &[], at);
        assert_eq!(merge(&before, &[], &[ApplicationConditionType::SyncError], at), before);
    }
}
