//! What came of a rehearsal, as plain data.

mod application;
mod mass;
mod set;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lynceus_api::Reason;
use lynceus_engine::AppKey;
use lynceus_files::{Diagnostic, FilePath};
use lynceus_object::ObjectKey;
use serde::Serialize;

use crate::assumption::Assumption;
use crate::play::Course;
use crate::survey::{Outcome, Survey, Surveyed};
use crate::world::World;

pub(crate) use mass::Holdings;
pub(crate) use watch::Watch;

/// What came of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What it comes to.
    pub verdict: Verdict,
    /// Why it ended.
    pub ending: Ending,
    /// What was there before; nothing if it began with nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What was played.
    pub to: String,
    /// How long it took until nothing new happened, in seconds on the rehearsal's clock.
    pub seconds: i64,
    /// The applications, in order.
    pub applications: Vec<ApplicationReport>,
    /// The ApplicationSets, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SetReport>,
    /// What would be deleted in mass.
    pub mass_deletions: Vec<MassDeletion>,
    /// What was taken to be there.
    pub assumed: Vec<Assumption>,
    /// Whether each of these counts as a failure.
    pub strict: bool,
    /// What could not be rehearsed, and why.
    pub not_rehearsed: Vec<Unrehearsed>,
    /// What is wrong with files.
    pub notes: Vec<Note>,
}

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It would finish: Synced and Healthy.
    Finishes,
    /// It was there, and is gone.
    Gone,
    /// It would get stuck.
    Stuck,
    /// It could not be rehearsed.
    NotRehearsed,
}

/// Why a rehearsal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Ending {
    /// Everything was Synced and Healthy, and at rest.
    Finished,
    /// Nothing new happened any more.
    Stuck,
    /// As much time as may be had been played.
    OutOfTime,
    /// It took longer on the machine's clock than it may.
    OutOfPatience,
}

/// Where something stands in the repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if it is about the whole file.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}", self.file),
            line => write!(out, "{}:{line}", self.file),
        }
    }
}

/// One application.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationReport {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Where it is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it comes to.
    pub verdict: Verdict,
    /// `Synced`, `OutOfSync` or `Unknown`, at the end.
    pub sync: String,
    /// `Healthy`, `Progressing`, `Degraded`, … at the end.
    pub health: String,
    /// The phase of its last sync; empty if it had none.
    pub operation: String,
    /// Whether its sync had to be asked for.
    pub by_hand: bool,
    /// When it was done, in seconds from the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_after: Option<i64>,
    /// For how long it had been stuck at the end, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck_for: Option<i64>,
    /// Why it is not Synced and Healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// What its syncs did, in order.
    pub steps: Vec<Step>,
    /// The objects that it wants at the end, without hooks.
    #[serde(skip)]
    pub wanted: BTreeSet<ObjectKey>,
}

/// One ApplicationSet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetReport {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Where it is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it comes to.
    pub verdict: Verdict,
    /// For how long it had been stuck at the end, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck_for: Option<i64>,
    /// Why its Applications are not as it generates them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// What it did to Applications, in order.
    pub steps: Vec<Step>,
}

/// Something that a sync did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// When, in seconds from the beginning.
    pub after: i64,
    /// What was done.
    pub did: StepKind,
    /// The API group; empty for the core group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty for an object without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The cluster, where it is not the installation's own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cluster: String,
    /// The fields that were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// What the server said, if it refused.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// How often in a row.
    pub times: usize,
}

/// What was done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    /// It was made.
    Created,
    /// It was changed.
    Changed,
    /// It was deleted.
    Deleted,
    /// The server did not let it be.
    Refused,
}

/// Many objects that would be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MassDeletion {
    /// The application whose objects they are; none if they are those of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// How many.
    pub deleted: usize,
    /// Of how many.
    pub of: usize,
    /// Some of them.
    pub objects: Vec<String>,
}

/// How it begins what is said of something that the API server does not take.
pub(crate) const REFUSES: &str = "the API server refuses it: ";

