//! `lynceus app history`

use lynceus_api::RevisionHistory;
use lynceus_object::{Str, Value};

use super::context::Context;
use crate::exit::Outcome;
use crate::format;
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The application.
    name: String,
    /// How to print it.
    #[arg(short, long, value_enum, default_value_t)]
    output: HistoryOutput,
}

/// How the history is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum HistoryOutput {
    /// For people.
    #[default]
    Wide,
    /// Numbers only, one per line, for `app rollback`.
    #[value(alias = "name")]
    Id,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let object = context.object(&arguments.name).await?;
    let raw = object.at(&["status", "history"]).cloned().unwrap_or_else(|| Value::Seq(Default::default()));
    let application = context.application(&arguments.name).await?;
    match arguments.output {
        HistoryOutput::Json => println!("{}", format::json(&raw)?),
        HistoryOutput::Yaml => print!("{}", lynceus_object::yaml::to_string(&raw)),
        HistoryOutput::Id => {
            for entry in &application.status.history {
                println!("{}", entry.id);
            }
        }
        HistoryOutput::Wide => print!("{}", by_source(&application.status.history)),
    }
    Ok(())
}

/// What each source has delivered, as `argocd` lays it out.
fn by_source(history: &[RevisionHistory]) -> Table {
    let mut sources: Vec<(Str, Vec<[String; 3]>)> = Vec::new();
    for entry in history {
        let one = (entry.source.clone(), entry.revision.clone());
        let many = entry.sources.iter().cloned().zip(entry.revisions.iter().cloned());
        let deliveries = if entry.sources.is_empty() { vec![one] } else { many.collect() };
        for (source, revision) in deliveries {
            let target =
                if source.target_revision.is_empty() { "HEAD" } else { source.target_revision.as_str() };
            let commit: String = revision.chars().take(7).collect();
            let date = entry.deployed_at.map(|at| format::time(at.timestamp())).unwrap_or_default();
            let row = [entry.id.to_string(), date, format!("{target} ({commit})")];
            match sources.iter_mut().find(|(url, _)| *url == source.repo_url) {
                Some((_, rows)) => rows.push(row),
                None => sources.push((source.repo_url.clone(), vec![row])),
            }
        }
    }
    let mut table = Table::default();
    for (place, (url, rows)) in sources.into_iter().enumerate() {
        if place > 0 {
            table.row([]);
        }
        table.row(["SOURCE".to_owned(), url.to_string()]);
        table.row(["ID", "DATE", "REVISION"].map(str::to_owned));
        for row in rows {
            table.row(row);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_api::ApplicationSource;

    #[test]
    fn the_history_is_listed_source_by_source() {
        let source = |url: &str| ApplicationSource {
            repo_url: url.into(),
            target_revision: "main".into(),
            ..ApplicationSource::default()
        };
        let history = [
            RevisionHistory {
                id: 0,
                revision: "0123456789".into(),
                source: source("https://git.example.com/a"),
                ..RevisionHistory::default()
            },
            RevisionHistory {
                id: 1,
                revisions: vec!["89abcdef01".into(), "fedcba9876".into()],
                sources: vec![source("https://git.example.com/a"), source("https://git.example.com/b")],
                ..RevisionHistory::default()
            },
        ];
        assert_eq!(
            by_source(&history).to_string(),
            "SOURCE  https://git.example.com/a\nID      DATE  REVISION\n0             main (0123456)\n1             main \
             (89abcde)\n\nSOURCE  https://git.example.com/b\nID      DATE  REVISION\n1             main (fedcba9)\n"
        );
    }
}
