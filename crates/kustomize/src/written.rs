//! How the scalars of a resource were written down.
//!
//! Kustomize puts the scalar of a patch in the place of another, but keeps how the other was written: `cpu: 1` over
//! `cpu: "500m"` is the string `"1"`, over `cpu: 500m` the number. It also tells a null that is written from one that is
//! left out, and copies `1.10` as that text and not as the number. A value knows nothing of this, so the text is kept,
//! and read again in the few cases in which it matters.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lynceus_object::yaml::{self, Options, Version};
use lynceus_object::{FieldPath, Segment, Str, Value};

use crate::read::REPEATED;
use crate::scalar::text_of;
use crate::{flow, folded};

/// The texts that a resource was made of: its own, and then those of the patches that have been merged into it.
///
/// The empty one is of a resource that was printed and read on its way, so that only what needs quotes has any.
#[derive(Clone, Debug, Default)]
pub struct Written(Vec<Arc<Source>>);

#[derive(Debug)]
struct Source {
    /// The stream, and where in it the document is; nothing if it was JSON that nobody has kept.
    text: Option<(Arc<str>, Range<usize>)>,
    /// Which of its `items` is meant, if it is not the whole document.
    item: Option<usize>,
    tree: OnceLock<Option<Value>>,
}

/// One step on the way to a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A field of a map.
    Field(Str),
    /// The item of a list whose fields `keys` are `values`.
    Item(Vec<Str>, Vec<Str>),
    /// The item of a list at a position.
    Index(usize),
}

impl Written {
    /// A document of a stream.
    pub fn document(stream: Arc<str>, place: Range<usize>) -> Self {
        Written(vec![Arc::new(Source { text: Some((stream, place)), item: None, tree: OnceLock::new() })])
    }

    /// An item of the list that a document of a stream is.
    pub fn item(stream: Arc<str>, place: Range<usize>, index: usize) -> Self {
        let item = Some(index);
        Written(vec![Arc::new(Source { text: Some((stream, place)), item, tree: OnceLock::new() })])
    }

    /// What was printed as JSON on its way, such as the items of a `List`: all its strings are quoted.
    pub fn json() -> Self {
        Written(vec![Arc::new(Source { text: None, item: None, tree: OnceLock::new() })])
    }

    /// The line and column of a field in the resource's own text, counted from the beginning of the stream; those of
    /// what would hold the field if it is not there.
    pub(crate) fn locate(&self, path: &FieldPath) -> Option<(u32, u32)> {
        let source = self.0.first()?;
        let (text, place) = source.text.as_ref()?;
        let item = source.item.map(|item| [Segment::Field("items".into()), Segment::Index(item)]);
        let path: FieldPath = item.into_iter().flatten().chain(path.segments().iter().cloned()).collect();
        let before = text.get(..place.start)?.bytes().filter(|byte| *byte == b'\n').count();
        let (line, column) = yaml::locate(text.get(place.clone())?.as_bytes(), 0, &path)?;
        Some((line + u32::try_from(before).ok()?, column))
    }

    /// What a value of this text is after Kustomize has printed it and read it again: folded texts get lines, and what is
    /// left out in flow style is an empty text. Annotations are not folded in the end, when they are written anew.
    pub(crate) fn reprint(&self, value: &mut Value, folds_annotations: bool) {
        for source in &self.0 {
            let Some(document) = source.document() else { continue };
            if flow::has_null(value)
                && let Some(filled) = flow::filled(document)
                && let Some(filled) = source.own(&filled)
            {
                flow::take(value, filled);
            }
            if folded::may_have_folded(document)
                && let Some(tree) = source.tree().and_then(|tree| source.own(tree))
            {
                let mut tree = tree.clone();
                if !folds_annotations {
                    tree.remove(&["metadata", "annotations"]);
                }
                folded::refold_in(value, &tree);
            }
        }
    }

    /// Whether something on the way along a path stands in flow style in the resource's own text.
    pub(crate) fn is_in_flow(&self, path: &[Step]) -> bool {
        (0..=path.len()).any(|length| self.begins_flow(&path[..length]).unwrap_or(false))
    }

    fn begins_flow(&self, path: &[Step]) -> Option<bool> {
        let segments = path.iter().map(|step| match step {
            Step::Field(name) => Some(Segment::Field(name.clone())),
            Step::Index(at) => Some(Segment::Index(*at)),
            Step::Item(..) => None,
        });
        let (line, column) = self.locate(&segments.collect::<Option<FieldPath>>()?)?;
        let line =
            self.0.first()?.text.as_ref()?.0.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let from = line.char_indices().nth(usize::try_from(column).ok()?.checked_sub(1)?)?.0;
        let key = match path.last() {
            Some(Step::Field(name)) => Some(name.as_str()),
            _ => None,
        };
        Some(crate::flow::begins(line.get(from..)?, key))
    }

    /// Adds what is written in a patch.
    pub(crate) fn add(&mut self, patch: &Written) {
        self.0.extend(patch.0.iter().cloned());
    }

