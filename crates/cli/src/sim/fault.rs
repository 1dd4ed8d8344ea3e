//! `lynceus sim fault`: have things go wrong in an embedded cluster that runs, and put them right again.
//!
//! Each command makes a Fault, as `kubectl apply` would; what it means is decided by the cluster.

use std::path::PathBuf;
use std::sync::Arc;

use lynceus_cluster::{Cluster, ClusterError, Deletion};
use lynceus_object::{Gvk, Object, Value, value};

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::table::Table;
use crate::{format, place};

/// Have something go wrong in an embedded cluster that runs: errors, silence, full disks.
///
/// Each command makes an object of the kind Fault (docs/faults.md), which kubectl can list and delete as well. Patterns may
/// have * for any text.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The kubeconfig of the embedded cluster.
    #[arg(long, global = true, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, global = true, value_name = "NAME")]
    kube_context: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Answer requests with an error: 429, 500, 503 or 504.
    Answer {
        /// The code.
        code: i64,
        /// What the answer says, instead of the server's usual words.
        #[arg(long)]
        message: Option<String>,
        #[command(flatten)]
        hit: Hit,
        #[command(flatten)]
        common: Common,
    },
    /// Have requests take longer.
    Slow {
        /// By how much: 2s.
        #[arg(long)]
        by: String,
        #[command(flatten)]
        hit: Hit,
        #[command(flatten)]
        common: Common,
    },
    /// Cut watches: once, or again and again with --for.
    Watch {
        /// Forget what came before, so that going on from there is answered with 410.
        #[arg(long)]
        expired: bool,
        #[command(flatten)]
        requests: Requests,
        #[command(flatten)]
        common: Common,
    },
    /// Have a node fall silent.
    Node {
        /// Its name.
        node: String,
        /// What becomes of it.
        #[arg(value_enum)]
        state: NodeState,
        #[command(flatten)]
        common: Common,
    },
    /// Fill the disk of a node: its pods are sent away, and no others are taken.
    FillDisk {
        /// Its name.
        node: String,
        #[command(flatten)]
        common: Common,
    },
    /// Seal Vault.
    SealVault {
        /// Its namespace, or NAMESPACE/POD.
        #[arg(default_value = "vault")]
        place: String,
        #[command(flatten)]
        common: Common,
    },
    /// Have the tokens of a service account expire that were made so far.
    ExpireToken {
        /// The service account: NAMESPACE/NAME.
        account: String,
        /// Only the token with this id (jti).
        #[arg(long)]
        token: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// List what goes wrong, and what will.
    List,
    /// Put things right again: what the named faults do, or all of them.
    Clear {
        /// The faults.
        names: Vec<String>,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum NodeState {
    /// It says nothing any more.
    Down,
}

// What every fault can have.
#[derive(clap::Args)]
struct Common {
    /// The fault's name; one is made up if not given.
    #[arg(long)]
    name: Option<String>,
    /// When it begins: 30s from now, or a time; at once if not given.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// How long it lasts: 1m; until it is cleared if not given.
    #[arg(long = "for", value_name = "DURATION")]
    lasts: Option<String>,
    /// Print the Fault, for kubectl create, instead of making it.
    #[arg(long)]
    print: bool,
}

// Which requests, and what part of them.
#[derive(clap::Args)]
struct Hit {
    #[command(flatten)]
    requests: Requests,
    /// The part of the requests, such as 0.3; all if not given.
    #[arg(long)]
    share: Option<f64>,
}

impl Hit {
    fn write(&self, spec: &mut Value) {
        self.requests.write(spec);
        set(spec, "share", self.share);
    }
}

// Which requests; all if nothing is given.
#[derive(clap::Args)]
struct Requests {
    /// API groups; core is the one without a name.
    #[arg(long = "group", value_name = "GROUPS", value_delimiter = ',')]
    groups: Vec<String>,
    /// Plural resources, or a part of one: pods/status.
    #[arg(long = "resource", value_name = "RESOURCES", value_delimiter = ',')]
    resources: Vec<String>,
    /// get, list, watch, create, update, patch, delete, deletecollection.
    #[arg(long, value_name = "VERBS", value_delimiter = ',')]
    verbs: Vec<String>,
    /// Namespaces.
    #[arg(long = "namespace", short = 'n', value_name = "NAMESPACES", value_delimiter = ',')]
    namespaces: Vec<String>,
    /// Names of objects.
    #[arg(long = "object", value_name = "NAMES", value_delimiter = ',')]
    names: Vec<String>,
    /// Names of users.
    #[arg(long = "user", value_name = "USERS", value_delimiter = ',')]
    users: Vec<String>,
}

impl Requests {
    fn write(&self, spec: &mut Value) {
        for (field, list) in [
            ("groups", &self.groups),
            ("resources", &self.resources),
            ("verbs", &self.verbs),
            ("namespaces", &self.namespaces),
            ("names", &self.names),
            ("users", &self.users),
        ] {
            if !list.is_empty() {
                spec.set(&["requests", field], list.clone());
            }
        }
    }
}

pub(crate) async fn run(arguments: Arguments) -> Outcome {
    let access = (arguments.kubeconfig, arguments.kube_context);
    match arguments.command {
        Command::List => list(&*connect(&access).await?).await,
        Command::Clear { names } => clear(&*connect(&access).await?, names).await,
        other => {
            let (fault, print) = made(&other);
            check(&fault)?;
            if print {
                print!("{}", format::documents(std::slice::from_ref(&fault)));
                return Ok(());
            }
            let cluster = connect(&access).await?;
            let stored = cluster
                .create_record(&fault)
                .await
                .map_err(|error| explain("cannot make the fault", &error))?;
            println!(
                "fault {} is made; take it back with: lynceus sim fault clear {}",
                stored.name(),
                stored.name()
            );
            Ok(())
        }
    }
}

/// The Fault that a command stands for, and whether it is only printed.
fn made(command: &Command) -> (Object, bool) {
    let mut spec = value!({});
    let (prefix, common) = match command {
        Command::Answer { code, message, hit, common } => {
            spec.set(&["answer"], *code);
            hit.write(&mut spec);
            set(&mut spec, "message", message.clone());
            ("answer", common)
        }
        Command::Slow { by, hit, common } => {
            spec.set(&["slow"], by.as_str());
            hit.write(&mut spec);
            ("slow", common)
        }
        Command::Watch { expired, requests, common } => {
            spec.set(&["cutWatches"], if *expired { "expired" } else { "ended" });
            requests.write(&mut spec);
            ("watch", common)
        }
        Command::Node { node, state: NodeState::Down, common } => {
            spec.set(&["nodeDown"], node.as_str());
            ("node", common)
        }
        Command::FillDisk { node, common } => {
            spec.set(&["diskFull"], node.as_str());
            ("disk", common)
        }
        Command::SealVault { place, common } => {
            spec.set(&["sealVault"], place.as_str());
            ("vault", common)
        }
        Command::ExpireToken { account, token, common } => {
            spec.set(&["expireTokens"], account.as_str());
            set(&mut spec, "token", token.clone());
            ("token", common)
        }
        Command::List | Command::Clear { .. } => return (Object::default(), false),
    };
    set(&mut spec, "at", common.at.clone());
    set(&mut spec, "for", common.lasts.clone());
    let mut fault = value!({"apiVersion": "sim.lynceus.dev/v1alpha1", "kind": "Fault"});
    match &common.name {
        Some(name) => fault.set(&["metadata", "name"], name.as_str()),
        None => fault.set(&["metadata", "generateName"], format!("{prefix}-")),
    }
    fault.set(&["spec"], spec);
    (Object::new(fault).unwrap_or_default(), common.print)
}

fn set(spec: &mut Value, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        spec.set(&[field], value);
    }
}

fn gvk() -> Gvk {
    Gvk::new("sim.lynceus.dev", "v1alpha1", "Fault")
}

async fn connect((kubeconfig, context): &(Option<PathBuf>, Option<String>)) -> Outcome<Arc<Cluster>> {
    let kubeconfig = place::kubeconfig(kubeconfig.as_deref());
    let failed = "cannot connect to the cluster";
    let client = lynceus_cluster::client(kubeconfig.as_deref(), context.as_deref()).await.doing(failed)?;
    Cluster::open(client, lynceus_cluster::Options::default()).await.doing(failed)
}

async fn list(cluster: &Cluster) -> Outcome {
    let mut table = Table::new(&["NAME", "WHAT", "PHASE", "HITS", "BEGINS", "ENDS"]);
    for fault in cluster.list(&gvk(), "").await.map_err(|error| explain("cannot list the faults", &error))? {
        let text = |field| fault.value().str_at(&["status", field]).unwrap_or_default().to_owned();
        let hits = fault.value().int_at(&["status", "hits"]).map(|hits| hits.to_string()).unwrap_or_default();
        table.row([
            fault.name().to_owned(),
            text("what"),
            text("phase"),
            hits,
            text("beginsAt"),
            text("endsAt"),
        ]);
    }
    print!("{table}");
    Ok(())
}

async fn clear(cluster: &Cluster, names: Vec<String>) -> Outcome {
    let failed = |error: ClusterError| explain("cannot clear the faults", &error);
    let there = cluster.list(&gvk(), "").await.map_err(failed)?;
    let there: Vec<String> = there.iter().map(|fault| fault.name().to_owned()).collect();
    if let Some(unknown) = names.iter().find(|name| !there.contains(name)) {
        let failure = Failure::new(Code::NotFound, format!("there is no fault {unknown}"));
        return Err(failure.hint("see which there are:\nlynceus sim fault list"));
    }
    if there.is_empty() {
        println!("nothing goes wrong");
    }
    for name in if names.is_empty() { there } else { names } {
        cluster.delete(&gvk(), "", &name, &Deletion::default()).await.map_err(failed)?;
        println!("fault {name} is cleared");
    }
    Ok(())
}

/// Says what makes no sense before anybody is asked, in the words of the cluster.
fn check(fault: &Object) -> Outcome {
    match lynceus_sim::stage::Fault::of_object(fault) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = format!("{} {}", error.field, error.problem);
            Err(Failure::new(Code::Other, message).hint(error.hint))
        }
    }
}

