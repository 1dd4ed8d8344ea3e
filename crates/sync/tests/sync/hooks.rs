//! Hooks: when they run, what their end means, when they are deleted.

use lynceus_api::HealthStatusCode::{Degraded, Progressing};
use lynceus_sync::Settings;

use crate::world::{World, expect};

#[test]
fn a_sync_runs_its_phases_in_order_and_waits_for_every_hook() {
    let mut world = World::new("Pod app\nJob before hook=PreSync\nJob after hook=PostSync", "");
    expect(
        &world.finish(),
        "
        apply before
        Running: waiting for completion of hook batch/Job/before
          PreSync before Synced Running
        release before
        apply app
        Running: waiting for healthy state of /Pod/app
          PreSync before Synced Succeeded
          Sync app Synced Running
        apply after
        Running: waiting for completion of hook batch/Job/after
          Sync app Synced Succeeded
          PostSync after Synced Running
        release after
        Succeeded: successfully synced (no more tasks)
          PostSync after Synced Succeeded
        ",
    );
}

#[test]
fn a_failing_presync_hook_stops_the_sync() {
    let mut world = World::new("Pod app\nJob before hook=PreSync", "");
    world.health.insert("before".into(), Degraded);
    world.pass();
    expect(
        &world.pass(),
        "
        release before
        Failed: one or more synchronization tasks completed unsuccessfully
          PreSync before Synced Failed
        ",
    );
}

#[test]
fn hooks_for_failure_do_not_run_when_all_is_well() {
    let mut world = World::new("Pod app hook=Sync\nPod sorry hook=SyncFail", "");
    expect(
        &world.finish(),
        "
        apply app
        Running: waiting for completion of hook /Pod/app
          Sync app Synced Running
        release app
        Succeeded: successfully synced (no more tasks)
          Sync app Synced Succeeded
        ",
    );
}

#[test]
fn hooks_for_failure_run_when_a_hook_has_failed() {
    let mut world = World::new("Pod app hook=Sync\nPod sorry hook=SyncFail", "");
    world.health.insert("app".into(), Degraded);
    world.pass();
    expect(
        &world.finish(),
        "
        release app
        apply sorry
        Running: waiting for completion of hook /Pod/sorry
          Sync app Synced Failed
          SyncFail sorry Synced Running
        release sorry
        Failed: one or more synchronization tasks completed unsuccessfully
          SyncFail sorry Synced Succeeded
        ",
    );
}

#[test]
fn a_hook_for_failure_that_fails_itself_is_told_of() {
    let mut world = World::new("Pod app\nPod a hook=SyncFail\nPod b hook=SyncFail", "");
    world.write_errors.insert("app".into(), "fake pod failure".into());
    world.write_errors.insert("b".into(), "fake hook failure".into());
    expect(
        &world.finish(),
        "
        apply app
        apply a
        apply b
        Running: waiting for completion of hook /Pod/a and 1 more hooks
          Sync app SyncFailed Failed fake pod failure
          SyncFail a Synced Running
          SyncFail b SyncFailed Failed fake hook failure
        release a
        Failed: one or more synchronization tasks completed unsuccessfully, reason: fake pod failure
        one or more SyncFail hooks failed, reason: fake hook failure
          SyncFail a Synced Succeeded
        ",
    );
}

#[test]
fn a_failed_wave_waits_for_what_it_started() {
    let mut world = World::new("Pod bad\nPod good hook=Sync", "");
    world.write_errors.insert("bad".into(), "no".into());
    world.health.insert("good".into(), Progressing);
    expect(
        &world.pass(),
        "
        apply bad
        apply good
        Running: waiting for completion of hook /Pod/good
          Sync good Synced Running
          Sync bad SyncFailed Failed no
        ",
    );
    world.health.clear();
    expect(
        &world.pass(),
        "
        release good
        Failed: one or more synchronization tasks completed unsuccessfully, reason: no
          Sync good Synced Succeeded
        ",
    );
}

