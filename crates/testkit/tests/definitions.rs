//! Kinds that come, change and go while they are watched.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::value;
use lynceus_testkit::fixture::{FINE, automated, config_map, once, widget, widgets};
use lynceus_testkit::world::World;

fn widget_size(world: &World, name: &str) -> Option<i64> {
    world.object("example.com", "Widget", "default", name)?.value().int_at(&["spec", "size"])
}

#[tokio::test]
async fn a_definition_and_its_objects_come_in_one_sync() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &widget("v1", "w", 1)), ("app/b.yaml", &widgets(&["v1"]))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(widget_size(&world, "w"), Some(1));
    world.end().await;
}

#[tokio::test]
async fn objects_of_a_kind_that_is_not_there_fail_until_it_is() {
    let world = World::new().await;
    world.commit(&[("app/w.yaml", &widget("v1", "w", 1)), ("defs/d.yaml", &widgets(&["v1"]))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    world.deliver("defs", "defs", &automated()).await;
    world.until("the definition", |world| world.state("defs") == FINE).await;
    let operation = value!({"operation": {"sync": {}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &operation).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn objects_that_were_there_before_their_kind_was_known_are_seen() {
    let world = World::new().await;
    world.apply(&widgets(&["v1"])).await;
    world
        .until("the kind", |world| {
            world
                .cluster()
                .kinds()
                .preferred(&lynceus_object::GroupKind::new("example.com", "Widget"))
                .is_some()
        })
        .await;
    world.apply(&widget("v1", "w", 1).replace("name: w\n", "name: w\n  namespace: default\n")).await;
    world.until("the object", |world| world.object("example.com", "Widget", "default", "w").is_some()).await;
    world.end().await;
}

#[tokio::test]
async fn a_new_version_is_served_and_stored_while_objects_are_watched() {
    let world = World::new().await;
    world.commit(&[("app/d.yaml", &widgets(&["v1"])), ("app/w.yaml", &widget("v1", "w", 1))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first version", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/d.yaml", &widgets(&["v2", "v1"])), ("app/w.yaml", &widget("v2", "w", 2))]);
    world.until("the second version", |world| widget_size(world, "w") == Some(2)).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_definition_that_goes_takes_its_objects_along_and_nothing_else() {
    let world = World::new().await;
    world.apply(&widgets(&["v1"])).await;
    world.commit(&[("app/w.yaml", &widget("v1", "w", 1)), ("app/a.yaml", &config_map("a", "one"))]);
    let served = |world: &World| {
        world.cluster().kinds().preferred(&lynceus_object::GroupKind::new("example.com", "Widget")).is_some()
    };
    world.until("the kind", served).await;
    world.deliver("shop", "app", &once()).await;
    world.until("the objects", |world| world.state("shop") == FINE).await;
    world.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com").await;
    world.until("the loss", |world| world.state("shop").starts_with("OutOfSync Missing")).await;
    assert!(world.object("example.com", "Widget", "default", "w").is_none());
    assert!(world.object("", "ConfigMap", "default", "a").is_some());
    world.end().await;
}

#[tokio::test]
async fn a_definition_that_leaves_git_stays_in_the_cluster() {
    let world = World::new().await;
    world.commit(&[
        ("app/d.yaml", &widgets(&["v1"])),
        ("app/w.yaml", &widget("v1", "w", 1)),
        ("app/a.yaml", &config_map("a", "one")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.until("everything", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/d.yaml", ""), ("app/w.yaml", "")]);
    world.until("the pruning", |world| widget_size(world, "w").is_none()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    // As in Argo CD: definitions carry no mark, because what they define is everybody's.
    let name = "widgets.example.com";
    assert!(world.object("apiextensions.k8s.io", "CustomResourceDefinition", "", name).is_some());
    world.end().await;
}
