//! Programs that end or never get ready.

use crate::mixture::scene::{Pods, Scene, all};
use crate::mixture::verdict::Expected;
use crate::mixture::workload::Spot;

/// A workload whose program does something.
fn doing(scene: &mut Scene, what: &str, container: &str) -> String {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    scene.staged("programs", format!("{{image: \"*/acme/{work}:*\", {what}}}"));
    let image = format!("ghcr.io/acme/{work}:v1");
    let pods = Pods { image: &image, container: container.to_owned(), ..Pods::new(&work) };
    // Only containers that stay can be asked whether they are ready.
    let text = match container.contains("Probe") {
        true => Pods { spot: scene.random.pick(&[Spot::Main, Spot::Second]), ..pods }.deployment(),
        false => pods.either(&mut scene.random),
    };
    scene.deliver(&app, &namespace, &text);
    app
}

pub(super) fn crash_loop(scene: &mut Scene, sort: &'static str) {
    let app = doing(scene, "exitCode: 1, after: 3s, message: cannot parse the settings", "");
    scene.expect(Expected::new(sort, &["LYN0901"]).of(&app));
}

pub(super) fn out_of_memory(scene: &mut Scene, sort: &'static str) {
    let app = doing(scene, "oom: true, after: 5s", "resources: {limits: {memory: 64Mi}}\n");
    scene.expect(Expected::new(sort, &["LYN0902"]).of(&app));
}

pub(super) fn not_ready(scene: &mut Scene, sort: &'static str) {
    let app = doing(scene, "readyAfter: 999h", "readinessProbe: {httpGet: {path: /ready, port: 8080}}\n");
    scene.expect(Expected::new(sort, &["LYN0903"]).of(&app));
}

pub(super) fn failed_hook(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let hook = format!("{work}-migrate");
    scene.staged("programs", format!("{{image: \"*/acme/{hook}:*\", exitCode: 2, message: no such table}}"));
    let image = format!("ghcr.io/acme/{hook}:v1");
    let job = Pods { image: &image, ..Pods::new(&hook) }.job("argocd.argoproj.io/hook: PreSync");
    scene.deliver(&app, &namespace, &all(&[job, Pods::new(&work).deployment()]));
    scene.expect(Expected::new(sort, &["LYN0905"]).of(&app).about(format!("Job/{hook}")));
}