/// Something that could not be rehearsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unrehearsed {
    /// What it is.
    pub what: String,
    /// The application, if it is one: those of two namespaces may be called alike.
    #[serde(skip)]
    pub application: Option<AppKey>,
    /// The object, if the API server refuses it for what stands in it.
    #[serde(skip)]
    pub at_fault: Option<ObjectKey>,
    /// Why.
    pub why: String,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl Unrehearsed {
    /// Whether it is this application.
    pub fn is_application(&self, key: &AppKey) -> bool {
        self.application.as_ref() == Some(key)
    }
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Where.
    pub place: Place,
    /// What.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Note {
    /// What a reader said of a file.
    pub(crate) fn of(found: &Diagnostic, file: &FilePath) -> Self {
        let place = match &found.span {
            Some(span) => Place { file: span.file.to_string(), line: span.line },
            None => Place { file: file.to_string(), line: 0 },
        };
        Note { place, message: found.message.clone(), hint: found.hint.clone() }
    }

    /// Something about a whole file.
    pub(crate) fn about(file: &FilePath, message: String) -> Self {
        Note { place: Place { file: file.to_string(), line: 0 }, message, hint: None }
    }
}

/// What is needed to tell what came of it.
pub(crate) struct Telling<'a> {
    pub(crate) strict: bool,
    pub(crate) from: Option<String>,
    pub(crate) to: String,
    pub(crate) surveys: Vec<&'a Survey>,
    pub(crate) assumed: &'a [Assumption],
    /// What the API server did not let be.
    pub(crate) refused: Vec<Unrehearsed>,
}

impl Telling<'_> {
    pub(crate) fn tell(self, world: &World, watch: &Watch, course: Course) -> Report {
        let Course { mark, ending } = course;
        let not_rehearsed = self.unrehearsed();
        let written = world.written().split_off(mark.written);
        let mut steps = application::steps(&mark, &written);
        let sets = set::all(&self, world, watch, &mark, &mut steps);
        let applications = application::all(&self, world, watch, &mark, steps);
        let mass_deletions = mark.holdings.lost(world);
        let notes: BTreeSet<Note> =
            self.surveys.last().into_iter().flat_map(|survey| survey.notes.clone()).collect();
        let is_stuck = applications.iter().any(|one| one.verdict == Verdict::Stuck)
            || sets.iter().any(|one| one.verdict == Verdict::Stuck);
        let verdict = match () {
            () if ending == Ending::OutOfPatience => Verdict::NotRehearsed,
            () if is_stuck || !notes.is_empty() => Verdict::Stuck,
            () if self.strict && !self.assumed.is_empty() => Verdict::Stuck,
            () if !not_rehearsed.is_empty() || (applications.is_empty() && sets.is_empty()) => {
                Verdict::NotRehearsed
            }
            () => Verdict::Finishes,
        };
        Report {
            verdict,
            ending,
            from: self.from.clone(),
            to: self.to.clone(),
            seconds: watch.last_news().max(mark.at).duration_since(mark.at).as_secs(),
            applications,
            sets,
            mass_deletions,
            assumed: self.assumed.to_vec(),
            strict: self.strict,
            not_rehearsed,
            notes: notes.into_iter().collect(),
        }
    }

    /// Where an application is defined, as it was last.
    pub(crate) fn surveyed(&self, key: &AppKey) -> Option<&Surveyed> {
        self.surveys.iter().rev().find_map(|survey| survey.applications.get(key))
    }

    fn unrehearsed(&self) -> Vec<Unrehearsed> {
        let mut found: BTreeMap<(String, Option<AppKey>), Unrehearsed> = BTreeMap::new();
        let mut add = |one: Unrehearsed| found.insert((one.what.clone(), one.application.clone()), one);
        let Some(survey) = self.surveys.last() else { return Vec::new() };
        for one in survey.unrehearsed.iter().chain(&self.refused) {
            add(one.clone());
        }
        for (key, one) in &survey.applications {
            if let Outcome::Unreachable(why) = &one.outcome {
                add(Unrehearsed {
                    what: format!("Application {}", key.name),
                    application: Some(key.clone()),
                    at_fault: None,
                    why: why.clone(),
                    place: one.place.clone(),
                });
            }
        }
        found.into_values().collect()
    }
}
