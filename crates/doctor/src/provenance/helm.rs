//! A field that a template of a chart prints.

use lynceus_files::FilePath;
use lynceus_helm::{Explanation, Fed, Origin};
use lynceus_object::{FieldPath, Object, Segment, Value};

use super::application::{self, find};
use super::cell::{Cell, Form};
use super::template::{has_action, passes_on};
use super::{Ground, Place, PlaceError, Spot, Whose, is_same, parse, printed, read};
use crate::surgery::{Change, line_of, operate_line};

pub(super) fn place(
    ground: &Ground<'_>,
    explanation: &Explanation,
    object: &Object,
    path: &FieldPath,
    wanted: Option<&Value>,
) -> Result<Place, PlaceError> {
    let rendered = path.get(object.value()).ok_or(PlaceError::Absent)?;
    let template = Template::read(ground, explanation)?;
    if let Some(place) = template.literal(rendered, path) {
        return Ok(place);
    }
    let sources: Vec<Result<Source, PlaceError>> =
        explanation.values.iter().filter_map(|fed| Source::of(ground, fed)).collect();
    let known = || sources.iter().flatten();
    if passes_on(&template.line) || template.line.is_empty() {
        let whole: Vec<Place> = known().filter_map(|source| source.whole(rendered, path)).collect();
        if let [only] = whole.as_slice() {
            return Ok(only.clone());
        }
    }
    if let Some(wanted) = wanted {
        let parts: Vec<Place> = known().filter_map(|source| source.part(rendered, wanted)).collect();
        if let [only] = parts.as_slice() {
            return Ok(only.clone());
        }
    }
    // With a single value it is that one which cannot be had; with more, all have to be looked at.
    if let [Err(error)] = sources.as_slice() {
        return Err(error.clone());
    }
    Err(template.composed(ground, explanation))
}

/// The line of a template that printed a field.
struct Template {
    file: FilePath,
    number: u32,
    text: String,
    line: String,
}

impl Template {
    fn read(ground: &Ground<'_>, explanation: &Explanation) -> Result<Self, PlaceError> {
        let name = &explanation.place.template;
        // `chart/templates/web.yaml`: what comes after the chart's name is below the source's path.
        let inside = name.split_once('/').map_or(name.as_str(), |(_, inside)| inside);
        let elsewhere = || PlaceError::Elsewhere(format!("the template {name}"));
        let file = ground.path.join(inside).map_err(|_| elsewhere())?;
        // The template of a packed chart is not a file; a value may be one all the same.
        let text = ground.text(&file).unwrap_or_default();
        let number = explanation.place.line;
        let line = number.checked_sub(1).and_then(|before| text.lines().nth(before)).unwrap_or_default();
        Ok(Template { number: u32::try_from(number).unwrap_or(0), line: line.to_owned(), file, text })
    }

    /// The line itself, if it is nothing but the field.
    fn literal(&self, rendered: &Value, path: &FieldPath) -> Option<Place> {
        let Some(Segment::Field(key)) = path.segments().last() else { return None };
        if has_action(&self.line) {
            return None;
        }
        // Setting it to what it is has to be possible, and to change nothing.
        let same =
            operate_line(&self.file, &self.text, self.number, key, &Change::Set(rendered.clone())).ok()?;
        let spot = Spot::Line { line: self.number, key: key.to_string() };
        (same == self.text).then(|| Place { whose: Whose::Source, file: self.file.clone(), spot })
    }

    fn composed(&self, ground: &Ground<'_>, explanation: &Explanation) -> PlaceError {
        let told = |fed: &Fed| match &fed.origin {
            Some(origin) => match Source::of(ground, fed) {
                Some(Ok(source)) => format!("{} ({})", fed.path, source.told(ground)),
                _ => format!("{} ({origin})", fed.path),
            },
            None if fed.path.starts_with(".Values.") => format!("{} (given nowhere)", fed.path),
            None => fed.path.clone(),
        };
        let values = explanation.values.iter().map(told).collect();
        PlaceError::Composed { at: format!("{}:{}", self.file, self.number), values }
    }
}

/// A value that a template was given, where it is written.
struct Source {
    place: Place,
    value: Value,
    /// Whether fields below it are there too.
    is_open: bool,
}

impl Source {
    /// Where a value of `.Values` was given; nothing is said of what is not one.
    fn of(ground: &Ground<'_>, fed: &Fed) -> Option<Result<Self, PlaceError>> {
        let text = fed.path.strip_prefix(".Values.")?;
        Some(match fed.origin.as_ref()? {
            Origin::File(name) => in_file(ground, name, text),
            Origin::Chart(chart) => in_chart(ground, chart, text),
            Origin::Flag(flag, given) => in_parameter(ground, flag, given),
        })
    }

