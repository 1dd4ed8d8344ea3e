//! Which of a chart's dependencies count, under which names, and what the parent takes over of their values.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use lynceus_gotmpl::semver::{Constraints, Version};
use lynceus_gotmpl::{Map, Value};

use crate::chart::{Chart, Dependency, Metadata};
use crate::error::InstallError;
use crate::values::{self, Mode, Warnings};
use crate::warning::Warning;

/// A chart in one rendering: what the values decide about it is decided here, not in the chart.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) chart: Arc<Chart>,
    /// Shared by all that stand for one chart below two aliases, as in Helm.
    pub(crate) metadata: Rc<RefCell<Metadata>>,
    /// What takes the place of the chart's own values once it has taken over those of others.
    values: Option<Map>,
    pub(crate) dependencies: Vec<Node>,
}

impl Node {
    /// A chart with everything that is in `charts/`.
    pub(crate) fn new(chart: &Arc<Chart>) -> Self {
        Node {
            chart: chart.clone(),
            metadata: Rc::new(RefCell::new(chart.metadata.clone())),
            values: None,
            dependencies: chart.dependencies.iter().map(Node::new).collect(),
        }
    }

    /// The name, which is the alias if there is one.
    pub(crate) fn name(&self) -> String {
        self.metadata.borrow().name.clone()
    }

    /// What takes the place of the chart's own values, if it has taken over those of others. To be copied by whoever
    /// puts it anywhere.
    pub(crate) fn replaced_values(&self) -> Option<&Map> {
        self.values.as_ref()
    }

    /// The values of this chart and all below it under those given, which are not changed.
    pub(crate) fn coalesced(&self, values: &Map, mode: Mode, warnings: &mut Warnings) -> Result<Map, String> {
        let values = values.deep_copy().map_err(|failure| failure.to_string())?;
        values::coalesce(self, &values, "", mode, warnings)?;
        Ok(values)
    }
}

/// Turns dependencies on and off, gives them their names, and imports their values.
pub(crate) fn process(
    chart: &Arc<Chart>,
    values: &Map,
    warnings: &mut Warnings,
) -> Result<Node, InstallError> {
    let mut node = Node::new(chart);
    enable(&mut node, values, "", warnings).map_err(InstallError::Dependencies)?;
    import_all(&mut node, warnings).map_err(InstallError::Dependencies)?;
    Ok(node)
}

fn enable(node: &mut Node, values: &Map, path: &str, warnings: &mut Warnings) -> Result<(), String> {
    let mut wanted = node.metadata.borrow().dependencies.clone();
    if wanted.is_empty() {
        return Ok(());
    }
    node.dependencies = named(&node.dependencies, &wanted);
    for dependency in &mut wanted {
        dependency.name = dependency.effective_name().to_owned();
        dependency.enabled = true;
    }
    let all = node.coalesced(values, Mode::Coalesce, warnings)?;
    apply_tags(&mut wanted, &all, warnings);
    apply_conditions(&mut wanted, &all, path, warnings);
    let off: BTreeSet<String> = wanted
        .iter()
        .filter(|dependency| !dependency.enabled)
        .map(|dependency| dependency.name.clone())
        .collect();
    node.dependencies.retain(|inner| !off.contains(&inner.name()));
    wanted.retain(|dependency| !off.contains(&dependency.name));
    for inner in &mut node.dependencies {
        let path = format!("{path}{}.", inner.name());
        enable(inner, &all, &path, warnings)?;
    }
    node.metadata.borrow_mut().dependencies = wanted;
    Ok(())
}

/// The charts that nobody asks for, then those that are asked for in the order of `Chart.yaml`, by their aliases.
fn named(there: &[Node], wanted: &[Dependency]) -> Vec<Node> {
    let fits = |node: &Node, dependency: &Dependency| {
        let metadata = node.metadata.borrow();
        metadata.name == dependency.name && is_compatible(&dependency.version, &metadata.version)
    };
    let others = there.iter().filter(|node| !wanted.iter().any(|dependency| fits(node, dependency)));
    let mut nodes: Vec<Node> = others.cloned().collect();
    for dependency in wanted {
        let Some(found) = there.iter().find(|node| fits(node, dependency)) else { continue };
        let mut metadata = found.metadata.borrow().clone();
        if !dependency.alias.is_empty() {
            metadata.name.clone_from(&dependency.alias);
        }
        nodes.push(Node { metadata: Rc::new(RefCell::new(metadata)), ..found.clone() });
    }
    nodes
}

