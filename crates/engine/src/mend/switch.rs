//! Options that decide whether a chart makes an object, found by trying.

use std::collections::BTreeSet;
use std::sync::Arc;

use lynceus_api::Kind as _;
use lynceus_doctor::Lacking;
use lynceus_doctor::surgery::{Change, Cut, apply, line_of, operate};
use lynceus_files::{Entry, FilePath, Span, Tree};
use lynceus_object::{FieldPath, Object, ObjectKey, Segment, Value, yaml};

use super::desk::{Desk, read};
use super::literals::Literals;
use super::trial::{Candidate, ValueFile, take, value_files};
use super::{Bench, MendError};
use crate::engine::Engine;
use crate::limits;

/// An option that stands the other way.
pub(super) struct Switch {
    /// Its path in the values, or its name in the Application.
    pub(super) option: FieldPath,
    /// How it stands, and how it is tried.
    pub(super) stands: Value,
    pub(super) turned: Value,
    pub(super) site: Site,
    /// Whether its path speaks of what it is to make.
    is_near: bool,
}

/// Where an option is written, and what has it the other way.
pub(super) enum Site {
    File { tree: Arc<dyn Tree>, candidate: Candidate, span: Span },
    Application { path: FieldPath, change: Change },
}

/// An option that makes something, with what it makes.
pub(super) struct Turned {
    /// Its place among the options that were tried.
    pub(super) place: usize,
    /// The object.
    pub(super) object: ObjectKey,
    /// How many objects come with it.
    added: usize,
}

impl Engine {
    /// Sets the option by which a chart makes an object, or does not. Says whether one was found.
    pub(super) async fn switch(
        &self,
        desk: &mut Desk,
        bench: &Bench,
        key: &ObjectKey,
        is_on: bool,
    ) -> Result<bool, MendError> {
        let wanted = [Lacking::Object(key.clone())];
        let mut switches = self.switches(bench, &wanted, is_on).await;
        let place = match is_on {
            true => {
                let mut turned = self.turned(bench, &switches, &wanted).await?;
                turned.pop().flatten().map(|one| one.place)
            }
            false => self.turned_off(desk, bench, &switches, key).await?,
        };
        let Some(place) = place.filter(|place| *place < switches.len()) else { return Ok(false) };
        match switches.swap_remove(place).site {
            Site::File { tree, candidate, .. } => take(desk, bench, &*tree, candidate)?,
            Site::Application { path, change } => {
                Box::pin(self.change_application(desk, &bench.name, &path, &change)).await?;
            }
        }
        Ok(true)
    }

