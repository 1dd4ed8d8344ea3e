//! `lynceus cluster add`: a cluster of a kubeconfig, with a service account that is made for us there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Value, value};
use std::io::IsTerminal as _;

use super::manager;
use crate::api::{Api, Connection, misuse};
use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::terminal;

// A new cluster.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The context of the kubeconfig.
    context: Option<String>,
    /// Do not ask before a service account is made in the cluster.
    #[arg(short, long)]
    yes: bool,
    /// Replace one that is there and different.
    #[arg(long)]
    upsert: bool,
    /// Use this service account of the cluster instead of making one.
    #[arg(long, value_name = "NAME")]
    service_account: Option<String>,
    /// The namespace of the service account.
    #[arg(long, value_name = "NAMESPACE", default_value = "kube-system")]
    system_namespace: String,
    #[command(flatten)]
    spec: Spec,
}

// What a cluster is like.
#[derive(clap::Args)]
pub(crate) struct Spec {
    /// Another name than that of the context.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The only namespaces to look into; may be given several times.
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Vec<String>,
    /// With --namespace: look at what is in no namespace as well.
    #[arg(long)]
    cluster_resources: bool,
    /// The project that it belongs to.
    #[arg(long, default_value = "")]
    project: String,
    /// The shard that looks after it.
    #[arg(long, allow_negative_numbers = true, default_value_t = -1)]
    shard: i64,
    /// A label, as KEY=VALUE; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    label: Vec<String>,
    /// An annotation, as KEY=VALUE; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    annotation: Vec<String>,
    /// It is the cluster that the server itself runs in.
    #[arg(long)]
    in_cluster: bool,
    /// Which address it is reached by.
    #[arg(long, value_parser = ["kubeconfig", "kube-public", "internal"], conflicts_with = "in_cluster")]
    cluster_endpoint: Option<String>,
    /// Reach it through this proxy.
    #[arg(long, value_name = "URL")]
    proxy_url: Option<String>,
    /// The proxy for the server, if it is another; empty for none.
    #[arg(long, value_name = "URL")]
    server_proxy_url: Option<String>,
    /// Ask it for answers that are not compressed.
    #[arg(long)]
    disable_compression: bool,
    /// The name of a cluster of AWS, whose tokens are used.
    #[arg(long, value_name = "NAME")]
    pub(crate) aws_cluster_name: Option<String>,
    /// A role of AWS.
    #[arg(long, value_name = "ARN", default_value = "")]
    aws_role_arn: String,
    /// A profile of AWS.
    #[arg(long, value_name = "NAME", default_value = "")]
    aws_profile: String,
    /// A program that gives credentials.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) exec_command: Option<String>,
    /// Its arguments; may be given several times.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    exec_command_args: Vec<String>,
    /// Its variables, as NAME=VALUE.
    #[arg(long, value_delimiter = ',', value_name = "NAME=VALUE")]
    exec_command_env: Vec<String>,
    /// The version of what it answers.
    #[arg(long, value_name = "VERSION", default_value = "")]
    exec_command_api_version: String,
    /// What to tell those who do not have it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    exec_command_install_hint: String,
}

/// The address of a cluster from within.
const INTERNAL: &str = "https://kubernetes.default.svc";

pub(super) async fn run(api: &Api, connection: &Connection, arguments: &Arguments) -> Outcome {
    let Some(context) = arguments.context.as_deref() else {
        return Err(Failure::new(Code::Answer, "no context is named")
            .hint("see which there are: kubectl config get-contexts"));
    };
    let file = connection.kubeconfig.as_deref();
    let failed = format!("cannot read context {context} of the kubeconfig");
    let config = lynceus_cluster::config(file, Some(context)).await.doing(failed)?;
    let spec = &arguments.spec;
    let mut cluster = spec.cluster(context, &config)?;
    if spec.aws_cluster_name.is_none() && spec.exec_command.is_none() {
        let client = kube::Client::try_from(config).doing("cannot connect to the cluster")?;
        let account = arguments.service_account.as_deref();
        if account.is_none() && !agreed(context, arguments)? {
            return Err(Failure::new(Code::Answer, "the cluster was not added"));
        }
        let token = manager::token(client, &arguments.system_namespace, account, &spec.namespace).await?;
        cluster.set(&["config", "bearerToken"], token);
    }
    let server = cluster.str_at(&["server"]).unwrap_or_default().to_owned();
    let message = value!({"cluster": cluster, "upsert": arguments.upsert});
    api.call(&format!("cannot add cluster {server}"), "ClusterService.Create", message).await?;
    println!("Cluster '{server}' added");
    Ok(())
}

