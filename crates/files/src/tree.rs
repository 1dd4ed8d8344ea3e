//! The files of one revision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::path::FilePath;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file, with its size in bytes where that is known without reading it.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, with the text it holds.
    Link(String),
    /// A submodule, with the commit that it stands at.
    Submodule(String),
}

/// Why a file could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// There is nothing at the path.
    #[error("no such file or directory: {0}")]
    NotFound(FilePath),
    /// A file was wanted and a directory found, or the other way round.
    #[error("{0} is not a {1}")]
    NotA(FilePath, &'static str),
    /// A symbolic link points out of the repository.
    #[error("{link} is a symbolic link to {target:?}, which leaves the repository")]
    LinkOutside {
        /// The link.
        link: FilePath,
        /// What it holds.
        target: String,
    },
    /// Symbolic links lead back to themselves, or there are too many of them.
    #[error("too many symbolic links at {0}")]
    LinkLoop(FilePath),
    /// The file is larger than may be read.
    #[error("{path} has {size} bytes; at most {limit} may be read")]
    TooLarge {
        /// The file.
        path: FilePath,
        /// Its size.
        size: u64,
        /// The most that may be read.
        limit: u64,
    },
    /// The file's content is not in the repository, only a Git LFS pointer to it.
    #[error("{0} is a Git LFS pointer; its content is not in the repository")]
    LfsPointer(FilePath),
    /// The storage under the tree failed.
    #[error("cannot read {path}: {reason}")]
    Storage {
        /// The path.
        path: FilePath,
        /// What the storage said.
        reason: String,
    },
}

/// An immutable tree of files.
///
/// Symbolic links are followed by [`Tree::read`] and [`Tree::list`]; one that leaves the tree is an error.
pub trait Tree: Send + Sync {
    /// What stands at `path` itself; links are not followed in the last part.
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError>;

    /// The content of the file at `path`, of at most `limit` bytes.
    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError>;

    /// The names in the directory at `path` with what they are, in byte order.
    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError>;

    /// What tells the content of a file from any other, links followed, if it is known without reading the file.
    fn identity(&self, _path: &FilePath) -> Result<Option<String>, TreeError> {
        Ok(None)
    }

    /// Whether the file at `path` itself is a program, where that is kept beside its content.
    fn is_executable(&self, _path: &FilePath) -> Result<bool, TreeError> {
        Ok(false)
    }
}

/// A tree held in memory, for tests, overlays and generated sources.
#[derive(Clone, Debug, Default)]
pub struct MemoryTree {
    files: BTreeMap<FilePath, Node>,
    /// What tells the whole of it from any other.
    identity: Option<String>,
}

#[derive(Clone, Debug)]
enum Node {
    File(Arc<[u8]>),
    Link(String),
}

/// How many links may be followed on the way to one file, as in Linux.
const MAX_LINKS: usize = 40;

impl MemoryTree {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree with what tells all of its files from those of any other, such as the digest of the archive that they came
    /// from.
    #[must_use]
    pub fn identified(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: FilePath, content: impl Into<Arc<[u8]>>) {
        self.identity = None;
        self.files.insert(path, Node::File(content.into()));
    }

    /// Adds or replaces a symbolic link.
    pub fn insert_link(&mut self, path: FilePath, target: impl Into<String>) {
        self.identity = None;
        self.files.insert(path, Node::Link(target.into()));
    }

    fn is_directory(&self, path: &FilePath) -> bool {
        path.is_root() || self.below(path).next().is_some()
    }

    fn below<'a>(&'a self, dir: &'a FilePath) -> impl Iterator<Item = (&'a FilePath, &'a Node)> {
        self.files
            .range(dir.clone()..)
            .take_while(move |(path, _)| dir.is_root() || path.as_str().starts_with(dir.as_str()))
            .filter(move |(path, _)| *path != dir && path.is_within(dir))
    }

    /// The path with every link on the way followed.
    fn resolve(&self, path: &FilePath) -> Result<FilePath, TreeError> {
        follow_links(path, |path| {
            Ok(match self.files.get(path) {
                Some(Node::Link(target)) => Some(target.clone()),
                _ => None,
            })
        })
    }
}

