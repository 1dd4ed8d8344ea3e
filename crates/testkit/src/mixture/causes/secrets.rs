//! Pods that wait for a Secret, which waits for a store, which waits for Vault.

use crate::mixture::scene::{Pods, Scene, all, service};
use crate::mixture::verdict::Expected;

/// What reads from a store.
struct Reading {
    /// The application that has the store.
    app: String,
    /// The store.
    store: String,
    /// The application whose pods need what is read; the same one, maybe.
    user: String,
}

/// A store, what is read through it, and pods that need that: in one application or in two.
fn reading(scene: &mut Scene, host: &str, role: &str) -> Reading {
    let (app, namespace, store) = (scene.name(), scene.name(), scene.name());
    let mut texts = vec![format!(
        "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {{name: {store}}}\nspec: {{provider: {{vault: {{server: \
         'http://{host}:8200', auth: {{kubernetes: {{role: {role}}}}}}}}}}}\n"
    )];
    let mut pods = Vec::new();
    for _ in 0..1 + scene.random.below(3) {
        let work = scene.name();
        texts.push(format!(
            "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {{name: {work}}}\nspec:\n  secretStoreRef: {{name: \
             {store}}}\n  target: {{name: {work}-login}}\n  data: [{{secretKey: password, remoteRef: {{key: {work}}}}}]\n"
        ));
        let container = format!("envFrom: [{{secretRef: {{name: {work}-login}}}}]\n");
        pods.push(Pods { container, ..Pods::new(&work) }.deployment());
    }
    if scene.random.coin() {
        texts.extend(pods);
        scene.deliver(&app, &namespace, &all(&texts));
        return Reading { user: app.clone(), app, store };
    }
    let user = scene.name();
    scene.deliver(&app, &namespace, &all(&texts));
    scene.deliver(&user, &namespace, &all(&pods));
    Reading { app, store, user }
}

/// Vault in an application of its own, with an annotation of its pods.
fn vault(scene: &mut Scene, annotation: &str) -> (String, String, String) {
    scene.secrets_operator();
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let image = "docker.io/hashicorp/vault:1.20";
    let set = Pods { image, told: annotation.to_owned(), ..Pods::new(&work) }.stateful_set();
    scene.deliver(&app, &namespace, &all(&[service(&work, 8200), set]));
    (app, namespace, work)
}

pub(super) fn sealed(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = vault(scene, "sim.lynceus.dev/sealed: 'true'");
    let mut expected = Expected::new(sort, &["LYN0702"]).of(&app).about(format!("StatefulSet/{work}"));
    for _ in 0..1 + scene.random.below(2) {
        let read = reading(scene, &format!("{work}.{namespace}.svc"), "reader");
        expected = expected.stops(&read.app).stops(&read.user);
    }
    scene.expect(expected.about(format!("Service/{work}")));
}

pub(super) fn refused(scene: &mut Scene, sort: &'static str) {
    let role = scene.name();
    let (_, namespace, work) = vault(scene, &format!("sim.lynceus.dev/forbids: {role}"));
    let Reading { app, store, user } = reading(scene, &format!("{work}.{namespace}.svc"), &role);
    let expected = Expected::new(sort, &["LYN0703"]).of(&app).about(format!("SecretStore/{store}"));
    scene.expect(expected.stops(&user));
}

pub(super) fn nowhere(scene: &mut Scene, sort: &'static str) {
    scene.secrets_operator();
    let (host, namespace) = (scene.name(), scene.name());
    let Reading { app, store, user } = reading(scene, &format!("{host}.{namespace}.svc"), "reader");
    let expected = Expected::new(sort, &["LYN0701"]).of(&app).about(format!("SecretStore/{store}"));
    let expected = expected.about(format!("Service/{host}")).about(format!("Namespace/{namespace}"));
    scene.expect(expected.stops(&user));
}
