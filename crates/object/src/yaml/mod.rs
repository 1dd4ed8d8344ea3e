//! YAML with the meaning that Kubernetes' Go library gives it.
//!
//! Reading follows `sigs.k8s.io/yaml`, that is go-yaml v2 and then JSON: the YAML 1.1 words are
//! booleans, keys become strings, `<<` merges, and numbers are what a JSON decoder would have made
//! of them. [`Version::V3`] reads as go-yaml v3 does, which Kustomize needs. Writing gives what
//! `sigs.k8s.io/yaml` prints, byte for byte.
//!
//! The way of a text: [`text`] checks the encoding, [`split`] cuts it into documents, [`scan`] makes
//! tokens, [`parse`] makes events, and [`build`] makes a [`Value`]. Nothing in it recurses.

mod build;
mod chars;
mod emit;
mod error;
pub(crate) mod go_float;
mod locate;
mod order;
mod parse;
mod resolve;
mod scan;
mod split;
mod style;
mod text;
mod timestamp;

pub use emit::{to_string, to_string_many};
pub use error::Error;
pub use locate::locate;

use crate::limits;
use crate::value::Value;

/// What to do with a key that a mapping has twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// The last one counts; each is reported in [`Document::duplicates`].
    #[default]
    LastWins,
    /// The document is in error.
    Error,
    /// The first one counts, and the mapping gets a field of this name, by which it can be told.
    Marked(&'static str),
}

/// Whose words are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// go-yaml v2, as in `kubectl` and Argo CD: `yes` and `on` are booleans, a later `<<` wins over a key.
    #[default]
    V2,
    /// go-yaml v3, as in Kustomize: only `true` and `false` are booleans, a key wins over any `<<`.
    V3,
}

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do with a key that a mapping has twice.
    pub duplicate_keys: DuplicateKeys,
    /// Whose words are followed.
    pub version: Version,
    /// How many bytes one document may have.
    pub max_bytes: usize,
    /// How many maps and lists may stand inside each other.
    pub max_depth: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            duplicate_keys: DuplicateKeys::LastWins,
            version: Version::V2,
            max_bytes: limits::MAX_DOCUMENT_BYTES,
            max_depth: limits::MAX_DEPTH,
        }
    }
}

impl Options {
    /// As strict validation and Kustomize want it: a duplicate key is an error.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.duplicate_keys = DuplicateKeys::Error;
        self
    }

    /// Reads as the given version of go-yaml does.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }
}

/// One document of a stream.
#[derive(Clone, Debug)]
pub struct Document {
    /// Which document of the stream this is, from 0; those without content count.
    pub index: usize,
    /// The line of the stream on which the document's content begins, from 1.
    pub line: u32,
    /// Its content; `null` if it has none. An error does not affect the other documents.
    pub result: Result<Value, Error>,
    /// Whether there is nothing but comments and markers in it.
    pub is_empty: bool,
    /// The keys that were given twice, in the order of the text.
    pub duplicates: Vec<Duplicate>,
    /// The line after which the text was not read, because the document had ended (`...`).
    pub ignored_from: Option<u32>,
}

/// A key that a mapping has twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The key.
    pub key: String,
    /// The line on which it was given first, from 1.
    pub first_line: u32,
    /// The line of the value that counts, from 1.
    pub line: u32,
    /// The column of that value, from 1.
    pub column: u32,
}

/// Reads every document of a stream, cut at lines that begin with `---` as Kubernetes cuts them. It reads whole lines, so
/// that the last one counts as ended even if it is not: a `|` scalar there ends with a line break.
pub fn documents(text: &[u8], options: &Options) -> Vec<Document> {
    let mut text = match text::decode(text) {
        Ok(text) => text,
        Err(error) => return vec![Document::failed(0, 1, error)],
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.to_mut().push('\n');
    }
    split::split(&text).enumerate().map(|(index, chunk)| chunk.read(index, options)).collect()
}

/// Reads one document with the default options. What follows the end of the document is not read.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    parse_with(text, &Options::default())
}

/// Reads one document with the default options.
pub fn parse_str(text: &str) -> Result<Value, Error> {
    parse(text.as_bytes())
}

/// Reads one document. What follows the end of the document is not read.
pub fn parse_with(text: &[u8], options: &Options) -> Result<Value, Error> {
    let text = text::decode(text)?;
    build::build(&text, options).map(|built| built.value)
}

/// Reads one document of a stream, from 0, without giving meaning to its scalars: each becomes the text that stands there,
/// after `=` if it is plain, after `>` if it is folded, and after `"` if it is quoted, another block or tagged. What is left
/// out is `=` alone. Keys are what they always are.
///
/// Kustomize keeps how a scalar was written when it puts another in its place, and that can decide what the other means.
pub fn parse_written(text: &[u8], index: usize, options: &Options) -> Result<Value, Error> {
    let text = text::decode(text)?;
    match split::split(&text).nth(index) {
        Some(chunk) => build::build_written(chunk.text, options),
        None => Ok(Value::Null),
    }
}

/// What a scalar means that stands there without quotes and without a tag: `1` is a number, `1x` a string.
pub fn meaning(text: &str, version: Version) -> Value {
    build::meaning(text, version)
}

/// What is wanted of a mapping.
pub trait Fields {
    /// How much of the field of this name is wanted; nothing if the field is not.
    fn wanted(&self, key: &str) -> Option<Wanted<'_>>;
}

/// How much of a value is wanted.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// All of it.
    All,
    /// If it is a mapping, these of its fields; all of it if it is anything else.
    Fields(&'a dyn Fields),
}

/// Reads one document with the default options, and leaves out what nobody wants, which is a good deal faster.
///
/// The error is the one that [`parse`] gives, wherever in the document it is, and what is wanted is as it gives it.
pub fn parse_only(text: &[u8], wanted: &dyn Fields) -> Result<Value, Error> {
    let text = text::decode(text)?;
    build::build_only(&text, &Options::default(), wanted)
}

impl Duplicate {
    /// The same key in a document that begins `lines` further down.
    fn moved_down(mut self, lines: u32) -> Self {
        self.first_line += lines;
        self.line += lines;
        self
    }
}

impl Document {
    fn failed(index: usize, line: u32, error: Error) -> Self {
        Document {
            index,
            line,
            result: Err(error),
            is_empty: false,
            duplicates: Vec::new(),
            ignored_from: None,
        }
    }
}
