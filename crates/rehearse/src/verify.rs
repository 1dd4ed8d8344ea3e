//! Does a fix heal: the same script once more, with some files replaced.

use std::collections::BTreeMap;
use std::time::Duration;

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
}

impl Comparison {
    /// Whether it would be stuck and no longer is.
    pub fn is_healed(&self) -> bool {
        self.was == Some(Verdict::Stuck) && !matches!(self.is, Some(Verdict::Stuck | Verdict::NotRehearsed))
    }

    /// Whether it would finish and no longer does.
    pub fn is_harmed(&self) -> bool {
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
    let of = |((namespace, name), (before, after)): ((&str, &str), Pair<'_>)| Comparison {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        before: before.map(words),
        after: after.map(words),
        was: before.map(|one| one.verdict),
        is: after.map(|one| one.verdict),
    };
    pairs.into_iter().map(of).collect()
}
