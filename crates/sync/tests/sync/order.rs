//! What comes before what.

use crate::world::{World, expect};

#[test]
fn kinds_come_in_the_order_in_which_they_need_each_other_and_then_names() {
    let world = World::new("Pod b\nPod a\nWidget z\nService s\nConfigMap c\nDeployment d", "");
    expect(
        &world.plan().to_string(),
        "
        Sync
          wave 0
            create /ConfigMap/shop/c
            create /Service/shop/s
            create /Pod/shop/a
            create /Pod/shop/b
            create apps/Deployment/shop/d
            create x.io/Widget/shop/z
        ",
    );
}

#[test]
fn a_namespace_moves_ahead_of_the_first_hook_that_lives_in_it() {
    let world =
        World::new("Namespace other wave=7\nJob migrate namespace=other hook=PreSync wave=-3\nPod p", "");
    expect(
        &world.plan().to_string(),
        "
        PreSync
          wave -3
            create /Namespace/shop/other
            hook   batch/Job/other/migrate
        Sync
          wave 0
            create /Pod/shop/p
        ",
    );
}

#[test]
fn a_definition_moves_ahead_of_its_first_object() {
    let world = World::new("CustomResourceDefinition widgets wave=2\nWidget w wave=1", "");
    expect(
        &world.plan().to_string(),
        "
        Sync
          wave 1
            create apiextensions.k8s.io/CustomResourceDefinition/shop/widgets
            create x.io/Widget/shop/w
        ",
    );
}

#[test]
fn phases_of_one_hook_are_separate_tasks_with_names_of_their_own() {
    let world = World::new("Pod - prefix=job- hook=PreSync,PostSync", "");
    expect(
        &world.plan().to_string(),
        "
        PreSync
          wave 0
            hook   /Pod/shop/job-foobarb-presync-1767225600
        PostSync
          wave 0
            hook   /Pod/shop/job-foobarb-postsync-1767225600
        ",
    );
}

#[test]
fn hooks_that_never_run_and_skipped_objects_are_no_tasks() {
    let world = World::new(
        "Pod a hook=Whenever\nPod b hook=Skip\nPod c hook=PostDelete",
        "Pod b\nPod d hook=PreSync",
    );
    assert_eq!(world.plan().to_string(), "");
    assert!(world.plan().is_empty());
}
