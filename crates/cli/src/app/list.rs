//! `lynceus app list`

use lynceus_api::{Application, Kind as _};
use lynceus_object::{Object, selector};

use super::context::Context;
use super::show;
use crate::exit::{Doing as _, Outcome};
use crate::format::{self, Output};
use crate::table::Table;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How to print them.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
    /// Only those with these labels: `team=shop,tier in (web)`.
    #[arg(short = 'l', long, default_value = "")]
    selector: String,
    /// Only those of this project; may be given several times.
    #[arg(short, long)]
    project: Vec<String>,
    /// Only those from this repository.
    #[arg(short, long, default_value = "")]
    repo: String,
    /// Only those that go to this cluster, by name or address.
    #[arg(short, long, default_value = "")]
    cluster: String,
    /// Only those from this path.
    #[arg(short = 'P', long, default_value = "")]
    path: String,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let wanted = selector::Selector::parse(&arguments.selector).doing("cannot read --selector")?;
    let objects: Vec<Object> = context
        .objects()
        .await?
        .into_iter()
        .filter(|object| wanted.matches(|key| object.label(key)))
        .filter(|object| concerns(object, arguments))
        .collect();
    let cleaned =
        || objects.iter().map(|object| format::clean(object).into_value()).collect::<Vec<_>>().into();
    match arguments.output {
        Output::Name => {
            for object in &objects {
                println!("{}/{}", object.namespace(), object.name());
            }
        }
        Output::Wide => print!("{}", table(&objects)),
        Output::Json => println!("{}", format::json(&cleaned())?),
        Output::Yaml => print!("{}", lynceus_object::yaml::to_string(&cleaned())),
    }
    Ok(())
}

fn concerns(object: &Object, arguments: &Arguments) -> bool {
    let Ok(application) = Application::from_object(object) else { return true };
    let project = &application.spec.project;
    let repo = arguments.repo.as_str();
    let (cluster, path) = (arguments.cluster.as_str(), arguments.path.as_str());
    let destination = &application.spec.destination;
    (arguments.project.is_empty() || arguments.project.iter().any(|wanted| wanted == project.as_str()))
        && (repo.is_empty()
            || application
                .spec
                .all_sources()
                .iter()
                .any(|source| lynceus_source::same(&source.repo_url, repo)))
        && (cluster.is_empty() || destination.server == cluster || destination.name == cluster)
        && (path.is_empty() || application.spec.all_sources().iter().any(|source| source.path == path))
}

fn table(objects: &[Object]) -> Table {
    let mut table = Table::new(&[
        "NAME",
        "CLUSTER",
        "NAMESPACE",
        "PROJECT",
        "STATUS",
        "HEALTH",
        "SYNCPOLICY",
        "CONDITIONS",
        "REPO",
        "PATH",
        "TARGET",
    ]);
    for object in objects {
        let name = format!("{}/{}", object.namespace(), object.name());
        // One that cannot be read is still listed: it is the one that somebody looks for.
        let Ok(application) = Application::from_object(object) else {
            table.row([
                name,
                String::new(),
                String::new(),
                String::new(),
                "Unknown".into(),
                "Unknown".into(),
            ]);
            continue;
        };
        let spec = &application.spec;
        let source = spec.all_sources().into_iter().next().unwrap_or_default();
        let server = &spec.destination.server;
        table.row([
            name,
            if server.is_empty() { spec.destination.name.to_string() } else { server.to_string() },
            spec.destination.namespace.to_string(),
            spec.project.to_string(),
            application.status.sync.status.to_string(),
            application.status.health.status.to_string(),
            show::policy_in_short(&application).to_owned(),
            show::conditions_in_short(&application),
            source.repo_url.to_string(),
            source.path.to_string(),
            source.target_revision.to_string(),
        ]);
    }
    table
}
