//! Projects: what applications may do, and who may do it to them.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::application::ApplicationDestination;
use crate::codes::GpgMode;
use crate::metadata::{ListMeta, ObjectMeta};
use crate::wire::wire;
use crate::word::Open;

wire! {
    /// What a group of applications may do.
    pub struct AppProject {
        /// `argoproj.io/v1alpha1`.
        optional api_version: Str = "apiVersion",
        /// `AppProject`.
        optional kind: Str = "kind",
        /// Name, labels and annotations.
        required metadata: ObjectMeta = "metadata",
        /// What is allowed.
        required spec: AppProjectSpec = "spec",
        /// Tokens that were issued.
        always status: AppProjectStatus = "status",
    }
}

wire! {
    /// Several projects.
    pub struct AppProjectList {
        /// `argoproj.io/v1alpha1`.
        optional api_version: Str = "apiVersion",
        /// `AppProjectList`.
        optional kind: Str = "kind",
        /// The version of the list.
        required metadata: ListMeta = "metadata",
        /// The projects.
        required items: Vec<AppProject> = "items",
    }
}

wire! {
    /// What is allowed.
    pub struct AppProjectSpec {
        /// Repositories that may be used, as globs; `!` forbids.
        optional source_repos: Vec<Str> = "sourceRepos",
        /// Clusters and namespaces that may be written to; `!` forbids.
        optional destinations: Vec<ApplicationDestination> = "destinations",
        /// What the project is for.
        optional description: Str = "description" => {"maxLength": 255},
        /// Who may do what to its applications.
        optional roles: Vec<ProjectRole> = "roles",
        /// Cluster-scoped kinds that are allowed.
        optional cluster_resource_whitelist: Vec<ClusterResourceRestrictionItem> = "clusterResourceWhitelist",
        /// Namespaced kinds that are forbidden.
        optional namespace_resource_blacklist: Vec<GroupKind> = "namespaceResourceBlacklist",
        /// Whether to watch for objects that belong to nobody.
        optional orphaned_resources: Option<OrphanedResourcesMonitorSettings> = "orphanedResources",
        /// Times at which syncs are allowed or denied.
        optional sync_windows: Vec<SyncWindow> = "syncWindows",
        /// Namespaced kinds that are allowed; all if not set, none if empty.
        optional namespace_resource_whitelist: Option<Vec<GroupKind>> = "namespaceResourceWhitelist",
        /// Keys that commits have to be signed with.
        optional signature_keys: Vec<SignatureKey> = "signatureKeys",
        /// Cluster-scoped kinds that are forbidden.
        optional cluster_resource_blacklist: Vec<ClusterResourceRestrictionItem> = "clusterResourceBlacklist",
        /// Namespaces that applications may live in.
        optional source_namespaces: Vec<Str> = "sourceNamespaces",
        /// Whether only clusters of the project may be used.
        optional permit_only_project_scoped_clusters: bool = "permitOnlyProjectScopedClusters",
        /// Service accounts to sync as.
        optional destination_service_accounts: Vec<ApplicationDestinationServiceAccount> = "destinationServiceAccounts",
        /// How sources are checked.
        optional source_integrity: Option<SourceIntegrity> = "sourceIntegrity",
    }
}

wire! {
    /// Tokens that were issued.
    pub struct AppProjectStatus {
        /// The tokens by role.
        optional jwt_tokens_by_role: BTreeMap<Str, JwtTokens> = "jwtTokensByRole",
    }
}

wire! {
    /// A cluster-scoped kind.
    pub struct ClusterResourceRestrictionItem {
        /// The API group, as a glob.
        required group: Str = "group",
        /// The kind, as a glob.
        required kind: Str = "kind",
        /// The name, as a glob; any if empty.
        optional name: Str = "name",
    }
}

wire! {
    /// A namespaced kind.
    pub struct GroupKind {
        /// The API group, as a glob.
        required group: Str = "group",
        /// The kind, as a glob.
        required kind: Str = "kind",
    }
}

