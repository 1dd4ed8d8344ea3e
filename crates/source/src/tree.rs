//! The files of a commit, read from the object database.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use gix::ObjectId;
use gix::objs::{Kind, TreeRefIter};
use lynceus_files::{Entry, FilePath, Tree, TreeError, follow_links};

use crate::limits::{MAX_CACHED_DIRECTORIES, MAX_LFS_POINTER_BYTES};
use crate::objects::{ObjectError, Objects};

/// The files of one commit, with its submodules where they could be fetched.
pub(crate) struct GitTree {
    root: Place,
    submodules: BTreeMap<FilePath, Submodule>,
    directories: RwLock<HashMap<ObjectId, Arc<Directory>>>,
}

/// A directory, and the database that it is in.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) objects: Arc<Objects>,
    pub(crate) tree: ObjectId,
}

/// What stands where a submodule is mounted.
pub(crate) enum Submodule {
    /// Its files.
    Mounted(Place),
    /// Nothing, for this reason.
    Failed(String),
}

/// A decoded directory, in byte order.
type Directory = Vec<Item>;

struct Item {
    name: String,
    kind: ItemKind,
    id: ObjectId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    File,
    Executable,
    Directory,
    Link,
    Submodule,
}

/// What a walk along a path arrives at.
enum Node {
    Directory(Place),
    File(Arc<Objects>, ObjectId),
    Link(Arc<Objects>, ObjectId),
    Submodule(ObjectId),
}

/// How a walk ends that does not arrive.
enum Stop {
    /// There is a link on the way.
    Link,
    /// There is nothing there.
    Nothing,
    Failed(TreeError),
}

impl GitTree {
    pub(crate) fn new(root: Place) -> Self {
        GitTree { root, submodules: BTreeMap::new(), directories: RwLock::default() }
    }

    /// Puts the files of a submodule, or the reason why there are none, where it belongs.
    pub(crate) fn mount(&mut self, path: FilePath, submodule: Submodule) {
        self.submodules.insert(path, submodule);
    }

    /// Walks to `path` without following links.
    fn walk(&self, path: &FilePath) -> Result<Node, Stop> {
        let mut node = Node::Directory(self.root.clone());
        let mut done = 0;
        for part in path.parts() {
            let place = match node {
                Node::Directory(place) => place,
                Node::Link(..) => return Err(Stop::Link),
                Node::File(..) => return Err(Stop::Nothing),
                Node::Submodule(commit) => return Err(Stop::Failed(unmounted(path, commit))),
            };
            // The path has its parts one after the other, with a slash between them.
            done += part.len() + usize::from(done > 0);
            let directory = self.directory(&place, path).map_err(Stop::Failed)?;
            let found = directory.binary_search_by(|item| item.name.as_str().cmp(part));
            let item = found.ok().and_then(|index| directory.get(index)).ok_or(Stop::Nothing)?;
            node = match item.kind {
                ItemKind::File | ItemKind::Executable => Node::File(place.objects, item.id),
                ItemKind::Link => Node::Link(place.objects, item.id),
                ItemKind::Directory => Node::Directory(Place { tree: item.id, ..place }),
                ItemKind::Submodule => self.submodule(path, done, item.id)?,
            };
        }
        Ok(node)
    }

    /// What is mounted at the first `length` bytes of `path`.
    fn submodule(&self, path: &FilePath, length: usize, commit: ObjectId) -> Result<Node, Stop> {
        let mount = path.as_str().get(..length).and_then(|text| FilePath::new(text).ok());
        match mount.as_ref().and_then(|mount| self.submodules.get(mount)) {
            Some(Submodule::Mounted(place)) => Ok(Node::Directory(place.clone())),
            Some(Submodule::Failed(reason)) if length < path.as_str().len() => {
                Err(Stop::Failed(TreeError::Storage { path: path.clone(), reason: reason.clone() }))
            }
            _ => Ok(Node::Submodule(commit)),
        }
    }