fn agreed(context: &str, arguments: &Arguments) -> Outcome<bool> {
    if arguments.yes || !std::io::stdout().is_terminal() {
        return Ok(true);
    }
    let level = if arguments.spec.namespace.is_empty() { "cluster" } else { "namespace" };
    terminal::confirmed(&format!(
        "WARNING: This will create a service account `{}` on the cluster referenced by context `{context}` with full \
         {level} level privileges. Do you want to continue [y/N]? ",
        manager::NAME
    ))
}

impl Spec {
    /// The cluster as the API has it, without what lets one in.
    pub(crate) fn cluster(&self, context: &str, config: &kube::Config) -> Outcome<Value> {
        let is_internal = self.in_cluster || self.cluster_endpoint.as_deref() == Some("internal");
        if self.cluster_endpoint.as_deref() == Some("kube-public") {
            return Err(misuse("--cluster-endpoint kube-public is not looked up here")
                .hint("use the address of the kubeconfig, or --in-cluster"));
        }
        let address = config.cluster_url.to_string();
        let server = if is_internal { INTERNAL } else { address.trim_end_matches('/') };
        let mut tls = value!({"insecure": config.accept_invalid_certs});
        if let Some(name) = &config.tls_server_name {
            tls.set(&["serverName"], name.as_str());
        }
        if let Some(roots) = config.root_cert.as_ref().filter(|_| !config.accept_invalid_certs) {
            tls.set(&["caData"], STANDARD.encode(roots.iter().map(|der| pem(der)).collect::<String>()));
        }
        let mut cluster = value!({
            "server": server,
            "name": self.name.as_deref().unwrap_or(context),
            "config": {"tlsClientConfig": tls, "disableCompression": self.disable_compression},
            "labels": labelled("--label", &self.label)?,
            "annotations": labelled("--annotation", &self.annotation)?,
            "clusterResources": self.cluster_resources,
        });
        cluster.set(
            &["namespaces"],
            self.namespace.iter().map(|one| Value::from(one.as_str())).collect::<Value>(),
        );
        if let Some(proxy) = self.server_proxy_url.as_ref().or(self.proxy_url.as_ref()) {
            cluster.set(&["config", "proxyUrl"], proxy.as_str());
        }
        if !self.project.is_empty() {
            cluster.set(&["project"], self.project.as_str());
        }
        if self.shard >= 0 {
            cluster.set(&["shard"], self.shard);
        }
        self.programs(&mut cluster)?;
        Ok(cluster)
    }

    /// Tokens that a program gives.
    fn programs(&self, cluster: &mut Value) -> Outcome {
        if let Some(name) = &self.aws_cluster_name {
            let aws = value!({"clusterName": name.as_str(), "roleARN": self.aws_role_arn.as_str(), "profile": self.aws_profile.as_str()});
            cluster.set(&["config", "awsAuthConfig"], aws);
        } else if let Some(command) = &self.exec_command {
            let arguments: Value =
                self.exec_command_args.iter().map(|one| Value::from(one.as_str())).collect();
            let exec = value!({
                "command": command.as_str(),
                "args": arguments,
                "env": labelled("--exec-command-env", &self.exec_command_env)?,
                "apiVersion": self.exec_command_api_version.as_str(),
                "installHint": self.exec_command_install_hint.as_str(),
            });
            cluster.set(&["config", "execProviderConfig"], exec);
        }
        Ok(())
    }
}

/// `KEY=VALUE` as a map.
pub(crate) fn labelled(flag: &str, texts: &[String]) -> Outcome<Value> {
    let mut map = value!({});
    for text in texts {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => map.set(&[key], value),
            _ => return Err(misuse(format!("{flag} {text:?} should have the form KEY=VALUE"))),
        }
    }
    Ok(map)
}

/// A certificate as text.
fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut out = String::from("-----BEGIN CERTIFICATE-----\n");
    for line in text.as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str("-----END CERTIFICATE-----\n");
    out
}
