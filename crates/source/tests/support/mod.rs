//! What the tests of this crate share.

#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod http_server;
pub(crate) mod plugin_server;
pub(crate) mod ssh_server;
pub(crate) mod upload_pack;
pub(crate) mod web_server;

use std::path::PathBuf;

use lynceus_files::FilePath;
use lynceus_source::compose::{Change, Message};

/// A directory that is removed when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lynceus-source-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn message(text: &str) -> Message<'_> {
    Message {
        name: "Ada",
        email: "ada@example.com",
        when: jiff::Timestamp::from_second(1_700_000_000).unwrap(),
        text,
    }
}

pub(crate) fn path(text: &str) -> FilePath {
    FilePath::new(text).unwrap()
}

pub(crate) fn write(at: &str, content: &str) -> (FilePath, Change) {
    (path(at), Change::Write(content.as_bytes().to_vec()))
}

pub(crate) fn files(files: &[(&str, &str)]) -> Vec<(FilePath, Change)> {
    files.iter().map(|(at, content)| write(at, content)).collect()
}
