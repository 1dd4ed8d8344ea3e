//! A chart from a `.tgz`.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use lynceus_files::{FilePath, MemoryTree};

use super::load::{self, without_mark};
use super::tar::{Member, Reader};
use super::{Chart, ChartError, ChartFile};
use crate::go::{path, text};
use crate::limits;

/// Reads a chart from the bytes of an archive that lies at `source`.
pub(super) fn read(bytes: &[u8], source: Option<FilePath>) -> Result<Chart, ChartError> {
    read_inner(bytes, source, 0)
}

/// Reads a chart that is inside of `depth` others.
pub(super) fn read_inner(bytes: &[u8], source: Option<FilePath>, depth: usize) -> Result<Chart, ChartError> {
    load::chart(files(bytes, source)?, depth)
}

/// The files of an archive as a tree, without the directory that all of them are in.
pub(super) fn unpack(bytes: &[u8]) -> Result<MemoryTree, ChartError> {
    let mut tree = MemoryTree::new();
    for file in files(bytes, None)? {
        let path = FilePath::new(&file.name).map_err(|error| refused(error.to_string()))?;
        tree.insert(path, file.data);
    }
    Ok(tree)
}

/// The files of an archive, without the directory that all of them are in.
fn files(bytes: &[u8], source: Option<FilePath>) -> Result<Vec<ChartFile>, ChartError> {
    if bytes.len() > limits::MAX_COMPRESSED_BYTES {
        let limit = limits::MAX_COMPRESSED_BYTES as u64;
        return Err(ChartError::Limit { what: "too many bytes", limit });
    }
    if !bytes.starts_with(&[0x1F, 0x8B]) {
        return Err(refused("gzip: invalid header"));
    }
    // However little it was packed into, no more than this is unpacked: names and padding come on top of the files.
    let most = limits::MAX_ARCHIVE_BYTES + limits::MAX_FILES as u64 * 2048;
    let mut reader = Reader::new(MultiGzDecoder::new(bytes).take(most));
    let mut files = Vec::new();
    let mut left = limits::MAX_ARCHIVE_BYTES;
    while let Some(member) = reader.next().map_err(refused)? {
        if member.is_directory() || member.is_header() {
            continue;
        }
        let name = name(&member.name)?;
        if member.is_link() {
            return Err(refused(format!("chart illegally contains a link: {}", text::quote(&member.name))));
        }
        check_size(&member, left)?;
        left -= member.size;
        if left == 0 {
            return Err(too_large());
        }
        if files.len() >= limits::MAX_FILES {
            return Err(ChartError::Limit { what: "too many files", limit: limits::MAX_FILES as u64 });
        }
        let data = reader.content(&member).map_err(refused)?;
        files.push(ChartFile { name, data: without_mark(data.into()), source: source.clone() });
    }
    if files.is_empty() {
        return Err(refused("no files in chart archive"));
    }
    Ok(files)
}

fn check_size(member: &Member, left: u64) -> Result<(), ChartError> {
    if member.size > left {
        return Err(too_large());
    }
    if member.size > limits::MAX_FILE_BYTES {
        let (name, limit) = (text::quote(&member.name), limits::MAX_FILE_BYTES);
        return Err(refused(format!(
            "decompressed chart file {name} is larger than the maximum file size {limit}"
        )));
    }
    Ok(())
}

/// The name of a member inside of the chart, which must not lead out of it.
fn name(full: &str) -> Result<String, ChartError> {
    let delimiter = if full.contains('\\') { '\\' } else { '/' };
    let (first, rest) = full.split_once(delimiter).unwrap_or((full, ""));
    let rest = rest.replace(delimiter, "/");
    if rest.starts_with('/') {
        return Err(refused("chart illegally contains absolute paths"));
    }
    let name = path::clean(&rest);
    if name == "." {
        let full = text::quote(full);
        return Err(refused(format!("chart illegally contains content outside the base directory: {full}")));
    }
    if name.starts_with("..") {
        return Err(refused("chart illegally references parent directory"));
    }
    if matches!(name.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic()) {
        return Err(refused("chart contains illegally named files"));
    }
    if first == "Chart.yaml" {
        return Err(refused("chart yaml not in base directory"));
    }
    Ok(name)
}

fn too_large() -> ChartError {
    refused(format!("decompressed chart is larger than the maximum size {}", limits::MAX_ARCHIVE_BYTES))
}

fn refused(problem: impl Into<String>) -> ChartError {
    ChartError::Archive(problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_refused() {
        for (name, expected) in [
            ("c/../x", "chart illegally references parent directory"),
            ("c//etc/passwd", "chart illegally contains absolute paths"),
            ("c/a/../../../x", "chart illegally references parent directory"),
            ("c/c:/x", "chart contains illegally named files"),
            ("Chart.yaml/x", "chart yaml not in base directory"),
            ("Chart.yaml", "chart illegally contains content outside the base directory: \"Chart.yaml\""),
            ("c/.", "chart illegally contains content outside the base directory: \"c/.\""),
            ("c\\..\\x", "chart illegally references parent directory"),
        ] {
            assert_eq!(super::name(name).unwrap_err().to_string(), expected, "{name}");
        }
        assert_eq!(super::name("c\\templates\\a.yaml").unwrap(), "templates/a.yaml");
        assert_eq!(super::name("c/./a//b").unwrap(), "a/b");
    }

    #[test]
    fn what_is_not_an_archive_is_refused() {
        assert_eq!(read(b"apiVersion: v2", None).unwrap_err().to_string(), "gzip: invalid header");
    }
}
