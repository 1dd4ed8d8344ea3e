//! `lynceus admin notifications`: triggers and templates, listed and tried out, with those of the cluster or with files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_helm::World as _;
use lynceus_notify::{
    CATALOGUE, Config, Destination, Facts, Need, Notification, Render, Service, Sources, Subject, Templates,
    Triggers,
};
use lynceus_object::{Gvk, Object, Str, Value, json, yaml};
use lynceus_post::Post;
use lynceus_server::Server;

use super::open;
use crate::api::{Connection, misuse, server};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::table::Table;
use crate::terminal;

const CONFIG_MAP: &str = "argocd-notifications-cm";
const SECRET: &str = "argocd-notifications-secret";

// Notifications, looked at and tried out.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The ConfigMap argocd-notifications-cm, in a file; without it, that of the cluster.
    #[arg(long, global = true, value_name = "FILE")]
    config_map: Option<PathBuf>,
    /// The Secret argocd-notifications-secret, in a file, or :empty for none; without it, that of the cluster.
    #[arg(long, global = true, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Accepted for scripts: there is no repo-server.
    #[arg(long, global = true, hide = true, value_name = "ADDRESS")]
    argocd_repo_server: Option<String>,
    /// Accepted for scripts, as above.
    #[arg(long, global = true, hide = true)]
    argocd_repo_server_plaintext: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Templates: what is told.
    Template {
        #[command(subcommand)]
        command: Template,
    },
    /// Triggers: when it is told.
    Trigger {
        #[command(subcommand)]
        command: Trigger,
    },
    /// Print the triggers and templates that everybody needs, as a ConfigMap that can be applied.
    Catalogue,
}

