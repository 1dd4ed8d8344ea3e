//! A sync goes on where another process died, and no hook runs twice.

use lynceus_api::HealthStatusCode::Progressing;

use crate::world::{World, expect};

#[test]
fn a_run_goes_on_from_what_was_stored() {
    let mut world = World::new("Pod app\nJob before hook=PreSync\nJob after hook=PostSync", "");
    let mut transcript = Vec::new();
    for _ in 0..4 {
        transcript.push(world.pass());
        world.restart();
    }
    let transcript = transcript.join("\n");
    assert_eq!(transcript.matches("apply before").count(), 1, "{transcript}");
    assert_eq!(transcript.matches("apply after").count(), 1, "{transcript}");
    assert!(transcript.contains("Succeeded: successfully synced (no more tasks)"), "{transcript}");
}

#[test]
fn a_hook_that_was_made_but_not_reported_is_not_made_again() {
    let mut world = World::new("Job before hook=PreSync\nPod app", "");
    world.health.insert("before".into(), Progressing);
    expect(&world.die_after_acting(), "apply before");
    expect(
        &world.pass(),
        "
        Running: waiting for completion of hook batch/Job/before
          PreSync before Synced Running
        ",
    );
}

#[test]
fn a_hook_that_was_written_down_but_not_made_is_made() {
    let mut world = World::new("Job before hook=PreSync", "");
    world.die_after_acting();
    world.live.clear();
    expect(
        &world.pass(),
        "
        apply before
        Running: waiting for completion of hook batch/Job/before
          PreSync before Synced Running
        ",
    );
}

#[test]
fn a_hook_of_two_phases_runs_once_in_each_whenever_the_process_dies() {
    let mut world = World::new("Job twice hook=PreSync,PostSync", "");
    expect(&world.die_after_acting(), "apply twice");
    let rest = world.finish();
    expect(
        &rest,
        "
        release twice
        delete twice Foreground
        Running: waiting for deletion of hook batch/Job/twice
          PreSync twice Synced Succeeded
        apply twice
        Running: waiting for completion of hook batch/Job/twice
          PostSync twice Synced Running
        release twice
        Succeeded: successfully synced (no more tasks)
          PostSync twice Synced Succeeded
        ",
    );
}
