//! Parameters that the repository itself gives, in `.argocd-source.yaml` and `.argocd-source-NAME.yaml`.

use lynceus_api::ApplicationSource;
use lynceus_files::{FilePath, Tree, TreeError};
use lynceus_object::{from_typed, patch, to_typed, yaml};

use crate::{RenderError, limits};

/// A source with what the files at its path say. They may only change how it is rendered, not where it comes from.
pub(crate) fn merge(
    tree: &dyn Tree,
    path: &FilePath,
    source: &ApplicationSource,
    application: &str,
) -> Result<ApplicationSource, RenderError> {
    let mut merged = source.clone();
    let mut names = vec![".argocd-source.yaml".to_owned()];
    if !application.is_empty() {
        names.push(format!(".argocd-source-{application}.yaml"));
    }
    for name in names {
        // An application's name has no slash, but what comes from a cluster is not to be trusted.
        let Ok(file) = path.join(&name.replace('/', "_")) else { continue };
        let content = match tree.read(&file, limits::FILE_BYTES) {
            Ok(content) => content,
            Err(TreeError::NotFound(_) | TreeError::NotA(..)) => continue,
            Err(error) => return Err(error.into()),
        };
        let failed = |reason: String| RenderError::Overrides { file: file.clone(), reason };
        let changes = yaml::parse(&content).map_err(|error| failed(error.to_string()))?;
        let before = from_typed(&merged).map_err(|error| failed(error.to_string()))?;
        let after = patch::merge(&before, &changes).map_err(|error| failed(error.to_string()))?;
        merged = to_typed(&after).map_err(|error| failed(error.to_string()))?;
    }
    Ok(ApplicationSource {
        chart: source.chart.clone(),
        path: source.path.clone(),
        repo_url: source.repo_url.clone(),
        target_revision: source.target_revision.clone(),
        ..merged
    })
}
