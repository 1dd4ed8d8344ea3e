//! `lynceus repo` and `lynceus repocreds`: repositories, and credentials for many of them.

pub(crate) mod credentials;

use clap::Subcommand;
use lynceus_object::{Value, value};

use crate::api::{Api, Connection, misuse};
use crate::exit::Outcome;
use crate::format::{self, Output, text};
use crate::table::Table;
use credentials::Credentials;

/// Work with repositories, as `argocd repo` does.
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
    /// Add a repository; whether it can be reached is tried first.
    Add(Box<Add>),
    /// Show repositories.
    Get {
        /// The address of the repository; several may be given.
        #[arg(required = true)]
        repo: Vec<String>,
        /// The project that it belongs to.
        #[arg(long, default_value = "")]
        project: String,
        /// `hard` tries again whether it can be reached.
        #[arg(long, value_parser = ["hard"])]
        refresh: Option<String>,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// List the repositories.
    List {
        /// `hard` tries again whether they can be reached.
        #[arg(long, value_parser = ["hard"])]
        refresh: Option<String>,
        /// How to print them.
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Remove repositories.
    Rm {
        /// The address of the repository; several may be given.
        #[arg(required = true)]
        repo: Vec<String>,
        /// The project that it belongs to.
        #[arg(long, default_value = "")]
        project: String,
    },
}

// A new repository.
#[derive(clap::Args)]
pub(crate) struct Add {
    /// The address.
    pub(crate) repo: String,
    /// git, helm or oci.
    #[arg(long = "type", value_name = "TYPE", value_parser = ["git", "helm", "oci"], default_value = "git")]
    kind: String,
    /// A name, which a repository of charts has to have.
    #[arg(long, default_value = "")]
    name: String,
    /// The project that it belongs to.
    #[arg(long, default_value = "")]
    project: String,
    /// Replace one that is there and different.
    #[arg(long)]
    upsert: bool,
    /// Do not check certificates and host keys.
    #[arg(long)]
    insecure_skip_server_verification: bool,
    /// The same, as it was called before.
    #[arg(long, hide = true)]
    insecure_ignore_host_key: bool,
    /// Fetch large files as well.
    #[arg(long)]
    enable_lfs: bool,
    /// How many commits are fetched; without it, all.
    #[arg(long, value_name = "N")]
    depth: Option<i64>,
    /// Reach it through this proxy.
    #[arg(long, value_name = "URL", default_value = "")]
    proxy: String,
    /// Hosts that are reached without it.
    #[arg(long, value_name = "HOSTS", default_value = "")]
    no_proxy: String,
    /// Do not render anew what a webhook tells of.
    #[arg(long)]
    webhook_manifest_cache_warm_disabled: bool,
    #[command(flatten)]
    credentials: Credentials,
}

impl Add {
    /// The repository as the API has it.
    pub(crate) fn repository(&self) -> Outcome<Value> {
        if self.kind == "helm" && self.name.is_empty() {
            return Err(misuse("Must specify --name for repos of type 'helm'"));
        }
        let mut repo = value!({"repo": self.repo.as_str(), "type": self.kind.as_str()});
        for (field, value) in [
            ("name", &self.name),
            ("project", &self.project),
            ("proxy", &self.proxy),
            ("noProxy", &self.no_proxy),
        ] {
            if !value.is_empty() {
                repo.set(&[field], value.as_str());
            }
        }
        for (field, wanted) in [
            ("insecure", self.insecure_skip_server_verification || self.insecure_ignore_host_key),
            ("enableLfs", self.enable_lfs),
            ("webhookManifestCacheWarmDisabled", self.webhook_manifest_cache_warm_disabled),
        ] {
            if wanted {
                repo.set(&[field], true);
            }
        }
        if let Some(depth) = self.depth {
            repo.set(&["depth"], depth);
        }
        self.credentials.fill(&self.repo, &mut repo)?;
        Ok(repo)
    }
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let connection = &arguments.connection;
    let api = Api::open(connection).await?;
    match arguments.command {
        Command::Add(add) => {
            let message = value!({"repo": add.repository()?, "upsert": add.upsert});
            let failed = format!("cannot add repository {}", lynceus_source::redact(&add.repo));
            let made = api.call(&failed, "RepositoryService.CreateRepository", message).await?;
            println!("Repository '{}' added", text(&made, &["repo"]));
            Ok(())
        }
        Command::Get { repo, project, refresh, output } => {
            let mut found = Vec::new();
            for repo in &repo {
                let query = value!({"repo": repo.as_str(), "appProject": project.as_str(), "forceRefresh": refresh.is_some()});
                let failed = format!("cannot read repository {}", lynceus_source::redact(repo));
                found.push(api.call(&failed, "RepositoryService.Get", query).await?);
            }
            let shown = if let [one] = &found[..] { one.clone() } else { Value::from(found.clone()) };
            print(output, &shown, &found)
        }
        Command::List { refresh, output } => {
            let query = value!({"forceRefresh": refresh.is_some()});
            let failed = "cannot list the repositories";
            let answer = api.call(failed, "RepositoryService.ListRepositories", query).await?;
            let found = answer.items_at(&["items"]).to_vec();
            print(output, &Value::from(found.clone()), &found)
        }
        Command::Rm { repo, project } => {
            for repo in &repo {
                if !connection.confirmed(&format!("Are you sure you want to delete '{repo}'? [y/n] "))? {
                    println!("The command to delete '{repo}' was cancelled.");
                    continue;
                }
                let query = value!({"repo": repo.as_str(), "appProject": project.as_str()});
                let failed = format!("cannot remove repository {}", lynceus_source::redact(repo));
                api.call(&failed, "RepositoryService.DeleteRepository", query).await?;
                println!("Repository '{repo}' removed");
            }
            Ok(())
        }
    }
}

fn print(output: Output, value: &Value, repositories: &[Value]) -> Outcome {
    let urls = repositories.iter().map(|repo| text(repo, &["repo"]).to_owned());
    format::print(output, value, urls, || table(repositories).to_string())
}

fn table(repositories: &[Value]) -> Table {
    let header = ["TYPE", "NAME", "REPO", "INSECURE", "OCI", "LFS", "CREDS", "STATUS", "MESSAGE", "PROJECT"];
    let mut table = Table::new(&header);
    for repo in repositories {
        let word = |path: &[&str]| text(repo, path).to_owned();
        let flag = |name: &str| repo.bool_at(&[name]).unwrap_or_default();
        // Of credentials only the name is told; that it is there says that there are some.
        let credentials = if flag("inheritedCreds") {
            "inherited".to_owned()
        } else {
            (!word(&["username"]).is_empty()).to_string()
        };
        table.row([
            match text(repo, &["type"]) {
                "" => "git".to_owned(),
                kind => kind.to_owned(),
            },
            word(&["name"]),
            word(&["repo"]),
            (flag("insecure") || flag("insecureIgnoreHostKey")).to_string(),
            flag("enableOCI").to_string(),
            flag("enableLfs").to_string(),
            credentials,
            word(&["connectionState", "status"]),
            word(&["connectionState", "message"]),
            word(&["project"]),
        ]);
    }
    table
}
