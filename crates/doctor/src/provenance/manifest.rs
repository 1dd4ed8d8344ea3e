//! A field of a plain manifest: the same field of the same document.

use lynceus_files::Span;
use lynceus_object::manifest::{self, Manifest};
use lynceus_object::{FieldPath, Object, Segment, yaml};

use super::{Cell, Ground, Place, PlaceError, Spot, Whose};

pub(super) fn place(
    ground: &Ground<'_>,
    span: &Span,
    object: &Object,
    path: &FieldPath,
) -> Result<Place, PlaceError> {
    let file = span.file.clone();
    if [".jsonnet", ".libsonnet"].iter().any(|end| file.name().ends_with(end)) {
        return Err(PlaceError::Program { file });
    }
    let Ok(text) = ground.text(&file) else { return Err(PlaceError::Program { file }) };
    let found = manifest::read(&file, text.as_bytes(), &yaml::Options::default());
    let is_it = |one: &&Manifest| {
        one.line <= span.line.max(1)
            && one.object.kind() == object.kind()
            && one.object.name() == object.name()
    };
    let Some(one) = found.objects.iter().rfind(is_it) else {
        return Err(PlaceError::Unfound(span.to_string()));
    };
    let list = one.item.map(|item| [Segment::Field("items".into()), Segment::Index(item)]);
    let path = list.into_iter().flatten().chain(path.segments().iter().cloned()).collect();
    Ok(Place { whose: Whose::Source, file, spot: Spot::Field(Cell::new(one.document, path)) })
}
