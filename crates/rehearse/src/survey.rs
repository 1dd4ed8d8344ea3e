//! What there is to play: the Applications of a repository, what they render, and which of them nobody else creates.

mod kustomization;
mod manifest;
mod rendering;
mod root;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lynceus_api::{Application, Kind as _};
use lynceus_engine::AppKey;
use lynceus_files::{FilePath, Tree};
use lynceus_object::{GroupKind, Object, Str};

use crate::error::RehearseError;
use crate::premises::{Played, Premises};
use crate::report::{Note, Place, Unrehearsed};

pub(crate) use manifest::{Found, definition};
pub(crate) use rendering::{Outcome, Surveyor, key};
pub(crate) use root::{choose, unplayed};

/// The namespace of Applications where nobody names one.
pub(crate) const HOME: &str = "argocd";

/// What a repository holds.
#[derive(Default)]
pub(crate) struct Survey {
    /// Every Application that was found, in files or in what others render.
    pub(crate) applications: BTreeMap<AppKey, Surveyed>,
    /// What is applied by hand, because nobody else does: Applications and projects.
    pub(crate) roots: Vec<Root>,
    /// The Applications that are to be there in the end: those that are applied by hand, and what they create.
    pub(crate) planned: BTreeSet<AppKey>,
    /// The kinds that files of the repository define, be they rendered or not.
    pub(crate) defined: BTreeSet<GroupKind>,
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
        (played, chosen, home): (&Played, &[String], Option<Str>),
    ) -> Result<Self, RehearseError> {
        let tree = premises.tree(surveyor.sources(), played).await?;
        let mut found = manifest::find(&*tree, premises.scope())?;
        let kustomized = surveyor.kustomizations(premises, &tree, &mut found).await;
        found.manifests.extend(kustomized);
        let home = home.unwrap_or_else(|| root::home(&found.manifests));
        let mut survey = Survey { defined: found.defined, notes: found.notes, home, ..Survey::default() };
        guess(premises, &*tree, &found.manifests);
        for url in premises.urls() {
            surveyor.sources().stand_in(url, premises.path());
        }
        surveyor.follow(&mut survey, premises, played, &found.manifests).await?;
        let defined: Vec<GroupKind> = survey.rendered().filter_map(manifest::definition).collect();
        survey.defined.extend(defined);
        choose(&mut survey, &found.manifests, chosen, premises)?;
        Ok(survey)
    }

    /// Everything that is rendered by any Application.
    pub(crate) fn rendered(&self) -> impl Iterator<Item = &Object> {
        self.applications.values().flat_map(|one| one.outcome.objects())
    }
}

/// Where nothing says under which address this repository is known, it is the one under which most paths are there.
fn guess(premises: &mut Premises, tree: &dyn Tree, found: &[Found]) {
    let mut hits: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for one in found.iter().filter(|one| one.object.kind() == "Application") {
        let Ok(application) = Application::from_object(&one.object) else { continue };
        for source in application.spec.all_sources().iter().filter(|source| source.chart.is_empty()) {
            if premises.is_meant_by(&source.repo_url) {
                return premises.answer_to(&source.repo_url);
            }
            let is_there = FilePath::new(&source.path).is_ok_and(|path| tree.entry(&path).is_ok());
            let known = hits.entry(lynceus_source::identity(&source.repo_url)).or_default();
            known.0 += usize::from(is_there && !source.path.is_empty());
            known.1 = source.repo_url.to_string();
        }
    }
    let best = hits.into_values().filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count);
    if let Some((_, url)) = best {
        premises.answer_to(&url);
    }
}

/// The Application in an object, as far as it can be read.
pub(crate) fn application(object: &Object) -> Option<Application> {
    (object.group_kind() == lynceus_engine::application_kind())
        .then(|| Application::from_object(object).ok())
        .flatten()
}

/// A tree that can be shared.
pub(crate) type SharedTree = Arc<dyn Tree>;
