//! What an ApplicationSet asks for, got from wherever it is.

use std::sync::Arc;
use std::time::Duration;

use lynceus_api::{AppProject, Kind as _, LabelSelector};
use lynceus_appset::{Answer, Need, PullRequest, Repository, RepositoryId};
use lynceus_object::selector::Selector;
use lynceus_object::{ObjectKey, Value, from_typed};
use lynceus_source::{ScmError, ScmId, ScmKeys, ScmPullRequest, ScmRepository, ScmRules};

use super::memory::Kept;
use super::watched::Watched;
use crate::engine::Engine;
use crate::key::project_kind;
use crate::limits;
use crate::project;
use crate::queue::Freshness;

impl Engine {
    /// The answer to a need of a set in a namespace: what was got before where that will do, else anew.
    pub(super) async fn answer(
        &self,
        namespace: &str,
        need: &Need,
        kept: Option<&Kept>,
        freshness: Freshness,
    ) -> Kept {
        let now = self.clock().monotonic();
        if let Some(kept) = kept.filter(|kept| is_fresh(kept, freshness, now)) {
            return kept.clone();
        }
        if let Need::Tree { repo, revision, project } = need {
            return match self.tree_for(repo, revision, project, freshness).await {
                Ok((commit, files)) => Kept::tree(need.clone(), commit, Arc::new(files), now),
                Err(why) => Kept::new(need.clone(), Answer::Failed(why), now),
            };
        }
        let answer = self.ask(namespace, need).await.unwrap_or_else(Answer::Failed);
        Kept::new(need.clone(), answer, now)
    }

    async fn ask(&self, namespace: &str, need: &Need) -> Result<Answer, String> {
        let home = self.options().namespace.clone();
        let scm = &self.sets.scm;
        match need {
            Need::Clusters => {
                let (clusters, problems) = self.registered_clusters();
                problems.into_iter().next().map_or(Ok(Answer::Clusters(clusters)), Err)
            }
            Need::ConfigMap { name } => self.config_map(&home, name).await.map(Answer::ConfigMap),
            Need::Decisions { api_version, resource, name, selector } => {
                self.decisions(api_version, resource, name, selector).await.map(Answer::Objects)
            }
            Need::Plugin { config_map, body } => self.plugin_parameters(config_map, body).await,
            Need::Repositories { provider } => {
                let (keys, rules) = self.scm_way(namespace, self.scm_keys(namespace, provider).await?)?;
                repositories(scm.repositories(provider, &keys, &rules).await)
            }
            Need::Branches { provider, repository } => {
                let (keys, rules) = self.scm_way(namespace, self.scm_keys(namespace, provider).await?)?;
                repositories(scm.branches(provider, &to_scm(repository), &keys, &rules).await)
            }
            Need::Path { provider, repository, path } => {
                let (keys, rules) = self.scm_way(namespace, self.scm_keys(namespace, provider).await?)?;
                let found = scm.has_path(provider, &to_scm(repository), path, &keys, &rules).await;
                found.map(Answer::Exists).map_err(|error| error.to_string())
            }
            Need::PullRequests { provider } => {
                let (keys, rules) = self.scm_way(namespace, self.pull_keys(namespace, provider).await?)?;
                match scm.pull_requests(provider, &keys, &rules).await {
                    Ok(found) => Ok(Answer::PullRequests(found.into_iter().map(pull_request).collect())),
                    Err(ScmError::NotFound { what }) => Ok(Answer::NotFound(what)),
                    Err(error) => Err(error.to_string()),
                }
            }
            Need::Tree { .. } => Err("a tree is got elsewhere".to_owned()),
        }
    }

    /// Who may be asked. Whoever may make sets in a namespace of their own must not send tokens wherever they like.
    fn scm_way(
        &self,
        namespace: &str,
        (keys, address): (ScmKeys, lynceus_object::Str),
    ) -> Result<(ScmKeys, ScmRules), String> {
        let rules = self.settings().sets.scm.clone();
        let is_elsewhere = namespace != self.options().namespace.as_str();
        if is_elsewhere && !address.is_empty() && rules.allowed.is_empty() && rules.enabled {
            return Err(format!(
                "an ApplicationSet outside of the namespace {} may name an address only if \
                 applicationsetcontroller.allowed.scm.providers lists it",
                self.options().namespace
            ));
        }
        Ok((keys, rules))
    }

