//! `lynceus proj source-integrity git policies`: with which keys the commits of which repositories have to be signed.

use clap::Subcommand;
use lynceus_object::{Value, value};

use super::{Projects, change};
use crate::api::misuse;
use crate::exit::{Code, Failure, Outcome};
use crate::format::{text, texts};
use crate::table::Table;
use crate::terminal;

// What commits have to be signed with.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    sort: Sort,
}

#[derive(Subcommand)]
enum Sort {
    /// Commits of Git.
    Git {
        #[command(subcommand)]
        part: Part,
    },
}

#[derive(Subcommand)]
enum Part {
    /// Policies: which keys for which repositories.
    Policies {
        #[command(subcommand)]
        command: Command,
    },
}

#[derive(Subcommand)]
enum Command {
    /// Add a policy.
    Add {
        /// The project.
        project: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Delete policies.
    Delete {
        /// The project.
        project: String,
        /// The policies, as `list` counts them.
        #[arg(required = true)]
        policies: Vec<usize>,
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
    },
    /// List the policies.
    List {
        /// The project.
        project: String,
    },
    /// Change a policy.
    Update {
        /// The project.
        project: String,
        /// The policy, as `list` counts them.
        policy: usize,
        #[command(flatten)]
        flags: Flags,
        /// One more key.
        #[arg(long, value_delimiter = ',', value_name = "ID", conflicts_with = "gpg_key")]
        add_gpg_key: Vec<String>,
        /// One key less.
        #[arg(long, value_delimiter = ',', value_name = "ID", conflicts_with = "gpg_key")]
        delete_gpg_key: Vec<String>,
        /// One more repository.
        #[arg(long, value_delimiter = ',', value_name = "URL", conflicts_with = "repo_url")]
        add_repo_url: Vec<String>,
        /// One repository less.
        #[arg(long, value_delimiter = ',', value_name = "URL", conflicts_with = "repo_url")]
        delete_repo_url: Vec<String>,
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
    },
}

// What a policy says.
#[derive(clap::Args)]
struct Flags {
    /// A key; may be given several times.
    #[arg(long, value_delimiter = ',', value_name = "ID")]
    gpg_key: Vec<String>,
    /// Whether every commit has to be signed, only the last, or none.
    #[arg(long, value_parser = ["strict", "head", "none"])]
    gpg_mode: Option<String>,
    /// Repositories, by address or pattern; may be given several times.
    #[arg(long, value_delimiter = ',', value_name = "URL")]
    repo_url: Vec<String>,
}

const POLICIES: [&str; 4] = ["spec", "sourceIntegrity", "git", "policies"];

pub(super) async fn run(projects: &Projects, arguments: Arguments) -> Outcome {
    let Sort::Git { part: Part::Policies { command } } = arguments.sort;
    match command {
        Command::List { project } => {
            let project = projects.get(&project).await?;
            let policies = project.items_at(&POLICIES);
            match policies.is_empty() {
                true => println!("No Git policies in project '{}'", text(&project, &["metadata", "name"])),
                false => print!("{}", table(policies)),
            }
            Ok(())
        }
        Command::Add { project, flags } => {
            if flags.gpg_mode.is_none() || flags.repo_url.is_empty() {
                return Err(misuse("a policy needs --gpg-mode and --repo-url"));
            }
            let mut project = projects.get(&project).await?;
            let mut policies = project.items_at(&POLICIES).to_vec();
            policies.push(flags.fill(value!({"gpg": {}}))?);
            project.set(&POLICIES, Value::from(policies));
            projects.update(project).await
        }
        Command::Delete { project, policies: doomed, yes } => {
            let mut project = projects.get(&project).await?;
            let known = project.items_at(&POLICIES).to_vec();
            for at in &doomed {
                check(*at, &known)?;
            }
            let question = format!("Are you sure you want to delete {} Git policies? [y/n] ", doomed.len());
            if !yes && !terminal::confirmed(&question)? {
                return Ok(());
            }
            let left = known.into_iter().enumerate().filter(|(at, _)| !doomed.contains(at));
            project.set(&POLICIES, left.map(|(_, policy)| policy).collect::<Value>());
            projects.update(project).await
        }
        Command::Update {
            project,
            policy,
            flags,
            add_gpg_key,
            delete_gpg_key,
            add_repo_url,
            delete_repo_url,
            yes,
        } => {
            let mut project = projects.get(&project).await?;
            let mut policies = project.items_at(&POLICIES).to_vec();
            check(policy, &policies)?;
            let mut changed = flags.fill(policies[policy].clone())?;
            lists(&mut changed, (&add_gpg_key, &delete_gpg_key), (&add_repo_url, &delete_repo_url))?;
            if changed == policies[policy] {
                return Err(misuse("nothing is given to change"));
            }
            if !yes
                && !terminal::confirmed(&format!(
                    "Are you sure you want to change Git policy {policy}? [y/n] "
                ))?
            {
                return Ok(());
            }
            policies[policy] = changed;
            project.set(&POLICIES, Value::from(policies));
            projects.update(project).await
        }
    }
}

fn check(at: usize, policies: &[Value]) -> Outcome {
    match policies.len() {
        0 => Err(Failure::new(Code::NotFound, "the project has no Git policies")),
        count if at >= count => {
            Err(Failure::new(Code::NotFound, format!("the POLICY_ID {at} is out of range (0-{})", count - 1)))
        }
        _ => Ok(()),
    }
}

impl Flags {
    fn fill(&self, mut policy: Value) -> Outcome<Value> {
        if let Some(mode) = &self.gpg_mode {
            policy.set(&["gpg", "mode"], mode.as_str());
        }
        if !self.gpg_key.is_empty() {
            let keys = self.gpg_key.iter().map(|key| change::key_id(key).map(Value::from));
            policy.set(&["gpg", "keys"], Value::from(keys.collect::<Outcome<Vec<_>>>()?));
        }
        if !self.repo_url.is_empty() {
            policy.set(&["repos"], self.repo_url.iter().map(|url| repo(url)).collect::<Value>());
        }
        Ok(policy)
    }
}

fn repo(url: &str) -> Value {
    value!({"url": url})
}

fn lists(
    policy: &mut Value,
    (more_keys, less_keys): (&[String], &[String]),
    (more_repos, less_repos): (&[String], &[String]),
) -> Outcome {
    let keys = ["gpg", "keys"];
    for key in more_keys {
        change::put(policy, &keys, change::key_id(key)?.into());
    }
    for key in less_keys {
        change::take(policy, &keys, &change::key_id(key)?.into());
    }
    for url in more_repos {
        change::put(policy, &["repos"], repo(url));
    }
    for url in less_repos {
        change::take(policy, &["repos"], &repo(url));
    }
    Ok(())
}

fn table(policies: &[Value]) -> Table {
    let mut table = Table::new(&["ID", "GPG-MODE", "GPG-KEYS", "REPO-URLS"]);
    let some = |list: Vec<String>| if list.is_empty() { "<none>".to_owned() } else { list.join(", ") };
    for (at, policy) in policies.iter().enumerate() {
        let mode = text(policy, &["gpg", "mode"]);
        let repos = policy.items_at(&["repos"]).iter().map(|repo| text(repo, &["url"]).to_owned());
        table.row([
            at.to_string(),
            if mode.is_empty() { "<none>" } else { mode }.to_owned(),
            some(texts(policy, &["gpg", "keys"])),
            some(repos.collect()),
        ]);
    }
    table
}