#[derive(Subcommand)]
enum Template {
    /// List the templates.
    Get {
        /// Only this one.
        name: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Fill a template for an Application and send it.
    Notify {
        /// The template.
        name: String,
        /// The Application: a file, or its name in the cluster.
        resource_name: String,
        /// Whom to send it to, as SERVICE:RECIPIENT; console:stdout prints it. Can be given several times.
        #[arg(long, value_name = "SERVICE:RECIPIENT", default_value = "console:stdout")]
        recipient: Vec<String>,
    },
}

#[derive(Subcommand)]
enum Trigger {
    /// List the triggers.
    Get {
        /// Only this one.
        name: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Say which conditions of a trigger hold for an Application.
    Run {
        /// The trigger.
        name: String,
        /// The Application: a file, or its name in the cluster.
        resource_name: String,
    },
}

#[derive(clap::Args)]
struct Output {
    /// How to print them.
    #[arg(short, long, value_enum, default_value = "wide")]
    output: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Json,
    Yaml,
    Wide,
    Name,
}

pub(super) async fn run(connection: &Connection, arguments: Arguments) -> Outcome {
    if let Command::Catalogue = arguments.command {
        print!("{CATALOGUE}");
        return Ok(());
    }
    let config = read(connection, &arguments).await?;
    for fault in &config.faults {
        anstream::eprintln!("warning: {fault}");
    }
    match arguments.command {
        Command::Catalogue => Ok(()),
        Command::Template { command: Template::Get { name, output } } => {
            let previews = config.templates.iter().map(|(name, template)| (name, vec![preview(template)]));
            list(&["NAME", "PREVIEW"], previews, &config.templates, name.as_deref(), output.output);
            Ok(())
        }
        Command::Trigger { command: Trigger::Get { name, output } } => {
            triggers(&config, name.as_deref(), output.output);
            Ok(())
        }
        Command::Trigger { command: Trigger::Run { name, resource_name } } => {
            let application = application(connection, &resource_name).await?;
            run_trigger(&config, &name, &application, &mut Oracle::of(connection)).await
        }
        Command::Template { command: Template::Notify { name, resource_name, recipient } } => {
            let application = application(connection, &resource_name).await?;
            let mut oracle = Oracle::of(connection);
            for recipient in recipient {
                notify(&config, &name, &application, &recipient, &mut oracle).await?;
            }
            Ok(())
        }
    }
}

/// The configuration of files or of the cluster.
async fn read(connection: &Connection, arguments: &Arguments) -> Outcome<Config> {
    let config_map = match &arguments.config_map {
        Some(file) => Some(from_file(file, "ConfigMap", CONFIG_MAP)?),
        None => from_cluster(connection, "ConfigMap", CONFIG_MAP).await?,
    };
    let secret = match &arguments.secret {
        Some(file) if file.as_os_str() == ":empty" => None,
        Some(file) => Some(from_file(file, "Secret", SECRET)?),
        None => from_cluster(connection, "Secret", SECRET).await?,
    };
    Ok(Config::read(Sources {
        config_map: config_map.as_ref().map(Object::value),
        secret: secret.as_ref().map(Object::value),
        self_service: None,
    }))
}

fn from_file(path: &Path, kind: &str, name: &str) -> Outcome<Object> {
    let text = terminal::file(Some(path))?;
    let documents = yaml::documents(text.as_bytes(), &yaml::Options::default());
    let objects = documents.into_iter().filter_map(|document| Object::new(document.result.ok()?).ok());
    let mut found = objects.filter(|object| object.kind() == kind && object.name() == name);
    found.next().ok_or_else(|| misuse(format!("{} has no {kind} {name}", path.display())))
}

async fn from_cluster(connection: &Connection, kind: &str, name: &str) -> Outcome<Option<Object>> {
    let found =
        open(connection).await?.get(&Gvk::new("", "v1", kind), &connection.argocd_namespace, name).await;
    found.doing(format!("cannot read the {kind} {name}"))
}

async fn application(connection: &Connection, name: &str) -> Outcome<Object> {
    let path = Path::new(name);
    if path.is_file() {
        let value = crate::proj::from_file(path)?;
        return crate::format::object(value, &format!("cannot read {name}"));
    }
    let gvk = Gvk::new("argoproj.io", "v1alpha1", "Application");
    let found = open(connection).await?.get(&gvk, &connection.argocd_namespace, name).await;
    found.doing(format!("cannot read the Application {name}"))?.ok_or_else(|| {
        Failure::new(Code::NotFound, format!("there is no Application {name}, and no such file"))
    })
}

/// The first line of what a template says, shortened as argocd does.
fn preview(template: &Value) -> String {
    let message = template.str_at(&["message"]).filter(|message| !message.is_empty());
    let text = message.map_or_else(|| json::go_string(template), str::to_owned);
    let line = text.split('\n').next().unwrap_or_default();
    match line.char_indices().nth(99) {
        Some((end, _)) if line.chars().count() > 100 => format!("{}...", &line[..end]),
        _ => line.to_owned(),
    }
}

fn triggers(config: &Config, wanted: Option<&str>, format: Format) {
    if let Format::Wide = format {
        let mut table = Table::new(&["NAME", "TEMPLATE", "CONDITION"]);
        for (name, conditions) in config.triggers.iter().filter(|(name, _)| is_wanted(name, wanted)) {
            for (at, condition) in conditions.iter().enumerate() {
                let send: Vec<&str> = condition.send.iter().map(Str::as_str).collect();
                let name = if at == 0 { name.to_string() } else { String::new() };
                table.row([name, send.join(", "), condition.when.to_string()]);
            }
        }
        print!("{table}");
        return;
    }
    let values = config.triggers.iter().map(|(name, conditions)| {
        let conditions: Vec<Value> = conditions.iter().map(|condition| condition.to_value()).collect();
        (name.clone(), Value::from(conditions))
    });
    list(&[], std::iter::empty(), &values.collect(), wanted, format);
}

fn is_wanted(name: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| wanted == name)
}

/// Prints what is wanted in one of the ways.
fn list<'a>(
    header: &[&str],
    rows: impl Iterator<Item = (&'a Str, Vec<String>)>,
    values: &BTreeMap<Str, Value>,
    wanted: Option<&str>,
    format: Format,
) {
    let mut all = lynceus_object::value!({});
    for (name, value) in values.iter().filter(|(name, _)| is_wanted(name, wanted)) {
        all.set(&[name.as_str()], value.clone());
    }
    match format {
        Format::Json => println!("{}", json::to_string_pretty(&all, 2)),
        Format::Yaml => print!("{}", yaml::to_string(&all)),
        Format::Name => {
            values.keys().filter(|name| is_wanted(name, wanted)).for_each(|name| println!("{name}"));
        }
        Format::Wide => {
            let mut table = Table::new(header);
            for (name, cells) in rows.filter(|(name, _)| is_wanted(name, wanted)) {
                table.row(std::iter::once(name.to_string()).chain(cells));
            }
            print!("{table}");
        }
    }
}

async fn run_trigger(config: &Config, name: &str, application: &Object, oracle: &mut Oracle<'_>) -> Outcome {
    let Some(conditions) = config.triggers.get(name) else {
        let names: Vec<&str> = config.triggers.keys().map(Str::as_str).collect();
        let message = format!("trigger with name '{name}' does not exist (found {})", names.join(", "));
        return Err(Failure::new(Code::NotFound, message));
    };
    let (triggers, faults) = Triggers::new(config);
    for fault in faults.iter().filter(|fault| fault.place == format!("trigger.{name}")) {
        anstream::eprintln!("warning: {fault}");
    }
    let now = Timestamp::now();
    let mut facts = Facts::default();
    let ran = loop {
        let mut ambience = Ambience::at(now);
        let mut random = |bytes: &mut [u8]| ambience.random(bytes);
        let ran = triggers.run(name, subject(config, application, &facts), now, &mut random);
        match ran {
            Some(ran) if !ran.needs.is_empty() => oracle.answer(application, &ran.needs, &mut facts).await,
            ran => break ran.unwrap_or_default(),
        }
    };
    for fault in &ran.faults {
        anstream::eprintln!("warning: {}", config.redactor().hide(&fault.to_string()));
    }
    let mut table = Table::new(&["CONDITION", "RESULT"]);
    for (condition, result) in conditions.iter().zip(&ran.results) {
        table.row([condition.when.to_string(), result.triggered.to_string()]);
    }
    print!("{table}");
    Ok(())
}

fn subject<'a>(config: &'a Config, application: &'a Object, facts: &'a Facts) -> Subject<'a> {
    Subject {
        application: application.value(),
        project: None,
        context: &config.context,
        secrets: Some(&config.secrets),
        facts,
        more: &[],
    }
}

