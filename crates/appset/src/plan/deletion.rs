//! The order in which Applications go when their ApplicationSet is deleted.

use lynceus_api::{Application, ApplicationSet};
use lynceus_object::Str;

use crate::rollout::{Steps, is_reversed};

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Delete this one.
    Delete(Str),
    /// Wait until this one is gone.
    Wait(Str),
    /// Nothing is left that goes in an order.
    Done,
}

/// With `deletionOrder: Reverse`, Applications go one by one, those of the last step first.
///
/// `existing` are the Applications of the ApplicationSet as the API server has them now: one that is missing is gone.
pub fn next_deletion(set: &ApplicationSet, existing: &[Application]) -> Deletion {
    if !is_reversed(set) {
        return Deletion::Done;
    }
    let steps = Steps::of(set, existing);
    let mut order: Vec<(usize, &Application)> =
        existing.iter().filter_map(|app| Some((steps.step_of(&app.metadata.name)?, app))).collect();
    order.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.metadata.name.cmp(&b.metadata.name)));
    match order.first() {
        None => Deletion::Done,
        Some((_, app)) if app.metadata.deletion_timestamp.is_some() => {
            Deletion::Wait(app.metadata.name.clone())
        }
        Some((_, app)) => Deletion::Delete(app.metadata.name.clone()),
    }
}
