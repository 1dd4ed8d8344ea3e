//! Whether a fix may be called verified: it is applied to a copy, played, and the doctor looks at what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use lynceus_doctor::{AppName, Examination, Node, Proof, Root, examine};
use lynceus_engine::FileChange;

use crate::error::RehearseError;
use crate::play::Rehearsal;
use crate::report::Ending;
use crate::script::Overlay;
use crate::verify::{Comparison, compare};

/// A repository as it is, played, on which fixes are tried one after the other.
pub struct Trial<'a> {
    before: &'a Rehearsal,
    /// The names of what the doctor finds in it.
    found: BTreeSet<String>,
    /// When there is no more time, on the machine's clock.
    until: Instant,
}

/// What is to be mended.
pub struct Complaint<'a> {
    /// The finding's name.
    pub id: &'a str,
    /// The applications that it explains.
    pub applications: BTreeSet<&'a AppName>,
    /// Applications that another finding is about, with its name. Two that want one object take turns, for example: what such a
    /// one comes to is not the fix's doing.
    pub elsewhere: BTreeMap<&'a AppName, &'a str>,
}

/// What came of a fix.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Every application, before and after.
    pub applications: Vec<Comparison>,
    /// Those that are not fine with it and were without, for another finding, with its name.
    pub excused: Vec<(Comparison, String)>,
    /// What it proves.
    pub proof: Proof,
}

impl<'a> Complaint<'a> {
    /// What is to be mended, out of everything that was found; none if there is no such finding.
    pub fn of(examination: &'a Examination, id: &'a str) -> Option<Self> {
        let root = examination.roots.iter().find(|root| is_of(root, id));
        let found = examination.findings().find(|(name, _)| name == id);
        let finding = found.map(|(_, finding)| finding)?;
        let mut elsewhere = BTreeMap::new();
        for other in examination.roots.iter().filter(|root| !is_of(root, id)) {
            let affected = other.finding.affects.iter().filter_map(|node| match node {
                Node::Application(name) => Some(name),
                _ => None,
            });
            for name in other.applications.iter().chain(affected).chain(&other.finding.application) {
                elsewhere.entry(name).or_insert(other.id.as_str());
            }
        }
        let explained = root.into_iter().flat_map(|root| &root.applications);
        Some(Complaint { id, applications: explained.chain(&finding.application).collect(), elsewhere })
    }
}

/// Whether a root has a finding in it.
fn is_of(root: &Root, id: &str) -> bool {
    root.findings().any(|(name, _)| name == id)
}

async fn found(played: &Rehearsal) -> BTreeSet<String> {
    let examination = examine(&played.snapshot().await);
    examination.findings().map(|(id, _)| id).collect()
}

impl<'a> Trial<'a> {
    /// Begins with what a rehearsal has come to. All attempts together end in time.
    pub async fn on(before: &'a Rehearsal, until: Instant) -> Self {
        Trial { before, found: found(before).await, until }
    }

    /// Tries a fix: files that are changed.
    pub async fn attempt(
        &self,
        complaint: &Complaint<'_>,
        changes: &[FileChange],
    ) -> Result<Attempt, RehearseError> {
        let nothing = |reason: &str| Attempt {
            applications: Vec::new(),
            excused: Vec::new(),
            proof: Proof::proposed(reason),
        };
        if !self.found.contains(complaint.id) {
            return Ok(nothing("what is wrong does not come up in a rehearsal"));
        }
        let wall = self.until.saturating_duration_since(Instant::now());
        if wall.is_zero() {
            return Ok(nothing("there was no time left to rehearse it"));
        }
        let content = |change: &FileChange| change.after.clone().map(String::into_bytes);
        let overlay: Overlay = changes.iter().map(|one| (one.path.clone(), content(one))).collect();
        let after = self.before.replay(&overlay, wall).await?;
        if after.report.ending == Ending::OutOfPatience {
            return Ok(nothing("its rehearsal did not end in time"));
        }
        let applications = compare(&self.before.report, &after.report);
        let is_gone = !found(&after).await.contains(complaint.id);
        Ok(complaint.judge(applications, is_gone))
    }
}

