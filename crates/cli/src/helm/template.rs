//! `lynceus helm template`: the manifests of a chart.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_helm::{Capabilities, HelmError, InstallError, KubeVersion, Options, Output, Release, render};

use super::{chart, values};

/// Render a chart and print the manifests, byte for byte as `helm template` does.
///
/// Nothing is asked of a cluster: `lookup` finds nothing, and the versions of Kubernetes and its APIs are Helm's defaults
/// or those given here.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the release, which may be left out, and the chart: a directory or an archive.
    #[arg(value_name = "[NAME] CHART", required = true, num_args = 1..=2)]
    names: Vec<String>,
    #[command(flatten)]
    values: values::Flags,
    /// The namespace of the release.
    #[arg(short, long, env = "HELM_NAMESPACE", hide_env = true, default_value = "default")]
    namespace: String,
    /// Make a name from the chart's.
    #[arg(short, long)]
    generate_name: bool,
    /// The version of Kubernetes that the chart sees.
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// APIs that the chart sees besides those of Kubernetes, as group/version or group/version/Kind.
    #[arg(short, long, value_name = "APIS", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Render as for a release that is there already.
    #[arg(long)]
    is_upgrade: bool,
    /// Print the definitions in crds/ too.
    #[arg(long)]
    include_crds: bool,
    /// Leave out the definitions in crds/, which is so anyway.
    #[arg(long, hide = true)]
    skip_crds: bool,
    /// Leave out tests.
    #[arg(long)]
    skip_tests: bool,
    /// Leave out hooks.
    #[arg(long)]
    no_hooks: bool,
    /// Do not check the values against schemas.
    #[arg(long)]
    skip_schema_validation: bool,
    /// Print only what these templates give, by their paths in the chart; patterns are allowed.
    #[arg(short, long, value_name = "TEMPLATE")]
    show_only: Vec<String>,
    /// Write each template's manifests to a file below this directory instead of printing them.
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// With --output-dir: put the release's name between the directory and the chart.
    #[arg(long)]
    release_name: bool,
    /// Print what the templates gave even if it is not YAML.
    #[arg(long)]
    debug: bool,
    #[command(flatten)]
    without_effect: WithoutEffect,
}

/// Flags that matter to `helm install` and that `helm template` takes as well.
#[derive(clap::Args)]
struct WithoutEffect {
    #[arg(long, hide = true)]
    create_namespace: bool,
    #[arg(long, hide = true)]
    description: Option<String>,
    #[arg(long, hide = true)]
    disable_openapi_validation: bool,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: Option<String>,
    #[arg(long, hide = true)]
    force_conflicts: bool,
    #[arg(long, hide = true)]
    force_replace: bool,
    #[arg(short, long, hide = true)]
    labels: Vec<String>,
    #[arg(long, hide = true)]
    replace: bool,
    #[arg(long, hide = true)]
    take_ownership: bool,
    #[arg(long, hide = true)]
    timeout: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "watcher")]
    wait: Option<String>,
    #[arg(long, hide = true)]
    wait_for_jobs: bool,
}

impl WithoutEffect {
    /// What would have an effect here and cannot have one.
    fn check(&self) -> Result<(), String> {
        match self.dry_run.as_deref() {
            Some("server") => {
                Err("--dry-run=server asks a cluster, which lynceus helm template does not".to_owned())
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Vec<u8>, String> {
    arguments.without_effect.check()?;
    let (name, reference) = arguments.release()?;
    let capabilities = arguments.capabilities().map_err(|error| error.to_string())?;
    let values = arguments.values.read()?;
    let chart = chart::load(reference)?;
    let mut release = Release::new(&name, &arguments.namespace);
    release.is_upgrade = arguments.is_upgrade;
    let options = Options { skip_schema_validation: arguments.skip_schema_validation, ..Options::default() };
    let rendering =
        render(&chart, &values, &release, &capabilities, &options, &mut Ambience::at(Timestamp::now()))
            .map_err(|error| arguments.told(&error))?;
    for warning in &rendering.warnings {
        eprintln!("warning: {warning}");
    }
    let output = Output {
        include_crds: arguments.include_crds,
        skip_tests: arguments.skip_tests,
        no_hooks: arguments.no_hooks,
        show_only: arguments.show_only.clone(),
    };
    let Some(directory) = &arguments.output_dir else {
        return output.print(&rendering).map_err(|error| error.to_string());
    };
    let directory = if arguments.release_name { directory.join(&name) } else { directory.clone() };
    write(&directory, &output.documents(&rendering))
}

impl Arguments {
    /// What Helm says of an error. Whoever asked for it sees what the templates gave as well.
    fn told(&self, error: &HelmError) -> String {
        match error {
            error if !self.debug => error.on_command_line(),
            HelmError::Manifest(manifest) => {
                println!("{}", manifest.output.trim_end());
                error.to_string()
            }
            error => error.to_string(),
        }
    }

    /// The release's name and the chart.
    fn release(&self) -> Result<(String, &str), String> {
        match (self.names.as_slice(), self.generate_name) {
            ([chart], true) => Ok((generated(chart), chart)),
            ([chart], false) => Ok(("release-name".to_owned(), chart)),
            ([_, _], true) => Err("cannot set --generate-name and also specify a name".to_owned()),
            ([name, chart], false) => Ok((name.clone(), chart)),
            _ => Err("expected at most two arguments".to_owned()),
        }
    }

    fn capabilities(&self) -> Result<Capabilities, InstallError> {
        let version = self.kube_version.as_deref().map(|version| {
            KubeVersion::parse(version).map_err(|why| InstallError::BadKubeVersion(version.to_owned(), why))
        });
        Ok(Capabilities::default().with(version.transpose()?, &self.api_versions))
    }
}

/// The chart's file name with the seconds of now.
fn generated(chart: &str) -> String {
    let name = chart.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".tgz").unwrap_or(name);
    let now = Timestamp::now().as_second();
    match name {
        "" | "." => format!("chart-{}", now),
        name => format!("{name}-{}", now),
    }
}

/// Writes the documents to their files, each of which begins anew, and tells of every one.
fn write(directory: &Path, documents: &[(&str, Cow<'_, [u8]>)]) -> Result<Vec<u8>, String> {
    let mut told = String::new();
    let mut begun = BTreeSet::new();
    for (source, content) in documents {
        let path = directory.join(source);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(failed)?;
        let again = !begun.insert(source);
        let mut options = OpenOptions::new();
        options.create(true).write(true).append(again).truncate(!again);
        let mut file = options.open(&path).map_err(failed)?;
        let text = [format!("---\n# Source: {source}\n").as_bytes(), content, b"\n"].concat();
        file.write_all(&text).map_err(failed)?;
        told.push_str(&format!("wrote {}\n", path.display()));
    }
    Ok(told.into_bytes())
}
