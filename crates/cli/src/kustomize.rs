//! `lynceus kustomize build`: Kustomize's own command, with its flags and output, in process.

mod disk;
mod flags;
mod shown;
mod supply;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_files::FilePath;
use lynceus_helm::Capabilities;
use lynceus_kustomize::{BuildError, Fetched, HelmOptions, LoadRestriction, Options, Reorder};
use lynceus_source::DiskTree;

use self::disk::WholeDisk;
use crate::exit::{Code, Failure, Outcome};

/// Work with kustomizations as Kustomize does, in process: build.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
#[command(defer = true)]
enum Command {
    /// Build a kustomization and print the manifests, byte for byte as `kustomize build` does.
    Build(Box<BuildArguments>),
}

/// Build a kustomization and print the manifests, byte for byte as `kustomize build` does.
///
/// Nothing is executed: charts are rendered in process, and plugins that are programs or containers are refused.
#[derive(clap::Args)]
struct BuildArguments {
    /// The directory with the kustomization, or the URL of a Git repository with a path in it.
    #[arg(default_value = ".", value_name = "DIR")]
    directory: String,
    /// Render the charts that a kustomization names.
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = flags::boolean,
        action = clap::ArgAction::Set,
        hide_default_value = true,
        value_name = "BOOL",
    )]
    enable_helm: bool,
    /// Label everything as made by Kustomize; kustomizations have `buildMetadata: [managedByLabel]` for it.
    #[arg(
        long,
        hide = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        default_value = "false",
        value_parser = flags::boolean,
        action = clap::ArgAction::Set,
        hide_default_value = true,
        value_name = "BOOL",
    )]
    enable_managedby_label: bool,
    /// An API version that charts are told the cluster has; can be given several times.
    #[arg(long, value_name = "VERSION")]
    helm_api_versions: Vec<String>,
    /// The version of Kubernetes that charts are told.
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    helm_kube_version: String,
    /// LoadRestrictionsNone lets a kustomization name files outside of its own directory.
    #[arg(long, value_name = "HOW", default_value = "LoadRestrictionsRootOnly")]
    load_restrictor: String,
    /// Write to this file instead, or to one file for each resource if it is a directory.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// The order of the resources: legacy or none. Kustomizations have `sortOptions` for it.
    #[arg(long, value_name = "ORDER", hide = true)]
    reorder: Option<String>,
    #[command(flatten)]
    without_effect: flags::WithoutEffect,
}

impl BuildArguments {
    /// What is said of flags that are on their way out or do nothing here.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.reorder.is_some() {
            warnings.push(
                "Flag --reorder has been deprecated, use the new 'sortOptions' field in kustomization.yaml instead."
                    .to_owned(),
            );
        }
        if self.enable_managedby_label {
            warnings.push(
                "Flag --enable-managedby-label has been deprecated, The flag `enable-managedby-label` has been \
                 deprecated. Use the `managedByLabel` option in the `buildMetadata` field instead."
                    .to_owned(),
            );
        }
        warnings.extend(self.without_effect.warnings());
        warnings
    }

    fn options(&self) -> Result<Options, String> {
        let load_restriction = match self.load_restrictor.as_str() {
            "LoadRestrictionsRootOnly" => LoadRestriction::RootOnly,
            "LoadRestrictionsNone" => LoadRestriction::None,
            other => {
                return Err(format!(
                    "illegal flag value --load-restrictor {other}; legal values: [LoadRestrictionsRootOnly \
                     LoadRestrictionsNone]"
                ));
            }
        };
        let reorder = match self.reorder.as_deref() {
            None => Reorder::Unspecified,
            Some("legacy") => Reorder::Legacy,
            Some("none") => Reorder::None,
            Some(other) => {
                return Err(format!("illegal flag value --reorder {other}; legal values: [legacy none]"));
            }
        };
        let helm = self.enable_helm.then(|| HelmOptions {
            capabilities: Capabilities::default(),
            kube_version: self.helm_kube_version.clone(),
            api_versions: self.helm_api_versions.clone(),
        });
        let managed_by_label = self.enable_managedby_label;
        Ok(Options { load_restriction, helm, reorder, managed_by_label, ..Options::default() })
    }
}

