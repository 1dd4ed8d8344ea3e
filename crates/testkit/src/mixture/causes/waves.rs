//! Waves that wait for what comes later, and claims that nothing provisions.

use crate::mixture::scene::{Pods, Scene, all, config_map};
use crate::mixture::verdict::Expected;

/// Pods of an early wave need what comes in a later one.
pub(super) fn order(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let wave = "metadata: {annotations: {argocd.argoproj.io/sync-wave: \"3\"}, ";
    let late = config_map(&work, "").replacen("metadata: {", wave, 1);
    let container = format!("envFrom: [{{configMapRef: {{name: {work}}}}}]\n");
    let pods = Pods { container, wave: 1, ..Pods::new(&work) }.deployment();
    scene.deliver(&app, &namespace, &all(&[late, pods]));
    scene.expect(Expected::new(sort, &["LYN1209"]).of(&app).about(format!("ConfigMap/{work}")));
}

fn claim_of(work: &str, class: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {work}}}\nspec: {{storageClassName: {class}, accessModes: \
         [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n"
    )
}

pub(super) fn provisioner(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work, class) = (scene.name(), scene.name(), scene.name(), scene.name());
    let says = "rpc error: code = ResourceExhausted desc = the pool is full";
    scene.staged(
        "storage",
        format!("{{class: {class}, provisioner: disk.example.com/{class}, fails: \"{says}\"}}"),
    );
    let pod = format!("volumes: [{{name: data, persistentVolumeClaim: {{claimName: {work}}}}}]\n");
    let pods = Pods { pod, ..Pods::new(&work) }.deployment();
    scene.deliver(&app, &namespace, &all(&[claim_of(&work, &class), pods]));
    let expected = Expected::new(sort, &["LYN0603"]).of(&app);
    scene.expect(
        expected.about(format!("StorageClass/{class}")).about(format!("PersistentVolumeClaim/{work}")),
    );
}
