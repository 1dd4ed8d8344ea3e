//! What expressions and templates need to know of a repository.

use lynceus_api::{Application, Kind as _};
use lynceus_files::FilePath;
use lynceus_notify::{Commit, Facts, Need};
use lynceus_object::{Object, Value, from_typed, value};
use lynceus_render::describe;
use lynceus_source::{RepositoryKind, Target};

use crate::engine::Engine;

impl Engine {
    /// Finds out what expressions and templates of notifications need to know of the repository of an application, or why it
    /// cannot be found out.
    pub async fn find_out(&self, application: &Object, needs: &[Need], facts: &mut Facts) {
        find_out(self, application, needs, facts).await;
    }
}

/// Finds out what is needed, or why it cannot be found out.
pub(super) async fn find_out(engine: &Engine, application: &Object, needs: &[Need], facts: &mut Facts) {
    for need in needs {
        match need {
            Need::Commit(revision) => {
                let found = commit(engine, application, revision).await;
                facts.commits.insert(revision.clone(), found);
            }
            Need::Details => facts.details = Some(details(engine, application).await),
        }
    }
}

/// What an application is made of, with the parameters that it sets itself.
async fn details(engine: &Engine, application: &Object) -> Result<Value, String> {
    let application = Application::from_object(application).map_err(|error| crate::words(&error))?;
    let source = application.spec.all_sources().into_iter().next().ok_or("the application has no source")?;
    let sources = engine.renderer().sources();
    let mut repository = engine.settings().book.find(&source.repo_url, &application.spec.project);
    let failed = |error| crate::words(&error);
    let mut described = if source.chart.is_empty() {
        let target = Target { revision: &source.target_revision, tag_prefix: "" };
        let revision = sources.resolve(&repository, target).await.map_err(failed)?;
        let tree = sources.tree(&repository, &revision).await.map_err(failed)?;
        let path = FilePath::new(&source.path).map_err(|error| error.to_string())?;
        let described = tokio::task::spawn_blocking(move || describe(tree.as_ref(), &path)).await;
        let described = described.map_err(|_| "the source cannot be described".to_owned())?;
        described.map_err(|error| error.to_string())?
    } else {
        repository.kind = RepositoryKind::Helm;
        let found = sources.chart_version(&repository, &source.chart, &source.target_revision).await;
        value!({"type": "Helm", "helm": {"name": (found.map_err(failed)?.name)}})
    };
    if let Some(helm) = source.helm.as_ref().filter(|_| described.get("helm").is_some()) {
        let typed = |error: lynceus_object::TypedError| error.to_string();
        described.set(&["helm", "overrides"], from_typed(&helm.parameters).map_err(typed)?);
        described.set(&["helm", "fileParameters"], from_typed(&helm.file_parameters).map_err(typed)?);
    }
    Ok(described)
}

async fn commit(engine: &Engine, application: &Object, revision: &str) -> Result<Commit, String> {
    let text = |path: &[&str]| application.value().str_at(path).unwrap_or_default();
    let url = text(&["spec", "source", "repoURL"]);
    let settings = engine.settings();
    let repository = settings.book.find(url, text(&["spec", "project"]));
    let sources = engine.renderer().sources();
    let target = Target { revision, tag_prefix: text(&["spec", "source", "tagPrefix"]) };
    let failed = |error| crate::words(&error);
    let found = sources.resolve(&repository, target).await.map_err(failed)?;
    let metadata = sources.metadata(&repository, &found).await.map_err(failed)?;
    Ok(Commit {
        message: metadata.message.into(),
        author: metadata.author.into(),
        date: metadata.date,
        tags: metadata.tags.into_iter().map(Into::into).collect(),
    })
}