    /// The files of a repository, if its commit is signed as the project wants it.
    async fn tree_for(
        &self,
        repo: &str,
        revision: &str,
        project: &str,
        freshness: Freshness,
    ) -> Result<(String, Watched), String> {
        let settings = self.settings();
        let repository = settings.book.find(repo, project);
        let sources = self.renderer().sources();
        if freshness == Freshness::Anew {
            sources.forget(&repository);
        }
        let found = sources.resolve(&repository, revision).await.map_err(|error| crate::words(&error))?;
        if let Some(project) = self.project_named(project)? {
            let policy = project::policy(&project, repo)?;
            if let Some(policy) = policy {
                let now = self.clock().now();
                let signatures = sources
                    .signatures(&repository, &found, policy.deep, &settings.keyring, now)
                    .await
                    .map_err(|error| crate::words(&error))?;
                let problems = policy.problems(&signatures);
                if !problems.is_empty() {
                    return Err(problems.join("; "));
                }
            }
        }
        let tree = sources.tree(&repository, &found).await.map_err(|error| crate::words(&error))?;
        Ok((found.commit.to_string(), Watched::new(tree)))
    }

    /// A project, if there is one of that name. One that cannot be read may want signatures, so nothing is taken without it.
    fn project_named(&self, name: &str) -> Result<Option<AppProject>, String> {
        let kind = project_kind();
        let key = ObjectKey::new(kind.group, kind.kind, self.options().namespace.clone(), name);
        let found = self.home().cache().get(&key);
        let read = found.map(|object| AppProject::from_object(&object)).transpose();
        read.map_err(|error| format!("project {name} cannot be read: {}", crate::words(&error)))
    }

    /// Objects that choose clusters, in the installation's own namespace.
    async fn decisions(
        &self,
        api_version: &str,
        resource: &str,
        name: &str,
        selector: &LabelSelector,
    ) -> Result<Vec<Value>, String> {
        let is_plain = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'/' | b'_');
            !text.is_empty() && text.bytes().all(plain) && !text.contains("..")
        };
        let namespace = &self.options().namespace;
        let path = format!("/apis/{api_version}/namespaces/{namespace}/{resource}");
        let path = if name.is_empty() { path } else { format!("{path}/{name}") };
        if ![api_version, resource].into_iter().all(is_plain) || !(name.is_empty() || is_plain(name)) {
            return Err(format!("{path} cannot be asked for"));
        }
        let found = match self.home().raw(&path).await {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Err(format!("there is no {path}")),
            Err(error) => return Err(crate::words(&error)),
        };
        if !name.is_empty() {
            return Ok(vec![found]);
        }
        let selector = from_typed(selector).map_err(|error| error.to_string())?;
        let selector = Selector::from_object(Some(&selector)).map_err(|error| error.to_string())?;
        let fits = |item: &&Value| {
            selector
                .matches(|key| item.at(&["metadata", "labels"]).and_then(|labels| labels.get(key)?.as_str()))
        };
        Ok(items(&path, &found)?.iter().filter(fits).cloned().collect())
    }

    async fn plugin_parameters(&self, config_map: &str, body: &Value) -> Result<Answer, String> {
        let config = self.config_map(&self.options().namespace, config_map).await?;
        let get = |key: &str| config.get(key).map(|text| text.trim()).filter(|text| !text.is_empty());
        let base = get("baseUrl").ok_or_else(|| format!("the ConfigMap {config_map} has no baseUrl"))?;
        let token = get("token").ok_or_else(|| format!("the ConfigMap {config_map} has no token"))?;
        let token = self.plugin_token(token).await?;
        let patience = patience(config_map, get("requestTimeout"))?;
        let found = self.sets.scm.parameters(base, &token, body, patience).await;
        found.map(Answer::Parameters).map_err(|error| error.to_string())
    }
}

