//! `lynceus render DIR`: what a folder of manifests becomes.

mod application;
mod explanation;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_api::{
    AppProject, ApplicationSource, ApplicationSourceDirectory, ApplicationSourceHelm, HelmParameter,
};
use lynceus_engine::{Freshness, Renderer, RenderingError, Request, Sourced};
use lynceus_files::{Severity, Tree};
use lynceus_object::Object;
use lynceus_render::{Field, Reason, Rendered, Setting};
use lynceus_source::{Book, DiskTree, Keyring};

use crate::elsewhere;
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format::{self, Output};

/// Show what a folder of manifests, a chart or a kustomization becomes.
///
/// Reads the folder as a source of an Application would be read, in process, and prints the objects; what it names that is
/// elsewhere is fetched as anyone could. What is wrong is told on stderr with its file and line; the exit code is 1 if
/// something is missing because of it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder.
    #[arg(default_value = ".")]
    directory: PathBuf,
    /// Render the sources of the Application in this file as the controller would. The folder as it stands is taken for
    /// their repository if it has their path; what it does not have, and charts, come from where repoURL says.
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

/// Sources to render, and where their files are.
pub(crate) struct Work {
    pub(crate) sources: Vec<ApplicationSource>,
    /// The files of each; what has none here is got from its repository, as anyone sees it.
    pub(crate) files: Vec<Option<Arc<dyn Tree>>>,
    pub(crate) setting: Setting,
}

impl Work {
    /// A source whose files are these.
    pub(crate) fn of_tree(tree: Arc<dyn Tree>, source: ApplicationSource, setting: Setting) -> Self {
        Work { sources: vec![source], files: vec![Some(tree)], setting }
    }

    /// Renders the sources as the controller does.
    pub(crate) async fn render(&self) -> Vec<Result<Sourced, RenderingError>> {
        let (renderer, given) = (self.renderer(), Given::default());
        renderer.render(&self.request(&given)).await
    }

    async fn explain(&self, field: &Field) -> Result<Option<Reason>, RenderingError> {
        let (renderer, given) = (self.renderer(), Given::default());
        renderer.explain(&self.request(&given), field).await
    }

    fn renderer(&self) -> Renderer {
        Renderer::new(elsewhere::sources())
    }

    fn request<'a>(&'a self, given: &'a Given) -> Request<'a> {
        Request {
            book: &given.book,
            setting: &self.setting,
            project: &given.project,
            sources: &self.sources,
            revisions: &[],
            files: &self.files,
            keyring: &given.keyring,
            freshness: Freshness::Latest,
            now: Timestamp::now(),
        }
    }
}

/// What a controller would know of repositories: nothing.
#[derive(Default)]
struct Given {
    book: Arc<Book>,
    project: AppProject,
    keyring: Arc<Keyring>,
}

/// Tells what made a field.
async fn explain(work: &Work, field: &Field) -> Outcome {
    let reason = work.explain(field).await.doing(format!("cannot explain {field}"))?;
    if let Some(reason) = reason {
        print!("{}", explanation::text(field, &reason));
        return Ok(());
    }
    let failure = Failure::new(Code::NotFound, format!("nothing makes {field}"));
    Err(failure.hint("lynceus render -o name lists the objects"))
}

/// The source that the arguments describe.
fn of_arguments(arguments: &Arguments) -> Outcome<Work> {
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
    Ok(Work::of_tree(Arc::new(tree), source, setting))
}

/// What could not be rendered. A folder of this machine is told as the user named it.
fn failed(
    arguments: &Arguments,
    (source, is_here): (&ApplicationSource, bool),
    error: &RenderingError,
) -> Failure {
    let path = arguments.directory.join(source.path.as_str());
    match error {
        RenderingError::Render { source: error, .. } if is_here => {
            Failure::because(format!("cannot render {}", path.display()), &**error)
        }
        _ if is_here || !source.chart.is_empty() => {
            Failure::because(format!("cannot render {}", path.display()), error)
        }
        _ => Failure::because(format!("cannot render {}", source.repo_url), error).hint(format!(
            "{} is not there; the folder to read may be named behind the file",
            path.display()
        )),
    }
}

pub(crate) async fn run(arguments: &Arguments) -> Outcome {
    let work = match &arguments.application {
        Some(file) => application::read(file, &arguments.directory)?,
        None => of_arguments(arguments)?,
    };
    if let Some(field) = &arguments.explain {
        return explain(&work, field).await;
    }
    let mut rendered = Rendered::default();
    for (made, (source, files)) in work.render().await.into_iter().zip(work.sources.iter().zip(&work.files)) {
        let made = made.map_err(|error| failed(arguments, (source, files.is_some()), &error))?;
        rendered.manifests.extend(made.rendered.manifests.iter().cloned());
        rendered.diagnostics.extend(made.rendered.diagnostics.iter().cloned());
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