impl Complaint<'_> {
    /// A fix is verified if what it is for is gone or an application is healed, and none is harmed.
    fn judge(&self, applications: Vec<Comparison>, is_gone: bool) -> Attempt {
        let name = |one: &Comparison| AppName::new(one.namespace.as_str(), one.name.as_str());
        let because = |one: &Comparison| self.elsewhere.get(&name(one)).map(|id| (*id).to_owned());
        let harmed = applications.iter().filter(|one| one.is_harmed());
        let (excused, harmed): (Vec<_>, Vec<_>) =
            harmed.map(|one| (one, because(one))).partition(|(_, because)| because.is_some());
        let is_healed =
            applications.iter().any(|one| one.is_healed() && self.applications.contains(&name(one)));
        let proof = match harmed.first() {
            Some((one, _)) => Proof::Refuted {
                reason: format!("with the fix {} gets stuck, which it does not without", one.name),
            },
            None if is_gone || is_healed => Proof::Verified { table: self.table(&applications) },
            None => Proof::Refuted { reason: "with the fix it is as it was".to_owned() },
        };
        let excused =
            excused.into_iter().filter_map(|(one, because)| Some((one.clone(), because?))).collect();
        Attempt { applications, excused, proof }
    }

    /// The applications that it is about, and those that are healed and that nothing else was found of: name, before, after.
    fn table(&self, applications: &[Comparison]) -> Vec<(String, String, String)> {
        let is_meant = |one: &&Comparison| {
            let name = AppName::new(one.namespace.as_str(), one.name.as_str());
            let is_other = self.elsewhere.contains_key(&name);
            self.applications.contains(&name) || (one.is_healed() && !is_other)
        };
        let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
        let row = |one: &Comparison| (one.name.clone(), word(&one.before), word(&one.after));
        applications.iter().filter(is_meant).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    fn compared(name: &str, was: Verdict, is: Verdict) -> Comparison {
        let state = |verdict| match verdict {
            Verdict::Finishes => Some("Synced Healthy".to_owned()),
            _ => Some("Synced Degraded".to_owned()),
        };
        Comparison {
            namespace: "argocd".to_owned(),
            name: name.to_owned(),
            before: state(was),
            after: state(is),
            was: Some(was),
            is: Some(is),
        }
    }

    fn judged(applications: Vec<Comparison>, is_gone: bool, known: &[(&AppName, &'static str)]) -> Attempt {
        let vault = AppName::new("argocd", "vault");
        let complaint = Complaint {
            id: "LYN0401/vault/Deployment/vault",
            applications: BTreeSet::from([&vault]),
            elsewhere: known.iter().copied().collect(),
        };
        complaint.judge(applications, is_gone)
    }

    #[test]
    fn a_fix_that_harms_is_refuted_unless_another_finding_explains_it() {
        let turned = || {
            vec![
                compared("search", Verdict::Finishes, Verdict::Stuck),
                compared("vault", Verdict::Stuck, Verdict::Finishes),
            ]
        };
        let reason = "with the fix search gets stuck, which it does not without".to_owned();
        assert_eq!(judged(turned(), true, &[]).proof, Proof::Refuted { reason });
        let attempt = judged(turned(), true, &[(&AppName::new("argocd", "search"), "LYN0101/x")]);
        let row = ["vault", "Synced Degraded", "Synced Healthy"].map(str::to_owned).into();
        assert_eq!(attempt.proof, Proof::Verified { table: vec![row] });
        assert_eq!(attempt.excused, [(turned()[0].clone(), "LYN0101/x".to_owned())]);
    }

    #[test]
    fn a_fix_is_verified_if_its_trouble_is_gone_though_another_one_is_left() {
        let same = || vec![compared("vault", Verdict::Stuck, Verdict::Stuck)];
        assert!(matches!(judged(same(), true, &[]).proof, Proof::Verified { .. }));
        let reason = "with the fix it is as it was".to_owned();
        assert_eq!(judged(same(), false, &[]).proof, Proof::Refuted { reason });
    }
}
