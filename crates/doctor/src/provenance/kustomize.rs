//! A field of what a kustomization makes: what set it last.

use lynceus_files::FilePath;
use lynceus_kustomize::{Cause, Explanation, Place as Line, split_image};
use lynceus_object::{FieldPath, Object, Segment, Value};

use super::application::{self, find};
use super::cell::{Cell, Form};
use super::{Ground, Place, PlaceError, Spot, Whose, is_same, parse, printed};
use crate::surgery::{Found, path_at};

pub(super) fn place(
    ground: &Ground<'_>,
    explanation: &Explanation,
    object: &Object,
    path: &FieldPath,
) -> Result<Place, PlaceError> {
    let field = Field { ground, path, rendered: path.get(object.value()) };
    if explanation.is_removed {
        return Err(PlaceError::Removed(told(&explanation.last)));
    }
    match &explanation.last {
        Cause::Written(line) => field.at(line),
        Cause::Field { field: own, place, .. } if place.file == "Application" => field.by_application(own),
        Cause::Field { within: Some(line), .. } => field.at(line),
        Cause::Field { field: own, place, within: None } => field.by_kustomization(own, place),
        Cause::Hash => Err(PlaceError::Derived("the hash of the content behind its name".to_owned())),
        Cause::Reference { to } => {
            let to = to.as_deref().unwrap_or("the resource that it refers to");
            Err(PlaceError::Derived(format!("the name of {to}")))
        }
        Cause::Variable { name, place } => {
            let place = place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
            Err(PlaceError::Derived(format!("the variable {name}{place}")))
        }
    }
}

/// A field of a built resource.
struct Field<'a> {
    ground: &'a Ground<'a>,
    path: &'a FieldPath,
    rendered: Option<&'a Value>,
}

