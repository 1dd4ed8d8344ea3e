//! What the doctor looks at.

use std::path::PathBuf;

use jiff::Timestamp;
use lynceus_doctor::{Examination, Partial, Recorded, Snapshot, examine};
use lynceus_engine::Engine;
use lynceus_rehearse::{Rehearsal, Script, rehearse};

use crate::app::{Access, Context};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::{elsewhere, sim};

// Where to look.
#[derive(clap::Args, Clone)]
pub(crate) struct Where {
    #[command(flatten)]
    pub(crate) access: Access,
    /// Look at a repository instead of a cluster: it is rehearsed from nothing, or from a snapshot, and what came of it is looked at.
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Look at what `lynceus snapshot` wrote down; with --repo, begin the rehearsal as that cluster was.
    #[arg(long, value_name = "FILE")]
    pub(crate) snapshot: Option<PathBuf>,
    /// What the cluster of a rehearsal is like (docs/sim.md).
    #[arg(long, value_name = "FILE", requires = "repo")]
    pub(crate) stage: Option<PathBuf>,
    /// An address under which Applications know the repository.
    #[arg(long, value_name = "URL", requires = "repo")]
    pub(crate) url: Vec<String>,
    /// The Applications to begin with: files or names.
    #[arg(long, value_name = "APP", requires = "repo")]
    pub(crate) app: Vec<String>,
}

/// What is looked at.
pub(crate) enum Patient {
    /// A cluster, whoever its controller is.
    Cluster(Box<Context>),
    /// A repository, played in the embedded cluster.
    Repository(Box<Rehearsal>),
    /// What was written down of a cluster.
    Record(Box<Snapshot>),
}

impl Patient {
    /// Connects to a cluster, plays a repository or reads a file.
    pub(crate) async fn meet(place: &Where) -> Outcome<Self> {
        match (&place.repo, &place.snapshot) {
            (Some(_), _) => {
                let played = rehearse(&script(place)?).await.doing("the repository cannot be rehearsed")?;
                Ok(Patient::Repository(Box::new(played)))
            }
            (None, Some(file)) => Ok(Patient::Record(Box::new(record(file)?))),
            (None, None) => Ok(Patient::Cluster(Box::new(Context::here(&place.access).await?))),
        }
    }

    /// Everything that there is to see of it now.
    pub(crate) async fn snapshot(&self) -> Outcome<Snapshot> {
        match self {
            Patient::Record(snapshot) => Ok((**snapshot).clone()),
            Patient::Cluster(context) => Ok(context.engine()?.snapshot().await),
            Patient::Repository(played) => Ok(played.snapshot().await),
        }
    }

    /// What is wrong. With an engine, causes that one change would mend are told as one.
    pub(crate) async fn examine(&self) -> Outcome<Examination> {
        let snapshot = self.snapshot().await?;
        Ok(match self.engine() {
            Some(engine) => engine.diagnose(&snapshot).await,
            None => examine(&snapshot),
        })
    }

    /// The engine that can say where a field comes from, if there is one.
    pub(crate) fn engine(&self) -> Option<&Engine> {
        match self {
            Patient::Record(_) => None,
            Patient::Cluster(context) => context.engine().ok(),
            Patient::Repository(played) => Some(played.world().engine()),
        }
    }
}

/// What is played of a repository.
pub(crate) fn script(place: &Where) -> Outcome<Script> {
    let Some(directory) = &place.repo else {
        return Err(Failure::new(Code::Trouble, "no repository is named").hint("name it with --repo DIR"));
    };
    let files: Vec<PathBuf> = place.stage.iter().chain(&place.snapshot).cloned().collect();
    let script = Script {
        urls: place.url.clone(),
        applications: place.app.clone(),
        cache: Some(elsewhere::cache()),
        ..Script::new(directory)
    };
    Ok(script.on(sim::read_stages(&files)?, Timestamp::now()))
}

/// Reads what was written down of a cluster, as far as it can be read.
fn record(file: &std::path::Path) -> Outcome<Snapshot> {
    let shown = file.display().to_string();
    let bytes = std::fs::read(file).doing(format!("cannot read the snapshot {shown}")).map_err(trouble)?;
    let read = lynceus_sim::stage::Snapshot::salvage(&shown, &bytes);
    let (recorded, problems) = read.doing("cannot use the snapshot").map_err(trouble)?;
    let mut partial = Partial::default();
    // Of what is lacking then nobody knows what it is.
    if !problems.is_empty() {
        partial = Partial::any();
    }
    for what in &recorded.left_out {
        partial.insert_resource(what.split_once(':').map_or(what.as_str(), |(resource, _)| resource));
    }
    let left_out = recorded.left_out.iter().map(ToString::to_string);
    let unseen = problems.iter().map(ToString::to_string).chain(left_out).collect();
    let version = recorded.version.str_at(&["gitVersion"]).unwrap_or_default().into();
    let recorded = Recorded { objects: recorded.objects, version, unseen, partial };
    Ok(Snapshot::of_objects(recorded, Timestamp::now()))
}

/// What keeps the doctor from looking ends with the same code.
fn trouble(failure: Failure) -> Failure {
    Failure { code: Code::Trouble, ..failure }
}
