//! `lynceus appset`: applications that are made from a template.

mod change;
mod preview;
mod rehearsal;
mod show;
mod wait;

use std::path::PathBuf;

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection};
use crate::exit::Outcome;
use crate::format::Output;
use wait::Patience;

/// Work with ApplicationSets, as `argocd appset` does.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    /// List ApplicationSets.
    List {
        /// Only those whose Applications are in these projects.
        #[arg(short, long, value_name = "PROJECT")]
        project: Vec<String>,
        /// Only those with these labels.
        #[arg(short = 'l', long, default_value = "")]
        selector: String,
        /// Only those in this namespace.
        #[arg(short = 'N', long, default_value = "")]
        appset_namespace: String,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Show an ApplicationSet.
    Get {
        /// The ApplicationSet, with its namespace before a slash where it is not the installation's own.
        name: String,
        /// Show the parameters of its source as well.
        #[arg(long)]
        show_params: bool,
        /// How to print it.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Create ApplicationSets from files.
    Create {
        /// The files; `-` is standard input.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change those that are there already.
        #[arg(long)]
        upsert: bool,
        /// Say what they would generate, and create nothing.
        #[arg(long)]
        dry_run: bool,
        /// Wait until their Applications are as they generate them.
        #[arg(long, conflicts_with = "dry_run")]
        wait: bool,
        /// How long to wait, in seconds; 0 for ever.
        #[arg(long, default_value_t = 0)]
        timeout: u64,
        /// Print what was created.
        #[arg(short, long, value_enum)]
        output: Option<Output>,
    },
    /// Delete ApplicationSets, with their Applications.
    Delete {
        /// The ApplicationSets.
        #[arg(required = true)]
        names: Vec<String>,
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
        /// Wait until they and their Applications are gone.
        #[arg(long)]
        wait: bool,
        /// How long to wait, in seconds; 0 for ever.
        #[arg(long, default_value_t = 0)]
        timeout: u64,
    },
    /// Print the Applications that an ApplicationSet would have.
    Generate {
        /// The file; `-` is standard input.
        file: PathBuf,
        /// Say what they would do to the cluster as it is, too, by a rehearsal.
        #[arg(long)]
        rehearse: bool,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Say which Applications would be created, changed and deleted.
    Preview(preview::Arguments),
    /// Say what would change in Applications, field by field.
    Diff(preview::Arguments),
}

/// Runs a command.
pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let api = Api::open(&arguments.connection).await?;
    let sets = Sets { api, connection: arguments.connection };
    match arguments.command {
        Command::List { project, selector, appset_namespace, output } => {
            let asked =
                value!({"projects": project, "selector": selector, "appsetNamespace": appset_namespace});
            show::list(&sets, asked, output).await
        }
        Command::Get { name, show_params, output } => show::get(&sets, &name, show_params, output).await,
        Command::Create { files, upsert, dry_run, wait, timeout, output } => {
            let patience = wait.then(|| Patience::new(timeout));
            change::create(&sets, &files, (upsert, dry_run), patience, output).await
        }
        Command::Delete { names, yes, wait, timeout } => {
            change::delete(&sets, &names, yes, wait.then(|| Patience::new(timeout))).await
        }
        Command::Generate { file, rehearse, output } => {
            change::generate(&sets, &file, rehearse, output).await
        }
        Command::Preview(arguments) => preview::run(&sets, &arguments, preview::Detail::Names).await,
        Command::Diff(arguments) => preview::run(&sets, &arguments, preview::Detail::Fields).await,
    }
}

/// Where ApplicationSets are kept.
struct Sets {
    api: Api,
    connection: Connection,
}

impl Sets {
    /// An ApplicationSet as it is.
    async fn get(&self, name: &str) -> Outcome<Value> {
        let failed = format!("cannot read ApplicationSet {name}");
        self.api.call(&failed, "ApplicationSetService.Get", named(name)).await
    }

    /// The Applications that an ApplicationSet would have.
    async fn generate(&self, set: &Value) -> Outcome<Vec<Value>> {
        let failed = format!("cannot generate the Applications of {}", qualified(set));
        let message = value!({"applicationSet": set.clone()});
        let answer = self.api.call(&failed, "ApplicationSetService.Generate", message).await?;
        Ok(answer.items_at(&["applications"]).to_vec())
    }
}

/// Which ApplicationSet is meant.
enum Which<'a> {
    /// One that is there, by its name.
    Named(&'a str),
    /// One that is written down.
    Given(&'a Value),
}

impl Sets {
    /// What would be done for an ApplicationSet, by the settings of the installation.
    async fn preview(&self, which: Which<'_>, rehearse: bool) -> Outcome<Value> {
        let (name, mut message) = match which {
            Which::Named(name) => (name.to_owned(), named(name)),
            Which::Given(set) => (qualified(set), value!({"applicationSet": set.clone()})),
        };
        message.set(&["rehearse"], rehearse);
        let failed = format!("cannot tell what would be done for ApplicationSet {name}");
        Ok(report(self.api.call(&failed, "ApplicationSetService.Preview", message).await?))
    }
}

/// A report of ours, which comes without the message around it over REST alone.
fn report(answer: Value) -> Value {
    answer.get("report").cloned().unwrap_or(answer)
}

/// A name, with its namespace before a slash.
fn named(name: &str) -> Value {
    match name.split_once('/') {
        Some((namespace, name)) => value!({"name": name, "appsetNamespace": namespace}),
        None => value!({"name": name}),
    }
}

/// `namespace/name`.
fn qualified(set: &Value) -> String {
    let text = |field: &str| set.str_at(&["metadata", field]).unwrap_or_default();
    match text("namespace") {
        "" => text("name").to_owned(),
        namespace => format!("{namespace}/{}", text("name")),
    }
}
