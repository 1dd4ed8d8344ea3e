//! Pods that no node takes, and which of the reasons that the scheduler names is the one.
//!
//! A scheduler asks each node in a fixed order: is it closed, is its taint tolerated, is it selected, are its ports free, is there
//! room, may it have another volume, is the volume within reach, do others allow it; and writes down the first that fails. What
//! fails late is therefore what keeps the pods off the nodes that were meant for them, and what fails early is said of all others.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{FieldPath, GroupKind, Object, ObjectKey, Value};

use super::fit::{self, Fit};
use super::room;
use crate::case::{Case, Pods};
use crate::finding::Evidence;
use crate::words;

/// A pod that no node takes.
pub(super) struct Waiting<'a> {
    /// What owns it in the end.
    pub(super) owner: &'a Object,
    /// The pod.
    pub(super) pod: &'a Object,
    /// Its spec.
    pub(super) spec: Pods<'a>,
    /// What the scheduler says; nothing if it was not asked yet.
    pub(super) said: &'a str,
}

/// Why no node takes a pod, those that are asked last being the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Obstacle {
    /// The nodes that would take it are closed.
    Closed,
    /// The nodes that would take it are not ready.
    Lost,
    /// A taint is not tolerated.
    Taint,
    /// No node is what it asks for.
    Selection,
    /// A port of the node is taken.
    Port,
    /// There is no room.
    Room,
    /// A volume is used by another pod.
    VolumeInUse,
    /// The node has as many volumes as it may have.
    VolumeCount,
    /// The volume cannot be had on the node.
    VolumeReach,
    /// It would not be spread evenly.
    Spread,
    /// Other pods, or their absence, keep it off.
    Neighbours,
}

/// The pods of a cluster that no node takes, one for each owner and saying.
pub(super) fn waiting<'a>(case: &Case<'a>, server: &str) -> Vec<Waiting<'a>> {
    let mut known = std::collections::HashSet::new();
    let mut all = Vec::new();
    for pod in case.of_kind(server, "", "Pod").iter().copied() {
        let Some(said) = unscheduled(pod).filter(|_| !is_node_coming(case, server, pod)) else { continue };
        let (owner, Some(spec)) = (case.top(server, pod), Pods::of(pod)) else { continue };
        if known.insert((owner.key(), said)) {
            all.push(Waiting { owner, pod, spec, said });
        }
    }
    all.extend(to_come(case, server));
    all
}

/// What is in Git, was not made yet, and makes pods for any node that takes them. Where nodes come as they are needed nothing can be told.
fn to_come<'a>(case: &Case<'a>, server: &str) -> Vec<Waiting<'a>> {
    let nodes = case.of_kind(server, "", "Node");
    if nodes.is_empty()
        || !case.is_absent(server, &ObjectKey::new("", "Node", "", ""))
        || may_grow(case, server)
    {
        return Vec::new();
    }
    // A DaemonSet makes pods for the nodes that take them, and for no others.
    let all = case.pods_to_come(server).filter(|(object, _)| object.kind() != "DaemonSet");
    all.map(|(object, spec)| Waiting { owner: object, pod: object, spec, said: "" }).collect()
}

/// Whether nodes may come by themselves: an autoscaler is seen, or nodes of a cloud that has one of its own.
fn may_grow(case: &Case<'_>, server: &str) -> bool {
    const CLOUDS: [&str; 4] =
        ["cloud.google.com/", "kubernetes.azure.com/", "eks.amazonaws.com/compute-type", "karpenter.sh/"];
    let is_of_cloud = |node: &&Object| {
        let labels = node.at(&["metadata", "labels"]).and_then(Value::as_map);
        let mut keys = labels.into_iter().flat_map(|map| map.iter()).map(|(key, _)| key);
        keys.any(|key| CLOUDS.iter().any(|start| key.starts_with(start)))
    };
    let is_scaler = |name: &str| name.contains("cluster-autoscaler") || name.contains("karpenter");
    case.of_kind(server, "", "Node").iter().any(is_of_cloud)
        || case.serves(server, &GroupKind::new("karpenter.sh", "NodePool")) == Some(true)
        || case.due(server, "apps", "Deployment").any(|one| is_scaler(one.name()))
}

/// How long it may take until a node is there that was asked for.
const PATIENCE: SignedDuration = SignedDuration::from_mins(15);

