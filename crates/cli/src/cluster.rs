//! `lynceus cluster`: the clusters that are delivered to.

mod add;
mod manager;

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection, misuse};
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;

pub(crate) use add::{Spec, labelled};

/// Work with clusters, as `argocd cluster` does.
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
    /// Add the cluster of a kubeconfig's context.
    Add(Box<add::Arguments>),
    /// Show clusters.
    Get {
        /// The cluster, by address or name; several may be given.
        #[arg(required = true)]
        clusters: Vec<String>,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t = Output::Yaml)]
        output: Output,
    },
    /// List the clusters.
    List {
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Remove clusters. What was set up in them for us stays.
    Rm {
        /// The cluster, by address or name; several may be given.
        #[arg(required = true)]
        clusters: Vec<String>,
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
    },
    /// Replace the token of a cluster.
    RotateAuth {
        /// The cluster, by address or name.
        cluster: String,
    },
    /// Change a cluster.
    Set {
        /// The cluster, by name.
        cluster: String,
        /// Another name.
        #[arg(long, default_value = "")]
        name: String,
        /// The only namespaces to look into; '*' for all.
        #[arg(long, value_name = "NAMESPACE")]
        namespace: Vec<String>,
        /// A label, as KEY=VALUE; they replace those that are there.
        #[arg(long, value_name = "KEY=VALUE")]
        label: Vec<String>,
        /// An annotation, as KEY=VALUE; they replace those that are there.
        #[arg(long, value_name = "KEY=VALUE")]
        annotation: Vec<String>,
    },
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    let api = Api::open(connection).await?;
    match arguments.command {
        Command::Add(arguments) => add::run(&api, connection, &arguments).await,
        Command::Get { clusters, output } => {
            let mut found = Vec::new();
            for cluster in &clusters {
                let failed = format!("cannot read cluster {cluster}");
                found.push(api.call(&failed, "ClusterService.Get", query(cluster)).await?);
            }
            let value = if let [one] = &found[..] { one.clone() } else { Value::from(found.clone()) };
            let servers = found.iter().map(|cluster| text(cluster, &["server"]).to_owned());
            format::print(output, &value, servers, || found.iter().map(details).collect())
        }
        Command::List { output } => {
            let answer = api.call("cannot list the clusters", "ClusterService.List", value!({})).await?;
            let items = answer.get("items").cloned().unwrap_or_else(|| value!([]));
            let all = items.as_seq().unwrap_or_default();
            let servers = all.iter().map(|cluster| text(cluster, &["server"]).to_owned());
            format::print(output, &items, servers, || table(all).to_string())
        }
        Command::Rm { clusters, yes } => {
            for cluster in &clusters {
                let question = format!("Are you sure you want to remove '{cluster}'? [y/n] ");
                if !yes && !connection.confirmed(&question)? {
                    println!("The command to remove '{cluster}' was cancelled.");
                    continue;
                }
                let failed = format!("cannot remove cluster {cluster}");
                api.call(&failed, "ClusterService.Delete", query(cluster)).await?;
                println!("Cluster '{cluster}' removed");
            }
            Ok(())
        }
        Command::RotateAuth { cluster } => {
            let failed = format!("cannot replace the token of cluster {cluster}");
            let rotated = api.call(&failed, "ClusterService.RotateAuth", query(&cluster)).await;
            let hint =
                "make a new one with the kubeconfig of the cluster:\nlynceus cluster add CONTEXT --upsert";
            rotated.map_err(|failure| failure.hint(hint))?;
            println!("Cluster '{cluster}' rotated auth");
            Ok(())
        }
        Command::Set { cluster, name, namespace, label, annotation } => {
            let change = change(
                (&name, &namespace),
                labelled("--label", &label)?,
                labelled("--annotation", &annotation)?,
            )?;
            let mut message = change;
            message.set(&["id"], value!({"type": "name", "value": cluster.as_str()}));
            let failed = format!("cannot change cluster {cluster}");
            api.call(&failed, "ClusterService.Update", message).await?;
            println!("Cluster '{cluster}' updated.");
            Ok(())
        }
    }
}

/// A cluster that is named by its address or its name.
fn query(cluster: &str) -> Value {
    let is_address = cluster.starts_with("https://") || cluster.starts_with("http://");
    value!({"id": {"type": if is_address { "url" } else { "name" }, "value": cluster}})
}

/// What is changed, and which fields that is.
fn change((name, namespaces): (&str, &[String]), labels: Value, annotations: Value) -> Outcome<Value> {
    let mut namespaces: Vec<&str> = namespaces.iter().map(String::as_str).collect();
    let asked = !namespaces.is_empty();
    if namespaces == ["*"] {
        namespaces.clear();
    }
    let mut fields: Vec<Value> = Vec::new();
    for (field, given) in [
        ("name", !name.is_empty()),
        ("namespaces", asked),
        ("labels", !labels.is_empty()),
        ("annotations", !annotations.is_empty()),
    ] {
        if given {
            fields.push(field.into());
        }
    }
    if fields.is_empty() {
        return Err(misuse("Specify the cluster field to be updated.")
            .hint("--name, --namespace, --label or --annotation"));
    }
    let namespaces: Value = namespaces.into_iter().map(Value::from).collect();
    Ok(value!({
        "cluster": {"name": name, "namespaces": namespaces, "labels": labels, "annotations": annotations},
        "updatedFields": fields,
    }))
}

fn table(clusters: &[Value]) -> Table {
    let mut table = Table::new(&["SERVER", "NAME", "VERSION", "STATUS", "MESSAGE", "PROJECT"]);
    for cluster in clusters {
        let server = text(cluster, &["server"]);
        let server = match cluster.items_at(&["namespaces"]).len() {
            0 => server.to_owned(),
            count => format!("{server} ({count} namespaces)"),
        };
        let word = |path: &[&str]| text(cluster, path).to_owned();
        table.row([
            server,
            word(&["name"]),
            word(&["info", "serverVersion"]),
            word(&["info", "connectionState", "status"]),
            word(&["info", "connectionState", "message"]),
            word(&["project"]),
        ]);
    }
    table
}

fn details(cluster: &Value) -> String {
    let namespaces = crate::format::texts(cluster, &["namespaces"]);
    let namespaces = if namespaces.is_empty() { "*".to_owned() } else { namespaces.join(", ") };
    let name = text(cluster, &["name"]);
    let tls = ["config", "tlsClientConfig"];
    let has = |path: &[&str]| !text(cluster, path).is_empty();
    let flag = |path: &[&str]| cluster.bool_at(path).unwrap_or_default();
    format!(
        "Cluster information\n\n  Server URL:            {}\n  Server Name:           {}\n  Server Version:        {}\n  \
         Namespaces:        \t {namespaces}\n\nTLS configuration\n\n  Client cert:           {}\n  \
         Cert validation:       {}\n\nAuthentication\n\n  Basic authentication:  {}\n  oAuth authentication:  {}\n  \
         AWS authentication:    {}\n\nDisable compression: {}\n\nUse proxy: {}\n\n",
        text(cluster, &["server"]),
        if name.is_empty() { "-" } else { name },
        text(cluster, &["info", "serverVersion"]),
        has(&[tls[0], tls[1], "certData"]),
        !flag(&[tls[0], tls[1], "insecure"]),
        has(&["config", "username"]),
        has(&["config", "bearerToken"]),
        cluster.at(&["config", "awsAuthConfig"]).is_some(),
        flag(&["config", "disableCompression"]),
        has(&["config", "proxyUrl"]),
    )
}
