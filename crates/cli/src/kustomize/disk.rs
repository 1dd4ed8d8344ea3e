//! The whole of the disk, in which absolute links lead to what they name.

use std::sync::Arc;

use lynceus_files::{Entry, FilePath, Tree, TreeError, follow_links};
use lynceus_source::DiskTree;

/// The whole of the disk. A tree ends where its root does, so that a link to an absolute path leaves any other; of this one
/// the root is the disk's own.
pub(super) struct WholeDisk(pub(super) DiskTree);

impl WholeDisk {
    /// Where a path leads when absolute links are followed too.
    fn real(&self, path: &FilePath) -> Result<FilePath, TreeError> {
        follow_links(path, |path| match self.0.entry(path) {
            Ok(Entry::Link(target)) => Ok(Some(relative(path, target))),
            Ok(_) | Err(TreeError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Does something with a path, and does it again with where the path leads if there is an absolute link on the way.
    fn with<T>(
        &self,
        path: &FilePath,
        what: impl Fn(&FilePath) -> Result<T, TreeError>,
    ) -> Result<T, TreeError> {
        match what(path) {
            Err(TreeError::LinkOutside { .. }) => what(&self.real(path)?),
            done => done,
        }
    }
}

/// An absolute target as it is named from where the link stands.
fn relative(link: &FilePath, target: String) -> String {
    match target.strip_prefix('/') {
        Some(below) => format!("{}{below}", "../".repeat(link.parts().count().saturating_sub(1))),
        None => target,
    }
}

fn made_relative(link: &FilePath, entry: Entry) -> Entry {
    match entry {
        Entry::Link(target) => Entry::Link(relative(link, target)),
        other => other,
    }
}

impl Tree for WholeDisk {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        match self.0.entry(path) {
            Err(TreeError::LinkOutside { .. }) => {
                let parent = self.real(&path.parent().unwrap_or_default())?;
                let place = parent.join(path.name()).map_err(|_| TreeError::NotFound(path.clone()))?;
                self.0.entry(&place).map(|entry| made_relative(&place, entry))
            }
            found => found.map(|entry| made_relative(path, entry)),
        }
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        self.with(path, |path| self.0.read(path, limit))
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        self.with(path, |path| {
            let named = |(name, entry): (String, Entry)| match path.join(&name) {
                Ok(link) => (name, made_relative(&link, entry)),
                Err(_) => (name, entry),
            };
            Ok(self.0.list(path)?.into_iter().map(named).collect())
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
#[allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_target_is_named_from_where_the_link_stands() {
        let link = FilePath::new("a/b/link").unwrap();
        assert_eq!(relative(&link, "/a/c".to_owned()), "../../a/c");
        assert_eq!(relative(&link, "../c".to_owned()), "../c");
    }

    #[test]
    fn absolute_links_are_followed() {
        let top = std::env::temp_dir().join(format!("lynceus-links-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        std::fs::create_dir_all(&top).unwrap();
        let top = top.canonicalize().unwrap();
        std::fs::create_dir_all(top.join("base")).unwrap();
        std::fs::write(top.join("base/a.txt"), "text").unwrap();
        std::os::unix::fs::symlink(top.join("base"), top.join("link")).unwrap();
        std::os::unix::fs::symlink(top.join("link/a.txt"), top.join("b.txt")).unwrap();
        let disk = WholeDisk(DiskTree::open("/").unwrap());
        let at =
            |name: &str| FilePath::new(top.join(name).to_str().unwrap().trim_start_matches('/')).unwrap();
        assert_eq!(&*disk.read(&at("b.txt"), 100).unwrap(), b"text");
        assert_eq!(&*disk.read(&at("link/a.txt"), 100).unwrap(), b"text");
        assert_eq!(disk.entry(&at("link/a.txt")).unwrap(), Entry::File);
        assert_eq!(disk.list(&at("link")).unwrap(), [("a.txt".to_owned(), Entry::File)]);
        std::fs::remove_dir_all(&top).unwrap();
    }
}