pub(crate) async fn run(arguments: &Arguments) -> Outcome {
    let Command::Build(arguments) = &arguments.command;
    match build(arguments).await {
        Ok(text) => {
            crate::printing::bytes(text.as_bytes());
            Ok(())
        }
        Err(said) => {
            eprintln!("Error: {said}");
            // Scripts around Kustomize look for a 1.
            Err(Failure::new(Code::Answer, ""))
        }
    }
}

/// The text to print; nothing if it was written elsewhere.
async fn build(arguments: &BuildArguments) -> Result<String, String> {
    for warning in arguments.warnings() {
        eprintln!("{warning}");
    }
    let mut options = arguments.options()?;
    let mut fetched = Fetched::new();
    // What is elsewhere is found out one after the other: a repository may name another.
    loop {
        let mut world = Ambience::at(Timestamp::now());
        let built = if lynceus_kustomize::is_remote(&arguments.directory) {
            lynceus_kustomize::build_remote(&arguments.directory, &options, &fetched, &mut world)
        } else {
            let (tree, root) = place(&arguments.directory, &mut options)?;
            lynceus_kustomize::build(&tree, &root, &options, &fetched, &mut world)
        };
        match built {
            Ok(build) => {
                for warning in &build.warnings {
                    eprintln!("{warning}");
                }
                return match &arguments.output {
                    None => Ok(build.to_yaml()),
                    Some(path) => write(path, &build).map(|()| String::new()),
                };
            }
            Err(BuildError::Needs(needs)) => {
                if needs.iter().all(|need| fetched.contains_key(need)) {
                    return Err("what is needed from elsewhere was got and is still needed".to_owned());
                }
                supply::fetch(&needs, &mut fetched).await;
            }
            Err(BuildError::Failed(error)) => {
                let hint = error.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
                return Err(shown_paths(&arguments.directory, &format!("{error}{hint}")));
            }
        }
    }
}

/// A text with the paths below the working directory as the user would write them, and others in full: those of what is
/// built, and of what lies beside it.
fn shown_paths(directory: &str, text: &str) -> String {
    let real = |path: &Path| path.canonicalize().unwrap_or_default();
    let (here, root) = (real(Path::new(".")), real(Path::new(directory)));
    if root.starts_with(&here) {
        return shown::from(&here.to_string_lossy(), text);
    }
    let around = root.parent().filter(|parent| parent.parent().is_some()).unwrap_or(&root);
    shown::in_full(&around.to_string_lossy(), text)
}

/// The whole of the disk, and where in it the directory is: bases may be anywhere.
fn place(directory: &str, options: &mut Options) -> Result<(WholeDisk, FilePath), String> {
    let real = Path::new(directory)
        .canonicalize()
        .map_err(|error| format!("must build at directory: {directory:?}: {error}"))?;
    if !real.is_dir() {
        return Err(format!("'{}' must resolve to a directory, not a file", real.display()));
    }
    let mut top = real.as_path();
    while let Some(parent) = top.parent() {
        top = parent;
    }
    let tree = DiskTree::open(top).map_err(|error| error.to_string())?;
    let below = real.strip_prefix(top).unwrap_or(&real).to_string_lossy().into_owned();
    options.path_prefix = top.to_string_lossy().trim_end_matches('/').to_owned();
    let root = FilePath::new(&below).map_err(|error| format!("{}: {error}", real.display()))?;
    Ok((WholeDisk(tree), root))
}

/// Writes one file, or one for each resource into a directory, named as Kustomize names them.
fn write(path: &Path, build: &lynceus_kustomize::Build) -> Result<(), String> {
    let put = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
    };
    if !path.is_dir() {
        return put(path, &build.to_yaml());
    }
    for (name, text) in build.files() {
        put(&path.join(name), &text)?;
    }
    Ok(())
}
