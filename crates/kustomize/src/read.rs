//! From the text of a file to resources, as kyaml's reader cuts and checks it.

use std::collections::VecDeque;
use std::sync::Arc;

use lynceus_files::{FilePath, Span};
use lynceus_object::yaml::{self, DuplicateKeys};
use lynceus_object::{Map, Value};

use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::written::Written;

/// Reads all resources of a text. Lists are taken apart; what is in them comes after the other documents.
pub(crate) fn resources(text: &[u8], file: Option<&FilePath>) -> Result<Vec<Resource>, KustomizeError> {
    resources_of(text, file, false)
}

/// Reads patches. Kustomize looks for duplicate keys only when it prints, and so does not see those of a map that it has
/// merged field by field: the first of them counts. Maps with any are marked with [`REPEATED`].
pub(crate) fn patches(text: &[u8], file: Option<&FilePath>) -> Result<Vec<Resource>, KustomizeError> {
    resources_of(text, file, true)
}

/// The field of a patch's map that has a key twice; in labels and annotations it holds them as they are if the last one
/// counts. No text can have a field of this name.
pub(crate) const REPEATED: &str = "\0twice";

/// Whether a key is there twice, in this map or in one below.
pub(crate) fn repeats(map: &Map) -> bool {
    fn is_repeating(value: &Value) -> bool {
        match value {
            Value::Map(map) => repeats(map),
            Value::Seq(items) => items.iter().any(is_repeating),
            _ => false,
        }
    }
    map.get(REPEATED).is_some() || map.values().any(is_repeating)
}

fn resources_of(
    text: &[u8],
    file: Option<&FilePath>,
    are_patches: bool,
) -> Result<Vec<Resource>, KustomizeError> {
    let text: Arc<str> = decoded(text)?.into();
    let documents = split(&text, file)?;
    let is_single = documents.len() == 1;
    let mut queue = VecDeque::new();
    for document in &documents {
        let value = document.read(are_patches)?;
        if value.is_empty() {
            continue;
        }
        let span = document.span(&value);
        let place = document.start..document.start + document.text.len();
        if is_single && is_wrapping(&value) {
            for (index, item) in value.items_at(&["items"]).iter().enumerate() {
                let written = Written::item(text.clone(), place.clone(), index);
                queue.push_back((item.clone(), span.clone(), written));
            }
            continue;
        }
        let written = Written::document(text.clone(), place);
        queue.push_back((value, span, written));
    }
    let mut found = Vec::with_capacity(queue.len());
    while let Some((value, span, written)) = queue.pop_front() {
        let at = |error: KustomizeError| match &span {
            Some(span) => error.at(span.clone()),
            None => error,
        };
        if value.is_empty() {
            continue;
        }
        check(&value).map_err(at)?;
        match list_items(&value).map_err(at)? {
            Some(items) => {
                queue.extend(items.iter().map(|item| (item.clone(), span.clone(), Written::json())));
            }
            None => found.push(Resource { span, written, ..Resource::new(value) }),
        }
    }
    Ok(found)
}

/// The text with the line ends of Unix.
fn decoded(text: &[u8]) -> Result<String, KustomizeError> {
    match std::str::from_utf8(text) {
        Ok(text) if text.contains("\r\n") => Ok(text.replace("\r\n", "\n")),
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            Err(KustomizeError::new(format!("MalformedYAMLError: yaml: the text is not UTF-8: {error}")))
        }
    }
}

/// One document of a text.
struct Document<'a> {
    text: &'a str,
    /// Where in the whole text it begins.
    start: usize,
    lines_before: u32,
    file: Option<&'a FilePath>,
}

