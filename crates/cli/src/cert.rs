//! `lynceus cert`: which hosts and certificates of repositories are trusted.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection, misuse};
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;
use crate::terminal;

/// Work with certificates and host keys of repositories, as `argocd cert` does.
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
    /// Trust the keys of SSH hosts: `ssh-keyscan host | lynceus cert add-ssh --batch`.
    AddSsh {
        /// Read lines as known_hosts has them; it has to be given.
        #[arg(long)]
        batch: bool,
        /// Read them from this file instead of standard input.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Replace keys that are known and different.
        #[arg(long)]
        upsert: bool,
    },
    /// Trust certificates for a server.
    AddTls {
        /// The host name of the server.
        #[arg(value_name = "SERVER")]
        host: String,
        /// Read them from this file, in PEM, instead of standard input.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Replace certificates that are known and different.
        #[arg(long)]
        upsert: bool,
    },
    /// List what is trusted.
    List {
        /// Only those of this sort.
        #[arg(long, value_parser = ["ssh", "https"])]
        cert_type: Option<String>,
        /// Only those of hosts like this: `*.example.com`.
        #[arg(long, value_name = "PATTERN", default_value = "")]
        hostname_pattern: String,
        /// In which order.
        #[arg(long, value_parser = ["hostname", "type"])]
        sort: Option<String>,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Stop trusting.
    Rm {
        /// The host name, or a pattern.
        #[arg(value_name = "SERVER")]
        host: String,
        /// Only those of this sort.
        #[arg(long, value_parser = ["ssh", "https"])]
        cert_type: Option<String>,
        /// Only those of this kind of key: ssh-ed25519.
        #[arg(long, value_name = "TYPE", default_value = "")]
        cert_sub_type: String,
    },
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    let api = Api::open(connection).await?;
    match arguments.command {
        Command::AddSsh { batch: false, .. } => {
            Err(misuse("--batch is missing").hint("ssh-keyscan HOST | lynceus cert add-ssh --batch"))
        }
        Command::AddSsh { from, upsert, .. } => {
            let answer = create(&api, known_hosts(&terminal::file(from.as_deref())?)?, upsert).await?;
            println!("Successfully created {} SSH known host entries", answer.items_at(&["items"]).len());
            Ok(())
        }
        Command::AddTls { host, from, upsert } => {
            let certificates = certificates(&terminal::file(from.as_deref())?)?;
            let data = STANDARD.encode(certificates.concat());
            let entry = value!([{"serverName": host.as_str(), "certType": "https", "certData": data}]);
            create(&api, entry, upsert).await?;
            println!(
                "Created/updated TLS certificate entry for repository server {host} with {} unique PEM certificates",
                certificates.len()
            );
            Ok(())
        }
        Command::List { cert_type, hostname_pattern, sort, output } => {
            let query =
                value!({"hostNamePattern": hostname_pattern, "certType": cert_type.unwrap_or_default()});
            let failed = "cannot list the certificates";
            let answer = api.call(failed, "CertificateService.ListCertificates", query).await?;
            list(&answer, sort.as_deref(), output)
        }
        Command::Rm { host, cert_type, cert_sub_type } => {
            let question = format!("Are you sure you want to remove all certificates for '{host}'? [y/n] ");
            if !connection.confirmed(&question)? {
                println!("The command to remove all certificates for '{host}' was cancelled.");
                return Ok(());
            }
            let query = value!({"hostNamePattern": host, "certType": cert_type.unwrap_or_default(), "certSubType": cert_sub_type});
            let failed = "cannot remove the certificates";
            removed(&api.call(failed, "CertificateService.DeleteCertificate", query).await?);
            Ok(())
        }
    }
}

async fn create(api: &Api, items: Value, upsert: bool) -> Outcome<Value> {
    let message = value!({"certificates": {"items": items}, "upsert": upsert});
    api.call("cannot add the certificates", "CertificateService.CreateCertificate", message).await
}

/// An entry for each host of each line of a file of known hosts.
fn known_hosts(text: &str) -> Outcome<Value> {
    let mut entries = Vec::new();
    let lines = text.lines().map(str::trim).enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [hosts, kind, key, ..] = words[..] else {
            let message = format!("line {} is not HOST TYPE KEY, as known_hosts has it", at + 1);
            return Err(misuse(message));
        };
        let hosts = hosts.split(',').filter(|host| !host.is_empty());
        entries.extend(hosts.map(|host| {
            value!({"serverName": host, "certType": "ssh", "certSubType": kind, "certData": STANDARD.encode(key)})
        }));
    }
    match entries.is_empty() {
        true => Err(misuse("No valid SSH known hosts data found.")),
        false => Ok(Value::from(entries)),
    }
}

/// The certificates in a text of PEM, each once.
fn certificates(text: &str) -> Outcome<Vec<String>> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let mut found: Vec<String> = Vec::new();
    for part in text.split(BEGIN).skip(1) {
        let Some((body, _)) = part.split_once(END) else {
            return Err(misuse("a certificate has no end").hint(format!("it ends with {END}")));
        };
        let body: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let certificate = format!("{BEGIN}\n{}\n{END}\n", body.join("\n"));
        match found.contains(&certificate) {
            true => println!("WARNING: Duplicate certificate detected, skipping."),
            false => found.push(certificate),
        }
    }
    match found.is_empty() {
        true => Err(misuse("No valid certificates have been detected in the stream.")),
        false => Ok(found),
    }
}

fn list(answer: &Value, sort: Option<&str>, output: Output) -> Outcome {
    let mut items = answer.items_at(&["items"]).to_vec();
    let field = |item: &Value, name: &str| text(item, &[name]).to_owned();
    match sort {
        Some("hostname") => items.sort_by_key(|item| field(item, "serverName")),
        Some(_) => items.sort_by_key(|item| field(item, "certType")),
        None => {}
    }
    let names: Vec<String> = items.iter().map(|item| field(item, "serverName")).collect();
    format::print(output, &Value::from(items.clone()), names, || {
        let mut table = Table::new(&["HOSTNAME", "TYPE", "SUBTYPE", "INFO"]);
        for item in &items {
            table.row(["serverName", "certType", "certSubType", "certInfo"].map(|name| field(item, name)));
        }
        table.to_string()
    })
}

fn removed(answer: &Value) {
    let items = answer.items_at(&["items"]);
    if items.is_empty() {
        println!("No certificates were removed (none matched the given pattern)");
    }
    for item in items {
        let [host, kind, sub] = ["serverName", "certType", "certSubType"].map(|name| text(item, &[name]));
        println!("Removed cert for '{host}' of type '{kind}' (subtype '{sub}')");
    }
}
