//! What a template sees: `.Values`, `.Chart`, `.Release`, `.Files` and the rest.

use std::collections::BTreeMap;

use lynceus_gotmpl::types::STRING_MAP;
use lynceus_gotmpl::{Map, Str, Value};

use super::tables::VALUES;
use super::{capabilities, files};
use crate::capabilities::Capabilities;
use crate::chart::{ChartFile, Dependency, Metadata};
use crate::dependencies::Node;
use crate::go::path;
use crate::values;

/// What a chart is rendered for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) revision: i64,
    pub(crate) is_upgrade: bool,
    pub(crate) is_install: bool,
}

/// A template, and what its dot is.
pub(super) struct Template<'a> {
    /// The full path: charts in `charts/` go by the names that they have here.
    pub(super) name: String,
    pub(super) file: &'a ChartFile,
    /// What all templates of the chart share.
    scope: Map,
    base_path: String,
}

impl Template<'_> {
    /// The dot, in which every template finds its own name.
    pub(super) fn dot(&self) -> Value {
        let own = Map::passing(
            &VALUES,
            BTreeMap::from([
                (Str::from("Name"), Value::from(self.name.as_str())),
                (Str::from("BasePath"), Value::from(self.base_path.as_str())),
            ]),
        );
        self.scope.insert_passing("Template", own);
        Value::Map(self.scope.as_type(&VALUES))
    }
}

/// All templates, in the order in which they are parsed and executed: the deepest first.
pub(super) fn templates<'a>(
    chart: &'a Node,
    values: &Map,
    release: &Release<'_>,
    capabilities: &Capabilities,
) -> Vec<Template<'a>> {
    let shared = Shared { release: self::release(release), capabilities: capabilities::object(capabilities) };
    let mut found = BTreeMap::new();
    scope(chart, None, values.as_type(&VALUES), &chart.name(), &shared, &mut found);
    let mut templates: Vec<Template<'a>> = found.into_values().collect();
    templates.sort_by(|a, b| {
        let slashes = |name: &str| name.matches('/').count();
        slashes(&b.name).cmp(&slashes(&a.name)).then_with(|| b.name.cmp(&a.name))
    });
    templates
}

struct Shared {
    release: Value,
    capabilities: Value,
}

/// Makes the scope of a chart and of those below it.
fn scope<'a>(
    chart: &'a Node,
    parent_values: Option<&Map>,
    mut own_values: Map,
    full_path: &str,
    shared: &Shared,
    found: &mut BTreeMap<String, Template<'a>>,
) -> Map {
    if let Some(parent) = parent_values {
        own_values = values::table(parent, &chart.name())
            .map_or_else(|_| Map::typed(&VALUES, BTreeMap::new()), |table| table.as_type(&VALUES));
    }
    let subcharts = Map::default();
    let metadata = metadata(&chart.metadata.borrow(), parent_values.is_none());
    let scope: Map = [
        ("Chart", metadata),
        ("Files", files::files(&chart.chart.files)),
        ("Release", shared.release.clone()),
        ("Capabilities", shared.capabilities.clone()),
        ("Values", Value::Map(own_values.clone())),
        ("Subcharts", Value::Map(subcharts.clone())),
    ]
    .into_iter()
    .map(|(name, value)| (Str::from(name), value))
    .collect();
    for inner in &chart.dependencies {
        let name = inner.name();
        let path = format!("{full_path}/charts/{name}");
        let inner = self::scope(inner, Some(&own_values), Map::default(), &path, shared, found);
        subcharts.insert(name, Value::Map(inner));
    }
    let is_library = chart.metadata.borrow().is_library();
    let usable = |file: &&ChartFile| !is_library || path::base(&file.name).starts_with('_');
    for file in chart.chart.templates.iter().filter(usable) {
        let name = path::join(&[full_path, &file.name]);
        let base_path = path::join(&[full_path, "templates"]);
        found.insert(name.clone(), Template { name, file, scope: scope.clone(), base_path });
    }
    scope
}

fn release(release: &Release<'_>) -> Value {
    Value::map([
        ("Name", Value::from(release.name)),
        ("Namespace", Value::from(release.namespace)),
        ("Revision", Value::int(release.revision)),
        ("IsUpgrade", Value::Bool(release.is_upgrade)),
        ("IsInstall", Value::Bool(release.is_install)),
        ("Service", Value::from("Helm")),
    ])
}

fn metadata(chart: &Metadata, is_root: bool) -> Value {
    let annotations = match &chart.annotations {
        Some(map) => Map::typed(
            &STRING_MAP,
            map.iter().map(|(key, text)| (key.as_str().into(), Value::from(text.as_str()))).collect(),
        ),
        None => Map::nil(&STRING_MAP),
    };
    let maintainers = chart.maintainers.iter().map(|maintainer| {
        Value::map([
            ("Name", Value::from(maintainer.name.as_str())),
            ("Email", Value::from(maintainer.email.as_str())),
            ("URL", Value::from(maintainer.url.as_str())),
        ])
    });
    Value::map([
        ("Name", Value::from(chart.name.as_str())),
        ("Home", Value::from(chart.home.as_str())),
        ("Sources", texts(&chart.sources)),
        ("Version", Value::from(chart.version.as_str())),
        ("Description", Value::from(chart.description.as_str())),
        ("Keywords", texts(&chart.keywords)),
        ("Maintainers", Value::list(maintainers)),
        ("Icon", Value::from(chart.icon.as_str())),
        ("APIVersion", Value::from(chart.api_version.as_str())),
        ("Condition", Value::from(chart.condition.as_str())),
        ("Tags", Value::from(chart.tags.as_str())),
        ("AppVersion", Value::from(chart.app_version.as_str())),
        ("Deprecated", Value::Bool(chart.deprecated)),
        ("Annotations", Value::Map(annotations)),
        ("KubeVersion", Value::from(chart.kube_version.as_str())),
        ("Dependencies", Value::list(chart.dependencies.iter().map(dependency))),
        ("Type", Value::from(chart.kind.as_str())),
        ("IsRoot", Value::Bool(is_root)),
    ])
}

fn dependency(dependency: &Dependency) -> Value {
    let imports = dependency.import_values.iter().map(|import| match values::to_template(import) {
        // Once they are processed, Helm has them as maps of strings.
        Value::Map(map) => Value::Map(map.as_type(&STRING_MAP)),
        other => other,
    });
    Value::map([
        ("Name", Value::from(dependency.name.as_str())),
        ("Version", Value::from(dependency.version.as_str())),
        ("Repository", Value::from(dependency.repository.as_str())),
        ("Condition", Value::from(dependency.condition.as_str())),
        ("Tags", texts(&dependency.tags)),
        ("Enabled", Value::Bool(dependency.enabled)),
        ("ImportValues", Value::list(imports)),
        ("Alias", Value::from(dependency.alias.as_str())),
    ])
}

fn texts(texts: &[String]) -> Value {
    Value::list(texts.iter().map(|text| Value::from(text.as_str())))
}
