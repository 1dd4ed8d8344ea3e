//! `lynceus admin settings`: trying out policies, checks and actions, with the cluster's settings or with files.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use lynceus_engine::Settings;
use lynceus_health::{Customizations, World};
use lynceus_object::{Gvk, Object, value};
use lynceus_server::{ACTIONS, RESOURCES};

use super::{elsewhere, open};
use crate::api::{Connection, misuse};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::table::Table;
use crate::{assess, format, proj};

// Settings, tried out.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The ConfigMap argocd-cm, in a file; without it, that of the cluster.
    #[arg(long, global = true, value_name = "FILE")]
    argocd_cm_path: Option<PathBuf>,
    /// Accepted for scripts: nothing that is tried out here is in argocd-secret.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    argocd_secret_path: Option<PathBuf>,
    /// Accepted for scripts: without files, the cluster's settings are read.
    #[arg(long, global = true, hide = true)]
    load_cluster_settings: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Policies: who may do what.
    Rbac {
        #[command(subcommand)]
        command: Rbac,
    },
    /// Checks and actions of kinds.
    ResourceOverrides {
        #[command(subcommand)]
        command: Overrides,
    },
    /// Say what of the settings cannot be read or has no effect.
    Validate,
}

#[derive(Subcommand)]
enum Rbac {
    /// Say whether a role or somebody may do something. Exit code 1 if not.
    Can {
        /// The role or the subject: role:readonly, alice.
        subject: String,
        /// The action.
        action: String,
        /// The resource: applications, projects, clusters …
        resource: String,
        /// The object as policies name it.
        #[arg(default_value = "*")]
        object: String,
        /// The policy: a file of lines, or the ConfigMap argocd-rbac-cm; without it, that of the cluster.
        #[arg(long, value_name = "FILE")]
        policy_file: Option<PathBuf>,
        /// The role that everybody has.
        #[arg(long, value_name = "ROLE")]
        default_role: Option<String>,
        /// Whether the built-in roles count as well.
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = true)]
        use_builtin_policy: bool,
        /// Whether action and resource have to be known.
        #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = true)]
        strict: bool,
        /// Print nothing.
        #[arg(short, long)]
        quiet: bool,
    },
    /// Say whether a policy can be read. Exit code 1 if not.
    Validate {
        /// The policy: a file of lines, or the ConfigMap argocd-rbac-cm; without it, that of the cluster.
        #[arg(long, value_name = "FILE")]
        policy_file: Option<PathBuf>,
    },
}