    /// Whether the scalar at a path is quoted, which now has the value given.
    pub(crate) fn is_quoted(&self, path: &[Step], value: &Value) -> bool {
        let Value::Str(text) = value else { return false };
        // Merging anything puts quotes around the words of YAML 1.1 wherever they stand.
        let is_string_in = |version| yaml::meaning(text, version) == *value;
        if self.0.len() > 1 && is_string_in(Version::V3) && !is_string_in(Version::V2) {
            return true;
        }
        for source in &self.0 {
            if source.text.is_none() {
                return true;
            }
            if let Some(scalar) = source.find(path) {
                return !scalar.starts_with('=');
            }
        }
        matches!(yaml::to_string(value).as_bytes().first(), Some(b'"' | b'\'' | b'|' | b'>'))
    }

    /// The text of the scalar at a path, which has the value given.
    pub(crate) fn text(&self, path: &[Step], value: &Value) -> Str {
        if let Value::Str(text) = value {
            return text.clone();
        }
        // The latest text that means the value; what a transformer has changed since is written nowhere.
        let mut texts = self.0.iter().rev().filter_map(|source| source.find(path)).map(|text| &text[1..]);
        texts
            .find(|text| yaml::meaning(text, Version::V3) == *value)
            .map_or_else(|| text_of(value), Into::into)
    }

    /// The text of a date at a path, which may mean the same and be written otherwise.
    pub(crate) fn date(&self, path: &[Step], date: &Str) -> Str {
        let mut texts = self.0.iter().rev().filter_map(|source| source.find(path));
        let written = texts.find(|text| yaml::meaning(&text[1..], Version::V3).as_str() == Some(date));
        written.map_or_else(|| date.clone(), |text| text[1..].into())
    }

    /// Whether the null at a path is one that is left out: `key:` and nothing after it.
    pub(crate) fn is_left_out(&self, path: &[Step]) -> bool {
        self.0.iter().find_map(|source| source.find(path)).is_some_and(|text| text == "=")
    }
}

impl Source {
    fn document(&self) -> Option<&str> {
        let (text, place) = self.text.as_ref()?;
        text.get(place.clone())
    }

    /// The scalars of the document as they are written.
    fn tree(&self) -> Option<&Value> {
        let tree = self.tree.get_or_init(|| {
            let options = Options {
                duplicate_keys: yaml::DuplicateKeys::Marked(REPEATED),
                ..Options::default().version(Version::V3)
            };
            yaml::parse_written(self.document()?.as_bytes(), 0, &options).ok()
        });
        tree.as_ref()
    }

    /// The part of a document's tree that is meant.
    fn own<'v>(&self, tree: &'v Value) -> Option<&'v Value> {
        match self.item {
            Some(index) => tree.items_at(&["items"]).get(index),
            None => Some(tree),
        }
    }

    fn find(&self, path: &[Step]) -> Option<&str> {
        find(self.own(self.tree()?)?, path)
    }
}

/// The scalar at a path in a tree of scalars as they are written. Where items of a list have the same keys, the first
/// that the path goes on in counts.
fn find<'v>(here: &'v Value, path: &[Step]) -> Option<&'v str> {
    let Some((step, rest)) = path.split_first() else { return here.as_str() };
    match step {
        Step::Field(name) => find(here.get(name)?, rest),
        Step::Index(at) => find(here.as_seq()?.get(*at)?, rest),
        Step::Item(keys, values) => {
            let has = |item: &Value, key: &Str, value: &Str| {
                item.str_at(&[key]).is_some_and(|text| text[1..] == **value)
            };
            let is_meant = |item: &&Value| keys.iter().zip(values).all(|(key, value)| has(item, key, value));
            here.as_seq()?.iter().filter(is_meant).find_map(|item| find(item, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    fn field(name: &str) -> Step {
        Step::Field(name.into())
    }

    #[test]
    fn the_first_text_that_has_a_scalar_tells_how_it_is_written() {
        let document = |text: &str| Written::document(Arc::from(text), 0..text.len());
        let mut written = document("a: 'x'\nl:\n- {name: n, b: 1.10}\nc:\nd: ~\n");
        written.add(&document("a: y\ne: \"z\"\n"));
        assert!(written.is_quoted(&[field("a")], &value!("y")));
        assert!(written.is_quoted(&[field("e")], &value!("z")));
        assert!(!written.is_quoted(&[field("f")], &value!("z")));
        assert!(written.is_quoted(&[field("f")], &value!("1")));
        let item = Step::Item(vec!["name".into()], vec!["n".into()]);
        assert_eq!(written.text(&[field("l"), item, field("b")], &value!(1.1)), "1.10");
        assert_eq!(written.text(&[field("l"), Step::Index(0), field("b")], &value!(7)), "7");
        assert!(written.is_left_out(&[field("c")]));
        assert!(!written.is_left_out(&[field("d")]));
    }
}
