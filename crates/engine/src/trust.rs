//! Whether the revision of a source may be delivered: signed as the project wants it.

use lynceus_api::ApplicationSource;
use lynceus_source::{Origin, Repository, Revision, Target};

use crate::project;
use crate::rendering::{Renderer, RenderingError, Request};

impl Renderer {
    /// Checks the signatures of a source's revision, if the project wants any. Nothing of a revision that is not trusted is
    /// read further.
    pub(crate) async fn trust(
        &self,
        request: &Request<'_>,
        (index, source): (usize, &ApplicationSource),
        repository: &Repository,
        revision: &Revision,
    ) -> Result<(), RenderingError> {
        let Some(policy) =
            project::policy(request.project, &source.repo_url).map_err(RenderingError::Untrusted)?
        else {
            return Ok(());
        };
        let revision = self.signed(source, repository, revision).await;
        let signatures = self
            .sources()
            .signatures(repository, &revision, policy.deep, request.keyring, request.now)
            .await
            .map_err(|error| RenderingError::Source {
                repository: repository.shown(),
                source: error.into(),
            })?;
        let problems = policy.problems(&signatures);
        if problems.is_empty() {
            return Ok(());
        }
        let place = match (request.sources.len(), source.name.as_str()) {
            (1, _) => String::new(),
            (count, "") => format!("source {} of {count}: ", index + 1),
            (_, name) => format!("source {name}: "),
        };
        let lines: Vec<String> =
            problems.into_iter().map(|problem| format!("GIT/GPG: {place}{problem}")).collect();
        Err(RenderingError::Untrusted(lines.join("\n")))
    }

    /// The revision as its signer knows it. A sync is pinned to a commit, but where the application follows a tag it is the
    /// tag that carries the signature.
    async fn signed(
        &self,
        source: &ApplicationSource,
        repository: &Repository,
        revision: &Revision,
    ) -> Revision {
        if revision.origin != Origin::Commit {
            return revision.clone();
        }
        let target = Target { revision: &source.target_revision, tag_prefix: &source.tag_prefix };
        match self.sources().resolve(repository, target).await {
            Ok(named) if named.commit == revision.commit => named,
            _ => revision.clone(),
        }
    }
}
