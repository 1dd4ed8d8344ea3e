//! Where things are: the data directory, and the kubeconfig to use.

use std::path::{Path, PathBuf};

use crate::exit::{Doing as _, Outcome};

/// The data directory, where nobody says otherwise.
pub(crate) const DATA_DIR: &str = ".lynceus";

/// The kubeconfig to use: the one that is named, else the one of the environment, else the one that `lynceus up` wrote
/// here, else as kubectl would choose.
pub(crate) fn kubeconfig(named: Option<&Path>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_path_buf());
    }
    if std::env::var_os("KUBECONFIG").is_some() {
        return None;
    }
    let ours = Path::new(DATA_DIR).join("kubeconfig");
    ours.exists().then_some(ours)
}

/// Writes a file that only its owner may read: a kubeconfig is a key.
pub(crate) fn write_private(path: &Path, text: &str) -> Outcome {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).doing(format!("cannot make the directory {}", parent.display()))?;
    }
    // Written beside and renamed, so that whoever waits for the file never reads half of it.
    let beside = path.with_extension("new");
    lynceus_sim::write_private(&beside, text).doing(format!("cannot write {}", beside.display()))?;
    std::fs::rename(&beside, path).doing(format!("cannot write {}", path.display()))
}
