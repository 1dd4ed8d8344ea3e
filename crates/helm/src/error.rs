//! Why a chart could not be rendered, in Helm's words.

use crate::chart::ChartError;
use crate::engine::RenderError;
use crate::manifest::ManifestError;
use crate::schema::SchemaError;
use crate::values::ValuesError;

/// Why a chart could not be rendered, by the step that failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HelmError {
    /// The chart could not be read.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The user's values could not be read.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// The chart cannot be installed as it is asked for.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The values do not meet a chart's schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The chart could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// What the templates gave is not YAML.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl HelmError {
    /// What Helm's command line says after `Error: `: where templates went wrong, with a flag of that command line.
    pub fn on_command_line(&self) -> String {
        match self {
            HelmError::Render(_) | HelmError::Manifest(_) => {
                format!("{self}\n\nUse --debug flag to render out invalid YAML")
            }
            _ => self.to_string(),
        }
    }
}

/// Why a chart that could be read is not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstallError {
    /// The release's name is not one that Kubernetes could use.
    #[error("release name check failed: release name {name}: {reason}")]
    ReleaseName {
        /// The name, in quotes.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A library has nothing to install.
    #[error("{0} charts are not installable")]
    NotInstallable(String),
    /// Dependencies that `Chart.yaml` names are not there.
    #[error(
        "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to \
         fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}", .0.join(", ")
    )]
    MissingDependencies(Vec<String>),
    /// A subchart's values are not a table.
    #[error("chart dependencies processing failed: {0}")]
    Dependencies(String),
    /// The values of a subchart are not a table.
    #[error("{0}")]
    Coalesce(String),
    /// `--show-only` names a template that gives nothing.
    #[error("could not find template {0} in chart")]
    NoSuchTemplate(String),
    /// `--kube-version` is not a version.
    #[error("invalid kube version '{0}': {1}")]
    BadKubeVersion(String, String),
}
