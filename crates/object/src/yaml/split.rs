//! A stream cut into documents, as Kubernetes' reader cuts it.

use super::error::Error;
use super::{Document, Options, build};

/// The text of one document.
pub(super) struct Chunk<'a> {
    pub(super) text: &'a str,
    /// How many lines of the stream stand before it.
    pub(super) lines_before: u32,
    /// What follows `---` on the line that begins it, and that line, if that is not allowed there.
    bad_separator: Option<(&'a str, u32)>,
}

/// Cuts at lines that begin with `---`. A separator before anything else belongs to its document.
pub(super) fn split(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let mut rest = text;
    let mut lines_before = 0;
    let mut pending: Option<(&str, u32)> = None;
    std::iter::from_fn(move || {
        if rest.is_empty() && pending.is_none() {
            return None;
        }
        let (start, lines_start) = (rest, lines_before);
        let mut len = 0;
        let mut bad_separator = pending.take();
        while !rest.is_empty() {
            let line = &rest[..rest.find('\n').map_or(rest.len(), |at| at + 1)];
            let separator = line.strip_prefix("---").map(str::trim);
            let bad = separator
                .filter(|after| !after.is_empty() && !after.starts_with('#'))
                .map(|after| (after, lines_before + 1));
            if separator.is_some() && len > 0 {
                rest = &rest[line.len()..];
                lines_before += 1;
                // Content after the separator is wrong there, but the next document is still clear.
                pending = bad;
                break;
            }
            bad_separator = bad_separator.or(bad);
            len += line.len();
            rest = &rest[line.len()..];
            lines_before += 1;
        }
        Some(Chunk { text: &start[..len], lines_before: lines_start, bad_separator })
    })
}

impl Chunk<'_> {
    /// Reads the document.
    pub(super) fn read(&self, index: usize, options: &Options) -> Document {
        let line = self.lines_before + 1;
        if let Some((after, line)) = self.bad_separator {
            let problem = format!("invalid Yaml document separator: {after}");
            return Document::failed(index, line, Error::json((line, 1), problem));
        }
        if self.text.len() > options.max_bytes {
            return Document::failed(index, line, Error::too_large(self.text.len(), options.max_bytes));
        }
        match build::build(self.text, options) {
            Ok(built) => Document {
                index,
                line: self.lines_before + built.line.max(1),
                is_empty: built.is_empty,
                duplicates: built
                    .duplicates
                    .into_iter()
                    .map(|found| found.moved_down(self.lines_before))
                    .collect(),
                ignored_from: built.ignored_from.map(|line| line + self.lines_before),
                result: Ok(built.value),
            },
            Err(error) => Document::failed(index, line, error.moved_down(self.lines_before)),
        }
    }
}