    /// The option that takes an object away, and nothing that is not to go.
    async fn turned_off(
        &self,
        desk: &Desk,
        bench: &Bench,
        switches: &[Switch],
        key: &ObjectKey,
    ) -> Result<Option<usize>, MendError> {
        let before = keys(&self.manifests(bench, &[]).await?);
        for (place, switch) in switches.iter().enumerate() {
            // What cannot be rendered is no way.
            let Ok(after) = self.with(bench, switch).await else { continue };
            let is_gone = bench.find(&after, key).is_none();
            let after = keys(&after);
            let mut lost = before.difference(&after);
            if is_gone && lost.all(|lost| desk.leaving.iter().any(|one| is_same(one, lost))) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// For each thing that is wanted the option that makes it and takes nothing away; of several the one that makes the least besides.
    pub(super) async fn turned(
        &self,
        bench: &Bench,
        switches: &[Switch],
        wanted: &[Lacking],
    ) -> Result<Vec<Option<Turned>>, MendError> {
        let before = keys(&self.manifests(bench, &[]).await?);
        let namespace: &str = &bench.application.spec.destination.namespace;
        let mut found: Vec<Option<Turned>> = wanted.iter().map(|_| None).collect();
        for (place, switch) in switches.iter().enumerate() {
            if found.iter().all(|one| one.as_ref().is_some_and(|one| one.added == 1)) {
                break;
            }
            // What cannot be rendered is no way.
            let Ok(after) = self.with(bench, switch).await else { continue };
            let now = keys(&after);
            if before.difference(&now).next().is_some() {
                continue;
            }
            let added = now.difference(&before).count();
            for (what, found) in wanted.iter().zip(&mut found) {
                let Some(object) = after.iter().find(|object| what.is(object, namespace)) else { continue };
                if !before.contains(&object.key()) && found.as_ref().is_none_or(|best| added < best.added) {
                    *found = Some(Turned { place, object: object.key(), added });
                }
            }
        }
        Ok(found)
    }

    /// What the sources give with an option the other way.
    async fn with(&self, bench: &Bench, switch: &Switch) -> Result<Vec<Object>, MendError> {
        match &switch.site {
            Site::File { tree, candidate, .. } => self.tried(bench, tree.clone(), candidate).await,
            Site::Application { path, change } => self.with_application(bench, path, change).await,
        }
    }

    /// All options that stand the other way, in the Application and in value files, those first that sound like what is wanted. Of
    /// several places that set one, only that which has the last word is told.
    pub(super) async fn switches(&self, bench: &Bench, wanted: &[Lacking], is_on: bool) -> Vec<Switch> {
        let (trees, references) = self.trees(bench).await;
        let mut found = Vec::new();
        for (number, own) in trees.iter().enumerate() {
            let Some(own) = own else { continue };
            let charts = charts(bench, number, own);
            let literals =
                charts.iter().map(|(prefix, chart)| (prefix.clone(), Literals::of_chart(&**own, chart)));
            let literals = literals.collect();
            let mut layers = Layers { wanted, is_on, literals, above: Vec::new(), found: &mut found };
            declared(bench, number, &mut layers);
            let files = value_files(bench, number, (own, &references));
            let files = files.into_iter().map(|file| (FieldPath::root(), file));
            for (prefix, file) in files.chain(subcharts(number, own, &charts)) {
                layers.file(&prefix, &file);
            }
        }
        // What is either true or false is an option for certain.
        found.sort_by_key(|switch| (!switch.is_near, switch.stands.as_bool().is_none()));
        found.truncate(limits::MEND_TRIALS);
        found
    }
}

/// The places that set values, that which has the last word first.
struct Layers<'a> {
    wanted: &'a [Lacking],
    is_on: bool,
    /// What templates compare values with, by where the values of their charts belong.
    literals: Vec<(FieldPath, Literals)>,
    /// The values that were looked at already, and where in the values of the chart they belong.
    above: Vec<(FieldPath, Value)>,
    found: &'a mut Vec<Switch>,
}

impl Layers<'_> {
    /// The options of one place that nothing above it sets, each with how it stands and how else it might.
    fn options(&mut self, prefix: &FieldPath, values: &Value) -> Vec<(FieldPath, Value, Value)> {
        let mut leaves = Vec::new();
        walk(values, &FieldPath::root(), &mut leaves);
        let others = |path: &FieldPath, value: &Value| match value.as_bool() {
            Some(stands) if stands == self.is_on => Vec::new(),
            Some(_) => vec![Value::Bool(self.is_on)],
            None => self.others(&joined(prefix, path), value),
        };
        let mut paths: Vec<(FieldPath, Value, Value)> = Vec::new();
        for (path, value) in leaves {
            let others = others(&path, value);
            paths.extend(others.into_iter().map(|other| (path.clone(), value.clone(), other)));
        }
        paths.retain(|(path, ..)| {
            let full = joined(prefix, path);
            !self
                .above
                .iter()
                .any(|(at, values)| below(&full, at).is_some_and(|rest| rest.get(values).is_some()))
        });
        self.above.push((prefix.clone(), values.clone()));
        paths
    }

    /// How else a value might stand that is neither true nor false.
    fn others(&self, path: &FieldPath, value: &Value) -> Vec<Value> {
        let of = |(prefix, literals): &(FieldPath, Literals)| {
            let own = below(path, prefix)?.to_string();
            Some(literals.others(&own, value))
        };
        self.literals.iter().filter_map(of).flatten().collect()
    }

