//! Reading a data directory back, whatever state a crash left it in.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::log::{self, Log, MAGIC};
use super::record::{self, Entry};
use super::{Inner, OpenError, snapshot};

/// What was found in a data directory, and what had to be repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// How many changes were read from logs.
    pub replayed: usize,
    /// What was repaired, in sentences; empty after an orderly end.
    pub repairs: Vec<String>,
}

/// Reads everything and opens the log to go on with.
pub(super) fn open(directory: &Path) -> Result<(Inner, Log, Recovery), OpenError> {
    let fail = |source| OpenError::File { path: directory.display().to_string(), source };
    fs::create_dir_all(directory).map_err(fail)?;
    let mut recovery = Recovery::default();
    let mut inner = Inner::new(1);
    restore_snapshot(directory, &mut inner, &mut recovery)?;
    let logs = snapshot::list(directory, "log-").map_err(fail)?;
    let mut tail = None;
    for (at, (base, path)) in logs.iter().enumerate() {
        let name = path.display().to_string();
        let bytes = fs::read(path).map_err(|source| OpenError::File { path: name.clone(), source })?;
        if *base > inner.revision {
            return Err(OpenError::Missing {
                path: directory.display().to_string(),
                from: inner.revision + 1,
                to: *base,
            });
        }
        let good = replay(&bytes, &mut inner, &mut recovery)?;
        if good < bytes.len() as u64 || bytes.len() < MAGIC.len() {
            if at + 1 < logs.len() {
                return Err(OpenError::Damaged { path: name, offset: good });
            }
            cut(path, &bytes, good, &mut recovery)
                .map_err(|source| OpenError::File { path: name.clone(), source })?;
        }
        tail = Some((path, good));
    }
    let log = match tail {
        Some((path, good)) if good >= MAGIC.len() as u64 => Log::reopen(path, good),
        Some((path, _)) => fs::remove_file(path).and_then(|()| Log::create(directory, inner.revision)),
        None => Log::create(directory, inner.revision),
    }
    .map_err(fail)?;
    inner.floor = inner.revision;
    let floor = inner.floor;
    for shelf in inner.shelves.values_mut() {
        shelf.start_at(floor);
    }
    Ok((inner, log, recovery))
}

/// Reads the newest whole snapshot.
fn restore_snapshot(directory: &Path, inner: &mut Inner, recovery: &mut Recovery) -> Result<(), OpenError> {
    let fail = |source| OpenError::File { path: directory.display().to_string(), source };
    for (revision, path) in snapshot::list(directory, "snapshot-").map_err(fail)?.into_iter().rev() {
        let name = path.display().to_string();
        let bytes = fs::read(&path).map_err(|source| OpenError::File { path: name.clone(), source })?;
        let mut restored = Inner::new(1);
        if read_snapshot(&bytes, &mut restored) == Some(revision) {
            restored.revision = revision;
            *inner = restored;
            return Ok(());
        }
        recovery.repairs.push(format!("{name} is damaged and was passed over"));
    }
    Ok(())
}

/// Gives the revision in the snapshot's last record, or `None` if it does not end as it should.
fn read_snapshot(bytes: &[u8], inner: &mut Inner) -> Option<u64> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    while let Some((entry, length)) = record::decode(rest) {
        rest = &rest[length..];
        match entry {
            Entry::Change { place, key, stored, .. } => inner.shelf(&place).restore(key, stored),
            Entry::End { revision } => return rest.is_empty().then_some(revision),
        }
    }
    None
}

/// Applies the records that are not in the snapshot. Gives how many bytes are good.
fn replay(bytes: &[u8], inner: &mut Inner, recovery: &mut Recovery) -> Result<u64, OpenError> {
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else { return Ok(0) };
    while let Some((entry, length)) = record::decode(rest) {
        let Entry::Change { revision, place, key, stored } = entry else { break };
        if revision > inner.revision + 1 {
            break;
        }
        if revision == inner.revision + 1 {
            inner.shelf(&place).restore(key, stored);
            inner.revision = revision;
            recovery.replayed += 1;
        }
        rest = &rest[length..];
    }
    Ok((bytes.len() - rest.len()) as u64)
}

/// Keeps a copy of what is about to be cut from the end of the last log, and says so.
fn cut(path: &Path, bytes: &[u8], good: u64, recovery: &mut Recovery) -> io::Result<()> {
    let bad = &bytes[good as usize..];
    let mut copy = path.as_os_str().to_owned();
    copy.push(format!(".cut-{good}"));
    let mut file = fs::File::create(&copy)?;
    file.write_all(bad)?;
    file.sync_all()?;
    recovery.repairs.push(format!(
        "{} ended in {} bytes that are no whole record; they were cut off and kept in {}",
        path.display(),
        bad.len(),
        copy.display(),
    ));
    log::sync_directory(path.parent().unwrap_or(path))
}
