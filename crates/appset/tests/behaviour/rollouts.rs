//! Progressive syncs, one look after the other.

use lynceus_api::{Application, ApplicationSet, Time};
use lynceus_appset::rollout::{self, Input, Rollout, advance};
use lynceus_diff::Ignore;

use crate::{applied, check, listed, read};

/// Two steps of two Applications each.
fn steps(max_update: &str) -> ApplicationSet {
    listed(
        &["dev1", "dev2", "prod1", "prod2"],
        &format!(
            "strategy: {{type: RollingSync, rollingSync: {{steps: [\
             {{matchExpressions: [{{key: env, operator: In, values: [dev1, dev2]}}]{max_update}}}, \
             {{matchExpressions: [{{key: env, operator: NotIn, values: [dev1, dev2]}}]}}]}}}}"
        ),
    )
}

fn time(second: u32) -> Time {
    format!("2026-01-01T00:00:{second:02}Z").parse().expect("a time")
}

struct World {
    set: ApplicationSet,
    apps: Vec<Application>,
    desired: Vec<Application>,
}

impl World {
    /// Everything out of sync at revision `r2`.
    fn new(set: ApplicationSet) -> Self {
        let desired = applied(&set);
        let mut world = World { apps: desired.clone(), desired, set };
        for name in ["dev1", "dev2", "prod1", "prod2"] {
            world.says(name, "OutOfSync", "Healthy", 0);
        }
        world
    }

    fn app(&mut self, name: &str) -> &mut Application {
        self.apps.iter_mut().find(|app| app.metadata.name == name).expect("an Application")
    }

    /// What the status of an Application says, and when it was made.
    fn says(&mut self, name: &str, sync: &str, health: &str, at: u32) {
        let app = self.app(name);
        let compared = lynceus_api::ComparedTo {
            source: app.spec.source.clone().unwrap_or_default(),
            destination: app.spec.destination.clone(),
            ..Default::default()
        };
        app.status.sync = read(&format!("{{status: {sync}, revision: r2}}"));
        app.status.sync.compared_to = compared;
        app.status.health = read(&format!("status: {health}"));
        app.status.reconciled_at = Some(time(at));
    }

    fn syncs(&mut self, name: &str, phase: &str, started: u32, finished: Option<u32>) {
        let app = self.app(name);
        app.status.operation_state = Some(read(&format!("{{operation: {{}}, phase: {phase}}}")));
        let state = app.status.operation_state.as_mut().expect("a state");
        state.started_at = Some(time(started));
        state.finished_at = finished.map(time);
    }

    fn look(&mut self, now: u32) -> Rollout {
        let ignore = Ignore::default();
        let input = Input {
            set: &self.set,
            existing: &self.apps,
            desired: &self.desired,
            ignore: &ignore,
            now: time(now),
        };
        let rollout = advance(&input);
        self.set.status.application_status = rollout.statuses.clone();
        rollout
    }
}

/// Each Application with its status, who is to be synced, and what is waited for.
fn told(rollout: &Rollout) -> String {
    let statuses =
        rollout.statuses.iter().map(|one| format!("{} {} {}\n", one.application, one.step, one.status));
    let waits = rollout.waiting.iter().map(|one| format!("{one}\n"));
    statuses.chain(waits).collect()
}

#[test]
fn steps_follow_each_other_once_the_earlier_is_healthy() {
    let mut world = World::new(steps(""));
    let first = world.look(1);
    check(
        &told(&first),
        "dev1 1 Pending\ndev2 1 Pending\nprod1 2 Waiting\nprod2 2 Waiting\n\
         dev1 waits for its sync to start, since 2026-01-01T00:00:01Z\ndev2 waits for its sync to start, since 2026-01-01T00:00:01Z\n\
         prod1 waits for step 1 to end, in which dev1 and dev2 are not Healthy yet\n\
         prod2 waits for step 1 to end, in which dev1 and dev2 are not Healthy yet",
    );
    assert_eq!((first.sync.as_slice(), first.step), (&["dev1".into(), "dev2".into()][..], Some(1)));

    for name in ["dev1", "dev2"] {
        world.syncs(name, "Succeeded", 2, Some(3));
    }
    let second = world.look(4);
    assert_eq!(
        second.statuses[0].message,
        "Application resource completed a sync successfully, updating status from Pending to Progressing"
    );
    assert!(second.sync.is_empty());

    world.says("dev1", "Synced", "Healthy", 5);
    world.says("dev2", "Synced", "Progressing", 5);
    check(
        &told(&world.look(6)),
        "dev1 1 Healthy\ndev2 1 Progressing\nprod1 2 Waiting\nprod2 2 Waiting\n\
         dev2 waits for Synced and Healthy; it is Synced and Progressing\n\
         prod1 waits for step 1 to end, in which dev2 is not Healthy yet\nprod2 waits for step 1 to end, in which dev2 is not Healthy yet",
    );

    world.says("dev2", "Synced", "Healthy", 7);
    let fourth = world.look(8);
    assert_eq!((fourth.sync.as_slice(), fourth.step), (&["prod1".into(), "prod2".into()][..], Some(2)));

    for name in ["prod1", "prod2"] {
        world.syncs(name, "Succeeded", 9, Some(9));
        world.says(name, "Synced", "Healthy", 10);
    }
    world.look(11);
    let last = world.look(12);
    assert!(last.waiting.is_empty() && last.step.is_none(), "{}", told(&last));
}