/// Cuts at lines that begin with `---`, but not at the first line, and not at a last one that does not end.
fn split<'a>(text: &'a str, file: Option<&'a FilePath>) -> Result<Vec<Document<'a>>, KustomizeError> {
    let mut documents = Vec::new();
    let (mut start, mut lines_before) = (0, 0);
    let mut from = 0;
    while let Some(found) = text[from..].find("\n---") {
        let at = from + found;
        let after = at + "\n---".len();
        let Some(end) = text[after..].find('\n').map(|length| after + length + 1) else { break };
        let rest = text[after..end].trim();
        if !rest.is_empty() && !rest.starts_with('#') {
            return Err(KustomizeError::new(format!("invalid document separator: ---{rest}")));
        }
        // The line break belongs to the document, or a text in it would end differently.
        let document = &text[start..=at];
        documents.push(Document { text: document, start, lines_before, file });
        lines_before += lines(document) + 1;
        start = end;
        // The line break that ends a separator cannot begin the next one.
        from = end;
    }
    if !text.is_empty() {
        documents.push(Document { text: &text[start..], start, lines_before, file });
    }
    Ok(documents)
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

impl Document<'_> {
    /// The document as a value.
    fn read(&self, is_patch: bool) -> Result<Value, KustomizeError> {
        let read = self.read_with(DuplicateKeys::Error);
        let mut value =
            read.or_else(|error| self.read_repeating(is_patch).ok_or(error)).map_err(|error| {
                let told = KustomizeError::new(format!("MalformedYAMLError: {error}"));
                let line = if error.line == 0 { 0 } else { error.line + self.lines_before };
                let told = match self.file {
                    Some(file) => told.at(Span { file: file.clone(), line, column: error.column }),
                    None => told,
                };
                match error.hint {
                    Some(hint) => told.hint(hint),
                    None => told,
                }
            })?;
        if let Some((key, line, column)) = crate::keys::other_than_text(&value, self.text) {
            let problem = format!("MalformedYAMLError: unsupported map key {key}, which is no string");
            let error = KustomizeError::new(problem).hint(format!("put quotes around it: {key:?}"));
            return Err(match self.file {
                Some(file) => error.at(Span { file: file.clone(), line: line + self.lines_before, column }),
                None => error,
            });
        }
        if is_patch {
            crate::folded::refold(&mut value, self.text);
        }
        Ok(value)
    }

    fn read_with(&self, duplicate_keys: DuplicateKeys) -> Result<Value, yaml::Error> {
        let options = yaml::Options {
            max_bytes: usize::try_from(crate::limits::MAX_FILE_BYTES).unwrap_or(usize::MAX),
            duplicate_keys,
            ..yaml::Options::default().version(yaml::Version::V3)
        };
        yaml::parse_with(self.text.as_bytes(), &options)
    }

    /// A document with duplicate keys, if Kustomize would not notice: it takes annotations out and puts them back, by which
    /// the last of each counts.
    fn read_repeating(&self, is_patch: bool) -> Option<Value> {
        let mut marked = self.read_with(DuplicateKeys::Marked(REPEATED)).ok()?;
        let last = self.read_with(DuplicateKeys::LastWins).ok()?;
        if is_patch {
            for field in ["labels", "annotations"] {
                if marked.at(&["metadata", field, REPEATED]).is_some() {
                    marked.set(&["metadata", field, REPEATED], last.at(&["metadata", field])?.clone());
                }
            }
            return Some(marked);
        }
        let repeats_annotations = marked.at(&["metadata", "annotations", REPEATED]).is_some();
        marked.remove(&["metadata", "annotations"]);
        (repeats_annotations && !marked.as_map().is_some_and(repeats)).then_some(last)
    }

    fn span(&self, _value: &Value) -> Option<Span> {
        let file = self.file?.clone();
        let content = self.text.split_inclusive('\n').take_while(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#') || line.starts_with("---")
        });
        let line = self.lines_before + u32::try_from(content.count()).unwrap_or_default() + 1;
        Some(Span { file, line, column: 1 })
    }
}

/// A value as a text, where how it was written is not known.
pub(crate) fn spelled(value: &Value) -> lynceus_object::Str {
    match value {
        Value::Null | Value::Seq(_) | Value::Map(_) => Default::default(),
        Value::Str(text) => text.clone(),
        other => lynceus_object::json::to_string(other).into(),
    }
}

/// Whether a document only wraps others.
fn is_wrapping(value: &Value) -> bool {
    matches!(value.str_at(&["kind"]), Some("List" | "ResourceList"))
        && (value.get("items").is_some() || value.get("functionConfig").is_some())
}

/// The items of a list of resources; none if it is a resource of its own.
fn list_items(value: &Value) -> Result<Option<&[Value]>, KustomizeError> {
    let Some(kind) = value.str_at(&["kind"]).filter(|kind| kind.ends_with("List")) else { return Ok(None) };
    match value.get("items") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(&[])),
        Some(Value::Seq(items)) => Ok(Some(items)),
        Some(other) => Err(KustomizeError::new(format!(
            "expected array in {kind}/items, but found {}",
            other.type_name()
        ))),
    }
}

