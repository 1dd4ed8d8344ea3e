//! An application as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use lynceus_api::{Application, OperationState, Reason, ResourceResult, ResourceStatus, SyncStatusCode};
use lynceus_engine::window::Standing;
use lynceus_engine::{AppKey, WaitMark};
use lynceus_object::Str;

use crate::format;
use crate::table::Table;

/// `Auto-Prune`, `Auto` or `Manual`.
pub(crate) fn policy_in_short(application: &Application) -> &'static str {
    match application.spec.automated() {
        Some(automated) if automated.prunes() => "Auto-Prune",
        Some(_) => "Auto",
        None => "Manual",
    }
}

/// `ComparisonError,SharedResourceWarning(3)`, or `<none>`.
pub(crate) fn conditions_in_short(application: &Application) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for condition in &application.status.conditions {
        *counts.entry(condition.type_.as_str()).or_default() += 1;
    }
    if counts.is_empty() {
        return "<none>".to_owned();
    }
    let one = |(kind, count): (&&str, &usize)| {
        if *count > 1 { format!("{kind}({count})") } else { (*kind).to_owned() }
    };
    counts.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Lines of a name and a text, the texts below each other.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{:<20}{text}", format!("{name}:"));
    }

    fn plain(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }
}

/// The head of `app get`: where it comes from, where it goes, how it is, what it waits for.
pub(crate) fn summary(application: &Application, windows: Option<&Standing>, now: Timestamp) -> String {
    let spec = &application.spec;
    let mut lines = Lines::default();
    let server =
        if spec.destination.server.is_empty() { &spec.destination.name } else { &spec.destination.server };
    lines.add("Name", &AppKey::of(application).to_string());
    lines.add("Project", &spec.project);
    lines.add("Server", server);
    lines.add("Namespace", &spec.destination.namespace);
    lines.plain(if spec.has_multiple_sources() { "Sources:" } else { "Source:" });
    for source in spec.all_sources() {
        lines.plain(&format!("- Repo:             {}", source.repo_url));
        lines.plain(&format!("  Target:           {}", source.target_revision));
        if !source.path.is_empty() {
            lines.plain(&format!("  Path:             {}", source.path));
        }
        if !source.ref_.is_empty() {
            lines.plain(&format!("  Ref:              {}", source.ref_));
        }
    }
    lines.add("SyncWindow", windows.map_or("Sync Allowed", |windows| windows.word));
    if let Some(windows) = windows.filter(|windows| !windows.assigned.is_empty()) {
        lines.add("Assigned Windows", &windows.assigned.join(","));
    }
    lines.add("Sync Policy", &policy(application));
    lines.add("Sync Status", &sync_status(application));
    let health = &application.status.health;
    let message = if health.message.is_empty() { String::new() } else { format!(" ({})", health.message) };
    lines.add("Health Status", &format!("{}{message}", health.status));
    if !application.status.conditions.is_empty() {
        lines.plain(&format!("\n{}", conditions(application)));
    }
    let reasons = Reason::of(&application.metadata);
    if !reasons.is_empty() {
        lines.plain(&format!("\nWhy{}:", waiting(application, now)));
        reasons.iter().for_each(|reason| lines.0.push_str(&reason.to_string()));
    }
    lines.0
}

fn policy(application: &Application) -> String {
    match application.spec.automated() {
        Some(automated) if automated.prunes() => "Automated (Prune)".to_owned(),
        Some(_) => "Automated".to_owned(),
        None => "Manual".to_owned(),
    }
}

fn sync_status(application: &Application) -> String {
    let sync = &application.status.sync;
    let target = application.spec.all_sources().first().map(|source| source.target_revision.clone());
    let target = target.filter(|target| !target.is_empty()).unwrap_or_else(|| "HEAD".into());
    let revision: Str = sync.revision.chars().take(7).collect();
    let place = match sync.status.known() {
        Some(SyncStatusCode::Synced) => format!(" to {target}"),
        Some(SyncStatusCode::OutOfSync) => format!(" from {target}"),
        _ => String::new(),
    };
    if revision.is_empty() || target.starts_with(revision.as_str()) {
        return format!("{}{place}", sync.status);
    }
    format!("{}{place} ({revision})", sync.status)
}

