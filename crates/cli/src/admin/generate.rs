//! `generate-spec`: objects as the API would store them, from the same flags, to be kept in Git.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Subcommand;
use lynceus_object::{Value, json, value, yaml};

use super::elsewhere;
use crate::api::{Connection, misuse};
use crate::app::Flags;
use crate::exit::{Doing as _, Outcome};
use crate::{cluster, format, place, proj, repo};

// How an object is printed.
#[derive(clap::Args)]
struct Printed {
    /// How to print it.
    #[arg(short, long, value_parser = ["yaml", "json"], default_value = "yaml")]
    output: String,
}

impl Printed {
    fn text(&self, value: &Value) -> Outcome<String> {
        match self.output.as_str() {
            "json" => Ok(format!("{}\n", format::json(value)?)),
            _ => Ok(yaml::to_string(value)),
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum App {
    /// Print an Application.
    GenerateSpec(Box<AppSpec>),
    /// What is not here, and what to use instead.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(clap::Args)]
pub(crate) struct AppSpec {
    /// The name.
    name: String,
    /// The namespace.
    #[arg(short = 'N', long, default_value = "argocd")]
    app_namespace: String,
    #[command(flatten)]
    printed: Printed,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Subcommand)]
pub(crate) enum Project {
    /// Print an AppProject.
    GenerateSpec(Box<ProjectSpec>),
    /// What is not here, and what to use instead.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(clap::Args)]
pub(crate) struct ProjectSpec {
    /// The name; not needed with --file.
    project: Option<String>,
    /// Begin with the project of this file.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write it back to the file.
    #[arg(short, long, requires = "file")]
    inline: bool,
    #[command(flatten)]
    printed: Printed,
    #[command(flatten)]
    spec: proj::Spec,
}

#[derive(Subcommand)]
pub(crate) enum Repository {
    /// Print the Secret of a repository.
    GenerateSpec(Box<RepositorySpec>),
    /// What is not here, and what to use instead.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(clap::Args)]
pub(crate) struct RepositorySpec {
    #[command(flatten)]
    add: repo::Add,
    #[command(flatten)]
    printed: Printed,
}

#[derive(Subcommand)]
pub(crate) enum Cluster {
    /// Print the Secret of a cluster.
    GenerateSpec(Box<ClusterSpec>),
    /// What is not here, and what to use instead.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

#[derive(clap::Args)]
pub(crate) struct ClusterSpec {
    /// The context of the kubeconfig.
    context: String,
    /// The token that lets one in.
    #[arg(long, value_name = "TOKEN", default_value = "")]
    bearer_token: String,
    #[command(flatten)]
    printed: Printed,
    #[command(flatten)]
    spec: cluster::Spec,
}

pub(super) fn app(command: App) -> Outcome {
    let arguments = match command {
        App::GenerateSpec(arguments) => arguments,
        App::Other(words) => return Err(elsewhere::instead("admin app", &words)),
    };
    let (mut spec, mut source) = (value!({"project": "default", "destination": {}}), value!({}));
    arguments.flags.apply(&mut spec, &mut source)?;
    if source.str_at(&["repoURL"]).is_none() {
        return Err(misuse("--repo is missing"));
    }
    spec.set(&["source"], source);
    let application = value!({
        "apiVersion": format!("{}/{}", lynceus_api::GROUP, lynceus_api::VERSION),
        "kind": "Application",
        "metadata": {"name": arguments.name.as_str(), "namespace": arguments.app_namespace.as_str()},
        "spec": spec,
    });
    print!("{}", arguments.printed.text(&application)?);
    Ok(())
}

pub(super) fn project(command: Project) -> Outcome {
    let arguments = match command {
        Project::GenerateSpec(arguments) => arguments,
        Project::Other(words) => return Err(elsewhere::instead("admin proj", &words)),
    };
    let file = arguments.file.as_deref();
    let project = proj::project(arguments.project.as_deref(), file, &arguments.spec)?;
    let text = arguments.printed.text(&project)?;
    match file.filter(|_| arguments.inline) {
        Some(file) => std::fs::write(file, text).doing(format!("cannot write {}", file.display())),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

pub(super) fn repository(command: Repository, connection: &Connection) -> Outcome {
    let arguments = match command {
        Repository::GenerateSpec(arguments) => arguments,
        Repository::Other(words) => return Err(elsewhere::instead("admin repo", &words)),
    };
    let mut fields = arguments.add.repository()?;
    let url = fields.remove(&["repo"]).unwrap_or_default();
    fields.set(&["url"], url);
    let name = format!("repo-{}", hashed(&arguments.add.repo));
    print!("{}", arguments.printed.text(&secret(&name, "repository", &fields, connection))?);
    Ok(())
}

pub(super) async fn cluster(command: Cluster, connection: &Connection) -> Outcome {
    let arguments = match command {
        Cluster::GenerateSpec(arguments) => arguments,
        Cluster::Other(words) => return Err(elsewhere::instead("admin cluster", &words)),
    };
    let file = place::kubeconfig(connection.kubeconfig.as_deref());
    let config = lynceus_cluster::config(file.as_deref(), Some(&arguments.context)).await;
    let config = config.doing(format!("cannot read context {} of the kubeconfig", arguments.context))?;
    let mut fields = arguments.spec.cluster(&arguments.context, &config)?;
    if !arguments.bearer_token.is_empty() {
        fields.set(&["config", "bearerToken"], arguments.bearer_token.as_str());
    }
    let config = fields.remove(&["config"]).unwrap_or_default();
    fields.set(&["config"], json::to_string(&config));
    let namespaces = format::texts(&fields, &["namespaces"]).join(",");
    fields.set(&["namespaces"], namespaces);
    let labels = fields.remove(&["labels"]).unwrap_or_default();
    let annotations = fields.remove(&["annotations"]).unwrap_or_default();
    let server = fields.str_at(&["server"]).unwrap_or_default().to_owned();
    let host = server.split("://").nth(1).unwrap_or(&server).split([':', '/']).next().unwrap_or_default();
    let name = format!("cluster-{}-{}", host.to_lowercase(), hashed(&server));
    let mut secret = secret(&name, "cluster", &fields, connection);
    for (field, more) in [("labels", labels), ("annotations", annotations)] {
        for (key, value) in more.as_map().into_iter().flat_map(|map| map.iter()) {
            secret.set(&["metadata", field, key], value.clone());
        }
    }
    print!("{}", arguments.printed.text(&secret)?);
    Ok(())
}

/// The number that Argo CD puts behind the names of Secrets: FNV-1a of the address.
fn hashed(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A Secret as Argo CD keeps repositories and clusters.
fn secret(name: &str, kind: &str, fields: &Value, connection: &Connection) -> Value {
    let mut data = value!({});
    for (key, value) in fields.as_map().into_iter().flat_map(|map| map.iter()) {
        let text = match value {
            Value::Null => continue,
            Value::Str(text) => text.to_string(),
            other => json::to_string(other),
        };
        if !text.is_empty() && text != "false" {
            data.set(&[key], STANDARD.encode(text));
        }
    }
    value!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": connection.argocd_namespace.as_str(),
            "labels": {"argocd.argoproj.io/secret-type": kind},
            "annotations": {"managed-by": "argocd.argoproj.io"},
        },
        "data": data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_behind_a_name_is_fnv() {
        assert_eq!(hashed(""), 0x811c_9dc5);
        assert_eq!(hashed("a"), 0xe40c_292c);
    }
}
