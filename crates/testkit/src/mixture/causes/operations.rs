//! Objects that two want, fields that cannot change, syncs that nobody starts.

use crate::mixture::scene::{App, Pods, Scene, all, config_map};
use crate::mixture::verdict::Expected;

pub(super) fn shared(scene: &mut Scene, sort: &'static str) {
    let (one, two, namespace, shared) = (scene.name(), scene.name(), scene.name(), scene.name());
    for (app, more) in [(&one, "  colour: red\n"), (&two, "  colour: blue\n")] {
        let work = scene.name();
        scene.deliver(app, &namespace, &all(&[config_map(&shared, more), Pods::new(&work).deployment()]));
    }
    let expected = Expected::new(sort, &["LYN0101"]).of(&one).of(&two);
    scene.expect(expected.about(format!("ConfigMap/{shared}")));
}

/// A Deployment that is there with other labels than Git selects.
pub(super) fn immutable(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let text = Pods::new(&work).deployment();
    scene.deliver(&app, &namespace, &text);
    scene.given.push(format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}\n"));
    let mark = format!(
        "metadata: {{namespace: {namespace}, annotations: {{argocd.argoproj.io/tracking-id: \
         '{app}:apps/Deployment:{namespace}/{work}'}}, "
    );
    let there = text.replacen("metadata: {", &mark, 1).replace("{app: ", "{component: ");
    scene.given.push(there);
    scene.expect(Expected::new(sort, &["LYN1101"]).of(&app).about(format!("Deployment/{work}")));
}

pub(super) fn manual(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    scene.file(format!("{app}/all.yaml"), all(&[config_map(&work, ""), Pods::new(&work).deployment()]));
    scene.application(&App { automated: false, ..App::new(&app, &namespace) });
    scene.expect(Expected::new(sort, &["LYN1201"]).of(&app));
}