wire! {
    /// Whether to watch for objects that belong to nobody.
    pub struct OrphanedResourcesMonitorSettings {
        /// Whether each application gets a warning.
        optional warn: Option<bool> = "warn",
        /// Objects to leave out.
        optional ignore: Vec<OrphanedResourceKey> = "ignore",
    }
}

wire! {
    /// Objects to leave out, as globs.
    pub struct OrphanedResourceKey {
        /// The API group.
        optional group: Str = "group",
        /// The kind.
        optional kind: Str = "kind",
        /// The name.
        optional name: Str = "name",
    }
}

wire! {
    /// A time at which syncs are allowed or denied.
    pub struct SyncWindow {
        /// `allow` or `deny`.
        optional kind: Str = "kind",
        /// When it begins, as a cron expression.
        optional schedule: Str = "schedule",
        /// How long it lasts.
        optional duration: Str = "duration",
        /// Applications that it is for, as globs.
        optional applications: Vec<Str> = "applications",
        /// Destination namespaces that it is for, as globs.
        optional namespaces: Vec<Str> = "namespaces",
        /// Clusters that it is for, as globs.
        optional clusters: Vec<Str> = "clusters",
        /// Whether a sync by hand is allowed all the same.
        optional manual_sync: bool = "manualSync",
        /// The time zone of the schedule.
        optional time_zone: Str = "timeZone",
        /// Whether all of the filters have to match, and not just one.
        optional and_operator: bool = "andOperator",
        /// What it is for.
        optional description: Str = "description",
        /// Whether a sync that has begun may go on when it is denied.
        optional sync_overrun: bool = "syncOverrun",
    }
}

wire! {
    /// Who may do what.
    pub struct ProjectRole {
        /// The role.
        required name: Str = "name",
        /// What it is for.
        optional description: Str = "description",
        /// What it may do, as Casbin policies.
        optional policies: Vec<Str> = "policies",
        /// Tokens that were issued for it.
        optional jwt_tokens: Vec<JwtToken> = "jwtTokens",
        /// Groups of the identity provider that have it.
        optional groups: Vec<Str> = "groups",
    }
}

wire! {
    /// A token that was issued.
    pub struct JwtToken {
        /// When it was issued, in seconds since 1970.
        required iat: i64 = "iat",
        /// When it ends, in seconds since 1970; never if 0.
        optional exp: i64 = "exp",
        /// Its id.
        optional id: Str = "id",
    }
}

wire! {
    /// Tokens of a role.
    pub struct JwtTokens {
        /// The tokens.
        optional items: Vec<JwtToken> = "items",
    }
}

wire! {
    /// A key that commits have to be signed with.
    pub struct SignatureKey {
        /// Its id.
        required key_id: Str = "keyID",
    }
}

wire! {
    /// A service account to sync as.
    pub struct ApplicationDestinationServiceAccount {
        /// The cluster, as a glob.
        required server: Str = "server",
        /// The namespace, as a glob.
        optional namespace: Str = "namespace",
        /// The service account.
        required default_service_account: Str = "defaultServiceAccount",
    }
}

wire! {
    /// How sources are checked.
    pub struct SourceIntegrity {
        /// How Git repositories are checked.
        required git: Option<SourceIntegrityGit> = "git",
    }
}

wire! {
    /// How Git repositories are checked.
    pub struct SourceIntegrityGit {
        /// The rules; the first that matches counts.
        required policies: Vec<SourceIntegrityGitPolicy> = "policies",
    }
}

wire! {
    /// A rule for some repositories.
    pub struct SourceIntegrityGitPolicy {
        /// The repositories.
        required repos: Vec<SourceIntegrityGitPolicyRepo> = "repos",
        /// How signatures are checked.
        required gpg: Option<SourceIntegrityGitPolicyGpg> = "gpg",
    }
}

wire! {
    /// Repositories that a rule is for.
    pub struct SourceIntegrityGitPolicyRepo {
        /// Their URL, as a glob; `!` excludes.
        required url: Str = "url",
    }
}

wire! {
    /// How signatures are checked.
    pub struct SourceIntegrityGitPolicyGpg {
        /// Which commits have to be signed.
        required mode: Open<GpgMode> = "mode",
        /// The keys that are trusted.
        required keys: Vec<Str> = "keys",
    }
}