/// Whether a node was asked for because of a pod, not long ago.
fn is_node_coming(case: &Case<'_>, server: &str, pod: &Object) -> bool {
    case.events(server, &pod.key()).iter().any(|event| {
        let text = |field| event.value().str_at(&[field]).unwrap_or_default();
        let asked = matches!(text("reason"), "TriggeredScaleUp" | "Nominated");
        let at = [text("lastTimestamp"), text("eventTime")]
            .into_iter()
            .find_map(|at| at.parse::<Timestamp>().ok());
        asked && at.is_some_and(|at| case.snapshot.taken_at.duration_since(at) < PATIENCE)
    })
}

/// What the scheduler says of a pod that it finds no node for.
pub(super) fn unscheduled(pod: &Object) -> Option<&str> {
    if pod.is_deleting() || pod.value().str_at(&["spec", "nodeName"]).is_some_and(|name| !name.is_empty()) {
        return None;
    }
    let mut conditions = pod.value().items_at(&["status", "conditions"]).iter();
    let said = conditions.find(|one| {
        one.str_at(&["type"]) == Some("PodScheduled") && one.str_at(&["status"]) == Some("False")
    })?;
    said.str_at(&["message"]).filter(|text| text.contains("nodes are available"))
}

/// The reasons that a scheduler gives, each with the number of nodes that it holds for.
pub(super) fn reasons(said: &str) -> Vec<(usize, String)> {
    let list = said.split_once("available: ").map_or("", |(_, rest)| rest);
    // What follows is about sending other pods away, and repeats itself.
    let list = list.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let mut reasons: Vec<(usize, String)> = Vec::new();
    for part in list.split(", ") {
        let (number, rest) = part.split_once(' ').unwrap_or(("", part));
        match (number.parse(), reasons.last_mut()) {
            (Ok(count), _) => reasons.push((count, rest.to_owned())),
            // `had taint {a: b}, that the pod didn't tolerate`
            (Err(_), Some((_, last))) => *last = format!("{last}, {part}"),
            (Err(_), None) => {}
        }
    }
    reasons
}

/// What sort of reason it is, by the words that schedulers have had for it.
fn sort_of(reason: &str) -> Option<Obstacle> {
    let sorts = [
        ("node(s) were unschedulable", Obstacle::Closed),
        ("taint", Obstacle::Taint),
        ("node affinity/selector", Obstacle::Selection),
        ("didn't match Pod's node affinity", Obstacle::Selection),
        ("didn't match node selector", Obstacle::Selection),
        ("plugin(s) [NodeAffinity]", Obstacle::Selection),
        ("free ports", Obstacle::Port),
        ("Insufficient ", Obstacle::Room),
        ("Too many pods", Obstacle::Room),
        ("ReadWriteOncePod", Obstacle::VolumeInUse),
        ("no available disk", Obstacle::VolumeInUse),
        ("max volume count", Obstacle::VolumeCount),
        ("volume node affinity conflict", Obstacle::VolumeReach),
        ("PersistentVolume's node affinity", Obstacle::VolumeReach),
        ("no available volume zone", Obstacle::VolumeReach),
        ("find available persistent volumes to bind", Obstacle::VolumeReach),
        ("topology spread", Obstacle::Spread),
        ("affinity rules", Obstacle::Neighbours),
        ("affinity/anti-affinity", Obstacle::Neighbours),
    ];
    sorts.iter().find(|(words, _)| reason.contains(words)).map(|(_, sort)| *sort)
}

impl<'a> Waiting<'a> {
    /// What keeps the pod off the nodes that were meant for it; nothing if that cannot be told.
    pub(super) fn obstacle(&self, case: &Case<'a>, server: &str) -> Option<Obstacle> {
        if self.is_to_come() {
            return self.foreseen(case, server);
        }
        let said = self.sorts();
        let late = said.iter().filter(|(_, sort)| *sort >= Obstacle::Port);
        let late = late.max_by_key(|(count, sort)| (*count, *sort)).map(|(_, sort)| *sort);
        let nodes = case.of_kind(server, "", "Node");
        let is_tainted = said.iter().any(|(_, sort)| *sort == Obstacle::Taint);
        if late == Some(Obstacle::Room) && is_tainted && room::is_elsewhere(&self.spec, nodes) {
            return Some(Obstacle::Taint);
        }
        if late.is_some() || nodes.is_empty() || said.is_empty() {
            return late.or_else(|| self.early(&said));
        }
        let fits: Vec<Fit> = nodes.iter().map(|node| fit::fit(&self.spec, node)).collect();
        let has = |fit| fits.contains(&fit);
        let told = |sort| said.iter().any(|(_, one)| *one == sort).then_some(sort);
        if has(Fit::Takes) {
            // The nodes have changed since.
            return None;
        }
        match () {
            () if has(Fit::Lost) => Some(Obstacle::Lost),
            () if has(Fit::Closed) => Some(Obstacle::Closed),
            () if has(Fit::Tainted) => told(Obstacle::Taint),
            () => told(Obstacle::Selection).or_else(|| told(Obstacle::Taint).map(|_| Obstacle::Selection)),
        }
    }

