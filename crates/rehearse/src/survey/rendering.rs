//! What Applications render, before anything is played.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt as _;
use jiff::Timestamp;
use lynceus_api::{AppProject, Application, ApplicationSource, Kind as _};
use lynceus_cluster::Registration;
use lynceus_engine::{
    AppKey, Freshness, RegisteredCluster, Renderer, RenderingError, Request, Sourced, registered_cluster,
    words,
};
use lynceus_files::{FilePath, Severity};
use lynceus_object::{Object, Str};
use lynceus_render::Setting;
use lynceus_source::{Book, Keyring, Sources};

use super::manifest::Found;
use super::{SharedTree, Survey, Surveyed, SurveyedSet};
use crate::assumption::Elsewhere;
use crate::error::RehearseError;
use crate::limits;
use crate::premises::{Played, Premises};
use crate::report::{Note, Place};

/// What came of rendering an Application.
pub(crate) enum Outcome {
    /// Its objects, and where they come from.
    Rendered(Vec<(Object, Place)>),
    /// Something that it needs is elsewhere, and cannot be had.
    Unreachable(String),
    /// It cannot be rendered; the engine will say why.
    Broken,
}

impl Outcome {
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        let made: &[(Object, Place)] = match self {
            Outcome::Rendered(made) => made,
            Outcome::Unreachable(_) | Outcome::Broken => &[],
        };
        made.iter().map(|(object, _)| object)
    }

    fn made(&self) -> &[(Object, Place)] {
        match self {
            Outcome::Rendered(made) => made,
            Outcome::Unreachable(_) | Outcome::Broken => &[],
        }
    }
}

/// Renders what is to be played, as the engine will.
pub(crate) struct Surveyor {
    renderer: Renderer,
    kube_version: Str,
    api_versions: Arc<[Str]>,
    now: Timestamp,
}

/// One rendering, with what it says beside its objects.
struct Made {
    outcome: Outcome,
    read: BTreeSet<FilePath>,
    notes: Vec<Note>,
}

impl Surveyor {
    pub(crate) fn new(sources: Sources, kinds: &lynceus_cluster::Kinds, now: Timestamp) -> Self {
        let api_versions = kinds.api_versions();
        Surveyor { renderer: Renderer::new(sources), kube_version: kinds.version.clone(), api_versions, now }
    }

