//! The index of a chart repository, read lazily.
//!
//! An index of a large repository has tens of megabytes, of which an application needs the entries of one
//! chart. So the text stays on the disk and is only cut: [`Index`] knows where the entries of each chart
//! stand, and no more of them is parsed than is asked for. This works on the form that Helm and all common
//! servers write, one key or item per line. A text in another form (JSON, anchors, flow style) is read once
//! as a whole and written down again in this one.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use lynceus_object::{Value, json, yaml};

use super::entry;
use crate::chart::ChartVersion;
use crate::limits::{MAX_CHART_ENTRIES_BYTES, MAX_CHARTS, MAX_INDEX_LINE};

/// Where the entries of each chart stand in the text.
#[derive(Debug)]
pub(crate) struct Index {
    /// Kept open, so that it can be read even when a newer index has taken its place.
    text: Mutex<File>,
    charts: HashMap<Box<str>, Span>,
}

/// The lines below a chart's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u64,
    end: u64,
}

/// Why a text could not be cut.
#[derive(Debug)]
pub(crate) enum Uncut {
    /// It is not in the form of one key or item per line.
    Foreign,
    /// It has too much of something.
    Excess(String),
    /// It cannot be read.
    Io(io::Error),
}

impl From<io::Error> for Uncut {
    fn from(error: io::Error) -> Self {
        Uncut::Io(error)
    }
}

impl Index {
    /// Cuts the text of a file, which must not change any more.
    pub(crate) fn open(path: &Path) -> Result<Self, Uncut> {
        let text = File::open(path)?;
        let charts = cut(BufReader::with_capacity(1 << 18, &text))?;
        Ok(Index { text: Mutex::new(text), charts })
    }

    /// The names of all charts, in order.
    pub(crate) fn charts(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.charts.keys().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names
    }

    /// The versions of a chart in the order of the index, those left out that cannot be read; `None` if there
    /// is no such chart. The reason is why none of it can be read.
    pub(crate) fn versions(&self, chart: &str) -> Option<Result<Vec<ChartVersion>, String>> {
        let span = self.charts.get(chart)?;
        Some(self.text(*span).and_then(|text| entry::versions(chart, &text)))
    }

    fn text(&self, span: Span) -> Result<Vec<u8>, String> {
        let length = span.end - span.start;
        if length > MAX_CHART_ENTRIES_BYTES {
            return Err(format!("its entries have more than {MAX_CHART_ENTRIES_BYTES} bytes"));
        }
        let read = || {
            let mut file = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(span.start))?;
            let mut text = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
            (&mut *file).take(length).read_to_end(&mut text)?;
            Ok::<_, io::Error>(text)
        };
        read().map_err(|error| error.to_string())
    }
}

/// Goes through the lines of an index once.
fn cut(mut text: impl BufRead) -> Result<HashMap<Box<str>, Span>, Uncut> {
    let mut cutter = Cutter::default();
    let mut line = Vec::new();
    let mut at = 0;
    loop {
        line.clear();
        let length = text.by_ref().take(MAX_INDEX_LINE + 1).read_until(b'\n', &mut line)? as u64;
        if length > MAX_INDEX_LINE {
            return Err(Uncut::Foreign);
        }
        if length == 0 || !cutter.line(&line, at, at + length)? {
            break;
        }
        at += length;
    }
    cutter.finish(at)
}

#[derive(Default)]
struct Cutter {
    charts: HashMap<Box<str>, Span>,
    part: Part,
    /// Whether `entries` was seen.
    found: bool,
    /// How far the names of charts are indented.
    indent: usize,
    /// The chart whose lines are being read, and where they start.
    open: Option<(Box<str>, u64)>,
    /// How far the key is indented whose text of several lines is being passed over.
    text: Option<usize>,
}

#[derive(Default, PartialEq, Eq)]
enum Part {
    /// Below any other key.
    #[default]
    Other,
    /// Below `entries`.
    Entries,
}

impl Cutter {
    /// Takes one line; says whether there may be more.
    fn line(&mut self, line: &[u8], start: u64, end: u64) -> Result<bool, Uncut> {
        let content = line.trim_ascii_end();
        let indent = content.iter().take_while(|byte| **byte == b' ').count();
        let Some(rest) = content.get(indent..).filter(|rest| !rest.is_empty() && !rest.starts_with(b"#"))
        else {
            return Ok(true);
        };
        if self.text.is_some_and(|key| indent > key) {
            return Ok(true);
        }
        let (key, value) = field(rest);
        if rest.starts_with(b"\t") || matches!(value, [b'&' | b'*', ..]) || rest.starts_with(b"<<:") {
            // Means something only together with the rest.
            return Err(Uncut::Foreign);
        }
        self.text = is_text_mark(value).then_some(indent + key);
        if indent == 0 {
            return self.top(rest, start);
        }
        if self.part == Part::Other {
            return Ok(true);
        }
        if self.indent == 0 {
            self.indent = indent;
        }
        match indent.cmp(&self.indent) {
            std::cmp::Ordering::Less => Err(Uncut::Foreign),
            std::cmp::Ordering::Greater if self.open.is_none() => Err(Uncut::Foreign),
            std::cmp::Ordering::Greater => Ok(true),
            std::cmp::Ordering::Equal if is_item(rest) && self.open.is_some() => Ok(true),
            std::cmp::Ordering::Equal => self.chart(rest, start, end).map(|()| true),
        }
    }

