//! `lynceus helm show`: what is in a chart.

use lynceus_helm::Show;

use super::chart;

/// Show what is in a chart.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What to show.
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
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
    /// The chart: a directory or an archive.
    chart: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<Vec<u8>, String> {
    let (what, reference) = match &arguments.what {
        What::All(reference) => (Show::All, reference),
        What::Chart(reference) => (Show::Chart, reference),
        What::Crds(reference) => (Show::Crds, reference),
        What::Readme(reference) => (Show::Readme, reference),
        What::Values(reference) => (Show::Values, reference),
    };
    Ok(lynceus_helm::show(&*chart::load(&reference.chart)?, what))
}
