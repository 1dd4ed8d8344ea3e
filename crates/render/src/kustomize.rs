//! A kustomization, with the parameters of an Application.

mod edit;

use std::sync::Arc;

use lynceus_api::ApplicationSourceKustomize;
use lynceus_files::{Diagnostic, Entry, FilePath, Span, Tree, TreeError};
use lynceus_helm::World;
use lynceus_kustomize::{BuildError, HelmOptions, LoadRestriction, Options, Reorder};
use lynceus_object::{Object, yaml};

use crate::environment::Environment;
use crate::helm::capabilities;
use crate::job::{Job, Need, Trees};
use crate::{Made, Manifest, RenderError, limits};

use edit::Edit;

/// The names that a kustomization may have.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Builds the kustomization at a path.
pub(crate) fn render(
    trees: &Trees<'_>,
    path: &FilePath,
    job: &Job<'_>,
    world: &mut dyn World,
) -> Result<Made, RenderError> {
    let wanted = job.source.kustomize.clone().unwrap_or_default();
    let options = options(&wanted, path, job)?;
    let environment = Environment::new(job.setting, job.source);
    let edited = edited(trees.own(), path, &wanted, &environment)?;
    let tree: &dyn Tree = edited.as_ref().map_or(trees.own(), |edited| edited as &dyn Tree);
    let built = lynceus_kustomize::build(tree, path, &options, job.bases, world);
    let build = match built {
        Ok(build) => build,
        Err(BuildError::Needs(needs)) => {
            return Err(RenderError::Needs(needs.into_iter().map(Need::Base).collect()));
        }
        Err(BuildError::Failed(source)) => return Err(RenderError::Kustomize { path: path.clone(), source }),
    };
    let mut made = Made { names_revision: environment.names_revision(), ..Made::default() };
    made.diagnostics.extend(build.warnings.iter().map(|text| Diagnostic::warning(text.clone())));
    for (document, resource) in build.resources.list.into_iter().enumerate() {
        let span = resource.span.unwrap_or_else(|| Span { file: path.clone(), line: 0, column: 0 });
        match Object::new(resource.value) {
            Ok(object) => made.manifests.push(Manifest { object, span, document }),
            Err(_) => made.diagnostics.push(Diagnostic::error("a resource is no object").at(span)),
        }
    }
    Ok(made)
}

/// Argo CD hands `kustomize.buildOptions` to the command line; these are the flags of it that mean something here.
fn options(
    wanted: &ApplicationSourceKustomize,
    path: &FilePath,
    job: &Job<'_>,
) -> Result<Options, RenderError> {
    let mut options = Options::default();
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
            // What comes behind these is a value of theirs.
            "--helm-command" | "-e" | "--env" | "--mount" | "--network-name" if value.is_none() => {
                words.next();
            }
            "--enable-exec" | "--enable-alpha-plugins" | "--enable_alpha_plugins" | "--network" => {
                return Err(RenderError::KustomizeOption { path: path.clone(), option: word.to_owned() });
            }
            _ => {}
        }
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
        let mut kustomization = yaml::parse(&content).map_err(|error| failed(error.to_string()))?;
        Edit { options, environment, tree, path }.apply(&mut kustomization).map_err(failed)?;
        let text = Arc::from(yaml::to_string(&kustomization).into_bytes());
        return Ok(Some(Edited { tree, file, text }));
    }
    // The build says that there is none.
    Ok(None)
}

/// A tree with another text in the place of one file.
struct Edited<'a> {
    tree: &'a dyn Tree,
    file: FilePath,
    text: Arc<[u8]>,
}

impl Tree for Edited<'_> {
    fn entry(&self, path: &FilePath) -> Result<Entry, TreeError> {
        self.tree.entry(path)
    }

    fn read(&self, path: &FilePath, limit: u64) -> Result<Arc<[u8]>, TreeError> {
        if *path == self.file { Ok(self.text.clone()) } else { self.tree.read(path, limit) }
    }

    fn list(&self, path: &FilePath) -> Result<Vec<(String, Entry)>, TreeError> {
        self.tree.list(path)
    }
}
