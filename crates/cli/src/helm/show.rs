//! `lynceus helm show`: what is in a chart.

use lynceus_helm::Show;

use super::chart;
use super::settings::Settings;

/// Show what is in a chart.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to show.
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
#[command(defer = true)]
enum What {
    /// Everything: Chart.yaml, values.yaml, the README and the definitions.
    All(Reference),
    /// Chart.yaml, as Helm understands it.
    Chart(Reference),
    /// The definitions in crds/.
    Crds(Reference),
    /// The README.
    Readme(Reference),
    /// values.yaml.
    Values(Reference),
}

#[derive(clap::Args)]
struct Reference {
    /// The chart: a directory, an archive, repository/chart, or a URL.
    chart: String,
    #[command(flatten)]
    flags: chart::Flags,
    #[arg(long, hide = true)]
    jsonpath: Option<String>,
}

pub(super) async fn run(arguments: &Arguments, settings: &Settings) -> Result<Vec<u8>, String> {
    let (what, reference) = match &arguments.what {
        What::All(reference) => (Show::All, reference),
        What::Chart(reference) => (Show::Chart, reference),
        What::Crds(reference) => (Show::Crds, reference),
        What::Readme(reference) => (Show::Readme, reference),
        What::Values(reference) => (Show::Values, reference),
    };
    if reference.jsonpath.is_some() {
        return Err("--jsonpath is not supported; print the values and choose among them with another tool"
            .to_owned());
    }
    let found = reference.flags.locate(settings, &reference.chart).await?;
    Ok(lynceus_helm::show(&*found.load()?, what))
}