    /// Where it is written, in words, and that it is empty if it is.
    fn told(&self, ground: &Ground<'_>) -> String {
        let file = &self.place.file;
        let tree = match &self.place.whose {
            Whose::Source => Some(ground.tree),
            Whose::Reference(name) => ground.references.get(name).map(|tree| &**tree),
            Whose::Application => None,
        };
        let place = match (tree, self.place.field()) {
            (None, Some(field)) => match ground.declared.and_then(|declared| declared.known.as_ref()) {
                Some(known) => format!("{field} of the Application in {known}"),
                None => format!("{field} of the Application"),
            },
            (Some(tree), Some(field)) => {
                let line = read(tree, file).ok().and_then(|text| line_of(&text, 0, field));
                line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}"))
            }
            (_, None) => file.to_string(),
        };
        if self.value.is_empty() { format!("{place}, empty") } else { place }
    }

    /// The place, if what is there, or below it at the end of the field's path, is what was rendered.
    fn whole(&self, rendered: &Value, path: &FieldPath) -> Option<Place> {
        let segments = path.segments();
        // The longest way is the surest: `limits.cpu` before `cpu`.
        let first = if self.is_open { 0 } else { segments.len() };
        let ways =
            (first..=segments.len()).map(|from| segments[from..].iter().cloned().collect::<FieldPath>());
        let found = ways
            .into_iter()
            .find(|way| way.get(&self.value).is_some_and(|value| is_same(value, rendered)))?;
        if found.is_root() { Some(self.place.clone()) } else { self.place.below(&found) }
    }

    /// The place, if all of the difference between what was rendered and what is wanted is in its value.
    fn part(&self, rendered: &Value, wanted: &Value) -> Option<Place> {
        let (rendered, wanted, own) = (rendered.as_str()?, wanted.as_str()?, printed(&self.value));
        if own.is_empty() || rendered.matches(own.as_str()).count() != 1 {
            return None;
        }
        let (before, after) = rendered.split_once(own.as_str())?;
        let inner = wanted.strip_prefix(before)?.strip_suffix(after)?;
        // Where the value is all there is, or nothing would be left of it, it is not a part.
        if inner.is_empty() || before.is_empty() && after.is_empty() {
            return None;
        }
        let form = Form::Part { before: before.to_owned(), after: after.to_owned() };
        let mut place = self.place.clone();
        match &mut place.spot {
            Spot::Field(cell) | Spot::Inside { cell, .. } => cell.form = form,
            Spot::Line { .. } => return None,
        }
        Some(place)
    }
}

fn in_file(ground: &Ground<'_>, name: &str, path: &str) -> Result<Source, PlaceError> {
    let helm = FieldPath::fields(["helm"]);
    match name {
        "spec.source.helm.valuesObject" => return in_object(ground, &helm.field("valuesObject"), path),
        "spec.source.helm.values" => return in_text(ground, &helm.field("values"), path),
        _ if name.contains("://") => return Err(PlaceError::Elsewhere(name.to_owned())),
        _ => {}
    }
    let other = name.strip_prefix('$').and_then(|rest| rest.split_once('/'));
    let (whose, tree, inside) =
        match other.and_then(|(tree, rest)| Some((tree, ground.references.get(tree)?, rest))) {
            Some((name, tree, rest)) => (Whose::Reference(name.into()), &**tree, rest),
            None => (Whose::Source, ground.tree, name),
        };
    let file = FilePath::new(inside).map_err(|_| PlaceError::Elsewhere(name.to_owned()))?;
    let text = read(tree, &file)?;
    in_values(whose, file, &text, path)
}

/// A value of a file of values.
fn in_values(whose: Whose, file: FilePath, text: &str, path: &str) -> Result<Source, PlaceError> {
    let unfound = || PlaceError::Unfound(format!("{path} of {file}"));
    let document = parse(text, 0).ok_or_else(unfound)?;
    let path = resolve(&document, path).ok_or_else(unfound)?;
    let value = path.get(&document).cloned().ok_or_else(unfound)?;
    Ok(Source { place: Place { whose, file, spot: Spot::Field(Cell::new(0, path)) }, value, is_open: true })
}