#[derive(Subcommand)]
enum Overrides {
    /// Say how healthy an object is.
    Health {
        /// The object, in a file.
        file: PathBuf,
    },
    /// List the actions of an object.
    ListActions {
        /// The object, in a file.
        file: PathBuf,
    },
    /// What is not here, and what to use instead.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

pub(super) async fn run(connection: &Connection, arguments: Arguments) -> Outcome {
    let settings = arguments.argocd_cm_path.as_deref();
    match arguments.command {
        Command::Rbac { command } => rbac(connection, command).await,
        Command::Validate => {
            let read = Settings::of(&map(connection, settings, "argocd-cm").await?, &Object::default());
            for diagnostic in &read.diagnostics {
                println!("{}", diagnostic.to_text());
            }
            match read.diagnostics.is_empty() {
                true => println!("Settings are valid."),
                false => return Err(Failure::new(Code::Answer, "")),
            }
            Ok(())
        }
        Command::ResourceOverrides { command: Overrides::Other(words) } => {
            Err(elsewhere::instead("admin settings resource-overrides", &words))
        }
        Command::ResourceOverrides { command: Overrides::Health { file } } => {
            let (checks, object) = subject(connection, settings, &file).await?;
            match checks.check(&object, &world()) {
                Some(health) => println!("STATUS: {}\nMESSAGE: {}", health.status, health.message),
                None => {
                    println!("Health script is not configured for '{}/{}'", object.group(), object.kind())
                }
            }
            Ok(())
        }
        Command::ResourceOverrides { command: Overrides::ListActions { file } } => {
            let (checks, object) = subject(connection, settings, &file).await?;
            let offers = checks.offers(&object, &world()).doing("cannot list the actions")?;
            if offers.is_empty() {
                println!("Actions are not configured for '{}/{}'", object.group(), object.kind());
                return Ok(());
            }
            let mut table = Table::new(&["NAME", "DISABLED"]);
            for offer in offers {
                table.row([offer.name.to_string(), offer.disabled.to_string()]);
            }
            print!("{table}");
            Ok(())
        }
    }
}

fn world() -> World {
    assess::world()
}

async fn subject(
    connection: &Connection,
    settings: Option<&Path>,
    file: &Path,
) -> Outcome<(Customizations, Object)> {
    let object = format::object(proj::from_file(file)?, &format!("cannot read {}", file.display()))?;
    let (checks, errors) = Customizations::read(&map(connection, settings, "argocd-cm").await?);
    for error in errors {
        anstream::eprintln!("warning: argocd-cm: {error}");
    }
    Ok((checks, object))
}

/// A ConfigMap, of a file or of the cluster; an empty one if the cluster has none.
async fn map(connection: &Connection, file: Option<&Path>, name: &str) -> Outcome<Object> {
    if let Some(file) = file {
        return format::object(proj::from_file(file)?, &format!("cannot read {}", file.display()));
    }
    let found = open(connection)
        .await?
        .get(&Gvk::new("", "v1", "ConfigMap"), &connection.argocd_namespace, name)
        .await;
    Ok(found.doing(format!("cannot read the ConfigMap {name}"))?.unwrap_or_default())
}

/// The policy: a ConfigMap, or lines that become one.
async fn policy(connection: &Connection, file: Option<&Path>) -> Outcome<Object> {
    let Some(path) = file else { return map(connection, None, "argocd-rbac-cm").await };
    let text = crate::terminal::file(Some(path))?;
    if text.contains("kind: ConfigMap") {
        return map(connection, file, "argocd-rbac-cm").await;
    }
    let map = value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-rbac-cm"}, "data": {"policy.csv": text}});
    format::object(map, "cannot read the policy")
}

async fn rbac(connection: &Connection, command: Rbac) -> Outcome {
    match command {
        Rbac::Validate { policy_file } => {
            let map = policy(connection, policy_file.as_deref()).await?;
            match lynceus_server::policy_allows(&map, true, "", ["", "", ""]) {
                Ok(_) => {
                    println!("Policy is valid.");
                    Ok(())
                }
                Err(line) => {
                    println!("Policy is invalid: {line}");
                    Err(Failure::new(Code::Answer, ""))
                }
            }
        }
        Rbac::Can {
            subject,
            action,
            resource,
            object,
            policy_file,
            default_role,
            use_builtin_policy,
            strict,
            quiet,
        } => {
            let resource = full(&resource);
            if strict {
                known("action", action.split('/').next().unwrap_or_default(), &ACTIONS)?;
                known("resource", resource, &RESOURCES)?;
            }
            let mut map = policy(connection, policy_file.as_deref()).await?;
            if let Some(role) = default_role {
                map.set(&["data", "policy.default"], role);
            }
            let asked = [resource, action.as_str(), object.as_str()];
            let may = lynceus_server::policy_allows(&map, use_builtin_policy, &subject, asked)
                .map_err(|line| misuse(format!("the policy has a line that cannot be read: {line}")))?;
            if !quiet {
                println!("{}", if may { "Yes" } else { "No" });
            }
            if may { Ok(()) } else { Err(Failure::new(Code::Answer, "")) }
        }
    }
}

fn known(what: &str, word: &str, all: &[&str]) -> Outcome {
    match word == "*" || all.contains(&word) {
        true => Ok(()),
        false => Err(misuse(format!("{word:?} is no {what}"))
            .hint(format!("they are {}; --strict=false takes any", all.join(", ")))),
    }
}

/// The full name of a resource that is named in short.
fn full(word: &str) -> &str {
    match word {
        "app" | "apps" | "application" => "applications",
        "appset" | "appsets" | "applicationset" => "applicationsets",
        "proj" | "projs" | "project" => "projects",
        "repo" | "repos" | "repository" => "repositories",
        "cert" | "certs" | "certificate" => "certificates",
        "account" => "accounts",
        "cluster" => "clusters",
        "gpgkey" | "key" => "gpgkeys",
        "log" => "logs",
        other => other,
    }
}
