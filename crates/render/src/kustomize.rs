//! A kustomization, with the parameters of an Application.

mod edit;
mod edited;

use std::sync::Arc;

use lynceus_api::ApplicationSourceKustomize;
use lynceus_files::{Diagnostic, FilePath, Span, Tree, TreeError};
use lynceus_helm::World;
use lynceus_kustomize::{BuildError, Explanation, HelmOptions, LoadRestriction, Options, Reorder, Resource};
use lynceus_object::{Object, yaml};

use crate::environment::Environment;
use crate::explain::Field;
use crate::helm::capabilities;
use crate::job::{Job, Need, Trees};
use crate::{Made, Manifest, RenderError, limits};

use edit::Edit;
use edited::Edited;

/// The names that a kustomization may have.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Builds the kustomization at a path.
pub(crate) fn render(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    world: &mut dyn World,
) -> Result<Made, RenderError> {
    let prepared = Prepared::new(trees, path, job)?;
    let build = lynceus_kustomize::build(prepared.tree(), path, &prepared.options, job.bases, world);
    let build = build.map_err(|error| prepared.failed(error))?;
    let environment = &prepared.environment;
    let mut made = Made { names_revision: environment.names_revision(), ..Made::default() };
    made.diagnostics.extend(build.warnings.iter().map(|text| Diagnostic::warning(text.clone())));
    made.idle_patches = build.idle;
    if let Some(edited) = &prepared.edited {
        made.idle_patches.iter_mut().for_each(|patch| edited.place_idle(patch));
    }
    for (document, resource) in build.resources.list.into_iter().enumerate() {
        let span = resource.span.unwrap_or_else(|| Span { file: path.clone(), line: 0, column: 0 });
        match Object::new(resource.value) {
            Ok(object) => made.manifests.push(Manifest { object, span, document }),
            Err(_) => made.diagnostics.push(Diagnostic::error("a resource is no object").at(span)),
        }
    }
    Ok(made)
}

/// Explains a field of what the kustomization at a path becomes.
pub(crate) fn explain(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    field: &Field,
    world: &mut dyn World,
) -> Result<Option<Explanation>, RenderError> {
    let prepared = Prepared::new(trees, path, job)?;
    let built = lynceus_kustomize::build_traced(prepared.tree(), path, &prepared.options, job.bases, world);
    let (build, traces) = built.map_err(|error| prepared.failed(error))?;
    let is_meant = |resource: &&Resource| field.is_named(resource.kind_name(), resource.name());
    let resource = build.resources.list.iter().find(is_meant);
    let explanation = resource.and_then(|resource| traces.explain(resource, &field.path));
    Ok(match &prepared.edited {
        Some(edited) => explanation.map(|found| edited.placed(found)),
        None => explanation,
    })
}

/// Everything that a kustomization is built with.
struct Prepared<'a> {
    path: &'a FilePath,
    tree: &'a dyn Tree,
    options: Options,
    environment: Environment<'a>,
    edited: Option<Edited<'a>>,
}

impl<'a> Prepared<'a> {
    fn new(trees: &'a Trees<'_>, path: &'a FilePath, job: &Job<'a>) -> Result<Self, RenderError> {
        let wanted = job.source.kustomize.clone().unwrap_or_default();
        let options = options(&wanted, path, job)?;
        let environment = Environment::new(job.setting, job.source);
        let edited = edited(trees.own(), path, &wanted, &environment)?;
        Ok(Prepared { path, tree: trees.own(), options, environment, edited })
    }

    fn tree(&self) -> &dyn Tree {
        self.edited.as_ref().map_or(self.tree, |edited| edited as &dyn Tree)
    }

    fn failed(&self, error: BuildError) -> RenderError {
        match error {
            BuildError::Needs(needs) => RenderError::Needs(needs.into_iter().map(Need::Base).collect()),
            BuildError::Failed(mut source) => {
                if let Some(edited) = &self.edited {
                    edited.place(&mut source);
                }
                RenderError::Kustomize { path: self.path.clone(), source }
            }
        }
    }
}

