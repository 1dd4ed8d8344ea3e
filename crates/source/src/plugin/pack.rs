//! The files of a revision as an archive for a plugin.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use lynceus_files::{Entry, FilePath, Tree, TreeError};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::PluginError;
use crate::error::SourceError;
use crate::limits;

/// A packed archive.
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    /// The SHA-256 of it, in hexadecimal.
    pub(super) checksum: String,
}

/// Packs all files. The same files give the same bytes.
pub(super) fn pack(tree: &dyn Tree) -> Result<Packed, SourceError> {
    let mut packer = Packer {
        tree,
        archive: Builder::new(GzEncoder::new(Vec::new(), Compression::fast())),
        files: 0,
        bytes: 0,
    };
    packer.folder(&FilePath::root(), 0)?;
    let mut encoder = packer.archive.into_inner().map_err(|error| unpacked(&error))?;
    encoder.flush().map_err(|error| unpacked(&error))?;
    let bytes = encoder.finish().map_err(|error| unpacked(&error))?;
    let checksum = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Packed { bytes, checksum })
}

struct Packer<'a> {
    tree: &'a dyn Tree,
    archive: Builder<GzEncoder<Vec<u8>>>,
    files: usize,
    bytes: u64,
}

impl Packer<'_> {
    fn folder(&mut self, folder: &FilePath, depth: usize) -> Result<(), SourceError> {
        if depth > limits::MAX_PLUGIN_DEPTH {
            return Err(too_many(limits::MAX_PLUGIN_DEPTH as u64, "levels of folders"));
        }
        for (name, entry) in self.tree.list(folder)? {
            let Ok(path) = folder.join(&name) else { continue };
            self.files += 1;
            if self.files > limits::MAX_PLUGIN_FILES {
                return Err(too_many(limits::MAX_PLUGIN_FILES as u64, "files"));
            }
            match entry {
                Entry::Directory => {
                    self.header(&path, EntryType::Directory, 0o755, &[])?;
                    self.folder(&path, depth + 1)?;
                }
                Entry::File => self.file(&path)?,
                Entry::Link(target) => self.link(&path, &target)?,
                // One whose files could be had is a folder.
                Entry::Submodule(_) => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &FilePath) -> Result<(), SourceError> {
        let left = limits::MAX_PLUGIN_FILES_BYTES - self.bytes;
        let content = match self.tree.read(path, left) {
            Ok(content) => content,
            Err(TreeError::TooLarge { .. }) => {
                return Err(too_many(limits::MAX_PLUGIN_FILES_BYTES, "bytes"));
            }
            // Its content is not in the repository, and the plugin may well do without it.
            Err(TreeError::LfsPointer(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        self.bytes += content.len() as u64;
        let mode = if self.tree.is_executable(path)? { 0o755 } else { 0o644 };
        self.header(path, EntryType::Regular, mode, &content)
    }

    /// A link goes as it is, unless it leaves the repository: then nobody may have any of it.
    fn link(&mut self, path: &FilePath, target: &str) -> Result<(), SourceError> {
        let folder = path.parent().unwrap_or_default();
        if target.starts_with('/') || folder.join(target).is_err() {
            return Err(TreeError::LinkOutside { link: path.clone(), target: target.to_owned() }.into());
        }
        let mut header = header(EntryType::Symlink, 0o777, 0);
        self.archive.append_link(&mut header, path.as_str(), target).map_err(|error| unpacked(&error))
    }

    fn header(
        &mut self,
        path: &FilePath,
        kind: EntryType,
        mode: u32,
        content: &[u8],
    ) -> Result<(), SourceError> {
        let mut header = header(kind, mode, content.len() as u64);
        self.archive.append_data(&mut header, path.as_str(), content).map_err(|error| unpacked(&error))
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header
}

fn too_many(limit: u64, unit: &'static str) -> SourceError {
    PluginError::Files { limit, unit }.into()
}

/// Packing is done in memory; what can fail is a name or a target that no archive can hold.
fn unpacked(error: &std::io::Error) -> SourceError {
    SourceError::Storage {
        action: "pack",
        path: "the files for a plugin".to_owned(),
        reason: error.to_string(),
    }
}
