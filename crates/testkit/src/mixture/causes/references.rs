//! What is named and is not there.

use crate::mixture::scene::{self, Pods, Scene, all, service};
use crate::mixture::verdict::Expected;

/// An application whose pods name something.
fn naming(scene: &mut Scene, pod: &str, container: &str) -> String {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let pods = Pods { pod: pod.to_owned(), container: container.to_owned(), ..Pods::new(&work) };
    let text = pods.either(&mut scene.random);
    scene.deliver(&app, &namespace, &text);
    app
}

pub(super) fn secret(scene: &mut Scene, sort: &'static str) {
    let name = scene.name();
    let app = naming(scene, "", &format!("envFrom: [{{secretRef: {{name: {name}}}}}]\n"));
    scene.expect(Expected::new(sort, &["LYN0301"]).of(&app).about(format!("Secret/{name}")));
}

pub(super) fn mounted_secret(scene: &mut Scene, sort: &'static str) {
    let name = scene.name();
    let app = naming(scene, &format!("volumes: [{{name: login, secret: {{secretName: {name}}}}}]\n"), "");
    scene.expect(Expected::new(sort, &["LYN0301"]).of(&app).about(format!("Secret/{name}")));
}

pub(super) fn config_map(scene: &mut Scene, sort: &'static str) {
    let name = scene.name();
    let app = naming(scene, &format!("volumes: [{{name: settings, configMap: {{name: {name}}}}}]\n"), "");
    scene.expect(Expected::new(sort, &["LYN0301"]).of(&app).about(format!("ConfigMap/{name}")));
}

pub(super) fn service_account(scene: &mut Scene, sort: &'static str) {
    let name = scene.name();
    let app = naming(scene, &format!("serviceAccountName: {name}\n"), "");
    scene.expect(Expected::new(sort, &["LYN0301"]).of(&app).about(format!("ServiceAccount/{name}")));
}

pub(super) fn key(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let container =
        format!("env: [{{name: COLOUR, valueFrom: {{configMapKeyRef: {{name: {work}, key: colour}}}}}}]\n");
    let pods = Pods { container, ..Pods::new(&work) }.deployment();
    scene.deliver(&app, &namespace, &all(&[scene::config_map(&work, "  shade: dark\n"), pods]));
    scene.expect(Expected::new(sort, &["LYN0302"]).of(&app).about(format!("ConfigMap/{work}")));
}

pub(super) fn storage_class(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work, class) = (scene.name(), scene.name(), scene.name(), scene.name());
    let claim = format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {work}}}\nspec: {{storageClassName: {class}, accessModes: \
         [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n"
    );
    let pod = format!("volumes: [{{name: data, persistentVolumeClaim: {{claimName: {work}}}}}]\n");
    let pods = Pods { pod, ..Pods::new(&work) }.deployment();
    scene.deliver(&app, &namespace, &all(&[claim, pods]));
    scene.expect(Expected::new(sort, &["LYN0602"]).of(&app).about(format!("StorageClass/{class}")));
}

/// An Ingress before pods that are well.
fn ingress(scene: &mut Scene, to: Option<&str>, port: u16) -> (String, String) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let to = to.unwrap_or(&work);
    let text = format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {work}}}\nspec:\n  ingressClassName: web\n  rules:\n  - host: {work}.example.com\n    \
         http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: {to}, port: {{number: {port}}}}}}}}}]}}\n"
    );
    scene.deliver(&app, &namespace, &all(&[Pods::new(&work).deployment(), service(&work, 80), text]));
    (app, work)
}

pub(super) fn ingress_port(scene: &mut Scene, sort: &'static str) {
    let (app, work) = ingress(scene, None, 8443);
    scene.expect(Expected::new(sort, &["LYN0303"]).of(&app).about(format!("Service/{work}")));
}

pub(super) fn ingress_service(scene: &mut Scene, sort: &'static str) {
    let other = scene.name();
    let (app, _) = ingress(scene, Some(&other), 80);
    scene.expect(Expected::new(sort, &["LYN0303"]).of(&app).about(format!("Service/{other}")));
}
