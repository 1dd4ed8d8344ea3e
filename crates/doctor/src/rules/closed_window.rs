//! A sync window that is closed.

use std::collections::{BTreeMap, HashMap};

use lynceus_api::{AppProject, ReasonCode};
use lynceus_object::{ObjectKey, Str};
use lynceus_sync::windows::{Attempt, Gate, Windows};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Risk};
use crate::limits;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1202",
    title: "A sync window is closed",
    explanation: "\
An application differs from Git and may not be synced now: a window of its project denies it, or none that allows it is open.

## Why
Projects have windows so that nothing changes at night or on a holiday. Sometimes a window is forgotten, or its time zone is not
the one that was meant.

## Example
```
deny window '0 22 * * *' (8h0m); open from 2026-01-02T06:00:00Z on
```

## What to do
Wait until it opens. If it cannot wait, sync by hand where the window lets people (`manualSync`), or change the window.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let projects: HashMap<&str, &AppProject> =
        case.snapshot.projects.iter().map(|one| (one.metadata.name.as_str(), one)).collect();
    let mut closed: BTreeMap<Str, Vec<(&App<'_>, String)>> = BTreeMap::new();
    for app in case.apps().filter(|app| app.is_out_of_sync() || app.is_operating()) {
        let project = projects.get(app.application().spec.project.as_str()).copied();
        let why = said(app).or_else(|| project.and_then(|project| gate(case, app, project)));
        if let Some(why) = why {
            closed.entry(app.application().spec.project.clone()).or_default().push((app, why));
        }
    }
    for (project, apps) in closed {
        findings.add(found(case, &project, &apps));
    }
}

/// What the application itself says that it waits for.
fn said(app: &App<'_>) -> Option<String> {
    let reasons = app.reasons();
    let reason = reasons.iter().flat_map(|one| one.all()).find(|one| one.code == ReasonCode::WaitsForWindow);
    let message = || app.operation().filter(|_| app.is_operating()).map(|state| state.message.to_string());
    let by_message = || message().filter(|text| text.to_lowercase().contains("sync window"));
    reason.map(|one| one.text.to_string()).or_else(by_message)
}

/// What the windows of its project say to a sync that should begin now.
fn gate(case: &Case<'_>, app: &App<'_>, project: &AppProject) -> Option<String> {
    let automated = app.application().spec.automated().is_some();
    let tried = app.failed_sync().is_some_and(|state| app.is_of_head(state) != Some(false));
    let heals = app.application().spec.automated().is_some_and(|policy| policy.heals());
    let is_due = automated && !tried && (heals || !app.is_synced_to_head());
    if !is_due || app.is_operating() {
        return None;
    }
    let windows = Windows::of(&project.spec.sync_windows, app.application());
    match windows.map(|windows| windows.gate(Attempt::default(), case.snapshot.taken_at)) {
        Ok(Gate::Open) => None,
        Ok(Gate::Closed(closed)) => Some(closed.to_string()),
        Err(error) => Some(format!("the windows cannot be read: {error}")),
    }
}

fn found(case: &Case<'_>, project: &Str, apps: &[(&App<'_>, String)]) -> Finding {
    let names = words::list(apps.iter().map(|(app, _)| app.name.name.as_str()));
    let verb = if apps.len() == 1 { "differs" } else { "differ" };
    let cause = format!(
        "{names} {verb} from Git and may not be synced now: a sync window of project {project} is closed"
    );
    let key = ObjectKey::new(lynceus_api::GROUP, "AppProject", case.snapshot.home.clone(), project.clone());
    let wait = Fix::new("Wait until the window opens")
        .person(apps.first().map(|(_, why)| why.clone()).unwrap_or_default())
        .risk(Risk::Low, "nothing")
        .why("the window is there on purpose");
    let by_hand = Fix::new("Sync by hand, where the window lets people");
    let by_hand = apps
        .iter()
        .fold(by_hand, |fix, (app, _)| fix.cluster(Action::Sync { application: app.name.clone() }))
        .risk(Risk::Medium, names.clone())
        .why("only for what cannot wait");
    Finding::new(RULE.code, Node::object(case.servers().next().unwrap_or_default(), key), cause)
        .severity(Severity::P2)
        .seen(
            apps.iter().take(limits::NAMED).map(|(app, why)| Evidence::seen(format!("{}: {why}", app.name))),
        )
        .affects(apps.iter().map(|(app, _)| app.node()))
        .fix([wait, by_hand])
}

#[cfg(test)]
mod tests {
    use lynceus_api::{AppProject, SyncWindow};

    use crate::tests::{check_snapshot, snapshot};

    fn found(text: &str, schedule: &str) -> String {
        let mut snapshot = snapshot(text);
        let mut project = AppProject::default();
        project.metadata.name = "default".into();
        project.spec.sync_windows = vec![SyncWindow {
            kind: "deny".into(),
            schedule: schedule.into(),
            duration: "4h".into(),
            applications: vec!["*".into()],
            ..SyncWindow::default()
        }];
        snapshot.projects.push(project);
        check_snapshot("LYN1202", &snapshot)
    }

    #[test]
    fn a_window_that_denies_a_sync_is_found_once_for_its_project() {
        let text = "@app a OutOfSync Healthy\n@app b OutOfSync Healthy\n@app c Synced Healthy\n";
        assert_eq!(
            found(text, "0 10 * * *"),
            "P2 LYN1202/argocd/AppProject/default: a and b differ from Git and may not be synced now: a sync window of \
             project default is closed\n  a: denied by deny window '0 10 * * *' (4h); open from 2026-01-01T14:00:01Z on\n  b: denied \
             by deny window '0 10 * * *' (4h); open from 2026-01-01T14:00:01Z on\n  fix: Wait until the window opens\n  fix: Sync \
             by hand, where the window lets people\n"
        );
    }

    #[test]
    fn a_window_that_is_open_or_is_in_nobodys_way_is_not() {
        assert_eq!(found("@app a OutOfSync Healthy\n", "0 20 * * *"), "");
        assert_eq!(found("@app a Synced Healthy\n", "0 10 * * *"), "");
        assert_eq!(found("@app a OutOfSync Healthy\n@spec {syncPolicy: null}\n", "0 10 * * *"), "");
    }
}
