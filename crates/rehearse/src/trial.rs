//! Whether a fix may be called verified: it is applied to a copy, played, and the doctor looks at what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use lynceus_doctor::{AppName, Edit, Examination, Finding, Node, Place, Proof, Root, Step, examine};
use lynceus_engine::FileChange;
use lynceus_object::ObjectKey;

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
    /// What its fixes say that they take out of an application's files.
    pub removed: Vec<(&'a AppName, &'a ObjectKey)>,
}

/// What came of a fix.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Every application, before and after.
    pub applications: Vec<Comparison>,
    /// Those that would be stuck and no longer are, as far as that is its doing: what is about an application beside it may be why.
    pub healed: Vec<Comparison>,
    /// Those that it harms.
    pub harmed: Vec<Comparison>,
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
        let applications = explained.chain(&finding.application).collect();
        Some(Complaint { id, applications, elsewhere, removed: removed(finding) })
    }
}

/// What the fixes of a finding say that they remove.
fn removed(finding: &Finding) -> Vec<(&AppName, &ObjectKey)> {
    let steps = finding.fixes.iter().flat_map(|fix| &fix.steps);
    let removed = steps.filter_map(|step| match step {
        Step::Git(Edit { application, place: Place::Remove { object } }) => Some((application, object)),
        _ => None,
    });
    removed.collect()
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
            healed: Vec::new(),
            harmed: Vec::new(),
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
    fn judge(&self, mut applications: Vec<Comparison>, is_gone: bool) -> Attempt {
        applications.iter_mut().for_each(|one| self.spare(one));
        let because = |one: &Comparison| self.elsewhere.get(&name_of(one)).map(|id| (*id).to_owned());
        let mut excused = Vec::new();
        let mut harmed = Vec::new();
        for one in applications.iter().filter(|one| one.is_harmed()) {
            match because(one).filter(|_| one.lost.is_empty()) {
                Some(id) => excused.push((one.clone(), id)),
                None => harmed.push(one.clone()),
            }
        }
        let is_healed =
            applications.iter().any(|one| one.is_healed() && self.applications.contains(&name_of(one)));
        let proof = match harmed.first() {
            Some(one) => Proof::Refuted { reason: harm(one) },
            None if is_gone || is_healed => Proof::Verified { table: self.table(&applications) },
            None => Proof::Refuted { reason: "with the fix it is as it was".to_owned() },
        };
        let healed = applications.iter().filter(|one| self.heals(one)).cloned().collect();
        Attempt { applications, healed, harmed, excused, proof }
    }

    /// What a fix says that it takes out of an application's files is no loss of that one. What another application wants of it is.
    fn spare(&self, one: &mut Comparison) {
        let name = name_of(one);
        let is_same = |key: &ObjectKey, object: &ObjectKey| {
            key.group_kind() == object.group_kind()
                && key.name == object.name
                && (object.namespace.is_empty() || key.namespace == object.namespace)
        };
        let own =
            |key: &ObjectKey| self.removed.iter().any(|(app, object)| **app == name && is_same(key, object));
        one.lost.retain(|key| !own(key));
        let is_itself = |object: &ObjectKey| object.kind == "Application" && object.name == one.name;
        if self.removed.iter().any(|(_, object)| is_itself(object)) {
            one.lost.clear();
        }
    }

    /// Whether it is the fix that heals an application: it is for it, or nothing else is known of it.
    fn heals(&self, one: &Comparison) -> bool {
        let name = name_of(one);
        one.is_healed() && (self.applications.contains(&name) || !self.elsewhere.contains_key(&name))
    }

    /// The applications that it is about, and those that are healed and that nothing else was found of: name, before, after.
    fn table(&self, applications: &[Comparison]) -> Vec<(String, String, String)> {
        let is_meant = |one: &&Comparison| self.applications.contains(&name_of(one)) || self.heals(one);
        let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "not there".to_owned());
        let row = |one: &Comparison| (one.name.clone(), word(&one.before), word(&one.after));
        applications.iter().filter(is_meant).map(row).collect()
    }
}

fn name_of(one: &Comparison) -> AppName {
    AppName::new(one.namespace.as_str(), one.name.as_str())
}

/// What a fix does to an application that it harms.
fn harm(one: &Comparison) -> String {
    match one.lost.first() {
        _ if one.gets_stuck() => format!("with the fix {} gets stuck, which it does not without", one.name),
        Some(key) => {
            format!(
                "with the fix no application wants {} {} any more, which {} does without",
                key.kind, key.name, one.name
            )
        }
        None => format!("with the fix {} is harmed", one.name),
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
            lost: BTreeSet::new(),
        }
    }

    fn judged(applications: Vec<Comparison>, is_gone: bool, known: &[(&AppName, &'static str)]) -> Attempt {
        let vault = AppName::new("argocd", "vault");
        let complaint = Complaint {
            id: "LYN0401/vault/Deployment/vault",
            applications: BTreeSet::from([&vault]),
            elsewhere: known.iter().copied().collect(),
            removed: Vec::new(),
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

    #[test]
    fn a_fix_that_deletes_what_others_want_is_refuted_and_one_that_says_so_of_its_own_is_not() {
        let key = ObjectKey::new("apps", "Deployment", "shop", "redis");
        let losing = |name: &str| Comparison {
            lost: BTreeSet::from([key.clone()]),
            ..compared(name, Verdict::Finishes, Verdict::Finishes)
        };
        let (all, redis) = (AppName::new("argocd", "all"), AppName::new("argocd", "redis"));
        let complaint = |removed| Complaint {
            id: "LYN0102/all/Application/all",
            applications: BTreeSet::from([&all]),
            elsewhere: BTreeMap::from([(&redis, "LYN0101/x")]),
            removed,
        };
        let attempt = complaint(vec![(&all, &key)]).judge(vec![losing("all"), losing("redis")], true);
        let reason = "with the fix no application wants Deployment redis any more, which redis does without"
            .to_owned();
        assert_eq!(attempt.proof, Proof::Refuted { reason });
        assert_eq!(attempt.harmed, [losing("redis")]);
        let attempt = complaint(vec![(&all, &key)]).judge(vec![losing("all")], true);
        assert!(matches!(attempt.proof, Proof::Verified { .. }), "{attempt:?}");
        let attempt = complaint(Vec::new()).judge(vec![losing("all")], true);
        assert!(matches!(attempt.proof, Proof::Refuted { .. }), "{attempt:?}");
    }

    #[test]
    fn what_something_else_is_known_of_is_not_healed_by_the_fix() {
        let turned = vec![
            compared("search", Verdict::Stuck, Verdict::Finishes),
            compared("vault", Verdict::Stuck, Verdict::Finishes),
        ];
        let attempt = judged(turned.clone(), true, &[(&AppName::new("argocd", "search"), "LYN0101/x")]);
        assert_eq!(attempt.healed, turned[1..]);
        assert_eq!(judged(turned.clone(), true, &[]).healed, turned);
    }
}
