//! Changes to source files that leave everything else in them as it is.
//!
//! People keep comments, blank lines, quotes and an order in their files, and a tool that prints a file anew loses their
//! trust with the first one. So a change is made to the bytes that it is about and to no others. Whether that worked is
//! never assumed: the changed text is read again, and has to say exactly what the old one said with the change made to
//! it. If it does not, there is an error and no text.

mod anatomy;
mod difference;
mod error;
mod habits;
mod insert;
mod line;
mod mask;
mod model;
mod page;
mod plan;
mod print;
mod remove;
mod replace;
mod seek;
mod site;
mod splice;
mod template;
#[cfg(test)]
mod tests;

use lynceus_files::FilePath;
use lynceus_object::yaml::Version;
use lynceus_object::{FieldPath, Segment, Value};

pub use difference::unified;
pub use error::{Problem, SurgeryError};
pub use line::operate_line;
pub use model::apply;
pub use seek::{Found, line_of, path_at, plain_at};
pub use template::{Printed, operate_template};

use self::anatomy::{Kind, Node, Quotes};
use self::habits::Habits;
use self::page::{Page, Said};
use self::plan::Step;
use self::print::Printer;

/// A change of one field.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The field has this value. Maps and lists on the way to it are made; what it has in common with the old value is
    /// not touched.
    Set(Value),
    /// The field, or the item, is not there.
    Remove,
    /// The list at the path has one more item at its end. It is made if it is missing.
    Append(Value),
    /// The map at the path has these fields too. Maps in it are merged in the same way; everything else is set.
    Merge(Value),
}

/// A change to one document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// Which document, from 0, as [`lynceus_object::manifest::read`] counts them.
    pub document: usize,
    /// The field. A position may be one behind the last, and an item with a key is made if it is not there.
    pub path: FieldPath,
    /// What becomes of it.
    pub change: Change,
}

/// The text after the changes, each made to what the ones before have left.
pub fn operate(file: &FilePath, text: &str, cuts: &[Cut]) -> Result<String, SurgeryError> {
    let mut text = text.to_owned();
    for cut in cuts {
        let error =
            |line, problem| SurgeryError { file: file.clone(), line, field: cut.path.clone(), problem };
        refuse_templates(file, &text).map_err(|problem| error(0, problem))?;
        text = one(&text, cut).map_err(|(line, problem)| error(line, problem))?;
    }
    Ok(text)
}

/// The text without a whole document and the line that separates it.
pub fn remove_document(file: &FilePath, text: &str, document: usize) -> Result<String, SurgeryError> {
    let field = FieldPath::root();
    let error = |problem| SurgeryError { file: file.clone(), line: 0, field: field.clone(), problem };
    refuse_templates(file, text).map_err(&error)?;
    let page = Page::new(text);
    let range = page.document(document).map_err(&error)?;
    let from = match document.checked_sub(1) {
        Some(before) => page.documents[before].end,
        None => range.start,
    };
    // The first takes the separator behind it, unless it has one of its own before it.
    let takes_next = document == 0 && !text[range.clone()].starts_with("---");
    let to = match page.documents.get(document + 1) {
        Some(next) if takes_next => next.start,
        _ => range.end,
    };
    let after = format!("{}{}", &text[..from], &text[to..]);
    let mut wanted = page.said(Version::V2);
    drop(wanted.remove(document));
    let is_last = wanted.is_empty();
    let said = Page::new(&after).said(Version::V2);
    let is_right = said == wanted || is_last && said.iter().all(|said| *said == Ok(Value::Null));
    if is_right { Ok(after) } else { Err(error(Problem::Check)) }
}

/// A file with actions in it is YAML only after it was rendered. What merely has braces in a string is YAML already.
fn refuse_templates(file: &FilePath, text: &str) -> Result<(), Problem> {
    if !text.contains("{{") {
        return Ok(());
    }
    let is_in_chart = file.parts().rev().skip(1).any(|part| part == "templates");
    let is_broken = Page::new(text).said(Version::V2).iter().any(Result::is_err);
    if is_in_chart || is_broken { Err(Problem::Template) } else { Ok(()) }
}

type Refusal = (u32, Problem);

