//! How a build is made.

use lynceus_helm::Capabilities;

/// How a build is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which files a kustomization may name.
    pub load_restriction: LoadRestriction,
    /// What charts are rendered for; without it a chart is an error.
    pub helm: Option<HelmOptions>,
    /// The order of the resources, unless the kustomization has an order of its own.
    pub reorder: Reorder,
    /// Whether everything is labelled as made by Kustomize.
    pub managed_by_label: bool,
    /// What messages put before the paths of files: the place of the tree, without a slash at its end.
    pub path_prefix: String,
}

/// Which files a kustomization may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestriction {
    /// Those in its own directory and below, wherever links lead.
    #[default]
    RootOnly,
    /// All of the tree.
    None,
}

/// What charts are rendered for.
#[derive(Clone, Debug, Default)]
pub struct HelmOptions {
    /// What the cluster can do.
    pub capabilities: Capabilities,
    /// The version of Kubernetes, as `--helm-kube-version` gives it: a kustomization's own is taken first.
    pub kube_version: String,
    /// Further API versions, as `--helm-api-versions` gives them: a kustomization's own are taken first.
    pub api_versions: Vec<String>,
}

/// The order of the resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// As nobody asked for an order: that of `legacy`.
    #[default]
    Unspecified,
    /// The order in which kinds were sorted of old.
    Legacy,
    /// The order in which the resources were read.
    None,
}
