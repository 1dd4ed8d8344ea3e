//! The files of a revision in a folder of their own, for whoever has no working tree.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io};

use lynceus_files::{Entry, FilePath, Tree, TreeError};

use crate::limits;

/// The files of a revision. The folder goes away when this is dropped.
pub struct Checkout {
    folder: PathBuf,
}

/// Why the files of a revision could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// A file could not be had.
    #[error("cannot read {path} of the revision")]
    Read {
        /// The file.
        path: FilePath,
        /// What went wrong.
        #[source]
        source: TreeError,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// There is more in it than is copied.
    #[error("the revision has more than {limit} bytes")]
    TooLarge {
        /// How much is copied at the most.
        limit: u64,
    },
}

impl Checkout {
    /// Lays out a tree. Links are left out, and so are files whose content is not in Git.
    pub fn of(tree: &dyn Tree) -> Result<Self, CheckoutError> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lynceus-checkout-{}-{number}", std::process::id()));
        let checkout = Checkout { folder };
        let mut left = limits::CHECKOUT_BYTES;
        checkout.copy(tree, &FilePath::default(), &mut left)?;
        Ok(checkout)
    }

    /// Where the files are.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    fn copy(&self, tree: &dyn Tree, directory: &FilePath, left: &mut u64) -> Result<(), CheckoutError> {
        let unread = |path: &FilePath, source| CheckoutError::Read { path: path.clone(), source };
        let target = self.folder.join(directory.as_str());
        fs::create_dir_all(&target)
            .map_err(|source| CheckoutError::Write { path: target.clone(), source })?;
        for (name, entry) in tree.list(directory).map_err(|source| unread(directory, source))? {
            // A name that is no path of its own is none that Git would check out either.
            let Ok(path) = directory.join(&name) else { continue };
            match entry {
                Entry::Directory => self.copy(tree, &path, left)?,
                Entry::File => {
                    let bytes = match tree.read(&path, *left) {
                        Ok(bytes) => bytes,
                        Err(TreeError::LfsPointer(_)) => continue,
                        Err(TreeError::TooLarge { .. }) => {
                            return Err(CheckoutError::TooLarge { limit: limits::CHECKOUT_BYTES });
                        }
                        Err(source) => return Err(unread(&path, source)),
                    };
                    *left = left.saturating_sub(bytes.len() as u64);
                    let file = self.folder.join(path.as_str());
                    fs::write(&file, &bytes).map_err(|source| CheckoutError::Write { path: file, source })?;
                }
                Entry::Link(_) | Entry::Submodule(_) => {}
            }
        }
        Ok(())
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // What cannot be removed lies where the system cleans up.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::MemoryTree;

    #[test]
    fn files_are_laid_out_and_cleared_away() {
        let mut tree = MemoryTree::new();
        tree.insert(FilePath::new("a/b.yaml").unwrap(), "text".as_bytes());
        let checkout = Checkout::of(&tree).unwrap();
        let folder = checkout.path().to_path_buf();
        assert_eq!(fs::read_to_string(folder.join("a/b.yaml")).unwrap(), "text");
        drop(checkout);
        assert!(!folder.exists());
    }
}