fn one(text: &str, cut: &Cut) -> Result<String, Refusal> {
    let page = Page::new(text);
    let nowhere = |problem| (0, problem);
    let range = page.document(cut.document).map_err(nowhere)?;
    let at_document = |problem| (page.line(range.start), problem);
    let before = page.said(Version::V2);
    let document = match &before[cut.document] {
        Ok(value) => value,
        Err(reason) => {
            let broken = Problem::Broken { document: cut.document + 1, reason: reason.clone() };
            return Err(at_document(broken));
        }
    };
    // Said about the whole, so that messages name whole paths.
    model::apply(&mut document.clone(), &cut.path, &cut.change).map_err(at_document)?;
    let steps = plan::plan(document, &cut.path, &cut.change).map_err(at_document)?;
    let done = perform_all(text, cut.document, &steps)
        .and_then(|done| check(&page, &done, cut).map_err(at_document).map(|()| done));
    match (done, &cut.change) {
        // What is written elsewhere, or says something else to another reader, can still be replaced as a whole.
        (Err((line, problem)), Change::Set(value)) if problem.is_partial() && !cut.path.is_root() => {
            let path = cut.path.by_position(document).unwrap_or_else(|| cut.path.clone());
            let done = whole(text, cut.document, path, value).map_err(|_| (line, problem))?;
            check(&page, &done, cut).map_err(at_document)?;
            Ok(done)
        }
        (done, _) => done,
    }
}

/// Sets a field without a look at what it was.
fn whole(text: &str, document: usize, path: FieldPath, value: &Value) -> Result<String, Refusal> {
    let replaced = perform(text, document, &Step::Replace(path.clone(), value.clone()));
    match (replaced, path.parent(), path.segments().last()) {
        (Err((_, Problem::Merged)), Some(map), Some(Segment::Field(name))) => {
            perform(text, document, &Step::Field(map, name.clone(), value.clone()))
        }
        (replaced, _, _) => replaced,
    }
}

fn perform_all(text: &str, document: usize, steps: &[Step]) -> Result<String, Refusal> {
    steps.iter().try_fold(text.to_owned(), |text, step| perform(&text, document, step))
}

/// Makes one step.
fn perform(text: &str, document: usize, step: &Step) -> Result<String, Refusal> {
    let page = Page::new(text);
    let root = page.anatomy(document).map_err(|problem| (0, problem))?;
    let habits = Habits::of(&page, &root);
    let printer = Printer { habits: &habits };
    let (Step::Replace(path, _) | Step::Field(path, ..) | Step::Item(path, ..) | Step::Remove(path)) = step;
    let site = site::find(&page, &root, path).map_err(|lost| (page.line(lost.pos), lost.problem))?;
    let here = |problem| (page.line(site.node.body), problem);
    site.is_alone(&root, matches!(step, Step::Replace(..) | Step::Remove(_))).map_err(here)?;
    let splices = match step {
        Step::Replace(_, value) => Ok(replace::replace(&page, &printer, &site, value)),
        Step::Field(_, name, value) => insert::field(&page, &printer, site.node, name, value),
        Step::Item(_, position, value) => insert::item(&page, &printer, site.node, *position, value),
        Step::Remove(_) => match site.around.last() {
            Some((parent, _)) if is_twice(parent, path) => Err(Problem::Duplicate),
            Some((parent, position)) => remove::remove(&page, parent, *position),
            None => Err(Problem::Root),
        },
    };
    let done = splice::join(text, splices.map_err(here)?).ok_or_else(|| here(Problem::Layout))?;
    Ok(if ends_in_block(&done) && !ends_in_block(text) { done + habits.newline } else { done })
}

/// Whether the last line of a text is one of a block that lacks the line break which is part of it: some readers of such
/// a text leave it out.
fn ends_in_block(text: &str) -> bool {
    let page = Page::new(text);
    let mut found = false;
    if !text.ends_with('\n')
        && let Ok(root) = page.anatomy(page.documents.len() - 1)
    {
        root.visit(&mut |node| {
            let is_block = matches!(node.kind, Kind::Scalar(Quotes::Literal(_) | Quotes::Folded(_)));
            found |= is_block
                && node.end == text.len()
                && !text[node.body..page.line_end(node.body)].contains('-');
        });
    }
    found
}

/// Whether the field at the end of a path is in its map more than once.
fn is_twice(map: &Node, path: &FieldPath) -> bool {
    let (Some(Segment::Field(name)), Kind::Map { entries, .. }) = (path.segments().last(), &map.kind) else {
        return false;
    };
    entries.iter().filter(|entry| entry.name.as_deref() == Some(name.as_str())).count() > 1
}

/// The text has to say what the old one says with the change made to it, whoever reads it, and nothing else.
fn check(before: &Page<'_>, after: &str, cut: &Cut) -> Result<(), Problem> {
    let after = Page::new(after);
    let mut found = None;
    for version in [Version::V2, Version::V3] {
        let mut wanted: Said = before.said(version);
        let missing = match wanted.get_mut(cut.document) {
            Some(Ok(document)) => plan::missing(document, &cut.path),
            _ if version == Version::V3 => continue,
            _ => return Err(Problem::Check),
        };
        // A key such as `on` has another name for each; the path is that of the first.
        if *found.get_or_insert(missing) != missing {
            continue;
        }
        if let Some(Ok(document)) = wanted.get_mut(cut.document) {
            model::apply(document, &cut.path, &cut.change)?;
        }
        if after.said(version) != wanted {
            return Err(Problem::Check);
        }
    }
    Ok(())
}
