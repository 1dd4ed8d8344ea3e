//! What there is to play: the Applications of a repository, what they render, and which of them nobody else creates.

mod kustomization;
mod manifest;
mod rendering;
mod root;
mod set;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lynceus_api::{Application, Kind as _};
use lynceus_engine::AppKey;
use lynceus_files::{FilePath, Tree};
use lynceus_object::{GroupKind, Object, Str};

use crate::error::RehearseError;
use crate::premises::{Played, Premises};
use crate::report::{Note, Place, Unrehearsed};
use crate::script::Script;

pub(crate) use manifest::{Found, definition};
pub(crate) use rendering::{Outcome, Surveyor, key, registered};
pub(crate) use root::choose;
pub(crate) use set::SurveyedSet;

/// The namespace of Applications where nobody names one.
pub(crate) const HOME: &str = "argocd";

/// What a repository holds.
#[derive(Default)]
pub(crate) struct Survey {
    /// Every Application that was found, in files or in what others render.
    pub(crate) applications: BTreeMap<AppKey, Surveyed>,
    /// Every ApplicationSet that was found, in the same places and in the cluster as it was before.
    pub(crate) sets: BTreeMap<AppKey, SurveyedSet>,
    /// What is applied by hand, because nobody else does: Applications, ApplicationSets and projects.
    pub(crate) roots: Vec<Root>,
    /// The Applications that are to be there in the end: those that are applied by hand, and what they create.
    pub(crate) planned: BTreeSet<AppKey>,
    /// The kinds that files of the repository define, be they rendered or not.
    pub(crate) defined: BTreeSet<GroupKind>,
    /// The clusters that files of the repository register: the address of each name.
    pub(crate) registered: BTreeMap<Str, Str>,
    /// What cannot be played.
    pub(crate) unrehearsed: Vec<Unrehearsed>,
    /// What is wrong with files.
    pub(crate) notes: Vec<Note>,
    /// The namespace of the installation.
    pub(crate) home: Str,
}

/// Something that is applied by hand.
pub(crate) struct Root {
    pub(crate) object: Object,
    /// Where it stands.
    pub(crate) place: Option<Place>,
}

/// An Application that was found.
pub(crate) struct Surveyed {
    pub(crate) application: Application,
    pub(crate) object: Object,
    /// Where it stands.
    pub(crate) place: Option<Place>,
    /// What it renders.
    pub(crate) outcome: Outcome,
    /// The files of the repository that its rendering looked at.
    pub(crate) read: BTreeSet<FilePath>,
    /// The Applications that it creates.
    pub(crate) creates: BTreeSet<AppKey>,
    /// The ApplicationSets that it creates.
    pub(crate) sets: BTreeSet<AppKey>,
}

impl Surveyed {
    /// Whether what it delivers cannot be got, so that it cannot be played.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self.outcome, Outcome::Unreachable(_))
    }
}

impl Survey {
    /// Looks through one revision of a repository.
    pub(crate) async fn of(
        premises: &mut Premises,
        surveyor: &Surveyor,
        (played, script, home): (&Played, &Script, Option<Str>),
    ) -> Result<Self, RehearseError> {
        let tree = premises.tree(surveyor.sources(), played).await?;
        let mut found = manifest::find(&*tree, premises.scope())?;
        if script.applied.is_empty() {
            let kustomized = surveyor.kustomizations(premises, &tree, &mut found).await;
            found.manifests.extend(kustomized);
        } else {
            let given = script.applied.iter().map(|(object, file)| Found {
                object: object.clone(),
                place: Place { file: file.clone(), line: 0 },
            });
            found.manifests = given.collect();
        }
        let home = home.unwrap_or_else(|| root::home(&found.manifests));
        let mut survey = Survey {
            defined: found.defined,
            registered: found.registered,
            notes: found.notes,
            home,
            ..Survey::default()
        };
        guess(premises, &*tree, &found.manifests);
        for url in premises.urls() {
            surveyor.sources().stand_in(url, premises.path());
        }
        let before = script.stage.snapshot.as_deref().map_or(&[][..], |snapshot| &snapshot.objects);
        surveyor.follow(&mut survey, premises, played, (&found.manifests, before)).await?;
        let defined: Vec<GroupKind> = survey.rendered().filter_map(manifest::definition).collect();
        survey.defined.extend(defined);
        choose(&mut survey, &found.manifests, &script.applications, premises)?;
        Ok(survey)
    }

    /// The Applications that one creates, those included that its ApplicationSets make.
    pub(crate) fn created_by<'a>(&'a self, one: &'a Surveyed) -> impl Iterator<Item = &'a AppKey> {
        let sets = one.sets.iter().filter_map(|key| self.sets.get(key));
        one.creates.iter().chain(sets.flat_map(|set| &set.creates))
    }

    /// Everything that is rendered by any Application.
    pub(crate) fn rendered(&self) -> impl Iterator<Item = &Object> {
        self.applications.values().flat_map(|one| one.outcome.objects())
    }
}

/// Where nothing says under which address this repository is known, it is the one under which most paths are there.
fn guess(premises: &mut Premises, tree: &dyn Tree, found: &[Found]) {
    let mut hits: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (url, path) in found.iter().flat_map(addresses) {
        if premises.is_meant_by(&url) {
            return premises.answer_to(&url);
        }
        let is_there = FilePath::new(&path).is_ok_and(|path| tree.entry(&path).is_ok());
        let known = hits.entry(lynceus_source::identity(&url)).or_default();
        known.0 += usize::from(is_there && !path.is_empty());
        known.1 = url;
    }
    let best = hits.into_values().filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count);
    if let Some((_, url)) = best {
        premises.answer_to(&url);
    }
}

/// The repositories that an Application or ApplicationSet names, each with a path in it.
fn addresses(found: &Found) -> Vec<(String, String)> {
    if found.object.kind() == "ApplicationSet" {
        return set::addresses(found.object.value());
    }
    let Some(application) = application(&found.object) else { return Vec::new() };
    let sources = application.spec.all_sources();
    let sources = sources.iter().filter(|source| source.chart.is_empty());
    sources.map(|source| (source.repo_url.to_string(), source.path.to_string())).collect()
}

/// The Application in an object, as far as it can be read.
pub(crate) fn application(object: &Object) -> Option<Application> {
    (object.group_kind() == lynceus_engine::application_kind())
        .then(|| Application::from_object(object).ok())
        .flatten()
}

/// A tree that can be shared.
pub(crate) type SharedTree = Arc<dyn Tree>;
