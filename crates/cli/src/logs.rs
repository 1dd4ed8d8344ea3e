//! What happens inside: lines on stderr, metrics, and traces for a collector of OpenTelemetry.

use clap::ValueEnum;
use lynceus_server::{Collector, Courier, Telemetry};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::arguments::Command;

// How a server tells of what happens inside, by Argo CD's flags and variables.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Logs {
    /// How lines of the log are written.
    #[arg(long, value_name = "FORMAT", value_enum)]
    logformat: Option<Format>,
    /// What is worth a line: debug, info, warn or error.
    #[arg(long, value_name = "LEVEL", value_enum)]
    loglevel: Option<Level>,
    /// Send traces to the OpenTelemetry collector at HOST:PORT, which speaks gRPC, or at an address that begins with http.
    #[arg(long, value_name = "ADDRESS")]
    otlp_address: Option<String>,
    /// Whether the collector at HOST:PORT is spoken to without TLS.
    #[arg(long, value_name = "BOOL", default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    otlp_insecure: Option<bool>,
    /// Headers of each request to the collector: NAME=VALUE, with commas between.
    #[arg(long, value_name = "HEADERS", value_delimiter = ',', value_parser = pair::<'='>)]
    otlp_headers: Vec<(String, String)>,
    /// What is said of this program with every trace: NAME:VALUE, with commas between.
    #[arg(long, value_name = "ATTRIBUTES", value_delimiter = ',', value_parser = pair::<':'>)]
    otlp_attrs: Vec<(String, String)>,
}

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// An object of JSON on each line.
    Json,
}

/// What is worth a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Debug => LevelFilter::DEBUG,
            Level::Info => LevelFilter::INFO,
            Level::Warn => LevelFilter::WARN,
            Level::Error => LevelFilter::ERROR,
        }
    }
}

fn pair<const BETWEEN: char>(text: &str) -> Result<(String, String), String> {
    match text.split_once(BETWEEN) {
        Some((name, value)) if !name.is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err(format!("it has to be NAME{BETWEEN}VALUE")),
    }
}

impl Logs {
    /// What was not said as a flag, as the variables of a role say it.
    fn with(mut self, role: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let named = |name: &str| variable(&format!("{role}_{name}")).filter(|text| !text.is_empty());
        let wrong = |name: &str| format!("{role}_{name} cannot be read");
        if let (None, Some(text)) = (self.logformat, named("LOGFORMAT")) {
            self.logformat = Some(Format::from_str(&text, true).map_err(|_| wrong("LOGFORMAT"))?);
        }
        let level = named("LOGLEVEL").or_else(|| named("LOG_LEVEL"));
        if let (None, Some(text)) = (self.loglevel, level) {
            self.loglevel = Some(Level::from_str(&text, true).map_err(|_| wrong("LOGLEVEL"))?);
        }
        self.otlp_address = self.otlp_address.or_else(|| named("OTLP_ADDRESS"));
        if let (None, Some(text)) = (self.otlp_insecure, named("OTLP_INSECURE")) {
            self.otlp_insecure = Some(text.parse().map_err(|_| wrong("OTLP_INSECURE"))?);
        }
        let pairs = |name: &str, read: fn(&str) -> Result<(String, String), String>| {
            let text = named(name).unwrap_or_default();
            let parts = text.split(',').filter(|part| !part.is_empty());
            parts.map(read).collect::<Result<Vec<_>, _>>().map_err(|_| wrong(name))
        };
        if self.otlp_headers.is_empty() {
            self.otlp_headers = pairs("OTLP_HEADERS", pair::<'='>)?;
        }
        if self.otlp_attrs.is_empty() {
            self.otlp_attrs = pairs("OTLP_ATTRS", pair::<':'>)?;
        }
        Ok(self)
    }

    fn collector(&self, service: &str) -> Option<Collector> {
        Some(Collector {
            address: self.otlp_address.clone().filter(|address| !address.is_empty())?,
            // As in Argo CD, whose collector is most often beside it.
            insecure: self.otlp_insecure.unwrap_or(true),
            headers: self.otlp_headers.clone(),
            attributes: self.otlp_attrs.clone(),
            service: service.to_owned(),
        })
    }
}

