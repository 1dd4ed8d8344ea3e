//! Pods that no node takes.

use crate::mixture::scene::{App, Pods, Scene};
use crate::mixture::verdict::Expected;

/// A pool of its own, closed by a taint.
fn pool(scene: &mut Scene) -> String {
    let name = scene.name();
    scene.staged(
        "nodePools",
        format!(
            "{{name: {name}, count: 2, capacity: {{cpu: \"8\", memory: 32Gi, pods: \"50\"}}, labels: {{pool: {name}}}, taints: [{{key: dedicated, value: {name}, effect: NoSchedule}}]}}"
        ),
    );
    name
}

pub(super) fn taint(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work, pool) = (scene.name(), scene.name(), scene.name(), pool(scene));
    let pods = Pods { pod: format!("nodeSelector: {{pool: {pool}}}\n"), ..Pods::new(&work) };
    let text = pods.either(&mut scene.random);
    scene.deliver(&app, &namespace, &text);
    scene.expect(Expected::new(sort, &["LYN0401"]).of(&app));
}

pub(super) fn emptied_tolerations(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work, pool) = (scene.name(), scene.name(), scene.name(), pool(scene));
    let pod = format!("nodeSelector: {{pool: {pool}}}\ntolerations: {{{{ toJson .Values.tolerations }}}}\n");
    let text = Pods { pod, ..Pods::new(&work) }.deployment();
    scene.chart(&app, &text);
    let tolerated =
        format!("tolerations: [{{key: dedicated, operator: Equal, value: {pool}, effect: NoSchedule}}]\n");
    let values = scene.files.entry(format!("{app}/values.yaml")).or_default();
    values.push_str(&tolerated);
    scene.file(format!("{app}/values-live.yaml"), "# As in the other clusters.\ntolerations: []\n");
    let source = "helm: {valueFiles: [values.yaml, values-live.yaml]}\n";
    scene.application(&App { source, ..App::new(&app, &namespace) });
    scene.expect(Expected::new(sort, &["LYN0402"]).of(&app));
}

pub(super) fn selector(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work, label) = (scene.name(), scene.name(), scene.name(), scene.name());
    let pods = Pods { pod: format!("nodeSelector: {{disk: {label}}}\n"), ..Pods::new(&work) };
    let text = pods.either(&mut scene.random);
    scene.deliver(&app, &namespace, &text);
    scene.expect(Expected::new(sort, &["LYN0403"]).of(&app));
}

pub(super) fn no_room(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let asked = scene.random.pick(&["{cpu: \"48\"}", "{memory: 512Gi}"]);
    let pods = Pods { container: format!("resources: {{requests: {asked}}}\n"), ..Pods::new(&work) };
    let text = pods.either(&mut scene.random);
    scene.deliver(&app, &namespace, &text);
    scene.expect(Expected::new(sort, &["LYN0404"]).of(&app));
}

/// More pods than nodes, each with the same port of its node.
pub(super) fn host_port(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let port = 20_000 + scene.random.below(10_000);
    let pods = Pods {
        replicas: 5,
        container: format!("ports: [{{containerPort: 80, hostPort: {port}}}]\n"),
        ..Pods::new(&work)
    };
    scene.deliver(&app, &namespace, &pods.deployment());
    scene.expect(Expected::new(sort, &["LYN0409"]).of(&app));
}
