//! Values that cover others, and what would be made without them.
//!
//! A template leaves a field out where its value is empty, and nothing of what was rendered tells that a file has emptied it. So the
//! files of values are read the way that Helm lays them over each other, and where one has nothing over something of another, it is
//! rendered without: what the objects have then is what the value takes away.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lynceus_api::ApplicationSource;
use lynceus_doctor::surgery::{Change, Cut, apply, line_of, operate};
use lynceus_doctor::{AppName, Override, Way, Written};
use lynceus_files::{FilePath, Span, Tree};
use lynceus_object::{FieldPath, Object, ObjectKey, Quantity, Segment, Str, Value, json, yaml};
use lynceus_render::References;

use super::desk::{Desk, read};
use super::trial::Overlaid;
use super::{Bench, MendError};
use crate::engine::Engine;
use crate::limits;

/// One of the sources of values, lower ones first.
pub(super) struct Layer {
    /// As people know it.
    pub(super) name: String,
    pub(super) values: Value,
    pub(super) from: From,
}

/// Where a layer can be changed.
pub(super) enum From {
    /// In no file of Git.
    Nowhere,
    /// A file of a source.
    File { number: usize, tree: Arc<dyn Tree>, file: FilePath, text: String },
    /// `values` of the Application, which is text.
    Text,
    /// `valuesObject` of the Application.
    Object,
    /// One of its `parameters`.
    Parameter(usize),
}

impl Engine {
    /// The values of an application that cover others, each with what the objects would have without it.
    pub(crate) async fn overrides(&self, name: &AppName, declared: Option<&Span>) -> Vec<Override> {
        let Ok(bench) = self.bench(name).await else { return Vec::new() };
        let (trees, references) = self.trees(&bench).await;
        let mut found = Vec::new();
        let mut before = None;
        for (number, tree) in trees.iter().enumerate() {
            let Some(tree) = tree else { continue };
            let layers = layers(&bench, number, tree, &references);
            for (key, places) in covering(&layers).into_iter().take(limits::OVERRIDES) {
                if before.is_none() {
                    before = self.manifests(&bench, &[]).await.ok();
                }
                let Some(before) = &before else { return found };
                let Some(mut one) = self.without(&bench, number, &layers, &key, &places, before).await else {
                    continue;
                };
                for written in one.written.iter_mut().filter(|one| matches!(one.way, Way::Application { .. }))
                {
                    written.span = declared.cloned();
                }
                found.push(one);
            }
        }
        found
    }

    /// What one value takes away; nothing if it makes no difference.
    async fn without(
        &self,
        bench: &Bench,
        number: usize,
        layers: &[Layer],
        key: &FieldPath,
        places: &[usize],
        before: &[Object],
    ) -> Option<Override> {
        let mut files: Vec<Option<Arc<dyn Tree>>> = vec![None; bench.sources.len()];
        let mut sources = bench.sources.clone();
        let mut written = Vec::new();
        for place in places.iter().rev() {
            let way = bench.source_path(number).field("helm");
            written.push(match &layers[*place].from {
                From::Nowhere => return None,
                From::File { number, tree, file, text } => {
                    let cut = Cut { document: 0, path: key.clone(), change: Change::Remove };
                    let after = operate(file, text, &[cut]).ok()?;
                    let tree = files[*number].take().unwrap_or_else(|| tree.clone());
                    let content = BTreeMap::from([(file.clone(), after.as_bytes().into())]);
                    files[*number] = Some(Arc::new(Overlaid { tree, files: content }));
                    let line = line_of(text, 0, key).unwrap_or_default();
                    let span = Some(Span { file: file.clone(), line, column: 0 });
                    let repository = bench.sources[*number].repo_url.clone();
                    Written { span, way: Way::File { repository, file: file.clone() } }
                }
                From::Text => {
                    let helm = sources[number].helm.as_mut()?;
                    let cut = Cut { document: 0, path: key.clone(), change: Change::Remove };
                    helm.values = operate(&FilePath::root(), &helm.values, &[cut]).ok()?.into();
                    let value = Some(Value::from(helm.values.as_str()));
                    Written { span: None, way: Way::Application { path: way.field("values"), value } }
                }
                From::Object => {
                    let object = sources[number].helm.as_mut()?.values_object.as_mut()?;
                    apply(&mut object.0, key, &Change::Remove).ok()?;
                    let object = way.field("valuesObject");
                    let path = object.segments().iter().chain(key.segments()).cloned().collect();
                    Written { span: None, way: Way::Application { path, value: None } }
                }
                From::Parameter(index) => {
                    drop(sources[number].helm.as_mut()?.parameters.remove(*index));
                    let path = way.field("parameters").index(*index);
                    Written { span: None, way: Way::Application { path, value: None } }
                }
            });
        }
        // What cannot be rendered is no way.
        let after = self.manifests_of(bench, &files, &sources).await.ok()?;
        let returns = returns(before, &after);
        let covered = layers[..*places.first()?].iter().rfind(|layer| has(layer, key).is_some())?;
        let says = layers.get(*places.last()?).and_then(|layer| key.get(&layer.values))?;
        (!returns.is_empty()).then(|| Override {
            key: key.clone(),
            says: shown(says),
            written,
            covered: covered.name.clone(),
            returns,
        })
    }