impl Field<'_> {
    /// Whether a value is the one that was rendered.
    fn is(&self, value: Option<&Value>) -> bool {
        value.zip(self.rendered).is_some_and(|(value, rendered)| is_same(value, rendered))
    }

    /// A line of a resource or of a patch.
    fn at(&self, line: &Line) -> Result<Place, PlaceError> {
        let unfound = || PlaceError::Unfound(line.to_string());
        let file = file_of(line)?;
        let text = self.ground.text(&file)?;
        let found = path_at(&text, line.line, line.column).ok_or_else(unfound)?;
        let document = parse(&text, found.document).ok_or_else(unfound)?;
        let spot = match &found.inside {
            None => Spot::Field(self.cell(&document, &found).ok_or_else(unfound)?),
            Some(inner) => {
                let text = found.path.get(&document).and_then(Value::as_str).unwrap_or_default();
                let value = parse(text, inner.document).ok_or_else(unfound)?;
                let cell = self.cell(&value, inner).ok_or_else(unfound)?;
                Spot::Inside { document: found.document, path: found.path.clone(), cell }
            }
        };
        Ok(Place { whose: Whose::Source, file, spot })
    }

    /// The field at a place of a document, or what an operation there puts into it.
    fn cell(&self, document: &Value, found: &Found) -> Option<Cell> {
        let cell = |path: FieldPath| Cell::new(found.document, path);
        if self.is(found.path.get(document)) {
            return Some(cell(found.path.clone()));
        }
        // What was found may be above the field, or be an operation of a JSON patch.
        let value = match found.path.segments() {
            [.., Segment::Field(last)] if *last == "path" || *last == "op" => {
                found.path.parent().map(|operation| operation.field("value"))
            }
            _ => Some(found.path.clone()),
        }?;
        let segments = self.path.segments();
        let ways = (0..=segments.len())
            .map(|from| value.segments().iter().chain(&segments[from..]).cloned().collect::<FieldPath>());
        let found = ways.into_iter().find(|way| self.is(way.get(document)))?;
        Some(cell(found))
    }

    /// A field of a kustomization that names what it sets.
    fn by_kustomization(&self, own: &FieldPath, line: &Line) -> Result<Place, PlaceError> {
        let indirect = || PlaceError::Indirect(format!("{own} at {line}"));
        let file = file_of(line)?;
        let kustomization = parse(&self.ground.text(&file)?, 0).ok_or_else(indirect)?;
        let value = |path: &FieldPath| path.get(&kustomization).cloned().unwrap_or_default();
        let names: Vec<&str> = own.segments().iter().filter_map(name).collect();
        let cell = match names.as_slice() {
            ["images"] => image(own, &value(own)),
            ["replicas"] => Some(Cell::new(0, own.field("count"))),
            ["namespace"] => Some(Cell::new(0, own.clone())),
            ["commonLabels" | "commonAnnotations", _] | ["labels", "pairs", _] => {
                Some(Cell::new(0, own.clone()).written(Form::Text))
            }
            ["configMapGenerator", "literals"] => self.literal(own, &value(own)),
            [generator, "files" | "envs"] if generator.ends_with("Generator") => {
                return Err(PlaceError::Derived(format!("the file {}", printed(&value(own)))));
            }
            _ => None,
        };
        let spot = Spot::Field(cell.ok_or_else(indirect)?);
        Ok(Place { whose: Whose::Source, file, spot })
    }

    /// A line `KEY=value` of a generator.
    fn literal(&self, own: &FieldPath, value: &Value) -> Option<Cell> {
        let key = self.path.segments().last().and_then(name)?;
        let given = value.as_str()?.split_once('=')?;
        let is_it = given.0.trim() == key && self.is(Some(&given.1.into()));
        is_it.then(|| Cell::new(0, own.clone()).written(Form::Pair(given.0.to_owned())))
    }

    /// A parameter of the application; `own` is `spec.source.kustomize` and below.
    fn by_application(&self, own: &FieldPath) -> Result<Place, PlaceError> {
        let field: FieldPath = own.segments().iter().skip(2).cloned().collect();
        let said = find(self.ground, &field)?;
        let list = said.get(&field).cloned().unwrap_or_default();
        let names: Vec<&str> = field.segments().iter().filter_map(name).collect();
        let (path, form) = match names.as_slice() {
            [_, "images"] => self.image_parameter(&field, &list).unwrap_or((field, None)),
            [_, "namespace"] => (field, Some(Form::Value)),
            [_, "commonLabels" | "commonAnnotations"] => match self.path.segments().last() {
                Some(key) if self.is(key.get(&list)) => (field.with(key.clone()), Some(Form::Text)),
                _ => (field, None),
            },
            [_, "replicas"] => match application::item(Some(&list), "count", |count| self.is(Some(count))) {
                Some(item) if list.as_seq().is_some_and(|list| list.len() == 1) => {
                    (field.with(item).field("count"), Some(Form::Value))
                }
                _ => (field, None),
            },
            _ => (field, None),
        };
        let form = form.ok_or_else(|| PlaceError::Indirect(application::shown(&path)))?;
        let (mut place, _) = said.place(&path);
        if let Spot::Field(cell) = &mut place.spot {
            cell.form = form;
        }
        Ok(place)
    }

    /// The entry `name=image` or `image` of a list that gave the image.
    fn image_parameter(&self, field: &FieldPath, list: &Value) -> Option<(FieldPath, Option<Form>)> {
        let image = |entry: &Value| {
            entry.as_str().map(|entry| entry.split_once('=').unwrap_or(("", entry)).1.to_owned())
        };
        let items = list.as_seq()?;
        let at = items.iter().rposition(|entry| self.is(image(entry).map(Value::from).as_ref()))?;
        let form = match items[at].as_str()?.split_once('=') {
            Some((name, _)) => Form::Pair(name.to_owned()),
            None => Form::Text,
        };
        Some((field.index(at), Some(form)))
    }
}

fn image(own: &FieldPath, entry: &Value) -> Option<Cell> {
    let text = |key: &str| entry.str_at(&[key]).filter(|text| !text.is_empty());
    let name = text("newName").or_else(|| text("name"))?;
    let form = Form::Image {
        name: split_image(name).0.to_owned(),
        digest: entry.get("digest").is_some(),
        tag: entry.get("newTag").is_some(),
    };
    Some(Cell::new(0, own.clone()).written(form))
}

fn name(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Field(name) => Some(name),
        _ => None,
    }
}

/// The file of a place, if it is one of the source's own.
fn file_of(line: &Line) -> Result<FilePath, PlaceError> {
    let elsewhere = || PlaceError::Elsewhere(line.file.clone());
    if line.file.contains("//") || line.file.is_empty() {
        return Err(elsewhere());
    }
    FilePath::new(&line.file).map_err(|_| elsewhere())
}

fn told(cause: &Cause) -> String {
    match cause {
        Cause::Written(line) => line.to_string(),
        Cause::Field { within: Some(line), .. } => line.to_string(),
        Cause::Field { field, place, .. } => format!("{field} at {place}"),
        Cause::Hash | Cause::Reference { .. } | Cause::Variable { .. } => "the build".to_owned(),
    }
}