/// Whether what was got before will do. What the cluster itself has costs nothing to look at; who could not be reached is
/// asked again before long.
fn is_fresh(kept: &Kept, freshness: Freshness, now: Duration) -> bool {
    let is_near = matches!(kept.need, Need::Clusters | Need::ConfigMap { .. } | Need::Decisions { .. });
    let is_old_failure = kept.has_failed() && now.saturating_sub(kept.asked) >= limits::SET_FAILURE;
    freshness == Freshness::Recent && !is_near && !is_old_failure
}

/// The objects of a list. An answer that is none is not one without objects: that would delete what they had made.
fn items<'a>(path: &str, list: &'a Value) -> Result<&'a [Value], String> {
    match list.get("items") {
        Some(items) if items.is_null() => Ok(&[]),
        Some(items) => items
            .as_seq()
            .ok_or_else(|| format!("the answer to {path} has items that are {}", items.type_name())),
        None => Err(format!("the answer to {path} is no list; name a resource in the generator's ConfigMap")),
    }
}

/// How long a plugin may take, as its ConfigMap says; as usual where that says nothing.
fn patience(config_map: &str, text: Option<&str>) -> Result<Option<Duration>, String> {
    let Some(text) = text else { return Ok(None) };
    match text.parse() {
        Ok(seconds) => Ok(Some(Duration::from_secs(seconds))),
        Err(_) => {
            Err(format!("the ConfigMap {config_map} has requestTimeout {text:?}; write a number of seconds"))
        }
    }
}

fn repositories(found: Result<Vec<ScmRepository>, ScmError>) -> Result<Answer, String> {
    let found = found.map_err(|error| match error {
        ScmError::NotFound { what } => format!("{what} is not there"),
        other => other.to_string(),
    })?;
    Ok(Answer::Repositories(found.into_iter().map(repository).collect()))
}

fn repository(from: ScmRepository) -> Repository {
    Repository {
        organization: from.organization,
        repository: from.repository,
        id: from.id.map(|id| match id {
            ScmId::Number(number) => RepositoryId::Number(number),
            ScmId::Text(text) => RepositoryId::Text(text),
        }),
        url: from.url,
        branch: from.branch,
        sha: from.sha,
        labels: from.labels,
    }
}

fn to_scm(from: &Repository) -> ScmRepository {
    ScmRepository {
        organization: from.organization.clone(),
        repository: from.repository.clone(),
        id: from.id.as_ref().map(|id| match id {
            RepositoryId::Number(number) => ScmId::Number(*number),
            RepositoryId::Text(text) => ScmId::Text(text.clone()),
        }),
        url: from.url.clone(),
        branch: from.branch.clone(),
        sha: from.sha.clone(),
        labels: from.labels.clone(),
    }
}

fn pull_request(from: ScmPullRequest) -> PullRequest {
    PullRequest {
        number: from.number,
        title: from.title,
        branch: from.branch,
        target_branch: from.target_branch,
        head_sha: from.head_sha,
        labels: from.labels,
        author: from.author,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::yaml;

    #[test]
    fn an_answer_that_is_no_list_is_not_an_empty_one() {
        let count = |text: &str| items("/apis/x", &yaml::parse_str(text).expect("YAML")).map(<[Value]>::len);
        assert_eq!(count("items: [{}, {}]"), Ok(2));
        assert_eq!(count("items: []"), Ok(0));
        assert_eq!(count("items: null"), Ok(0));
        assert_eq!(count("items: {}"), Err("the answer to /apis/x has items that are object".to_owned()));
        let none = "the answer to /apis/x is no list; name a resource in the generator's ConfigMap";
        assert_eq!(count("kind: Pod"), Err(none.to_owned()));
    }

    #[test]
    fn a_time_for_a_plugin_that_is_no_number_is_told() {
        assert_eq!(patience("p", None), Ok(None));
        assert_eq!(patience("p", Some("5")), Ok(Some(Duration::from_secs(5))));
        let wrong = "the ConfigMap p has requestTimeout \"5s\"; write a number of seconds";
        assert_eq!(patience("p", Some("5s")), Err(wrong.to_owned()));
    }
}
