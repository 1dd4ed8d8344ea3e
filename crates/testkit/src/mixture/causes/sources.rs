//! Sources that cannot be read or rendered.

use crate::mixture::scene::{App, Pods, Scene};
use crate::mixture::verdict::Expected;

pub(super) fn revision(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    scene.file(format!("{app}/all.yaml"), Pods::new(&work).deployment());
    let revision = scene.name();
    scene.application(&App { revision: &revision, ..App::new(&app, &namespace) });
    scene.expect(Expected::new(sort, &["LYN1001"]).of(&app));
}

pub(super) fn path(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, path) = (scene.name(), scene.name(), scene.name());
    scene.application(&App { path: &path, ..App::new(&app, &namespace) });
    scene.expect(Expected::new(sort, &["LYN1002"]).of(&app));
}

pub(super) fn render_error(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    match scene.random.coin() {
        true => {
            let text = Pods::new(&work).deployment();
            scene.chart(&app, &text);
            let fails = "{{ required \"a host is needed\" .Values.host }}\n";
            scene.file(format!("{app}/templates/host.yaml"), fails);
        }
        false => {
            let text = "resources: [not-there.yaml]\n";
            scene.file(format!("{app}/kustomization.yaml"), text);
        }
    }
    scene.application(&App::new(&app, &namespace));
    scene.expect(Expected::new(sort, &["LYN1006"]).of(&app));
}

pub(super) fn empty_value(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let text = Pods { image: "{{ .Values.tag }}", ..Pods::new(&work) }.deployment();
    scene.file(format!("{app}/Chart.yaml"), format!("apiVersion: v2\nname: {app}\nversion: 1.0.0\n"));
    scene.file(format!("{app}/values.yaml"), "tag: \"\"\n");
    scene.file(format!("{app}/templates/all.yaml"), text);
    scene.application(&App::new(&app, &namespace));
    scene.expect(Expected::new(sort, &["LYN1007"]).of(&app));
}

pub(super) fn value_file(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let text = Pods::new(&work).deployment();
    scene.chart(&app, &text);
    let source = "helm: {valueFiles: [values-live.yaml]}\n";
    scene.application(&App { source, ..App::new(&app, &namespace) });
    scene.expect(Expected::new(sort, &["LYN1008"]).of(&app));
}
