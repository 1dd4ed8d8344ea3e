//! `lynceus app wait`

use std::collections::BTreeMap;
use std::time::Duration;

use lynceus_api::{Application, HealthStatusCode, HydrateOperationPhase, ResourceStatus, SyncStatusCode};
use lynceus_object::ObjectKey;

use super::context::{Choice, Context};
use super::pattern::{self, ResourcePattern};
use super::resources::key;
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
    /// Wait until no operation is under way, and the last one has been looked at.
    #[arg(long)]
    operation: bool,
    /// Wait until it is suspended.
    #[arg(long)]
    suspended: bool,
    /// Wait until it is degraded.
    #[arg(long)]
    degraded: bool,
    /// Wait until what the source hydrator was to render is rendered.
    #[arg(long)]
    hydrated: bool,
    /// Wait for these resources alone, as GROUP:KIND:NAME or GROUP:KIND:NAMESPACE/NAME; `*` for any part, `!` before it for
    /// all others; may be given several times.
    #[arg(long, value_name = "RESOURCE")]
    resource: Vec<ResourcePattern>,
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
        let (wish, meant, mut watch) = (arguments.wish(), &arguments.resource, Watch::default());
        let holds = |application: &Application, resources: &[ResourceStatus]| {
            let is_worse = watch.see(meant, resources) && wish.health && !wish.degraded;
            is_worse || wish.holds(application, meant, resources)
        };
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
        if let Some(was) = watch.fallen.filter(|_| wish.health && !wish.degraded) {
            let message =
                format!("application '{name}' health state has transitioned from {was} to Degraded");
            return Err(
                Failure::new(Code::Other, message).hint(format!("see what is wrong:\nlynceus doctor {name}"))
            );
        }
    }
    Ok(())
}

