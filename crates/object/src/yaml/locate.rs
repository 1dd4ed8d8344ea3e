//! Where a field stands in a text.
//!
//! Objects do not carry the places of their fields: there are a million of them, and a place is asked
//! for only when something is wrong. The text is read again then.

use super::parse::{Event, Node, Parser, Start};
use super::{Options, build, chars, split, text};
use crate::path::{FieldPath, Segment};

/// The line and column, from 1, of a field's key, or of an item of a list.
///
/// `document` counts as [`super::documents`] does. If the whole path is not there, the place of the
/// longest part of it that is. `None` if the document cannot be read.
pub fn locate(text: &[u8], document: usize, path: &FieldPath) -> Option<(u32, u32)> {
    let text = text::decode(text).ok()?;
    let chunk = split::split(&text).nth(document)?;
    let options = Options::default();
    // Keys of lists have to be looked up in the value; what cannot be found ends the path.
    let value = build::build(chunk.text, &options).ok()?.value;
    let wanted = (0..=path.segments().len())
        .rev()
        .find_map(|len| path.segments()[..len].iter().cloned().collect::<FieldPath>().by_position(&value))?;
    let (line, column) = Search::new(chunk.text, &options).find(&wanted)?;
    Some((line + chunk.lines_before, column))
}

/// A walk through the events of a document with the path of each.
struct Search<'a> {
    text: &'a str,
    parser: Parser<'a>,
    open: Vec<Open>,
    best: Option<(usize, (u32, u32))>,
}

/// A collection that has begun, and how much of the wanted path leads into what comes next in it.
struct Open {
    is_map: bool,
    /// How many steps of the path lead to this collection; `None` if it is beside the path.
    depth: Option<usize>,
    next_index: usize,
    /// In a map: whether the key has been read, and whether it is the wanted one.
    after_key: Option<bool>,
}

impl<'a> Search<'a> {
    fn new(text: &'a str, options: &Options) -> Self {
        Search { text, parser: Parser::new(text, options), open: Vec::new(), best: None }
    }

    fn find(mut self, wanted: &FieldPath) -> Option<(u32, u32)> {
        let Start::Content { explicit } = self.parser.start().ok()? else { return None };
        let root = self.parser.root(explicit).ok()?;
        self.note(0, &root);
        self.enter(&root, Some(0));
        while !self.open.is_empty() {
            let node = self.parser.next().ok()?;
            self.step(&node, wanted.segments());
        }
        self.best.map(|(_, place)| place)
    }

    /// Remembers the place of a node that `depth` steps of the path lead to.
    ///
    /// A later one counts more: of two fields with the same name the last is the one that is read.
    fn note(&mut self, depth: usize, node: &Node<'_>) {
        if self.best.is_none_or(|(best, _)| depth >= best) {
            self.best = Some((depth, chars::place(self.text, node.mark)));
        }
    }

    fn enter(&mut self, node: &Node<'_>, depth: Option<usize>) {
        let is_map = match node.event {
            Event::MapStart => true,
            Event::SeqStart => false,
            _ => return,
        };
        self.open.push(Open { is_map, depth, next_index: 0, after_key: None });
    }

    fn step(&mut self, node: &Node<'_>, wanted: &[Segment]) {
        if matches!(node.event, Event::SeqEnd | Event::MapEnd) {
            self.open.pop();
            return;
        }
        let Some(open) = self.open.last_mut() else { return };
        let next = open.depth.and_then(|depth| wanted.get(depth));
        if open.is_map && open.after_key.is_none() {
            let hit = match (&node.event, next) {
                (Event::Scalar { text, .. }, Some(Segment::Field(name))) => text == name.as_str(),
                _ => false,
            };
            open.after_key = Some(hit);
            let depth = open.depth.filter(|_| hit);
            if let Some(depth) = depth {
                self.note(depth + 1, node);
            }
            self.enter(node, None);
            return;
        }
        let hit = match open.after_key.take() {
            Some(hit) => hit,
            None => {
                open.next_index += 1;
                matches!(next, Some(Segment::Index(index)) if *index + 1 == open.next_index)
            }
        };
        let (is_map, depth) = (open.is_map, open.depth.filter(|_| hit).map(|depth| depth + 1));
        if let (false, Some(depth)) = (is_map, depth) {
            self.note(depth, node);
        }
        self.enter(node, depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# a comment
kind: Service
---
kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx
      - name: side
        env: [{name: A, value: x}, {name: B}]
  'é': {deep: true}
";

    fn check(document: usize, path: &str, expected: Option<(u32, u32)>) {
        let path = FieldPath::parse(path).unwrap();
        assert_eq!(locate(TEXT.as_bytes(), document, &path), expected, "{path}");
    }

    #[test]
    fn finds_keys_and_items() {
        check(0, "kind", Some((2, 1)));
        check(1, "kind", Some((4, 1)));
        check(1, "spec.template.spec.containers", Some((8, 7)));
        check(1, "spec.template.spec.containers[0].image", Some((10, 9)));
        check(1, "spec.template.spec.containers[1]", Some((11, 9)));
        check(1, "spec.template.spec.containers[name=\"side\"].env[name=\"A\"].value", Some((12, 25)));
        check(1, "spec.é.deep", Some((13, 9)));
    }

    #[test]
    fn a_missing_field_is_located_at_what_would_hold_it() {
        check(1, "spec.template.spec.volumes", Some((7, 5)));
        check(1, "metadata.name", Some((4, 1)));
        check(7, "kind", None);
    }

    #[test]
    fn the_last_duplicate_is_the_one() {
        let path = FieldPath::parse("a").unwrap();
        assert_eq!(locate(b"a: 1\nb: 2\na: 3\n", 0, &path), Some((3, 1)));
    }
}
