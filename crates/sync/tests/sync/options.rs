//! How objects are written.

use lynceus_object::{Gvk, Object};
use lynceus_sync::{OwnNamespace, Settings};

use crate::world::{World, expect};

fn first_line(settings: Settings, desired: &str, live: &str) -> String {
    World::with(settings, desired, live).finish().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn options_of_the_operation_the_manifest_and_the_live_object_choose_the_request() {
    let plain = Settings::default;
    let replace = || Settings { replace: true, ..plain() };
    for (settings, desired, live, request) in [
        (plain(), "Pod p", "", "apply p"),
        (plain(), "Pod p options=Replace=true", "", "create p"),
        (plain(), "Pod p options=Replace=true", "Pod p", "replace p"),
        (plain(), "Pod p", "Pod p options=Replace=true", "replace p"),
        (replace(), "Pod p", "Pod p", "replace p"),
        (replace(), "Namespace n", "Namespace n", "update n"),
        (replace(), "CustomResourceDefinition widgets", "CustomResourceDefinition widgets", "update widgets"),
        (plain(), "Pod p options=Force=true", "", "apply --force p"),
        (plain(), "Pod p options=Force=true,Replace=true", "Pod p", "replace --force p"),
        (plain(), "Pod p", "Pod p options=Force=true,Replace=true", "replace --force p"),
        (plain(), "Pod p options=Validate=false", "", "apply --validate=false p"),
        (Settings { validate: false, ..plain() }, "Pod p", "", "apply --validate=false p"),
        (plain(), "Pod p options=ServerSideApply=true", "", "apply --server-side as argocd-controller p"),
        (
            Settings { server_side_apply: true, ..plain() },
            "Pod p options=ServerSideApply=false",
            "",
            "apply p",
        ),
        (Settings { server_side_apply: true, ..replace() }, "Pod p", "Pod p", "replace p"),
    ] {
        assert_eq!(first_line(settings, desired, live), request, "{desired} | {live}");
    }
}

#[test]
fn fields_of_client_side_apply_are_taken_over_once() {
    let settings = || Settings { server_side_apply: true, ..Settings::default() };
    let taken = "apply --server-side as argocd-controller after kubectl-client-side-apply p";
    assert_eq!(first_line(settings(), "Pod p", "Pod p csa=Update"), taken);
    assert_eq!(
        first_line(settings(), "Pod p", "Pod p csa=Apply"),
        "apply --server-side as argocd-controller p"
    );
    let off = Settings { migrate_from: None, ..settings() };
    assert_eq!(first_line(off, "Pod p", "Pod p csa=Update"), "apply --server-side as argocd-controller p");
}

#[test]
fn only_what_differs_is_applied_when_asked() {
    let settings = Settings { apply_out_of_sync_only: true, ..Settings::default() };
    let mut world =
        World::with(settings, "Pod same\nPod changed\nPod new", "Pod same\nPod changed\nPod extra");
    world.unmodified.insert("same".into());
    expect(
        &world.finish(),
        "
        apply changed
        apply new
        Succeeded: successfully synced (all tasks run)
          Sync extra PruneSkipped Succeeded ignored (requires pruning)
          Sync changed Synced Running
          Sync new Synced Running
        ",
    );
}

#[test]
fn a_dry_run_that_fails_stops_everything() {
    let mut world = World::new("Pod good\nPod bad", "");
    world.dry_run_errors.insert("bad".into(), "spec is wrong".into());
    expect(
        &world.finish(),
        "
        Failed: one or more objects failed to apply (dry run)
          Sync bad SyncFailed Failed spec is wrong
        ",
    );
}

#[test]
fn an_operation_that_only_tries_writes_nothing() {
    let settings = Settings { dry_run: true, prune: true, ..Settings::default() };
    let mut world = World::with(settings, "Pod new\nPod job hook=PreSync", "Pod old");
    expect(
        &world.finish(),
        "
        Succeeded: successfully synced (no more tasks)
          Sync old Pruned Succeeded pruned (dry run)
          PreSync job Synced Succeeded
          Sync new Synced Succeeded
        ",
    );
}

#[test]
fn a_kind_that_is_not_there_yet_is_an_error_unless_it_may_come() {
    let mut world = World::new("Widget w", "");
    world.unknown_kinds.insert("Widget".into());
    expect(
        &world.finish(),
        "
        Failed: one or more synchronization tasks are not valid: the server could not find the requested resource
          Sync w SyncFailed - the server could not find the requested resource
        ",
    );
    for (settings, desired) in [
        (Settings::default(), "Widget w\nCustomResourceDefinition widgets"),
        (Settings::default(), "Widget w options=SkipDryRunOnMissingResource=true"),
        (Settings { skip_dry_run_on_missing_resource: true, ..Settings::default() }, "Widget w"),
    ] {
        let mut world = World::with(settings, desired, "");
        world.unknown_kinds.insert("Widget".into());
        world.dry_run_errors.insert("w".into(), "no matches for kind".into());
        assert!(world.finish().contains("Succeeded: successfully synced (all tasks run)"), "{desired}");
    }
}

#[test]
fn what_the_project_does_not_permit_stops_everything() {
    let mut world = World::new("Pod good\nPod bad", "");
    world.forbidden.insert("bad".into());
    expect(
        &world.finish(),
        "
        Failed: one or more synchronization tasks are not valid: bad is not permitted in project
          Sync bad SyncFailed - bad is not permitted in project
        ",
    );
}

#[test]
fn the_namespace_is_made_before_anything_is_tried_out() {
    let mut world = World::new("Pod bad", "");
    world.own_namespace = Some(OwnNamespace { live: Ok(None), metadata: None });
    world.dry_run_errors.insert("bad".into(), "no such image".into());
    expect(
        &world.finish(),
        "
        apply shop
        Failed: one or more objects failed to apply (dry run)
          PreSync shop Synced Running
          Sync bad SyncFailed Failed no such image
        ",
    );
}

#[test]
fn a_namespace_that_exists_or_is_part_of_the_source_is_left_alone() {
    let live = Object::named(&Gvk::new("", "v1", "Namespace"), "", "shop");
    let mut world = World::new("Pod p", "");
    world.own_namespace = Some(OwnNamespace { live: Ok(Some(live.clone())), metadata: None });
    assert!(!world.finish().contains("shop"));
    world.own_namespace = Some(OwnNamespace { live: Ok(Some(live)), metadata: Some(Default::default()) });
    assert!(world.plan().to_string().contains("update /Namespace//shop"));
    let mut world = World::new("Namespace shop", "");
    world.own_namespace = Some(OwnNamespace { live: Ok(None), metadata: None });
    assert_eq!(world.plan().tasks().count(), 1);
}

#[test]
fn a_namespace_that_cannot_be_looked_at_fails_the_sync() {
    let mut world = World::new("Pod p", "");
    world.own_namespace = Some(OwnNamespace { live: Err("forbidden".into()), metadata: None });
    expect(
        &world.finish(),
        "
        Failed: one or more synchronization tasks completed unsuccessfully, reason: namespace auto creation failed: forbidden
          PreSync shop SyncFailed Error namespace auto creation failed: forbidden
        ",
    );
}
