//! `lynceus app wait`

use std::time::Duration;

use lynceus_api::{Application, HealthStatusCode, SyncStatusCode};

use super::context::{Choice, Context};
use super::{follow, get};
use crate::exit::{Code, Failure, Outcome};
use crate::format::Output;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The applications.
    names: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Wait until it is synced.
    #[arg(long)]
    sync: bool,
    /// Wait until it is healthy.
    #[arg(long)]
    health: bool,
    /// Wait until no operation is under way.
    #[arg(long)]
    operation: bool,
    /// Wait until it is suspended.
    #[arg(long)]
    suspended: bool,
    /// Wait until it is degraded.
    #[arg(long)]
    degraded: bool,
    /// Wait until it is gone.
    #[arg(long)]
    delete: bool,
    /// How many seconds to wait; 0 is for ever.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    timeout: u64,
    /// How to print it in the end.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

pub(crate) async fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let time = Duration::from_secs(arguments.timeout);
    for name in &context.chosen(&arguments.names, &arguments.choice).await? {
        if arguments.delete {
            gone(context, name, time).await?;
            continue;
        }
        let holds = |application: &Application| arguments.holds(application);
        let waited = follow::until_telling(context, name, time, arguments.output, holds).await?;
        let application = match waited {
            Some(application) => application,
            None => {
                let application = context.application(name).await?;
                print!("\n{}", context.summary(&application));
                return Err(Failure::new(
                    Code::Other,
                    format!(
                        "timed out ({}s) waiting for app {name:?} to match the desired state",
                        arguments.timeout
                    ),
                )
                .hint(format!("see what it waits for:\nlynceus app get {name}"))
                .hint("or give it more time with --timeout SECONDS"));
            }
        };
        if arguments.output == Output::Wide {
            print!("\n{}", context.summary(&application));
        }
        get::print_object(context, name, arguments.output).await?;
    }
    Ok(())
}

impl Arguments {
    /// Whether the application is as asked for; without a wish, synced, healthy and at rest.
    fn holds(&self, application: &Application) -> bool {
        let any = self.sync || self.health || self.operation || self.suspended || self.degraded;
        let synced = application.status.sync.status == SyncStatusCode::Synced;
        let running = application
            .status
            .operation_state
            .as_ref()
            .is_some_and(|state| state.phase.known().is_some_and(|phase| !phase.is_completed()));
        let idle = application.operation.is_none() && !running;
        let is = |code| application.status.health.status == code;
        let mut healths = Vec::new();
        for (wanted, code) in [
            (self.health || !any, HealthStatusCode::Healthy),
            (self.suspended, HealthStatusCode::Suspended),
            (self.degraded, HealthStatusCode::Degraded),
        ] {
            if wanted {
                healths.push(is(code));
            }
        }
        (healths.is_empty() || healths.contains(&true))
            && (synced || (any && !self.sync))
            && (idle || (any && !self.operation))
    }
}

async fn gone(context: &Context, name: &str, time: Duration) -> Outcome {
    match follow::until(context, name, time, |_| false).await {
        // It cannot be read any more: that is what was waited for.
        Err(failure) if failure.code == Code::NotFound => {
            println!("application '{name}' deleted");
            Ok(())
        }
        Err(failure) => Err(failure),
        Ok(_) => Err(Failure::new(Code::Other, format!("timed out waiting for {name} to be gone"))
            .hint(format!("see what is in its way:\nlynceus app get {name}"))),
    }
}
