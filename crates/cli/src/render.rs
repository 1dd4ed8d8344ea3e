//! `lynceus render DIR`: what a folder of manifests becomes.

use std::path::PathBuf;

use jiff::Timestamp;
use lynceus_api::{ApplicationSource, ApplicationSourceDirectory};
use lynceus_engine::Ambience;
use lynceus_files::{Severity, Tree};
use lynceus_object::Object;
use lynceus_render::{Fetched, Job, References, RenderError, Rendered, Setting};
use lynceus_source::DiskTree;

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::format::{self, Output};

/// Show what a folder of manifests or a chart becomes.
///
/// Reads the folder as a source of an Application would be read, in process, and prints the objects. What is wrong is
/// told on stderr with its file and line; the exit code is 1 if something is missing because of it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder.
    #[arg(default_value = ".")]
    directory: PathBuf,
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
    /// How to print the objects.
    #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
    output: Output,
}

impl Arguments {
    fn release_name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let folder = self.directory.join(&self.path);
        let folder = folder.canonicalize().unwrap_or(folder);
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Renders a source from files on this machine, which have to be all that it needs.
pub(crate) fn of_tree(
    tree: &dyn Tree,
    source: &ApplicationSource,
    setting: &Setting,
) -> Result<Rendered, RenderError> {
    let (references, fetched) = (References::new(), Fetched::new());
    let job = Job { tree, source, setting, references: &references, fetched: &fetched };
    lynceus_render::render(&job, &mut Ambience::at(Timestamp::now()))
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
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
        ..ApplicationSource::default()
    };
    let setting = Setting {
        application: arguments.release_name().into(),
        namespace: arguments.namespace.as_str().into(),
        ..Setting::default()
    };
    let rendered = of_tree(&tree, &source, &setting)
        .doing(format!("cannot render {}", arguments.directory.display()))?;
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
