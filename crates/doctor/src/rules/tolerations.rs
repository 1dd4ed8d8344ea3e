//! Which taint keeps pods off the nodes that were meant for them, and who else tolerates it.

use std::collections::{BTreeMap, HashMap};

use lynceus_object::{Object, Value};

use super::fit::{self, Fit};
use super::scheduler::{self, Obstacle, Waiting};
use crate::case::{Case, Pods};
use crate::finding::Evidence;
use crate::node::AppName;
use crate::snapshot::Override;
use crate::words;

/// Pods that are kept off by a taint.
pub(super) struct Blocked<'a> {
    /// The pods.
    pub(super) waiting: Waiting<'a>,
    /// The taints that keep them off, the one that is most likely meant first, each with its nodes.
    pub(super) taints: Vec<(&'a Value, Vec<&'a str>)>,
    /// How many other workloads of the namespace there are, and how many of them tolerate the first taint.
    pub(super) others: usize,
    /// How many of them tolerate the first taint.
    pub(super) tolerating: Vec<&'a Object>,
    /// Where the override stands that takes the tolerations away, if one is seen.
    pub(super) emptied: Option<&'static str>,
    /// The value that covers a toleration which they would have without it, and whose it is.
    pub(super) covered: Option<(AppName, &'a Override)>,
}

impl Blocked<'_> {
    /// Which nodes have which taint, as evidence.
    pub(super) fn pools(&self) -> Vec<Evidence> {
        let told =
            |(taint, nodes): &(&Value, Vec<&str>)| format!("{} is on {}", shown(taint), words::list(nodes));
        self.taints.iter().map(|pool| Evidence::seen(told(pool))).take(crate::limits::NAMED).collect()
    }

    /// Whether the pods were meant to tolerate what they do not: somebody wrote that they have no tolerations, or those beside
    /// them have one and they have none.
    pub(super) fn is_overridden(&self) -> bool {
        if self.covered.is_some() {
            return true;
        }
        let most_do = self.tolerating.len() > 1 && self.tolerating.len() * 2 > self.others;
        match self.emptied {
            Some("tolerations: []") => true,
            // A chart may write an empty selector of its own accord.
            Some(_) => !self.tolerating.is_empty(),
            None => most_do && !has_own(&self.waiting.spec),
        }
    }
}

/// The pods of a cluster that are kept off by a taint. Those whose template has been put right already are left out.
pub(super) fn blocked<'a>(case: &Case<'a>, server: &str) -> Vec<Blocked<'a>> {
    let waiting = scheduler::waiting(case, server);
    let waiting: Vec<Waiting<'a>> =
        waiting.into_iter().filter(|one| one.is(case, server, Obstacle::Taint)).collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    let mut around = Around { workloads: workloads(case, server), known: HashMap::new() };
    waiting.into_iter().filter_map(|one| around.look(case, server, one)).collect()
}

/// The workloads of each namespace, and which of them tolerate what.
struct Around<'a> {
    workloads: HashMap<&'a str, Vec<Pods<'a>>>,
    known: HashMap<(&'a str, String), Vec<&'a Object>>,
}

impl<'a> Around<'a> {
    fn look(&mut self, case: &Case<'a>, server: &str, waiting: Waiting<'a>) -> Option<Blocked<'a>> {
        let namespace = waiting.owner.namespace();
        let mut taints = taints(case, server, &waiting.spec);
        taints.sort_by_cached_key(|(taint, nodes)| {
            let tolerating = self.tolerating(namespace, taint).len();
            (fit::is_of_system(taint), std::cmp::Reverse((tolerating, nodes.len())), shown(taint))
        });
        let (first, _) = taints.first()?;
        // A pod of an older revision only has to be made anew, and what Git has by now only has to be synced.
        let wanted = case.wanted(server, &waiting.owner.key()).into_iter().next();
        let wanted = wanted.and_then(|(_, wanted)| Pods::of(&wanted.object));
        let mut templates = Pods::of(waiting.owner).into_iter().chain(wanted);
        if templates.any(|template| fit::is_tolerated(&template, first)) {
            return None;
        }
        let tolerating = self.tolerating(namespace, first);
        let all = self.workloads.get(namespace).map_or(0, Vec::len);
        let is_there = case.live(server, &waiting.owner.key()).is_some();
        let own = usize::from(is_there && Pods::of(waiting.owner).is_some());
        let emptied = emptied(case, server, waiting.owner);
        let covered = case.override_of(server, &waiting.owner.key(), |object| {
            Pods::of(object).is_some_and(|pods| fit::is_tolerated(&pods, first))
        });
        let others = all.saturating_sub(own);
        Some(Blocked { waiting, taints, others, tolerating, emptied, covered })
    }

    fn tolerating(&mut self, namespace: &'a str, taint: &Value) -> Vec<&'a Object> {
        let near = self.workloads.get(namespace).map_or(&[][..], Vec::as_slice);
        let find =
            || near.iter().filter(|pods| fit::is_tolerated(pods, taint)).map(|pods| pods.holder).collect();
        self.known.entry((namespace, shown(taint))).or_insert_with(find).clone()
    }
}

