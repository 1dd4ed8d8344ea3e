//! A template as YAML: its actions stand behind marks that a reader of YAML takes for comments and words.

use std::ops::Range;

/// What marks begin and end with. A template that has it already is left alone.
const SIGN: &str = "QZX";

/// A template with marks for its actions.
pub(super) struct Mask {
    /// The template with the marks.
    pub(super) text: String,
    /// Where in it the line is that was asked for.
    pub(super) at: usize,
    /// What each mark stands for.
    parts: Vec<String>,
}

impl Mask {
    /// Hides all actions of a template. Of the blocks, `if` to `end`, those which a line, from 1, is in stay open, since what is changed
    /// there counts as often as the line does; all others are hidden as a whole, so that nothing gets into them.
    pub(super) fn new(text: &str, line: usize) -> Option<Self> {
        if text.contains(SIGN) {
            return None;
        }
        let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
        let mut mask = Mask { text: String::with_capacity(text.len()), at: 0, parts: Vec::new() };
        let mut done = 0;
        for hidden in hidden(text, start)? {
            mask.show(text, done..hidden.range.start, start);
            mask.hide(text, &hidden, start);
            done = hidden.range.end;
        }
        mask.show(text, done..text.len(), start);
        Some(mask)
    }

    fn show(&mut self, text: &str, range: Range<usize>, start: usize) {
        if range.contains(&start) || start == range.end {
            self.at = self.text.len() + start - range.start;
        }
        self.text.push_str(&text[range]);
    }

    fn hide(&mut self, text: &str, hidden: &Hidden, start: usize) {
        let range = hidden.range.clone();
        if range.contains(&start) {
            self.at = self.text.len();
        }
        let mark = format!("{SIGN}{}{SIGN}", self.parts.len());
        let line = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line..range.start];
        let after = text[range.end..].split('\n').next().unwrap_or_default();
        let mut part = text[range.clone()].to_owned();
        if before.trim().is_empty() && after.trim().is_empty() {
            // A comment stands where what is printed will stand, so that it is taken for a part of what it belongs to.
            self.text.truncate(self.text.len() - before.len());
            part.insert_str(0, before);
            // The end of a block that is open belongs to nothing: what is added has to stay before it.
            let column = if hidden.is_end { 0 } else { printed_column(&part).unwrap_or(before.len()) };
            self.text.push_str(&format!("{}# {mark}", " ".repeat(column)));
        } else {
            self.text.push_str(&mark);
        }
        self.parts.push(part);
    }

    /// Whether a line, as it is behind the marks, is one.
    pub(super) fn is_mark(line: &str) -> bool {
        line.trim_start().strip_prefix("# ").is_some_and(|mark| mark.starts_with(SIGN))
    }

    /// A changed text with what the marks stand for; nothing if one of them is gone.
    pub(super) fn lift(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        for (number, part) in self.parts.iter().enumerate() {
            let mark = format!("{SIGN}{number}{SIGN}");
            let (before, after) = rest.split_once(mark.as_str())?;
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            // A part that stood alone has its own blanks before it.
            match before[line..].strip_suffix("# ").filter(|blanks| blanks.trim().is_empty()) {
                Some(_) => out.push_str(&before[..line]),
                None => out.push_str(before),
            }
            out.push_str(part);
            rest = after;
        }
        out.push_str(rest);
        (!out.contains(SIGN)).then_some(out)
    }
}

/// An action, and what it does to blocks.
struct Action {
    range: Range<usize>,
    role: Role,
}

enum Role {
    Prints,
    Opens,
    Turns,
    Closes,
}

/// Something to hide.
#[derive(Clone)]
struct Hidden {
    range: Range<usize>,
    /// Whether it is one end of a block that stays open.
    is_end: bool,
}

/// What has to be hidden, in order: actions, and branches of blocks that a place is not in.
fn hidden(text: &str, place: usize) -> Option<Vec<Hidden>> {
    let mut out: Vec<Hidden> = Vec::new();
    // The actions of each block that is open.
    let mut open: Vec<Vec<Range<usize>>> = Vec::new();
    for Action { range, role } in actions(text)? {
        match role {
            Role::Prints => out.push(Hidden { range, is_end: false }),
            Role::Opens => open.push(vec![range]),
            Role::Turns => open.last_mut()?.push(range),
            Role::Closes => {
                let mut block = open.pop()?;
                block.push(range);
                out.extend(ends(&block, place));
            }
        }
    }
    if !open.is_empty() {
        return None;
    }
    out.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut end = 0;
    out.retain(|one| {
        let is_outside = one.range.start >= end;
        end = end.max(one.range.end);
        is_outside
    });
    Some(out)
}

/// What is hidden of a block: all of it, or what is before and behind the branch that a place is in.
fn ends(block: &[Range<usize>], place: usize) -> Vec<Hidden> {
    let (Some(first), Some(last)) = (block.first(), block.last()) else { return Vec::new() };
    let is_inside = |pair: &[Range<usize>]| (pair[0].end..pair[1].start).contains(&place);
    match block.windows(2).find(|pair| is_inside(pair)) {
        Some(pair) => [first.start..pair[0].end, pair[1].start..last.end]
            .map(|range| Hidden { range, is_end: true })
            .to_vec(),
        None => vec![Hidden { range: first.start..last.end, is_end: false }],
    }
}

/// All actions of a template, in order; nothing if one does not end.
fn actions(text: &str) -> Option<Vec<Action>> {
    let mut actions = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|found| at + found) {
        let end = end_of(text, start + 2)?;
        let inner = text[start + 2..end - 2].trim_start_matches('-').trim_start();
        let word = inner.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let role = match word {
            "if" | "with" | "range" | "define" | "block" => Role::Opens,
            "else" => Role::Turns,
            "end" => Role::Closes,
            _ => Role::Prints,
        };
        actions.push(Action { range: start..end, role });
        at = end;
    }
    Some(actions)
}

/// Where an action ends: strings and comments in it may have braces.
fn end_of(text: &str, from: usize) -> Option<usize> {
    let inner = text[from..].trim_start_matches('-').trim_start();
    if inner.starts_with("/*") {
        let comment = from + text[from..].find("*/")?;
        return Some(comment + text[comment..].find("}}")? + 2);
    }
    let mut letters = text[from..].char_indices().peekable();
    let mut quote = None;
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some('"'), '\\') => drop(letters.next()),
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(letter),
            (None, '}') if letters.peek().is_some_and(|(_, next)| *next == '}') => {
                return Some(from + at + 2);
            }
            (None, _) => {}
        }
    }
    None
}

/// The column in which what an action or a block prints will begin, if the text tells.
fn printed_column(part: &str) -> Option<usize> {
    let is_said = |line: &&str| !line.trim().is_empty();
    for line in part.lines().filter(is_said) {
        if let Some(column) = indented(line) {
            return Some(column);
        }
        let text = line.trim_start();
        if !text.starts_with("{{") {
            return Some(line.len() - text.len());
        }
    }
    None
}

/// What `nindent` or `indent` of a line asks for.
fn indented(line: &str) -> Option<usize> {
    let (_, after) = line.rsplit_once("indent ")?;
    let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|column| *column < 100)
}
