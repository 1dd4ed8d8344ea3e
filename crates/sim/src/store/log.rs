//! The log: changes in order, appended.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::medium::Medium;
use super::record::Record;

/// The first bytes of every file of the store.
pub(super) const MAGIC: &[u8; 8] = b"LYNSIM\x00\x01";

/// The file to flush, and how far it reaches: shared with the flusher.
pub(super) type Handle = File;

#[derive(Debug)]
pub(super) struct Log {
    medium: Box<dyn Medium>,
    file: Option<File>,
    length: u64,
    buffer: Vec<u8>,
    /// A failed append could not be cut off again; nothing may be written after it.
    torn: bool,
}

/// The file that holds the changes after `revision`.
pub(super) fn path(directory: &Path, revision: u64) -> PathBuf {
    directory.join(format!("log-{revision:020}"))
}

impl Log {
    /// Starts a new, empty log for the changes after `revision`.
    pub(super) fn create(directory: &Path, revision: u64) -> io::Result<Self> {
        let mut file =
            OpenOptions::new().create(true).truncate(true).write(true).open(path(directory, revision))?;
        file.append(MAGIC)?;
        file.sync_all()?;
        sync_directory(directory)?;
        Log::on_file(file, MAGIC.len() as u64)
    }

    /// Goes on with an existing log whose first `length` bytes are good.
    pub(super) fn reopen(path: &Path, length: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.truncate(length)?;
        file.sync_all()?;
        Log::on_file(file, length)
    }

    fn on_file(file: File, length: u64) -> io::Result<Self> {
        let handle = file.try_clone()?;
        Ok(Log { medium: Box::new(file), file: Some(handle), length, buffer: Vec::new(), torn: false })
    }

    #[cfg(test)]
    pub(super) fn on(medium: Box<dyn Medium>) -> Self {
        Log { medium, file: None, length: 0, buffer: Vec::new(), torn: false }
    }

    /// The file, to flush it from another thread.
    pub(super) fn handle(&self) -> io::Result<Handle> {
        match &self.file {
            Some(file) => file.try_clone(),
            None => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }

    /// How many bytes there are.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Adds a record, or leaves the log as it was.
    pub(super) fn append(&mut self, record: &Record<'_>) -> io::Result<()> {
        if self.torn {
            self.medium.truncate(self.length)?;
            self.torn = false;
        }
        self.buffer.clear();
        record.encode(&mut self.buffer);
        match self.medium.append(&self.buffer) {
            Ok(()) => {
                self.length += self.buffer.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a record would hide every record after it.
                self.torn = self.medium.truncate(self.length).is_err();
                Err(error)
            }
        }
    }
}

/// Makes a new or renamed file's name survive a crash of the machine.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