/// Says what could not be done, and what to do where it is no embedded cluster.
fn explain(doing: &str, error: &ClusterError) -> Failure {
    match error {
        ClusterError::UnknownKind { .. } => {
            Failure::new(Code::Refused, "this is no embedded cluster: it serves no Faults")
                .hint("name the kubeconfig of one with --kubeconfig FILE, or start one:\nlynceus sim")
        }
        error => Failure::because(doing, error),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// The `spec` that a command line makes.
    fn spec(line: &str) -> String {
        let words = std::iter::once("fault").chain(line.split_whitespace());
        let (fault, _) = made(&Line::try_parse_from(words).unwrap().arguments.command);
        assert!(check(&fault).is_ok(), "{line}");
        lynceus_object::json::to_string(fault.at(&["spec"]).unwrap())
    }

    #[test]
    fn a_command_line_that_makes_no_sense_is_refused_before_anything_is_made_or_printed() {
        for (line, problem, hint) in [
            (
                "answer 418 --print",
                "spec.answer is no code that can be answered",
                "it has to be one of: 429, 500, 503, 504",
            ),
            ("slow --by soon", "spec.slow is no duration", "write it as 5s, 2m or 1h30m"),
            (
                "answer 500 --share 3",
                "spec.share is no part of a whole",
                "it has to be a number from 0 to 1, such as 0.3",
            ),
        ] {
            let words = std::iter::once("fault").chain(line.split_whitespace());
            let (fault, _) = made(&Line::try_parse_from(words).unwrap().arguments.command);
            let failure = check(&fault).unwrap_err();
            assert_eq!(
                (failure.message.as_str(), failure.hints.join("\n").as_str()),
                (problem, hint),
                "{line}"
            );
        }
    }

    #[test]
    fn a_command_line_is_a_fault() {
        for (line, wanted) in [
            (
                "answer 500 --group apps --resource deployments --verbs create,update --share 0.3 --for 1m",
                r#"{"answer":500,"for":"1m","requests":{"groups":["apps"],"resources":["deployments"],"verbs":["create","update"]},"share":0.3}"#,
            ),
            ("node general-0 down", r#"{"nodeDown":"general-0"}"#),
            (
                "watch --resource pods --expired",
                r#"{"cutWatches":"expired","requests":{"resources":["pods"]}}"#,
            ),
            (
                "slow --group apps --by 2s --at 30s",
                r#"{"at":"30s","requests":{"groups":["apps"]},"slow":"2s"}"#,
            ),
            ("seal-vault", r#"{"sealVault":"vault"}"#),
            ("expire-token shop/default", r#"{"expireTokens":"shop/default"}"#),
            ("fill-disk general-*", r#"{"diskFull":"general-*"}"#),
        ] {
            assert_eq!(spec(line), wanted, "{line}");
        }
    }
}
