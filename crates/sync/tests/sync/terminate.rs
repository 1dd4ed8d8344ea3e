//! An early end.

use lynceus_api::HealthStatusCode::Progressing;

use crate::world::{World, expect};

const HOOKS: &str = "Pod a hook=PreSync policy=BeforeHookCreation\nPod b hook=PreSync policy=HookFailed\nPod c hook=PreSync policy=HookSucceeded";

#[test]
fn without_hooks_there_is_nothing_to_stop() {
    let mut world = World::new("Pod app\nPod later wave=1", "");
    world.pass();
    world.terminate();
    expect(&world.pass(), "Failed: Operation terminated");
}

#[test]
fn running_hooks_are_released_deleted_and_fail() {
    let mut world = World::new(HOOKS, "");
    for name in ["a", "b", "c"] {
        world.health.insert(name.into(), Progressing);
    }
    world.pass();
    world.terminate();
    expect(
        &world.pass(),
        "
        release a
        release b
        release c
        delete a Foreground
        delete b Foreground
        delete c Foreground
        Failed: Operation terminated
          PreSync a Synced Failed Terminated
          PreSync b Synced Failed Terminated
          PreSync c Synced Failed Terminated
        ",
    );
}

#[test]
fn hooks_that_have_just_completed_count_as_they_ended() {
    let mut world = World::new(HOOKS, "");
    world.pass();
    world.terminate();
    expect(
        &world.pass(),
        "
        release a
        release b
        release c
        delete b Foreground
        Failed: Operation terminated
          PreSync a Synced Succeeded
          PreSync b Synced Succeeded
          PreSync c Synced Succeeded
        ",
    );
}

#[test]
fn completed_hooks_are_released_and_their_results_stay() {
    let mut world = World::new("Pod done hook=PreSync\nPod slow hook=PreSync", "");
    world.health.insert("slow".into(), Progressing);
    world.pass();
    world.pass();
    world.terminate();
    expect(
        &world.pass(),
        "
        release done
        release slow
        delete slow Foreground
        Failed: Operation terminated
          PreSync slow Synced Failed Terminated
        ",
    );
}

#[test]
fn a_hook_that_cannot_be_released_makes_the_termination_an_error() {
    let mut world = World::new("Pod a hook=PreSync", "");
    world.health.insert("a".into(), Progressing);
    world.pass();
    world.release_errors.insert("a".into(), "conflict".into());
    world.terminate();
    expect(
        &world.pass(),
        "
        release a
        Error: Operation termination had errors
          PreSync a Synced Error Failed to remove hook finalizer: conflict
        ",
    );
}
