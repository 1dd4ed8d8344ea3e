//! The files of a plain directory.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lynceus_files::{Entry, FilePath, Tree, TreeError, follow_links};

use crate::error::SourceError;
use crate::tree::is_lfs_pointer;

/// The files below a directory as they are now, without `.git`.
///
/// Links are followed here and not by the operating system, so that one that leaves the directory is an
/// error and not a way out. Unlike a commit, a directory may change while it is read.
#[derive(Clone, Debug)]
pub struct DiskTree {
    root: PathBuf,
    /// The directory that was read last and has no link on the way to it. Files of one directory are read one after the
    /// other, and to look at each part of each path again took longer than to read them.
    plain: Arc<Mutex<FilePath>>,
}

impl DiskTree {
    /// The files below `root`.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, SourceError> {
        let root = root.as_ref();
        let failed = |error: io::Error| SourceError::storage("open", root, &error);
        let real = root.canonicalize().map_err(failed)?;
        if !fs::metadata(&real).map_err(failed)?.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        Ok(DiskTree { root: real, plain: Arc::new(Mutex::new(FilePath::root())) })
    }

    fn at(&self, path: &FilePath) -> PathBuf {
        if path.is_root() { self.root.clone() } else { self.root.join(path.as_str()) }
    }

    fn plain(&self) -> MutexGuard<'_, FilePath> {
        self.plain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What stands at a path whose parents are known to be no links.
    fn look(&self, path: &FilePath) -> Result<Option<Entry>, TreeError> {
        if path.parts().any(|part| part == ".git") {
            return Ok(None);
        }
        let place = self.at(path);
        let metadata = match fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(storage(path, &error)),
        };
        entry(metadata.file_type(), &place).map_err(|error| storage(path, &error))
    }

    /// Where a path leads, and what stands there.
    fn follow(&self, path: &FilePath) -> Result<(FilePath, Option<Entry>), TreeError> {
        let is_below_plain = path.parent().is_some_and(|parent| *self.plain() == parent);
        if is_below_plain {
            let found = self.look(path)?;
            if !matches!(found, Some(Entry::Link(_))) {
                return Ok((path.clone(), found));
            }
        }
        let mut last = None;
        let real = follow_links(path, |path| match self.look(path)? {
            Some(Entry::Link(target)) => Ok(Some(target)),
            found => {
                last = Some((path.clone(), found));
                Ok(None)
            }
        })?;
        if let Some(parent) = path.parent().filter(|_| real == *path) {
            *self.plain() = parent;
        }
        match last {
            Some((place, found)) if place == real => Ok((real, found)),
            // The root, or what a link leads up to.
            _ => self.look(&real).map(|found| (real, found)),
        }
    }
}

impl Tree for DiskTree {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        let real = match path.parent() {
            Some(parent) => {
                self.follow(&parent)?.0.join(path.name()).map_err(|_| TreeError::NotFound(path.clone()))?
            }
            None => path.clone(),
        };
        self.look(&real)?.ok_or_else(|| TreeError::NotFound(path.clone()))
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        let (real, found) = self.follow(path)?;
        match found {
            Some(Entry::File) => {}
            Some(_) => return Err(TreeError::NotA(path.clone(), "file")),
            None => return Err(TreeError::NotFound(path.clone())),
        }
        let failed = |error: io::Error| storage(path, &error);
        let file = fs::File::open(self.at(&real)).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        if size > limit {
            return Err(TreeError::TooLarge { path: path.clone(), size, limit });
        }
        // What was added since is not read. A file that does not know its size is read to its end.
        let most = if size > 0 { size } else { limit.saturating_add(1) };
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(most).read_to_end(&mut content).map_err(failed)?;
        let size = content.len() as u64;
        if size > limit {
            return Err(TreeError::TooLarge { path: path.clone(), size, limit });
        }
        if is_lfs_pointer(&content) {
            return Err(TreeError::LfsPointer(path.clone()));
        }
        Ok(Arc::from(content))
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        let (real, found) = self.follow(path)?;
        match found {
            Some(Entry::Directory) => {}
            Some(_) => return Err(TreeError::NotA(path.clone(), "directory")),
            None => return Err(TreeError::NotFound(path.clone())),
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(self.at(&real)).map_err(|error| storage(path, &error))? {
            let entry = entry.map_err(|error| storage(path, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == ".git" || real.join(&name).is_err() {
                continue;
            }
            let kind = entry.file_type();
            let found = kind.and_then(|kind| self::entry(kind, &entry.path()));
            match found {
                Ok(Some(found)) => names.push((name, found)),
                Ok(None) => {}
                // It went while the directory was being read.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(storage(path, &error)),
            }
        }
        names.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Ok(names)
    }
}

/// What a place of a kind is in a tree.
fn entry(kind: fs::FileType, place: &Path) -> io::Result<Option<Entry>> {
    Ok(if kind.is_symlink() {
        Some(Entry::Link(fs::read_link(place)?.to_string_lossy().into_owned()))
    } else if kind.is_dir() {
        Some(Entry::Directory)
    } else if kind.is_file() {
        Some(Entry::File)
    } else {
        // Sockets, pipes and devices are no files of a revision.
        None
    })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn storage(path: &FilePath, error: &io::Error) -> TreeError {
    TreeError::Storage { path: path.clone(), reason: error.to_string() }
}
