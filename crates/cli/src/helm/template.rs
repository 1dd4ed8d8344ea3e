//! `lynceus helm template`: the manifests of a chart.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_helm::{
    Capabilities, Chart, HelmError, InstallError, KubeVersion, Options, Output, Release, Warning,
    release_name, render,
};

use super::chart::{self, Found};
use super::cluster::Live;
use super::dependency::Work;
use super::settings::Settings;
use super::speech::{Aloud, say};
use super::unused::{DryRun, Unused};
use super::values;

/// Render a chart and print the manifests, byte for byte as `helm template` does.
///
/// Nothing is asked of a cluster: `lookup` finds nothing, and the versions of Kubernetes and its APIs are Helm's defaults
/// or those given here. With --dry-run=server they are those of the cluster of the kubeconfig, and `lookup` asks it.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The name of the release, which may be left out, and the chart: a directory, an archive, repository/chart, or a
    /// URL.
    #[arg(value_name = "[NAME] CHART", required = true, num_args = 1..)]
    names: Vec<String>,
    #[command(flatten)]
    values: values::Flags,
    #[command(flatten)]
    chart: chart::Flags,
    /// Make the name of the release by a template, with sprig's functions.
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,
    /// Bring dependencies that are missing into charts/ first.
    #[arg(long)]
    dependency_update: bool,
    /// The version of Kubernetes that the chart sees.
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// APIs that the chart sees besides those of Kubernetes, as group/version or group/version/Kind.
    #[arg(short, long, value_name = "APIS", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Ask nobody (client), or the cluster of the kubeconfig (server).
    #[arg(long, value_name = "client|server", num_args = 0..=1, require_equals = true, default_value = "client", default_missing_value = "unset", hide_default_value = true)]
    dry_run: String,
    /// With --dry-run=server: do not mind objects that are there already.
    #[arg(long)]
    take_ownership: bool,
    /// Render as for a release that is there already.
    #[arg(long)]
    is_upgrade: bool,
    /// Print the definitions in crds/ too.
    #[arg(long)]
    include_crds: bool,
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
    #[command(flatten)]
    unused: Unused,
}

pub(super) async fn run(arguments: &Arguments, settings: &Settings) -> Result<Vec<u8>, String> {
    let capabilities = arguments.capabilities().map_err(|error| error.to_string())?;
    let dry_run = arguments.unused.check(&arguments.dry_run)?;
    let (name, reference) = arguments.release()?;
    let found = arguments.chart.locate(settings, reference).await?;
    let values = arguments.values.read(settings)?;
    let chart = arguments.complete(&found, settings).await?;
    let mut release = Release::new(&name, settings.namespace());
    release.is_upgrade = arguments.is_upgrade;
    let live = match dry_run {
        DryRun::Client => None,
        DryRun::Server => Some(Arc::new(Live::connect(settings).await?)),
    };
    let capabilities = live.as_ref().map_or(capabilities, |live| live.capabilities());
    let options = Options {
        skip_schema_validation: arguments.skip_schema_validation,
        lookup: live.clone().map(|live| live as Arc<dyn lynceus_helm::Lookup>),
        ..Options::default()
    };
    let mut now = Aloud::now();
    let mut render = || render(&chart, &values, &release, &capabilities, &options, &mut now);
    let rendering = match &live {
        Some(_) => tokio::task::block_in_place(render),
        None => render(),
    };
    let rendering = rendering.map_err(|error| told(&error, settings.debug))?;
    if let Some(live) = live {
        live.check(&rendering, &release, arguments.take_ownership).await?;
    }
    let output = arguments.output();
    let Some(directory) = &arguments.output_dir else {
        let printed = output.print(&rendering).map_err(|error| error.to_string());
        // The program ends here: to take a chart apart would take longer than to print it.
        std::mem::forget((chart, rendering));
        return printed;
    };
    let directory = if arguments.release_name { directory.join(&name) } else { directory.clone() };
    write(&directory, &output.documents(&rendering))
}

impl Arguments {
    /// Whether the chart lies on this machine, with all that it needs.
    pub(super) fn is_at_hand(&self) -> bool {
        let chart = self.names.last();
        !self.dependency_update && chart.is_some_and(|chart| self.chart.is_at_hand(chart))
    }

    /// The release's name and the chart.
    fn release(&self) -> Result<(String, &str), String> {
        match (self.names.as_slice(), &self.name_template) {
            ([chart], None) => Ok(("release-name".to_owned(), chart)),
            ([chart], Some(template)) => {
                let variable = |name: &str| std::env::var(name).unwrap_or_default();
                let name = release_name(template, variable, &mut Ambience::at(Timestamp::now()));
                Ok((name.map_err(|error| error.to_string())?, chart))
            }
            ([_, _], _) if self.unused.generate_name => {
                Err("cannot set --generate-name and also specify a name".to_owned())
            }
            ([_, _], Some(_)) => Err("cannot set --name-template and also specify a name".to_owned()),
            ([name, chart], None) => Ok((name.clone(), chart)),
            (names, _) => {
                let more = names.get(2..).unwrap_or_default().join(", ");
                Err(format!("expected at most two arguments, unexpected arguments: {more}"))
            }
        }
    }

    fn capabilities(&self) -> Result<Capabilities, InstallError> {
        let version = self.kube_version.as_deref().map(|version| {
            KubeVersion::parse(version).map_err(|why| InstallError::BadKubeVersion(version.to_owned(), why))
        });
        Ok(Capabilities::default().with(version.transpose()?, &self.api_versions))
    }

    /// Reads the chart, and brings its dependencies first if some are missing and that is wanted.
    async fn complete(&self, found: &Found, settings: &Settings) -> Result<Arc<Chart>, String> {
        let chart = found.load()?;
        chart.warnings().iter().for_each(say);
        if chart.metadata().deprecated {
            say(&Warning::warn("this chart is deprecated"));
        }
        if !self.dependency_update || chart.missing_dependencies().is_empty() {
            return Ok(chart);
        }
        let Found::Path(path) = found else { return Err("only unpacked charts can be updated".to_owned()) };
        Work::open(path, false, settings, &self.chart.access)?.update().await?;
        let chart =
            found.load().map_err(|error| format!("failed reloading chart after repo update: {error}"))?;
        chart.warnings().iter().for_each(say);
        Ok(chart)
    }

    fn output(&self) -> Output {
        Output {
            include_crds: self.include_crds,
            skip_tests: self.skip_tests,
            no_hooks: self.no_hooks,
            show_only: self.show_only.clone(),
        }
    }
}

/// What Helm says of an error. Whoever wants to know more sees what the templates gave as well.
fn told(error: &HelmError, debug: bool) -> String {
    if let HelmError::Install(InstallError::ReleaseName { .. } | InstallError::Dependencies(_)) = error
        && let Some((step, why)) = error.to_string().split_once(": ")
    {
        say(&Warning::error(step).about("error", why));
    }
    match error {
        error if !debug => error.on_command_line(),
        HelmError::Manifest(manifest) => {
            println!("{}", manifest.output.trim_end());
            error.to_string()
        }
        error => error.to_string(),
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