    fn add(&mut self, option: FieldPath, (stands, turned): (Value, Value), site: Site) {
        let is_near = self.wanted.iter().any(|what| is_about(&option, what));
        self.found.push(Switch { option, stands, turned, site, is_near });
    }

    fn file(&mut self, prefix: &FieldPath, ValueFile { number, tree, file }: &ValueFile) {
        let Ok(text) = read(&**tree, file) else { return };
        let Ok(values) = yaml::parse(text.as_bytes()) else { return };
        for (path, stands, turned) in self.options(prefix, &values) {
            let line = line_of(&text, 0, &path).unwrap_or_default();
            let cut = Cut { document: 0, path: path.clone(), change: Change::Set(turned.clone()) };
            let Ok(text) = operate(file, &text, &[cut]) else { continue };
            let span = Span { file: file.clone(), line, column: 0 };
            let candidate = Candidate { number: *number, file: file.clone(), text, is_exact: false };
            self.add(
                joined(prefix, &path),
                (stands, turned),
                Site::File { tree: tree.clone(), candidate, span },
            );
        }
    }
}

/// What the Application itself says of a source.
fn declared(bench: &Bench, number: usize, layers: &mut Layers<'_>) {
    let Some(helm) = bench.sources.get(number).and_then(|source| source.helm.as_ref()) else { return };
    let at = bench.source_path(number).field("helm");
    let wants_kinds = layers.wanted.iter().any(|what| matches!(what, Lacking::Definition(_)));
    if layers.is_on && helm.skip_crds && wants_kinds {
        let site = Site::Application { path: at.field("skipCrds"), change: Change::Remove };
        let option = FieldPath::fields(["skipCrds"]);
        let (stands, turned) = (Value::Bool(true), Value::Bool(false));
        layers.found.push(Switch { option, stands, turned, site, is_near: true });
    }
    let (on, off) = if layers.is_on { ("true", "false") } else { ("false", "true") };
    for (place, one) in helm.parameters.iter().enumerate().rev() {
        let Ok(path) = FieldPath::parse(&one.name) else { continue };
        let mut values = Value::default();
        if apply(&mut values, &path, &Change::Set(Value::from(one.value.as_str()))).is_err() {
            continue;
        }
        if one.value == off && layers.above.iter().all(|(_, above)| path.get(above).is_none()) {
            let field = at.field("parameters").index(place).field("value");
            let change = Change::Set(Value::from(on));
            let turned = (Value::from(off), Value::from(on));
            layers.add(path, turned, Site::Application { path: field, change });
        }
        layers.above.push((FieldPath::root(), values));
    }
    let application = bench.application.to_object();
    let root = FieldPath::root();
    if let Some(values) =
        at.field("valuesObject").get(application.value()).filter(|values| !values.is_empty())
    {
        for (path, stands, turned) in layers.options(&root, values) {
            let field = joined(&at.field("valuesObject"), &path);
            let change = Change::Set(turned.clone());
            layers.add(path, (stands, turned), Site::Application { path: field, change });
        }
    } else if let Ok(values) = yaml::parse(helm.values.as_bytes()) {
        let file = super::document::application();
        for (path, stands, turned) in layers.options(&root, &values) {
            let cut = Cut { document: 0, path: path.clone(), change: Change::Set(turned.clone()) };
            let Ok(text) = operate(&file, &helm.values, &[cut]) else { continue };
            let change = Change::Set(Value::from(text.as_str()));
            layers.add(path, (stands, turned), Site::Application { path: at.field("values"), change });
        }
    }
}

