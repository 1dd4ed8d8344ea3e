//! From sources to manifests: resolve, read, render, each remembered by content.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::{AppProject, ApplicationSource};
use lynceus_files::{FilePath, MemoryTree, Tree};
use lynceus_helm::{Chart, ChartError};
use lynceus_object::Str;
use lynceus_render::{
    Bases, Charts, Fetched, Field, Job, Need, Reason, References, RenderError, Rendered, Setting, explain,
    render,
};
use lynceus_source::{
    Artifact, Book, ChartVersion, Keyring, Repository, RepositoryKind, Revision, SourceError, Sources,
    Target, Wishes,
};
use tracing::field::{Empty, debug};
use tracing::{Instrument as _, info_span};

use crate::ambience::Ambience;
use crate::bases::{Namer, Ways, get_base};
use crate::gate::Gate;
use crate::limits;
use crate::memory::{FORGOTTEN, Made, Memory, anywhere};
use crate::pace::Pace;
use crate::queue::Freshness;

/// One source at one revision, rendered.
#[derive(Clone)]
pub struct Sourced {
    /// The source as the application has it.
    pub source: ApplicationSource,
    /// The commit that it was taken from, the version of the chart, or the digest of the artifact.
    pub revision: Str,
    /// What it became.
    pub rendered: Arc<Rendered>,
}

/// What is to be rendered, and for whom.
pub struct Request<'a> {
    /// How repositories are reached.
    pub book: &'a Arc<Book>,
    /// The application, its destination and the cluster there.
    pub setting: &'a Setting,
    /// The application's project, which says what its sources may name with credentials.
    pub project: &'a AppProject,
    /// All sources of the application: one may name files of another.
    pub sources: &'a [ApplicationSource],
    /// Revisions to take instead of the sources' own, in their order.
    pub revisions: &'a [Str],
    /// Files to take instead of the sources' own, in their order: a folder on this machine stands for a repository.
    pub files: &'a [Option<Arc<dyn Tree>>],
    /// The keys that signatures are checked with.
    pub keyring: &'a Arc<Keyring>,
    /// How much is to be found out anew.
    pub freshness: Freshness,
    /// The time.
    pub now: Timestamp,
}

impl<'a> Request<'a> {
    fn namer(&self, source: &'a ApplicationSource) -> Namer<'a> {
        Namer { book: self.book, project: self.project, source }
    }
}

/// Why a source gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum RenderingError {
    /// The revision, the files or the path could not be had.
    #[error("cannot read {repository}")]
    Source {
        /// The repository, without credentials.
        repository: String,
        /// What is wrong.
        #[source]
        source: Box<SourceError>,
    },
    /// The archive of a chart could not be unpacked.
    #[error("cannot unpack {chart} of {repository}")]
    Unpack {
        /// The repository, without credentials.
        repository: String,
        /// The chart.
        chart: String,
        /// What is wrong.
        #[source]
        source: Box<ChartError>,
    },
    /// Something that the source needs from elsewhere could not be had.
    #[error("cannot get {need}")]
    Need {
        /// What it is.
        need: Box<Need>,
        /// What is wrong.
        #[source]
        source: Box<SourceError>,
    },
    /// The files could not be made into manifests.
    #[error("cannot render {path} of {repository}")]
    Render {
        /// The repository, without credentials.
        repository: String,
        /// The path in it, or the chart.
        path: String,
        /// What is wrong.
        #[source]
        source: Box<RenderError>,
    },
    /// The files take too long to become manifests.
    #[error("rendering {path} of {repository} took longer than {seconds} s")]
    Overdue {
        /// How long it was given.
        seconds: u64,
        /// The repository, without credentials.
        repository: String,
        /// The path in it, or the chart.
        path: String,
    },
    /// The revision is not signed as the project wants it, or what the project wants cannot be followed.
    #[error("{0}")]
    Untrusted(String),
    /// The work was stopped.
    #[error("rendering was interrupted")]
    Interrupted,
}