    /// Whether this is what keeps the pod off. What the scheduler does not even name is not looked for.
    pub(super) fn is(&self, case: &Case<'a>, server: &str, wanted: Obstacle) -> bool {
        if self.is_to_come() {
            return self.foreseen(case, server) == Some(wanted);
        }
        let said = self.sorts();
        let named = |sort| said.iter().any(|(_, one)| *one == sort);
        let may_be = match wanted {
            Obstacle::Lost | Obstacle::Closed => true,
            Obstacle::Selection => named(Obstacle::Selection) || named(Obstacle::Taint),
            sort => named(sort),
        };
        may_be && self.obstacle(case, server) == Some(wanted)
    }

    /// Whether there are no pods yet that a scheduler could have been asked about.
    fn is_to_come(&self) -> bool {
        self.said.is_empty()
    }

    /// What will keep pods off that are to come, of what is the same for all of them: none of the nodes takes them, not even one that is closed.
    fn foreseen(&self, case: &Case<'a>, server: &str) -> Option<Obstacle> {
        let fits: Vec<Fit> =
            case.of_kind(server, "", "Node").iter().map(|node| fit::fit(&self.spec, node)).collect();
        if fits.iter().any(|fit| matches!(fit, Fit::Takes | Fit::Lost | Fit::Closed)) {
            return None;
        }
        Some(if fits.contains(&Fit::Tainted) { Obstacle::Taint } else { Obstacle::Selection })
    }

    /// What the scheduler says, by sort.
    pub(super) fn sorts(&self) -> Vec<(usize, Obstacle)> {
        reasons(self.said)
            .into_iter()
            .filter_map(|(count, reason)| Some((count, sort_of(&reason)?)))
            .collect()
    }

    /// Without nodes to look at, only what is the same for all of them can be told.
    fn early(&self, said: &[(usize, Obstacle)]) -> Option<Obstacle> {
        let first = said.first()?.1;
        said.iter().all(|(_, sort)| *sort == first).then_some(first)
    }

    /// What the scheduler says, as evidence.
    pub(super) fn evidence(&self, case: &Case<'_>, server: &str) -> Vec<Evidence> {
        if self.is_to_come() {
            return Vec::new();
        }
        let path = FieldPath::fields(["status", "conditions"]);
        let said = Evidence::Field { object: self.pod.key(), path, value: words::quote(self.said) };
        Some(said).into_iter().chain(case.event(server, &self.pod.key(), &["FailedScheduling"])).collect()
    }

    /// `the pods of Deployment web are not scheduled`
    pub(super) fn told(&self) -> String {
        let verb = if self.is_to_come() { "will not be" } else { "are not" };
        format!("the pods of {} {} {verb} scheduled", self.owner.kind(), self.owner.name())
    }
}

/// What to look at to see whether pods are scheduled.
pub(super) fn verify(owner: &Object) -> String {
    format!("kubectl -n {} get pods -o wide", owner.namespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_of_all_schedulers_are_read() {
        let said = "0/6 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't \
                    tolerate, 2 Insufficient cpu, 3 node(s) had untolerated taint {env: dev}. preemption: 0/6 nodes are \
                    available: 6 Preemption is not helpful for scheduling.";
        let read: Vec<(usize, Option<Obstacle>)> =
            reasons(said).iter().map(|(count, reason)| (*count, sort_of(reason))).collect();
        assert_eq!(read, [(1, Some(Obstacle::Taint)), (2, Some(Obstacle::Room)), (3, Some(Obstacle::Taint))]);
        assert_eq!(
            sort_of("node(s) didn't satisfy existing pods anti-affinity rules"),
            Some(Obstacle::Neighbours)
        );
        assert_eq!(
            sort_of("node(s) didn't match PersistentVolume's node affinity"),
            Some(Obstacle::VolumeReach)
        );
        assert_eq!(sort_of("node(s) didn't match Pod's node affinity/selector"), Some(Obstacle::Selection));
    }

    #[test]
    fn what_is_not_about_nodes_has_no_reasons() {
        assert!(reasons("running PreBind plugin failed").is_empty());
    }
}