/// Who asks the repository of an application what an expression or a template wants to know. Before that nobody goes to the
/// cluster, which says how the repository is reached.
struct Oracle<'a> {
    connection: &'a Connection,
    server: Option<Result<Arc<Server>, String>>,
}

impl<'a> Oracle<'a> {
    fn of(connection: &'a Connection) -> Self {
        Oracle { connection, server: None }
    }

    async fn answer(&mut self, application: &Object, needs: &[Need], facts: &mut Facts) {
        let server = match self.server.take() {
            Some(server) => server,
            None => server(self.connection).await.map_err(|failure| failure.on_one_line()),
        };
        match &server {
            Ok(server) => server.engine().find_out(application, needs, facts).await,
            Err(why) => unanswered(needs, facts, why),
        }
        self.server = Some(server);
    }
}

fn unanswered(needs: &[Need], facts: &mut Facts, why: &str) {
    for need in needs {
        match need {
            Need::Commit(revision) => drop(facts.commits.insert(revision.clone(), Err(why.to_owned()))),
            Need::Details => facts.details = Some(Err(why.to_owned())),
        }
    }
}

async fn notify(
    config: &Config,
    template: &str,
    application: &Object,
    recipient: &str,
    oracle: &mut Oracle<'_>,
) -> Outcome {
    let to = Destination::parse(recipient);
    let (message, now) = filled(config, template, application, &to, oracle).await?;
    if to.service == "console" {
        print!("{}", yaml::to_string(&message.to_value()));
        return Ok(());
    }
    let failed = |why: &str| {
        let why = config.redactor().hide(why);
        Failure::new(Code::Refused, format!("failed to notify '{recipient}': {why}"))
    };
    let Some(service) = config.services.get(&to.service) else {
        return Err(failed(&format!("notification service '{}' is not configured", to.service)));
    };
    let mut ambience = Ambience::at(now);
    let mut random = |bytes: &mut [u8]| ambience.random(bytes);
    let service = Service::new(service).map_err(|why| failed(&why))?;
    let delivery =
        service.deliver(&message, &to, now, &mut random).map_err(|error| failed(&error.message))?;
    for left_out in delivery.left_out() {
        anstream::eprintln!("warning: {}", config.redactor().hide(left_out));
    }
    let post = Post::new(lynceus_post::Options::default());
    post.send(delivery).await.map_err(|error| failed(&error.message))
}

async fn filled(
    config: &Config,
    template: &str,
    application: &Object,
    to: &Destination,
    oracle: &mut Oracle<'_>,
) -> Outcome<(Notification, Timestamp)> {
    let (templates, _) = Templates::new(config);
    let now = Timestamp::now();
    let mut facts = Facts::default();
    loop {
        let mut ambience = Ambience::at(now);
        let mut random = |bytes: &mut [u8]| ambience.random(bytes);
        let subject = subject(config, application, &facts);
        match templates.fill(&[template.into()], subject, to, now, &mut random) {
            Ok(Render::Filled(message)) => return Ok((message, now)),
            Ok(Render::Needs(needs)) => oracle.answer(application, &needs, &mut facts).await,
            Err(fault) => return Err(misuse(config.redactor().hide(&fault.to_string()))),
        }
    }
}
