//! A file cut into its documents, by the rules of those who read it.

use std::ops::Range;

use lynceus_object::yaml::{self, Options, Version};
use lynceus_object::{Value, json};

use super::anatomy::{self, Cursor, Node};
use super::error::Problem;

/// A file and where its documents are.
pub(super) struct Page<'a> {
    pub(super) text: &'a str,
    pub(super) is_json: bool,
    /// The bytes of each document, without the lines between them.
    pub(super) documents: Vec<Range<usize>>,
}

/// What the documents of a file say; why, if one says nothing.
pub(super) type Said = Vec<Result<Value, String>>;

impl<'a> Page<'a> {
    /// Finds the documents of a file. As in Kubernetes, what looks like JSON and can be read as that is.
    pub(super) fn new(text: &'a str) -> Self {
        let looks_like_json = text.trim_ascii_start().starts_with('{');
        if looks_like_json && let Some(documents) = json_documents(text) {
            return Page { text, is_json: true, documents };
        }
        let mut documents = yaml_documents(text);
        if documents.is_empty() {
            documents.push(text.len()..text.len());
        }
        Page { text, is_json: false, documents }
    }

    /// The bytes of one document.
    pub(super) fn document(&self, index: usize) -> Result<Range<usize>, Problem> {
        let count = self.documents.len();
        self.documents.get(index).cloned().ok_or(Problem::NoDocument { document: index + 1, count })
    }

    /// How one document is written.
    pub(super) fn anatomy(&self, index: usize) -> Result<Node, Problem> {
        let range = self.document(index)?;
        let read = if self.is_json { anatomy::json } else { anatomy::yaml };
        read(self.text, range).map_err(|_| Problem::Layout)
    }

    /// What the documents say to a reader of this version.
    pub(super) fn said(&self, version: Version) -> Said {
        if self.is_json {
            let values = json::read_stream(self.text.as_bytes()).unwrap_or_default();
            return values.into_iter().map(|(_, parsed)| Ok(parsed.value)).collect();
        }
        let options = Options::default().version(version);
        let mut said: Said = yaml::documents(self.text.as_bytes(), &options)
            .into_iter()
            .map(|document| document.result.map_err(|error| error.problem.into_owned()))
            .collect();
        if said.is_empty() {
            said.push(Ok(Value::Null));
        }
        said
    }

    /// The line of a position, from 1.
    pub(super) fn line(&self, pos: usize) -> u32 {
        let before = self.text.as_bytes().iter().take(pos).filter(|byte| **byte == b'\n').count();
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Where the line of a position begins, in its document.
    pub(super) fn line_start(&self, pos: usize) -> usize {
        let bom = if self.text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
        self.text[..pos].rfind('\n').map_or(bom, |at| at + 1)
    }

    /// Where the line of a position ends, before its line break.
    pub(super) fn line_end(&self, pos: usize) -> usize {
        let end = self.text[pos..].find('\n').map_or(self.text.len(), |at| pos + at);
        if end > pos && self.text[..end].ends_with('\r') { end - 1 } else { end }
    }

    /// Where the line after that of a position begins; the end of the text if there is none.
    pub(super) fn next_line(&self, pos: usize) -> usize {
        self.text[pos..].find('\n').map_or(self.text.len(), |at| pos + at + 1)
    }

    /// How far in a position is, in bytes.
    pub(super) fn column(&self, pos: usize) -> usize {
        pos - self.line_start(pos)
    }

    /// Whether only blanks stand before a position on its line.
    pub(super) fn starts_line(&self, pos: usize) -> bool {
        self.text[self.line_start(pos)..pos].bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }
}

const BOM: char = '\u{feff}';

/// The bytes of the values of a stream of JSON, if it is one.
fn json_documents(text: &str) -> Option<Vec<Range<usize>>> {
    let count = json::read_stream(text.as_bytes()).ok()?.len();
    let mut from = 0;
    let mut documents = Vec::new();
    for _ in 0..count {
        let node = Cursor::new(text, from..text.len()).flow_node().ok()?;
        from = node.end;
        documents.push(node.start..node.end);
    }
    Some(documents)
}

/// The bytes between the lines that begin with `---`. One before anything else belongs to its document.
fn yaml_documents(text: &str) -> Vec<Range<usize>> {
    let mut documents = Vec::new();
    let mut start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.starts_with("---") && at > start {
            documents.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    if at > start {
        documents.push(start..at);
    }
    documents
}
