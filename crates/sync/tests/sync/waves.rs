//! Waves: when the next one starts, and when a sync is done.

use lynceus_api::HealthStatusCode;

use crate::world::{World, expect};

#[test]
fn one_wave_succeeds_without_waiting_for_health() {
    let mut world = World::new("Service web", "Pod old");
    world.health.insert("web".into(), HealthStatusCode::Degraded);
    expect(
        &world.finish(),
        "
        delete old Foreground
        apply web
        Succeeded: successfully synced (all tasks run)
          Sync old Pruned Succeeded pruned
          Sync web Synced Running
        ",
    );
}

#[test]
fn a_wave_waits_for_the_health_of_the_one_before_and_nobody_for_the_last() {
    let mut world = World::new("Service web\nPod job wave=5", "");
    world.health.insert("web".into(), HealthStatusCode::Progressing);
    expect(
        &world.pass(),
        "
        apply web
        Running: waiting for healthy state of /Service/web
          Sync web Synced Running
        ",
    );
    expect(&world.pass(), "Running: waiting for healthy state of /Service/web");
    world.health.clear();
    expect(
        &world.pass(),
        "
        apply job
        Succeeded: successfully synced (all tasks run)
          Sync web Synced Succeeded
          Sync job Synced Running
        ",
    );
}

#[test]
fn negative_waves_come_first() {
    let mut world = World::new("Pod c\nPod a wave=3\nPod b wave=-5", "");
    expect(
        &world.plan().to_string(),
        "
        Sync
          wave -5
            create /Pod/shop/b
          wave 0
            create /Pod/shop/c
          wave 3
            create /Pod/shop/a
    ",
    );
    assert!(world.finish().ends_with("  Sync a Synced Running"));
}

#[test]
fn a_degraded_object_of_an_early_wave_fails_the_sync() {
    let mut world = World::new("Service web\nPod job wave=1", "");
    world.health.insert("web".into(), HealthStatusCode::Degraded);
    world.pass();
    expect(
        &world.pass(),
        "
        Failed: one or more synchronization tasks completed unsuccessfully
          Sync web Synced Failed
        ",
    );
}

#[test]
fn an_object_that_vanishes_between_waves_is_an_error() {
    let mut world = World::new("Service web\nPod job wave=1", "");
    world.pass();
    world.live.clear();
    expect(
        &world.pass(),
        "
        Running: waiting for healthy state of /Service/web
          Sync web SyncFailed Error Resource /Service/web is missing, it might have been deleted
        ",
    );
    expect(
        &world.pass(),
        "Failed: one or more synchronization tasks completed unsuccessfully, reason: Resource /Service/web is missing, it might have been deleted",
    );
}

#[test]
fn an_object_that_the_cache_does_not_show_yet_is_no_error() {
    let mut world = World::new("Service web\nPod job wave=1", "");
    world.pass();
    world.unseen.insert("web".into());
    expect(&world.pass(), "Running: waiting for healthy state of /Service/web");
    world.unseen.clear();
    assert!(world.pass().contains("Succeeded: "));
}

#[test]
fn between_waves_there_is_a_pause_that_looking_early_does_not_shorten() {
    let mut world = World::new("Service web\nPod job wave=1", "");
    let before = world.now;
    world.pass();
    assert_eq!(world.now.duration_since(before).as_secs(), 2);
    let after = world.now;
    world.now = before;
    expect(&world.pass(), "Running: waiting for healthy state of /Service/web");
    world.now = after;
    assert!(world.pass().contains("apply job"));
}

/// Without optimisation five hundred waves take half a minute.
const WAVES: i32 = if cfg!(debug_assertions) { 100 } else { 500 };

#[test]
fn hundreds_of_waves_are_as_many_passes() {
    let half = WAVES / 2;
    let lines: Vec<String> = (0..WAVES).map(|wave| format!("Pod p{wave:03} wave={}", wave - half)).collect();
    let mut world = World::new(&lines.join("\n"), "");
    let mut passes = 0;
    while world.pass().contains("Running: ") {
        passes += 1;
        assert!(passes <= WAVES, "it never ends");
    }
    assert_eq!(passes, WAVES - 1, "nothing waits for the last wave");
}

#[test]
fn waves_go_as_far_as_numbers_do() {
    let mut world = World::new(
        "Pod last wave=2147483647\nPod middle\nPod first wave=-2147483648",
        "Pod old wave=2147483647",
    );
    world.settings.prune_last = true;
    world.confirm(world.settings.clone());
    let text = world.finish();
    let order: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("apply ").or_else(|| line.strip_prefix("delete ")))
        .collect();
    assert_eq!(order, ["first", "middle", "last", "old Foreground"]);
}
