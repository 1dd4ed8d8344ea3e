//! Where a field of a rendered object comes from: the place in a template, and the values that fed it.

use std::collections::BTreeMap;

use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::{Location, Made, Trace};
use lynceus_object::{FieldPath, Segment, yaml};

use crate::dependencies::Node;
use crate::manifest::{self, Manifest};
use crate::values::{self, Layer, Origin};

/// What is known of how a rendering came about. It belongs to one thread.
pub struct Traces {
    pub(crate) node: Node,
    pub(crate) layers: Vec<Layer>,
    pub(crate) outputs: BTreeMap<String, Trace>,
}

/// Why a field has the value that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The place in the innermost template that printed it.
    pub place: Place,
    /// The templates on the way there, outermost first, each with the place that it was called from.
    pub calls: Vec<(String, Option<Place>)>,
    /// All places that printed a part of it, those of the innermost templates first: quotes around a text are another's than the text.
    pub parts: Vec<Place>,
    /// The values that fed it.
    pub values: Vec<Fed>,
    /// The values that decided that it is there at all.
    pub conditions: Vec<Fed>,
}

/// A place in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The template.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

/// A value that a template used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fed {
    /// The path as the user would write it: values of a chart in `charts/` begin with its name.
    pub path: String,
    /// What gave it, if it is one of `.Values`.
    pub origin: Option<Origin>,
}

impl Traces {
    /// Explains a field of a manifest; none if the template made no such field.
    pub fn explain(&self, manifest: &Manifest, path: &FieldPath) -> Option<Explanation> {
        let trace = self.outputs.get(&manifest.source)?;
        let output = trace.text().as_str();
        let document = *manifest::split(output).get(manifest.index)?;
        let start = document.as_ptr().addr().checked_sub(output.as_ptr().addr())?;
        let (from, to) = field(document, path)?;
        let made: Vec<Made> = (from..to).filter_map(|at| trace.at(start + at)).collect();
        let main = made.iter().find(|made| !made.is_text).or(made.first())?;
        let charts = charts(&manifest.source);
        let mut paths: Vec<&gotmpl::Path> = made.iter().flat_map(|made| &made.paths).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut parts: Vec<&Made> = made.iter().filter(|made| !made.is_text).collect();
        parts.sort_by_key(|made| std::cmp::Reverse(made.calls.len()));
        let mut parts: Vec<Place> = parts.into_iter().map(|made| place(&made.location)).collect();
        parts.dedup();
        Some(Explanation {
            parts,
            place: place(&main.location),
            calls: main
                .calls
                .iter()
                .map(|call| (call.template.clone(), call.from.as_ref().map(place)))
                .collect(),
            values: paths.into_iter().map(|path| self.fed(&charts, path)).collect(),
            conditions: main.conditions.iter().map(|path| self.fed(&charts, path)).collect(),
        })
    }

    fn fed(&self, charts: &[&str], path: &gotmpl::Path) -> Fed {
        match path.0.split_first() {
            Some((gotmpl::Segment::Key(first), rest)) if first == "Values" && !rest.is_empty() => {
                let own: Vec<Segment> = rest.iter().map(segment).collect();
                let full: FieldPath = charts
                    .iter()
                    .map(|name| Segment::Field((*name).into()))
                    .chain(own.iter().cloned())
                    .collect();
                Fed { path: format!(".Values.{full}"), origin: self.origin(charts, &own) }
            }
            _ => Fed { path: path.to_string(), origin: None },
        }
    }

    /// Who gave a value of a chart: the user, or the outermost chart that says something about it.
    fn origin(&self, charts: &[&str], own: &[Segment]) -> Option<Origin> {
        let is_global = matches!(own.first(), Some(Segment::Field(name)) if name == "global");
        for level in 0..=charts.len() {
            // Further out, a global goes by its own name, everything else by the names of the charts.
            let inner = if is_global { &charts[charts.len()..] } else { &charts[level..] };
            let path: FieldPath =
                inner.iter().map(|name| Segment::Field((*name).into())).chain(own.iter().cloned()).collect();
            let given = charts[..level].iter().map(|name| Segment::Field((*name).into()));
            let given: FieldPath = given.chain(path.segments().iter().cloned()).collect();
            if let Some(origin) = values::in_layers(&self.layers, &given) {
                return Some(origin.clone());
            }
            let (chart, full_path) = self.chart(&charts[..level])?;
            if values::at(&chart.chart.values, &path).is_some() {
                return Some(Origin::Chart(full_path));
            }
        }
        None
    }

    fn chart(&self, names: &[&str]) -> Option<(&Node, String)> {
        let mut path = self.node.name();
        let mut node = &self.node;
        for name in names {
            node = node.dependencies.iter().find(|inner| inner.name() == *name)?;
            path = format!("{path}/charts/{name}");
        }
        Some((node, path))
    }
}

/// The charts that a template is inside of, without the outermost.
fn charts(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut parts = template.split('/').skip(1);
    while let (Some("charts"), Some(name)) = (parts.next(), parts.next()) {
        names.push(name);
    }
    names
}

fn segment(segment: &gotmpl::Segment) -> Segment {
    match segment {
        gotmpl::Segment::Key(name) => Segment::Field(name.as_str().into()),
        gotmpl::Segment::Index(index) => Segment::Index(*index),
    }
}

fn place(location: &Location) -> Place {
    Place {
        template: location.name.clone(),
        line: location.line,
        column: location.column.map_or(1, |column| column + 1),
    }
}

/// Where the value of a field stands in a document, in bytes; its key, if the value is a collection.
fn field(document: &str, path: &FieldPath) -> Option<(usize, usize)> {
    let (line, column) = yaml::locate(document.as_bytes(), 0, path)?;
    let start: usize = document.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
    let line = document[start..].lines().next()?;
    let column: usize = line.chars().take(column as usize - 1).map(char::len_utf8).sum();
    let rest = &line[column..];
    let is_item =
        matches!(path.segments().last(), Some(Segment::Index(_) | Segment::Key(_) | Segment::Value(_)));
    let value = if is_item { Some(0) } else { rest.find(": ").map(|at| at + 2) };
    let from = start + column;
    match value.filter(|at| !rest[*at..].trim().is_empty()) {
        Some(at) => Some((from + at, from + rest.len())),
        None => Some((from, from + rest.len())),
    }
}
