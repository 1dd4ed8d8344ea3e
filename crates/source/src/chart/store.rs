//! What is kept on the disk of one chart repository or registry, as seen with one set of credentials.
//!
//! Archives are named by their digest and checked when they are read, so a file that was cut short by a crash
//! is fetched again and never used. Nothing is shared between credentials: whoever knows the digest of a
//! private chart must not get it out of the cache by claiming it for a repository of their own.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use lynceus_object::{Value, json, value};
use sha2::{Digest as _, Sha256};

use super::ChartVersion;
use crate::digest::{digest_like, hex, is_digest};
use crate::error::SourceError;

/// How old a draft is that nobody writes to any more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The files of one repository.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
}

/// What is known of the index that is on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    /// The mark by which the server tells whether it has changed.
    pub(crate) etag: String,
    /// When the server says that it was changed last.
    pub(crate) modified: String,
    /// The digest of the text; set when it is kept.
    pub(super) digest: String,
}

/// A file that is being written and has no name yet; it is removed unless it gets one.
pub(crate) struct Draft {
    path: PathBuf,
    file: File,
    digest: Sha256,
}

impl Store {
    pub(crate) fn new(root: PathBuf) -> Self {
        Store { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A file to write to.
    pub(crate) fn draft(&self) -> Result<Draft, SourceError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = self.root.join(format!("draft-{}-{count}", std::process::id()));
        let failed = |error: io::Error| SourceError::storage("write", &path, &error);
        fs::create_dir_all(&self.root).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        Ok(Draft { path, file, digest: Sha256::new() })
    }

    /// Gives a draft the name of the index.
    pub(crate) fn keep_index(&self, draft: Draft, mut label: Label) -> Result<(), SourceError> {
        let old = self.label();
        label.digest = draft.digest();
        let path = self.index_path(&label.digest);
        draft.keep(&path)?;
        let text = value!({"etag": label.etag, "modified": label.modified, "digest": label.digest});
        self.write(&self.root.join("index.json"), &json::to_vec(&text))?;
        // Whoever still reads the old one has it open.
        if let Some(old) = old.filter(|old| old.digest != label.digest) {
            let _ = fs::remove_file(self.index_path(&old.digest));
        }
        Ok(())
    }

    /// The index that is on the disk, if its text is whole.
    pub(crate) fn index(&self) -> Option<(Label, PathBuf)> {
        let label = self.label()?;
        let path = self.index_path(&label.digest);
        let mut text = File::open(&path).ok()?;
        let mut digest = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match text.read(&mut buffer).ok()? {
                0 => break,
                count => digest.update(buffer.get(..count)?),
            }
        }
        (hex(&digest.finalize()) == label.digest).then_some((label, path))
    }

    fn label(&self) -> Option<Label> {
        let label = self.read_value(&self.root.join("index.json"))?;
        let text = |key: &str| label.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let digest = Some(text("digest")).filter(|digest| is_digest(&format!("sha256:{digest}")))?;
        Some(Label { etag: text("etag"), modified: text("modified"), digest })
    }

    fn index_path(&self, digest: &str) -> PathBuf {
        self.root.join(format!("index-{digest}.yaml"))
    }

    /// An archive or layer by its digest, if it is here and whole.
    pub(crate) fn archive(&self, digest: &str) -> Option<Vec<u8>> {
        let path = self.archive_path(digest)?;
        let bytes = fs::read(&path).ok()?;
        if digest_like(digest, &bytes) != digest {
            tracing::warn!(path = %path.display(), "a damaged file of the cache is removed");
            let _ = fs::remove_file(&path);
            return None;
        }
        // So that a sweep sees what is in use.
        let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Keeps an archive or layer whose digest has been checked.
    pub(crate) fn keep_archive(&self, digest: &str, bytes: &[u8]) -> Result<(), SourceError> {
        match self.archive_path(digest) {
            Some(path) => self.write(&path, bytes),
            None => Ok(()),
        }
    }

    fn archive_path(&self, digest: &str) -> Option<PathBuf> {
        is_digest(digest).then(|| self.root.join("archives").join(digest.replace(':', "-")))
    }

    /// The version of a chart as it was when its archive was fetched, if the archive is still here.
    pub(crate) fn version(&self, chart: &str, version: &str) -> Option<ChartVersion> {
        let record = self.read_value(&self.record_path(chart, version))?;
        let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let urls = record.get("urls").and_then(Value::as_seq).unwrap_or_default();
        let found = ChartVersion {
            name: text("name"),
            version: text("version"),
            app_version: text("appVersion"),
            description: text("description"),
            created: text("created"),
            deprecated: record.get("deprecated").and_then(Value::as_bool).unwrap_or_default(),
            digest: Some(text("digest")),
            urls: urls.iter().filter_map(|url| url.as_str().map(str::to_owned)).collect(),
        };
        let here = found
            .digest
            .as_ref()
            .and_then(|digest| self.archive_path(digest))
            .is_some_and(|path| path.exists());
        (here && found.name == chart && found.version == version).then_some(found)
    }

    /// Writes down which archive a version of a chart has.
    pub(crate) fn keep_version(&self, version: &ChartVersion, digest: &str) -> Result<(), SourceError> {
        let urls: Vec<Value> = version.urls.iter().map(|url| Value::from(url.as_str())).collect();
        let record = value!({
            "name": version.name, "version": version.version, "appVersion": version.app_version,
            "description": version.description, "created": version.created, "deprecated": version.deprecated,
            "digest": digest, "urls": urls,
        });
        self.write(&self.record_path(&version.name, &version.version), &json::to_vec(&record))
    }

    fn record_path(&self, chart: &str, version: &str) -> PathBuf {
        let mut digest = Sha256::new();
        for part in [chart, version] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        self.root.join("versions").join(format!("{}.json", hex(&digest.finalize())))
    }

    fn read_value(&self, path: &Path) -> Option<Value> {
        json::parse(&fs::read(path).ok()?).ok()
    }

    /// Writes a file as a whole or not at all.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), SourceError> {
        let mut draft = self.draft()?;
        draft.write_all(bytes).map_err(|error| SourceError::storage("write", path, &error))?;
        draft.keep(path)
    }
}

impl Draft {
    /// Where it is, for reading it again.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn digest(&self) -> String {
        hex(&self.digest.clone().finalize())
    }

    fn keep(self, path: &Path) -> Result<(), SourceError> {
        let failed = |error: io::Error| SourceError::storage("write", path, &error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::rename(&self.path, path).map_err(failed)
    }
}

impl io::Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.digest.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Fails if it has got a name, which is as it should be.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the files below a directory that were not used for longest, until the rest has at most `limit`
/// bytes.
pub(crate) fn trim(root: &Path, limit: u64) {
    let mut files = Vec::new();
    for store in entries(root) {
        files.extend(entries(&store.join("archives")));
        files.extend(entries(&store));
    }
    let mut sized: Vec<(SystemTime, u64, PathBuf)> = files
        .into_iter()
        .filter_map(|path| {
            let metadata = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            let modified = metadata.modified().ok()?;
            let draft = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("draft-"));
            if draft && modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(&path);
            }
            (!draft).then_some((modified, metadata.len(), path))
        })
        .collect();
    sized.sort_unstable();
    let mut total: u64 = sized.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in sized {
        if total <= limit {
            break;
        }
        if fs::remove_file(&path).is_ok() {
            total -= size;
        }
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
