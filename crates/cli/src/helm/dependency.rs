//! `lynceus helm dependency`: the charts that a chart depends on.

mod charts;
mod list;
mod local;
mod repositories;
mod resolution;
mod update;

use super::access;
use super::settings::Settings;
pub(super) use update::Work;

/// Bring the dependencies of a chart into its charts/ directory, as `helm dependency` does.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
#[command(defer = true)]
enum Command {
    /// Fetch the versions that Chart.lock names into charts/; without a lock, do what update does.
    Build(Fetching),
    /// Choose versions as Chart.yaml asks for them, fetch them into charts/, and write Chart.lock.
    #[command(visible_alias = "up")]
    Update(Fetching),
    /// List the dependencies of a chart and whether they are there.
    #[command(visible_alias = "ls")]
    List(list::Arguments),
}

#[derive(clap::Args)]
struct Fetching {
    /// The directory of the chart.
    #[arg(default_value = ".")]
    chart: String,
    /// Do not ask every known repository for news first.
    #[arg(long)]
    skip_refresh: bool,
    #[command(flatten)]
    access: access::Flags,
    #[command(flatten)]
    provenance: access::Provenance,
}

impl Fetching {
    fn work(&self, settings: &Settings) -> Result<Work, String> {
        self.provenance.refuse()?;
        Work::open(&self.chart, self.skip_refresh, settings, &self.access)
    }
}

pub(super) async fn run(arguments: &Arguments, settings: &Settings) -> Result<Vec<u8>, String> {
    match &arguments.command {
        Command::Build(fetching) => fetching.work(settings)?.build().await.map(|()| Vec::new()),
        Command::Update(fetching) => fetching.work(settings)?.update().await.map(|()| Vec::new()),
        Command::List(arguments) => list::run(arguments),
    }
}