/// What every resource has to have.
pub(crate) fn check(value: &Value) -> Result<(), KustomizeError> {
    let has = |path: &[&str]| value.at(path).is_some_and(|value| !matches!(value, Value::Null));
    let is_given = |path: &[&str]| {
        value
            .at(path)
            .is_some_and(|value| !matches!(value, Value::Seq(_) | Value::Map(_)) && !value.is_empty())
    };
    let told = |problem: &str| {
        let name = value.at(&["metadata", "name"]).map(spelled).unwrap_or_default();
        let kind = value.get("kind").map(spelled).unwrap_or_default();
        let api_version = value.get("apiVersion").map(spelled).unwrap_or_default();
        let space = if kind.is_empty() || name.is_empty() { "" } else { " " };
        KustomizeError::new(format!("{problem} in object {{{api_version} {kind}{space}{name}}}"))
    };
    if !has(&["apiVersion"]) && !has(&["kind"]) && value.get("metadata").is_none_or(Value::is_empty) {
        return Err(KustomizeError::new("missing Resource metadata"));
    }
    if !is_given(&["kind"]) {
        return Err(told("missing kind"));
    }
    if value.str_at(&["kind"]).is_some_and(|kind| kind.ends_with("List")) {
        return Ok(());
    }
    if !is_given(&["metadata", "name"]) {
        return Err(told("missing metadata.name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        let found = resources(text.as_bytes(), None).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|resource| format!("{}/{}", resource.kind_name(), resource.name())).collect())
    }

    fn document(kind: &str, name: &str) -> String {
        format!("kind: {kind}\nmetadata: {{name: {name}}}\n")
    }

    #[test]
    fn a_text_may_hold_many_documents() {
        let text = format!(
            "---\n{}---\n# nothing\n---\n---\n{}--- # more\n{}---",
            document("A", "a"),
            document("B", "b"),
            document("C", "c")
        );
        assert_eq!(names(&text).unwrap(), ["A/a", "B/b", "C/c"]);
        assert_eq!(names(&text.replace('\n', "\r\n")).unwrap(), ["A/a", "B/b", "C/c"]);
        assert_eq!(names("").unwrap(), Vec::<String>::new());
        assert!(names(&format!("{}--- x\n{}", document("A", "a"), document("B", "b"))).is_err());
    }

    #[test]
    fn lists_are_taken_apart_after_the_other_documents() {
        let list = "kind: List\nitems:\n- {kind: A, metadata: {name: a}}\n- {kind: B, metadata: {name: b}}\n";
        assert_eq!(names(list).unwrap(), ["A/a", "B/b"]);
        assert_eq!(names(&format!("{list}---\n{}", document("C", "c"))).unwrap(), ["C/c", "A/a", "B/b"]);
        assert_eq!(names("kind: FooList\nitems:\n").unwrap(), Vec::<String>::new());
        assert_eq!(names("kind: FooList\nmetadata: {name: x}\n").unwrap(), ["FooList/x"]);
        assert!(names("kind: FooList\nitems: {}\n").unwrap_err().contains("expected array in FooList/items"));
    }

    #[test]
    fn a_resource_has_a_kind_and_a_name() {
        assert_eq!(names("a: b\n").unwrap_err(), "missing Resource metadata");
        assert!(names("apiVersion: v1\nmetadata: {name: a}\n").unwrap_err().starts_with("missing kind"));
        assert!(
            names("kind: A\nmetadata: {generateName: a}\n").unwrap_err().starts_with("missing metadata.name")
        );
        assert_eq!(names("- a\n").unwrap_err(), "missing Resource metadata");
        assert!(names("kind: A\nmetadata: {name: 5}\n").is_ok());
    }

    #[test]
    fn a_key_that_is_there_twice_is_an_error() {
        assert!(names("kind: A\nkind: B\nmetadata: {name: a}\n").is_err());
    }

    #[test]
    fn a_resource_knows_its_line() {
        let file = FilePath::new("a.yaml").unwrap();
        let text = format!("# first\n{}---\n\n{}", document("A", "a"), document("B", "b"));
        let found = resources(text.as_bytes(), Some(&file)).unwrap();
        let lines: Vec<u32> = found.iter().map(|one| one.span.as_ref().unwrap().line).collect();
        assert_eq!(lines, [2, 6]);
    }
}
