//! The generator that lists repositories of an organisation.

use std::collections::BTreeMap;

use lynceus_object::Str;

use super::ApplicationSetTemplate;
use super::generator::{ConfigMapKeyRef, SecretRef};
use crate::wire::wire;

wire! {
    /// Parameters from the repositories of an organisation.
    pub struct ScmProviderGenerator {
        /// On GitHub.
        optional github: Option<ScmProviderGeneratorGithub> = "github",
        /// On GitLab.
        optional gitlab: Option<ScmProviderGeneratorGitlab> = "gitlab",
        /// On Bitbucket Cloud.
        optional bitbucket: Option<ScmProviderGeneratorBitbucket> = "bitbucket",
        /// On Bitbucket Server.
        optional bitbucket_server: Option<ScmProviderGeneratorBitbucketServer> = "bitbucketServer",
        /// On Gitea.
        optional gitea: Option<ScmProviderGeneratorGitea> = "gitea",
        /// On Azure DevOps.
        optional azure_dev_ops: Option<ScmProviderGeneratorAzureDevOps> = "azureDevOps",
        /// Which repositories and branches.
        optional filters: Vec<ScmProviderGeneratorFilter> = "filters",
        /// `ssh` or `https`.
        optional clone_protocol: Str = "cloneProtocol",
        /// How often to look again.
        optional requeue_after_seconds: Option<i64> = "requeueAfterSeconds",
        /// Changes to the template.
        always template: ApplicationSetTemplate = "template",
        /// Further parameters.
        optional values: BTreeMap<Str, Str> = "values",
        /// On AWS CodeCommit.
        optional aws_code_commit: Option<ScmProviderGeneratorAwsCodeCommit> = "awsCodeCommit",
    }
}

wire! {
    /// Repositories on GitHub.
    pub struct ScmProviderGeneratorGithub {
        /// The organisation.
        required organization: Str = "organization",
        /// The address of its API.
        optional api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// The Secret with a GitHub App's credentials.
        optional app_secret_name: Str = "appSecretName",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
        /// Whether archived repositories are left out.
        optional exclude_archived_repos: bool = "excludeArchivedRepos",
    }
}

wire! {
    /// Repositories on GitLab.
    pub struct ScmProviderGeneratorGitlab {
        /// The group, by id or path.
        required group: Str = "group",
        /// Whether subgroups are taken too.
        optional include_subgroups: bool = "includeSubgroups",
        /// The address of its API.
        optional api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// Whether projects that are shared with the group are taken too.
        optional include_shared_projects: Option<bool> = "includeSharedProjects",
        /// A topic that repositories have to have.
        optional topic: Str = "topic",
        /// The ConfigMap with the authorities that are trusted.
        optional ca_ref: Option<ConfigMapKeyRef> = "caRef",
        /// Whether archived repositories are taken too.
        optional include_archived_repos: bool = "includeArchivedRepos",
    }
}

wire! {
    /// Repositories on Gitea.
    pub struct ScmProviderGeneratorGitea {
        /// The owner.
        required owner: Str = "owner",
        /// The address of its API.
        required api: Str = "api",
        /// The Secret with a token.
        optional token_ref: Option<SecretRef> = "tokenRef",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// Whether archived repositories are left out.
        optional exclude_archived_repos: bool = "excludeArchivedRepos",
    }
}

wire! {
    /// Repositories on Bitbucket Cloud.
    pub struct ScmProviderGeneratorBitbucket {
        /// The owner.
        required owner: Str = "owner",
        /// The user to log in as.
        required user: Str = "user",
        /// The Secret with the app password.
        required app_password_ref: Option<SecretRef> = "appPasswordRef",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
    }
}

wire! {
    /// Repositories on Bitbucket Server.
    pub struct ScmProviderGeneratorBitbucketServer {
        /// The project.
        required project: Str = "project",
        /// The address of its API.
        required api: Str = "api",
        /// A user and password.
        optional basic_auth: Option<BasicAuthBitbucketServer> = "basicAuth",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
        /// A token.
        optional bearer_token: Option<BearerTokenBitbucket> = "bearerToken",
        /// Whether the server's certificate is not checked.
        optional insecure: bool = "insecure",
        /// The ConfigMap with the authorities that are trusted.
        optional ca_ref: Option<ConfigMapKeyRef> = "caRef",
    }
}

wire! {
    /// Repositories on Azure DevOps.
    pub struct ScmProviderGeneratorAzureDevOps {
        /// The organisation.
        required organization: Str = "organization",
        /// The address of its API.
        optional api: Str = "api",
        /// The project.
        required team_project: Str = "teamProject",
        /// The Secret with a token.
        required access_token_ref: Option<SecretRef> = "accessTokenRef",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
    }
}

wire! {
    /// Repositories on AWS CodeCommit.
    pub struct ScmProviderGeneratorAwsCodeCommit {
        /// Tags that repositories have to have.
        optional tag_filters: Vec<TagFilter> = "tagFilters",
        /// A role to assume.
        optional role: Str = "role",
        /// The region.
        optional region: Str = "region",
        /// Whether every branch counts, and not just the default one.
        optional all_branches: bool = "allBranches",
    }
}

wire! {
    /// Repositories and branches that all of these match.
    pub struct ScmProviderGeneratorFilter {
        /// A pattern for the repository's name.
        optional repository_match: Option<Str> = "repositoryMatch",
        /// Paths that have to be there.
        optional paths_exist: Vec<Str> = "pathsExist",
        /// Paths that must not be there.
        optional paths_do_not_exist: Vec<Str> = "pathsDoNotExist",
        /// A pattern for one of its labels.
        optional label_match: Option<Str> = "labelMatch",
        /// A pattern for the branch's name.
        optional branch_match: Option<Str> = "branchMatch",
    }
}

wire! {
    /// A tag that a repository has to have.
    pub struct TagFilter {
        /// The tag.
        required key: Str = "key",
        /// Its value; any if empty.
        optional value: Str = "value",
    }
}

wire! {
    /// A user and password.
    pub struct BasicAuthBitbucketServer {
        /// The user.
        required username: Str = "username",
        /// The Secret with the password.
        required password_ref: Option<SecretRef> = "passwordRef",
    }
}

wire! {
    /// A token for Bitbucket Server.
    pub struct BearerTokenBitbucket {
        /// The Secret with a token.
        required token_ref: Option<SecretRef> = "tokenRef",
    }
}

wire! {
    /// A token for Bitbucket Cloud.
    pub struct BearerTokenBitbucketCloud {
        /// The Secret with a token.
        required token_ref: Option<SecretRef> = "tokenRef",
    }
}
