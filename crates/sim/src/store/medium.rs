//! What a log is written to: a file, or in tests something that fails on demand.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes that can be added to and cut off.
pub(super) trait Medium: Send + Sync + fmt::Debug {
    /// Adds bytes at the end; after an error some of them may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts everything from `length` on.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}