    /// The files of the sources, and those that others name.
    pub(super) async fn trees(&self, bench: &Bench) -> (Vec<Option<Arc<dyn Tree>>>, References) {
        let (mut trees, mut references) = (Vec::new(), References::new());
        for (number, source) in bench.sources.iter().enumerate() {
            let tree = match bench.files.get(number) {
                Some(Some(tree)) => Some(tree.clone()),
                _ => self.renderer().tree_of(&bench.request(self), source).await.ok(),
            };
            if let Some(tree) = tree.clone().filter(|_| !source.ref_.is_empty()) {
                references.insert(source.ref_.clone(), tree);
            }
            trees.push(tree);
        }
        (trees, references)
    }

    /// Takes a value out of a file of values.
    pub(super) async fn uncover(
        &self,
        desk: &mut Desk,
        name: &AppName,
        (repository, file, key): (&Str, &FilePath, &FieldPath),
        object: &ObjectKey,
    ) -> Result<(), MendError> {
        let bench = self.bench(name).await?;
        let (trees, _) = self.trees(&bench).await;
        let own = bench.sources.iter().zip(&trees).filter(|(source, _)| source.repo_url == *repository);
        let tree = own.filter_map(|(_, tree)| tree.as_ref()).find(|tree| tree.entry(file).is_ok());
        let missing = || MendError::NoObject { application: name.clone(), object: object.clone() };
        desk.change(repository, &**tree.ok_or_else(missing)?, file, |text| {
            let is_there = yaml::parse(text.as_bytes()).is_ok_and(|values| key.get(&values).is_some());
            // Those who share a file share its mending.
            if !is_there {
                return Ok(text.to_owned());
            }
            let cut = Cut { document: 0, path: key.clone(), change: Change::Remove };
            Ok(operate(file, text, &[cut])?)
        })
    }
}

/// The values of a source, lower ones first; none if it is no chart.
pub(super) fn layers(
    bench: &Bench,
    number: usize,
    tree: &Arc<dyn Tree>,
    references: &References,
) -> Vec<Layer> {
    let source = &bench.sources[number];
    let Ok(chart) = FilePath::new(&source.path) else { return Vec::new() };
    if chart.join("Chart.yaml").is_ok_and(|file| tree.entry(&file).is_err()) {
        return Vec::new();
    }
    let mut layers = below(tree, &chart);
    let own = |file: FilePath| (number, tree.clone(), file);
    let resolve = |name: &Str| {
        if let Some((reference, inside)) = name.strip_prefix('$').and_then(|name| name.split_once('/')) {
            let number = bench.sources.iter().position(|source| source.ref_ == reference)?;
            return Some((number, references.get(reference)?.clone(), FilePath::new(inside).ok()?));
        }
        match name.strip_prefix('/') {
            Some(inside) => FilePath::new(inside).ok().map(own),
            None => chart.join(name).ok().map(own),
        }
    };
    let named = source.helm.iter().flat_map(|helm| &helm.value_files);
    let named = named.filter(|name| !name.contains("://")).filter_map(resolve);
    let first = chart.join("values.yaml").ok().map(own);
    for (place, (number, tree, file)) in first.into_iter().chain(named).enumerate() {
        let is_named_again = place > 0 && layers.iter().any(|layer| is_of(layer, number, &file));
        let Ok(text) = read(&*tree, &file) else { continue };
        let Ok(values) = yaml::parse(text.as_bytes()) else { continue };
        // What is in the archive of a chart is not in Git.
        let is_in_git = bench.sources[number].chart.is_empty() && !is_named_again;
        let name = file.to_string();
        let from = if is_in_git { From::File { number, tree, file, text } } else { From::Nowhere };
        layers.push(Layer { name, values, from });
    }
    layers.extend(inline(source));
    layers
}

fn is_of(layer: &Layer, number: usize, file: &FilePath) -> bool {
    matches!(&layer.from, From::File { number: own, file: at, .. } if *own == number && at == file)
}

/// What the charts inside of a chart have.
fn below(tree: &Arc<dyn Tree>, chart: &FilePath) -> Vec<Layer> {
    let folder = chart.join("charts").ok();
    let inside = folder.as_ref().and_then(|folder| tree.list(folder).ok()).unwrap_or_default();
    let layer = |name: String| {
        let file = folder.as_ref()?.join(&name).ok()?.join("values.yaml").ok()?;
        let values = yaml::parse(read(&**tree, &file).ok()?.as_bytes()).ok()?;
        let mut outer = Value::default();
        outer.set(&[name.as_str()], values);
        Some(Layer { name: file.to_string(), values: outer, from: From::Nowhere })
    };
    inside.into_iter().filter_map(|(name, _)| layer(name)).collect()
}

