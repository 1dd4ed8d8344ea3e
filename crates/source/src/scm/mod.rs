//! Hosts of repositories, asked for what they have: the repositories of an organisation, their branches and paths, and
//! open pull requests.
//!
//! Each host has a file of its own with what its API calls things. [`web`] has what they share: who may be asked, who may
//! see the credentials, how much an answer may hold, and what a host means that says no.

mod app;
mod aws;
mod azure;
mod bitbucket;
mod bitbucket_server;
mod codecommit;
mod error;
mod gitea;
mod github;
mod gitlab;
mod plugin;
mod web;

pub use aws::Aws;
pub use error::ScmError;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_api::{PullRequestGenerator, ScmProviderGenerator};
use lynceus_object::Str;
use tokio::time::Instant;

use crate::limits;
use crate::secret::Secret;
use crate::settings::Settings;
use web::{Opening, Web};

/// A repository and one of its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScmRepository {
    /// The organisation, group or project.
    pub organization: Str,
    /// Its name.
    pub repository: Str,
    /// Its id, where the host has one.
    pub id: Option<ScmId>,
    /// Where to clone it from.
    pub url: Str,
    /// The branch.
    pub branch: Str,
    /// The branch's commit; empty as long as only the repository is known.
    pub sha: Str,
    /// The repository's labels or topics.
    pub labels: Vec<Str>,
}

/// The id of a repository: some hosts count, others name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScmId {
    /// A number.
    Number(i64),
    /// A text.
    Text(Str),
}

impl fmt::Display for ScmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScmId::Number(number) => write!(f, "{number}"),
            ScmId::Text(text) => f.write_str(text),
        }
    }
}

/// An open pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScmPullRequest {
    /// Its number.
    pub number: i64,
    /// Its title.
    pub title: Str,
    /// The branch that it is made from.
    pub branch: Str,
    /// The branch that it is made for.
    pub target_branch: Str,
    /// Its newest commit.
    pub head_sha: Str,
    /// Its labels.
    pub labels: Vec<Str>,
    /// Who made it.
    pub author: Str,
}

/// What the references of a generator lead to.
#[derive(Clone, Debug, Default)]
pub struct ScmKeys {
    /// A token, or the password of a user.
    pub token: Secret,
    /// The user, where there is one.
    pub username: String,
    /// A GitHub app that asks in its own name.
    pub app: Option<GithubApp>,
    /// Certificates to trust instead of the system's, in PEM.
    pub certificate_authority: String,
}

/// An app of GitHub, which asks for a token of its own with its key.
#[derive(Clone, Debug, Default)]
pub struct GithubApp {
    /// Its id.
    pub id: String,
    /// The id of its installation; empty to ask for that of the organisation.
    pub installation: String,
    /// The address of its API, where it is not the public one.
    pub api: String,
    /// Its private key, in PEM.
    pub private_key: Secret,
}

/// Who may be asked at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScmRules {
    /// Whether anybody may.
    pub enabled: bool,
    /// The only addresses that a generator may name; all if there are none. What names no address asks the public host
    /// of its kind, which is always allowed.
    pub allowed: Vec<Str>,
    /// A file on this machine with certificates that the hosts which a generator names are trusted by, in PEM; empty for none.
    pub authority_file: Str,
}

impl Default for ScmRules {
    fn default() -> Self {
        ScmRules { enabled: true, allowed: Vec::new(), authority_file: Str::new() }
    }
}

/// Asks hosts. It keeps connections, tokens of apps and what a host said about asking too often, so it is made once.
pub struct Scm {
    settings: Settings,
    aws: Aws,
    known: Mutex<HashMap<String, (Instant, Arc<Web>)>>,
}

impl Scm {
    /// Asks with the proxies of `settings`; CodeCommit with what `aws` says.
    pub fn new(settings: Settings, aws: Aws) -> Self {
        Scm { settings, aws, known: Mutex::default() }
    }

