//! `lynceus app history`

use lynceus_object::Value;

use super::context::Context;
use crate::exit::Outcome;
use crate::format::{self, Output};
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let object = context.object(&arguments.name).await?;
    let raw = object.at(&["status", "history"]).cloned().unwrap_or_else(|| Value::Seq(Default::default()));
    let application = context.application(&arguments.name).await?;
    match arguments.output {
        Output::Json => println!("{}", format::json(&raw)?),
        Output::Yaml => print!("{}", lynceus_object::yaml::to_string(&raw)),
        Output::Name => {
            for entry in &application.status.history {
                println!("{}", entry.id);
            }
        }
        Output::Wide => {
            let mut table = Table::new(&["ID", "DATE", "REVISION", "INITIATED BY"]);
            for entry in &application.status.history {
                let target = if entry.source.target_revision.is_empty() {
                    "HEAD"
                } else {
                    &entry.source.target_revision
                };
                let commit: String = entry.revision.chars().take(7).collect();
                let who = &entry.initiated_by;
                table.row([
                    entry.id.to_string(),
                    entry.deployed_at.map(|at| format::time(at.timestamp())).unwrap_or_default(),
                    format!("{target} ({commit})"),
                    if who.automated { "automated sync policy".to_owned() } else { who.username.to_string() },
                ]);
            }
            print!("{table}");
        }
    }
    Ok(())
}