/// A chart of the repository and the charts within it, each with where its values belong in those of the outermost.
fn charts(bench: &Bench, number: usize, tree: &Arc<dyn Tree>) -> Vec<(FieldPath, FilePath)> {
    let source = bench.sources.get(number).filter(|source| source.chart.is_empty());
    let Some(outermost) = source.and_then(|source| FilePath::new(&source.path).ok()) else {
        return Vec::new();
    };
    let mut charts = vec![(FieldPath::root(), outermost)];
    let mut seen = 0;
    while let Some((prefix, chart)) = charts.get(seen).cloned() {
        seen += 1;
        if prefix.segments().len() > limits::MEND_DEPTH {
            break;
        }
        let Ok(folder) = chart.join("charts") else { continue };
        let inner = tree.list(&folder).unwrap_or_default().into_iter();
        let inner = inner.filter(|(_, entry)| *entry == Entry::Directory);
        for (name, _) in inner {
            let Ok(path) = folder.join(&name) else { continue };
            charts.push((prefix.field(called(&**tree, &chart, &name)), path));
        }
    }
    charts
}

/// What a chart calls one that it holds, where it has another name for it.
fn called(tree: &dyn Tree, chart: &FilePath, name: &str) -> String {
    let file = chart.join("Chart.yaml").ok().and_then(|file| read(tree, &file).ok());
    let declared = file.and_then(|text| yaml::parse(text.as_bytes()).ok()).unwrap_or_default();
    let of_name = |one: &&Value| one.str_at(&["name"]) == Some(name);
    let alias =
        declared.items_at(&["dependencies"]).iter().find(of_name).and_then(|one| one.str_at(&["alias"]));
    alias.filter(|alias| !alias.is_empty()).unwrap_or(name).to_owned()
}

/// The values of the charts within a chart of the repository, each with where they belong in the values of that.
fn subcharts(
    number: usize,
    tree: &Arc<dyn Tree>,
    charts: &[(FieldPath, FilePath)],
) -> Vec<(FieldPath, ValueFile)> {
    let files = charts.iter().filter(|(prefix, _)| !prefix.is_root()).filter_map(|(prefix, chart)| {
        let file = chart.join("values.yaml").ok()?;
        tree.entry(&file).ok().map(|_| (prefix.clone(), ValueFile { number, tree: tree.clone(), file }))
    });
    files.collect()
}

fn joined(prefix: &FieldPath, path: &FieldPath) -> FieldPath {
    prefix.segments().iter().chain(path.segments()).cloned().collect()
}

/// What is left of a path below another one.
fn below(path: &FieldPath, prefix: &FieldPath) -> Option<FieldPath> {
    let rest = path.segments().strip_prefix(prefix.segments())?;
    Some(rest.iter().cloned().collect())
}

/// One of a template may name no namespace.
fn is_same(one: &ObjectKey, other: &ObjectKey) -> bool {
    let is_near = one.namespace.is_empty() || other.namespace.is_empty() || one.namespace == other.namespace;
    one.group_kind() == other.group_kind() && one.name == other.name && is_near
}

fn keys(objects: &[Object]) -> BTreeSet<ObjectKey> {
    objects.iter().map(Object::key).collect()
}

/// Whether a path speaks of what is wanted, by its kind or a part of its name.
fn is_about(path: &FieldPath, what: &Lacking) -> bool {
    let (kind, name) = match what {
        Lacking::Object(key) => (key.kind.to_lowercase(), key.name.to_lowercase()),
        Lacking::Definition(kind) => ("crd".into(), kind.kind.to_lowercase()),
    };
    path.segments().iter().any(|segment| match segment {
        Segment::Field(part) => {
            let part = part.to_lowercase();
            part.contains(kind.as_str()) || part.len() > 2 && name.contains(part.as_str())
        }
        _ => false,
    })
}

/// All values that hold no others, with their paths.
fn walk<'v>(value: &'v Value, at: &FieldPath, found: &mut Vec<(FieldPath, &'v Value)>) {
    if at.segments().len() > limits::MEND_DEPTH {
        return;
    }
    for (key, part) in value.as_map().into_iter().flat_map(|map| map.iter()) {
        let here = at.field(key.clone());
        match part {
            Value::Map(_) => walk(part, &here, found),
            _ => found.push((here, part)),
        }
    }
}
