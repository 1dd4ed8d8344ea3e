//! What is no longer desired.

use lynceus_sync::Settings;

use crate::world::{World, expect};

fn pruning() -> Settings {
    Settings { prune: true, ..Settings::default() }
}

#[test]
fn waves_of_pruning_are_turned_round() {
    let live = "Pod a wave=1\nPod b wave=3\nPod c wave=4";
    let world = World::new("Pod d\nPod e wave=2", live);
    expect(
        &world.plan().to_string(),
        "
        Sync
          wave 0
            create /Pod/shop/d
          wave 1
            prune  /Pod/shop/c
          wave 2
            create /Pod/shop/e
          wave 3
            prune  /Pod/shop/b
          wave 4
            prune  /Pod/shop/a
        ",
    );
}

#[test]
fn waves_that_several_share_are_turned_as_one() {
    let world = World::new(
        "Pod a wave=-1\nPod b wave=3\nPod c wave=5",
        "Pod p wave=1\nPod q wave=3\nPod r wave=3\nPod s wave=4\nPod t wave=5",
    );
    let waves: Vec<(String, i64)> = world
        .plan()
        .tasks()
        .filter(|task| task.is_prune())
        .map(|task| (task.key().name.to_string(), task.wave))
        .collect();
    let expected = [("t", 1), ("s", 3), ("q", 4), ("r", 4), ("p", 5)];
    assert_eq!(waves, expected.map(|(name, wave)| (name.to_owned(), wave)));
}

#[test]
fn what_is_pruned_last_comes_in_a_wave_of_its_own() {
    let live = "Pod a wave=1\nPod b wave=2 options=PruneLast=true\nPod c wave=7";
    let waves = |settings| {
        let world = World::with(settings, "Pod keep wave=2", live);
        world
            .plan()
            .tasks()
            .map(|task| format!("{} {}", task.key().name, task.wave))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(waves(pruning()), "c 1, keep 2, a 7, b 8");
    assert_eq!(waves(Settings { prune_last: true, ..pruning() }), "keep 2, a 8, b 8, c 8");
}

#[test]
fn one_wave_is_gone_before_the_next_is_pruned() {
    let mut world = World::new("", "Pod one wave=1\nPod two wave=2 stuck\nPod three wave=3");
    expect(
        &world.pass(),
        "
        delete three Foreground
        Running: waiting for healthy state of /Pod/three
          Sync three Pruned Succeeded pruned
        ",
    );
    expect(
        &world.pass(),
        "
        delete two Foreground
        Running: waiting for healthy state of /Pod/two
          Sync two Pruned Succeeded pruned
        ",
    );
    expect(&world.pass(), "Running: waiting for deletion of /Pod/two");
    world.live.retain(|key, _| key.name != "two");
    expect(
        &world.pass(),
        "
        delete one Foreground
        Succeeded: successfully synced (all tasks run)
          Sync one Pruned Succeeded pruned
        ",
    );
}

#[test]
fn without_pruning_what_is_extra_stays() {
    let mut world = World::with(Settings::default(), "", "Pod old");
    expect(
        &world.finish(),
        "
        Succeeded: successfully synced (all tasks run)
          Sync old PruneSkipped Succeeded ignored (requires pruning)
        ",
    );
}

#[test]
fn an_object_or_the_application_can_forbid_pruning_and_the_object_has_the_last_word() {
    let outcome = |option: Option<&str>, live: &str| {
        let settings = Settings { prune_option: option.map(Into::into), ..pruning() };
        World::with(settings, "", live).finish()
    };
    for skipped in [outcome(Some("false"), "Pod p"), outcome(None, "Pod p options=Prune=false")] {
        expect(
            &skipped,
            "
            Succeeded: successfully synced (all tasks run)
              Sync p PruneSkipped Succeeded ignored (no prune)
            ",
        );
    }
    assert!(outcome(Some("false"), "Pod p options=Prune=true").contains("pruned"));
}

#[test]
fn pruning_that_wants_to_be_confirmed_waits() {
    for (option, live) in [(None, "Pod p options=Prune=confirm"), (Some("confirm"), "Pod p")] {
        let settings = Settings { prune_option: option.map(Into::into), ..pruning() };
        let mut world = World::with(settings.clone(), "", live);
        expect(
            &world.finish(),
            "Running: waiting for pruning confirmation of /Pod/p\nRunning: waiting for pruning confirmation of /Pod/p",
        );
        world = World::with(Settings { prune_confirmed: true, ..settings }, "", live);
        assert!(world.finish().contains("Succeeded: successfully synced (all tasks run)"));
    }
}

#[test]
fn a_deletion_that_fails_fails_the_sync() {
    let mut world = World::new("Pod keep", "Pod old");
    world.delete_errors.insert("old".into(), "foo".into());
    expect(
        &world.finish(),
        "
        delete old Foreground
        Failed: one or more objects failed to apply, reason: foo
          Sync old SyncFailed Failed foo
        ",
    );
}

#[test]
fn an_object_that_is_already_going_is_not_deleted_again() {
    let mut world = World::new("", "Pod old deleting stuck");
    expect(
        &world.finish(),
        "
        Succeeded: successfully synced (all tasks run)
          Sync old Pruned Succeeded pruned
        ",
    );
}

#[test]
fn what_waits_for_a_confirmation_goes_on_when_it_comes() {
    let settings = Settings { prune: true, ..Settings::default() };
    let mut world = World::with(settings.clone(), "Pod app", "Pod old options=Prune=confirm");
    assert!(world.pass().contains("Running: waiting for pruning confirmation of /Pod/old"));
    world.confirm(Settings { prune_confirmed: true, ..settings });
    assert!(world.finish().contains("delete old Foreground"));
}
