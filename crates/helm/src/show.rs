//! `helm show`: what is in a chart.

use lynceus_object::jsonpath::{FindError, MissingKeys, ParseError, Template};
use lynceus_object::{Map, Value, yaml};

use crate::chart::{Chart, ChartFile, Dependency, Metadata};

/// What to show of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Everything.
    All,
    /// `Chart.yaml`, as Helm understands it.
    Chart,
    /// `values.yaml`, as it is.
    Values,
    /// The README.
    Readme,
    /// What is in `crds/`, also of the dependencies.
    Crds,
}

/// Why a chart cannot be shown as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The template for the values cannot be read.
    #[error("error parsing jsonpath {template}: {reason}")]
    JsonPath {
        /// The template.
        template: String,
        /// What is wrong with it.
        reason: ParseError,
    },
    /// The template reaches a bound.
    #[error("error executing jsonpath {template}: {reason}")]
    Limit {
        /// The template.
        template: String,
        /// The bound.
        reason: FindError,
    },
}

/// What `helm show` prints. With a `jsonpath`, what that prints of the values stands in their place.
pub fn show(chart: &Chart, what: Show, jsonpath: Option<&str>) -> Result<Vec<u8>, ShowError> {
    let mut out = Vec::new();
    let wants = |one: Show| what == one || what == Show::All;
    if wants(Show::Chart) {
        line(&mut out, yaml::to_string(&Value::Map(metadata(&chart.metadata))).as_bytes());
    }
    let values = chart.raw.iter().find(|file| file.name == "values.yaml");
    if let Some(values) = values.filter(|_| wants(Show::Values)) {
        if what == Show::All {
            line(&mut out, b"---");
        }
        match jsonpath.filter(|template| !template.is_empty()) {
            Some(template) => out.extend(chosen(chart, template)?),
            None => line(&mut out, &values.data),
        }
    }
    if let Some(readme) = readme(chart).filter(|_| wants(Show::Readme)) {
        if what == Show::All {
            line(&mut out, b"---");
        }
        line(&mut out, &readme.data);
    }
    if wants(Show::Crds) {
        for crd in crds(chart) {
            if !crd.data.starts_with(b"---") {
                line(&mut out, b"---");
            }
            line(&mut out, &crd.data);
        }
    }
    Ok(out)
}

/// What a template prints of the chart's values. Helm prints nothing, and is content, if it leads nowhere;
/// but a bound of ours is no answer of Helm's, and so is told.
fn chosen(chart: &Chart, template: &str) -> Result<Vec<u8>, ShowError> {
    let parsed = Template::parse(template)
        .map_err(|reason| ShowError::JsonPath { template: template.to_owned(), reason })?;
    match parsed.print(&Value::Map(chart.values.clone()), MissingKeys::Refused) {
        Err(reason @ (FindError::TooDeep | FindError::TooMany)) => {
            Err(ShowError::Limit { template: template.to_owned(), reason })
        }
        printed => Ok(printed.unwrap_or_default()),
    }
}

fn line(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
    out.push(b'\n');
}

fn readme(chart: &Chart) -> Option<&ChartFile> {
    let is_readme = |name: &str| matches!(name, "readme.md" | "readme.txt" | "readme");
    chart.files.iter().find(|file| is_readme(&file.name.to_lowercase()))
}

fn crds(chart: &Chart) -> Vec<&ChartFile> {
    let mut crds: Vec<&ChartFile> = chart.files.iter().filter(|file| file.is_crd()).collect();
    for inner in &chart.dependencies {
        crds.extend(self::crds(inner));
    }
    crds
}

/// `Chart.yaml` as a value, without what is empty.
pub(crate) fn metadata(chart: &Metadata) -> Map {
    let mut map = Map::new();
    for (name, text) in [
        ("name", &chart.name),
        ("home", &chart.home),
        ("version", &chart.version),
        ("description", &chart.description),
        ("icon", &chart.icon),
        ("apiVersion", &chart.api_version),
        ("condition", &chart.condition),
        ("tags", &chart.tags),
        ("appVersion", &chart.app_version),
        ("kubeVersion", &chart.kube_version),
        ("type", &chart.kind),
    ] {
        put(&mut map, name, text);
    }
    for (name, list) in [("sources", &chart.sources), ("keywords", &chart.keywords)] {
        if !list.is_empty() {
            map.insert(name, list.clone());
        }
    }
    if chart.deprecated {
        map.insert("deprecated", true);
    }
    if let Some(annotations) = chart.annotations.as_ref().filter(|map| !map.is_empty()) {
        map.insert(
            "annotations",
            annotations.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect::<Map>(),
        );
    }
    if !chart.maintainers.is_empty() {
        let maintainers = chart.maintainers.iter().map(|maintainer| {
            let mut map = Map::new();
            put(&mut map, "name", &maintainer.name);
            put(&mut map, "email", &maintainer.email);
            put(&mut map, "url", &maintainer.url);
            map
        });
        map.insert("maintainers", maintainers.collect::<Value>());
    }
    if !chart.dependencies.is_empty() {
        map.insert("dependencies", chart.dependencies.iter().map(dependency).collect::<Value>());
    }
    map
}

/// A dependency as a value: its name and repository are told even when there is nothing to tell.
pub(crate) fn dependency(dependency: &Dependency) -> Map {
    let mut map = Map::new();
    map.insert("name", dependency.name.as_str());
    map.insert("repository", dependency.repository.as_str());
    put(&mut map, "version", &dependency.version);
    put(&mut map, "condition", &dependency.condition);
    put(&mut map, "alias", &dependency.alias);
    if !dependency.tags.is_empty() {
        map.insert("tags", dependency.tags.clone());
    }
    if dependency.enabled {
        map.insert("enabled", true);
    }
    if !dependency.import_values.is_empty() {
        map.insert("import-values", dependency.import_values.clone());
    }
    map
}

fn put(map: &mut Map, name: &str, text: &str) {
    if !text.is_empty() {
        map.insert(name, text);
    }
}
