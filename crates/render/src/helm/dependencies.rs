//! The charts that a chart depends on and that are not in its `charts/`.

use std::sync::Arc;

use lynceus_files::{FilePath, Tree};
use lynceus_helm::resolve::{self, Repository, Wanted};
use lynceus_helm::{Chart, ChartError};

use super::need;
use crate::RenderError;
use crate::job::{Fetched, Need};

/// Loads a chart with its dependencies. Those that are elsewhere are taken from what was fetched, or noted.
pub(super) fn load(
    tree: &dyn Tree,
    path: &FilePath,
    fetched: &Fetched,
    needs: &mut Vec<Need>,
) -> Result<Arc<Chart>, RenderError> {
    let failed = |error: ChartError| RenderError::Helm { path: path.clone(), source: Box::new(error.into()) };
    let chart = Chart::from_tree(tree, path).map_err(failed)?;
    if chart.missing_dependencies().is_empty() {
        return Ok(chart.into());
    }
    let mut found = Vec::new();
    let wanted =
        resolve::wanted(&chart).map_err(|source| RenderError::Dependencies { path: path.clone(), source })?;
    for one in wanted {
        match &one.repository {
            // Helm's own words say that it has to be in `charts/`.
            Repository::Included => {}
            Repository::Directory(local) => {
                let local = Chart::from_tree(tree, &path.join(local)?).map_err(failed)?;
                found.push(Arc::new(local));
            }
            Repository::Http(url) | Repository::Oci(url) => {
                remote(one.clone(), url.clone(), fetched, needs, &mut found).map_err(failed)?;
            }
            Repository::Named(name) => {
                remote(one.clone(), format!("@{name}"), fetched, needs, &mut found).map_err(failed)?;
            }
        }
    }
    Ok(chart.with_dependencies(found).into())
}

fn remote(
    wanted: Wanted,
    repository: String,
    fetched: &Fetched,
    needs: &mut Vec<Need>,
    found: &mut Vec<Arc<Chart>>,
) -> Result<(), ChartError> {
    let wish = Need::Chart {
        repository: repository.into(),
        name: wanted.name.into(),
        version: wanted.version.into(),
    };
    match fetched.get(&wish) {
        Some(archive) => found.push(Arc::new(Chart::from_archive(archive)?)),
        None => need(needs, wish),
    }
    Ok(())
}
