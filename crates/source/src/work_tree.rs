//! A repository as somebody works in it: its files as they stand, its branches, and the addresses that others know it by.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::index::entry::{Flags, Mode};
use lynceus_files::FilePath;

use crate::compose::Change;
use crate::error::SourceError;
use crate::revision::{CommitId, Target};
use crate::sources::resolve_local;

/// A directory with files, and the repository that it is of, if it is of one.
pub struct WorkTree {
    root: PathBuf,
    repository: Option<gix::Repository>,
}

/// What a commit has at a path.
type Standing = BTreeMap<FilePath, (Mode, ObjectId)>;

impl WorkTree {
    /// A directory by itself, whatever repository is around it.
    pub fn alone(directory: impl AsRef<Path>) -> Result<Self, SourceError> {
        let directory = directory.as_ref();
        let root =
            directory.canonicalize().map_err(|error| SourceError::storage("open", directory, &error))?;
        Ok(WorkTree { root, repository: None })
    }

    /// The work tree that a directory is in: that of the repository around it, or else the directory itself.
    pub fn around(directory: impl AsRef<Path>) -> Result<Self, SourceError> {
        let directory = directory.as_ref();
        let failed = |error: io::Error| SourceError::storage("open", directory, &error);
        let start = directory.canonicalize().map_err(failed)?;
        if !start.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        let is_bare = start.join("HEAD").is_file() && start.join("objects").is_dir();
        let root = start.ancestors().find(|folder| folder.join(".git").exists());
        let root = root.filter(|_| !is_bare).unwrap_or(&start).to_owned();
        if !is_bare && !root.join(".git").exists() {
            return Ok(WorkTree { root, repository: None });
        }
        let repository = crate::local::open(&root, &root.display().to_string())?;
        Ok(WorkTree { root, repository: Some(repository) })
    }

    /// Where its files are.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it is of a repository.
    pub fn is_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// The branch that is checked out, by its short name.
    pub fn branch(&self) -> Option<String> {
        let name = self.repository.as_ref()?.head_name().ok()??;
        Some(name.shorten().to_string())
    }

    /// The branch that its server calls the default one, if that is known here.
    pub fn default_branch(&self) -> Option<String> {
        let repository = self.repository.as_ref()?;
        repository.remote_names().iter().find_map(|remote| {
            let head = repository.try_find_reference(&format!("refs/remotes/{remote}/HEAD")).ok()??;
            let target = head.target().try_name()?.as_bstr().to_string();
            Some(target.strip_prefix(&format!("refs/remotes/{remote}/"))?.to_owned())
        })
    }