impl RenderingError {
    /// Whether it is of the way to a repository, and not of what is in it or of what is asked of it.
    pub fn is_of_the_way(&self) -> bool {
        crate::grace::is_of_the_way(self)
    }

    /// Whether the revision lacks the path of the source.
    pub(crate) fn is_pathless(&self) -> bool {
        matches!(self, Self::Source { source, .. } if matches!(**source, SourceError::PathNotFound { .. }))
    }
}

/// What a revision was resolved from: repository, chart, name, and the prefix of tags.
type Asked = (String, String, String, String);

/// Where a source stands.
#[derive(Clone)]
enum Place {
    Commit(Revision),
    Chart(ChartVersion),
    Artifact(Artifact),
    /// In files that were given, which are taken for the revision that the source names.
    Given(Arc<dyn Tree>, Str),
}

impl Place {
    fn is_given(&self) -> bool {
        matches!(self, Place::Given(..))
    }

    /// What a user knows it by.
    fn revision(&self) -> Str {
        match self {
            Place::Commit(revision) => revision.commit.to_string().into(),
            Place::Chart(version) => version.version.as_str().into(),
            Place::Artifact(artifact) => artifact.digest.as_str().into(),
            Place::Given(_, revision) => revision.clone(),
        }
    }
}

/// Renders sources and remembers what they became.
pub struct Renderer {
    sources: Sources,
    rendered: Mutex<Memory>,
    /// What was loaded of charts: applications with one chart and other values load it once.
    charts: Arc<Charts>,
    resolved: Mutex<HashMap<Asked, (Place, Timestamp)>>,
    /// How often something was made that could not be remembered.
    renderings: AtomicU64,
    pace: Mutex<Pace>,
    /// The way to the threads that render.
    rendering: Gate,
}

/// What made a field, and the files that it was made of.
pub(crate) struct Traced {
    pub(crate) reason: Reason,
    /// Which of the sources it is.
    pub(crate) number: usize,
    pub(crate) tree: Arc<dyn Tree>,
    pub(crate) references: References,
}

impl Renderer {
    /// Reads repositories through `sources`.
    pub fn new(sources: Sources) -> Self {
        Renderer {
            sources,
            rendered: Mutex::default(),
            charts: Arc::new(Charts::new(limits::CHART_BYTES)),
            resolved: Mutex::default(),
            renderings: AtomicU64::new(0),
            pace: Mutex::default(),
            rendering: Gate::default(),
        }
    }

    /// How many sources were rendered so far. What was remembered does not count.
    pub fn renderings(&self) -> u64 {
        self.renderings.load(Ordering::Relaxed)
    }

