//! What the engine knows of a cluster that cannot be watched for a while.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_testkit::fixture::{FINE, automated, config_map, secret};
use lynceus_testkit::world::{Trouble, World};

async fn delivered() -> World {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/b.yaml", &config_map("b", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    world
}

fn version(world: &World) -> String {
    world.object("", "ConfigMap", "default", "a").map(|map| map.uid().to_owned()).unwrap_or_default()
}

/// Deletes what the application has while nothing can be seen, lets things be seen again, and waits for the healing.
async fn heals(world: World) {
    let before = version(&world);
    world.delete("v1", "ConfigMap", "default", "a").await;
    world
        .until("the healing", |world| {
            !matches!(version(world).as_str(), "" | "before") && version(world) != before
        })
        .await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_watch_that_breaks_goes_on_where_it_was() {
    let world = delivered().await;
    world.wire().cut_watches();
    heals(world).await;
}

#[tokio::test]
async fn what_happened_while_nothing_could_be_seen_is_seen_afterwards() {
    let world = delivered().await;
    let mut left = 3;
    world.wire().meddle(move |call| {
        let blind = call.reads("configmaps") && left > 0;
        blind.then(|| {
            left -= 1;
            Trouble::Broken
        })
    });
    world.wire().cut_watches();
    heals(world).await;
}

#[tokio::test]
async fn a_version_that_is_too_old_is_listed_anew() {
    let world = delivered().await;
    let mut left = 2;
    world.wire().meddle(move |call| {
        let old = call.is_watch() && call.reads("configmaps") && left > 0;
        old.then(|| {
            left -= 1;
            Trouble::Code(410)
        })
    });
    world.wire().cut_watches();
    heals(world).await;
}

#[tokio::test]
async fn a_server_that_is_too_busy_is_asked_again() {
    let world = delivered().await;
    let mut answers = vec![500, 503, 429, 429];
    world.wire().meddle(move |call| {
        let asked = call.reads("configmaps");
        if asked { answers.pop().map(Trouble::Code) } else { None }
    });
    world.wire().cut_watches();
    heals(world).await;
}

#[tokio::test]
async fn a_kind_that_cannot_be_read_is_told_where_it_is_wanted_and_nowhere_else() {
    let world = delivered().await;
    world.commit(&[("other/s.yaml", &secret("s"))]);
    world.wire().meddle(|call| call.reads("configmaps").then_some(Trouble::Code(500)));
    world.wire().cut_watches();
    world.deliver("other", "other", &automated()).await;
    world.until("the other one", |world| world.state("other") == FINE).await;
    world.until("what is wrong", |world| world.said("shop").contains("ConfigMap")).await;
    assert!(world.said("other").is_empty(), "{}", world.said("other"));
    world.wire().mend();
    world.until("rest", |world| world.said("shop").is_empty() && world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_write_that_is_refused_for_a_while_is_tried_again() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let mut left = 2;
    world.wire().meddle(move |call| {
        let ours = call.verb == "create" && call.resource == "configmaps" && left > 0;
        ours.then(|| {
            left -= 1;
            Trouble::Code(503)
        })
    });
    world
        .deliver(
            "shop",
            "app",
            &lynceus_object::value!({"syncPolicy": {"automated": {}, "retry": {"limit": 5, "backoff": {"duration": "1s"}}}}),
        )
        .await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}
