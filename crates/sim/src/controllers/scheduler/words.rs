//! What the scheduler says about a pod that it could not place.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Why a pod may not run on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    /// In the scheduler's words.
    pub(super) reasons: Vec<Cow<'static, str>>,
    /// Whether it would stay even if other pods went.
    pub(super) hopeless: bool,
}

impl Obstacle {
    /// One that may go when other pods go.
    pub(super) fn passing(reason: &'static str) -> Self {
        Obstacle { reasons: vec![reason.into()], hopeless: false }
    }

    /// One that no other pod is to blame for.
    pub(super) fn lasting(reason: &'static str) -> Self {
        Obstacle { reasons: vec![reason.into()], hopeless: true }
    }
}

/// What is said of nodes that were not even looked at, because the pod names others.
pub(super) const NOT_NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
/// What is said of nodes from which nobody can be sent away with profit.
const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";

/// Counts reasons over all nodes; those without any get `otherwise`.
fn counted<'a>(total: usize, reasons: impl Iterator<Item = &'a Obstacle>, otherwise: &str) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut known = 0;
    for obstacle in reasons {
        known += 1;
        obstacle.reasons.iter().for_each(|reason| *counts.entry(reason).or_default() += 1);
    }
    if known < total {
        *counts.entry(otherwise).or_default() += total - known;
    }
    let mut lines: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    // By their text, numbers included: ten comes before two.
    lines.sort();
    format!("0/{total} nodes are available: {}.", lines.join(", "))
}

/// No node will do.
pub(super) fn unavailable<'a>(total: usize, obstacles: impl Iterator<Item = &'a Obstacle>) -> String {
    counted(total, obstacles, NOT_NAMED)
}

/// No node was looked at: something about the pod itself has to change first. The last two words are those of a real
/// scheduler too, which looks for claims to devices that it has not got to yet.
pub(super) fn premature(total: usize, why: &str) -> String {
    format!("0/{total} nodes are available: {why}. not found")
}

/// No node will do, and sending other pods away does not help or is not allowed.
pub(super) fn stuck(unavailable: &str, preemption: &str) -> String {
    format!("{unavailable} no new claims to deallocate, preemption: {preemption}")
}

/// Nobody can be sent away with profit.
pub(super) fn unhelpful<'a>(total: usize, obstacles: impl Iterator<Item = &'a Obstacle>) -> String {
    counted(total, obstacles, NOT_HELPFUL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_sorted_by_their_text() {
        let cpu =
            Obstacle { reasons: vec!["Insufficient cpu".into(), "Too many pods".into()], hopeless: false };
        let taint = Obstacle::lasting("node(s) had untolerated taint(s)");
        let all: Vec<&Obstacle> = std::iter::repeat_n(&cpu, 10).chain([&taint, &taint]).collect();
        assert_eq!(
            unavailable(13, all.into_iter()),
            "0/13 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 10 Insufficient cpu, \
             10 Too many pods, 2 node(s) had untolerated taint(s)."
        );
        assert_eq!(
            stuck("0/2 nodes are available: 2 Insufficient cpu.", &unhelpful(2, std::iter::empty())),
            "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: \
             0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        );
    }
}
