//! A Helm chart, with the parameters of an Application.

mod dependencies;
mod values;

use lynceus_api::ApplicationSourceHelm;
use lynceus_files::{Diagnostic, FilePath, Span};
use lynceus_helm::{Capabilities, KubeVersion, Options, Output, Release, World};
use lynceus_object::{manifest, yaml};

use crate::environment::Environment;
use crate::job::{Job, Need, Trees};
use crate::{Made, Manifest, RenderError};

/// Renders the chart at a path.
pub(crate) fn render(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    world: &mut dyn World,
) -> Result<Made, RenderError> {
    let unset = ApplicationSourceHelm::default();
    let helm = job.source.helm.as_ref().unwrap_or(&unset);
    let environment = Environment::new(job.setting, job.source);
    let mut needs = Vec::new();
    let chart = dependencies::load(trees.own(), path, job.fetched, &mut needs)?;
    let values = values::Reader { trees, path, job, environment: &environment }.read(helm, &mut needs)?;
    if !needs.is_empty() {
        return Err(RenderError::Needs(needs));
    }
    let failed =
        |error: lynceus_helm::HelmError| RenderError::Helm { path: path.clone(), source: Box::new(error) };
    let capabilities = capabilities(helm, job)?;
    let options = Options { skip_schema_validation: helm.skip_schema_validation, ..Options::default() };
    let rendering =
        lynceus_helm::render(&chart, &values, &release(helm, job), &capabilities, &options, world)
            .map_err(failed)?;
    let output = Output { include_crds: !helm.skip_crds, skip_tests: helm.skip_tests, ..Output::default() };
    let mut made = Made::default();
    made.diagnostics.extend(rendering.warnings.iter().map(|text| Diagnostic::warning(text.clone())));
    for (source, text) in output.documents(&rendering) {
        read(path, &source, &text, &mut made);
    }
    Ok(made)
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

fn capabilities(helm: &ApplicationSourceHelm, job: &Job<'_>) -> Result<Capabilities, RenderError> {
    let wanted = if helm.kube_version.is_empty() { &job.setting.kube_version } else { &helm.kube_version };
    let version = match wanted.as_str() {
        "" => None,
        text => Some(
            KubeVersion::parse(text)
                .map_err(|reason| RenderError::KubeVersion { version: text.to_owned(), reason })?,
        ),
    };
    let apis: &[_] =
        if helm.api_versions.is_empty() { &job.setting.api_versions } else { &helm.api_versions };
    let apis: Vec<String> = apis.iter().map(ToString::to_string).collect();
    Ok(Capabilities::default().with(version, &apis))
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
