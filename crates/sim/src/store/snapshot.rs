//! All objects at one revision in a file, so that older logs can go.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Place;
use super::log::{MAGIC, sync_directory};
use super::record::{Change, Record, encode_end};
use super::shelf::{Key, Stored};

/// A copy of what is stored; cheap, because objects are shared.
pub(super) type Contents = HashMap<Place, Vec<(Key, Stored)>>;

/// The file that holds everything up to `revision`.
pub(super) fn path(directory: &Path, revision: u64) -> PathBuf {
    directory.join(format!("snapshot-{revision:020}"))
}

/// Writes a snapshot under another name and renames it once it is on the disk, so that a file with a
/// snapshot's name is always whole. Gives its size.
pub(super) fn write(directory: &Path, revision: u64, contents: &Contents) -> io::Result<u64> {
    let unfinished = directory.join("snapshot.unfinished");
    let mut out = BufWriter::new(File::create(&unfinished)?);
    out.write_all(MAGIC)?;
    let mut size = MAGIC.len() as u64;
    let mut places: Vec<&Place> = contents.keys().collect();
    places.sort();
    let mut buffer = Vec::new();
    for place in places {
        for (key, stored) in contents.get(place).into_iter().flatten() {
            buffer.clear();
            let change = Change::Put(&stored.object);
            Record { revision: stored.revision, place, key, change }.encode(&mut buffer);
            out.write_all(&buffer)?;
            size += buffer.len() as u64;
        }
    }
    buffer.clear();
    encode_end(revision, &mut buffer);
    out.write_all(&buffer)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    fs::rename(&unfinished, path(directory, revision))?;
    sync_directory(directory)?;
    Ok(size)
}

/// Removes the files that a snapshot at `revision` makes superfluous.
pub(super) fn remove_older(directory: &Path, revision: u64) -> io::Result<()> {
    for (older, file) in list(directory, "snapshot-")?.into_iter().chain(list(directory, "log-")?) {
        if older < revision {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// The files of one sort with the revision in their names, oldest first.
pub(super) fn list(directory: &Path, prefix: &str) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if let Some(revision) = name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse().ok()) {
            files.push((revision, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}