    /// A line that is not indented.
    fn top(&mut self, rest: &[u8], start: u64) -> Result<bool, Uncut> {
        if rest.starts_with(b"---") {
            // Marks before the first key say nothing; after it, another document begins, which is not read.
            let bare = rest == b"---" || rest.starts_with(b"--- #");
            return if bare { Ok(!self.found && self.part == Part::Other) } else { Err(Uncut::Foreign) };
        }
        if rest.starts_with(b"...") {
            return Ok(false);
        }
        if is_item(rest) {
            return if self.part == Part::Other { Ok(true) } else { Err(Uncut::Foreign) };
        }
        self.close(start)?;
        let (key, value) = key(rest).ok_or(Uncut::Foreign)?;
        self.part = Part::Other;
        if key == "entries" {
            if std::mem::replace(&mut self.found, true) {
                return Err(Uncut::Foreign);
            }
            match value {
                b"" => self.part = Part::Entries,
                b"{}" | b"null" | b"~" => {}
                _ => return Err(Uncut::Foreign),
            }
        } else if matches!(value.first(), Some(b'{' | b'[' | b'"' | b'\''))
            && !matches!(value.last(), Some(b'}' | b']' | b'"' | b'\''))
        {
            // What goes on over several lines may hold anything.
            return Err(Uncut::Foreign);
        }
        Ok(true)
    }

    fn chart(&mut self, rest: &[u8], start: u64, end: u64) -> Result<(), Uncut> {
        self.close(start)?;
        let (name, value) = key(rest).ok_or(Uncut::Foreign)?;
        if !matches!(value, b"" | b"[]" | b"null" | b"~") {
            return Err(Uncut::Foreign);
        }
        self.open = Some((name.into(), end));
        Ok(())
    }

    /// Ends the chart whose lines were read.
    fn close(&mut self, end: u64) -> Result<(), Uncut> {
        let Some((name, start)) = self.open.take() else { return Ok(()) };
        if self.charts.len() >= MAX_CHARTS {
            return Err(Uncut::Excess(format!("its index names more than {MAX_CHARTS} charts")));
        }
        match self.charts.insert(name, Span { start, end }) {
            None => Ok(()),
            // Which of the two counts is for a real parser to say.
            Some(_) => Err(Uncut::Foreign),
        }
    }

    fn finish(mut self, end: u64) -> Result<HashMap<Box<str>, Span>, Uncut> {
        self.close(end)?;
        if self.found { Ok(self.charts) } else { Err(Uncut::Foreign) }
    }
}

/// Whether a line begins an item of a list.
pub(super) fn is_item(rest: &[u8]) -> bool {
    matches!(rest, [b'-'] | [b'-', b' ', ..])
}

/// Where the key of a line stands, behind dashes, and what follows it; a line without a key is all value.
fn field(line: &[u8]) -> (usize, &[u8]) {
    let mut rest = line;
    while let [b'-', b' ', after @ ..] = rest {
        rest = after.trim_ascii_start();
    }
    let start = line.len() - rest.len();
    let colon = rest.iter().position(|byte| *byte == b':');
    match colon.and_then(|colon| rest.get(colon + 1..)) {
        Some([]) => (start, b""),
        Some(value @ [b' ', ..]) => (start, value.trim_ascii_start()),
        _ => (start, rest),
    }
}

/// Whether a value says that a text follows on the next lines.
fn is_text_mark(value: &[u8]) -> bool {
    let [b'|' | b'>', marks @ ..] = value else { return false };
    marks.len() <= 2 && marks.iter().all(|mark| matches!(mark, b'+' | b'-' | b'1'..=b'9'))
}

/// A key and what follows its colon, without a comment.
fn key(rest: &[u8]) -> Option<(String, &[u8])> {
    let rest_text = std::str::from_utf8(rest).ok()?;
    let (name, after) = match rest_text.chars().next()? {
        '"' => {
            // Escapes are those of JSON in all that programs write.
            let end = closing_quote(rest_text)?;
            let name = json::parse(rest_text.get(..=end)?.as_bytes()).ok()?;
            (name.as_str()?.to_owned(), rest_text.get(end + 1..)?.strip_prefix(':')?)
        }
        '\'' => {
            let (name, after) = rest_text.get(1..)?.split_once('\'')?;
            (name.to_owned(), after.strip_prefix(':')?)
        }
        first if first.is_alphanumeric() || first == '_' => {
            let (name, after) = rest_text.split_once(':')?;
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '/');
            (name.chars().all(plain).then(|| name.to_owned())?, after)
        }
        _ => return None,
    };
    let value = match after.trim_start() {
        value if value.starts_with('#') && after.starts_with(' ') => "",
        value => value.split_once(" #").map_or(value, |(value, _)| value.trim_end()),
    };
    (after.is_empty() || after.starts_with(' ')).then_some((name, value.as_bytes()))
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().enumerate().skip(1).find_map(|(at, byte)| {
        let end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        end.then_some(at)
    })
}

/// Reads an index of any form as a whole and writes it down in the form that can be cut.
pub(crate) fn rewrite(text: &[u8], out: &mut impl Write) -> Result<(), String> {
    let options = yaml::Options { max_bytes: text.len(), ..yaml::Options::default() };
    let value = json::parse(text).or_else(|_| yaml::parse_with(text, &options));
    let value = value.map_err(|error| format!("its index cannot be read: {error}"))?;
    let entries = match value.get("entries") {
        Some(Value::Null) => None,
        Some(entries) => Some(entries.as_map().ok_or("its index has entries that are not a map")?),
        None if value.get("apiVersion").is_some() => None,
        None => return Err("its index has no entries".to_owned()),
    };
    let failed = |error: io::Error| error.to_string();
    writeln!(out, "entries:").map_err(failed)?;
    for (name, versions) in entries.into_iter().flat_map(|entries| entries.iter()) {
        let name = json::to_string(&Value::from(name.as_str()));
        writeln!(out, "  {name}:").map_err(failed)?;
        for version in versions.as_seq().unwrap_or_default() {
            writeln!(out, "  - {}", json::to_string(version)).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