/// The workloads of a cluster by namespace. Those that run on every node tolerate more than they are meant to.
fn workloads<'a>(case: &Case<'a>, server: &str) -> HashMap<&'a str, Vec<Pods<'a>>> {
    let mut all: HashMap<&'a str, Vec<Pods<'a>>> = HashMap::new();
    for (group, kind) in [("apps", "Deployment"), ("apps", "StatefulSet"), ("batch", "CronJob")] {
        for object in case.of_kind(server, group, kind).iter().copied() {
            all.entry(object.namespace()).or_default().extend(Pods::of(object));
        }
    }
    all
}

/// The taints that keep pods off nodes that they would have otherwise, each with the names of the nodes.
fn taints<'a>(case: &Case<'a>, server: &str, pods: &Pods<'_>) -> Vec<(&'a Value, Vec<&'a str>)> {
    let mut found: BTreeMap<String, (&'a Value, Vec<&'a str>)> = BTreeMap::new();
    for node in case.of_kind(server, "", "Node").iter().copied() {
        if fit::fit(pods, node) != Fit::Tainted {
            continue;
        }
        if let Some(taint) = fit::untolerated(pods, node) {
            found.entry(shown(taint)).or_insert_with(|| (taint, Vec::new())).1.push(node.name());
        }
    }
    found.into_values().collect()
}

/// Where a workload is said to have no tolerations at all: in Git, or in what was last applied.
fn emptied(case: &Case<'_>, server: &str, owner: &Object) -> Option<&'static str> {
    let is_empty = |pods: &Pods<'_>, field: &str| {
        pods.spec.get(field).is_some_and(|value| !value.is_null() && value.is_empty())
    };
    let wanted = case.wanted(server, &owner.key());
    let template = wanted.first().and_then(|(_, wanted)| Pods::of(&wanted.object));
    let applied = owner.annotation("kubectl.kubernetes.io/last-applied-configuration").unwrap_or_default();
    match template {
        Some(pods) if is_empty(&pods, "tolerations") => Some("tolerations: []"),
        Some(pods) if is_empty(&pods, "nodeSelector") && pods.spec.get("tolerations").is_none() => {
            Some("nodeSelector: {}")
        }
        Some(_) => None,
        None => applied.contains("\"tolerations\":[]").then_some("tolerations: []"),
    }
}

/// Whether pods have tolerations beside those that every pod is given.
fn has_own(pods: &Pods<'_>) -> bool {
    let tolerations = pods.spec.items_at(&["tolerations"]).iter();
    let mut keys = tolerations.map(|one| one.str_at(&["key"]).unwrap_or_default());
    keys.any(|key| !key.starts_with("node.kubernetes.io/"))
}

/// `env=dev:NoSchedule`
pub(super) fn shown(taint: &Value) -> String {
    let text = |field| taint.str_at(&[field]).unwrap_or_default();
    match text("value") {
        "" => format!("{}:{}", text("key"), text("effect")),
        value => format!("{}={value}:{}", text("key"), text("effect")),
    }
}

/// The toleration that fits a taint.
pub(super) fn toleration(taint: &Value) -> Value {
    let text = |field| taint.str_at(&[field]).unwrap_or_default();
    match text("value") {
        "" => {
            lynceus_object::value!({"key": (text("key")), "operator": "Exists", "effect": (text("effect"))})
        }
        value => lynceus_object::value!({
            "key": (text("key")), "operator": "Equal", "value": (value), "effect": (text("effect")),
        }),
    }
}
