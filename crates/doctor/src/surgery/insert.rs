//! One more field or item.

use lynceus_object::Value;

use super::anatomy::{Cursor, Kind, Node};
use super::error::Problem;
use super::habits::children;
use super::page::Page;
use super::print::Printer;
use super::splice::Splice;

/// One more field at the end of a map that has some.
pub(super) fn field(
    page: &Page<'_>,
    printer: &Printer<'_>,
    map: &Node,
    name: &str,
    value: &Value,
) -> Result<Vec<Splice>, Problem> {
    let Kind::Map { flow, entries } = &map.kind else { return Err(unknown(map)) };
    let last = entries.last().ok_or(Problem::Layout)?;
    // A key such as `on` is one thing to some readers and another to others.
    if entries.iter().any(|entry| &page.text[entry.key.body..entry.key.end] == name) {
        return Err(Problem::Layout);
    }
    if *flow {
        return Ok(in_brackets(page, printer, map, entries.len(), &|lead| {
            printer.flow_field(name, value, lead)
        }));
    }
    let column = page.column(map.body);
    let text = format!("{}{}", printer.line(column), printer.field(name, value, column));
    let at = block_end(page, last.end(), column);
    Ok(vec![(at..at, text)])
}

/// One more item in a list that has some, before the one at a position or at the end.
pub(super) fn item(
    page: &Page<'_>,
    printer: &Printer<'_>,
    list: &Node,
    position: usize,
    value: &Value,
) -> Result<Vec<Splice>, Problem> {
    let Kind::Seq { flow, items } = &list.kind else { return Err(unknown(list)) };
    if *flow {
        return Ok(in_brackets(page, printer, list, position, &|lead| printer.flow(value, None, lead)));
    }
    let column = page.column(list.body);
    let text = format!("-{}", printer.after_dash(value, column, None));
    match (position.checked_sub(1).and_then(|before| items.get(before)), items.first()) {
        (Some(before), _) => {
            let at = block_end(page, before.end(), column);
            Ok(vec![(at..at, format!("{}{text}", printer.line(column)))])
        }
        (None, Some(first)) => {
            Ok(vec![(first.start..first.start, format!("{text}{}", printer.line(column)))])
        }
        (None, None) => Err(Problem::Layout),
    }
}

fn unknown(node: &Node) -> Problem {
    match &node.kind {
        Kind::Alias(name) => Problem::Alias(name.clone()),
        _ => Problem::Layout,
    }
}

/// Where something ends that hangs in a column, with the comments that follow it and are further in.
pub(super) fn block_end(page: &Page<'_>, end: usize, column: usize) -> usize {
    let mut end = page.line_end(end);
    loop {
        let next = page.next_line(end);
        let line = &page.text[next..page.line_end(next)];
        let text = line.trim_start_matches(' ');
        if !text.starts_with('#') || line.len() - text.len() <= column {
            return end;
        }
        end = next + line.len();
    }
}

/// One more part between brackets, before the one at a position or behind the last.
fn in_brackets(
    page: &Page<'_>,
    printer: &Printer<'_>,
    node: &Node,
    position: usize,
    text: &dyn Fn(Option<&str>) -> String,
) -> Vec<Splice> {
    let parts = children(node);
    let (newline, comma) = (printer.habits.newline, printer.habits.flow.comma);
    let lead_of = |pos: usize| page.starts_line(pos).then(|| &page.text[page.line_start(pos)..pos]);
    if let Some((next, _)) = parts.get(position) {
        return vec![match lead_of(*next) {
            Some(lead) => (*next..*next, format!("{},{newline}{lead}", text(Some(lead)))),
            None => (*next..*next, format!("{},{comma}", text(None))),
        }];
    }
    let Some((start, end)) = parts.last().copied() else {
        return vec![(node.body + 1..node.body + 1, text(None))];
    };
    let trailing = trailing_comma(page, end);
    let behind = trailing.map_or(end, |at| at + 1);
    match (lead_of(start).filter(|_| start > node.body), trailing) {
        (Some(lead), trailing) => {
            let line_end = page.line_end(behind).min(closing(page, behind, node.end));
            let comma = if trailing.is_some() { "" } else { "," };
            let mark = if trailing.is_some() { "," } else { "" };
            vec![
                (behind..behind, comma.to_owned()),
                (line_end..line_end, format!("{newline}{lead}{}{mark}", text(Some(lead)))),
            ]
        }
        (None, Some(_)) => vec![(behind..behind, format!(" {},", text(None)))],
        (None, None) => vec![(end..end, format!(",{comma}{}", text(None)))],
    }
}

/// Where a comma follows the last part, if one does.
pub(super) fn trailing_comma(page: &Page<'_>, end: usize) -> Option<usize> {
    let mut cursor = Cursor::new(page.text, end..page.text.len());
    cursor.skip_gap();
    page.text[cursor.pos..].starts_with(',').then_some(cursor.pos)
}

/// Where the text goes on behind the last part, if that is the closing bracket on the same line.
fn closing(page: &Page<'_>, behind: usize, end: usize) -> usize {
    let mut cursor = Cursor::new(page.text, behind..page.text.len());
    cursor.skip_gap();
    if cursor.pos + 1 == end && !page.text[behind..cursor.pos].contains('\n') { behind } else { usize::MAX }
}
