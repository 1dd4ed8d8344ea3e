//! From a chart and the user's values to what Helm would install.

use std::collections::BTreeMap;
use std::sync::Arc;

use lynceus_gotmpl::Map;

use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::dependencies::{self, Node};
use crate::engine::{self, Lookup, RenderError, World};
use crate::error::{HelmError, InstallError};
use crate::go::{path, text};
use crate::manifest::{self, Hook, Manifest};
use crate::provenance::Traces;
use crate::schema;
use crate::values::{self, Mode, UserValues, Warnings};
use crate::warning::Warning;

/// What a chart is rendered for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The release's name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// Which revision of the release it would be.
    pub revision: i64,
    /// Whether the release is there already.
    pub is_upgrade: bool,
}

impl Release {
    /// The first revision of a release.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Release { name: name.into(), namespace: namespace.into(), revision: 1, is_upgrade: false }
    }
}

/// How to render.
#[derive(Clone, Default)]
pub struct Options {
    /// Whether values are not checked against schemas.
    pub skip_schema_validation: bool,
    /// Whether a value that is not there is an error.
    pub strict: bool,
    /// A cluster for `lookup`, which finds nothing without one.
    pub lookup: Option<Arc<dyn Lookup>>,
}

/// What a chart gives.
#[derive(Clone, Debug, Default)]
pub struct Rendering {
    /// What is installed, in that order.
    pub manifests: Vec<Manifest>,
    /// What is applied at certain times, in the order in which Helm prints it.
    pub hooks: Vec<Hook>,
    /// The definitions in `crds/`, of the chart and of those below it.
    pub crds: Vec<Crd>,
    /// What the chart tells who installs it.
    pub notes: String,
    /// What Helm says on the way about values that it leaves out. It does not say again what it said of the chart.
    pub warnings: Vec<Warning>,
}

/// A definition of `crds/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crd {
    /// The file, with the chart's path.
    pub source: String,
    /// Its content.
    pub content: Arc<[u8]>,
}

const NOTES: &str = "NOTES.txt";

/// Renders a chart as `helm template` does.
pub fn render(
    chart: &Arc<Chart>,
    values: &UserValues,
    release: &Release,
    capabilities: &Capabilities,
    options: &Options,
    world: &mut dyn World,
) -> Result<Rendering, HelmError> {
    let mode =
        engine::Mode { strict: options.strict, lookup: options.lookup.clone(), ..engine::Mode::default() };
    run(chart, values, release, capabilities, options, &mode, world).map(|(rendering, _)| rendering)
}

/// Renders a chart, and keeps what made every piece of it. That takes several times as long.
pub fn render_traced(
    chart: &Arc<Chart>,
    values: &UserValues,
    release: &Release,
    capabilities: &Capabilities,
    options: &Options,
    world: &mut dyn World,
) -> Result<(Rendering, Traces), HelmError> {
    let mode =
        engine::Mode { strict: options.strict, lint: false, lookup: options.lookup.clone(), trace: true };
    run(chart, values, release, capabilities, options, &mode, world)
}

fn run(
    chart: &Arc<Chart>,
    values: &UserValues,
    release: &Release,
    capabilities: &Capabilities,
    options: &Options,
    mode: &engine::Mode,
    world: &mut dyn World,
) -> Result<(Rendering, Traces), HelmError> {
    check(chart, release)?;
    let mut warnings = Warnings::new();
    let merged = merged(chart, values, options, &mut warnings);
    // Whatever comes of it, this has been said.
    warnings.iter().for_each(|warning| world.tell(warning));
    let (node, merged) = merged?;
    check_kube_version(&node, capabilities)?;
    let scope = engine::Release {
        name: &release.name,
        namespace: &release.namespace,
        revision: release.revision,
        is_upgrade: release.is_upgrade,
        is_install: !release.is_upgrade,
    };
    let mut outputs = engine::render(&node, &merged, &scope, capabilities, mode, world)?;
    let notes = take_notes(&mut outputs.texts, &node.name());
    let (hooks, manifests) = manifest::sort(&outputs.texts)?;
    let rendering = Rendering { manifests, hooks, crds: crds(&node, &node.name()), notes, warnings };
    let layers = if mode.trace { values.layers.clone() } else { Vec::new() };
    Ok((rendering, Traces { node, layers, outputs: outputs.traces }))
}

/// The chart with the dependencies that count, and the values that templates see.
fn merged(
    chart: &Arc<Chart>,
    values: &UserValues,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<(Node, Map), HelmError> {
    let given = values::to_template_map(&values.values);
    let node = dependencies::process(chart, &given, warnings)?;
    let values = node.coalesced(&given, Mode::Coalesce, warnings).map_err(InstallError::Coalesce)?;
    if !options.skip_schema_validation {
        schema::validate(&node, &values)?;
    }
    Ok((node, values))
}

/// What is looked at before anything is done.
fn check(chart: &Chart, release: &Release) -> Result<(), InstallError> {
    if !matches!(chart.metadata.kind.as_str(), "" | "application") {
        return Err(InstallError::NotInstallable(chart.metadata.kind.clone()));
    }
    let missing = chart.missing_dependencies();
    if !missing.is_empty() {
        return Err(InstallError::MissingDependencies(missing));
    }
    check_name(&release.name)
}

fn check_name(name: &str) -> Result<(), InstallError> {
    let wrong = |reason| Err(InstallError::ReleaseName { name: text::quote(name), reason });
    if name.is_empty() {
        return wrong("no name provided");
    }
    let is_label = |label: &str| {
        let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        label.bytes().all(|byte| inner(&byte) || byte == b'-')
            && label.as_bytes().first().is_some_and(inner)
            && label.as_bytes().last().is_some_and(inner)
    };
    if name.len() > 53 || !name.split('.').all(is_label) {
        return wrong(
            "invalid release name, must match regex \
             ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be longer \
             than 53",
        );
    }
    Ok(())
}

fn check_kube_version(node: &Node, capabilities: &Capabilities) -> Result<(), RenderError> {
    let wanted = node.metadata.borrow().kube_version.clone();
    let found = &capabilities.kube_version;
    if wanted.is_empty() || dependencies::is_compatible(&wanted, &found.normalized) {
        return Ok(());
    }
    Err(RenderError::KubeVersion { wanted, found: found.version.clone() })
}

/// Takes all notes out of the outputs, and gives those of the chart itself.
fn take_notes(outputs: &mut BTreeMap<String, String>, chart: &str) -> String {
    let own = path::join(&[chart, "templates", NOTES]);
    let notes = outputs.get(&own).cloned().unwrap_or_default();
    outputs.retain(|name, _| !name.ends_with(NOTES));
    notes
}

fn crds(node: &Node, full_path: &str) -> Vec<Crd> {
    let own = node.chart.files.iter().filter(|file| file.is_crd());
    let mut crds: Vec<Crd> = own
        .map(|file| Crd { source: path::join(&[full_path, &file.name]), content: file.data.clone() })
        .collect();
    for inner in &node.dependencies {
        crds.extend(self::crds(inner, &format!("{full_path}/charts/{}", inner.name())));
    }
    crds
}
