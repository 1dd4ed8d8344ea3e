//! The text of a manifest file to objects.
//!
//! A document that is broken is a diagnostic, and the other documents of the file are still read.

use lynceus_files::{Diagnostic, FilePath, Span};

use crate::id::split_api_version;
use crate::json;
use crate::limits::MAX_DIAGNOSTICS;
use crate::object::Object;
use crate::path::{FieldPath, Segment};
use crate::value::{Seq, Value};
use crate::yaml;

/// An object and where it stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object.
    pub object: Object,
    /// Which document of the file it is in, from 0.
    pub document: usize,
    /// Which item of a list it is, from 0, if the document is a list.
    pub item: Option<usize>,
    /// The line on which the document begins, from 1.
    pub line: u32,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    /// The objects in the order of the text.
    pub objects: Vec<Manifest>,
    /// What is wrong, in the order of the text. An error means that an object is missing.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether some of the text is no YAML at all.
    pub is_broken: bool,
}

impl Manifests {
    /// The first thing that is missing from the result, if anything is.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|found| found.severity == lynceus_files::Severity::Error)
    }
}

impl Manifest {
    /// Where a field of the object stands in the file that it was read from; the place of what would
    /// hold it if it is not there.
    pub fn locate(&self, file: &FilePath, text: &[u8], path: &FieldPath) -> Span {
        let path = self.path_in_document(path);
        let (line, column) = yaml::locate(text, self.document, &path).unwrap_or((self.line, 0));
        Span { file: file.clone(), line, column }
    }

    /// The path from the root of the document, which is a list if the object is an item of one.
    fn path_in_document(&self, path: &FieldPath) -> FieldPath {
        let list = self.item.map(|item| [Segment::Field("items".into()), Segment::Index(item)]);
        list.into_iter().flatten().chain(path.segments().iter().cloned()).collect()
    }
}

/// Reads the objects of a YAML or JSON file. Empty documents are skipped and lists flattened.
pub fn read(file: &FilePath, text: &[u8], options: &yaml::Options) -> Manifests {
    let mut reader = Reader { file, text, out: Manifests::default(), untold: 0 };
    // As in Kubernetes, what looks like JSON is read as JSON, and as YAML if that fails.
    if text.trim_ascii_start().starts_with(b"{")
        && text.len() <= options.max_bytes
        && let Ok(values) = json::read_stream(text)
    {
        for (document, (line, parsed)) in values.into_iter().enumerate() {
            reader.json(document, line, parsed);
        }
        return reader.finish();
    }
    for document in yaml::documents(text, options) {
        reader.yaml(document);
    }
    reader.finish()
}

/// The objects among values that have no text of their own because a program made them. Each is a document.
pub fn of_values(file: &FilePath, values: impl IntoIterator<Item = Value>) -> Manifests {
    let mut reader = Reader { file, text: b"", out: Manifests::default(), untold: 0 };
    for (document, value) in values.into_iter().enumerate() {
        reader.value(document, 0, value);
    }
    reader.finish()
}

struct Reader<'a> {
    file: &'a FilePath,
    text: &'a [u8],
    out: Manifests,
    /// How many problems there are beyond those that are told.
    untold: usize,
}

