//! What the cluster delivers, played in the embedded one: on a thread of its own, one at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use lynceus_api::{Application, ApplicationSource, Kind as _};
use lynceus_doctor::Examination;
use lynceus_engine::{Engine, FileChange, application_kind, words};
use lynceus_object::Object;
use lynceus_rehearse::{
    Attempt, Checkout, Complaint, Rehearsal, Report, Script, Trial, limits, record, rehearse,
};
use lynceus_source::Target;

use crate::refusal::{Code, Refusal};
use crate::server::Server;

/// What a rehearsal is made of: the files of a repository, and the cluster as it is.
pub(in crate::services) struct Ground {
    checkout: Checkout,
    script: Script,
}

impl Ground {
    /// The repository with this address, or the one that most applications come from.
    pub(in crate::services) async fn of(engine: &Arc<Engine>, wanted: &str) -> Result<Self, Refusal> {
        let (source, project) = chosen(engine, wanted)?;
        Ground::at(engine, &source, &project).await
    }

    /// The repository of a source, and nothing brought of it but one object.
    pub(in crate::services) async fn bringing(
        engine: &Arc<Engine>,
        source: &ApplicationSource,
        project: &str,
        object: Object,
    ) -> Result<Self, Refusal> {
        let mut ground = Ground::at(engine, source, project).await?;
        let name = object.name().to_owned();
        ground.script.applied = vec![(object, name)];
        Ok(ground)
    }

    async fn at(engine: &Arc<Engine>, source: &ApplicationSource, project: &str) -> Result<Self, Refusal> {
        let refused =
            |error: &(dyn std::error::Error + 'static)| Refusal::new(Code::FailedPrecondition, words(error));
        let repository = engine.settings().book.find(&source.repo_url, project);
        let sources = engine.renderer().sources();
        let target = Target { revision: &source.target_revision, tag_prefix: &source.tag_prefix };
        let revision = sources.resolve(&repository, target).await.map_err(|error| refused(&error))?;
        let tree = sources.tree(&repository, &revision).await.map_err(|error| refused(&error))?;
        let laid_out = tokio::task::spawn_blocking(move || Checkout::of(&*tree)).await;
        let checkout = laid_out.map_err(|error| refused(&error))?.map_err(|error| refused(&error))?;
        let snapshot = record(engine.home(), &[]).await.map_err(|error| refused(&error))?;
        let script = Script {
            urls: vec![source.repo_url.to_string()],
            branches: vec![source.target_revision.to_string()],
            alone: true,
            unattended: true,
            ..Script::new(checkout.path())
        };
        Ok(Ground { script: script.beginning_as(snapshot, engine.clock().now()), checkout })
    }

    /// Plays it.
    pub(in crate::services) async fn play(self, server: &Server) -> Result<Report, Refusal> {
        apart(server, async move || {
            let played = rehearse(&self.script).await.map_err(|error| words(&error))?;
            drop(self.checkout);
            Ok(played.report)
        })
        .await
    }

    /// Plays it with and without changes of files, and says what they do to what an examination found.
    pub(super) async fn attempt(
        self,
        server: &Server,
        examination: Examination,
        id: String,
        changes: Vec<FileChange>,
    ) -> Result<Attempt, Refusal> {
        apart(server, async move || {
            let until = Instant::now() + limits::WALL;
            let played: Rehearsal = rehearse(&self.script).await.map_err(|error| words(&error))?;
            let complaint =
                Complaint::of(&examination, &id).ok_or_else(|| format!("there is no finding {id}"))?;
            let trial = Trial::on(&played, until).await;
            let attempt = trial.attempt(&complaint, &changes).await.map_err(|error| words(&error))?;
            drop(self.checkout);
            Ok(attempt)
        })
        .await
    }
}

/// Everything that the clock of a rehearsal moves has to be on one thread, or it may run ahead of what it waits for.
async fn apart<T: Send + 'static>(
    server: &Server,
    play: impl AsyncFnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, Refusal> {
    let busy = |_| {
        Refusal::new(
            Code::ResourceExhausted,
            "another rehearsal is being played; try again when it has ended",
        )
    };
    let _turn = server.rehearsing.try_acquire().map_err(busy)?;
    let failed =
        |why: String| Refusal::new(Code::FailedPrecondition, format!("it cannot be rehearsed: {why}"));
    let played = tokio::task::spawn_blocking(move || {
        // What is only played is neither counted nor traced, and what goes wrong in it is what it tells of.
        let _unheard = tracing::subscriber::set_default(tracing::subscriber::NoSubscriber::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(play())
    });
    played.await.map_err(|error| failed(error.to_string()))?.map_err(failed)
}

/// The source that is rehearsed, and the project that reads it.
fn chosen(engine: &Engine, wanted: &str) -> Result<(ApplicationSource, String), Refusal> {
    let mut counts: BTreeMap<(String, String), (usize, ApplicationSource, String)> = BTreeMap::new();
    for object in engine.home().cache().of_kind(&application_kind()) {
        let Ok(application) = Application::from_object(&object) else { continue };
        for source in application.spec.all_sources() {
            if !source.chart.is_empty() || !(wanted.is_empty() || source.repo_url == wanted) {
                continue;
            }
            let key = (source.repo_url.to_string(), source.target_revision.to_string());
            let first = || (0, source.clone(), application.spec.project.to_string());
            counts.entry(key).or_insert_with(first).0 += 1;
        }
    }
    let most = counts.into_values().max_by_key(|(count, ..)| *count);
    let none = || Refusal::not_found("no application comes from a Git repository");
    most.map(|(_, source, project)| (source, project)).ok_or_else(none)
}