    /// Walks to `path`, following links on the way and at its end.
    fn arrive(&self, path: &FilePath) -> Result<Node, TreeError> {
        let missing = || TreeError::NotFound(path.clone());
        match self.walk(path) {
            Ok(Node::Link(..)) | Err(Stop::Link) => {}
            Ok(node) => return Ok(node),
            Err(Stop::Nothing) => return Err(missing()),
            Err(Stop::Failed(error)) => return Err(error),
        }
        let real = follow_links(path, |path| match self.walk(path) {
            Ok(Node::Link(objects, id)) => read_link(&objects, id, path).map(Some),
            Err(Stop::Failed(error)) => Err(error),
            _ => Ok(None),
        })?;
        match self.walk(&real) {
            Ok(node) => Ok(node),
            Err(Stop::Link | Stop::Nothing) => Err(missing()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn directory(&self, place: &Place, path: &FilePath) -> Result<Arc<Directory>, TreeError> {
        let known = self.directories.read().unwrap_or_else(PoisonError::into_inner).get(&place.tree).cloned();
        if let Some(directory) = known {
            return Ok(directory);
        }
        let directory = Arc::new(decode(place).map_err(|error| storage(path, &error))?);
        let mut directories = self.directories.write().unwrap_or_else(PoisonError::into_inner);
        if directories.len() < MAX_CACHED_DIRECTORIES {
            directories.insert(place.tree, directory.clone());
        }
        Ok(directory)
    }

    fn describe(&self, path: &FilePath, item: &Item, objects: &Objects) -> Result<Entry, TreeError> {
        Ok(match item.kind {
            ItemKind::File | ItemKind::Executable => Entry::File,
            ItemKind::Directory => Entry::Directory,
            ItemKind::Link => Entry::Link(read_link(objects, item.id, path)?),
            ItemKind::Submodule => match self.submodules.get(path) {
                Some(Submodule::Mounted(_)) => Entry::Directory,
                _ => Entry::Submodule(item.id.to_string()),
            },
        })
    }
}

impl Tree for GitTree {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        let node = match (self.walk(path), path.parent()) {
            (Ok(node), _) => node,
            (Err(Stop::Link), Some(parent)) => {
                let real = follow_links(&parent, |path| match self.walk(path) {
                    Ok(Node::Link(objects, id)) => read_link(&objects, id, path).map(Some),
                    Err(Stop::Failed(error)) => Err(error),
                    _ => Ok(None),
                })?;
                let real = real.join(path.name()).map_err(|_| TreeError::NotFound(path.clone()))?;
                self.walk(&real).map_err(|stop| stop.into_error(path))?
            }
            (Err(stop), _) => return Err(stop.into_error(path)),
        };
        Ok(match node {
            Node::Directory(_) => Entry::Directory,
            Node::File(..) => Entry::File,
            Node::Link(objects, id) => Entry::Link(read_link(&objects, id, path)?),
            Node::Submodule(commit) => Entry::Submodule(commit.to_string()),
        })
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        let (objects, id) = match self.arrive(path)? {
            Node::File(objects, id) => (objects, id),
            Node::Submodule(commit) => return Err(unmounted(path, commit)),
            Node::Directory(_) | Node::Link(..) => return Err(TreeError::NotA(path.clone(), "file")),
        };
        // Asked first, so that a huge file is not unpacked only to be refused.
        let (_, size) = objects.header(id).map_err(|error| storage(path, &error))?;
        if size > limit {
            return Err(TreeError::TooLarge { path: path.clone(), size, limit });
        }
        let content: Arc<[u8]> =
            objects.read(id, Kind::Blob, |data| Arc::from(data)).map_err(|error| storage(path, &error))?;
        if is_lfs_pointer(&content) {
            return Err(TreeError::LfsPointer(path.clone()));
        }
        Ok(content)
    }

    fn identity(&self, path: &FilePath) -> Result<Option<String>, TreeError> {
        Ok(match self.arrive(path)? {
            Node::File(_, id) => Some(id.to_string()),
            Node::Directory(_) => Some("directory".to_owned()),
            Node::Submodule(_) | Node::Link(..) => None,
        })
    }

    fn is_executable(&self, path: &FilePath) -> Result<bool, TreeError> {
        let folder = self.arrive(&path.parent().unwrap_or_default())?;
        let Node::Directory(place) = folder else { return Ok(false) };
        let directory = self.directory(&place, path)?;
        let found = directory.binary_search_by(|item| item.name.as_str().cmp(path.name()));
        let item = found.ok().and_then(|index| directory.get(index));
        Ok(item.is_some_and(|item| item.kind == ItemKind::Executable))
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        let place = match self.arrive(path)? {
            Node::Directory(place) => place,
            Node::Submodule(commit) => return Err(unmounted(path, commit)),
            Node::File(..) | Node::Link(..) => return Err(TreeError::NotA(path.clone(), "directory")),
        };
        let directory = self.directory(&place, path)?;
        directory
            .iter()
            .map(|item| {
                let below = path.join(&item.name).map_err(|_| TreeError::NotFound(path.clone()))?;
                Ok((item.name.clone(), self.describe(&below, item, &place.objects)?))
            })
            .collect()
    }
}

impl Stop {
    fn into_error(self, path: &FilePath) -> TreeError {
        match self {
            Stop::Failed(error) => error,
            Stop::Link | Stop::Nothing => TreeError::NotFound(path.clone()),
        }
    }
}

fn decode(place: &Place) -> Result<Directory, ObjectError> {
    let id = place.tree;
    let hash = id.kind();
    place.objects.read(id, Kind::Tree, |data| {
        let mut items = Vec::new();
        for entry in TreeRefIter::from_bytes(data, hash) {
            let entry = entry.map_err(|error| ObjectError::Unreadable(id, error.to_string()))?;
            let kind = match entry.mode.kind() {
                gix::objs::tree::EntryKind::Tree => ItemKind::Directory,
                gix::objs::tree::EntryKind::Link => ItemKind::Link,
                gix::objs::tree::EntryKind::Commit => ItemKind::Submodule,
                gix::objs::tree::EntryKind::BlobExecutable => ItemKind::Executable,
                gix::objs::tree::EntryKind::Blob => ItemKind::File,
            };
            // A name that is not UTF-8 is shown with replacement characters, and found by that name.
            let name = String::from_utf8_lossy(entry.filename).into_owned();
            items.push(Item { name, kind, id: entry.oid.to_owned() });
        }
        // Git orders directories as if their names ended in a slash.
        items.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        Ok(items)
    })?
}

/// Longer than any path that a system follows.
const MAX_LINK_BYTES: u64 = 4096;

fn read_link(objects: &Objects, id: ObjectId, path: &FilePath) -> Result<String, TreeError> {
    let (_, size) = objects.header(id).map_err(|error| storage(path, &error))?;
    if size > MAX_LINK_BYTES {
        return Err(TreeError::TooLarge { path: path.clone(), size, limit: MAX_LINK_BYTES });
    }
    objects
        .read(id, Kind::Blob, |data| String::from_utf8_lossy(data).into_owned())
        .map_err(|error| storage(path, &error))
}

fn storage(path: &FilePath, error: &ObjectError) -> TreeError {
    TreeError::Storage { path: path.clone(), reason: error.to_string() }
}

fn unmounted(path: &FilePath, commit: ObjectId) -> TreeError {
    TreeError::Storage {
        path: path.clone(),
        reason: format!("it is in a submodule at {commit} that .gitmodules does not name"),
    }
}

/// Whether a file is the stand-in that Git LFS commits for a large file.
pub(crate) fn is_lfs_pointer(content: &[u8]) -> bool {
    content.len() <= MAX_LFS_POINTER_BYTES
        && content.starts_with(b"version https://git-lfs.github.com/spec/")
        && content.windows(11).any(|window| window == b"oid sha256:")
}
