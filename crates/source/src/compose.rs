//! Makes small Git repositories: for the demo, where the user goes on with `git`, and for tests.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::objs::Kind;
use gix::objs::tree::EntryKind;
use gix::refs::Target;
use gix::refs::transaction::{Change as RefChange, LogChange, PreviousValue, RefEdit, RefLog};
use jiff::Timestamp;
use lynceus_files::FilePath;

use crate::error::SourceError;
use crate::revision::CommitId;
use crate::work_tree::WorkTree;

/// Whether a repository has files to edit beside its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Objects and references only, as on a server.
    Bare,
    /// With a work tree, as after `git clone`.
    WorkTree,
}

/// A change that a commit makes to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file gets this content.
    Write(Vec<u8>),
    /// A program gets this content.
    WriteProgram(Vec<u8>),
    /// A symbolic link gets this target.
    Link(String),
    /// A submodule stands at this commit.
    Submodule(CommitId),
    /// The file or directory goes away.
    Remove,
}

/// Who makes a commit, when and why.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The author's name.
    pub name: &'a str,
    /// The author's address.
    pub email: &'a str,
    /// The time.
    pub when: Timestamp,
    /// What is said.
    pub text: &'a str,
}

/// A repository that is being made.
#[derive(Debug)]
pub struct Composition {
    repository: gix::Repository,
    path: PathBuf,
}

impl Composition {
    /// Makes an empty repository whose default branch is `main`. The directory may exist; a repository in
    /// it may not.
    pub fn create(path: impl AsRef<Path>, layout: Layout) -> Result<Self, SourceError> {
        let path = path.as_ref();
        fs::create_dir_all(path).map_err(|error| SourceError::storage("create", path, &error))?;
        let kind = match layout {
            Layout::Bare => gix::create::Kind::Bare,
            Layout::WorkTree => gix::create::Kind::WithWorktree,
        };
        let options = gix::open::Options::isolated();
        let made = gix::ThreadSafeRepository::init_opts(path, kind, gix::create::Options::default(), options);
        let repository = made.map_err(|error| failed("create", path, &error))?.to_thread_local();
        Ok(Composition { repository, path: path.to_owned() })
    }

