//! Very many objects, in one application and in many. `LYNCEUS_OBJECTS=5000` is what `cargo xtask e2e` plays; an everyday
//! test run makes do with fewer.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::value;
use lynceus_testkit::fixture::{FINE, automated, config_map};
use lynceus_testkit::world::World;

/// How many objects one application has.
const EACH: usize = 25;

fn objects() -> usize {
    std::env::var("LYNCEUS_OBJECTS").ok().and_then(|count| count.parse().ok()).unwrap_or(500)
}

fn maps(range: std::ops::Range<usize>, data: &str) -> String {
    range.map(|number| config_map(&format!("map-{number:04}"), data)).collect::<Vec<_>>().join("---\n")
}

#[tokio::test]
async fn one_application_of_very_many_objects() {
    let objects = objects();
    let world = World::new().await;
    world.commit(&[("app/maps.yaml", &maps(0..objects, "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(world.application("shop").status.resources.len(), objects);
    world.commit(&[("app/maps.yaml", &maps(0..objects - 1, "one"))]);
    let last = format!("map-{:04}", objects - 1);
    world.until("the pruning", |world| world.object("", "ConfigMap", "default", &last).is_none()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn very_many_applications_of_a_few_objects() {
    let applications = objects() / EACH;
    let world = World::new().await;
    let files: Vec<(String, String)> = (0..applications)
        .map(|number| (format!("app-{number:03}/maps.yaml"), maps(0..EACH, "one")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    world.commit(&files);
    for number in 0..applications {
        let name = format!("app-{number:03}");
        let policy = value!({
            "destination": {"namespace": name.as_str()},
            "syncPolicy": {"automated": {"prune": true}, "syncOptions": ["CreateNamespace=true"]},
        });
        world.deliver(&name, &name, &policy).await;
    }
    let done =
        |world: &World| (0..applications).all(|number| world.state(&format!("app-{number:03}")) == FINE);
    world.until("all of them", done).await;
    let maps =
        world.objects("", "ConfigMap").into_iter().filter(|map| map.name().starts_with("map-")).count();
    assert_eq!(maps, applications * EACH);
    world.end().await;
}
