//! A whole build: from a directory of a tree to manifests.

use std::collections::BTreeSet;
use std::fmt;

use lynceus_files::{FilePath, MemoryTree, Tree};
use lynceus_helm::World;
use lynceus_object::yaml;

use crate::accumulator::Accumulator;
use crate::context::Context;
use crate::error::KustomizeError;
use crate::finish;
use crate::hash;
use crate::id::Id;
use crate::idle::IdlePatch;
use crate::load::Loader;
use crate::name_reference;
use crate::need::{Fetched, Need};
use crate::options::{Options, Reorder};
use crate::repository::RepositoryPath;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema::Schema;
use crate::target::Target;
use crate::trace::{Step, Traces};
use crate::transformers;

/// What a build gave.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// The resources in the order in which they are printed.
    pub resources: Resources,
    /// What is probably not what was meant, in Kustomize's words.
    pub warnings: Vec<String>,
    /// Patches of this tree that are for nothing that is there, of which Kustomize says nothing.
    pub idle: Vec<IdlePatch>,
}

impl Build {
    /// Each resource as a file of its own, with the name that Kustomize gives it.
    pub fn files(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let schema = Schema::new();
        let id = move |resource: &Resource| resource.id(schema.is_cluster_scoped(&resource.kind()));
        let ids: Vec<Id> = self.resources.list.iter().map(id).collect();
        let spaces: BTreeSet<String> = ids
            .iter()
            .filter(|id| !id.cluster_scoped)
            .map(|id| id.effective_namespace().to_lowercase())
            .collect();
        let name = move |id: Id| {
            let kind = [&id.kind.group, &id.kind.version, &id.kind.kind];
            let parts = kind.into_iter().chain([&id.name]).filter(|part| !part.is_empty());
            let name = parts.map(|part| part.to_lowercase()).collect::<Vec<_>>().join("_");
            match spaces.len() > 1 && !id.cluster_scoped {
                true => format!("{}_{name}.yaml", id.effective_namespace().to_lowercase()),
                false => format!("{name}.yaml"),
            }
        };
        let texts = self.resources.list.iter().map(|resource| yaml::to_string(&resource.value));
        ids.into_iter().map(name).zip(texts)
    }

    /// The resources as Kustomize prints them.
    pub fn to_yaml(&self) -> String {
        yaml::to_string_many(self.resources.list.iter().map(|resource| &resource.value))
    }
}

/// Why there is no build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// These have to be got first, in this order of names.
    Needs(Vec<Need>),
    /// The kustomization cannot be built.
    Failed(Box<KustomizeError>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Needs(needs) => {
                let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
                write!(f, "the kustomization needs {}", needs.join(", "))
            }
            BuildError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds the kustomization in a directory of a tree.
///
/// What is elsewhere is looked for in `fetched`. What is not there is named in the error; got and added, the build is
/// made again. `world` is for charts, which may ask for the time and for random bytes.
pub fn build(
    tree: &dyn Tree,
    root: &FilePath,
    options: &Options,
    fetched: &Fetched,
    world: &mut dyn World,
) -> Result<Build, BuildError> {
    let context = Context::new(options, fetched, world);
    finished(&context, Loader::new(&context, tree, root).and_then(run))
}

/// Builds as [`build`] does, and keeps account of what set each field of each resource.
pub fn build_traced(
    tree: &dyn Tree,
    root: &FilePath,
    options: &Options,
    fetched: &Fetched,
    world: &mut dyn World,
) -> Result<(Build, Traces), BuildError> {
    let context = Context::new(options, fetched, world).traced();
    let build = finished(&context, Loader::new(&context, tree, root).and_then(run))?;
    Ok((build, context.take_traces()))
}

/// Whether something to build is the address of a repository, such as `https://example.com/a/b//path?ref=v1`.
pub fn is_remote(directory: &str) -> bool {
    RepositoryPath::parse(directory).is_some()
}

/// Builds the kustomization at such an address; the repository is the first thing that is needed.
pub fn build_remote(
    address: &str,
    options: &Options,
    fetched: &Fetched,
    world: &mut dyn World,
) -> Result<Build, BuildError> {
    let context = Context::new(options, fetched, world);
    let nothing = MemoryTree::new();
    let loader = Loader::new(&context, &nothing, &FilePath::root());
    let entered = loader.and_then(|loader| loader.enter(address).map_err(KustomizeError::from));
    finished(&context, entered.and_then(run))
}

fn finished(context: &Context<'_>, built: Result<Resources, KustomizeError>) -> Result<Build, BuildError> {
    let needs = context.needs();
    // Whatever else is wrong may be so because something was not there.
    if !needs.is_empty() {
        return Err(BuildError::Needs(needs));
    }
    let resources = built.map_err(|error| BuildError::Failed(Box::new(error)))?;
    Ok(Build { resources, warnings: context.take_warnings(), idle: context.take_idle() })
}

fn run(loader: Loader<'_>) -> Result<Resources, KustomizeError> {
    let context = loader.context;
    let mut target = Target::load(loader)?;
    target.choose_schema()?;
    if !target.kustomization().build_metadata.is_empty() {
        target.track();
    }
    let mut accumulator = Accumulator::default();
    target.accumulate(&mut accumulator)?;
    let schema = context.schema();
    let Accumulator { mut resources, config, variables, .. } = accumulator;
    hash::add_hashes(&mut resources, &|kind| schema.is_cluster_scoped(kind))?;
    context.trace(&mut resources.list, || Step::Hashes);
    name_reference::repair(&mut resources, &config, &|kind| schema.is_cluster_scoped(kind))?;
    context.trace(&mut resources.list, || Step::References);
    let blamed = |error: KustomizeError, field: &str, is_ours: bool| match is_ours {
        true => target.blamed(error, field),
        false => error,
    };
    let has_variables = !target.kustomization().variables.is_empty();
    let unused =
        variables.replace(&mut resources, &config).map_err(|error| blamed(error, "vars", has_variables))?;
    context.trace(&mut resources.list, || Step::Variables);
    if !unused.is_empty() {
        context.warn(format!("well-defined vars that were never replaced: {}", unused.join(",")));
    }
    finish::drop_local(&mut resources)?;
    let kustomization = target.kustomization();
    match (&kustomization.sort_options, context.options.reorder) {
        (Some(sort_options), reorder) => {
            if reorder != Reorder::Unspecified {
                context.warn(
                    "Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI flag \
                     ('--reorder'). Using the kustomization file over the CLI flag.",
                );
            }
            transformers::sort(&mut resources, Some(sort_options))
                .map_err(|error| blamed(error, "sortOptions", true))?;
        }
        (None, Reorder::Legacy | Reorder::Unspecified) => transformers::sort(&mut resources, None)?,
        (None, Reorder::None) => {}
    }
    if context.options.managed_by_label
        || kustomization.build_metadata.iter().any(|asked| asked == "managedByLabel")
    {
        finish::label_managed_by(&mut resources);
    }
    for resource in &mut resources.list {
        resource.written.reprint(&mut resource.value, false);
    }
    finish::write_annotations(&mut resources, kustomization);
    if kustomization.build_metadata.is_empty() {
        // What is left is how annotations are spelled.
        if let Some(mut tracer) = context.tracer() {
            tracer.settle(&resources.list);
        }
    } else {
        context.trace(&mut resources.list, || target.step("buildMetadata"));
    }
    Ok(resources)
}