#[test]
fn a_hook_of_an_earlier_sync_goes_before_it_is_made_anew() {
    let mut world = World::new("Job before hook=PreSync", "Job before hook=PreSync held");
    expect(
        &world.finish(),
        "
        release before
        delete before Foreground
        Running: waiting for deletion of hook batch/Job/before
        apply before
        Running: waiting for completion of hook batch/Job/before
          PreSync before Synced Running
        release before
        Succeeded: successfully synced (no more tasks)
          PreSync before Synced Succeeded
        ",
    );
}

#[test]
fn all_old_hooks_are_released_and_only_those_that_are_made_anew_deleted() {
    let policies = "Pod a hook=PreSync policy=BeforeHookCreation\nPod b hook=PreSync policy=HookFailed\nPod c hook=PreSync policy=HookSucceeded";
    let held: String = policies.lines().map(|line| format!("{line} held\n")).collect();
    let mut world = World::new(policies, &held);
    expect(
        &world.pass(),
        "
        release a
        release b
        release c
        delete a Foreground
        Running: waiting for deletion of hook /Pod/a
        ",
    );
}

#[test]
fn success_and_failure_delete_the_hooks_that_say_so() {
    let policies = "Pod a hook=PreSync policy=BeforeHookCreation\nPod b hook=PreSync policy=HookFailed\nPod c hook=PreSync policy=HookSucceeded";
    let mut world = World::new(policies, "");
    world.health.insert("a".into(), Progressing);
    world.pass();
    // While one runs, nothing is released or deleted.
    expect(
        &world.pass(),
        "
        Running: waiting for completion of hook /Pod/a
          PreSync b Synced Succeeded
          PreSync c Synced Succeeded
        ",
    );
    let mut failing = World::new(policies, "");
    failing.health.insert("a".into(), Degraded);
    failing.pass();
    world.health.clear();
    assert!(world.pass().starts_with("release a\nrelease b\nrelease c\ndelete c Foreground\nSucceeded: "));
    assert!(failing.pass().starts_with("release a\nrelease b\nrelease c\ndelete b Foreground\nFailed: "));
}

#[test]
fn an_old_hook_that_is_gone_when_it_is_deleted_is_not_waited_for() {
    let mut world = World::new("Pod a hook=PreSync options=Replace=true", "Pod a hook=PreSync");
    world.stale = std::mem::take(&mut world.live);
    expect(
        &world.pass(),
        "
        delete a Foreground
        create a
        Running: waiting for completion of hook /Pod/a
          PreSync a Synced Running
        ",
    );
}

#[test]
fn a_sync_without_hooks_runs_none_and_prunes_none() {
    let settings = Settings { skip_hooks: true, prune: true, ..Settings::default() };
    let mut world = World::with(settings, "Pod app\nJob before hook=PreSync", "Job before hook=PreSync");
    expect(
        &world.finish(),
        "
        apply app
        Succeeded: successfully synced (all tasks run)
          Sync app Synced Running
        ",
    );
}

#[test]
fn a_job_that_was_deleted_together_with_its_pods_counts_as_failed() {
    let mut world = World::new("Pod app\nJob before hook=PreSync", "");
    world.health.insert("before".into(), Progressing);
    world.pass();
    let key = world.live.keys().next().expect("the hook").clone();
    let job = world.live.get_mut(&key).expect("the hook");
    job.set(&["status"], lynceus_object::value!({"startTime": "2026-01-01T00:00:00Z", "active": 1}));
    job.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:01Z");
    expect(&world.pass(), "Running: waiting for completion of hook batch/Job/before");
    world.live.get_mut(&key).expect("the hook").set(&["status", "active"], 0);
    expect(
        &world.pass(),
        "
        release before
        Failed: one or more synchronization tasks completed unsuccessfully
          PreSync before Synced Failed before was deleted by somebody else before it was done
        ",
    );
}
