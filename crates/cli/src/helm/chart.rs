//! Finds the chart that a command line names.

use std::path::Path;
use std::sync::Arc;

use lynceus_files::FilePath;
use lynceus_helm::{Chart, limits};
use lynceus_source::DiskTree;

/// Reads a chart from a directory or an archive.
pub(super) fn load(reference: &str) -> Result<Arc<Chart>, String> {
    let path = Path::new(reference);
    let Ok(real) = path.canonicalize() else { return Err(missing(reference)) };
    let chart = if real.is_file() {
        let length = real.metadata().map_err(|error| error.to_string())?.len();
        if length > limits::MAX_ARCHIVE_BYTES {
            return Err(format!(
                "{reference} has {length} bytes; at most {} are read",
                limits::MAX_ARCHIVE_BYTES
            ));
        }
        let bytes = std::fs::read(&real).map_err(|error| format!("open {reference}: {error}"))?;
        Chart::from_archive(&bytes)
    } else {
        let (tree, directory) = folder(reference)?;
        Chart::from_tree(&tree, &directory)
    };
    chart.map(Arc::new).map_err(|error| error.to_string())
}

/// A folder in a tree. The whole disk is the tree, for the links of a chart that is one's own may lead anywhere on it.
pub(super) fn folder(reference: &str) -> Result<(DiskTree, FilePath), String> {
    let path = Path::new(reference);
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let tree = DiskTree::open("/").map_err(|error| error.to_string())?;
    let inside = real.to_string_lossy();
    let directory =
        FilePath::new(inside.trim_start_matches('/')).map_err(|error| format!("{reference}: {error}"))?;
    Ok((tree, directory))
}

fn missing(reference: &str) -> String {
    match reference.split_once('/') {
        Some((repository, _)) if !reference.starts_with(['.', '/']) => format!("repo {repository} not found"),
        _ => format!("path {reference:?} not found"),
    }
}
