//! Kinds and namespaces that are not there.

use crate::mixture::scene::{App, Pods, Scene, all, config_map, definition};
use crate::mixture::verdict::Expected;

/// A kind that nothing else has.
fn kind(scene: &mut Scene) -> (String, String) {
    let name = scene.name();
    let (group, kind) = name.split_once('-').unwrap_or((&name, "thing"));
    let mut letters = kind.chars();
    let kind = letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    (format!("{group}.example.org"), kind)
}

fn object(group: &str, kind: &str, name: &str) -> String {
    format!("apiVersion: {group}/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{size: 3}}\n")
}

pub(super) fn nowhere(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let (group, kind) = kind(scene);
    scene.deliver(&app, &namespace, &all(&[config_map(&work, ""), object(&group, &kind, &work)]));
    scene.expect(Expected::new(sort, &["LYN0201"]).of(&app).about(format!("Kind/{kind}.{group}")));
}

/// The application that brings a kind is held by its first wave.
pub(super) fn blocked(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, user, work) = (scene.name(), scene.name(), scene.name(), scene.name());
    let (group, kind) = kind(scene);
    let image = format!("ghcr.io/acme/{work}");
    scene.staged("images", format!("{{image: {image}, tags: [v1]}}"));
    let image = format!("{image}:v2");
    let operator = Pods { image: &image, ..Pods::new(&work) }.deployment();
    let late = definition(&group, "v1", &kind).replacen(
        "metadata: {",
        "metadata: {annotations: {argocd.argoproj.io/sync-wave: \"2\"}, ",
        1,
    );
    scene.deliver(&app, &namespace, &all(&[operator, late]));
    scene.deliver(&user, &namespace, &object(&group, &kind, &work));
    scene.expect(Expected::new(sort, &["LYN0501"]).of(&app).about(format!("Image/{image}")).stops(&user));
}

pub(super) fn namespace(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    scene.file(format!("{app}/all.yaml"), all(&[config_map(&work, ""), Pods::new(&work).deployment()]));
    scene.application(&App { creates_namespace: false, ..App::new(&app, &namespace) });
    scene.expect(Expected::new(sort, &["LYN0203"]).of(&app).about(format!("Namespace/{namespace}")));
}