impl Reader<'_> {
    fn finish(mut self) -> Manifests {
        if self.untold > 0 {
            let message = format!("{} more problems in {} are not told", self.untold, self.file);
            self.out.diagnostics.push(Diagnostic::error(message));
        }
        self.out
    }

    fn report(&mut self, diagnostic: Diagnostic, line: u32, column: u32) {
        if self.out.diagnostics.len() < MAX_DIAGNOSTICS {
            let span = Span { file: self.file.clone(), line, column };
            self.out.diagnostics.push(diagnostic.at(span));
        } else {
            self.untold += 1;
        }
    }

    /// Where a field of a document stands. Each look reads the text again, so that a file with many
    /// problems gets the line of the document for most of them.
    fn place(&self, document: usize, line: u32, path: &FieldPath) -> (u32, u32) {
        if self.out.diagnostics.len() < MAX_DIAGNOSTICS / 10 {
            yaml::locate(self.text, document, path).unwrap_or((line, 0))
        } else {
            (line, 0)
        }
    }

    fn json(&mut self, document: usize, line: u32, parsed: json::Parsed) {
        for duplicate in parsed.duplicates {
            self.report_duplicate(&duplicate.path, duplicate.line, duplicate.column);
        }
        self.value(document, line, parsed.value);
    }

    fn yaml(&mut self, document: yaml::Document) {
        for duplicate in &document.duplicates {
            self.report_duplicate(&duplicate.key, duplicate.line, duplicate.column);
        }
        if let Some(line) = document.ignored_from {
            let message = "the text after the end of the document is not read";
            let hint = "begin each document with a line \"---\"";
            self.report(Diagnostic::warning(message).hint(hint), line, 0);
        }
        match document.result {
            Ok(Value::Null) => {}
            Ok(value) => self.value(document.index, document.line, value),
            Err(error) => {
                self.out.is_broken = true;
                let message = format!("document {} is not valid YAML: {}", document.index + 1, error.problem);
                let mut diagnostic = Diagnostic::error(message);
                diagnostic.hint = error.hint.map(str::to_owned);
                let line = if error.line > 0 { error.line } else { document.line };
                self.report(diagnostic, line, error.column);
            }
        }
    }

    fn report_duplicate(&mut self, key: &str, line: u32, column: u32) {
        let message = format!("key {key:?} is given twice; the last one counts");
        self.report(Diagnostic::warning(message).hint("remove one of them"), line, column);
    }

    fn value(&mut self, document: usize, line: u32, value: Value) {
        let name = format!("document {}", document + 1);
        let object = match Object::new(value) {
            Ok(object) => object,
            Err(other) => {
                let message = format!("{name} is not an object but {}", article(other.type_name()));
                self.report(
                    Diagnostic::error(message).hint("a manifest is a map with apiVersion and kind"),
                    line,
                    0,
                );
                return;
            }
        };
        match list_items(&object) {
            Some(items) => self.list(document, line, &object, items),
            None => self.object(Manifest { object, document, item: None, line }, &name),
        }
    }

    fn list(&mut self, document: usize, line: u32, list: &Object, items: Seq) {
        let item_kind = list.kind().strip_suffix("List").unwrap_or_default();
        for (index, item) in items.into_iter().enumerate() {
            let name = format!("item {} of the list in document {}", index + 1, document + 1);
            match Object::new(item) {
                Ok(mut object) => {
                    // Items of a typed list may leave their kind to it.
                    if object.kind().is_empty() && !item_kind.is_empty() {
                        object.set(&["kind"], item_kind);
                        if object.api_version().is_empty() {
                            object.set(&["apiVersion"], list.api_version());
                        }
                    }
                    self.object(Manifest { object, document, item: Some(index), line }, &name);
                }
                Err(other) => {
                    let message = format!("{name} is not an object but {}", article(other.type_name()));
                    let place = FieldPath::root().field("items").index(index);
                    let (line, column) = self.place(document, line, &place);
                    self.report(Diagnostic::error(message), line, column);
                }
            }
        }
    }

    fn object(&mut self, manifest: Manifest, name: &str) {
        let object = &manifest.object;
        let missing = if object.kind().is_empty() {
            "kind"
        } else if object.api_version().is_empty() || split_api_version(object.api_version()).1.is_empty() {
            "apiVersion"
        } else {
            self.out.objects.push(manifest);
            return;
        };
        let message = match object.at(&[missing]) {
            None | Some(Value::Null) => format!("{name} has no {missing}"),
            Some(Value::Str(_)) => format!("{name} has an empty {missing}"),
            Some(other) => {
                format!("{name} has {} as its {missing}, not a string", article(other.type_name()))
            }
        };
        let path = manifest.path_in_document(&FieldPath::fields([missing]));
        let (line, column) = self.place(manifest.document, manifest.line, &path);
        let diagnostic =
            Diagnostic::error(message).hint("every object has apiVersion, kind and metadata.name");
        self.report(diagnostic, line, column);
    }
}

/// The items, if the object is a list of objects.
fn list_items(object: &Object) -> Option<Seq> {
    match object.at(&["items"]) {
        Some(Value::Seq(items)) if object.kind().ends_with("List") => Some(items.clone()),
        Some(Value::Null) | None if object.kind() == "List" => Some(Seq::new()),
        _ => None,
    }
}

