//! What expressions and templates need to know of a repository.

use lynceus_notify::{Commit, Facts, Need};
use lynceus_object::Object;
use lynceus_source::Target;

use crate::engine::Engine;

/// Finds out what is needed, or why it cannot be found out.
pub(super) async fn find_out(engine: &Engine, application: &Object, needs: &[Need], facts: &mut Facts) {
    for need in needs {
        match need {
            Need::Commit(revision) => {
                let found = commit(engine, application, revision).await;
                facts.commits.insert(revision.clone(), found);
            }
            Need::Details => {
                let message = "repo.GetAppDetails is not answered here; use .app.spec.source instead";
                facts.details = Some(Err(message.to_owned()));
            }
        }
    }
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
