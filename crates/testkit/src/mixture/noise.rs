//! What is in order, between everything that is not.

use super::scene::{Pods, Scene, all, config_map, service};

/// A healthy application of some sort.
pub(super) fn healthy(scene: &mut Scene) {
    let (name, namespace) = (scene.name(), scene.name());
    let work = scene.name();
    let manifests = match scene.random.below(5) {
        0 => all(&[Pods { replicas: 2, ..Pods::new(&work) }.deployment(), service(&work, 80)]),
        1 => {
            let container = format!("envFrom: [{{configMapRef: {{name: {work}}}}}]\n");
            all(&[config_map(&work, ""), Pods { container, ..Pods::new(&work) }.stateful_set()])
        }
        2 => {
            let hook = "argocd.argoproj.io/hook: PreSync";
            all(&[Pods::new(&format!("{work}-prepare")).job(hook), Pods::new(&work).deployment()])
        }
        3 => {
            let secret = format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: {work}}}\nstringData: {{token: abc}}\n"
            );
            let container = format!(
                "env: [{{name: TOKEN, valueFrom: {{secretKeyRef: {{name: {work}, key: token}}}}}}]\n"
            );
            all(&[secret, Pods { container, ..Pods::new(&work) }.deployment()])
        }
        _ => {
            let claim = format!(
                "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {work}}}\nspec: {{accessModes: [ReadWriteOnce], \
                 resources: {{requests: {{storage: 1Gi}}}}}}\n"
            );
            let pod = format!("volumes: [{{name: data, persistentVolumeClaim: {{claimName: {work}}}}}]\n");
            all(&[claim, Pods { pod, ..Pods::new(&work) }.deployment()])
        }
    };
    scene.deliver(&name, &namespace, &manifests);
}