/// Begins to tell: everything for a server, only trouble for a command. `RUST_LOG` decides over lines if it is set. Gives who
/// brings traces away, if there are any.
pub(crate) fn begin(verbose: u8, command: &Command) -> Result<Option<Courier>, String> {
    let (role, service, logs) = match command {
        Command::Controller(arguments) => {
            ("ARGOCD_APPLICATION_CONTROLLER", "lynceus-controller", Some(&arguments.logs))
        }
        Command::Server(arguments) => ("ARGOCD_SERVER", "lynceus-server", Some(&arguments.logs)),
        Command::Up(arguments) => ("LYNCEUS", "lynceus", Some(&arguments.logs)),
        _ => ("LYNCEUS", "lynceus", None),
    };
    let counts = logs.is_some();
    let logs = logs.cloned().unwrap_or_default().with(role, |name| std::env::var(name).ok())?;
    let github = match command {
        Command::Controller(arguments) => arguments.exposed.enable_github_api_metrics,
        Command::Up(arguments) => arguments.exposed.enable_github_api_metrics,
        _ => false,
    };
    let (telemetry, courier) = Telemetry::new(logs.collector(service), github)?;
    let set = std::env::var("RUST_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let level = match (logs.loglevel, verbose) {
        (Some(level), 0) => level.into(),
        _ => usual(verbose, command),
    };
    let targets = set.unwrap_or_else(|| heard(level));
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colours);
    let lines = match logs.logformat {
        Some(Format::Json) => lines.json().flatten_event(true).with_filter(targets).boxed(),
        _ => lines.with_filter(targets).boxed(),
    };
    // What is asked once and ends needs no metrics.
    let listener = counts.then(|| telemetry.listener());
    tracing_subscriber::registry().with(lines).with(listener).init();
    telemetry.publish();
    Ok(courier)
}

/// What is worth a line where nobody said it.
fn usual(verbose: u8, command: &Command) -> LevelFilter {
    match (command, verbose) {
        (Command::Controller(_), 0) => LevelFilter::INFO,
        (Command::Up(_) | Command::Sim(_) | Command::Server(_), 0) => LevelFilter::WARN,
        // What goes wrong inside of a rehearsal is what it tells of.
        (Command::Rehearse(_), 0) => LevelFilter::OFF,
        (_, 0) => LevelFilter::ERROR,
        (_, 1) => LevelFilter::INFO,
        (_, 2) => LevelFilter::DEBUG,
        (_, _) => LevelFilter::TRACE,
    }
}

/// What is written of a level. Whoever wrote `insecure-skip-tls-verify` knows, and need not be told again with every
/// connection. That a cluster cannot be reached is said by us, once; and what is measured is for others to read.
fn heard(level: LevelFilter) -> Targets {
    Targets::new()
        .with_default(level)
        .with_target("kube_client::client::tls", LevelFilter::ERROR)
        .with_target("kube_client::client::builder", LevelFilter::OFF)
        .with_target("lynceus::measure", LevelFilter::OFF)
        .with_target("lynceus::span", LevelFilter::OFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flags: Logs, variables: &[(&str, &str)]) -> Result<Logs, String> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        };
        flags.with("ARGOCD_SERVER", find)
    }

    #[test]
    fn a_flag_goes_before_its_variable() {
        let variables = [
            ("ARGOCD_SERVER_LOGFORMAT", "json"),
            ("ARGOCD_SERVER_LOG_LEVEL", "Debug"),
            ("ARGOCD_SERVER_OTLP_ADDRESS", "collector:4317"),
            ("ARGOCD_SERVER_OTLP_INSECURE", "false"),
            ("ARGOCD_SERVER_OTLP_HEADERS", "a=1,b=2"),
            ("ARGOCD_SERVER_OTLP_ATTRS", "team:shop"),
        ];
        let logs = read(Logs { loglevel: Some(Level::Warn), ..Logs::default() }, &variables).unwrap();
        assert_eq!((logs.logformat, logs.loglevel), (Some(Format::Json), Some(Level::Warn)));
        let collector = logs.collector("lynceus").unwrap();
        assert_eq!((collector.address.as_str(), collector.insecure), ("collector:4317", false));
        assert_eq!(collector.headers, [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
        assert_eq!(collector.attributes, [("team".to_owned(), "shop".to_owned())]);
        assert!(read(Logs::default(), &[]).unwrap().collector("lynceus").is_none());
    }

    #[test]
    fn a_variable_that_cannot_be_read_is_named_without_its_value() {
        let refused = |name, text| read(Logs::default(), &[(name, text)]).err().unwrap();
        assert_eq!(refused("ARGOCD_SERVER_LOGFORMAT", "xml"), "ARGOCD_SERVER_LOGFORMAT cannot be read");
        assert_eq!(
            refused("ARGOCD_SERVER_OTLP_HEADERS", "s3cret"),
            "ARGOCD_SERVER_OTLP_HEADERS cannot be read"
        );
    }
}
