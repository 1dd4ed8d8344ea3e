//! The local copy of a remote repository: a bare repository that holds the commits that were asked for.
//!
//! A mirror is made of generations, of which the newest is used. A fetch adds one pack to it and then a
//! reference that says that the commit is complete. When there are too many packs, or when something in it
//! is broken, a new generation is begun; the old one stays until nobody reads from it any more. It is a
//! cache: it may be removed at any time when no process uses it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gix::ObjectId;
use gix::refs::Target;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit};

use crate::call::Call;
use crate::error::{RevisionKind, SourceError};
use crate::limits::MAX_PACKS;
use crate::local;
use crate::objects::Objects;
use crate::protocol::{Depth, FetchError, Wish};
use crate::revision::CommitId;

/// The directory of references that say which commits are complete.
const COMPLETE: &str = "refs/complete/";

/// The mirror of one repository.
pub(crate) struct Mirror {
    directory: PathBuf,
    current: Mutex<Option<Arc<Generation>>>,
}

/// One bare repository of a mirror.
pub(crate) struct Generation {
    number: u64,
    path: PathBuf,
    repository: gix::ThreadSafeRepository,
    /// Held shared while the generation is in use, by any process; nobody removes it then.
    in_use: File,
    retired: AtomicBool,
}

impl Mirror {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Mirror { directory, current: Mutex::new(None) }
    }

    /// The objects of a commit, if it is here and complete.
    pub(crate) fn find(&self, commit: CommitId) -> Result<Option<Arc<Objects>>, SourceError> {
        let Some(generation) = self.open()? else { return Ok(None) };
        Ok(generation.has(commit.0).then(|| generation.objects()))
    }

    /// The one commit here whose id starts with `prefix`.
    pub(crate) fn find_prefix(&self, prefix: &str) -> Result<Option<CommitId>, RevisionKind> {
        match self.open() {
            Ok(Some(generation)) => local::find_prefix(&generation.repository.to_thread_local(), prefix),
            _ => Ok(None),
        }
    }

    /// Fetches commits, with `fetch` doing the talking. Other processes that use the same cache wait.
    pub(crate) fn fetch(
        &self,
        call: &Call,
        wants: &[ObjectId],
        depth: Depth,
        mut fetch: impl FnMut(&gix::Repository, Wish<'_>) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let _lock = self.lock(call).map_err(FetchError::Source)?;
        let mut generation = self.writable().map_err(FetchError::Source)?;
        let fresh = generation.is_empty();
        let mut result = generation.fetch(wants, depth, &mut fetch);
        if matches!(result, Err(FetchError::Unusable(_))) && !fresh {
            generation = self.renew().map_err(FetchError::Source)?;
            result = generation.fetch(wants, depth, &mut fetch);
        }
        result.map_err(|error| match error {
            FetchError::Source(SourceError::DiskFull { .. }) => {
                FetchError::Source(SourceError::DiskFull { directory: self.directory.display().to_string() })
            }
            other => other,
        })
    }

    /// Counts a commit as complete that came with all history.
    pub(crate) fn adopt(&self, commit: CommitId) -> Result<(), SourceError> {
        let Some(generation) = self.open()? else { return Ok(()) };
        let repository = generation.repository.to_thread_local();
        if !repository.has_object(commit.0) {
            return Ok(());
        }
        let marked = generation.mark(&repository, &[commit.0]);
        marked.map_err(|_| SourceError::Storage {
            action: "write to",
            path: self.directory.display().to_string(),
            reason: "the commit cannot be marked".to_owned(),
        })
    }

    /// The lock that makes one process at a time write. The operating system frees it when the process
    /// ends, however it ends.
    fn lock(&self, call: &Call) -> Result<File, SourceError> {
        let failed = |error| SourceError::storage("write to", &self.directory, &error);
        fs::create_dir_all(&self.directory).map_err(failed)?;
        let file = open_lock(&self.directory.join("lock")).map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {
                    call.check()?;
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    /// The generation that is in use, opened if it is not yet.
    fn open(&self) -> Result<Option<Arc<Generation>>, SourceError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = self.generations().into_iter().next_back();
        if let Some(open) = current.as_ref().filter(|open| newest.is_none_or(|newest| newest <= open.number))
        {
            return Ok(newest.map(|_| open.clone()));
        }
        let Some(number) = newest else { return Ok(None) };
        // One that cannot be opened is as good as none; a fetch will begin a new one.
        let opened = Generation::open(&self.directory, number).ok().map(Arc::new);
        current.clone_from(&opened);
        Ok(opened)
    }

    /// The generation to write to, with what a crash may have left taken away. Needs the lock.
    fn writable(&self) -> Result<Arc<Generation>, SourceError> {
        match self.open()? {
            Some(generation) => {
                generation.tidy();
                if generation.packs() < MAX_PACKS { Ok(generation) } else { self.renew() }
            }
            None => self.renew(),
        }
    }

    /// Begins a new generation and lets go of the others. Needs the lock.
    fn renew(&self) -> Result<Arc<Generation>, SourceError> {
        let number = self.generations().into_iter().next_back().unwrap_or(0) + 1;
        let generation = Arc::new(Generation::create(&self.directory, number)?);
        let before = self.current.lock().unwrap_or_else(PoisonError::into_inner).replace(generation.clone());
        if let Some(before) = before {
            before.retired.store(true, Ordering::Relaxed);
        }
        for old in self.generations().into_iter().filter(|old| *old != number) {
            remove_unused(&self.directory.join(old.to_string()));
        }
        Ok(generation)
    }

    /// The numbers of the generations on disk, in order.
    fn generations(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut numbers: Vec<u64> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl Generation {
    fn open(directory: &Path, number: u64) -> Result<Self, SourceError> {
        let path = directory.join(number.to_string());
        let failed = |error: &std::io::Error| SourceError::storage("open", &path, error);
        let in_use = open_lock(&path.join("in-use")).map_err(|error| failed(&error))?;
        in_use.lock_shared().map_err(|error| failed(&error))?;
        let repository = local::open(&path, &path.display().to_string())?.into_sync();
        Ok(Generation { number, path, repository, in_use, retired: AtomicBool::new(false) })
    }

    /// Made under another name first, so that one that is half made is never taken for whole.
    fn create(directory: &Path, number: u64) -> Result<Self, SourceError> {
        let draft = directory.join("draft");
        let failed = |error: &std::io::Error| SourceError::storage("write to", &draft, error);
        if draft.exists() {
            fs::remove_dir_all(&draft).map_err(|error| failed(&error))?;
        }
        fs::create_dir_all(&draft).map_err(|error| failed(&error))?;
        let options = gix::open::Options::isolated();
        gix::ThreadSafeRepository::init_opts(
            &draft,
            gix::create::Kind::Bare,
            gix::create::Options::default(),
            options,
        )
        .map_err(|error| {
            let io = error.downcast_any_ref::<std::io::Error>();
            io.map(failed).unwrap_or_else(|| failed(&std::io::Error::other(error.to_string())))
        })?;
        fs::rename(&draft, directory.join(number.to_string())).map_err(|error| failed(&error))?;
        Generation::open(directory, number)
    }

    fn has(&self, commit: ObjectId) -> bool {
        let repository = self.repository.to_thread_local();
        let marked = repository.try_find_reference(&format!("{COMPLETE}{commit}"));
        marked.is_ok_and(|found| found.is_some()) && repository.has_object(commit)
    }

    fn objects(self: &Arc<Self>) -> Arc<Objects> {
        let store = self.repository.objects.clone();
        Arc::new(Objects::new(store, Some(self.clone())))
    }

    /// The commits that are complete, the latest first.
    fn complete(&self, repository: &gix::Repository) -> Vec<ObjectId> {
        let Ok(references) = repository.references() else { return Vec::new() };
        let Ok(marked) = references.prefixed(COMPLETE) else { return Vec::new() };
        let mut commits: Vec<(i64, ObjectId)> = marked
            .flatten()
            .filter_map(|reference| {
                let commit = repository.find_commit(reference.try_id()?).ok()?;
                Some((commit.time().map(|time| time.seconds).unwrap_or_default(), commit.id))
            })
            .collect();
        commits.sort_unstable_by(|left, right| right.cmp(left));
        commits.into_iter().map(|(_, commit)| commit).collect()
    }

    fn fetch(
        &self,
        wants: &[ObjectId],
        depth: Depth,
        fetch: &mut impl FnMut(&gix::Repository, Wish<'_>) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let repository = self.repository.to_thread_local();
        let haves = self.complete(&repository);
        fetch(&repository, Wish { wants, haves: &haves, depth })?;
        let missing = wants.iter().find(|want| !repository.has_object(**want));
        if let Some(missing) = missing {
            return Err(FetchError::Unusable(format!("the server did not send {missing}")));
        }
        self.mark(&repository, wants)
    }

    fn mark(&self, repository: &gix::Repository, commits: &[ObjectId]) -> Result<(), FetchError> {
        let unusable = |error: gix::Error| FetchError::Unusable(error.to_string());
        let edits = commits.iter().map(|commit| {
            Ok(RefEdit {
                change: Change::Update {
                    log: LogChange::default(),
                    expected: PreviousValue::Any,
                    new: Target::Object(*commit),
                },
                name: format!("{COMPLETE}{commit}")
                    .try_into()
                    .map_err(|_| FetchError::Unusable("a reference has a bad name".to_owned()))?,
                deref: false,
            })
        });
        let edits: Vec<RefEdit> = edits.collect::<Result<_, FetchError>>()?;
        let by = gix::actor::SignatureRef { name: "lynceus".into(), email: "".into(), time: "0 +0000" };
        repository.edit_references_as(edits, Some(by)).map(|_| ()).map_err(unusable)
    }

    fn is_empty(&self) -> bool {
        self.packs() == 0
    }

    fn packs(&self) -> usize {
        let entries = fs::read_dir(self.path.join("objects/pack")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "idx")).count()
    }

    /// Takes away lock files and half-written packs that a crash left behind. Needs the mirror's lock: no
    /// other process is writing, so whatever looks unfinished is.
    fn tidy(&self) {
        let unfinished = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".lock") || name.starts_with(".tmp") || name.starts_with("tmp_")
        };
        let mut left = vec![self.path.clone(), self.path.join("objects/pack"), self.path.join("refs")];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_directory && path.starts_with(self.path.join("refs")) {
                    left.push(path);
                } else if !is_directory && unfinished(&path) {
                    tracing::info!(path = %path.display(), "removing what a crash left behind");
                    let _ = fs::remove_file(&path);
                }
            }
        }
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        if self.retired.load(Ordering::Relaxed) {
            let _ = self.in_use.unlock();
            remove_unused(&self.path);
        }
    }
}

/// Removes a whole mirror if no process writes to it or reads from it.
pub(crate) fn remove(directory: &Path) {
    let Ok(lock) = open_lock(&directory.join("lock")) else { return };
    if lock.try_lock().is_err() {
        return;
    }
    let mirror = Mirror::new(directory.to_owned());
    for generation in mirror.generations() {
        remove_unused(&directory.join(generation.to_string()));
    }
    if mirror.generations().is_empty() {
        let _ = fs::remove_dir_all(directory);
    }
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

/// Removes a generation if no process has it in use. The lock is held until it is gone, so that nobody
/// begins to use it meanwhile.
fn remove_unused(path: &Path) {
    let Ok(lock) = open_lock(&path.join("in-use")) else { return };
    if lock.try_lock().is_ok()
        && let Err(error) = fs::remove_dir_all(path)
    {
        tracing::warn!(path = %path.display(), %error, "an old mirror cannot be removed");
    }
}