    /// The repositories of an organisation, each with its default branch, without the filters.
    pub async fn repositories(
        &self,
        provider: &ScmProviderGenerator,
        keys: &ScmKeys,
        rules: &ScmRules,
    ) -> Result<Vec<ScmRepository>, ScmError> {
        let protocol = provider.clone_protocol.as_str();
        in_time(async {
            if let Some(asked) = &provider.github {
                let web = self.github(&asked.api, &asked.organization, keys, rules).await?;
                return github::repositories(&web, asked, protocol).await;
            }
            if let Some(asked) = &provider.gitlab {
                let web = self.web(gitlab::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitlab::repositories(&web, asked, protocol).await;
            }
            if let Some(asked) = &provider.gitea {
                let web = self.web(gitea::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitea::repositories(&web, asked, protocol).await;
            }
            if let Some(asked) = &provider.bitbucket {
                let web = self.web(bitbucket::opening("", &asked.user, keys), rules)?;
                return bitbucket::repositories(&web, asked, protocol).await;
            }
            if let Some(asked) = &provider.bitbucket_server {
                let web = self.web(bitbucket_server::opening(&asked.api, asked.insecure, keys), rules)?;
                return bitbucket_server::repositories(&web, asked, protocol).await;
            }
            if let Some(asked) = &provider.azure_dev_ops {
                let web = self.web(azure::opening(&asked.api, keys), rules)?;
                return azure::repositories(&web, asked, protocol).await;
            }
            if let Some(asked) = &provider.aws_code_commit {
                return codecommit::repositories(&self.code_commit(asked, rules)?, asked, protocol).await;
            }
            Err(ScmError::NoHost)
        })
        .await
    }

    /// The branches of a repository: its default one, or all if that is what the generator wants.
    pub async fn branches(
        &self,
        provider: &ScmProviderGenerator,
        repository: &ScmRepository,
        keys: &ScmKeys,
        rules: &ScmRules,
    ) -> Result<Vec<ScmRepository>, ScmError> {
        in_time(async {
            if let Some(asked) = &provider.github {
                let web = self.github(&asked.api, &asked.organization, keys, rules).await?;
                return github::branches(&web, asked, repository).await;
            }
            if let Some(asked) = &provider.gitlab {
                let web = self.web(gitlab::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitlab::branches(&web, asked, repository).await;
            }
            if let Some(asked) = &provider.gitea {
                let web = self.web(gitea::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitea::branches(&web, asked, repository).await;
            }
            if let Some(asked) = &provider.bitbucket {
                let web = self.web(bitbucket::opening("", &asked.user, keys), rules)?;
                return bitbucket::branches(&web, asked, repository).await;
            }
            if let Some(asked) = &provider.bitbucket_server {
                let web = self.web(bitbucket_server::opening(&asked.api, asked.insecure, keys), rules)?;
                return bitbucket_server::branches(&web, asked, repository).await;
            }
            if let Some(asked) = &provider.azure_dev_ops {
                let web = self.web(azure::opening(&asked.api, keys), rules)?;
                return azure::branches(&web, asked, repository).await;
            }
            if let Some(asked) = &provider.aws_code_commit {
                return codecommit::branches(&self.code_commit(asked, rules)?, asked, repository).await;
            }
            Err(ScmError::NoHost)
        })
        .await
    }

    /// Whether a branch has a path.
    pub async fn has_path(
        &self,
        provider: &ScmProviderGenerator,
        repository: &ScmRepository,
        path: &str,
        keys: &ScmKeys,
        rules: &ScmRules,
    ) -> Result<bool, ScmError> {
        let path = path.trim_matches('/');
        in_time(async {
            if let Some(asked) = &provider.github {
                let web = self.github(&asked.api, &asked.organization, keys, rules).await?;
                return github::has_path(&web, repository, path).await;
            }
            if let Some(asked) = &provider.gitlab {
                let web = self.web(gitlab::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitlab::has_path(&web, repository, path).await;
            }
            if let Some(asked) = &provider.gitea {
                let web = self.web(gitea::opening(&asked.api, asked.insecure, keys), rules)?;
                // It asks for contents as GitHub does.
                return github::has_path(&web, repository, path).await;
            }
            if let Some(asked) = &provider.bitbucket {
                let web = self.web(bitbucket::opening("", &asked.user, keys), rules)?;
                return bitbucket::has_path(&web, repository, path).await;
            }
            if let Some(asked) = &provider.bitbucket_server {
                let web = self.web(bitbucket_server::opening(&asked.api, asked.insecure, keys), rules)?;
                return bitbucket_server::has_path(&web, repository, path).await;
            }
            if let Some(asked) = &provider.azure_dev_ops {
                let web = self.web(azure::opening(&asked.api, keys), rules)?;
                return azure::has_path(&web, asked, repository, path).await;
            }
            if let Some(asked) = &provider.aws_code_commit {
                return codecommit::has_path(&self.code_commit(asked, rules)?, repository, path).await;
            }
            Err(ScmError::NoHost)
        })
        .await
    }

    /// Open pull requests, without the filters but with the labels that the generator asks for.
    pub async fn pull_requests(
        &self,
        provider: &PullRequestGenerator,
        keys: &ScmKeys,
        rules: &ScmRules,
    ) -> Result<Vec<ScmPullRequest>, ScmError> {
        in_time(async {
            if let Some(asked) = &provider.github {
                let web = self.github(&asked.api, &asked.owner, keys, rules).await?;
                return github::pull_requests(&web, asked).await;
            }
            if let Some(asked) = &provider.gitlab {
                let web = self.web(gitlab::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitlab::pull_requests(&web, asked).await;
            }
            if let Some(asked) = &provider.gitea {
                let web = self.web(gitea::opening(&asked.api, asked.insecure, keys), rules)?;
                return gitea::pull_requests(&web, asked).await;
            }
            if let Some(asked) = &provider.bitbucket_server {
                let web = self.web(bitbucket_server::opening(&asked.api, asked.insecure, keys), rules)?;
                return bitbucket_server::pull_requests(&web, asked).await;
            }
            if let Some(asked) = &provider.bitbucket {
                let web = self.web(bitbucket::opening(&asked.api, &keys.username, keys), rules)?;
                return bitbucket::pull_requests(&web, asked).await;
            }
            if let Some(asked) = &provider.azuredevops {
                let web = self.web(azure::opening(&asked.api, keys), rules)?;
                return azure::pull_requests(&web, asked).await;
            }
            Err(ScmError::NoHost)
        })
        .await
    }

    /// The way to a host, as it was opened before if it was a short while ago.
    fn web(&self, mut opening: Opening, rules: &ScmRules) -> Result<Arc<Web>, ScmError> {
        opening.check(rules)?;
        if opening.is_named && !rules.authority_file.is_empty() {
            let path = rules.authority_file.as_str();
            let text = std::fs::read_to_string(path).map_err(|error| ScmError::Unusable {
                what: format!("the file {path} of applicationsetcontroller.scm.root.ca.path"),
                reason: error.to_string(),
            })?;
            opening.certificate_authority = format!("{}\n{text}", opening.certificate_authority);
        }
        self.kept(&opening.key(), || opening.open(&self.settings))
    }

    fn kept(&self, key: &str, open: impl FnOnce() -> Result<Web, ScmError>) -> Result<Arc<Web>, ScmError> {
        if let Some(web) = self.known(key) {
            return Ok(web);
        }
        let web = Arc::new(open()?);
        self.keep(key, &web);
        Ok(web)
    }

    fn known(&self, key: &str) -> Option<Arc<Web>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).filter(|(until, _)| *until > Instant::now()).map(|(_, web)| web.clone())
    }

    fn keep(&self, key: &str, web: &Arc<Web>) {
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (until, _)| *until > now);
        if known.len() < limits::MAX_SCM_HOSTS {
            known.insert(key.to_owned(), (now + limits::SCM_TOKEN_LIFE, web.clone()));
        }
    }

    /// The way to GitHub: with a token, or as an app that has to get one first.
    async fn github(
        &self,
        api: &str,
        organization: &str,
        keys: &ScmKeys,
        rules: &ScmRules,
    ) -> Result<Arc<Web>, ScmError> {
        let Some(app) = &keys.app else { return self.web(github::opening(api, keys), rules) };
        let api = if api.is_empty() { &app.api } else { api };
        let opening = github::opening(api, keys);
        opening.check(rules)?;
        let key = format!("{} app {} {} {organization}", opening.key(), app.id, app.installation);
        if let Some(web) = self.known(&key) {
            return Ok(web);
        }
        let token = app::token(&opening.open(&self.settings)?, app, organization).await?;
        let keys = ScmKeys { token, app: None, ..keys.clone() };
        let web = Arc::new(github::opening(api, &keys).open(&self.settings)?);
        self.keep(&key, &web);
        Ok(web)
    }

    fn code_commit(
        &self,
        asked: &lynceus_api::ScmProviderGeneratorAwsCodeCommit,
        rules: &ScmRules,
    ) -> Result<codecommit::Door<'_>, ScmError> {
        if !rules.enabled {
            return Err(ScmError::Disabled);
        }
        codecommit::Door::open(&self.aws, asked, &self.settings)
    }
}

/// No conversation with a host goes on for ever, however many pages it has.
async fn in_time<T>(work: impl Future<Output = Result<T, ScmError>>) -> Result<T, ScmError> {
    match tokio::time::timeout(limits::SCM_TIMEOUT, work).await {
        Ok(result) => result,
        Err(_) => Err(ScmError::TooSlow { after: limits::SCM_TIMEOUT }),
    }
}

/// Which address a repository is cloned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Ssh,
    Https,
}

impl Protocol {
    /// SSH unless the generator says otherwise, as in Argo CD.
    fn read(text: &str) -> Result<Self, ScmError> {
        Protocol::read_or(text, Protocol::Ssh)
    }

    fn read_or(text: &str, usual: Protocol) -> Result<Self, ScmError> {
        match text {
            "" => Ok(usual),
            "ssh" => Ok(Protocol::Ssh),
            "https" => Ok(Protocol::Https),
            other => Err(ScmError::Protocol { asked: other.to_owned() }),
        }
    }

    fn choose<'a>(self, ssh: &'a str, https: &'a str) -> &'a str {
        match self {
            Protocol::Ssh => ssh,
            Protocol::Https => https,
        }
    }
}

/// Whether a pull request has all labels that are asked for.
fn has_labels(own: &[Str], asked: &[Str]) -> bool {
    asked.iter().all(|label| own.contains(label))
}