    /// The addresses that it was got from.
    pub fn urls(&self) -> Vec<String> {
        let Some(repository) = &self.repository else { return Vec::new() };
        let names = repository.remote_names();
        let remotes = names.iter().filter_map(|name| repository.find_remote(name.to_string().as_str()).ok());
        let url = |remote: gix::Remote<'_>| {
            Some(remote.url(gix::remote::Direction::Fetch)?.to_bstring().to_string())
        };
        remotes.filter_map(url).collect()
    }

    /// The commit that a text names: a branch, a tag, a commit, each with `~2` or `^` behind it for those before it.
    pub fn commit(&self, text: &str) -> Result<CommitId, SourceError> {
        let shown = self.root.display().to_string();
        let Some(repository) = &self.repository else {
            return Err(SourceError::RepositoryNotFound { url: shown });
        };
        let end = text.find(['~', '^']).unwrap_or(text.len());
        let (name, steps) = text.split_at(end);
        let mut commit = resolve_local(repository, &shown, Target::from(name))?.commit;
        for _ in 0..generations(steps) {
            commit = parent(repository, commit).ok_or_else(|| SourceError::no_commit(&shown, commit))?;
        }
        Ok(commit)
    }

    /// The branches and tags, by their full names. A branch is as its server has it, where that is known.
    pub(crate) fn references(&self) -> Vec<(String, CommitId)> {
        let Some(repository) = &self.repository else { return Vec::new() };
        let shown = self.root.display().to_string();
        let listed =
            crate::local::list(repository, &shown).map(|listing| listing.commits()).unwrap_or_default();
        let mut found: BTreeMap<String, CommitId> =
            listed.into_iter().filter(|(name, _)| name.starts_with("refs/")).collect();
        for remote in repository.remote_names() {
            found.extend(tracked(repository, &remote.to_string()));
        }
        found.into_iter().collect()
    }

    /// Where its objects are.
    pub(crate) fn objects(&self) -> PathBuf {
        let repository = self.repository.as_ref();
        repository.map_or_else(|| self.root.clone(), |repository| repository.common_dir().join("objects"))
    }

    /// The commit that is checked out, if there is one.
    pub fn head(&self) -> Option<CommitId> {
        let id = self.repository.as_ref()?.head_id().ok()?;
        Some(CommitId(id.detach()))
    }

    /// What has to be committed for the files as they stand: those that differ from the commit that is checked out, new ones, and
    /// those that are gone. What git ignores is left out.
    pub fn changes(&self) -> Result<Vec<(FilePath, Change)>, SourceError> {
        if self.repository.as_ref().is_some_and(gix::Repository::is_bare) {
            return Ok(Vec::new());
        }
        let mut walk = Walk::new(self)?;
        walk.folder(&FilePath::root())?;
        Ok(walk.finish())
    }
}

/// One walk through the files.
struct Walk<'a> {
    root: &'a Path,
    committed: Standing,
    /// What git keeps an eye on, and what of that is not to be on the disk.
    tracked: HashSet<FilePath>,
    absent: BTreeSet<FilePath>,
    seen: HashSet<FilePath>,
    excludes: Option<gix::AttributeStack<'a>>,
    changes: Vec<(FilePath, Change)>,
}

impl<'a> Walk<'a> {
    fn new(of: &'a WorkTree) -> Result<Self, SourceError> {
        let mut walk = Walk {
            root: &of.root,
            committed: Standing::new(),
            tracked: HashSet::new(),
            absent: BTreeSet::new(),
            seen: HashSet::new(),
            excludes: None,
            changes: Vec::new(),
        };
        let Some(repository) = &of.repository else { return Ok(walk) };
        let failed = |error: gix::Error| SourceError::Corrupt {
            url: of.root.display().to_string(),
            reason: error.to_string(),
        };
        if let Ok(tree) = repository.head_tree_id() {
            walk.committed = standing(&*repository.index_from_tree(&tree).map_err(failed)?);
        }
        let index = repository.index_or_empty().map_err(failed)?;
        for entry in index.entries() {
            let Ok(path) = FilePath::new(&entry.path(&index).to_string()) else { continue };
            if entry.flags.contains(Flags::SKIP_WORKTREE) {
                walk.absent.insert(path.clone());
            }
            walk.tracked.insert(path);
        }
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        walk.excludes = repository.excludes(&index, None, source).ok();
        Ok(walk)
    }

