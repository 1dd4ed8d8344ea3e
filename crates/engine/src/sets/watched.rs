//! A tree that knows what was looked at in it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lynceus_files::{Entry, FilePath, ReadSet, Tree, TreeError};

/// A tree that writes down what is looked at, for as long as anybody has it.
pub(super) struct Watched {
    tree: Arc<dyn Tree>,
    seen: Mutex<ReadSet>,
}

impl Watched {
    pub(super) fn new(tree: Arc<dyn Tree>) -> Self {
        Watched { tree, seen: Mutex::default() }
    }

    /// Whether another tree has all that was looked at just as this one, and then counts it as looked at there.
    pub(super) fn is_same_in(&self, other: &Watched) -> bool {
        let seen = self.seen().clone();
        let same = match (seen.fingerprint(&*self.tree), seen.fingerprint(&*other.tree)) {
            (Some(one), Some(another)) => one == another,
            _ => false,
        };
        if same {
            *other.seen() = seen;
        }
        same
    }

    /// Counts as looked at what was looked at in another tree with the same files.
    pub(super) fn counts_as_seen(&self, other: &Watched) -> bool {
        let seen = other.seen().clone();
        *self.seen() = seen;
        true
    }

    fn seen(&self) -> MutexGuard<'_, ReadSet> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tree for Watched {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.seen().files.insert(path.clone());
        self.tree.entry(path)
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        self.seen().files.insert(path.clone());
        self.tree.read(path, limit)
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        self.seen().directories.insert(path.clone());
        self.tree.list(path)
    }

    fn identity(&self, path: &FilePath) -> Result<Option<String>, TreeError> {
        self.tree.identity(path)
    }

    fn is_executable(&self, path: &FilePath) -> Result<bool, TreeError> {
        self.tree.is_executable(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::MemoryTree;

    fn tree(lines: &[(&str, &str)], name: &str) -> Watched {
        let mut tree = MemoryTree::new();
        for (path, content) in lines {
            tree.insert(FilePath::new(path).expect("a path"), content.as_bytes());
        }
        Watched::new(Arc::new(tree.identified(name)))
    }

    #[test]
    fn only_what_was_looked_at_tells_two_trees_apart() {
        let path = |text: &str| FilePath::new(text).expect("a path");
        let before = tree(&[("apps/web/x", "1"), ("docs/a", "1")], "sha256:1");
        before.list(&path("apps")).expect("a list");
        assert!(before.is_same_in(&tree(&[("apps/web/y", "2"), ("docs/b", "2")], "sha256:2")));
        assert!(!before.is_same_in(&tree(&[("apps/shop/x", "1"), ("docs/a", "1")], "sha256:3")));
        before.read(&path("docs/a"), 10).expect("a file");
        let again = tree(&[("apps/web/x", "1"), ("docs/a", "1")], "sha256:1");
        assert!(again.counts_as_seen(&before));
        assert!(!again.is_same_in(&tree(&[("apps/web/x", "1"), ("docs/a", "2")], "sha256:4")));
        assert!(!before.is_same_in(&tree(&[("apps/web/x", "1"), ("docs/a", "2")], "sha256:4")));
    }
}
