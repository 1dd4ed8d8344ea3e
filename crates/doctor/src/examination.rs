//! From a snapshot to root causes.

mod chain;
mod stopped;
mod tree;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

pub use chain::Chain;
use chain::{Chains, Reached};
pub use stopped::{Names, Stopped};

use crate::case::{App, Case};
use crate::finding::{Code, Finding, Findings, Severity};
use crate::followup;
use crate::graph::Graph;
use crate::links;
use crate::node::{AppName, Node};
use crate::rules::{self, RULES};
use crate::snapshot::Snapshot;

/// What was found, and what comes from what.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Examination {
    /// How the applications are.
    pub totals: Totals,
    /// What nothing else explains, what is to be mended first coming first.
    pub roots: Vec<Root>,
    /// Everything else that was found; each of these comes from a root.
    pub consequences: Vec<Finding>,
    /// Applications that are not fine and that nothing explains.
    pub unexplained: Vec<Unexplained>,
    /// What could not be seen.
    pub unseen: Vec<String>,
}

/// How many applications there are, and how they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// All of them.
    pub applications: usize,
    /// Those that are Synced and Healthy.
    pub fine: usize,
    /// How many there are of each health.
    pub health: BTreeMap<String, usize>,
    /// How many there are of each sync status.
    pub sync: BTreeMap<String, usize>,
}

/// A root cause, with everything that comes from it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// Its stable name.
    pub id: String,
    /// How bad it is with everything that waits for it.
    pub severity: Severity,
    /// What it is.
    pub finding: Finding,
    /// The same in other places, each with its own name: one slip, made or inherited several times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
    /// The applications that are not fine because of it, in order of their names; where very many causes stop very many, the nearest.
    pub applications: Stopped,
    /// How many things wait for it, applications among them.
    pub symptoms: usize,
    /// What waits for it, and what waits for that.
    pub chain: Chain,
}

impl Root {
    /// Several of one slip as one: the one that stops most stands for the others.
    fn of_group(mut group: Vec<Root>) -> Option<Root> {
        group.sort_by(|a, b| b.applications.len().cmp(&a.applications.len()).then_with(|| a.id.cmp(&b.id)));
        let mut group = group.into_iter();
        let mut first = group.next()?;
        for Root { id, severity, finding, applications, symptoms, .. } in group {
            first.applications.merge(applications);
            first.symptoms += symptoms;
            first.severity = first.severity.min(severity);
            first.also.push(Also { id, finding });
        }
        first.also.sort_by(|a, b| a.id.cmp(&b.id));
        for (rank, fix) in first.finding.fixes.iter_mut().enumerate() {
            fix.everywhere(first.also.iter().filter_map(|also| also.finding.fixes.get(rank)));
        }
        Some(first)
    }

    /// What it is, in every place that it is in, with the names of those.
    pub fn findings(&self) -> impl Iterator<Item = (&str, &Finding)> {
        let also = self.also.iter().map(|also| (also.id.as_str(), &also.finding));
        std::iter::once((self.id.as_str(), &self.finding)).chain(also)
    }

    /// What stops most comes first.
    fn weight(&self) -> (Severity, std::cmp::Reverse<usize>) {
        (self.severity, std::cmp::Reverse(self.applications.len()))
    }
}

impl Examination {
    /// Everything that was found, with its stable names: root causes, the same in other places, and what comes of them.
    pub fn findings(&self) -> impl Iterator<Item = (String, &Finding)> {
        let roots = self.roots.iter().flat_map(Root::findings).map(|(id, finding)| (id.to_owned(), finding));
        roots.chain(self.consequences.iter().map(|finding| (finding.id(), finding)))
    }

    /// Tells roots as one that have the same slip, given one for each root that is known to have one.
    pub fn fold(&mut self, slips: &[Option<String>]) {
        let mut groups: BTreeMap<&str, Vec<Root>> = BTreeMap::new();
        let mut roots = Vec::new();
        for (place, root) in std::mem::take(&mut self.roots).into_iter().enumerate() {
            match slips.get(place).and_then(Option::as_deref) {
                Some(slip) => groups.entry(slip).or_default().push(root),
                None => roots.push(root),
            }
        }
        for mut root in groups.into_values().filter_map(Root::of_group) {
            let owners: BTreeSet<&AppName> =
                root.findings().filter_map(|(_, finding)| finding.application.as_ref()).collect();
            // What stops several applications is worse than what stops one.
            if owners.len() > 1 && root.severity == Severity::P1 {
                root.severity = Severity::P0;
            }
            roots.push(root);
        }
        self.roots = roots;
        self.order();
    }

