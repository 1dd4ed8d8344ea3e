//! What the cluster does not permit.

use crate::mixture::scene::{Pods, Scene, all};
use crate::mixture::verdict::Expected;

pub(super) fn pod_security(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let level = scene.random.pick(&["restricted", "baseline"]);
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}, labels: {{pod-security.kubernetes.io/enforce: {level}}}}}\n"
    );
    let pods = Pods { container: "securityContext: {privileged: true}\n".to_owned(), ..Pods::new(&work) };
    let pods = pods.either(&mut scene.random);
    scene.deliver(&app, &namespace, &all(&[text, pods]));
    scene.expect(Expected::new(sort, &["LYN0801"]).of(&app));
}

pub(super) fn quota(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let quota = format!(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: {work}, annotations: {{argocd.argoproj.io/sync-wave: \"-1\"}}}}\nspec: \
         {{hard: {{pods: \"2\"}}}}\n"
    );
    let pods = Pods { replicas: 4, ..Pods::new(&work) }.deployment();
    scene.deliver(&app, &namespace, &all(&[quota, pods]));
    scene.expect(Expected::new(sort, &["LYN0802"]).of(&app));
}

/// A Job whose program asks for what its service account may not.
pub(super) fn job_right(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let image = format!("ghcr.io/acme/{work}:v1");
    scene.staged("programs", format!("{{image: \"*/acme/{work}:*\", may: get deployments.apps}}"));
    let account = format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {work}}}\n");
    let pods = Pods {
        image: &image,
        pod: format!("serviceAccountName: {work}\n"),
        container: "command: [kubectl, get, deployments]\n".to_owned(),
        ..Pods::new(&work)
    };
    scene.deliver(&app, &namespace, &all(&[account, pods.job("")]));
    scene.expect(Expected::new(sort, &["LYN0803"]).of(&app).about(format!("Job/{work}")));
}