    /// Has sources read and rendered as they are wished to be from now on.
    pub(crate) fn follow(&self, wishes: Wishes, pace: Pace) {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner) = pace;
        if self.sources.follow(wishes) {
            *self.memory() = Memory::default();
        }
    }

    fn pace(&self) -> Pace {
        *self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The repositories.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Renders every source of an application, in order. Those that only lend files to others give nothing of their own.
    pub async fn render(&self, request: &Request<'_>) -> Vec<Result<Sourced, RenderingError>> {
        let places = self.places(request).await;
        let mut sourced = Vec::with_capacity(places.len());
        for (source, place) in request.sources.iter().zip(&places) {
            let rendered = match place {
                Err(_) => None,
                Ok((_, place)) if is_for_others(source) => Some(Ok((place.revision(), Arc::default()))),
                Ok((repository, place)) => {
                    Some(self.render_one(request, source, repository, place, &places).await)
                }
            };
            sourced.push((source, rendered));
        }
        let results = sourced.into_iter().zip(places);
        results
            .map(|((source, rendered), place)| {
                let (revision, rendered) = match (rendered, place) {
                    (Some(rendered), _) => rendered?,
                    (None, Err(error)) => return Err(error),
                    (None, Ok(_)) => return Err(RenderingError::Interrupted),
                };
                Ok(Sourced { source: source.clone(), revision, rendered })
            })
            .collect()
    }

    /// What made a field of an object that the sources give; nothing if none of them makes it.
    pub async fn explain(
        &self,
        request: &Request<'_>,
        field: &Field,
    ) -> Result<Option<Reason>, RenderingError> {
        Ok(self.trace(request, field).await?.map(|traced| traced.reason))
    }

    /// The same, with the files that it was made of.
    pub(crate) async fn trace(
        &self,
        request: &Request<'_>,
        field: &Field,
    ) -> Result<Option<Traced>, RenderingError> {
        let mut places = self.places(request).await;
        if let Some(failed) = places.iter().position(Result::is_err)
            && let Err(error) = places.swap_remove(failed)
        {
            return Err(error);
        }
        for (number, (source, place)) in request.sources.iter().zip(&places).enumerate() {
            let Ok((repository, place)) = place else { continue };
            if is_for_others(source) {
                continue;
            }
            let setting = self.setting(request, place);
            let lent = lent(source, request.sources, &places);
            let (tree, references) = self.files(source, (repository, place), lent).await?;
            let wanted = field.clone();
            let why = move |job: &Job<'_>, world: &mut Ambience| explain(job, &wanted, world);
            let files = (tree.clone(), references.clone());
            if let Some(reason) = self.make(request, source, files, setting, why).await? {
                return Ok(Some(Traced { reason, number, tree, references }));
            }
        }
        Ok(None)
    }

    /// The files of a source.
    pub(crate) async fn tree_of(
        &self,
        request: &Request<'_>,
        source: &ApplicationSource,
    ) -> Result<Arc<dyn Tree>, RenderingError> {
        let (repository, place) = self.locate(request, source, None).await?;
        self.tree(source, &repository, &place).await
    }

    /// Where the sources stand, in their order.
    async fn places(&self, request: &Request<'_>) -> Vec<Result<(Repository, Place), RenderingError>> {
        let mut places = Vec::with_capacity(request.sources.len());
        for (index, source) in request.sources.iter().enumerate() {
            if let Some(Some(files)) = request.files.get(index) {
                let given = Place::Given(files.clone(), source.target_revision.clone());
                places.push(Ok((self.repository(request, source), given)));
                continue;
            }
            let pinned = request.revisions.get(index).map(Str::as_str).filter(|text| !text.is_empty());
            let mut place = self.locate(request, source, pinned).await;
            if let Ok((repository, Place::Commit(revision))) = &place
                && let Err(error) = self.trust(request, (index, source), repository, revision).await
            {
                place = Err(error);
            }
            places.push(place);
        }
        places
    }

    /// Where a source stands. Without a need for the latest, what was found last time will do.
    async fn locate(
        &self,
        request: &Request<'_>,
        source: &ApplicationSource,
        pinned: Option<&str>,
    ) -> Result<(Repository, Place), RenderingError> {
        let repository = self.repository(request, source);
        let shown = repository.shown();
        let failed =
            |error: SourceError| RenderingError::Source { repository: shown.clone(), source: error.into() };
        let wanted = pinned.unwrap_or(&source.target_revision);
        let key = (
            repository.url.clone(),
            source.chart.to_string(),
            wanted.to_owned(),
            source.tag_prefix.to_string(),
        );
        if request.freshness == Freshness::Recent
            && let Some((place, _)) = self.resolved.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
        {
            return Ok((repository, place.clone()));
        }
        let place = if !source.chart.is_empty() {
            let found = self.sources.chart_version(&repository, &source.chart, wanted).await;
            Place::Chart(found.map_err(failed)?)
        } else if repository.kind == RepositoryKind::Oci {
            Place::Artifact(self.sources.artifact(&repository, wanted).await.map_err(failed)?)
        } else {
            let target = Target { revision: wanted, tag_prefix: &source.tag_prefix };
            Place::Commit(self.sources.resolve(&repository, target).await.map_err(failed)?)
        };
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        resolved.insert(key, (place.clone(), request.now));
        // What nobody has asked for in a day belongs to an application that is gone.
        resolved.retain(|_, (_, at)| request.now.duration_since(*at) < FORGOTTEN);
        Ok((repository, place))
    }

    fn repository(&self, request: &Request<'_>, source: &ApplicationSource) -> Repository {
        let (url, project) = (&source.repo_url, &request.setting.project);
        if !source.chart.is_empty() {
            let mut found = request.book.charts(url, project);
            found.access.pass_credentials |= source.helm.as_ref().is_some_and(|helm| helm.pass_credentials);
            found
        } else if url.starts_with("oci://") {
            request.book.artifacts(url, project)
        } else {
            request.book.find(url, project)
        }
    }

    /// Renders one source, or takes what it became before.
    async fn render_one(
        &self,
        request: &Request<'_>,
        source: &ApplicationSource,
        repository: &Repository,
        place: &Place,
        places: &[Result<(Repository, Place), RenderingError>],
    ) -> Result<(Str, Arc<Rendered>), RenderingError> {
        let revision = place.revision();
        let setting = self.setting(request, place);
        if let Some(error) = unknown_reference(source, request.sources) {
            return Err(failed_rendering(request, source, error));
        }
        let lent = lent(source, request.sources, places);
        let own_key = source_key(source);
        let lenders: String =
            lent.iter().map(|(name, (_, place))| format!("{name}@{}\n", place.revision())).collect();
        let revisions = format!("{revision}\n{lenders}");
        let anywhere = anywhere(&setting);
        let asked = (&anywhere, request.now);
        // What somebody brings along is nobody else's, whatever revision it is taken for.
        let is_given = place.is_given() || lent.iter().any(|(_, (_, place))| place.is_given());
        let reuses = request.freshness < Freshness::Anew && !is_given;
        if reuses && let Some(made) = self.memory().at(&own_key, &revisions, asked) {
            return Ok((revision, made.rendered));
        }
        let (tree, references) = self.files(source, (repository, place), lent).await?;
        let last = self.memory().last(&own_key, &anywhere).filter(|_| reuses);
        let made = match last.filter(|made| made.is_still_so((&*tree, &references))) {
            Some(made) => made,
            None => {
                self.renderings.fetch_add(1, Ordering::Relaxed);
                let span = info_span!(target: "lynceus::span", "render", source_type = Empty);
                let made = self.make(request, source, (tree, references), setting, rendered);
                let made = made.instrument(span.clone()).await?;
                span.record("source_type", debug(&made.rendered.source_type));
                made
            }
        };
        if !is_given {
            self.memory().insert(own_key, revisions, made.clone(), asked);
        }
        Ok((revision, made.rendered))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a source at a place is rendered with.
    fn setting(&self, request: &Request<'_>, place: &Place) -> Setting {
        let (revision, plugins) = (place.revision(), self.sources.has_plugins());
        Setting { revision, plugins, ..request.setting.clone() }
    }

    /// The files of a source, and those that others lend it.
    async fn files(
        &self,
        source: &ApplicationSource,
        (repository, place): Located<'_>,
        lent: Vec<(Str, Located<'_>)>,
    ) -> Result<(Arc<dyn Tree>, References), RenderingError> {
        let tree = self.tree(source, repository, place).await?;
        let mut references = References::new();
        for (name, (repository, place)) in lent {
            references.insert(name, self.tree(source, repository, place).await?);
        }
        Ok((tree, references))
    }

    /// Has something done with a source, and gets what it needs from elsewhere until nothing more is needed.
    async fn make<T: Send + 'static>(
        &self,
        request: &Request<'_>,
        source: &ApplicationSource,
        (tree, references): (Arc<dyn Tree>, References),
        setting: Setting,
        done: impl Fn(&Job<'_>, &mut Ambience) -> Result<T, RenderError> + Clone + Send + 'static,
    ) -> Result<T, RenderingError> {
        let (mut fetched, mut bases) = (Fetched::new(), Bases::new());
        for _ in 0..limits::NEEDS {
            let files = tree.clone();
            let (wanted, tree, references) = (source.clone(), tree.clone(), references.clone());
            let (setting, given, now) = (setting.clone(), fetched.clone(), request.now);
            let (charts, given_bases, done) = (self.charts.clone(), bases.clone(), done.clone());
            let work = move || {
                let job = Job {
                    tree: &*tree,
                    source: &wanted,
                    setting: &setting,
                    references: &references,
                    fetched: &given,
                    bases: &given_bases,
                    charts: &charts,
                };
                done(&job, &mut Ambience::at(now))
            };
            // A thread cannot be stopped from outside; what runs on it bounds itself, and this is for what does not.
            let Pace { timeout, at_once } = self.pace();
            let timeout = timeout.unwrap_or(Duration::MAX);
            let turn = self.rendering.enter(at_once).await;
            let Ok(made) = tokio::time::timeout(timeout, tokio::task::spawn_blocking(work)).await else {
                return Err(overdue(request, source, timeout));
            };
            drop(turn);
            let made = made.map_err(|_| RenderingError::Interrupted)?;
            match made {
                Ok(made) => return Ok(made),
                Err(RenderError::Needs(needs)) => {
                    for need in needs {
                        match need {
                            Need::Base(base) => {
                                let namer = request.namer(source);
                                let ways = Ways {
                                    repository: &|url| namer.repository(url),
                                    charts: &|url| match namer.charts(url) {
                                        Ok(found) => {
                                            found.ok_or_else(|| format!("{url} is no repository of charts"))
                                        }
                                        Err(error) => Err(crate::words(&error)),
                                    },
                                };
                                let got = get_base(&self.sources, &base, &ways).await;
                                bases.insert(base, got);
                            }
                            need => {
                                let got = self.get(request, source, &need, &files).await?;
                                fetched.insert(need, got);
                            }
                        }
                    }
                }
                Err(error) => return Err(failed_rendering(request, source, error)),
            }
        }
        let bases = bases.into_keys().map(Need::Base);
        let endless = RenderError::Needs(fetched.into_keys().chain(bases).collect());
        Err(failed_rendering(request, source, endless))
    }

    /// Gets something that a source needs.
    async fn get(
        &self,
        request: &Request<'_>,
        source: &ApplicationSource,
        need: &Need,
        files: &Arc<dyn Tree>,
    ) -> Result<Arc<[u8]>, RenderingError> {
        let failed = |source: SourceError| RenderingError::Need {
            need: Box::new(need.clone()),
            source: Box::new(source),
        };
        match need {
            Need::Chart { repository, name, version } => {
                let repository = request.namer(source).charts(repository).map_err(failed)?;
                // Those beside the chart are never asked for here.
                let Some(repository) = repository else { return Err(RenderingError::Interrupted) };
                let chosen = self.sources.chart_version(&repository, name, version).await.map_err(failed)?;
                self.sources.chart_archive(&repository, &chosen).await.map_err(failed)
            }
            Need::Url(url) => self.sources.file(url).await.map_err(failed),
            // Asked for by its own name.
            Need::Base(_) => Err(RenderingError::Interrupted),
            Need::Plugin(call) => {
                let repository = self.repository(request, source);
                let made = self.sources.plugin_manifests(files.clone(), &question(call), &repository).await;
                made.map_err(failed)
            }
            Need::Discovery(call) => {
                let found = self.sources.discover_plugin(files.clone(), &question(call)).await;
                Ok(found.map_err(failed)?.unwrap_or_default().into_bytes().into())
            }
        }
    }

    /// The files of a source.
    async fn tree(
        &self,
        source: &ApplicationSource,
        repository: &Repository,
        place: &Place,
    ) -> Result<Arc<dyn Tree>, RenderingError> {
        let shown = repository.shown();
        let failed =
            |error: SourceError| RenderingError::Source { repository: shown.clone(), source: error.into() };
        match place {
            Place::Commit(revision) => {
                let tree = self.sources.tree(repository, revision).await.map_err(failed)?;
                // Another's path is not in the repository that it borrows from.
                if source.repo_url == repository.url.as_str()
                    && let Ok(path) = FilePath::new(&source.path)
                {
                    self.sources.check_path(repository, revision, &*tree, &path).await.map_err(failed)?;
                }
                Ok(tree)
            }
            Place::Given(files, _) => Ok(files.clone()),
            Place::Artifact(artifact) => {
                self.sources.artifact_tree(repository, artifact).await.map_err(failed)
            }
            Place::Chart(version) => {
                let archive = self.sources.chart_archive(repository, version).await.map_err(failed)?;
                let unpacked = tokio::task::spawn_blocking(move || unpack(&archive)).await;
                let tree = unpacked.map_err(|_| RenderingError::Interrupted)?.map_err(|error| {
                    let chart = format!("{} {}", version.name, version.version);
                    RenderingError::Unpack { repository: shown.clone(), chart, source: error.into() }
                })?;
                Ok(Arc::new(tree))
            }
        }
    }
}

/// Renders, and keeps what tells whether it would be the same again.
fn rendered(job: &Job<'_>, world: &mut Ambience) -> Result<Made, RenderError> {
    let rendered = render(job, world)?;
    let is_self_contained = job.fetched.is_empty() && job.bases.is_empty();
    Ok(Made::new(rendered, job.setting, (job.tree, job.references), is_self_contained))
}

/// The files of a chart's archive, told from those of any other by its digest.
fn unpack(archive: &[u8]) -> Result<MemoryTree, ChartError> {
    let digest = ring::digest::digest(&ring::digest::SHA256, archive);
    let text: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Chart::unpack(archive)?.identified(format!("sha256:{text}")))
}

/// Whether a source has no manifests of its own: it only lends files to others.
fn is_for_others(source: &ApplicationSource) -> bool {
    !source.ref_.is_empty() && source.path.is_empty() && source.chart.is_empty()
}

type Located<'a> = (&'a Repository, &'a Place);

/// The sources that a source names files of, by their names. One that cannot be had is missed when the file is.
fn lent<'a>(
    source: &ApplicationSource,
    sources: &[ApplicationSource],
    places: &'a [Result<(Repository, Place), RenderingError>],
) -> Vec<(Str, Located<'a>)> {
    let names = borrowed(source);
    let lenders = sources.iter().zip(places).filter(|(lender, _)| names.contains(&lender.ref_.as_str()));
    lenders
        .filter_map(|(lender, place)| {
            let (repository, place) = place.as_ref().ok()?;
            Some((lender.ref_.clone(), (repository, place)))
        })
        .collect()
}

