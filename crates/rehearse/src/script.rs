//! What is to be played.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_files::FilePath;
use lynceus_object::Object;
use lynceus_sim::Stage;
use lynceus_sim::operators::Operator;
use lynceus_sim::stage::Snapshot;
use lynceus_source::Settings;

use crate::limits::Limits;

/// What is to be played.
#[derive(Clone)]
pub struct Script {
    /// The directory: a repository, a folder of one, or just files. Applications are looked for in it; their sources may be anywhere
    /// in its repository.
    pub directory: PathBuf,
    /// The revision that is there before; nothing is if none is named.
    pub from: Option<String>,
    /// The revision that is played; the files as they stand if none is named.
    pub to: Option<String>,
    /// Files that are replaced in what is played.
    pub overlay: Overlay,
    /// The files or names of the Applications to begin with; those that nobody else creates if none is named.
    pub applications: Vec<String>,
    /// Applications and ApplicationSets that are applied in place of those that the repository holds, each with what it is known by.
    pub applied: Vec<(Object, String)>,
    /// Addresses under which Applications know this repository, beside those that it was got from.
    pub urls: Vec<String>,
    /// Whether the directory is a repository of its own, whatever is around it.
    pub alone: bool,
    /// Branches that the files stand for, beside the one that is checked out and the default one.
    pub branches: Vec<String>,
    /// What the cluster is like, and what it begins as.
    pub stage: Stage,
    /// Operators beside those that are shipped.
    pub operators: Vec<Arc<Operator>>,
    /// Whether what has to be assumed is a failure.
    pub strict: bool,
    /// Whether nobody asks for syncs that do not start by themselves.
    pub unattended: bool,
    /// How long it may go on.
    pub limits: Limits,
    /// How other repositories are read.
    pub sources: Settings,
    /// Where what was fetched is kept; a folder that goes away with the rehearsal if none is named.
    pub cache: Option<PathBuf>,
    /// The time at which it begins.
    pub begin: Timestamp,
}

/// Files that are replaced: their new content, or none for those that are removed.
pub type Overlay = BTreeMap<FilePath, Option<Vec<u8>>>;

impl Script {
    /// The files of a directory as they stand, on a cluster with nothing in it.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Script {
            directory: directory.into(),
            from: None,
            to: None,
            overlay: Overlay::new(),
            applications: Vec::new(),
            applied: Vec::new(),
            urls: Vec::new(),
            alone: false,
            branches: Vec::new(),
            stage: Stage::default(),
            operators: Vec::new(),
            strict: false,
            unattended: false,
            limits: Limits::default(),
            sources: Settings::default(),
            cache: None,
            // Always the same, so that it always ends the same way: 2026-01-01.
            begin: Timestamp::from_second(1_767_225_600).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }

    /// The same on a cluster that begins as a real one was written down to be.
    #[must_use]
    pub fn beginning_as(self, snapshot: Snapshot, now: Timestamp) -> Self {
        let stage = Stage { snapshot: Some(snapshot.into()), ..self.stage.clone() };
        self.on(stage, now)
    }

    /// The same on a cluster that is like this. One that begins as a real one was begins now: its objects have times, and none of
    /// them may lie ahead.
    #[must_use]
    pub fn on(self, stage: Stage, now: Timestamp) -> Self {
        let begin = if stage.snapshot.is_some() { now } else { self.begin };
        Script { stage, begin, ..self }
    }
}