/// Follows every link on the way to `path`, given how to read one. Shared by all kinds of tree.
pub fn follow_links(
    path: &FilePath,
    mut link_at: impl FnMut(&FilePath) -> Result<Option<String>, TreeError>,
) -> Result<FilePath, TreeError> {
    let mut rest: Vec<String> = path.parts().rev().map(str::to_owned).collect();
    let mut done = FilePath::root();
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            done = done
                .parent()
                .ok_or_else(|| TreeError::LinkOutside { link: path.clone(), target: "..".to_owned() })?;
            continue;
        }
        let next = done.join(&part).map_err(|_| TreeError::NotFound(path.clone()))?;
        let Some(target) = link_at(&next)? else {
            done = next;
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(TreeError::LinkLoop(path.clone()));
        }
        // Decided on the text, so that the answer does not depend on what lies outside.
        if target.starts_with('/') || done.join(&target).is_err() {
            return Err(TreeError::LinkOutside { link: next, target });
        }
        rest.extend(target.split('/').filter(|part| !matches!(*part, "" | ".")).rev().map(str::to_owned));
    }
    Ok(done)
}

impl Tree for MemoryTree {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        let real = match path.parent() {
            Some(parent) => {
                self.resolve(&parent)?.join(path.name()).map_err(|_| TreeError::NotFound(path.clone()))?
            }
            None => path.clone(),
        };
        match self.files.get(&real) {
            Some(Node::File(_)) => Ok(Entry::File),
            Some(Node::Link(target)) => Ok(Entry::Link(target.clone())),
            None if self.is_directory(&real) => Ok(Entry::Directory),
            None => Err(TreeError::NotFound(path.clone())),
        }
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        let real = self.resolve(path)?;
        match self.files.get(&real) {
            Some(Node::File(content)) => {
                let size = content.len() as u64;
                if size > limit {
                    return Err(TreeError::TooLarge { path: path.clone(), size, limit });
                }
                Ok(content.clone())
            }
            _ if self.is_directory(&real) => Err(TreeError::NotA(path.clone(), "file")),
            _ => Err(TreeError::NotFound(path.clone())),
        }
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        let real = self.resolve(path)?;
        if !self.is_directory(&real) {
            let found = self.files.contains_key(&real);
            return Err(if found {
                TreeError::NotA(path.clone(), "directory")
            } else {
                TreeError::NotFound(path.clone())
            });
        }
        let depth = real.parts().count();
        let mut names: BTreeMap<String, Entry> = BTreeMap::new();
        for (below, node) in self.below(&real) {
            let mut parts = below.parts().skip(depth);
            let Some(name) = parts.next() else { continue };
            let entry = match (parts.next(), node) {
                (Some(_), _) => Entry::Directory,
                (None, Node::File(_)) => Entry::File,
                (None, Node::Link(target)) => Entry::Link(target.clone()),
            };
            names.insert(name.to_owned(), entry);
        }
        Ok(names.into_iter().collect())
    }

    fn identity(&self, path: &FilePath) -> Result<Option<String>, TreeError> {
        let real = self.resolve(path)?;
        if !self.files.contains_key(&real) {
            return Err(TreeError::NotFound(path.clone()));
        }
        Ok(self.identity.as_ref().map(|identity| format!("{identity} {real}")))
    }
}

/// Which files a rendering looked at: a change to any other file cannot change its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSet {
    /// Files whose content was read, or that were looked for and not found.
    pub files: BTreeSet<FilePath>,
    /// Directories whose names were listed.
    pub directories: BTreeSet<FilePath>,
}

/// A tree that writes down what is read from it.
pub struct Recorded<'a> {
    tree: &'a dyn Tree,
    seen: Mutex<ReadSet>,
}

impl ReadSet {
    /// What was read, as `tree` has it: two trees with one fingerprint give the same result to whoever reads only this.
    /// None if that cannot be told.
    pub fn fingerprint(&self, tree: &dyn Tree) -> Option<String> {
        let mut lines = String::new();
        for path in &self.files {
            let line = match tree.entry(path) {
                Ok(Entry::Directory) => "directory".to_owned(),
                Ok(Entry::File) => tree.identity(path).ok()??,
                Ok(Entry::Link(target)) => match tree.identity(path) {
                    Ok(identity) => format!("{target} {}", identity?),
                    Err(TreeError::NotFound(_)) => format!("{target} nothing"),
                    Err(_) => return None,
                },
                Err(TreeError::NotFound(_)) => "nothing".to_owned(),
                Ok(Entry::Submodule(_)) | Err(_) => return None,
            };
            lines.push_str(&format!("{path} {line}\n"));
        }
        for path in &self.directories {
            let names = tree.list(path).ok()?;
            lines.push_str(&format!("{path} {names:?}\n"));
        }
        Some(lines)
    }
}

impl<'a> Recorded<'a> {
    /// Records what is read from `tree` through this value.
    pub fn new(tree: &'a dyn Tree) -> Self {
        Recorded { tree, seen: Mutex::default() }
    }

    /// Counts as read what somebody else has read before in the place of whoever reads through this value.
    pub fn count(&self, read: &ReadSet) {
        self.note(|seen| {
            seen.files.extend(read.files.iter().cloned());
            seen.directories.extend(read.directories.iter().cloned());
        });
    }