/// What the Application itself says.
fn inline(source: &ApplicationSource) -> Vec<Layer> {
    let Some(helm) = &source.helm else { return Vec::new() };
    let mut layers = Vec::new();
    let mut add = |values, from| layers.push(Layer { name: "the Application".to_owned(), values, from });
    match &helm.values_object {
        Some(object) => add(object.0.clone(), From::Object),
        None => {
            if let Ok(values) = yaml::parse(helm.values.as_bytes()) {
                add(values, From::Text);
            }
        }
    }
    for (index, parameter) in helm.parameters.iter().enumerate() {
        // Lists and commas in names have a meaning of their own.
        if parameter.name.contains(['[', '{', ',', '\\', '=']) {
            continue;
        }
        let path = FieldPath::fields(parameter.name.split('.'));
        let mut values = Value::default();
        let value = Value::from(parameter.value.as_str());
        if apply(&mut values, &path, &Change::Set(value)).is_ok() {
            add(values, From::Parameter(index));
        }
    }
    layers
}

/// The values that cover others, by their paths, each with the layers that have it.
fn covering(layers: &[Layer]) -> Vec<(FieldPath, Vec<usize>)> {
    let mut found: Vec<(FieldPath, Vec<usize>)> = Vec::new();
    for (place, layer) in layers.iter().enumerate() {
        let mut all = Vec::new();
        walk(&layer.values, &FieldPath::root(), &mut all);
        for (path, value) in all {
            let lower = layers[..place].iter().rev().find_map(|lower| has(lower, &path));
            if !lower.is_some_and(|lower| is_worse(&path, value, lower)) {
                continue;
            }
            match found.iter_mut().find(|(known, _)| *known == path) {
                Some((_, places)) => places.push(place),
                None => found.push((path, vec![place])),
            }
        }
    }
    found
}

/// What a layer has at a path, if that is something.
fn has<'l>(layer: &'l Layer, path: &FieldPath) -> Option<&'l Value> {
    path.get(&layer.values).filter(|value| !value.is_empty())
}

/// Whether a value leaves less than the one that it covers, or asks for more of a node. An empty map covers no map: both are merged.
fn is_worse(path: &FieldPath, value: &Value, lower: &Value) -> bool {
    if value.is_empty() {
        return !matches!((value, lower), (Value::Map(_), Value::Map(_)));
    }
    let is_request =
        path.segments().iter().any(|one| matches!(one, Segment::Field(name) if name == "requests"));
    let amount = |value: &Value| Quantity::parse(&shown(value)).ok();
    is_request && amount(value).zip(amount(lower)).is_some_and(|(own, lower)| own > lower)
}

/// All values that are not made of others.
fn walk<'v>(value: &'v Value, at: &FieldPath, found: &mut Vec<(FieldPath, &'v Value)>) {
    match value.as_map() {
        Some(map) if (at.is_root() || !map.is_empty()) && at.segments().len() < limits::MEND_DEPTH => {
            for (key, part) in map.iter() {
                walk(part, &at.field(key.clone()), found);
            }
        }
        _ => found.push((at.clone(), value)),
    }
}

/// What objects have afterwards and did not before. Nothing of a Secret is looked at.
fn returns(before: &[Object], after: &[Object]) -> Vec<(ObjectKey, FieldPath, Value)> {
    let mut found = Vec::new();
    let before = by_key(before);
    for object in after.iter().filter(|object| object.kind() != "Secret") {
        let key = object.key();
        let Some(old) = before.get(&key) else { continue };
        let mut fields = Vec::new();
        compare(old.value(), object.value(), &FieldPath::root(), &mut fields);
        found.extend(fields.into_iter().map(|(path, value)| (key.clone(), path, value)));
    }
    found
}

/// Objects to be found by their keys: an application may have thousands. Of several with one key it is the first.
pub(super) fn by_key(objects: &[Object]) -> HashMap<ObjectKey, &Object> {
    objects.iter().rev().map(|object| (object.key(), object)).collect()
}

pub(super) fn compare(before: &Value, after: &Value, at: &FieldPath, found: &mut Vec<(FieldPath, Value)>) {
    match (before, after) {
        (Value::Map(old), Value::Map(new)) => {
            for (key, value) in new.iter() {
                let here = at.field(key.clone());
                match old.get(key) {
                    Some(old) => compare(old, value, &here, found),
                    None => found.push((here, value.clone())),
                }
            }
        }
        (Value::Seq(old), Value::Seq(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new.iter()).enumerate() {
                compare(old, new, &at.index(index), found);
            }
        }
        (old, new) if old != new => found.push((at.clone(), new.clone())),
        _ => {}
    }
}

/// A value as people write it in a file.
fn shown(value: &Value) -> String {
    match value {
        Value::Str(text) if !text.is_empty() => text.to_string(),
        other => String::from_utf8_lossy(&json::to_vec(other)).into_owned(),
    }
}