/// Argo CD hands `kustomize.buildOptions` to the command line; these are the flags of it that mean something here.
fn options(
    wanted: &ApplicationSourceKustomize,
    path: &FilePath,
    job: &Job<'_>,
) -> Result<Options, RenderError> {
    let mut options = Options::default();
    let (mut kube_version, mut api_versions) = (None, Vec::new());
    let mut words = job.setting.kustomize_options.split_whitespace();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
        match flag {
            "--enable-helm" | "--enable_helm" if value != Some("false") => {
                options.helm = Some(HelmOptions {
                    capabilities: capabilities(&wanted.kube_version, &wanted.api_versions, job)?,
                    ..HelmOptions::default()
                });
            }
            "--load-restrictor" | "--load_restrictor" => match value.or_else(|| words.next()) {
                Some("LoadRestrictionsNone" | "none") => options.load_restriction = LoadRestriction::None,
                _ => options.load_restriction = LoadRestriction::RootOnly,
            },
            "--reorder" => match value.or_else(|| words.next()) {
                Some("none") => options.reorder = Reorder::None,
                _ => options.reorder = Reorder::Legacy,
            },
            "--helm-kube-version" | "--helm_kube_version" => {
                kube_version = value.or_else(|| words.next()).map(str::to_owned);
            }
            "--helm-api-versions" | "--helm_api_versions" => {
                api_versions.extend(value.or_else(|| words.next()).map(str::to_owned));
            }
            "--enable-managedby-label" | "--enable_managedby_label" => {
                options.managed_by_label = value != Some("false");
            }
            // What comes behind these is a value of theirs.
            "--helm-command" | "-e" | "--env" | "--mount" | "--network-name" if value.is_none() => {
                words.next();
            }
            "--enable-exec"
            | "--enable_exec"
            | "--enable-alpha-plugins"
            | "--enable_alpha_plugins"
            | "--network"
                if value != Some("false") =>
            {
                return Err(RenderError::KustomizeOption { path: path.clone(), option: word.to_owned() });
            }
            "--enable-exec"
            | "--enable_exec"
            | "--enable-alpha-plugins"
            | "--enable_alpha_plugins"
            | "--network" => {}
            // Off, or without effect: charts are rendered in process, and no container is run.
            "--enable-helm" | "--enable_helm" | "--helm-command" | "--helm_command" | "-e" | "--env"
            | "--mount" | "--network-name" | "--network_name" | "--helm-debug" | "--helm_debug"
            | "--as-current-user" | "--as_current_user" | "--stack-trace" | "--stack_trace" => {}
            _ => {
                let option = format!("{word}, which is no flag of kustomize build");
                return Err(RenderError::KustomizeOption { path: path.clone(), option });
            }
        }
    }
    if let Some(helm) = &mut options.helm {
        helm.kube_version = kube_version.unwrap_or_default();
        helm.api_versions = api_versions;
    }
    Ok(options)
}

/// The tree with the kustomization as the Application changes it, if it does.
fn edited<'a>(
    tree: &'a dyn Tree,
    path: &FilePath,
    options: &ApplicationSourceKustomize,
    environment: &Environment<'_>,
) -> Result<Option<Edited<'a>>, RenderError> {
    if !edit::is_needed(options) {
        return Ok(None);
    }
    for name in FILE_NAMES {
        let file = path.join(name)?;
        let content = match tree.read(&file, limits::FILE_BYTES) {
            Ok(content) => content,
            Err(TreeError::NotFound(_) | TreeError::NotA(..)) => continue,
            Err(error) => return Err(error.into()),
        };
        let failed = |reason: String| RenderError::Overrides { file: file.clone(), reason };
        let original = yaml::parse(&content).map_err(|error| failed(error.to_string()))?;
        let mut kustomization = original.clone();
        Edit { options, environment, tree, path }.apply(&mut kustomization).map_err(failed)?;
        let text = Arc::from(yaml::to_string(&kustomization).into_bytes());
        return Ok(Some(Edited { tree, file, content, original, kustomization, text }));
    }
    // The build says that there is none.
    Ok(None)
}