/// The names of the sources that a source names files of.
fn borrowed(source: &ApplicationSource) -> Vec<&str> {
    let Some(helm) = &source.helm else { return Vec::new() };
    let paths = helm.value_files.iter().chain(helm.file_parameters.iter().map(|one| &one.path));
    paths.filter_map(|path| path.strip_prefix('$')?.split('/').next()).collect()
}

/// A name that no source has. Where there is one source only it may be a variable of the environment.
fn unknown_reference(source: &ApplicationSource, sources: &[ApplicationSource]) -> Option<RenderError> {
    let is_known = |name: &str| sources.iter().any(|one| one.ref_ == name);
    let name = borrowed(source).into_iter().find(|name| sources.len() > 1 && !is_known(name))?;
    let known = sources.iter().filter(|one| !one.ref_.is_empty()).map(|one| one.ref_.to_string()).collect();
    Some(RenderError::UnknownReference { name: name.to_owned(), known })
}

/// What a plugin is told, in the words of whoever asks it.
fn question(call: &lynceus_render::PluginCall) -> lynceus_source::PluginCall {
    let entry = |(name, value): &(Str, Str)| (name.to_string(), value.to_string());
    lynceus_source::PluginCall {
        name: call.name.to_string(),
        path: call.path.clone(),
        environment: call.environment.iter().map(entry).collect(),
    }
}

