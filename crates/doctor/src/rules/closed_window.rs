//! A sync window that is closed.

use std::collections::{BTreeMap, HashMap};

use lynceus_api::{AppProject, ReasonCode, SyncWindow};
use lynceus_object::{FieldPath, ObjectKey, Str};
use lynceus_sync::windows::{Attempt, Gate, Windows, assigned};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Action, Fix, Place, Risk};
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
Wait until it opens. If it cannot wait, sync by hand where the window lets people (`manualSync`), or change the window. One that is
closed day and night has to be changed.
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
        let view = projects.get(project.as_str()).copied();
        findings.add(found(case, &project, view, &apps));
    }
}

/// Whether the windows of a project let an application be synced by a person now, and when they let it be synced by itself; nothing if
/// they cannot be read or are not in its way.
fn outlook(case: &Case<'_>, app: &App<'_>, project: Option<&AppProject>) -> Option<(bool, bool)> {
    let windows = Windows::of(&project?.spec.sync_windows, app.application()).ok()?;
    let gate = |manual| windows.gate(Attempt { manual, started: None }, case.snapshot.taken_at);
    match gate(false) {
        Gate::Closed(closed) => Some((gate(true) == Gate::Open, closed.opens.is_some())),
        Gate::Open => None,
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

fn found(case: &Case<'_>, project: &Str, view: Option<&AppProject>, apps: &[(&App<'_>, String)]) -> Finding {
    let names = words::list(apps.iter().map(|(app, _)| app.name.name.as_str()));
    let verb = if apps.len() == 1 { "differs" } else { "differ" };
    let outlooks: Vec<(bool, bool)> = apps.iter().filter_map(|(app, _)| outlook(case, app, view)).collect();
    let is_known = outlooks.len() == apps.len();
    let opens = !is_known || outlooks.iter().any(|(_, opens)| *opens);
    let lets_people = !is_known || outlooks.iter().all(|(manual, _)| *manual);
    let until = if opens { "" } else { ", and does not open for years" };
    let cause = format!(
        "{names} {verb} from Git and may not be synced now: a sync window of project {project} is closed{until}"
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
    let server = case.servers().next().unwrap_or_default();
    let change = change(case, server, &key, view, apps);
    let fixes: Vec<Fix> = opens.then_some(wait).into_iter().chain(lets_people.then_some(by_hand)).collect();
    let fixes = if opens {
        fixes.into_iter().chain([change]).collect()
    } else {
        [change].into_iter().chain(fixes).collect::<Vec<_>>()
    };
    Finding::new(RULE.code, Node::object(server, key), cause)
        .severity(Severity::P2)
        .seen(
            apps.iter().take(limits::NAMED).map(|(app, why)| Evidence::seen(format!("{}: {why}", app.name))),
        )
        .affects(apps.iter().map(|(app, _)| app.node()))
        .fix(fixes)
}

/// Another window, in the project's file where that is known.
fn change(
    case: &Case<'_>,
    server: &str,
    key: &ObjectKey,
    view: Option<&AppProject>,
    apps: &[(&App<'_>, String)],
) -> Fix {
    let fix = Fix::new(format!("Change the window of project {}", key.name))
        .risk(Risk::Medium, format!("when the applications of project {} are synced", key.name))
        .why("right where the window is not meant to be so")
        .verify(format!("kubectl -n {} get appproject {} -o yaml", key.namespace, key.name));
    let denying = apps.first().zip(view).map(|((app, _), view)| {
        let windows = view.spec.sync_windows.iter().enumerate();
        let is_own =
            |window: &SyncWindow| !assigned(std::slice::from_ref(window), app.application()).is_empty();
        windows
            .filter(|(_, window)| window.kind == "deny" && is_own(window))
            .map(|(place, _)| place)
            .collect::<Vec<_>>()
    });
    let file = case.wanted(server, key).into_iter().next();
    match (file, denying.as_deref()) {
        (Some((owner, _)), Some([only])) => {
            let path = FieldPath::fields(["spec", "syncWindows"]).index(*only);
            fix.git(&owner.name, Place::Field { object: key.clone(), path, value: None })
        }
        (Some((owner, _)), _) => fix.person(format!(
            "correct spec.syncWindows of AppProject {} in the files of {}",
            key.name, owner.name
        )),
        (None, _) => fix.person(format!("correct spec.syncWindows of AppProject {}", key.name)),
    }
}

#[cfg(test)]
mod tests {
    use lynceus_api::{AppProject, SyncWindow};

    use crate::tests::{check_snapshot, snapshot};

    fn found(text: &str, schedule: &str) -> String {
        found_for(text, schedule, "4h")
    }

    fn found_for(text: &str, schedule: &str, duration: &str) -> String {
        let mut snapshot = snapshot(text);
        let mut project = AppProject::default();
        project.metadata.name = "default".into();
        project.spec.sync_windows = vec![SyncWindow {
            kind: "deny".into(),
            schedule: schedule.into(),
            duration: duration.into(),
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
             by deny window '0 10 * * *' (4h); open from 2026-01-01T14:00:01Z on\n  fix: Wait until the window opens\n  fix: Change \
             the window of project default\n"
        );
    }

    #[test]
    fn a_window_that_never_opens_is_to_be_changed() {
        let shut = found_for("@app a OutOfSync Healthy\n", "0 0 * * *", "24h");
        assert!(shut.contains("is closed, and does not open for years\n"), "{shut}");
        assert!(shut.ends_with("(24h)\n  fix: Change the window of project default\n"), "{shut}");
    }

    #[test]
    fn a_window_that_is_open_or_is_in_nobodys_way_is_not() {
        assert_eq!(found("@app a OutOfSync Healthy\n", "0 20 * * *"), "");
        assert_eq!(found("@app a Synced Healthy\n", "0 10 * * *"), "");
        assert_eq!(found("@app a OutOfSync Healthy\n@spec {syncPolicy: null}\n", "0 10 * * *"), "");
    }
}
