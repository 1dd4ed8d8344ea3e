//! Charts in a directory of this machine, for the examples.

use std::path::Path;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{Chart, ChartError};

/// Loads the chart in a directory; what cannot be read is not there.
pub(crate) fn load(directory: &Path) -> Result<Chart, ChartError> {
    let mut tree = MemoryTree::new();
    add(&mut tree, directory, "");
    Chart::from_tree(&tree, &FilePath::root())
}

fn add(tree: &mut MemoryTree, directory: &Path, prefix: &str) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            add(tree, &path, &format!("{name}/"));
        } else if let (Ok(content), Ok(name)) = (std::fs::read(&path), FilePath::new(&name)) {
            tree.insert(name, content);
        }
    }
}
