//! Watches an application until something is so, and tells of what changes on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::{Application, ResourceStatus};

use super::context::Context;
use crate::exit::Outcome;
use crate::format::Output;

/// How long a quiet cluster is left alone before it is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// Waits until `done` holds, and gives the application then; none if the time is over first. A zero time is for ever.
pub(crate) async fn until(
    context: &Context,
    name: &str,
    time: Duration,
    done: impl Fn(&Application) -> bool,
) -> Outcome<Option<Application>> {
    wait(context, name, time, |application, _| done(application), Eyes::Application).await
}

/// Waits as [`until`] does, for what its resources are like as well. For people every change of a resource's state is told
/// on the way, as `argocd` does.
pub(crate) async fn until_telling(
    context: &Context,
    name: &str,
    time: Duration,
    output: Output,
    done: impl FnMut(&Application, &[ResourceStatus]) -> bool,
) -> Outcome<Option<Application>> {
    let progress = (output == Output::Wide).then(Progress::default);
    wait(context, name, time, done, Eyes::Resources(progress)).await
}

/// What is looked at.
enum Eyes {
    /// The Application alone.
    Application,
    /// Its resources as well, and whether their changes are told.
    Resources(Option<Progress>),
}

async fn wait(
    context: &Context,
    name: &str,
    time: Duration,
    mut done: impl FnMut(&Application, &[ResourceStatus]) -> bool,
    mut eyes: Eyes,
) -> Outcome<Option<Application>> {
    let waited = async {
        let mut changes = context.cluster().ok().map(|cluster| cluster.cache().changes());
        loop {
            let application = context.application(name).await?;
            let resources = match &mut eyes {
                Eyes::Application => Vec::new(),
                Eyes::Resources(progress) => {
                    let resources = context.resources(&application).await;
                    if let Some(progress) = progress {
                        progress.tell(&application, &resources);
                    }
                    resources
                }
            };
            if done(&application, &resources) {
                return Ok(application);
            }
            // Whatever changes may be what we wait for.
            match &mut changes {
                Some(changes) => drop(tokio::time::timeout(ASK_AGAIN, changes.recv()).await),
                None => tokio::time::sleep(ASK_AGAIN).await,
            }
        }
    };
    if time.is_zero() {
        return waited.await.map(Some);
    }
    match tokio::time::timeout(time, waited).await {
        Ok(application) => application.map(Some),
        Err(_) => Ok(None),
    }
}

/// What was told so far.
#[derive(Default)]
struct Progress {
    seen: BTreeMap<String, String>,
    begun: bool,
}

impl Progress {
    /// Prints what has changed since the last call.
    fn tell(&mut self, application: &Application, resources: &[ResourceStatus]) {
        if !self.begun {
            self.begun = true;
            println!(
                "{:<27}{:<12}{:<24}{:<16}{:<20}{:<12}{:<12}{:<9}MESSAGE",
                "TIMESTAMP", "GROUP", "KIND", "NAMESPACE", "NAME", "STATUS", "HEALTH", "HOOK"
            );
        }
        let lines = lines(application, resources);
        let time = Timestamp::now().to_zoned(jiff::tz::TimeZone::system());
        let time = time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        for (what, state) in &lines {
            if self.seen.get(what) != Some(state) {
                println!("{}", format!("{time:<27}{what}{state}").trim_end());
            }
        }
        self.seen = lines;
    }
}

/// The state of every resource and hook, by what it is.
fn lines(application: &Application, resources: &[ResourceStatus]) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    for resource in resources {
        let health = resource.health.as_ref();
        let status = health.map(|health| health.status.as_str()).unwrap_or_default();
        let message = health.map(|health| health.message.as_str()).unwrap_or_default();
        lines.insert(
            format!(
                "{:<12}{:<24}{:<16}{:<20}",
                resource.group, resource.kind, resource.namespace, resource.name
            ),
            format!("{:<12}{status:<12}{:<9}{message}", resource.status, ""),
        );
    }
    let state = application.status.operation_state.as_ref();
    let results = state.and_then(|state| state.sync_result.as_ref());
    let hooks = results
        .into_iter()
        .flat_map(|result| &result.resources)
        .filter(|result| !result.hook_type.is_empty());
    for hook in hooks {
        lines.insert(
            format!("{:<12}{:<24}{:<16}{:<20}", hook.group, hook.kind, hook.namespace, hook.name),
            format!("{:<12}{:<12}{:<9}{}", hook.hook_phase, "", hook.sync_phase, hook.message),
        );
    }
    lines
}
