//! What can be read of a snapshot whose text is broken or was cut off: its objects are taken one by one.

use lynceus_object::{Value, json, yaml};

use super::read::{Source, StageError};
use super::snapshot::ANEW;
use crate::limits;

/// An object of a snapshot, and where it stands.
pub(super) struct Item {
    /// Its place in the list.
    pub(super) place: usize,
    /// Its line, where that cannot be found by the place.
    pub(super) line: Option<u32>,
    pub(super) value: Value,
}

/// What could be read of a broken text.
pub(super) struct Salvage {
    /// Everything but the objects.
    pub(super) head: Value,
    pub(super) items: Vec<Item>,
    /// What could not be read.
    pub(super) problems: Vec<StageError>,
}

/// Reads what can be read; none if it is no snapshot.
pub(super) fn salvage(source: &Source<'_>) -> Option<Salvage> {
    let is_json = source.text.trim_start().starts_with('{');
    let pieces = if is_json { of_json(source.text)? } else { of_yaml(source.text)? };
    let read = |text: &str| if is_json { read_json(text) } else { read_yaml(text) };
    let mut problems = Vec::new();
    let whole = format!("{}{}", pieces.before, pieces.after);
    // What stands behind the objects may be broken as well; what stands before them says what it is.
    let head = read(&whole).or_else(|(line, problem)| {
        problems.push(source.at_line(line, &format!("cannot be read: {problem}"), ANEW));
        read(&format!("{}{}", pieces.before, pieces.end))
    });
    let head = head.ok().filter(super::is_snapshot)?;
    let mut items = Vec::new();
    for (place, piece) in pieces.items.iter().enumerate() {
        match (read(piece.text), piece.is_cut) {
            (Ok(value), false) => {
                // One of YAML stands there with its dash.
                let value =
                    if is_json { Some(value) } else { value.as_seq().and_then(|list| list.first().cloned()) };
                items.extend(value.map(|value| Item { place, line: Some(piece.line), value }));
            }
            (read, is_cut) => {
                let problem = match read {
                    Err((_, problem)) if !is_cut => format!("cannot be read: {problem}"),
                    _ => "is not there as a whole: the file ends in the middle of it".to_owned(),
                };
                let error = source.at_line(piece.line, &problem, ANEW);
                problems.push(StageError { field: format!("objects[{place}]"), ..error });
            }
        }
    }
    Some(Salvage { head, items, problems })
}

/// A text, taken apart.
struct Pieces<'a> {
    /// What stands before the objects, and closes behind them.
    before: String,
    /// What stands behind them.
    after: &'a str,
    /// What would stand behind them if nothing did.
    end: &'static str,
    items: Vec<Piece<'a>>,
}

/// The text of one object.
struct Piece<'a> {
    line: u32,
    text: &'a str,
    /// Whether the file ends before it does.
    is_cut: bool,
}

type Read = Result<Value, (u32, String)>;

fn read_json(text: &str) -> Read {
    json::parse(text.as_bytes()).map_err(|error| (error.line, error.problem))
}

fn read_yaml(text: &str) -> Read {
    let options = yaml::Options { max_bytes: limits::SNAPSHOT_BYTES, ..yaml::Options::default() }.strict();
    yaml::parse_with(text.as_bytes(), &options)
        .map_err(|error| (error.line.max(1), error.problem.into_owned()))
}

/// JSON: the objects are what stands between the commas of the list that is called so.
fn of_json(text: &str) -> Option<Pieces<'_>> {
    let (mut depth, mut key, mut quote) = (0_usize, "", None);
    let (mut list, mut close, mut begin) = (None, None, 0);
    let mut spans = Vec::new();
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(start) = quote {
            if is_escaped || byte == b'\\' {
                is_escaped = !is_escaped;
            } else if byte == b'"' {
                quote = None;
                key = if depth == 1 { &text[start..at] } else { key };
            }
            continue;
        }
        let is_within = list.is_some() && close.is_none();
        match byte {
            b'"' => quote = Some(at + 1),
            b'{' | b'[' => {
                depth += 1;
                if byte == b'[' && depth == 2 && key == "objects" && list.is_none() {
                    (list, begin) = (Some(at + 1), at + 1);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if is_within && depth == 1 {
                    spans.push((begin, at));
                    close = Some(at);
                }
            }
            b',' if is_within && depth == 2 => {
                spans.push((begin, at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    let list = list?;
    let is_cut = close.is_none();
    if is_cut {
        spans.push((begin, text.len()));
    }
    let mut lines = Lines::of(text);
    let last = spans.len() - 1;
    let pieces = spans.into_iter().enumerate().map(|(place, (from, to))| {
        let inner = text[from..to].trim();
        let start = from + text[from..to].find(inner).unwrap_or_default();
        Piece { line: lines.at(start), text: inner, is_cut: is_cut && place == last }
    });
    let items = pieces.filter(|piece| !piece.text.is_empty()).collect();
    let after = close.map_or("}", |close| &text[close + 1..]);
    Some(Pieces { before: format!("{}]", &text[..list]), after, end: "}", items })
}

/// YAML, as it is written: the objects are what stands behind the dashes below `objects:`.
fn of_yaml(text: &str) -> Option<Pieces<'_>> {
    let mut starts = Vec::new();
    let (mut list, mut end, mut indent) = (None, text.len(), None);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, inner) = (at, line.trim_start_matches(' '));
        at += line.len();
        if list.is_none() {
            list = (line.trim_end() == "objects:").then_some((start, at));
            continue;
        }
        let depth = line.len() - inner.len();
        let is_blank = inner.trim_end().is_empty() || inner.starts_with('#');
        let is_item = inner.starts_with("- ") || inner.trim_end() == "-";
        if is_item && indent.is_none_or(|indent| indent == depth) {
            indent = Some(depth);
            starts.push(start);
        } else if !is_blank && depth <= indent.unwrap_or_default() {
            end = start;
            break;
        }
    }
    let (before, first) = list?;
    let ends = starts.iter().skip(1).copied().chain([end]);
    let mut lines = Lines::of(text);
    let spans: Vec<(usize, usize)> =
        starts.iter().copied().zip(ends).filter(|(from, _)| *from >= first).collect();
    let is_last = |to: usize| to == text.len() && !text.ends_with('\n');
    let piece = |(from, to)| Piece { line: lines.at(from), text: &text[from..to], is_cut: is_last(to) };
    let items = spans.into_iter().map(piece).collect();
    Some(Pieces { before: text[..before].to_owned(), after: &text[end..], end: "", items })
}

/// The lines of places that are asked for in order.
struct Lines<'a> {
    text: &'a str,
    counted: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Lines { text, counted: 0, line: 1 }
    }

    fn at(&mut self, place: usize) -> u32 {
        let passed = self.text.as_bytes().get(self.counted..place).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u32;
        self.counted = self.counted.max(place);
        self.line
    }
}