fn overdue(request: &Request<'_>, source: &ApplicationSource, timeout: Duration) -> RenderingError {
    let repository = request.book.find(&source.repo_url, &request.setting.project).shown();
    let path = if source.chart.is_empty() { &source.path } else { &source.chart };
    RenderingError::Overdue { seconds: timeout.as_secs(), repository, path: path.to_string() }
}

fn failed_rendering(request: &Request<'_>, source: &ApplicationSource, error: RenderError) -> RenderingError {
    let repository = request.book.find(&source.repo_url, &request.setting.project).shown();
    let path = if source.chart.is_empty() { &source.path } else { &source.chart };
    RenderingError::Render { repository, path: path.to_string(), source: Box::new(error) }
}

/// Every field of a source but the name of the revision.
fn source_key(source: &ApplicationSource) -> String {
    let mut source = source.clone();
    source.target_revision = Default::default();
    serde_json::to_string(&source).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_source::Settings;
    use lynceus_source::compose::{Change, Composition, Layout, Message};

    fn commit(repository: &Composition, file: &str, data: &str) {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {data}}}\n");
        let change = (FilePath::new(file).unwrap(), Change::Write(text.into_bytes()));
        let message = Message {
            name: "Test",
            email: "test@example.com",
            when: Timestamp::UNIX_EPOCH,
            text: "A change\n",
        };
        repository.commit("main", &message, [change]).unwrap();
    }

    #[test]
    fn value_files_of_a_source_that_is_not_there_are_refused_where_there_are_several() {
        let chart = ApplicationSource {
            helm: Some(lynceus_api::ApplicationSourceHelm {
                value_files: vec!["$vals/env/prod.yaml".into()],
                ..Default::default()
            }),
            ..ApplicationSource::default()
        };
        let lender = |name: &str| ApplicationSource { ref_: name.into(), ..ApplicationSource::default() };
        let said = |others: &[ApplicationSource]| {
            let sources: Vec<ApplicationSource> =
                [chart.clone()].into_iter().chain(others.to_vec()).collect();
            unknown_reference(&chart, &sources).map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(
            said(&[lender("valz"), lender("more")]),
            "source referenced \"$vals\", which is not one of the available sources ($valz, $more)"
        );
        assert_eq!(
            said(&[lender("")]),
            "source referenced \"$vals\", but no source has a 'ref' field defined"
        );
        assert_eq!(said(&[lender("vals")]), "");
        assert_eq!(said(&[]), "", "it may be a variable");
    }

    #[tokio::test]
    async fn a_commit_that_touches_no_file_that_was_read_renders_nothing() {
        let folder = std::env::temp_dir().join(format!("lynceus-rendering-{}", std::process::id()));
        let repository = Composition::create(folder.join("repository"), Layout::Bare).unwrap();
        let renderer = Renderer::new(Sources::new(folder.join("mirrors"), Settings::default()));
        let source = ApplicationSource {
            repo_url: folder.join("repository").display().to_string().as_str().into(),
            path: "app".into(),
            target_revision: "main".into(),
            ..ApplicationSource::default()
        };
        let book = Arc::new(Book::default());
        let setting = Setting::default();
        let render = async || {
            let request = Request {
                book: &book,
                setting: &setting,
                project: &AppProject::default(),
                sources: std::slice::from_ref(&source),
                revisions: &[],
                files: &[],
                keyring: &Arc::default(),
                freshness: Freshness::Latest,
                now: Timestamp::UNIX_EPOCH,
            };
            renderer.render(&request).await.remove(0).unwrap()
        };
        commit(&repository, "app/a.yaml", "a");
        let first = render().await;
        commit(&repository, "other/b.yaml", "b");
        let second = render().await;
        assert_ne!(first.revision, second.revision);
        assert!(Arc::ptr_eq(&first.rendered, &second.rendered));
        commit(&repository, "app/a.yaml", "changed");
        let third = render().await;
        assert_eq!(third.rendered.manifests[0].object.name(), "changed");
        commit(&repository, "app/new.yaml", "new");
        assert_eq!(render().await.rendered.manifests.len(), 2, "a new file is one that would have been read");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
