//! How the author of a document writes, so that what is added looks like the rest.

use super::anatomy::{Kind, Node, Quotes};
use super::page::Page;

/// The ways of an author.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Habits {
    pub(super) newline: &'static str,
    /// How much further in a map is than the one that it is in.
    pub(super) step: usize,
    /// Whether a list stands in the column of its key.
    pub(super) indentless: bool,
    /// The quotes of strings that need some.
    pub(super) quote: char,
    pub(super) flow: Flow,
}

/// How what is in braces and brackets is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flow {
    /// Whether everything is quoted as in JSON.
    pub(super) json: bool,
    /// What stands behind a colon.
    pub(super) colon: &'static str,
    /// What stands behind a comma on the same line.
    pub(super) comma: &'static str,
    /// How much further in each level is, if each item has its line.
    pub(super) unit: Option<String>,
}

/// What was seen of each way.
#[derive(Default)]
struct Seen {
    steps: Vec<usize>,
    indentless: usize,
    indented: usize,
    single: usize,
    double: usize,
}

impl Habits {
    pub(super) fn of(page: &Page<'_>, root: &Node) -> Self {
        let mut seen = Seen::default();
        seen.look(page, root, None);
        let newline = if page.text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r')) {
            "\r\n"
        } else {
            "\n"
        };
        Habits {
            newline,
            step: most_common(&seen.steps).unwrap_or(2),
            // Where nothing tells, as kubectl prints.
            indentless: seen.indentless >= seen.indented,
            quote: if seen.single > seen.double { '\'' } else { '"' },
            flow: flow_of(page, root),
        }
    }
}

impl Seen {
    /// Looks at a value in a map that is some way in.
    fn look(&mut self, page: &Page<'_>, node: &Node, map: Option<usize>) {
        let column = page.column(node.body);
        match &node.kind {
            Kind::Scalar(Quotes::Single) => self.single += 1,
            Kind::Scalar(Quotes::Double) => self.double += 1,
            Kind::Map { entries, flow } => {
                let own = if *flow { None } else { Some(column) };
                self.steps.extend(own.zip(map).and_then(|(own, outer)| own.checked_sub(outer)));
                entries.iter().for_each(|entry| self.look(page, &entry.value, own));
            }
            Kind::Seq { items, flow } => {
                if let (false, Some(outer)) = (*flow, map) {
                    let is_indentless = column == outer;
                    self.indentless += usize::from(is_indentless);
                    self.indented += usize::from(!is_indentless);
                }
                items.iter().for_each(|item| self.look(page, &item.value, None));
            }
            Kind::Empty | Kind::Alias(_) | Kind::Scalar(_) => {}
        }
    }
}

fn most_common(steps: &[usize]) -> Option<usize> {
    let count = |wanted: usize| steps.iter().filter(|step| **step == wanted).count();
    (1..=8).filter(|step| count(*step) > 0).max_by_key(|step| (count(*step), usize::MAX - step))
}

/// The ways of the outermost brackets; of a document without any, those of people.
fn flow_of(page: &Page<'_>, root: &Node) -> Flow {
    let mut brackets = Vec::new();
    root.visit(&mut |node| {
        if node.is_flow() {
            brackets.push(node);
        }
    });
    let mut colon = " ";
    let mut comma = " ";
    let first = brackets.iter().find_map(|node| match &node.kind {
        Kind::Map { entries, .. } => entries.iter().find(|entry| entry.has_colon && !entry.value.is_empty()),
        _ => None,
    });
    if first.is_some_and(|entry| entry.value.start == entry.after && page.is_json) {
        (colon, comma) = ("", "");
    }
    if brackets.iter().any(|node| has_spaced_comma(page, node)) {
        comma = " ";
    }
    let unit = brackets.first().filter(|node| node.start == root.start).and_then(|node| unit_of(page, node));
    Flow { json: page.is_json, colon, comma, unit }
}

fn has_spaced_comma(page: &Page<'_>, node: &Node) -> bool {
    let ends: Vec<(usize, usize)> = children(node);
    ends.windows(2).any(|pair| page.text[pair[0].1..pair[1].0].contains(", "))
}

/// How much further in than the bracket its items are, if each has its line.
fn unit_of(page: &Page<'_>, node: &Node) -> Option<String> {
    let (first, _) = children(node).into_iter().next()?;
    if !page.starts_line(first) || page.line_start(first) == page.line_start(node.body) {
        return None;
    }
    let lead = |pos: usize| {
        let line = &page.text[page.line_start(pos)..pos];
        line[..line.len() - line.trim_start().len()].to_owned()
    };
    lead(first).strip_prefix(&lead(node.body)).map(str::to_owned)
}

/// Where the fields or items of a node begin and end.
pub(super) fn children(node: &Node) -> Vec<(usize, usize)> {
    match &node.kind {
        Kind::Map { entries, .. } => entries.iter().map(|entry| (entry.start, entry.end())).collect(),
        Kind::Seq { items, .. } => items.iter().map(|item| (item.start, item.end())).collect(),
        Kind::Empty | Kind::Alias(_) | Kind::Scalar(_) => Vec::new(),
    }
}
