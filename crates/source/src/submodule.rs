//! Submodules: what `.gitmodules` says, and where their URLs lead.

use lynceus_files::{Entry, FilePath, Tree, TreeError};

use crate::limits::{MAX_GITMODULES_BYTES, MAX_SUBMODULES};
use crate::revision::{CommitId, full_commit};
use crate::url::RepoUrl;

/// A submodule of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// Where it is mounted.
    pub(crate) path: FilePath,
    /// The commit that it stands at.
    pub(crate) commit: CommitId,
    /// Its URL as it is written, perhaps relative.
    pub(crate) url: String,
}

/// The submodules below `root`, where there is a commit for them in the tree. In the order of their paths.
pub(crate) fn declared(tree: &dyn Tree, root: &FilePath) -> Result<Vec<Declared>, TreeError> {
    let Ok(file) = root.join(".gitmodules") else { return Ok(Vec::new()) };
    let content = match tree.read(&file, MAX_GITMODULES_BYTES) {
        Ok(content) => content,
        Err(TreeError::NotFound(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let storage = |reason: String| TreeError::Storage { path: file.clone(), reason };
    let metadata = gix::config::file::Metadata::api();
    let config = gix::config::File::from_bytes_no_includes(&content, metadata, Default::default())
        .map_err(|error| storage(error.to_string()))?;
    let mut found = Vec::new();
    for section in config.sections_by_name("submodule").into_iter().flatten() {
        let value = |key: &str| section.value(key).map(|value| value.to_string());
        let Some((path, url)) = value("path").zip(value("url")) else { continue };
        let Ok(path) = root.join(&path) else { continue };
        if !path.is_within(root) || path == *root {
            continue;
        }
        if let Ok(Entry::Submodule(commit)) = tree.entry(&path) {
            found.extend(full_commit(&commit).map(|commit| Declared { path, commit, url }));
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found.dedup_by(|left, right| left.path == right.path);
    if found.len() > MAX_SUBMODULES {
        return Err(storage(format!("it names more than {MAX_SUBMODULES} submodules")));
    }
    Ok(found)
}

/// The URL of a submodule, taken from its parent's if it is relative. `None` if it may not be followed: a
/// repository from the network must not lead to files on this machine.
pub(crate) fn resolve(parent: &str, url: &str) -> Option<String> {
    let absolute = if url.starts_with("./") || url.starts_with("../") || matches!(url, "." | "..") {
        relative(parent, url)?
    } else {
        url.to_owned()
    };
    let is_local = |url: &str| matches!(RepoUrl::parse(url), Ok(RepoUrl::Local(_)));
    (is_local(parent) || !is_local(&absolute)).then_some(absolute)
}

/// `../x` next to the parent, `./x` below it; in `host:path` the colon counts as the first separator.
fn relative(parent: &str, url: &str) -> Option<String> {
    let mut base = parent.trim_end_matches('/').to_owned();
    let mut separator = '/';
    let start = base.find("://").map_or(0, |at| at + 3);
    let mut rest = url;
    loop {
        if let Some(after) = rest.strip_prefix("../").or(if rest == ".." { Some("") } else { None }) {
            let path = base.get(start..)?;
            let cut = path.rfind('/').or_else(|| (start == 0).then(|| path.rfind(':')).flatten())?;
            separator = path.get(cut..)?.chars().next()?;
            base.truncate(start + cut);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("./").or(if rest == "." { Some("") } else { None }) {
            rest = after;
        } else {
            break;
        }
        if rest.is_empty() {
            break;
        }
    }
    Some(if rest.is_empty() { base } else { format!("{base}{separator}{rest}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_urls_start_from_the_parent() {
        let check = |parent: &str, url: &str| resolve(parent, url).unwrap_or_else(|| "refused".to_owned());
        assert_eq!(check("https://h/org/app.git", "../lib.git"), "https://h/org/lib.git");
        assert_eq!(check("https://h/org/app", "../../other/lib"), "https://h/other/lib");
        assert_eq!(check("https://h/org/app/", "./lib"), "https://h/org/app/lib");
        assert_eq!(check("git@h:org/app.git", "../lib.git"), "git@h:org/lib.git");
        assert_eq!(check("git@h:app.git", "../lib.git"), "git@h:lib.git");
        assert_eq!(check("ssh://git@h:22/org/app", "../lib"), "ssh://git@h:22/org/lib");
        assert_eq!(check("/srv/app", "../lib"), "/srv/lib");
        assert_eq!(check("https://h/app", "https://other/lib"), "https://other/lib");
        assert_eq!(check("https://h", "../../x"), "refused");
    }

    #[test]
    fn a_repository_from_the_network_does_not_lead_to_this_machine() {
        assert_eq!(resolve("https://h/app", "/etc"), None);
        assert_eq!(resolve("https://h/app", "file:///srv/secret"), None);
        assert_eq!(resolve("git@h:app", "/srv/secret"), None);
        assert_eq!(resolve("/srv/app", "/srv/lib"), Some("/srv/lib".to_owned()));
    }
}
