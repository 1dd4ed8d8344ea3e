//! The line of a patch that set a field.

use lynceus_files::Span;
use lynceus_object::{FieldPath, Segment, Value, yaml};

use super::{Asked, Place, Track, follow, place};
use crate::read;
use crate::resource::Resource;
use crate::transformers::Text;

/// The line of a patch that set the field at a path of the value that a step gave.
pub(super) fn find(
    asked: &Asked,
    track: &Track,
    values: (&Value, &Value),
    here: &FieldPath,
) -> Option<Place> {
    let (before, after) = values;
    // What was taken away is named as it was.
    let owner = if here.get(after).is_some() { after } else { before };
    let wanted = follow::keyed(owner, here);
    let best = asked.patches.iter().enumerate().filter_map(|(at, text)| {
        let (depth, line, column) = within(text, track, &wanted, here)?;
        Some((depth, at, (line, column)))
    });
    let (_, at, found) = best.max_by_key(|(depth, at, _)| (*depth, *at))?;
    let text = asked.patches.get(at)?;
    let repository = asked.repository.as_deref();
    match &text.file {
        Some(file) => Some(place(repository, &Span { file: file.clone(), line: found.0, column: found.1 })),
        None => inline(asked, at, found).map(|span| place(repository, &span)),
    }
}

/// The place in a patch, with how much of the path is there.
fn within(text: &Text, track: &Track, wanted: &FieldPath, here: &FieldPath) -> Option<(usize, u32, u32)> {
    if let Ok(patches) = read::resources(&text.text, text.file.as_ref()) {
        return merged(&patches, track, wanted);
    }
    let operations = yaml::parse(&text.text).ok()?;
    let operations = operations.as_seq()?;
    let touches =
        |operation: &Value| operation.str_at(&["path"]).is_some_and(|pointer| is_on_the_way(pointer, here));
    let at = operations.iter().rposition(touches)?;
    let (line, column) = yaml::locate(&text.text, 0, &FieldPath::root().index(at).field("path"))?;
    Some((here.segments().len(), line, column))
}

/// The place in the patch of several that is for the resource and has the most of the path.
fn merged(patches: &[Resource], track: &Track, wanted: &FieldPath) -> Option<(usize, u32, u32)> {
    let is_for = |patch: &&Resource| {
        track.changes.iter().any(|change| {
            change.value.get("kind") == patch.value.get("kind")
                && change.value.at(&["metadata", "name"]) == patch.value.at(&["metadata", "name"])
        })
    };
    let mut candidates: Vec<&Resource> = patches.iter().filter(is_for).collect();
    if candidates.is_empty() {
        candidates = patches.iter().collect();
    }
    let depth = |patch: &Resource| {
        let mut here = &patch.value;
        wanted
            .segments()
            .iter()
            .take_while(|segment| segment.get(here).map(|next| here = next).is_some())
            .count()
    };
    let best = candidates.into_iter().max_by_key(|patch| depth(patch))?;
    let (line, column) = best.written.locate(wanted)?;
    Some((depth(best), line, column))
}

/// Whether an operation at a pointer changes a field: it is the field, or above it, or below it.
fn is_on_the_way(pointer: &str, here: &FieldPath) -> bool {
    let steps = pointer.split('/').skip(1);
    steps.zip(here.segments()).all(|(step, segment)| match segment {
        Segment::Field(name) => step.replace("~1", "/").replace("~0", "~") == **name,
        Segment::Index(at) => step == "-" || step == at.to_string(),
        Segment::Key(_) | Segment::Value(_) => true,
    })
}

/// The place of a line of a patch that stands in the kustomization itself.
fn inline(asked: &Asked, at: usize, (line, column): (u32, u32)) -> Option<Span> {
    let is_list = asked.field.segments().len() == 1;
    let field = if is_list { asked.field.index(at) } else { asked.field.field("patch") };
    let mut place = asked.source.place(&field);
    let text = std::str::from_utf8(asked.source.text()).ok()?;
    let mut lines = text.lines().skip(usize::try_from(place.line).ok()?.checked_sub(1)?);
    let head = lines.next()?.split(" #").next()?.trim_end();
    // Only the lines of a block are lines of the file.
    let indicator =
        head.trim_end_matches(|letter: char| matches!(letter, '-' | '+') || letter.is_ascii_digit());
    if !indicator.ends_with(['|', '>']) {
        return Some(place);
    }
    let mut skipped = 0;
    let first = lines.find(|line| {
        let is_blank = line.trim().is_empty();
        skipped += u32::from(is_blank);
        !is_blank
    })?;
    let indent = u32::try_from(first.len() - first.trim_start().len()).ok()?;
    place.line += skipped + line;
    place.column = indent + column;
    Some(place)
}