/// Whether a version lies in a range; what cannot be read lies in none.
pub(crate) fn is_compatible(range: &str, version: &str) -> bool {
    match (Version::parse(version), Constraints::parse(range)) {
        (Ok(version), Ok(range)) => range.check(&version),
        _ => false,
    }
}

fn apply_tags(wanted: &mut [Dependency], values: &Map, warnings: &mut Warnings) {
    let Ok(tags) = values::table(values, "tags") else { return };
    for dependency in wanted {
        let (mut on, mut off) = (false, false);
        for tag in &dependency.tags {
            match tags.get(tag) {
                Some(Value::Bool(true)) => on = true,
                Some(Value::Bool(false)) => off = true,
                Some(_) => warnings.push(
                    Warning::warn("returned non-bool value")
                        .about("tag", tag)
                        .about("chart", &dependency.name),
                ),
                None => {}
            }
        }
        dependency.enabled = on || !off;
    }
}

fn apply_conditions(wanted: &mut [Dependency], values: &Map, path: &str, warnings: &mut Warnings) {
    for dependency in wanted {
        let conditions = dependency.condition.trim().split(',').filter(|condition| !condition.is_empty());
        for condition in conditions {
            match value_at(values, &format!("{path}{condition}")) {
                Some(Value::Bool(enabled)) => {
                    dependency.enabled = enabled;
                    break;
                }
                Some(_) => warnings.push(
                    Warning::warn("returned non-bool value")
                        .about("path", condition)
                        .about("chart", &dependency.name),
                ),
                None => {}
            }
        }
    }
}

/// The value at a path of names, unless it is a table.
fn value_at(values: &Map, path: &str) -> Option<Value> {
    let (table, name) = match path.rsplit_once('.') {
        Some((table, name)) => (values::table(values, table).ok()?, name),
        None => (values.clone(), path),
    };
    table.get(name).filter(|value| value.as_map().is_none())
}

/// Imports values from the bottom up, so that a parent sees what its children have imported.
fn import_all(node: &mut Node, warnings: &mut Warnings) -> Result<(), String> {
    for inner in &mut node.dependencies {
        import_all(inner, warnings)?;
    }
    import(node, warnings)
}

fn import(node: &mut Node, warnings: &mut Warnings) -> Result<(), String> {
    let mut wanted = node.metadata.borrow().dependencies.clone();
    if wanted.is_empty() {
        return Ok(());
    }
    let all = node.coalesced(&Map::default(), Mode::Merge, warnings)?;
    let imported = Map::default();
    for dependency in &mut wanted {
        let mut told = Vec::new();
        for item in &dependency.import_values {
            let Some((child, parent)) = import_paths(item) else { continue };
            told.push(lynceus_object::value!({"child": child.as_str(), "parent": parent.as_str()}));
            let table = match values::table(&all, &format!("{}.{child}", dependency.name)) {
                Ok(table) => table,
                Err(error) => {
                    warnings.push(missing_table(item, &dependency.name).about("error", error));
                    continue;
                }
            };
            let table = if parent == "." { table } else { nested(&parent, table) };
            values::merge_tables(&imported, &table, Mode::Merge, warnings);
        }
        dependency.import_values = told;
    }
    node.metadata.borrow_mut().dependencies = wanted;
    if imported.is_empty() {
        // Nothing of them is used without being copied.
        node.values = Some(all);
        return Ok(());
    }
    let all = all.deep_copy().map_err(|failure| failure.to_string())?;
    values::merge_tables(&all, &imported, Mode::Merge, warnings);
    node.values = Some(all);
    Ok(())
}

/// What is said of values that cannot be imported, because they are not there.
fn missing_table(item: &lynceus_object::Value, chart: &str) -> Warning {
    match item {
        lynceus_object::Value::Map(_) => {
            Warning::warn("ImportValues missing table from chart").about("chart", chart)
        }
        _ => Warning::warn("ImportValues missing table"),
    }
}

/// Where imported values come from in the child, and where they go in the parent.
fn import_paths(item: &lynceus_object::Value) -> Option<(String, String)> {
    match item {
        lynceus_object::Value::Str(name) => Some((format!("exports.{name}"), ".".to_owned())),
        lynceus_object::Value::Map(map) => {
            let path = |name: &str| {
                map.get(name).map_or_else(
                    || "<nil>".to_owned(),
                    |value| values::shown(&values::to_template(&values::floats(value.clone()))),
                )
            };
            Some((path("child"), path("parent")))
        }
        _ => None,
    }
}

/// A table with tables around it.
fn nested(path: &str, table: Map) -> Map {
    path.rsplit('.').fold(table, |table, name| {
        let outer = Map::default();
        outer.insert(name, Value::Map(table));
        outer
    })
}