    pub(crate) fn sources(&self) -> &Sources {
        self.renderer.sources()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Renders Applications, and those that they and ApplicationSets create, until there is none that has not been. Sets that were in
    /// the cluster before are followed as well: they go on making Applications.
    pub(crate) async fn follow(
        &self,
        survey: &mut Survey,
        premises: &Premises,
        played: &Played,
        (found, before): (&[Found], &[Object]),
    ) -> Result<(), RehearseError> {
        let mut level = Level::default();
        let kind = lynceus_engine::application_kind();
        for one in found.iter().filter(|one| one.object.group_kind() == kind) {
            match Application::from_object(&one.object) {
                Ok(application) => {
                    let key = key(&one.object, &survey.home);
                    let known = level.applications.entry(key);
                    known.or_insert((application, one.object.clone(), one.place.clone()));
                }
                Err(error) => survey.notes.push(Note {
                    place: one.place.clone(),
                    message: format!("Application {} cannot be read: {error}", one.object.name()),
                    hint: None,
                }),
            }
        }
        let is_set = |object: &Object| object.group_kind() == lynceus_engine::set_kind();
        for one in found.iter().filter(|one| is_set(&one.object)) {
            let key = key(&one.object, &survey.home);
            level.sets.entry(key).or_insert((one.object.clone(), Some(one.place.clone())));
        }
        for object in before.iter().filter(|object| is_set(object)) {
            level.sets.entry(key(object, &survey.home)).or_insert((object.clone(), None));
        }
        let registered = registered(before);
        for _ in 0..limits::GENERATIONS {
            self.make_all(survey, premises, played, &mut level, &registered).await;
            for (application, _, _) in level.applications.values() {
                for source in application.spec.all_sources() {
                    if premises.is_meant_by(&source.repo_url) {
                        premises.admit(&source.target_revision, played)?;
                    }
                }
            }
            let work = std::mem::take(&mut level.applications).into_iter().map(
                async |(key, (application, object, place))| {
                    let made = self.render(premises, &key, &application).await;
                    (key, application, object, place, made)
                },
            );
            let made: Vec<_> = futures::stream::iter(work).buffered(limits::RENDERED_AT_ONCE).collect().await;
            for (key, application, object, place, made) in made {
                let creates = children(&made.outcome, &application, &survey.home, is_application);
                let sets = children(&made.outcome, &application, &survey.home, is_set);
                survey.notes.extend(made.notes);
                for (child, object, place) in &creates {
                    if !survey.applications.contains_key(child)
                        && let Some(application) = super::application(object)
                    {
                        let known = level.applications.entry(child.clone());
                        known.or_insert((application, object.clone(), place.clone()));
                    }
                }
                for (set, object, place) in &sets {
                    // What Git says now counts, and not what was there.
                    if survey.sets.get(set).is_none_or(|known| known.place.is_none()) {
                        level.sets.insert(set.clone(), (object.clone(), Some(place.clone())));
                    }
                }
                let creates = creates.into_iter().map(|(key, _, _)| key).collect();
                let sets = sets.into_iter().map(|(key, _, _)| key).collect();
                let (outcome, read, place) = (made.outcome, made.read, Some(place));
                survey
                    .applications
                    .insert(key, Surveyed { application, object, place, outcome, read, creates, sets });
            }
            level.applications.retain(|key, _| !survey.applications.contains_key(key));
            if level.applications.is_empty() && level.sets.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Has all sets of a level made their Applications, which are of the same level.
    async fn make_all(
        &self,
        survey: &mut Survey,
        premises: &Premises,
        played: &Played,
        level: &mut Level,
        registered: &[RegisteredCluster],
    ) {
        let named = level.applications.values().map(|(application, _, _)| application);
        let known = survey.applications.values().map(|one| &one.application);
        let clusters = clusters(registered, named.chain(known));
        for (key, (object, place)) in std::mem::take(&mut level.sets) {
            let made = self.make(premises, played, &object, &clusters).await;
            let mut creates = BTreeSet::new();
            for mut application in made.applications {
                application.metadata.namespace = key.namespace.clone();
                let child = AppKey::of(&application);
                creates.insert(child.clone());
                // One that was only in the cluster stands in no file.
                let Some(place) = place.clone() else { continue };
                if !survey.applications.contains_key(&child) {
                    let object = application.to_object();
                    level.applications.entry(child).or_insert((application, object, place));
                }
            }
            let unanswered = made.unanswered;
            survey.sets.insert(key, SurveyedSet { object, place, creates, unanswered });
        }
    }

    async fn render(&self, premises: &Premises, key: &AppKey, application: &Application) -> Made {
        let sources = application.spec.all_sources();
        let setting = Setting {
            application: key.name.clone(),
            namespace: application.spec.destination.namespace.clone(),
            project: application.spec.project.clone(),
            ..self.setting()
        };
        let results = self.results(&sources, &[], &setting).await;
        let mut made =
            Made { outcome: Outcome::Rendered(Vec::new()), read: BTreeSet::new(), notes: Vec::new() };
        for (source, result) in sources.iter().zip(results) {
            match result {
                Ok(sourced) => made.take(sourced, premises.is_meant_by(&source.repo_url)),
                Err(error) => made.outcome = failed(&error, premises, source),
            }
        }
        made
    }

    /// What a folder of the repository becomes by itself.
    pub(crate) async fn build(
        &self,
        premises: &Premises,
        tree: &SharedTree,
        folder: &FilePath,
    ) -> Result<Vec<Found>, String> {
        let source = ApplicationSource {
            repo_url: premises.path().display().to_string().into(),
            path: if folder.is_root() { ".".into() } else { folder.as_str().into() },
            ..ApplicationSource::default()
        };
        let results = self.results(&[source], &[Some(tree.clone())], &self.setting()).await;
        let mut found = Vec::new();
        for result in results {
            let rendered = result.map_err(|error| words(&error))?.rendered;
            let ours = rendered.manifests.iter().filter(|one| one.object.group() == lynceus_api::GROUP);
            found.extend(ours.map(|one| Found {
                object: one.object.clone(),
                place: Place { file: one.span.file.to_string(), line: one.span.line },
            }));
        }
        Ok(found)
    }

    fn setting(&self) -> Setting {
        Setting {
            kube_version: self.kube_version.clone(),
            api_versions: self.api_versions.clone(),
            ..Setting::default()
        }
    }

    async fn results(
        &self,
        sources: &[ApplicationSource],
        files: &[Option<SharedTree>],
        setting: &Setting,
    ) -> Vec<Result<Sourced, RenderingError>> {
        let request = Request {
            book: &Arc::<Book>::default(),
            setting,
            project: &AppProject::default(),
            sources,
            revisions: &[],
            files,
            keyring: &Arc::<Keyring>::default(),
            freshness: Freshness::Latest,
            now: self.now,
        };
        self.renderer.render(&request).await
    }
}

impl Made {
    fn take(&mut self, sourced: Sourced, is_here: bool) {
        let rendered = &sourced.rendered;
        if is_here {
            self.read.extend(rendered.read_set.files.iter().cloned());
            let errors = rendered.diagnostics.iter().filter(|found| found.severity == Severity::Error);
            self.notes.extend(errors.map(|found| Note::of(found, &FilePath::root())));
        }
        let Outcome::Rendered(all) = &mut self.outcome else { return };
        all.extend(rendered.manifests.iter().map(|one| {
            let place = Place { file: one.span.file.to_string(), line: one.span.line };
            (one.object.clone(), place)
        }));
    }
}

/// Something that is elsewhere and cannot be had is nothing that this repository can be blamed for.
fn failed(error: &RenderingError, premises: &Premises, source: &ApplicationSource) -> Outcome {
    let is_elsewhere = match error {
        RenderingError::Source { .. } => !source.chart.is_empty() || !premises.is_meant_by(&source.repo_url),
        RenderingError::Need { .. } => true,
        _ => false,
    };
    match is_elsewhere && error.is_of_the_way() {
        true => Outcome::Unreachable(words(error)),
        false => Outcome::Broken,
    }
}

/// What is still to be looked at.
#[derive(Default)]
struct Level {
    applications: BTreeMap<AppKey, (Application, Object, Place)>,
    sets: BTreeMap<AppKey, (Object, Option<Place>)>,
}

/// The clusters that the Secrets of a snapshot register, as far as they say where those are.
pub(crate) fn registered(before: &[Object]) -> Vec<RegisteredCluster> {
    let secrets = before.iter().filter(|object| Registration::is_one(object));
    secrets.filter_map(|secret| registered_cluster(secret).ok()).collect()
}

/// The clusters that generators choose from: those that are registered, and those that Applications go to.
fn clusters<'a>(
    registered: &[RegisteredCluster],
    applications: impl Iterator<Item = &'a Application>,
) -> Vec<RegisteredCluster> {
    let mut all = registered.to_vec();
    for one in applications.filter_map(Elsewhere::of) {
        if !all.iter().any(|known| known.server == one.server) {
            all.push(RegisteredCluster {
                name: one.name,
                server: one.server,
                ..RegisteredCluster::default()
            });
        }
    }
    all
}

fn is_application(object: &Object) -> bool {
    object.group_kind() == lynceus_engine::application_kind()
}

/// The Applications, or the ApplicationSets, among what an Application renders.
fn children(
    outcome: &Outcome,
    parent: &Application,
    home: &Str,
    is_one: impl Fn(&Object) -> bool,
) -> Vec<(AppKey, Object, Place)> {
    let namespace = &parent.spec.destination.namespace;
    let of = |(object, place): &(Object, Place)| {
        let default = if namespace.is_empty() { home } else { namespace };
        (key(object, default), object.clone(), place.clone())
    };
    outcome.made().iter().filter(|(object, _)| is_one(object)).map(of).collect()
}

/// The name of an Application; one that names no namespace is in another.
pub(crate) fn key(object: &Object, otherwise: &Str) -> AppKey {
    let namespace = if object.namespace().is_empty() { otherwise.as_str() } else { object.namespace() };
    AppKey::new(namespace, object.name())
}
