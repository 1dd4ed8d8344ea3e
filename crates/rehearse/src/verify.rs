//! Does a fix heal: the same script once more, with some files replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lynceus_object::{GroupKind, ObjectKey};
use serde::Serialize;

use crate::error::RehearseError;
use crate::limits::Limits;
use crate::play::{Rehearsal, rehearse};
use crate::report::{ApplicationReport, Report, Verdict};
use crate::script::{Overlay, Script};

/// What a fix does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Every application, before and after.
    pub applications: Vec<Comparison>,
    /// What came of it with the files replaced.
    pub after: Report,
}

/// One application, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `Synced Healthy`, or what else it came to before; none if it was not there.
    pub before: Option<String>,
    /// And after.
    pub after: Option<String>,
    /// What it came to before.
    pub was: Option<Verdict>,
    /// And after.
    pub is: Option<Verdict>,
    /// Objects that it wanted before and that no application wants afterwards.
    #[serde(skip)]
    pub lost: BTreeSet<ObjectKey>,
}

impl Comparison {
    /// Whether it would be stuck and no longer is.
    pub fn is_healed(&self) -> bool {
        self.was == Some(Verdict::Stuck) && !matches!(self.is, Some(Verdict::Stuck | Verdict::NotRehearsed))
    }

    /// Whether it would finish and no longer does, or lose what it wants: without that it is Synced and Healthy, too.
    pub fn is_harmed(&self) -> bool {
        self.gets_stuck() || !self.lost.is_empty()
    }

    /// Whether it would finish and no longer does.
    pub fn gets_stuck(&self) -> bool {
        self.was != Some(Verdict::Stuck) && self.is == Some(Verdict::Stuck)
    }
}

impl Verification {
    /// Those that would be stuck and no longer are.
    pub fn healed(&self) -> impl Iterator<Item = &Comparison> {
        self.applications.iter().filter(|one| one.is_healed())
    }

    /// Those that would finish and no longer do.
    pub fn harmed(&self) -> impl Iterator<Item = &Comparison> {
        self.applications.iter().filter(|one| one.is_harmed())
    }
}

impl Rehearsal {
    /// Plays the same script once more with some files replaced, and compares.
    pub async fn verify(&self, overlay: &Overlay) -> Result<Verification, RehearseError> {
        let after = self.replay(overlay, self.script.limits.wall).await?.report;
        Ok(Verification { applications: compare(&self.report, &after), after })
    }

    /// Plays the same script once more with some files replaced, for no longer than this on the machine's clock.
    pub(crate) async fn replay(&self, overlay: &Overlay, wall: Duration) -> Result<Rehearsal, RehearseError> {
        let mut files = self.script.overlay.clone();
        files.extend(overlay.iter().map(|(path, content)| (path.clone(), content.clone())));
        let limits = Limits { wall, ..self.script.limits };
        Box::pin(rehearse(&Script { overlay: files, limits, ..self.script.clone() })).await
    }
}

pub(crate) fn compare(before: &Report, after: &Report) -> Vec<Comparison> {
    type Pair<'a> = (Option<&'a ApplicationReport>, Option<&'a ApplicationReport>);
    let mut pairs: BTreeMap<(&str, &str), Pair<'_>> = BTreeMap::new();
    for one in &before.applications {
        pairs.entry((&one.namespace, &one.name)).or_default().0 = Some(one);
    }
    for one in &after.applications {
        pairs.entry((&one.namespace, &one.name)).or_default().1 = Some(one);
    }
    let words = |one: &ApplicationReport| format!("{} {}", one.sync, one.health).trim().to_owned();
    let left: BTreeSet<&ObjectKey> = after.applications.iter().flat_map(|one| &one.wanted).collect();
    let held: BTreeSet<&ObjectKey> = before.applications.iter().flat_map(|one| &one.wanted).collect();
    let of = |((namespace, name), (before, after)): ((&str, &str), Pair<'_>)| Comparison {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        before: before.map(words),
        after: after.map(words),
        was: before.map(|one| one.verdict),
        is: after.map(|one| one.verdict),
        lost: before.map(|before| lost(before, after, &held, &left)).unwrap_or_default(),
    };
    pairs.into_iter().map(of).collect()
}

/// What an application wanted and nobody wants any more. Of a kind that it has as many of as before, some have other names or namespaces
/// now, as what is called by its content has after each change.
fn lost(
    before: &ApplicationReport,
    after: Option<&ApplicationReport>,
    held: &BTreeSet<&ObjectKey>,
    left: &BTreeSet<&ObjectKey>,
) -> BTreeSet<ObjectKey> {
    let mut gone: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
    for key in before.wanted.iter().filter(|key| !left.contains(key)) {
        gone.entry(key.group_kind()).or_default().insert(key.clone());
    }
    let fresh = |kind: &GroupKind| {
        let wanted = after.into_iter().flat_map(|one| &one.wanted);
        wanted.filter(|key| key.group_kind() == *kind && !held.contains(key)).count()
    };
    gone.into_iter().filter(|(kind, keys)| keys.len() > fresh(kind)).flat_map(|(_, keys)| keys).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanting(names: &[&str]) -> ApplicationReport {
        let key = |name: &&str| ObjectKey::new("", "ConfigMap", "shop", *name);
        ApplicationReport {
            wanted: names.iter().map(key).collect(),
            ..ApplicationReport::nothing("argocd", "shop", Verdict::Finishes)
        }
    }

    fn lost_of(before: &[&str], after: &[&str], others: &[&str]) -> Vec<String> {
        let (before, after, others) = (wanting(before), wanting(after), wanting(others));
        let held = before.wanted.iter().collect();
        let left = after.wanted.iter().chain(&others.wanted).collect();
        let lost = lost(&before, Some(&after), &held, &left);
        lost.iter().map(|key| key.name.to_string()).collect()
    }

    #[test]
    fn what_nobody_wants_any_more_is_lost() {
        assert_eq!(lost_of(&["a", "b"], &["a"], &[]), ["b"]);
        assert!(lost_of(&["a", "b"], &["a"], &["b"]).is_empty(), "another one has it");
        assert!(lost_of(&["a-1"], &["a-2"], &[]).is_empty(), "it has another name");
        assert_eq!(lost_of(&["a-1", "b-1"], &["a-2"], &[]), ["a-1", "b-1"]);
    }
}