    /// Goes on with a repository that exists.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let path = path.as_ref();
        let repository = crate::local::open(path, &path.display().to_string())?;
        Ok(Composition { repository, path: path.to_owned() })
    }

    /// Makes a repository without files of its own that reads the objects of another one, and has its branches and tags. What is
    /// committed here, that one never sees. A branch counts as its server has it, where that is known.
    pub fn borrow(path: impl AsRef<Path>, lender: &WorkTree) -> Result<Self, SourceError> {
        let made = Composition::create(path, Layout::Bare)?;
        let alternates = made.path.join("objects/info/alternates");
        let line = format!("{}\n", lender.objects().display());
        fs::create_dir_all(made.path.join("objects/info"))
            .and_then(|()| fs::write(&alternates, line))
            .map_err(|error| SourceError::storage("write", &alternates, &error))?;
        let made = Composition::open(made.path)?;
        for (name, commit) in lender.references() {
            made.point(&name, Target::Object(commit.0))?;
        }
        Ok(made)
    }

    /// Where the repository is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a branch where `HEAD` is, unless it is there.
    pub fn begin(&self, branch: &str) -> Result<(), SourceError> {
        let name = format!("refs/heads/{branch}");
        match (self.tip(&name)?, self.repository.head_id()) {
            (None, Ok(head)) => self.point(&name, Target::Object(head.detach())),
            _ => Ok(()),
        }
    }

    /// Adds a commit to a branch, which is made if it is not there. The work tree is left alone; see
    /// [`Composition::checkout`].
    pub fn commit(
        &self,
        branch: &str,
        message: &Message<'_>,
        changes: impl IntoIterator<Item = (FilePath, Change)>,
    ) -> Result<CommitId, SourceError> {
        let name = format!("refs/heads/{branch}");
        let parent = self.tip(&name)?;
        let tree = self.write_tree(parent, changes)?;
        let signature = signature(message);
        let mut time = gix::date::parse::TimeBuf::default();
        let by = signature.to_ref(&mut time);
        self.repository
            .commit_as(by, by, name.as_str(), message.text, tree, parent)
            .map(|id| CommitId(id.detach()))
            .map_err(|error| self.failed("commit to", &error))
    }

    /// Adds a commit with a signature to a branch: `sign` gets what is signed and gives the signature, armoured.
    pub fn signed_commit(
        &self,
        branch: &str,
        message: &Message<'_>,
        changes: impl IntoIterator<Item = (FilePath, Change)>,
        sign: &mut dyn FnMut(&[u8]) -> String,
    ) -> Result<CommitId, SourceError> {
        let name = format!("refs/heads/{branch}");
        let parent = self.tip(&name)?;
        let mut commit = gix::objs::Commit {
            tree: self.write_tree(parent, changes)?,
            parents: parent.into_iter().collect(),
            author: signature(message),
            committer: signature(message),
            encoding: None,
            message: message.text.into(),
            extra_headers: Vec::new(),
        };
        let signed = self.bytes(&commit)?;
        commit.extra_headers.push(("gpgsig".into(), sign(&signed).trim_end().into()));
        let id = self.write(Kind::Commit, &self.bytes(&commit)?)?;
        self.point(&name, Target::Object(id))?;
        Ok(CommitId(id))
    }

    /// Points a branch at a commit, whatever it pointed at before.
    pub fn branch(&self, name: &str, commit: CommitId) -> Result<(), SourceError> {
        self.point(&format!("refs/heads/{name}"), Target::Object(commit.0))
    }

    /// Points a lightweight tag at a commit.
    pub fn tag(&self, name: &str, commit: CommitId) -> Result<(), SourceError> {
        self.point(&format!("refs/tags/{name}"), Target::Object(commit.0))
    }

    /// Makes a tag with a message.
    pub fn annotated_tag(
        &self,
        name: &str,
        commit: CommitId,
        message: &Message<'_>,
    ) -> Result<(), SourceError> {
        let signature = signature(message);
        let mut time = gix::date::parse::TimeBuf::default();
        let by = Some(signature.to_ref(&mut time));
        self.repository
            .tag(name, commit.0, Kind::Commit, by, message.text, PreviousValue::Any)
            .map(|_| ())
            .map_err(|error| self.failed("tag", &error))
    }

    /// Makes a tag with a message and a signature, which `sign` makes as for a commit.
    pub fn signed_tag(
        &self,
        name: &str,
        commit: CommitId,
        message: &Message<'_>,
        sign: &mut dyn FnMut(&[u8]) -> String,
    ) -> Result<(), SourceError> {
        let tag = gix::objs::Tag {
            target: commit.0,
            target_kind: Kind::Commit,
            name: name.into(),
            tagger: Some(signature(message)),
            message: message.text.into(),
            signature: None,
        };
        let mut bytes = self.bytes(&tag)?;
        // The signature begins on a line of its own.
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        let signature = sign(&bytes);
        bytes.extend_from_slice(signature.as_bytes());
        let id = self.write(Kind::Tag, &bytes)?;
        self.point(&format!("refs/tags/{name}"), Target::Object(id))
    }

    /// Points any reference at a commit.
    pub fn reference(&self, name: &str, commit: CommitId) -> Result<(), SourceError> {
        self.point(name, Target::Object(commit.0))
    }

    /// Makes a branch the default one.
    pub fn set_head(&self, branch: &str) -> Result<(), SourceError> {
        let target = format!("refs/heads/{branch}");
        let target = target.try_into().map_err(|error| self.failed("name a branch of", &error))?;
        self.point("HEAD", Target::Symbolic(target))
    }

    /// Takes a reference away.
    pub fn delete(&self, name: &str) -> Result<(), SourceError> {
        self.edit(name, RefChange::Delete { expected: PreviousValue::Any, log: RefLog::AndReference })
    }

    /// Writes the files of the default branch into the work tree and the index, so that `git status` finds
    /// nothing to say.
    pub fn checkout(&self) -> Result<(), SourceError> {
        let Some(root) = self.repository.workdir().map(Path::to_owned) else { return Ok(()) };
        let tree = self.repository.head_tree_id().map_err(|error| self.failed("check out", &error))?;
        let mut index =
            self.repository.index_from_tree(&tree).map_err(|error| self.failed("check out", &error))?;
        self.remove_stale(&root, &index);
        for (entry, path) in index.entries_mut_with_paths() {
            let path = FilePath::new(&path.to_string())
                .map_err(|error| SourceError::Corrupt { url: self.shown(), reason: error.to_string() })?;
            let place = root.join(path.as_str());
            self.write_file(&place, entry.mode, entry.id)
                .map_err(|error| SourceError::storage("write", &place, &error))?;
            let metadata = gix::index::fs::Metadata::from_path_no_follow(&place);
            if let Some(stat) = metadata.ok().and_then(|m| gix::index::entry::Stat::from_fs(&m).ok()) {
                entry.stat = stat;
            }
        }
        index.write(gix::index::write::Options::default()).map_err(|error| self.failed("check out", &error))
    }

    /// Takes away the files of the last checkout that this one does not have. What git does not track stays.
    fn remove_stale(&self, root: &Path, index: &gix::index::File) {
        let Ok(before) = self.repository.open_index() else { return };
        for entry in before.entries() {
            let path = entry.path(&before);
            if index.entry_by_path(path).is_none()
                && let Ok(path) = FilePath::new(&path.to_string())
            {
                let _ = fs::remove_file(root.join(path.as_str()));
            }
        }
    }

    fn write_file(&self, place: &Path, mode: gix::index::entry::Mode, id: gix::ObjectId) -> io::Result<()> {
        use gix::index::entry::Mode;
        if mode == Mode::COMMIT {
            return fs::create_dir_all(place);
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        let content = self.repository.find_blob(id).map_err(io::Error::other)?.detach().data;
        if mode == Mode::SYMLINK {
            #[cfg(unix)]
            {
                let _ = fs::remove_file(place);
                return std::os::unix::fs::symlink(String::from_utf8_lossy(&content).as_ref(), place);
            }
        }
        fs::write(place, content)
    }

    fn tip(&self, name: &str) -> Result<Option<gix::ObjectId>, SourceError> {
        let found =
            self.repository.try_find_reference(name).map_err(|error| self.failed("look into", &error))?;
        Ok(found.and_then(|reference| reference.try_id().map(gix::Id::detach)))
    }

    fn write_tree(
        &self,
        parent: Option<gix::ObjectId>,
        changes: impl IntoIterator<Item = (FilePath, Change)>,
    ) -> Result<gix::ObjectId, SourceError> {
        let wrong = |error: gix::Error| self.failed("write to", &error);
        let base = match parent {
            Some(parent) => {
                let commit = self.repository.find_commit(parent).map_err(wrong)?;
                commit.tree_id().map_err(wrong)?.detach()
            }
            None => self.repository.empty_tree().id,
        };
        let mut editor = self.repository.edit_tree(base).map_err(wrong)?;
        for (path, change) in changes {
            let path = path.as_str();
            let (kind, id) = match change {
                Change::Write(content) => (EntryKind::Blob, self.blob(&content)?),
                Change::WriteProgram(content) => (EntryKind::BlobExecutable, self.blob(&content)?),
                Change::Link(target) => (EntryKind::Link, self.blob(target.as_bytes())?),
                Change::Submodule(commit) => (EntryKind::Commit, commit.0),
                Change::Remove => {
                    editor.remove(path).map_err(wrong)?;
                    continue;
                }
            };
            editor.upsert(path, kind, id).map_err(wrong)?;
        }
        editor.write().map(gix::Id::detach).map_err(wrong)
    }

    fn bytes(&self, object: &dyn gix::objs::WriteTo) -> Result<Vec<u8>, SourceError> {
        let mut bytes = Vec::new();
        object.write_to(&mut bytes).map_err(|error| self.failed("write to", &error))?;
        Ok(bytes)
    }

    fn write(&self, kind: Kind, bytes: &[u8]) -> Result<gix::ObjectId, SourceError> {
        use gix::objs::Write as _;
        self.repository.objects.write_buf(kind, bytes).map_err(|error| self.failed("write to", &error))
    }

    fn blob(&self, content: &[u8]) -> Result<gix::ObjectId, SourceError> {
        let written = self.repository.write_blob(content);
        written.map(gix::Id::detach).map_err(|error| self.failed("write to", &error))
    }

    fn point(&self, name: &str, target: Target) -> Result<(), SourceError> {
        self.edit(
            name,
            RefChange::Update { log: LogChange::default(), expected: PreviousValue::Any, new: target },
        )
    }

    fn edit(&self, name: &str, change: RefChange) -> Result<(), SourceError> {
        let name = name.try_into().map_err(|error| self.failed("name a reference of", &error))?;
        // The log of a reference wants a name; nobody's will do.
        let by = gix::actor::SignatureRef { name: "lynceus".into(), email: "".into(), time: "0 +0000" };
        self.repository
            .edit_references_as([RefEdit { change, name, deref: false }], Some(by))
            .map(|_| ())
            .map_err(|error| self.failed("change a reference of", &error))
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn failed(&self, action: &'static str, error: &dyn std::fmt::Display) -> SourceError {
        failed(action, &self.path, error)
    }
}

fn failed(action: &'static str, path: &Path, error: &dyn std::fmt::Display) -> SourceError {
    SourceError::Storage { action, path: path.display().to_string(), reason: error.to_string() }
}

fn signature(message: &Message<'_>) -> gix::actor::Signature {
    gix::actor::Signature {
        name: message.name.into(),
        email: message.email.into(),
        time: gix::date::Time { seconds: message.when.as_second(), offset: 0 },
    }
}
