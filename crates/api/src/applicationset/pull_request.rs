//! The generator that lists pull requests.

use std::collections::BTreeMap;

use lynceus_object::Str;

use super::ApplicationSetTemplate;
use super::generator::{ConfigMapKeyRef, SecretRef};
use super::scm::{BasicAuthBitbucketServer, BearerTokenBitbucket, BearerTokenBitbucketCloud};
use crate::wire::wire;

wire! {
    /// Parameters from open pull requests.
    pub struct PullRequestGenerator {
        /// On GitHub.
        optional github: Option<PullRequestGeneratorGithub> = "github",
        /// On GitLab.
        optional gitlab: Option<PullRequestGeneratorGitLab> = "gitlab",
        /// On Gitea.
        optional gitea: Option<PullRequestGeneratorGitea> = "gitea",
        /// On Bitbucket Server.
        optional bitbucket_server: Option<PullRequestGeneratorBitbucketServer> = "bitbucketServer",
        /// Which pull requests.
        optional filters: Vec<PullRequestGeneratorFilter> = "filters",
        /// How often to look again.
        optional requeue_after_seconds: Option<i64> = "requeueAfterSeconds",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// On Bitbucket Cloud.
        optional bitbucket: Option<PullRequestGeneratorBitbucket> = "bitbucket",
        /// On Azure DevOps.
        optional azuredevops: Option<PullRequestGeneratorAzureDevOps> = "azuredevops",
        /// Further parameters.
        optional values: BTreeMap<Str, Str> = "values",
        /// Whether a missing repository means no pull requests instead of an error.
        optional continue_on_repo_not_found_error: bool = "continueOnRepoNotFoundError",
    }
}

wire! {
    /// Pull requests on GitHub.
    pub struct PullRequestGeneratorGithub {
        /// The owner.
        required owner: Str = "owner",
        /// The repository.
        required repo: Str = "repo",
        /// The address of its API.
        optional api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// The Secret with a GitHub App's credentials.
        optional app_secret_name: Str = "appSecretName",
        /// Labels that it has to have.
        optional labels: Vec<Str> = "labels",
    }
}

wire! {
    /// Merge requests on GitLab.
    pub struct PullRequestGeneratorGitLab {
        /// The project, by id or path.
        required project: Str = "project",
        /// The address of its API.
        optional api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// Labels that it has to have.
        optional labels: Vec<Str> = "labels",
        /// Which state it has to be in.
        optional pull_request_state: Str = "pullRequestState",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// The ConfigMap with the authorities that are trusted.
        optional ca_ref: Option<ConfigMapKeyRef> = "caRef",
    }
}

wire! {
    /// Pull requests on Gitea.
    pub struct PullRequestGeneratorGitea {
        /// The owner.
        required owner: Str = "owner",
        /// The repository.
        required repo: Str = "repo",
        /// The address of its API.
        required api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// Labels that it has to have.
        optional labels: Vec<Str> = "labels",
    }
}

wire! {
    /// Pull requests on Bitbucket Server.
    pub struct PullRequestGeneratorBitbucketServer {
        /// The project.
        required project: Str = "project",
        /// The repository.
        required repo: Str = "repo",
        /// The address of its API.
        required api: Str = "api",
        /// A user and password.
        optional basic_auth: Option<BasicAuthBitbucketServer> = "basicAuth",
        /// A token.
        optional bearer_token: Option<BearerTokenBitbucket> = "bearerToken",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// The ConfigMap with the authorities that are trusted.
        optional ca_ref: Option<ConfigMapKeyRef> = "caRef",
    }
}

wire! {
    /// Pull requests on Bitbucket Cloud.
    pub struct PullRequestGeneratorBitbucket {
        /// The owner.
        required owner: Str = "owner",
        /// The repository.
        required repo: Str = "repo",
        /// The address of its API.
        optional api: Str = "api",
        /// A user and password.
        optional basic_auth: Option<BasicAuthBitbucketServer> = "basicAuth",
        /// A token.
        optional bearer_token: Option<BearerTokenBitbucketCloud> = "bearerToken",
    }
}

wire! {
    /// Pull requests on Azure DevOps.
    pub struct PullRequestGeneratorAzureDevOps {
        /// The organisation.
        required organization: Str = "organization",
        /// The project.
        required project: Str = "project",
        /// The repository.
        required repo: Str = "repo",
        /// The address of its API.
        optional api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// Labels that it has to have.
        optional labels: Vec<Str> = "labels",
    }
}

wire! {
    /// Pull requests that all of these match.
    pub struct PullRequestGeneratorFilter {
        /// A pattern for the source branch.
        optional branch_match: Option<Str> = "branchMatch",
        /// A pattern for the target branch.
        optional target_branch_match: Option<Str> = "targetBranchMatch",
        /// A pattern for the title.
        optional title_match: Option<Str> = "titleMatch",
    }
}
