//! The charts that a chart depends on and that are not in its `charts/`.

use std::sync::Arc;

use lynceus_files::{FilePath, Recorded, Tree};
use lynceus_helm::resolve::{self, Repository, Wanted};
use lynceus_helm::{Chart, ChartError};

use super::need;
use crate::RenderError;
use crate::charts::Found;
use crate::job::{Fetched, Job, Need, Trees};

/// Loads a chart with its dependencies, unless it was loaded before. Those that are elsewhere are taken from what was
/// fetched, or noted.
pub(super) fn load(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    needs: &mut Vec<Need>,
) -> Result<Arc<Chart>, RenderError> {
    let place = format!("{} {} {path}", job.source.repo_url, job.source.chart);
    match job.charts.find(&place, job.tree, job.fetched) {
        Some(Found::Chart(chart, loaded)) => {
            trees.count(&loaded.read_set);
            return Ok(chart);
        }
        Some(Found::Needs(chart, loaded, missing)) => {
            trees.count(&loaded.read_set);
            missing.into_iter().for_each(|one| need(needs, one));
            return Ok(chart);
        }
        None => {}
    }
    let recorded = Recorded::new(trees.own());
    let mut archives = Archives { fetched: job.fetched, used: Fetched::new(), needs };
    let chart = read(&recorded, path, &mut archives)?;
    if archives.needs.is_empty() {
        let source = (recorded.read_set(), archives.used);
        job.charts.keep(&place, job.tree, &chart, source);
    }
    Ok(chart)
}

/// What was got from elsewhere, and what of it was wanted.
struct Archives<'a> {
    fetched: &'a Fetched,
    used: Fetched,
    needs: &'a mut Vec<Need>,
}

fn read(tree: &dyn Tree, path: &FilePath, archives: &mut Archives<'_>) -> Result<Arc<Chart>, RenderError> {
    let failed = |error: ChartError| RenderError::Helm { path: path.clone(), source: Box::new(error.into()) };
    let chart = Chart::from_tree(tree, path).map_err(failed)?;
    if chart.missing_dependencies().is_empty() {
        return Ok(chart.into());
    }
    let mut found = Vec::new();
    let wanted =
        resolve::wanted(&chart).map_err(|source| RenderError::Dependencies { path: path.clone(), source })?;
    for one in wanted {
        let repository = match &one.repository {
            // Helm's own words say that it has to be in `charts/`.
            Repository::Included => continue,
            Repository::Directory(local) => {
                let local = Chart::from_tree(tree, &path.join(local)?).map_err(failed)?;
                found.push(Arc::new(local));
                continue;
            }
            Repository::Http(url) | Repository::Oci(url) => url.clone(),
            Repository::Named(name) => format!("@{name}"),
        };
        found.extend(archives.take(one, repository).map_err(failed)?.map(Arc::new));
    }
    Ok(chart.with_dependencies(found).into())
}

impl Archives<'_> {
    /// The chart of an archive; none if it has yet to be got.
    fn take(&mut self, wanted: Wanted, repository: String) -> Result<Option<Chart>, ChartError> {
        let wish = Need::Chart {
            repository: repository.into(),
            name: wanted.name.into(),
            version: wanted.version.into(),
        };
        let Some(archive) = self.fetched.get(&wish) else {
            need(self.needs, wish);
            return Ok(None);
        };
        self.used.insert(wish, archive.clone());
        Chart::from_archive(archive).map(Some)
    }
}
