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
    /// The chart's values.yaml.
    Values(Chosen),
}

#[derive(clap::Args)]
struct Reference {
    /// The chart: a directory, an archive, repository/chart, or a URL.
    chart: String,
    #[command(flatten)]
    flags: chart::Flags,
}

#[derive(clap::Args)]
struct Chosen {
    #[command(flatten)]
    reference: Reference,
    /// Print of the values only what this JSONPath template leads to, such as '{.image.tag}'.
    #[arg(long, value_name = "TEMPLATE", allow_hyphen_values = true)]
    jsonpath: Option<String>,
}

pub(super) async fn run(arguments: &Arguments, settings: &Settings) -> Result<Vec<u8>, String> {
    let (what, reference, jsonpath) = match &arguments.what {
        What::All(reference) => (Show::All, reference, None),
        What::Chart(reference) => (Show::Chart, reference, None),
        What::Crds(reference) => (Show::Crds, reference, None),
        What::Readme(reference) => (Show::Readme, reference, None),
        What::Values(Chosen { reference, jsonpath }) => (Show::Values, reference, jsonpath.as_deref()),
    };
    let found = reference.flags.locate(settings, &reference.chart).await?;
    lynceus_helm::show(&*found.load()?, what, jsonpath).map_err(|error| error.to_string())
}
