//! A text with changes in it, and the way back from a place in the changed text to the original.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in the changed text.
pub(super) enum Piece {
    /// Words of ours.
    Own(Cow<'static, str>),
    /// A part of the original that has been moved here, with the changes in it.
    Moved(Range<usize>),
}

/// Where a change belongs among those at the same byte: what closes comes before what divides, and that before what opens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Closes,
    Divides,
    Opens,
}

struct Edit {
    /// The part of the original that it replaces, which may be empty.
    range: Range<usize>,
    side: Side,
    /// Of those that open at a byte the outermost comes first, of those that close the innermost.
    order: i64,
    pieces: Vec<Piece>,
    /// The part that it replaces stands elsewhere, and with it all that is changed in it.
    moved: bool,
}

/// The changes to a text. An expression has to be changed before those that are in it.
#[derive(Default)]
pub(super) struct Edits {
    edits: Vec<Edit>,
}

impl Edits {
    fn push(&mut self, range: Range<usize>, side: Side, pieces: Vec<Piece>, moved: bool) -> usize {
        let index = self.edits.len();
        let number = i64::try_from(index).unwrap_or(i64::MAX);
        let order = if side == Side::Closes { -number } else { number };
        self.edits.push(Edit { range, side, order, pieces, moved });
        index
    }

    /// Puts words before what begins at a byte.
    pub(super) fn open(&mut self, at: usize, text: impl Into<Cow<'static, str>>) -> usize {
        self.open_with(at, vec![Piece::Own(text.into())])
    }

    pub(super) fn open_with(&mut self, at: usize, pieces: Vec<Piece>) -> usize {
        self.push(at..at, Side::Opens, pieces, false)
    }

    /// Puts words after what ends at a byte.
    pub(super) fn close(&mut self, at: usize, text: impl Into<Cow<'static, str>>) -> usize {
        self.close_with(at, vec![Piece::Own(text.into())])
    }

    pub(super) fn close_with(&mut self, at: usize, pieces: Vec<Piece>) -> usize {
        self.push(at..at, Side::Closes, pieces, false)
    }

    /// Sets the words of a change, by the number that it was given.
    pub(super) fn say(&mut self, edit: usize, text: String) {
        if let Some(edit) = self.edits.get_mut(edit) {
            edit.pieces = vec![Piece::Own(text.into())];
        }
    }

    /// Puts words between two expressions, instead of the sign that stands there.
    pub(super) fn divide(&mut self, range: Range<usize>, text: &'static str) {
        self.push(range, Side::Divides, vec![Piece::Own(text.into())], false);
    }

    /// Leaves a name where a part was that is moved elsewhere.
    pub(super) fn leave(&mut self, range: Range<usize>, name: String) {
        self.push(range, Side::Divides, vec![Piece::Own(name.into())], true);
    }

    /// The changed text.
    pub(super) fn apply(mut self, text: &[u8]) -> Edited {
        self.edits.sort_by_key(|edit| (edit.range.start, edit.side, edit.order));
        let mut edited = Edited { text: Vec::with_capacity(text.len() * 2), parts: Vec::new(), depth: 0 };
        self.write(text, 0..text.len(), None, &mut 0, &mut edited);
        edited
    }

    /// Writes a part of the text, except for the change that moved it.
    fn write(
        &self,
        text: &[u8],
        part: Range<usize>,
        except: Option<&Range<usize>>,
        depth: &mut usize,
        out: &mut Edited,
    ) {
        let first = self.edits.partition_point(|edit| edit.range.start < part.start);
        let mut done = part.start;
        let mut hidden = None;
        for edit in self.edits[first..].iter().take_while(|edit| edit.range.start <= part.end) {
            if hidden.is_some_and(|until| edit.range.start <= until)
                || (edit.moved && except == Some(&edit.range))
            {
                continue;
            }
            out.original(text, done..edit.range.start);
            for piece in &edit.pieces {
                match piece {
                    Piece::Own(own) => out.own(own, edit.range.start, depth),
                    Piece::Moved(range) => self.write(text, range.clone(), Some(range), depth, out),
                }
            }
            done = edit.range.end;
            hidden = edit.moved.then_some(done);
        }
        out.original(text, done..part.end);
    }
}

/// A text that was changed.
pub(super) struct Edited {
    pub(super) text: Vec<u8>,
    /// Where parts begin in the changed text, and in the original. Those of ours have no length in the original.
    parts: Vec<(usize, usize, bool)>,
    /// How deep the brackets nest that were put in.
    pub(super) depth: usize,
}

impl Edited {
    /// A text as it is.
    pub(super) fn plain(text: &[u8]) -> Self {
        Edited { text: text.to_vec(), parts: Vec::new(), depth: 0 }
    }

    fn original(&mut self, text: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.parts.push((self.text.len(), range.start, false));
            self.text.extend_from_slice(&text[range]);
        }
    }

    fn own(&mut self, own: &str, at: usize, depth: &mut usize) {
        self.parts.push((self.text.len(), at, true));
        self.text.extend_from_slice(own.as_bytes());
        let count = |signs: [char; 2]| own.matches(signs).count();
        *depth = (*depth + count(['(', '['])).saturating_sub(count([')', ']']));
        self.depth = self.depth.max(*depth);
    }

    /// Where something of the changed text stands in the original.
    pub(super) fn place(&self, at: usize) -> usize {
        let after = self.parts.partition_point(|(start, ..)| *start <= at);
        match after.checked_sub(1).and_then(|index| self.parts.get(index)) {
            Some((_, original, true)) => *original,
            Some((start, original, false)) => original + (at - start),
            None => at,
        }
    }
}