    fn folder(&mut self, folder: &FilePath) -> Result<(), SourceError> {
        let place = self.root.join(folder.as_str());
        let failed = |error: io::Error| SourceError::storage("read", &place, &error);
        let mut names: Vec<fs::DirEntry> =
            fs::read_dir(&place).map_err(failed)?.collect::<io::Result<_>>().map_err(failed)?;
        names.sort_by_key(fs::DirEntry::file_name);
        for name in names {
            // A name that is no text cannot be named by any source.
            let Some(path) = name.file_name().to_str().and_then(|name| folder.join(name).ok()) else {
                continue;
            };
            let kind = name.file_type().map_err(failed)?;
            if path.name() != ".git" && !self.is_ignored(&path, kind.is_dir()) {
                self.entry(path, kind)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: FilePath, kind: fs::FileType) -> Result<(), SourceError> {
        let place = self.root.join(path.as_str());
        if kind.is_dir() {
            // Another repository: what is committed of it, as a submodule, stays.
            return if place.join(".git").exists() { Ok(()) } else { self.folder(&path) };
        }
        let failed = |error: io::Error| SourceError::storage("read", &place, &error);
        let (mode, content) = if kind.is_symlink() {
            let target = fs::read_link(&place).map_err(failed)?;
            (Mode::SYMLINK, target.to_string_lossy().into_owned().into_bytes())
        } else if kind.is_file() {
            let mode = if is_program(&place) { Mode::FILE_EXECUTABLE } else { Mode::FILE };
            (mode, fs::read(&place).map_err(failed)?)
        } else {
            return Ok(());
        };
        self.seen.insert(path.clone());
        if self.committed.get(&path) != Some(&(mode, blob_id(&content))) {
            self.changes.push((path, change(mode, content)));
        }
        Ok(())
    }

    fn is_ignored(&mut self, path: &FilePath, is_folder: bool) -> bool {
        if self.tracked.contains(path) {
            return false;
        }
        let mode = if is_folder { Mode::DIR } else { Mode::FILE };
        let excluded = self.excludes.as_mut().and_then(|excludes| {
            excludes.at_entry(path.as_str(), Some(mode)).ok().map(|platform| platform.is_excluded())
        });
        // Files that were added all the same are in folders that are ignored.
        excluded == Some(true) && !(is_folder && self.tracked.iter().any(|tracked| tracked.is_within(path)))
    }

    fn finish(mut self) -> Vec<(FilePath, Change)> {
        for (path, (mode, _)) in &self.committed {
            if !self.seen.contains(path) && *mode != Mode::COMMIT && !self.absent.contains(path) {
                self.changes.push((path.clone(), Change::Remove));
            }
        }
        self.changes
    }
}

fn standing(index: &gix::index::State) -> Standing {
    let entry = |entry: &gix::index::Entry| {
        let path = FilePath::new(&entry.path(index).to_string()).ok()?;
        Some((path, (entry.mode, entry.id)))
    };
    index.entries().iter().filter_map(entry).collect()
}

fn change(mode: Mode, content: Vec<u8>) -> Change {
    match mode {
        Mode::SYMLINK => Change::Link(String::from_utf8_lossy(&content).into_owned()),
        Mode::FILE_EXECUTABLE => Change::WriteProgram(content),
        _ => Change::Write(content),
    }
}

/// The name that content has in Git; one that cannot be made is no content's.
fn blob_id(content: &[u8]) -> ObjectId {
    let kind = gix::hash::Kind::Sha1;
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content).unwrap_or_else(|_| kind.null())
}

#[cfg(unix)]
fn is_program(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(place).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(_place: &Path) -> bool {
    false
}

/// How many commits back `~2`, `^` or `^^` mean.
fn generations(steps: &str) -> usize {
    let digits = |text: &str| text.parse::<usize>().unwrap_or(1);
    let tildes = steps.split('~').skip(1).map(|part| digits(part.trim_end_matches('^')));
    let carets = steps.matches('^').count();
    (tildes.fold(0, usize::saturating_add) + carets).min(crate::limits::MAX_GENERATIONS)
}

fn parent(repository: &gix::Repository, commit: CommitId) -> Option<CommitId> {
    let commit = repository.find_commit(commit.0).ok()?;
    commit.parent_ids().next().map(|id| CommitId(id.detach()))
}

/// What is known of the branches of a remote repository, as branches.
fn tracked(repository: &gix::Repository, remote: &str) -> Vec<(String, CommitId)> {
    let prefix = format!("refs/remotes/{remote}/");
    let Ok(references) = repository.references() else { return Vec::new() };
    let Ok(found) = references.prefixed(prefix.as_str()) else { return Vec::new() };
    let branch = |reference: gix::Reference<'_>| {
        let name = reference.name().as_bstr().to_string();
        let short = name.strip_prefix(&prefix).filter(|short| *short != "HEAD")?.to_owned();
        let id = reference.try_id()?.detach();
        Some((format!("refs/heads/{short}"), CommitId(id)))
    };
    found.flatten().filter_map(branch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::{Composition, Layout, Message};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("lynceus-work-tree-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn commit(repository: &Composition, files: &[(&str, &str)]) -> CommitId {
        let message = Message {
            name: "Test",
            email: "t@example.com",
            when: jiff::Timestamp::UNIX_EPOCH,
            text: "A change\n",
        };
        let changes = files
            .iter()
            .map(|(path, text)| (FilePath::new(path).unwrap(), Change::Write(text.as_bytes().to_vec())));
        repository.commit("main", &message, changes).unwrap()
    }

    fn said(changes: &[(FilePath, Change)]) -> Vec<String> {
        let line = |(path, change): &(FilePath, Change)| match change {
            Change::Remove => format!("-{path}"),
            _ => format!("+{path}"),
        };
        changes.iter().map(line).collect()
    }

    #[test]
    fn what_differs_from_the_commit_is_found_and_what_is_ignored_is_not() {
        let place = folder("changes");
        let repository = Composition::create(&place, Layout::WorkTree).unwrap();
        commit(&repository, &[("a", "1"), ("b/c", "2"), ("gone", "3"), (".gitignore", "*.tmp\nout/\n")]);
        repository.checkout().unwrap();
        assert_eq!(said(&WorkTree::around(&place).unwrap().changes().unwrap()), [""; 0]);
        fs::write(place.join("a"), "changed").unwrap();
        fs::write(place.join("b/new"), "").unwrap();
        fs::write(place.join("x.tmp"), "").unwrap();
        fs::create_dir_all(place.join("out")).unwrap();
        fs::write(place.join("out/y"), "").unwrap();
        fs::remove_file(place.join("gone")).unwrap();
        // A folder of the work tree leads to all of it.
        let tree = WorkTree::around(place.join("b")).unwrap();
        assert_eq!(said(&tree.changes().unwrap()), ["+a", "+b/new", "-gone"]);
        assert_eq!(tree.branch().as_deref(), Some("main"));
        let _ = fs::remove_dir_all(&place);
    }

    #[test]
    fn a_repository_that_borrows_has_the_branches_and_objects_of_the_other_and_commits_of_its_own() {
        let place = folder("borrow");
        let lender = Composition::create(place.join("lender"), Layout::WorkTree).unwrap();
        let first = commit(&lender, &[("a", "1")]);
        lender.branch("release", first).unwrap();
        let second = commit(&lender, &[("a", "2")]);
        let tree = WorkTree::around(place.join("lender")).unwrap();
        assert_eq!(tree.commit("main~1").unwrap(), first);
        assert_eq!(tree.commit("main").unwrap(), second);
        let borrower = Composition::borrow(place.join("borrower"), &tree).unwrap();
        let third = commit(&borrower, &[("a", "3")]);
        let seen = WorkTree::around(place.join("borrower")).unwrap();
        assert_eq!(seen.commit("release").unwrap(), first);
        assert_eq!(seen.commit("main~1").unwrap(), second);
        assert_eq!((seen.commit("main").unwrap(), tree.commit("main").unwrap()), (third, second));
        let _ = fs::remove_dir_all(&place);
    }

    #[test]
    fn a_plain_directory_is_all_new() {
        let place = folder("plain");
        fs::create_dir_all(place.join("b")).unwrap();
        fs::write(place.join("b/a"), "1").unwrap();
        let tree = WorkTree::around(&place).unwrap();
        assert_eq!((tree.is_repository(), said(&tree.changes().unwrap())), (false, vec!["+b/a".to_owned()]));
        let _ = fs::remove_dir_all(&place);
    }

    #[test]
    fn the_commits_before_one_are_counted() {
        for (text, count) in [("", 0), ("~2", 2), ("^", 1), ("^^", 2), ("~3^", 4), ("~0", 0)] {
            assert_eq!(generations(text), count, "{text}");
        }
    }
}