impl Arguments {
    /// What is waited for: what was asked for, or else that it is synced, healthy and at rest.
    fn wish(&self) -> Wish {
        let asked = Wish {
            sync: self.sync,
            health: self.health,
            suspended: self.suspended,
            degraded: self.degraded,
            operation: self.operation,
            hydrated: self.hydrated,
        };
        match asked == Wish::default() {
            true => Wish { sync: true, health: true, operation: true, ..asked },
            false => asked,
        }
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Wish {
    sync: bool,
    health: bool,
    suspended: bool,
    degraded: bool,
    operation: bool,
    hydrated: bool,
}

impl Wish {
    /// Whether an application is as it is wished, or those of its resources that are meant.
    fn holds(
        self,
        application: &Application,
        meant: &[ResourcePattern],
        resources: &[ResourceStatus],
    ) -> bool {
        let status = &application.status;
        let is_as_wished = match meant.is_empty() {
            true => self.is(status.health.status.as_str(), status.sync.status.as_str()),
            false => {
                let mut chosen = resources.iter().filter(|resource| pattern::is_meant(meant, resource));
                pattern::are_there(meant, resources)
                    && chosen.all(|resource| self.is(health(resource), resource.status.as_str()))
            }
        };
        is_as_wished
            && (!self.operation || is_at_rest(application))
            && (!self.hydrated || is_hydrated(application))
    }

    fn is(self, health: &str, sync: &str) -> bool {
        let mut healths = [
            (self.health, HealthStatusCode::Healthy),
            (self.suspended, HealthStatusCode::Suspended),
            (self.degraded, HealthStatusCode::Degraded),
        ]
        .into_iter()
        .filter(|(wanted, _)| *wanted)
        .peekable();
        let is_healthy = healths.peek().is_none() || healths.any(|(_, code)| health == code.to_string());
        is_healthy && (!self.sync || sync == SyncStatusCode::Synced.to_string())
    }
}

/// How healthy a resource is. One of which nothing can be said is as well as it can be.
fn health(resource: &ResourceStatus) -> &str {
    match resource.health.as_ref().map(|health| health.status.as_str()) {
        None | Some("") => "Healthy",
        Some(status) => status,
    }
}

/// Whether no operation is asked for or under way, and the last one has been looked at since: until then its state is that
/// from before.
fn is_at_rest(application: &Application) -> bool {
    let status = &application.status;
    let Some(state) = &status.operation_state else { return application.operation.is_none() };
    let is_dry = state.operation.sync.as_ref().is_some_and(|sync| sync.dry_run);
    let is_seen = is_dry || status.reconciled_at >= state.finished_at;
    application.operation.is_none() && state.phase.known().is_none_or(|phase| phase.is_completed()) && is_seen
}

/// Whether what was rendered last is what was to be rendered last.
fn is_hydrated(application: &Application) -> bool {
    let status = &application.status.source_hydrator;
    let (Some(now), Some(done)) = (&status.current_operation, &status.last_successful_operation) else {
        return false;
    };
    now.phase == HydrateOperationPhase::Hydrated
        && now.source_hydrator == done.source_hydrator
        && now.dry_sha == done.dry_sha
}

/// How healthy the resources were when they were last looked at.
#[derive(Default)]
struct Watch {
    healths: BTreeMap<ObjectKey, String>,
    /// The health from which one of them has fallen.
    fallen: Option<String>,
}

impl Watch {
    /// Whether one of them has become degraded since.
    fn see(&mut self, meant: &[ResourcePattern], resources: &[ResourceStatus]) -> bool {
        for resource in resources.iter().filter(|resource| pattern::is_meant(meant, resource)) {
            let now = health(resource).to_owned();
            let before = self.healths.insert(key(resource), now.clone());
            let was = before.filter(|was| was != "Unknown" && was != "Degraded" && now == "Degraded");
            self.fallen = self.fallen.take().or(was);
        }
        self.fallen.is_some()
    }
}

async fn gone(context: &Context, name: &str, time: Duration) -> Outcome {
    let seen = context.object(name).await;
    let was_there = seen.is_ok();
    let waited = match seen {
        Ok(_) => follow::until(context, name, time, |_| false).await,
        Err(failure) => Err(failure),
    };
    match waited {
        // It cannot be read any more: that is what was waited for. A server says of what is not there that one may not see
        // it, which says nothing of what one has never seen.
        Err(failure) if failure.code == Code::NotFound || was_there && failure.code == Code::Denied => {
            println!("application '{name}' deleted");
            Ok(())
        }
        Err(failure) => Err(failure),
        Ok(_) => Err(Failure::new(Code::Other, format!("timed out waiting for {name} to be gone"))
            .hint(format!("see what is in its way:\nlynceus app get {name}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use lynceus_api::Kind as _;
    use lynceus_object::{Object, Value, value};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn application(status: Value) -> Application {
        let object = value!({"metadata": {"name": "shop"}, "spec": {}, "status": status});
        Application::from_object(&Object::new(object).unwrap()).unwrap()
    }

    fn check(status: &Value, line: &str) -> bool {
        let words = std::iter::once("wait").chain(line.split(' ').filter(|word| !word.is_empty()));
        let arguments = Line::parse_from(words).arguments;
        let application = application(status.clone());
        arguments.wish().holds(&application, &arguments.resource, &application.status.resources)
    }

    #[test]
    fn what_is_wished_decides_and_without_a_wish_it_is_synced_healthy_and_at_rest() {
        let well = value!({"sync": {"status": "Synced"}, "health": {"status": "Healthy"}});
        let paused = value!({"sync": {"status": "OutOfSync"}, "health": {"status": "Suspended"}});
        for (line, expected) in [
            ("", [true, false]),
            ("--sync", [true, false]),
            ("--health", [true, false]),
            ("--suspended", [false, true]),
            ("--health --suspended", [true, true]),
            ("--sync --suspended", [false, false]),
            ("--degraded", [false, false]),
            ("--operation", [true, true]),
            ("--hydrated", [false, false]),
        ] {
            assert_eq!([check(&well, line), check(&paused, line)], expected, "{line}");
        }
    }

    #[test]
    fn an_operation_is_over_when_it_has_been_looked_at() {
        let status = |reconciled: &str| {
            value!({
                "sync": {"status": "Synced"}, "health": {"status": "Healthy"}, "reconciledAt": reconciled,
                "operationState": {
                    "operation": {"sync": {}}, "phase": "Succeeded", "startedAt": "2026-01-01T00:00:00Z",
                    "finishedAt": "2026-01-01T00:00:10Z",
                },
            })
        };
        assert!(!check(&status("2026-01-01T00:00:09Z"), ""));
        assert!(check(&status("2026-01-01T00:00:09Z"), "--health"));
        assert!(check(&status("2026-01-01T00:00:10Z"), ""));
    }

    #[test]
    fn resources_are_waited_for_alone_and_one_that_is_named_has_to_be_there() {
        let resource = |kind: &str, name: &str, sync: &str, health: &str| value!({"group": "", "kind": kind, "namespace": "shop", "name": name, "status": sync, "health": {"status": health}});
        let status = value!({
            "sync": {"status": "OutOfSync"}, "health": {"status": "Progressing"},
            "resources": [
                resource("Service", "web", "Synced", "Healthy"),
                resource("Service", "slow", "Synced", "Progressing"),
                {"group": "", "kind": "ConfigMap", "namespace": "shop", "name": "settings", "status": "Synced"},
            ],
        });
        for (line, expected) in [
            ("--resource :Service:web", true),
            ("--resource :Service:shop/web --resource :ConfigMap:settings", true),
            ("--resource :Service:slow", false),
            ("--resource :Service:slow --sync", true),
            ("--resource :Service:*", false),
            ("--resource !:Service:slow", true),
            ("--resource :Service:coming", false),
        ] {
            assert_eq!(check(&status, line), expected, "{line}");
        }
    }

    #[test]
    fn a_resource_that_becomes_degraded_ends_the_waiting_for_health() {
        let resources = |health: &str| {
            let service =
                value!({"kind": "Service", "name": "web", "status": "Synced", "health": {"status": health}});
            application(value!({"resources": [service]})).status.resources
        };
        let mut watch = Watch::default();
        assert!(!watch.see(&[], &resources("Unknown")));
        assert!(!watch.see(&[], &resources("Degraded")));
        assert!(!watch.see(&[], &resources("Progressing")));
        assert!(watch.see(&[], &resources("Degraded")));
        assert_eq!(watch.fallen.as_deref(), Some("Progressing"));
    }
}