fn article(noun: &str) -> String {
    match noun {
        "null" => "null".to_owned(),
        noun if noun.starts_with(['a', 'i', 'o']) => format!("an {noun}"),
        noun => format!("a {noun}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, objects: &str, diagnostics: &str) {
        let file = FilePath::new("app.yaml").unwrap();
        let found = read(&file, text.as_bytes(), &yaml::Options::default());
        let names: Vec<String> = found
            .objects
            .iter()
            .map(|found| {
                let Manifest { object, document, item, line } = found;
                let item = item.map_or(String::new(), |item| format!("[{item}]"));
                format!(
                    "{document}{item}:{line} {} {}/{}",
                    object.api_version(),
                    object.kind(),
                    object.name()
                )
            })
            .collect();
        let told: Vec<String> = found.diagnostics.iter().map(Diagnostic::to_text).collect();
        assert_eq!(names.join("\n"), objects.trim());
        assert_eq!(told.join("\n"), diagnostics.trim());
    }

    #[test]
    fn reads_every_document() {
        check(
            "# comment\napiVersion: v1\nkind: A\nmetadata: {name: x}\n---\n\n---\n# nothing\n---\napiVersion: b/v1\nkind: B\n",
            "0:2 v1 A/x\n3:10 b/v1 B/",
            "",
        );
    }

    #[test]
    fn flattens_lists() {
        check(
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A}\n- {apiVersion: v1, kind: B}\n\
             ---\napiVersion: c/v1\nkind: CList\nitems:\n- metadata: {name: c}\n---\nkind: List\napiVersion: v1\n",
            "0[0]:1 v1 A/\n0[1]:1 v1 B/\n1[0]:7 c/v1 C/c",
            "",
        );
    }

    #[test]
    fn a_kind_that_only_sounds_like_a_list_is_an_object() {
        check("apiVersion: x/v1\nkind: AllowList\nspec: {}\n", "0:1 x/v1 AllowList/", "");
    }

    #[test]
    fn one_bad_document_does_not_lose_the_others() {
        check(
            "apiVersion: v1\nkind: A\n---\nkind: B\n\tx: 1\n---\napiVersion: v1\nkind: C\n",
            "0:1 v1 A/\n2:7 v1 C/",
            "error: document 2 is not valid YAML: found a tab character that violates indentation\n  at app.yaml:5:1\n  \
             hint: indent with spaces, not tabs",
        );
    }

    #[test]
    fn says_what_is_missing_and_where() {
        let hint = "  hint: every object has apiVersion, kind and metadata.name";
        check(
            "metadata: {name: x}\napiVersion: v1\n---\nkind: A\n---\n- a\n---\nkind: [a]\napiVersion: v1\n---\nkind: ''\n",
            "",
            &format!(
                "error: document 1 has no kind\n  at app.yaml:1:1\n{hint}\n\
                 error: document 2 has no apiVersion\n  at app.yaml:4:1\n{hint}\n\
                 error: document 3 is not an object but an array\n  at app.yaml:6\n  \
                 hint: a manifest is a map with apiVersion and kind\n\
                 error: document 4 has an array as its kind, not a string\n  at app.yaml:8:1\n{hint}\n\
                 error: document 5 has an empty kind\n  at app.yaml:11:1\n{hint}"
            ),
        );
        check(
            "apiVersion: v1\nkind: List\nitems:\n- a\n- kind: B\n",
            "",
            &format!(
                "error: item 1 of the list in document 1 is not an object but a string\n  at app.yaml:4:3\n\
                 error: item 2 of the list in document 1 has no apiVersion\n  at app.yaml:5:3\n{hint}"
            ),
        );
    }

    #[test]
    fn duplicate_keys_are_told_and_the_last_counts() {
        check(
            "apiVersion: v1\nkind: A\nkind: B\n",
            "0:1 v1 B/",
            "warning: key \"kind\" is given twice; the last one counts\n  at app.yaml:3:7\n  hint: remove one of them",
        );
    }

    #[test]
    fn reads_json() {
        check(
            "{\"apiVersion\": \"v1\", \"kind\": \"A\"}\n{\"apiVersion\": \"v1\", \"kind\": \"B\"}",
            "0:1 v1 A/\n1:2 v1 B/",
            "",
        );
        check("{apiVersion: v1, kind: A}", "0:1 v1 A/", "");
    }

    #[test]
    fn text_after_the_end_of_a_document_is_told() {
        check(
            "apiVersion: v1\nkind: A\n...\nkind: B\n",
            "0:1 v1 A/",
            "warning: the text after the end of the document is not read\n  at app.yaml:4\n  \
             hint: begin each document with a line \"---\"",
        );
    }

    #[test]
    fn a_file_full_of_mistakes_is_told_of_within_bounds() {
        let text = format!("apiVersion: v1\nkind: List\nitems:\n{}", "- a: 1\n".repeat(500));
        let found = read(&FilePath::root(), text.as_bytes(), &yaml::Options::default());
        assert_eq!(found.diagnostics.len(), MAX_DIAGNOSTICS + 1);
        assert_eq!(found.diagnostics[MAX_DIAGNOSTICS].message, "400 more problems in . are not told");
    }

    #[test]
    fn a_large_document_is_refused_by_the_callers_limit() {
        let options = yaml::Options { max_bytes: 10, ..yaml::Options::default() };
        let found = read(&FilePath::root(), b"apiVersion: v1\nkind: A\n---\na: 1", &options);
        let told = &found.diagnostics[0].message;
        assert_eq!(told, "document 1 is not valid YAML: the document has 23 bytes; at most 10 are read");
        assert_eq!(found.diagnostics.len(), 2);
    }
}
