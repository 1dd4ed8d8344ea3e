//! Images that cannot be pulled.

use crate::mixture::scene::{Pods, Scene};
use crate::mixture::verdict::Expected;

/// An application with an image that the stage says something of.
fn with_image(scene: &mut Scene, tag: &str, said: &str, pod: &str) -> (String, String) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let image = format!("ghcr.io/acme/{work}");
    scene.staged("images", format!("{{image: {image}, {said}}}"));
    let image = format!("{image}:{tag}");
    let text = Pods { image: &image, pod: pod.to_owned(), ..Pods::new(&work) }.either(&mut scene.random);
    scene.deliver(&app, &namespace, &text);
    (app, image)
}

pub(super) fn tag(scene: &mut Scene, sort: &'static str) {
    let (app, image) = with_image(scene, "v9", "tags: [v1, v2]", "");
    scene.expect(Expected::new(sort, &["LYN0501"]).of(&app).about(format!("Image/{image}")));
}

pub(super) fn pull_secret(scene: &mut Scene, sort: &'static str) {
    let secret = scene.name();
    let pod = format!("imagePullSecrets: [{{name: {secret}}}]\n");
    let (app, image) = with_image(scene, "v1", "pullSecret: true", &pod);
    let expected = Expected::new(sort, &["LYN0502"]).of(&app).about(format!("Image/{image}"));
    scene.expect(expected.about(format!("Secret/{secret}")));
}

pub(super) fn platform(scene: &mut Scene, sort: &'static str) {
    let (app, image) = with_image(scene, "v1", "platforms: [linux/arm64]", "");
    scene.expect(Expected::new(sort, &["LYN0503"]).of(&app).about(format!("Image/{image}")));
}