    /// What has been read so far.
    pub fn read_set(self) -> ReadSet {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, note: impl FnOnce(&mut ReadSet)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Tree for Recorded<'_> {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.note(|seen| {
            seen.files.insert(path.clone());
        });
        self.tree.entry(path)
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        self.note(|seen| {
            seen.files.insert(path.clone());
        });
        self.tree.read(path, limit)
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        self.note(|seen| {
            seen.directories.insert(path.clone());
        });
        self.tree.list(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::new(text).unwrap()
    }

    /// A tree from lines of `path: content` and `path -> target`.
    fn tree(lines: &str) -> MemoryTree {
        let mut tree = MemoryTree::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((link, target)) = line.split_once(" -> ") {
                tree.insert_link(path(link), target);
            } else if let Some((file, content)) = line.split_once(": ") {
                tree.insert(path(file), content.as_bytes());
            }
        }
        tree
    }

    fn read(tree: &MemoryTree, file: &str) -> Result<String, String> {
        let content = tree.read(&path(file), 100).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&content).into_owned())
    }

    #[test]
    fn files_are_read_through_links() {
        let tree = tree("a/x: 1\nb -> a\nc/d -> ../b/x\na/self -> ./x");
        assert_eq!(read(&tree, "b/x").unwrap(), "1");
        assert_eq!(read(&tree, "c/d").unwrap(), "1");
        assert_eq!(read(&tree, "a/self").unwrap(), "1");
        assert_eq!(tree.entry(&path("b")), Ok(Entry::Link("a".to_owned())));
        assert_eq!(tree.entry(&path("b/x")), Ok(Entry::File));
    }

    #[test]
    fn a_link_out_of_the_tree_is_an_error() {
        let tree = tree("a/up -> ../../etc/passwd\nabs -> /etc/passwd\ndir -> ..");
        for (file, link, target) in
            [("a/up", "a/up", "../../etc/passwd"), ("abs", "abs", "/etc/passwd"), ("dir/x", "dir", "..")]
        {
            let expected = format!("{link} is a symbolic link to {target:?}, which leaves the repository");
            assert_eq!(read(&tree, file), Err(expected));
        }
    }

    #[test]
    fn links_that_go_round_are_an_error() {
        let tree = tree("a -> b\nb -> a");
        assert_eq!(read(&tree, "a"), Err("too many symbolic links at a".to_owned()));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let tree = tree("a/x: 0123456789");
        assert_eq!(read(&tree, "a"), Err("a is not a file".to_owned()));
        assert_eq!(read(&tree, "b"), Err("no such file or directory: b".to_owned()));
        let too_large = tree.read(&path("a/x"), 5).unwrap_err();
        assert_eq!(too_large.to_string(), "a/x has 10 bytes; at most 5 may be read");
    }

    #[test]
    fn directories_are_listed_in_order() {
        let tree = tree("b: 1\na/y: 2\na/x/z: 3\na2: 4\nlink -> a");
        let names = |dir: &str| {
            let listed = tree.list(&path(dir)).unwrap();
            listed.into_iter().map(|(name, entry)| format!("{name} {entry:?}")).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(names(""), "a Directory, a2 File, b File, link Link(\"a\")");
        assert_eq!(names("a"), "x Directory, y File");
        assert_eq!(names("link"), "x Directory, y File");
        assert_eq!(tree.list(&path("b")), Err(TreeError::NotA(path("b"), "directory")));
        assert_eq!(tree.list(&path("c")), Err(TreeError::NotFound(path("c"))));
    }

    #[test]
    fn a_tree_that_is_told_from_others_tells_its_files_from_theirs() {
        let plain = tree("a/x: 1\nb -> a/x");
        assert_eq!(plain.identity(&path("b")), Ok(None));
        let mut told = plain.identified("sha256:1");
        assert_eq!(told.identity(&path("b")), Ok(Some("sha256:1 a/x".to_owned())));
        assert_eq!(told.identity(&path("c")), Err(TreeError::NotFound(path("c"))));
        told.insert(path("c"), *b"2");
        assert_eq!(told.identity(&path("b")), Ok(None), "it is no longer that tree");
    }

    #[test]
    fn what_was_looked_for_is_recorded_even_if_it_is_not_there() {
        let tree = tree("a/x: 1\na/y: 2");
        let recorded = Recorded::new(&tree);
        let _ = recorded.list(&path("a"));
        let _ = recorded.read(&path("a/x"), 10);
        let _ = recorded.read(&path("missing"), 10);
        let seen = recorded.read_set();
        assert_eq!(seen.files, BTreeSet::from([path("a/x"), path("missing")]));
        assert_eq!(seen.directories, BTreeSet::from([path("a")]));
    }
}