    fn order(&mut self) {
        self.roots.sort_by(|a, b| a.weight().cmp(&b.weight()).then_with(|| a.id.cmp(&b.id)));
    }
}

/// The same trouble in another place.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Also {
    /// Its stable name.
    pub id: String,
    /// What it is there.
    pub finding: Finding,
}

/// An application that nothing explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unexplained {
    /// The application.
    pub application: AppName,
    /// How it is: `OutOfSync Degraded`.
    pub state: String,
    /// What it says itself.
    pub says: Vec<String>,
}

/// Looks for what is wrong, and for what that comes from. What rules take for one slip is told as one.
pub fn examine(snapshot: &Snapshot) -> Examination {
    conclude(snapshot, true)
}

/// The same with each cause for itself: for those who can tell better which of them are one slip.
pub fn examine_apart(snapshot: &Snapshot) -> Examination {
    conclude(snapshot, false)
}

/// What looks at all findings once every rule has spoken, in this order: nothing else changes what a rule has found.
const REVISIONS: [fn(&Case<'_>, &mut [Finding]); 2] = [followup::complete, rules::explain];

fn conclude(snapshot: &Snapshot, is_joined: bool) -> Examination {
    let case = Case::new(snapshot);
    let mut findings = Findings::default();
    for rule in RULES {
        (rule.check)(&case, &mut findings);
    }
    let mut findings = findings.into_sorted();
    for revise in REVISIONS {
        revise(&case, &mut findings);
    }
    let mut graph = Graph::default();
    links::link(&case, &mut graph);
    for finding in &findings {
        graph.place(finding.subject.clone());
        for node in &finding.affects {
            graph.link(node.clone(), finding.subject.clone());
        }
        for node in &finding.because {
            graph.link(finding.subject.clone(), node.clone());
        }
    }
    let parents = parents(&case);
    let holders = parents.values().copied().collect();
    Conclusion { case: &case, graph: &graph, parents, holders, is_joined }.draw(findings)
}

/// The application that holds each one, of those that are held by one.
fn parents<'c>(case: &'c Case<'_>) -> HashMap<&'c AppName, &'c AppName> {
    case.apps().filter_map(|app| Some((&app.name, &case.parent(&app.name)?.0.name))).collect()
}

/// What is concluded from findings and a graph.
struct Conclusion<'c, 'a> {
    case: &'c Case<'a>,
    graph: &'c Graph,
    parents: HashMap<&'c AppName, &'c AppName>,
    /// The applications that hold others.
    holders: HashSet<&'c AppName>,
    /// Whether what rules take for one slip is told as one.
    is_joined: bool,
}

impl<'c, 'a> Conclusion<'c, 'a> {
    fn draw(&self, findings: Vec<Finding>) -> Examination {
        let is_root = self.roots(&findings);
        let chains = Chains::new(self.case, self.graph, is_root.iter().filter(|is_root| **is_root).count());
        let mut roots = Vec::new();
        let mut consequences = Vec::new();
        for (finding, is_root) in findings.into_iter().zip(is_root) {
            match is_root {
                true => roots.extend(self.root(&chains, finding)),
                false => consequences.push(finding),
            }
        }
        tell_apart(&mut roots);
        let roots = if self.is_joined { self.joined(roots) } else { roots };
        let causes = roots.iter().filter(|root| root.finding.severity < Severity::P3);
        let reached = chains.all(causes.flat_map(Root::findings).map(|(_, finding)| &finding.subject));
        let mut explained: BTreeSet<&AppName> = reached.into_iter().map(|app| &app.name).collect();
        // What a root has in common with others was reached with them.
        explained.extend(roots.iter().flat_map(|root| root.applications.own()));
        let troubled = self.case.apps().filter(|app| !app.is_fine() && !explained.contains(&app.name));
        let mut examination = Examination {
            totals: self.totals(),
            unexplained: troubled.map(unexplained).collect(),
            roots,
            consequences,
            unseen: self.case.snapshot.unseen.clone(),
        };
        examination.order();
        examination
    }

    /// Which findings nothing deeper explains.
    fn roots(&self, findings: &[Finding]) -> Vec<bool> {
        let knots = self.graph.knots();
        let knot_of = |finding: &Finding| self.graph.find(&finding.subject).map_or(0, |place| knots[place]);
        let mut own: BTreeMap<usize, Strength> = BTreeMap::new();
        // What is merely worth putting right explains nothing, and hides nothing.
        for finding in findings.iter().filter(|finding| finding.severity < Severity::P3) {
            let strength = own.entry(knot_of(finding)).or_default();
            strength.note(finding);
        }
        let deep = self.depths(&knots, &own);
        let counts = |finding: &Finding| {
            let knot = knot_of(finding);
            let (own, below) = (own.get(&knot).copied().unwrap_or_default(), deep[knot]);
            match finding.is_weak {
                false => !own.is_final && !below.is_strong,
                true => !own.is_strong && !below.is_strong && !below.is_weak,
            }
        };
        // Of those that wait for each other in a circle one stands for all: the one that speaks of most of them.
        let mut best: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (place, finding) in findings.iter().enumerate() {
            if !finding.is_final && counts(finding) {
                let knot = knot_of(finding);
                let is_of = |node: &&Node| self.graph.find(node).is_some_and(|place| knots[place] == knot);
                let spoken = finding.affects.iter().filter(is_of).count();
                let known = best.entry(knot).or_insert((place, spoken));
                if spoken > known.1 {
                    *known = (place, spoken);
                }
            }
        }
        let chosen: BTreeSet<usize> = best.into_values().map(|(place, _)| place).collect();
        let is_root = |(place, finding): (usize, &Finding)| finding.is_final || chosen.contains(&place);
        findings.iter().enumerate().map(is_root).collect()
    }

    /// For each knot, what was found in those that it waits for.
    fn depths(&self, knots: &[usize], own: &BTreeMap<usize, Strength>) -> Vec<Strength> {
        let count = knots.iter().max().map_or(1, |max| max + 1);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (place, knot) in knots.iter().enumerate() {
            members[*knot].push(place);
        }
        let mut deep = vec![Strength::default(); count];
        for knot in 0..count {
            let mut sum = Strength::default();
            let below = members[knot].iter().flat_map(|place| self.graph.waits_for(*place));
            for below in below.map(|place| knots[*place]).filter(|below| *below != knot) {
                sum = sum.and(deep[below]).and(own.get(&below).copied().unwrap_or_default());
            }
            deep[knot] = sum;
        }
        deep
    }

    /// A root with what it explains. What merely repeats something and explains no application is not worth a word.
    fn root(&self, chains: &Chains<'c, 'a>, finding: Finding) -> Option<Root> {
        let Reached { chain, symptoms, mut applications } = chains.of(&finding.subject);
        // A finding that says nothing of the graph is still about its own application, and about the one that it names.
        if finding.severity < Severity::P3 {
            let own = finding.application.as_ref().and_then(|name| self.case.app(name));
            let own = own.filter(|app| app.is_troubled()).into_iter().chain(self.troubled(&finding.subject));
            applications.extend(own.map(|app| app.name.clone()));
        }
        // What is merely worth putting right explains what it names itself, and nothing further away.
        if finding.severity == Severity::P3 {
            let named = finding.affects.iter().filter_map(|node| self.troubled(node));
            applications = Stopped::new(named.map(|app| app.name.clone()), Arc::default());
        }
        let severity = self.severity(&finding, &applications);
        let is_idle = finding.is_weak && applications.is_empty();
        (!is_idle).then(|| Root {
            id: finding.id(),
            severity,
            finding,
            also: Vec::new(),
            applications,
            symptoms,
            chain,
        })
    }

    /// Roots of one slip as one: the one that stops most stands for the others.
    fn joined(&self, roots: Vec<Root>) -> Vec<Root> {
        let mut groups: BTreeMap<(Code, String), Vec<Root>> = BTreeMap::new();
        let mut joined = Vec::new();
        for root in roots {
            match &root.finding.alike {
                Some(slip) => groups.entry((root.finding.code, slip.clone())).or_default().push(root),
                None => joined.push(root),
            }
        }
        joined.extend(groups.into_values().filter_map(|group| self.join(group)));
        joined
    }

    fn join(&self, group: Vec<Root>) -> Option<Root> {
        let mut first = Root::of_group(group)?;
        first.severity = self.severity(&first.finding, &first.applications);
        Some(first)
    }

    fn troubled(&self, node: &Node) -> Option<&'c App<'a>> {
        match node {
            Node::Application(name) => self.case.app(name).filter(|app| app.is_troubled()),
            _ => None,
        }
    }

    /// What stops several applications is worse than what stops one.
    fn severity(&self, finding: &Finding, applications: &Stopped) -> Severity {
        // What is of no application and stops none is only worth putting right.
        if applications.is_empty()
            && finding.application.is_none()
            && !self.case.snapshot.applications.is_empty()
        {
            return Severity::P3;
        }
        match finding.severity {
            Severity::P1 if self.are_several(applications) => Severity::P0,
            severity => severity,
        }
    }

    /// Whether there is more than one of some applications; those that only hold others of them do not count.
    fn are_several(&self, applications: &Stopped) -> bool {
        // Most hold none at all, and the first few show it.
        let leaves = applications.iter().filter(|name| !self.holders.contains(name));
        if leaves.take(2).count() > 1 {
            return true;
        }
        let held: BTreeSet<&AppName> =
            applications.iter().filter_map(|name| self.parents.get(name).copied()).collect();
        applications.iter().filter(|name| !held.contains(name)).take(2).count() > 1
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for app in self.case.apps() {
            let status = &app.application().status;
            totals.applications += 1;
            if app.delivery.uncreated {
                *totals.health.entry("Missing".to_owned()).or_default() += 1;
                continue;
            }
            totals.fine += usize::from(app.is_fine());
            *totals.health.entry(word(status.health.status.as_str())).or_default() += 1;
            *totals.sync.entry(word(status.sync.status.as_str())).or_default() += 1;
        }
        totals
    }
}

/// What was found somewhere.
#[derive(Clone, Copy, Default)]
struct Strength {
    is_final: bool,
    is_strong: bool,
    is_weak: bool,
}

impl Strength {
    fn note(&mut self, finding: &Finding) {
        self.is_final |= finding.is_final;
        self.is_strong |= !finding.is_weak;
        self.is_weak |= finding.is_weak;
    }

    fn and(self, other: Strength) -> Strength {
        Strength {
            is_final: self.is_final || other.is_final,
            is_strong: self.is_strong || other.is_strong,
            is_weak: self.is_weak || other.is_weak,
        }
    }
}

fn word(status: &str) -> String {
    if status.is_empty() { "Unknown".to_owned() } else { status.to_owned() }
}

fn unexplained(app: &App<'_>) -> Unexplained {
    let status = &app.application().status;
    let mut says: Vec<String> =
        app.errors().map(|(kind, message)| format!("{kind}: {}", crate::words::quote(message))).collect();
    says.extend(
        app.failures()
            .into_iter()
            .map(|(key, message)| format!("{} {}: {}", key.kind, key.name, crate::words::quote(message))),
    );
    if says.is_empty() {
        says.extend(Some(status.health.message.to_string()).filter(|text| !text.is_empty()));
    }
    let state = match app.delivery.uncreated {
        true => "not created".to_owned(),
        false => format!("{} {}", word(status.sync.status.as_str()), word(status.health.status.as_str())),
    };
    Unexplained { application: app.name.clone(), state, says }
}

/// Two findings of one name in different namespaces have to be told apart.
fn tell_apart(roots: &mut [Root]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for root in roots.iter() {
        *seen.entry(root.id.clone()).or_default() += 1;
    }
    for root in roots.iter_mut().filter(|root| seen.get(&root.id).is_some_and(|count| *count > 1)) {
        if let Some(key) = root.finding.subject.key() {
            root.id = format!("{}/{}", root.id, key.namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snapshot;

    /// Two applications, each with a Deployment that names a ConfigMap which is nowhere.
    fn two() -> Examination {
        let app = |name: &str| {
            format!(
                "@app {name} Synced Degraded\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: \
                 {name}}}\nspec: {{template: {{spec: {{containers: [{{name: main, image: a, envFrom: [{{configMapRef: {{name: \
                 settings}}}}]}}]}}}}}}\n"
            )
        };
        examine(&snapshot(&format!("{}{}", app("web"), app("api"))))
    }

    fn told(examination: &Examination) -> String {
        let root = |root: &Root| {
            let also: Vec<&str> = root.also.iter().map(|also| also.id.as_str()).collect();
            format!("{} {} also {}: {}\n", root.severity, root.id, also.join(" "), root.applications.len())
        };
        examination.roots.iter().map(root).collect()
    }

    #[test]
    fn roots_with_one_slip_are_told_as_one_and_are_worse_than_each() {
        let mut examination = two();
        assert_eq!(
            told(&examination),
            "P1 LYN0301/api/ConfigMap/settings also : 1\nP1 LYN0301/web/ConfigMap/settings also : 1\n"
        );
        let slip = Some("base/deployment.yaml".to_owned());
        examination.fold(&[slip.clone(), slip]);
        assert_eq!(
            told(&examination),
            "P0 LYN0301/api/ConfigMap/settings also LYN0301/web/ConfigMap/settings: 2\n"
        );
        assert_eq!(examination.findings().count(), 2);
    }

    #[test]
    fn roots_whose_slips_differ_or_are_not_known_stay_apart() {
        let mut examination = two();
        let before = told(&examination);
        examination.fold(&[Some("a.yaml".to_owned()), None]);
        assert_eq!(told(&examination), before);
        examination.fold(&[]);
        assert_eq!(told(&examination), before);
    }
}
