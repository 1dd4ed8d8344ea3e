//! What kustomizations name that is elsewhere: files, repositories and charts.

use lynceus_api::{AppProject, ApplicationSource};
use lynceus_kustomize::{Got, Need};
use lynceus_source::{Book, RepoUrl, Repository, SourceError, Sources};

use std::sync::Arc;

use crate::project::permits_source;

/// How repositories are reached by their addresses; or why they are not.
type Way<'a> = &'a (dyn Fn(&str) -> Result<Repository, String> + Sync);

/// How what a kustomization names is reached.
pub struct Ways<'a> {
    /// A Git repository.
    pub repository: Way<'a>,
    /// A repository of charts.
    pub charts: Way<'a>,
}

/// Gets what a kustomization names. That it cannot be had is for the build to say: what is no file may still be a
/// repository.
pub async fn get_base(sources: &Sources, need: &Need, ways: &Ways<'_>) -> Got {
    let failed = |error: SourceError| crate::words(&error);
    let got = async {
        Ok::<Got, String>(match need {
            Need::File { url } => Got::Bytes(sources.file(url).await.map_err(failed)?),
            Need::Repository { url, reference, .. } => {
                let repository = (ways.repository)(url)?;
                let wanted = if reference.is_empty() { "HEAD" } else { reference.as_str() };
                let revision = sources.resolve(&repository, wanted).await.map_err(failed)?;
                Got::Tree(sources.tree(&repository, &revision).await.map_err(failed)?)
            }
            Need::Chart { repository, name, version } => {
                let repository = (ways.charts)(repository)?;
                let chosen = sources.chart_version(&repository, name, version).await.map_err(failed)?;
                Got::Bytes(sources.chart_archive(&repository, &chosen).await.map_err(failed)?)
            }
        })
    };
    got.await.unwrap_or_else(Got::Failed)
}

/// Who names something that is elsewhere.
///
/// Whoever may push writes kustomizations and charts. Credentials are for what the project permits; anything else is seen as
/// anyone sees it.
#[derive(Clone, Copy)]
pub(crate) struct Namer<'a> {
    pub(crate) book: &'a Arc<Book>,
    pub(crate) project: &'a AppProject,
    pub(crate) source: &'a ApplicationSource,
}

impl Namer<'_> {
    /// How a repository is reached. What is on this machine, other repositories' copies among it, is only for a source
    /// that is on this machine itself.
    pub(crate) fn repository(&self, url: &str) -> Result<Repository, String> {
        let is_local = |url: &str| matches!(RepoUrl::parse(url), Ok(RepoUrl::Local(_)));
        if is_local(url) && !is_local(&self.source.repo_url) {
            return Err("a repository on this machine cannot be named from elsewhere".to_owned());
        }
        Ok(if permits_source(self.project, url) {
            self.book.find(url, &self.project.metadata.name)
        } else {
            Repository::at(url)
        })
    }

    /// How a repository of charts is reached; none if the charts are beside the one that names it.
    pub(crate) fn charts(&self, repository: &str) -> Result<Option<Repository>, SourceError> {
        let found = self.book.dependency(repository, &self.project.metadata.name)?;
        Ok(found.map(|found| {
            if permits_source(self.project, &found.url) { found } else { Repository::charts(found.url) }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, value};

    #[test]
    fn credentials_are_for_what_the_project_permits() {
        let secret = |name: &str, kind: &str, url: &str| {
            let labels = value!({"argocd.argoproj.io/secret-type": "repository"});
            let mut secret = Object::new(value!({"apiVersion": "v1", "kind": "Secret"})).unwrap();
            secret.set(&["metadata"], value!({"name": name, "labels": labels}));
            secret.set(&["stringData"], value!({"url": url, "type": kind, "username": "u", "password": "p"}));
            secret
        };
        let secrets = [
            secret("a", "git", "https://host/team/base"),
            secret("b", "git", "https://host/other/base"),
            secret("c", "helm", "https://host/team/charts"),
            secret("d", "helm", "https://host/other/charts"),
        ];
        let book = Arc::new(Book::read(&secrets).0);
        let mut project = Object::new(value!({"metadata": {"name": "shop"}})).unwrap();
        project.set(&["spec"], value!({"sourceRepos": ["https://host/team/*"]}));
        let project = AppProject::from_object(&project).unwrap();
        let source = |url: &str| ApplicationSource { repo_url: url.into(), ..ApplicationSource::default() };
        let (far, near) = (source("https://host/team/app"), source("/srv/app"));
        let namer = Namer { book: &book, project: &project, source: &far };
        let is_known = |url: &str| namer.repository(url).map(|found| found.access.has_credentials());
        assert_eq!(is_known("https://host/team/base"), Ok(true));
        assert_eq!(is_known("https://host/other/base"), Ok(false));
        let has = |url: &str| namer.charts(url).unwrap().map(|found| found.access.has_credentials());
        assert_eq!(has("https://host/team/charts"), Some(true));
        assert_eq!(has("https://host/other/charts"), Some(false));
        assert_eq!(has("file://../beside"), None);
        for local in ["file:///srv/other", "/srv/other"] {
            assert!(is_known(local).unwrap_err().contains("on this machine"), "{local}");
            assert!(Namer { source: &near, ..namer }.repository(local).is_ok(), "{local}");
        }
    }
}
