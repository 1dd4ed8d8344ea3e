//! The one layer of an artifact that holds files.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Component, Path};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use lynceus_files::{FilePath, MemoryTree};
use tar::{Archive, EntryType};

use super::manifest::{Blob, CHART_LAYER, Manifest};
use crate::limits::{MAX_ARTIFACT_BYTES, MAX_ARTIFACT_FILES, MAX_LAYERS};

/// The media types that are taken, as Argo CD takes them by default.
const TYPES: [&str; 3] =
    ["application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar+gzip", CHART_LAYER];

/// The layer with the files: exactly one, other layers being signatures and the like.
pub(super) fn content(manifest: &Manifest) -> Result<&Blob, String> {
    if manifest.layers.len() > MAX_LAYERS {
        return Err(format!("an artifact has more than {MAX_LAYERS} layers"));
    }
    let is_content = |layer: &&Blob| {
        if manifest.is_chart() {
            return layer.media_type == CHART_LAYER;
        }
        ["tar+gzip", "tar.gzip", "tar"].iter().any(|ending| layer.media_type.ends_with(ending))
    };
    let layers: Vec<&Blob> = manifest.layers.iter().filter(is_content).collect();
    let [layer] = layers.as_slice() else {
        return Err(format!("an artifact has {} layers with files, and one is expected", layers.len()));
    };
    if !TYPES.contains(&layer.media_type.as_str()) {
        return Err(format!(
            "a layer has the media type {:?}, which is not among those taken",
            layer.media_type
        ));
    }
    Ok(layer)
}

/// The files of a layer. Those of a chart come out of the directory that an archive puts them in.
pub(super) fn unpack(layer: &Blob, bytes: &[u8]) -> Result<MemoryTree, String> {
    unpack_within(layer, bytes, MAX_ARTIFACT_BYTES)
}

fn unpack_within(layer: &Blob, bytes: &[u8], limit: u64) -> Result<MemoryTree, String> {
    let mut files = Files { limit, ..Files::default() };
    if layer.media_type.ends_with("gzip") {
        files.read(Archive::new(MultiGzDecoder::new(bytes)))?;
    } else {
        files.read(Archive::new(bytes))?;
    }
    files.tree(layer.media_type == CHART_LAYER)
}

/// The files of a packed archive, which together may have as many bytes.
pub fn unpacked(bytes: &[u8], limit: u64) -> Result<MemoryTree, String> {
    let mut files = Files { limit, ..Files::default() };
    files.read(Archive::new(MultiGzDecoder::new(bytes)))?;
    files.tree(false)
}

/// What an archive holds, in its order.
#[derive(Default)]
struct Files {
    entries: Vec<(FilePath, Member)>,
    contents: HashMap<FilePath, Arc<[u8]>>,
    /// How many bytes the files have, and may have.
    bytes: u64,
    limit: u64,
}

enum Member {
    File(Arc<[u8]>),
    Link(String),
}

impl Files {
    fn read<R: Read>(&mut self, mut archive: Archive<R>) -> Result<(), String> {
        let broken = |error: std::io::Error| format!("the archive cannot be read: {error}");
        for entry in archive.entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let kind = entry.header().entry_type();
            let path = inside(&entry.path().map_err(broken)?)?;
            // Directories are where files are; devices and pipes are no files of a revision.
            let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
            if path.is_root() || !(kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() || is_link)
            {
                continue;
            }
            if self.entries.len() >= MAX_ARTIFACT_FILES {
                return Err(format!("the archive has more than {MAX_ARTIFACT_FILES} files"));
            }
            let target =
                entry.link_name().map_err(broken)?.map(|target| target.to_string_lossy().into_owned());
            let member = match (kind, target) {
                (EntryType::Symlink, Some(target)) => Member::Link(link(&path, target)?),
                (EntryType::Link, Some(target)) => {
                    let target = inside(Path::new(&target))?;
                    let content = self.contents.get(&target).cloned();
                    let unknown = || format!("{path} is a link to {target}, which does not come before it");
                    Member::File(content.ok_or_else(unknown)?)
                }
                (EntryType::Symlink | EntryType::Link, None) => {
                    return Err(format!("{path} is a link to nowhere"));
                }
                _ => Member::File(self.content(&mut entry, &path)?),
            };
            if let Member::File(content) = &member {
                self.contents.insert(path.clone(), content.clone());
            }
            self.entries.push((path, member));
        }
        Ok(())
    }

    /// The content of a file, while there is room for it.
    fn content(&mut self, entry: &mut impl Read, path: &FilePath) -> Result<Arc<[u8]>, String> {
        let room = self.limit - self.bytes;
        let mut content = Vec::new();
        let read = entry.take(room + 1).read_to_end(&mut content);
        let size = read.map_err(|error| format!("{path} in the archive cannot be read: {error}"))? as u64;
        if size > room {
            return Err(format!("the files of the archive have more than {} bytes", self.limit));
        }
        self.bytes += size;
        Ok(Arc::from(content))
    }

    fn tree(self, chart: bool) -> Result<MemoryTree, String> {
        let mut tree = MemoryTree::new();
        let mut directory: Option<String> = None;
        for (path, member) in self.entries {
            let path = if chart {
                let (first, rest) =
                    path.as_str().split_once('/').ok_or("a chart has files beside its directory")?;
                if directory.get_or_insert_with(|| first.to_owned()) != first {
                    return Err("a chart has more than one directory".to_owned());
                }
                FilePath::new(rest).map_err(|error| error.to_string())?
            } else {
                path
            };
            match member {
                Member::File(content) => tree.insert(path, content),
                Member::Link(target) => tree.insert_link(path, target),
            }
        }
        Ok(tree)
    }
}

/// A path of an archive, which must be relative and stay inside.
fn inside(path: &Path) -> Result<FilePath, String> {
    let text = path.to_str().ok_or("the archive has a name that is not text")?;
    let leaves = path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    if leaves || text.contains('\\') {
        return Err(format!("the archive has the path {text:?}, which leads out of it"));
    }
    FilePath::new(text).map_err(|error| error.to_string())
}

/// The target of a link, which must stay inside.
fn link(path: &FilePath, target: String) -> Result<String, String> {
    let directory = path.parent().unwrap_or_default();
    if target.starts_with('/') || directory.join(&target).is_err() {
        return Err(format!("{path} in the archive is a link to {target:?}, which leads out of it"));
    }
    Ok(target)
}

#[cfg(test)]
mod tests;
