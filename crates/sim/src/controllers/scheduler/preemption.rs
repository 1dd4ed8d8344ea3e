//! Making room: sending pods away that are less important.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_object::{Object, Selector, Str};

use super::fit::Search;
use super::load::{Load, Placed};
use super::nomination::Nominations;
use super::words::{self, Obstacle};
use crate::controllers::kind::DISRUPTION_BUDGET;
use crate::controllers::{condition, time};

/// The condition of a pod that is sent away, and its reason.
pub(super) const DISRUPTED: (&str, &str) = ("DisruptionTarget", "PreemptionByScheduler");
/// How many nodes are tried at least before the best of them is taken.
const TRIED: usize = 100;

/// What came of it.
pub(super) enum Room {
    /// Room can be made on a node by sending pods away.
    Made {
        /// The node.
        node: Str,
        /// The pods, the most important first.
        victims: Vec<Object>,
    },
    /// It is not to be tried, or not again yet.
    Barred(&'static str),
    /// It would not help.
    None(String),
}

struct Candidate {
    node: Str,
    victims: Vec<Placed>,
    /// How many of them a disruption budget wants to keep.
    violations: usize,
}

/// Looks for the node where the least harm is done.
pub(super) fn make_room(
    search: &mut Search<'_>,
    load: &mut Load,
    nominations: &Nominations,
    obstacles: &BTreeMap<Str, Obstacle>,
) -> Room {
    if search.pod.value().str_at(&["spec", "preemptionPolicy"]) == Some("Never") {
        return Room::Barred("not eligible due to preemptionPolicy=Never.");
    }
    if waits_for_victims(search, load, obstacles) {
        return Room::Barred("not eligible due to a terminating pod on the nominated node.");
    }
    let total = load.nodes();
    let hopeful: Vec<Str> =
        obstacles.iter().filter(|(_, why)| !why.hopeless).map(|(node, _)| node.clone()).collect();
    let enough = (hopeful.len() / 10).max(TRIED);
    let mut budgets: Option<Vec<Budget>> = None;
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut in_vain: Vec<Obstacle> = Vec::new();
    for node in hopeful {
        if !has_victims(search, load, &node) {
            in_vain.push(Obstacle::lasting("No preemption victims found for incoming pod"));
            continue;
        }
        let budgets = budgets.get_or_insert_with(|| read_budgets(search));
        match try_node(search, load, nominations, &node, budgets) {
            Ok(candidate) if candidate.victims.is_empty() => {}
            Ok(candidate) => candidates.push(candidate),
            Err(obstacle) => in_vain.push(obstacle),
        }
        if candidates.len() >= enough && candidates.iter().any(|candidate| candidate.violations == 0) {
            break;
        }
    }
    match candidates.into_iter().min_by_key(Candidate::harm) {
        Some(best) => {
            let victims = best.victims.into_iter().map(|victim| victim.pod).collect();
            Room::Made { node: best.node, victims }
        }
        None => Room::None(words::unhelpful(total, in_vain.iter())),
    }
}

impl Candidate {
    /// Fewer broken budgets, less important victims, fewer of them, and of equals those that ran for the shortest time.
    fn harm(&self) -> (usize, i64, i64, usize, Reverse<Timestamp>) {
        let highest = self.victims.iter().map(|victim| victim.wish.priority).max().unwrap_or(0);
        let sum = self.victims.iter().map(|victim| victim.wish.priority + i64::from(i32::MAX) + 1).sum();
        let of_highest = self.victims.iter().filter(|victim| victim.wish.priority == highest);
        let oldest = of_highest.map(|victim| started(&victim.pod)).min().unwrap_or(Timestamp::MAX);
        (self.violations, highest, sum, self.victims.len(), Reverse(oldest))
    }
}

fn has_victims(search: &Search<'_>, load: &Load, node: &str) -> bool {
    let lower = ..search.wish.priority;
    load.machine(node).is_some_and(|(machine, _)| machine.priorities.range(lower).next().is_some())
}

/// Whether pods that were sent away for this one are still on their way out.
fn waits_for_victims(search: &Search<'_>, load: &Load, obstacles: &BTreeMap<Str, Obstacle>) -> bool {
    let nominated = search.pod.value().str_at(&["status", "nominatedNodeName"]).unwrap_or_default();
    if obstacles.get(nominated).is_some_and(|obstacle| obstacle.hopeless) {
        return false;
    }
    let Some((machine, _)) = load.machine(nominated) else { return false };
    machine.pods.iter().filter_map(|uid| load.placed(uid)).any(|placed| {
        placed.wish.priority < search.wish.priority
            && placed.pod.is_deleting()
            && condition::is_true(&placed.pod, DISRUPTED.0)
            && condition::reason(&placed.pod, DISRUPTED.0) == DISRUPTED.1
    })
}

/// Takes everybody off a node who is less important, and puts back all for whom there is room.
fn try_node(
    search: &mut Search<'_>,
    load: &mut Load,
    nominations: &Nominations,
    node: &Str,
    budgets: &[Budget],
) -> Result<Candidate, Obstacle> {
    let uids: Vec<Str> = match load.machine(node) {
        Some((machine, _)) => machine.pods.iter().cloned().collect(),
        None => Vec::new(),
    };
    let is_lower =
        |uid: &&Str| load.placed(uid).is_some_and(|placed| placed.wish.priority < search.wish.priority);
    let lower: Vec<Str> = uids.iter().filter(is_lower).cloned().collect();
    let mut gone: Vec<Placed> = lower.iter().filter_map(|uid| load.forget(uid)).collect();
    search.recount(load);
    if let Some(obstacle) = nominations.obstacle(search, load, node) {
        gone.iter().for_each(|placed| load.restore(placed));
        search.recount(load);
        return Err(obstacle);
    }
    gone.sort_by(|a, b| importance(a).cmp(&importance(b)));
    let (violating, harmless) = split(gone, budgets);
    let mut victims: Vec<Placed> = Vec::new();
    let mut violations = 0;
    for (placed, violates) in violating
        .into_iter()
        .map(|placed| (placed, true))
        .chain(harmless.into_iter().map(|placed| (placed, false)))
    {
        load.restore(&placed);
        search.recount(load);
        if nominations.obstacle(search, load, node).is_some() {
            load.forget(placed.pod.uid());
            search.recount(load);
            violations += usize::from(violates);
            victims.push(placed);
        }
    }
    victims.iter().for_each(|placed| load.restore(placed));
    search.recount(load);
    victims.sort_by(|a, b| importance(a).cmp(&importance(b)));
    Ok(Candidate { node: node.clone(), victims, violations })
}

/// The most important first: by priority, and then by age.
fn importance(placed: &Placed) -> (Reverse<i64>, Timestamp, &str) {
    (Reverse(placed.wish.priority), started(&placed.pod), placed.pod.name())
}

/// When a pod was started; one that was not yet is the youngest.
fn started(pod: &Object) -> Timestamp {
    time::read(pod.at(&["status", "startTime"])).unwrap_or(Timestamp::MAX)
}

/// How many pods may still go, of those that a budget speaks of.
struct Budget {
    namespace: Str,
    selector: Selector,
    allowed: i64,
    gone: Vec<Str>,
}

fn read_budgets(search: &Search<'_>) -> Vec<Budget> {
    let read = |budget: Object| {
        let selector = Selector::from_object(budget.at(&["spec", "selector"])).ok()?;
        let gone = budget.at(&["status", "disruptedPods"]).and_then(|gone| gone.as_map());
        Some(Budget {
            namespace: budget.namespace().into(),
            // Neither a missing selector nor an empty one protects anybody from this.
            selector: if selector.is_everything() { Selector::Nothing } else { selector },
            allowed: budget.value().int_at(&["status", "disruptionsAllowed"]).unwrap_or(0),
            gone: gone.map(|gone| gone.keys().cloned().collect()).unwrap_or_default(),
        })
    };
    search.world.list_all(DISRUPTION_BUDGET).into_iter().filter_map(read).collect()
}

/// Those whose going would break a budget, and the others.
fn split(pods: Vec<Placed>, budgets: &[Budget]) -> (Vec<Placed>, Vec<Placed>) {
    let mut left: Vec<i64> = budgets.iter().map(|budget| budget.allowed).collect();
    pods.into_iter().partition(|placed| {
        let pod = &placed.pod;
        let mut violates = false;
        for (budget, left) in budgets.iter().zip(&mut left) {
            let speaks = budget.namespace == pod.namespace()
                && budget.selector.matches_object(pod)
                && !budget.gone.iter().any(|name| name == pod.name());
            if speaks {
                *left -= 1;
                violates |= *left < 0;
            }
        }
        violates
    })
}
