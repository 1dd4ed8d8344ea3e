//! A Helm chart, with the parameters of an Application.

mod dependencies;
mod values;

use std::sync::Arc;

use lynceus_api::ApplicationSourceHelm;
use lynceus_files::{Diagnostic, FilePath, Span};
use lynceus_helm::{
    Capabilities, Chart, Explanation, KubeVersion, Options, Output, Release, UserValues, World,
};
use lynceus_object::{Str, manifest, yaml};

use crate::environment::Environment;
use crate::explain::Field;
use crate::job::{Job, Need, Trees};
use crate::{Made, Manifest, RenderError};

/// Everything that Helm is given.
struct Prepared {
    chart: Arc<Chart>,
    values: UserValues,
    release: Release,
    capabilities: Capabilities,
    options: Options,
    names_revision: bool,
}

fn prepare(
    trees: &Trees<'_>,
    path: &FilePath,
    helm: &ApplicationSourceHelm,
    job: &Job<'_>,
) -> Result<Prepared, RenderError> {
    let environment = Environment::new(job.setting, job.source);
    let mut needs = Vec::new();
    let chart = dependencies::load(trees, path, job, &mut needs)?;
    let values = values::Reader { trees, path, job, environment: &environment }.read(helm, &mut needs)?;
    if !needs.is_empty() {
        return Err(RenderError::Needs(needs));
    }
    let options = Options { skip_schema_validation: helm.skip_schema_validation, ..Options::default() };
    Ok(Prepared {
        chart,
        values,
        release: release(helm, job),
        capabilities: capabilities(&helm.kube_version, &helm.api_versions, job)?,
        options,
        names_revision: environment.names_revision(),
    })
}

/// Renders the chart at a path.
pub(crate) fn render(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    world: &mut dyn World,
) -> Result<Made, RenderError> {
    let helm = job.source.helm.clone().unwrap_or_default();
    let Prepared { chart, values, release, capabilities, options, names_revision } =
        prepare(trees, path, &helm, job)?;
    let rendering = lynceus_helm::render(&chart, &values, &release, &capabilities, &options, world)
        .map_err(|error| failed(path, error))?;
    let output = Output { include_crds: !helm.skip_crds, skip_tests: helm.skip_tests, ..Output::default() };
    let mut made = Made { names_revision, ..Made::default() };
    let warnings = chart.warnings().iter().chain(&rendering.warnings);
    made.diagnostics.extend(warnings.map(|warning| Diagnostic::warning(warning.to_string())));
    for (source, text) in output.documents(&rendering) {
        read(path, source, &text, &mut made);
    }
    Ok(made)
}

/// Explains a field of an object that the chart at a path makes; none if there is no such field.
pub(crate) fn explain(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    field: &Field,
    world: &mut dyn World,
) -> Result<Option<Explanation>, RenderError> {
    let helm = job.source.helm.clone().unwrap_or_default();
    let Prepared { chart, values, release, capabilities, options, .. } = prepare(trees, path, &helm, job)?;
    let (rendering, traces) =
        lynceus_helm::render_traced(&chart, &values, &release, &capabilities, &options, world)
            .map_err(|error| failed(path, error))?;
    let hooks = rendering.hooks.iter().map(|hook| &hook.manifest);
    let mut manifests = rendering.manifests.iter().chain(hooks);
    let wanted = manifests.find(|one| {
        let found = manifest::read(path, one.content.as_bytes(), &yaml::Options::default());
        found.objects.iter().any(|placed| field.is_of(&placed.object))
    });
    Ok(wanted.and_then(|manifest| traces.explain(manifest, &field.path)))
}

fn failed(path: &FilePath, error: lynceus_helm::HelmError) -> RenderError {
    RenderError::Helm { path: path.clone(), source: Box::new(error) }
}

/// Argo CD calls the release as the application, without the namespace that it may be qualified by.
fn release(helm: &ApplicationSourceHelm, job: &Job<'_>) -> Release {
    let application = job.setting.application.as_str();
    let own = application.rsplit_once('_').map_or(application, |(_, name)| name);
    let name = if helm.release_name.is_empty() { own } else { helm.release_name.as_str() };
    let namespace = if helm.namespace.is_empty() { &job.setting.namespace } else { &helm.namespace };
    // Helm itself takes the namespace of a kubeconfig, which has none.
    let namespace = if namespace.is_empty() { "default" } else { namespace.as_str() };
    Release::new(name, namespace)
}

/// What charts are told of the cluster: what the source says, else what is known of it.
pub(crate) fn capabilities(
    kube_version: &Str,
    api_versions: &[Str],
    job: &Job<'_>,
) -> Result<Capabilities, RenderError> {
    let wanted = if kube_version.is_empty() { &job.setting.kube_version } else { kube_version };
    let version = match wanted.as_str() {
        "" => None,
        text => Some(
            KubeVersion::parse(&plain(text))
                .map_err(|reason| RenderError::KubeVersion { version: text.to_owned(), reason })?,
        ),
    };
    let apis: &[_] = if api_versions.is_empty() { &job.setting.api_versions } else { api_versions };
    let apis: Vec<String> = apis.iter().map(ToString::to_string).collect();
    Ok(Capabilities::default().with(version, &apis))
}

/// A version without what clouds add to it: of `v1.36.3-cloud.7` Argo CD tells Helm `1.36.3`.
pub(crate) fn plain(version: &str) -> String {
    let numbers = version.trim().trim_start_matches('v');
    let end = numbers.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(numbers.len());
    numbers[..end].trim_end_matches('.').to_owned()
}

/// Reads the objects of one document. The template is where they come from.
fn read(path: &FilePath, source: &str, text: &[u8], made: &mut Made) {
    // `chart/templates/web.yaml`: what comes after the chart's name is below the source's path.
    let inside = source.split_once('/').map_or(source, |(_, inside)| inside);
    let file = path.join(inside).unwrap_or_else(|_| path.clone());
    let found = manifest::read(&file, text, &yaml::Options::default());
    made.manifests.extend(found.objects.into_iter().map(|placed| Manifest {
        object: placed.object,
        span: Span { file: file.clone(), line: 0, column: 0 },
        document: placed.document,
    }));
    // Lines are those of the output, which nobody has seen.
    made.diagnostics.extend(
        found
            .diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.at(Span { file: file.clone(), line: 0, column: 0 })),
    );
}

/// Notes what has yet to be got.
fn need(needs: &mut Vec<Need>, need: Need) {
    if !needs.contains(&need) {
        needs.push(need);
    }
}