/// A value of the `values.yaml` of a chart, by the chart's full path.
fn in_chart(ground: &Ground<'_>, chart: &str, path: &str) -> Result<Source, PlaceError> {
    let inside = chart.split_once('/').map_or("", |(_, inside)| inside);
    let elsewhere = || PlaceError::Elsewhere(format!("the values of the chart {chart}"));
    let file =
        ground.path.join(inside).and_then(|chart| chart.join("values.yaml")).map_err(|_| elsewhere())?;
    let text = ground.text(&file).map_err(|_| elsewhere())?;
    // The path is told from the outermost chart, but a global, which goes by its own name everywhere.
    let levels: Vec<&str> = inside.split('/').skip(1).step_by(2).collect();
    let own = levels.iter().try_fold(path, |path, name| path.strip_prefix(name)?.strip_prefix('.'));
    let own = own.unwrap_or(path);
    let own = own.find("global.").filter(|_| !levels.is_empty()).map_or(own, |at| &own[at..]);
    in_values(Whose::Source, file, &text, own)
}

/// A value of the map in the application.
fn in_object(ground: &Ground<'_>, field: &FieldPath, path: &str) -> Result<Source, PlaceError> {
    let said = find(ground, field)?;
    let object = said.get(field).cloned().unwrap_or_default();
    let unfound = || PlaceError::Unfound(format!("{path} of {}", application::shown(field)));
    let inner = resolve(&object, path).ok_or_else(unfound)?;
    let value = inner.get(&object).cloned().ok_or_else(unfound)?;
    let (place, _) = said.place(field);
    Ok(Source { place: place.below(&inner).ok_or_else(unfound)?, value, is_open: true })
}

/// A value of the text in the application.
fn in_text(ground: &Ground<'_>, field: &FieldPath, path: &str) -> Result<Source, PlaceError> {
    let said = find(ground, field)?;
    let text = said.get(field).and_then(Value::as_str).unwrap_or_default();
    let (mut place, outer) = said.place(field);
    let Source { place: inner, value, is_open } =
        in_values(place.whose.clone(), place.file.clone(), text, path)?;
    if let (Spot::Field(outer_cell), Spot::Field(cell)) = (&place.spot, inner.spot) {
        place.spot = Spot::Inside { document: outer_cell.document, path: outer, cell };
    }
    Ok(Source { place, value, is_open })
}

/// A parameter of the application.
fn in_parameter(ground: &Ground<'_>, flag: &str, given: &str) -> Result<Source, PlaceError> {
    let name = given.split_once('=').map_or(given, |(name, _)| name);
    let (list, key) = if flag == "--set-file" { ("fileParameters", "path") } else { ("parameters", "value") };
    let field = FieldPath::fields(["helm", list]);
    let said = find(ground, &field)?;
    let item = application::item(said.get(&field), "name", |own| own.as_str() == Some(name));
    let item =
        item.ok_or_else(|| PlaceError::Unfound(format!("{name} of {}", application::shown(&field))))?;
    let path = field.with(item).field(key);
    let value = said.get(&path).cloned().unwrap_or_default();
    if list == "fileParameters" {
        return Err(PlaceError::Derived(format!("the file {}", printed(&value))));
    }
    let (mut place, _) = said.place(&path);
    if let Spot::Field(cell) = &mut place.spot {
        cell.form = Form::Text;
    }
    Ok(Source { place, value, is_open: false })
}

/// A path as it is told, in which names with dots in them are not marked, as the path that it is in a value.
fn resolve(value: &Value, path: &str) -> Option<FieldPath> {
    let mut segments = Vec::new();
    step(value, path, &mut segments).then(|| segments.into_iter().collect())
}

fn step(value: &Value, path: &str, out: &mut Vec<Segment>) -> bool {
    if path.is_empty() {
        return true;
    }
    let (rest, found) = (path.strip_prefix('.').unwrap_or(path), out.len());
    let mut tries: Vec<(Segment, &Value, &str)> = Vec::new();
    match value {
        Value::Map(map) => {
            for (name, inner) in map.iter() {
                if let Some(after) = rest.strip_prefix(name.as_str())
                    && (after.is_empty() || after.starts_with(['.', '[']))
                {
                    tries.push((Segment::Field(name.clone()), inner, after));
                }
            }
        }
        Value::Seq(items) => {
            let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let index = inside.and_then(|(index, after)| Some((index.parse::<usize>().ok()?, after)));
            if let Some((index, after)) = index
                && let Some(item) = items.get(index)
            {
                tries.push((Segment::Index(index), item, after));
            }
        }
        _ => {}
    }
    tries.into_iter().any(|(segment, inner, after)| {
        out.truncate(found);
        out.push(segment);
        step(inner, after, out)
    })
}
