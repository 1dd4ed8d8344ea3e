//! `lynceus render DIR`: what a folder of manifests becomes.

mod application;
mod explanation;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_api::{ApplicationSource, ApplicationSourceDirectory, ApplicationSourceHelm, HelmParameter};
use lynceus_engine::Ambience;
use lynceus_files::{Severity, Tree};
use lynceus_object::Object;
use lynceus_render::{Bases, Charts, Fetched, Field, Job, Need, References, RenderError, Rendered, Setting};
use lynceus_source::DiskTree;

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format::{self, Output};

/// Show what a folder of manifests, a chart or a kustomization becomes.
///
/// Reads the folder as a source of an Application would be read, in process, and prints the objects. What is wrong is
/// told on stderr with its file and line; the exit code is 1 if something is missing because of it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder.
    #[arg(default_value = ".")]
    directory: PathBuf,
    /// Render the sources of the Application in this file, from the folder as it stands whatever their repoURL is, unless
    /// that is a path on this machine.
    #[arg(long = "app", value_name = "FILE", conflicts_with_all = ["path", "recurse", "include", "exclude", "name", "namespace", "value_files", "set"])]
    application: Option<PathBuf>,
    /// The path of the source below the folder; symbolic links may lead anywhere inside the folder.
    #[arg(long, default_value = ".")]
    path: String,
    /// Read folders below as well.
    #[arg(short, long)]
    recurse: bool,
    /// Read only files that match this pattern.
    #[arg(long, default_value = "")]
    include: String,
    /// Leave out files that match this pattern.
    #[arg(long, default_value = "")]
    exclude: String,
    /// The name of the application, which is that of a chart's release; the folder's, if none is given.
    #[arg(long, default_value = "")]
    name: String,
    /// The namespace that it would be delivered to.
    #[arg(short, long, default_value = "default")]
    namespace: String,
    /// Say what makes one field as it is, such as deployment/web:spec.replicas, instead of printing the objects.
    #[arg(long, value_name = "FIELD")]
    explain: Option<Field>,
    /// A file of values for a chart, relative to the path; can be given several times, the last wins.
    #[arg(short = 'f', long = "values", value_name = "FILE")]
    value_files: Vec<String>,
    /// A value of a chart as key=value; can be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How to print the objects.
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
}

impl Arguments {
    /// The parameters of a chart, if some are given.
    fn helm(&self) -> Option<ApplicationSourceHelm> {
        let parameter = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            HelmParameter { name: name.into(), value: value.into(), ..HelmParameter::default() }
        };
        (!self.value_files.is_empty() || !self.set.is_empty()).then(|| ApplicationSourceHelm {
            value_files: self.value_files.iter().map(|file| file.as_str().into()).collect(),
            parameters: self.set.iter().map(parameter).collect(),
            ..ApplicationSourceHelm::default()
        })
    }

    fn release_name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let folder = self.directory.join(&self.path);
        let folder = folder.canonicalize().unwrap_or(folder);
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// One source, with what it is rendered with.
struct Work {
    tree: Arc<dyn Tree>,
    source: ApplicationSource,
    setting: Setting,
    references: References,
}

impl Work {
    /// Has something done with the source. Files on this machine have to be all that it needs.
    fn with<T>(&self, done: impl FnOnce(&Job<'_>, &mut Ambience) -> T) -> T {
        let (fetched, bases, charts) = (Fetched::new(), Bases::new(), Charts::none());
        let job = Job {
            tree: &*self.tree,
            source: &self.source,
            setting: &self.setting,
            references: &self.references,
            fetched: &fetched,
            bases: &bases,
            charts: &charts,
        };
        done(&job, &mut Ambience::at(Timestamp::now()))
    }
}

/// Renders a source from files on this machine, which have to be all that it needs.
pub(crate) fn of_tree(
    tree: Arc<dyn Tree>,
    source: ApplicationSource,
    setting: Setting,
) -> Result<Rendered, RenderError> {
    let work = Work { tree, source, setting, references: References::new() };
    work.with(|job, world| lynceus_render::render(job, world))
}

/// Tells what made a field.
fn explain(work: &[Work], field: &Field) -> Outcome {
    for work in work {
        let reason = work
            .with(|job, world| lynceus_render::explain(job, field, world))
            .doing(format!("cannot explain {field}"))?;
        if let Some(reason) = reason {
            print!("{}", explanation::text(field, &reason));
            return Ok(());
        }
    }
    let failure = Failure::new(Code::NotFound, format!("nothing makes {field}"));
    Err(failure.hint("lynceus render -o name lists the objects"))
}

/// The source that the arguments describe.
fn of_arguments(arguments: &Arguments) -> Result<Work, Failure> {
    let tree = DiskTree::open(&arguments.directory)
        .doing(format!("cannot read the folder {}", arguments.directory.display()))?;
    let chosen = arguments.recurse || !arguments.include.is_empty() || !arguments.exclude.is_empty();
    let source = ApplicationSource {
        path: arguments.path.as_str().into(),
        directory: chosen.then(|| ApplicationSourceDirectory {
            recurse: arguments.recurse,
            include: arguments.include.as_str().into(),
            exclude: arguments.exclude.as_str().into(),
            ..ApplicationSourceDirectory::default()
        }),
        helm: arguments.helm(),
        ..ApplicationSource::default()
    };
    let setting = Setting {
        application: arguments.release_name().into(),
        namespace: arguments.namespace.as_str().into(),
        ..Setting::default()
    };
    Ok(Work { tree: Arc::new(tree), source, setting, references: References::new() })
}

/// What could not be rendered, and what to do where only something from elsewhere is missing.
fn failed(path: &Path, error: &RenderError) -> Failure {
    let failure = Failure::because(format!("cannot render {}", path.display()), error);
    let names_bases = |needs: &[Need]| needs.iter().any(|need| matches!(need, Need::Base(_)));
    match error {
        RenderError::Needs(needs) if names_bases(needs) => failure.hint(format!(
            "a kustomization names it, and render fetches nothing; this does: lynceus kustomize build {}",
            path.display()
        )),
        _ => failure,
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let work = match &arguments.application {
        Some(file) => application::read(file, &arguments.directory)?,
        None => vec![of_arguments(arguments)?],
    };
    if let Some(field) = &arguments.explain {
        return explain(&work, field);
    }
    let mut rendered = Rendered::default();
    for work in &work {
        let path = arguments.directory.join(work.source.path.as_str());
        let more = work
            .with(|job, world| lynceus_render::render(job, world))
            .map_err(|error| failed(&path, &error))?;
        rendered.manifests.extend(more.manifests);
        rendered.diagnostics.extend(more.diagnostics);
    }
    let objects: Vec<Object> = rendered.manifests.iter().map(|manifest| manifest.object.clone()).collect();
    match arguments.output {
        Output::Yaml => print!("{}", format::documents(&objects)),
        Output::Json => {
            let items: Vec<_> = objects.into_iter().map(Object::into_value).collect();
            let mut list = lynceus_object::value!({"apiVersion": "v1", "kind": "List"});
            list.set(&["items"], items);
            println!("{}", format::json(&list)?);
        }
        Output::Name | Output::Wide => {
            for manifest in &rendered.manifests {
                println!("{}\t{}", manifest.object.key(), manifest.span);
            }
        }
    }
    let mut missing = 0;
    for diagnostic in &rendered.diagnostics {
        anstream::eprintln!("{}", diagnostic.to_text());
        missing += usize::from(diagnostic.severity == Severity::Error);
    }
    match missing {
        0 => Ok(()),
        count => Err(Failure::new(Code::Answer, format!("{count} documents could not be read"))),
    }
}
