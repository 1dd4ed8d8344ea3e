//! Label keys and values that carry meaning for a delivery.

/// Which application an object belongs to, when tracking is by label.
pub const INSTANCE: &str = "app.kubernetes.io/instance";
/// The same, before Argo CD 0.10.
pub const LEGACY_APPLICATION_NAME: &str = "applications.argoproj.io/app-name";
/// What a settings Secret is about: see the `SECRET_TYPE_*` values.
pub const SECRET_TYPE: &str = "argocd.argoproj.io/secret-type";
/// Asks for cluster facts to be kept as labels on a cluster Secret.
pub const AUTO_LABEL_CLUSTER_INFO: &str = "argocd.argoproj.io/auto-label-cluster-info";
/// The Kubernetes version of a cluster, kept on its Secret.
pub const CLUSTER_KUBERNETES_VERSION: &str = "argocd.argoproj.io/kubernetes-version";
/// Marks the ConfigMaps and Secrets that make up Argo CD's settings.
pub const PART_OF: &str = "app.kubernetes.io/part-of";
/// The value of [`PART_OF`].
pub const PART_OF_ARGOCD: &str = "argocd";

/// A Secret with a cluster's address and credentials.
pub const SECRET_TYPE_CLUSTER: &str = "cluster";
/// A Secret with a repository's address and credentials.
pub const SECRET_TYPE_REPOSITORY: &str = "repository";
/// A Secret with a repository's credentials for writing.
pub const SECRET_TYPE_REPOSITORY_WRITE: &str = "repository-write";
/// A Secret with credentials for all repositories below a URL.
pub const SECRET_TYPE_REPO_CREDS: &str = "repo-creds";
/// The same, for writing.
pub const SECRET_TYPE_REPO_WRITE_CREDS: &str = "repo-write-creds";
/// A Secret that the SCM and pull-request generators may read.
pub const SECRET_TYPE_SCM_CREDS: &str = "scm-creds";