#[test]
fn health_from_before_the_sync_ended_opens_no_gate() {
    let mut world = World::new(steps(""));
    world.look(1);
    for name in ["dev1", "dev2"] {
        world.says(name, "Synced", "Healthy", 2);
        world.syncs(name, "Running", 2, None);
    }
    world.look(3);
    let running = world.look(4);
    assert!(told(&running).contains("dev1 waits for its sync to end"), "{}", told(&running));
    for name in ["dev1", "dev2"] {
        world.syncs(name, "Succeeded", 2, Some(6));
    }
    let stale = world.look(7);
    assert!(told(&stale).contains(
        "dev1 waits for its health to be looked at after its sync, which ended 2026-01-01T00:00:06Z"
    ));
    assert_eq!(stale.step, Some(1));
    for name in ["dev1", "dev2"] {
        world.says(name, "Synced", "Healthy", 8);
    }
    assert_eq!(world.look(9).step, Some(2));
}

#[test]
fn a_verdict_about_the_old_spec_opens_no_gate() {
    let mut world = World::new(steps(""));
    for name in ["dev1", "dev2", "prod1", "prod2"] {
        world.says(name, "Synced", "Healthy", 1);
    }
    assert_eq!(world.look(2).step, None);
    // The template changes, and the cluster has not heard of it.
    for app in &mut world.desired {
        app.spec.source.as_mut().expect("a source").path = "new".into();
    }
    let unwritten = world.look(3);
    assert!(told(&unwritten).contains("dev1 waits for its new spec to be written"), "{}", told(&unwritten));
    assert_eq!(
        unwritten.statuses[0].message,
        "Application has pending changes (spec differs), setting status to Waiting"
    );
    // It is written, but what the status says is about the old one.
    for app in &mut world.apps {
        app.spec.source.as_mut().expect("a source").path = "new".into();
    }
    let stale = world.look(4);
    assert!(
        told(&stale).contains("dev1 waits for a comparison with the spec that it has now"),
        "{}",
        told(&stale)
    );
    assert!(stale.sync.is_empty());
    world.says("dev1", "OutOfSync", "Healthy", 5);
    assert_eq!(world.look(6).sync, ["dev1"]);
}

#[test]
fn no_more_change_at_a_time_than_may() {
    for (most, first) in [
        (", maxUpdate: 1", 1),
        (", maxUpdate: 50%", 1),
        (", maxUpdate: 1%", 1),
        (", maxUpdate: 100%", 2),
        (", maxUpdate: 0", 0),
    ] {
        assert_eq!(World::new(steps(most)).look(1).sync.len(), first, "{most}");
    }
    // None at a time is a gate that somebody opens by hand.
    assert!(World::new(steps(", maxUpdate: 0")).look(1).problems.is_empty());
    let rollout = World::new(steps(", maxUpdate: 1")).look(1);
    assert!(
        told(&rollout)
            .contains("dev2 waits for room in its step: 1 change at the moment, and maxUpdate allows 1")
    );
}

#[test]
fn an_application_that_no_step_selects_says_so() {
    let mut set = steps("");
    let rolling =
        set.spec.strategy.as_mut().and_then(|strategy| strategy.rolling_sync.as_mut()).expect("steps");
    rolling.steps.pop();
    let told = told(&World::new(set).look(1));
    assert!(
        told.contains("prod1 -1 Waiting") && told.contains("prod1 waits for a step that selects it"),
        "{told}"
    );
}

#[test]
fn steps_that_cannot_work_are_told() {
    let mut set = steps(", maxUpdate: -1");
    let rolling =
        set.spec.strategy.as_mut().and_then(|strategy| strategy.rolling_sync.as_mut()).expect("steps");
    rolling.steps[1].match_expressions[0].operator = "Like".into();
    rolling.steps.push(read("matchExpressions: []"));
    let problems = World::new(set).look(1).problems.join("\n");
    for told in ["maxUpdate of step 1 is -1", "operator \"Like\"", "steps 1 and 3 both select dev1"] {
        assert!(problems.contains(told), "{problems}");
    }
}

#[test]
fn a_sync_is_told_with_the_options_of_the_application() {
    let mut app = applied(&listed(&["a"], "")).remove(0);
    app.spec.sync_policy = Some(read("{automated: {prune: true}, syncOptions: [CreateNamespace=true]}"));
    assert!(rollout::stop_automation(&mut app));
    let operation = rollout::operation(&app, true);
    let sync = operation.sync.expect("a sync");
    assert!(sync.prune && sync.sync_options == ["CreateNamespace=true"] && operation.retry.limit == 5);
    assert_eq!(operation.initiated_by.username, "applicationset-controller");
    assert_eq!(
        app.spec.sync_policy.and_then(|policy| policy.automated).and_then(|one| one.enabled),
        Some(false)
    );
}