fn conditions(application: &Application) -> Table {
    let mut table = Table::new(&["CONDITION", "MESSAGE", "LAST TRANSITION"]);
    for condition in &application.status.conditions {
        let time = condition.last_transition_time.map(|at| format::time(at.timestamp())).unwrap_or_default();
        table.row([condition.type_.to_string(), condition.message.to_string(), time]);
    }
    table
}

/// For how long the sync has been waiting, if it is.
fn waiting(application: &Application, now: Timestamp) -> String {
    let Some(wait) = WaitMark::of(application) else { return String::new() };
    let ago = format::duration(now.duration_since(wait.since.timestamp()));
    let end = wait.until.map(|until| format!(", at the latest until {until}")).unwrap_or_default();
    format!(" (the sync has been waiting for {ago}{end})")
}

/// The last operation, as `app get` and `app sync` show it.
pub(crate) fn operation(state: &OperationState, now: Timestamp) -> String {
    let mut lines = Lines::default();
    lines.add("Operation", "Sync");
    if let Some(result) = &state.sync_result {
        lines.add("Sync Revision", &result.revision);
    }
    lines.add("Phase", state.phase.as_str());
    let started = state.started_at.map(|at| at.timestamp());
    let finished = state.finished_at.map(|at| at.timestamp());
    lines.add("Start", &started.map(format::time).unwrap_or_default());
    lines.add("Finished", &finished.map(format::time).unwrap_or_default());
    if let Some(started) = started {
        lines.add("Duration", &format::duration(finished.unwrap_or(now).duration_since(started)));
    }
    lines.add("Message", &state.message);
    lines.0
}

/// The resources with their state and what the last sync said about each, then the hooks of the last sync.
pub(crate) fn resources(application: &Application, found: &[ResourceStatus]) -> Table {
    let mut table =
        Table::new(&["GROUP", "KIND", "NAMESPACE", "NAME", "STATUS", "HEALTH", "HOOK", "MESSAGE"]);
    let state = application.status.operation_state.as_ref();
    let results =
        state.and_then(|state| state.sync_result.as_ref()).map(|result| result.resources.as_slice());
    let results = results.unwrap_or_default();
    for resource in found.iter().filter(|resource| !resource.hook) {
        let same = |result: &&ResourceResult| {
            result.hook_type.is_empty()
                && (&result.group, &result.kind, &result.namespace, &result.name)
                    == (&resource.group, &resource.kind, &resource.namespace, &resource.name)
        };
        let said = results.iter().find(same).map(|result| result.message.to_string()).unwrap_or_default();
        let health = resource.health.as_ref();
        let why = health.map(|health| health.message.to_string()).unwrap_or_default();
        let unwell = health.is_some_and(|health| !matches!(health.status.as_str(), "Healthy" | ""));
        table.row([
            resource.group.to_string(),
            resource.kind.to_string(),
            resource.namespace.to_string(),
            resource.name.to_string(),
            resource.status.to_string(),
            health.map(|health| health.status.to_string()).unwrap_or_default(),
            String::new(),
            // What is wrong now matters more than what the last sync did.
            if unwell && !why.is_empty() { why } else { said },
        ]);
    }
    for result in results.iter().filter(|result| !result.hook_type.is_empty()) {
        table.row([
            result.group.to_string(),
            result.kind.to_string(),
            result.namespace.to_string(),
            result.name.to_string(),
            result.hook_phase.to_string(),
            String::new(),
            result.sync_phase.to_string(),
            result.message.to_string(),
        ]);
    }
    table
}
