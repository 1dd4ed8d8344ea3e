//! Chains over applications: something is wrong with the pods of one, and others wait for them.

use crate::mixture::blight::Blight;
use crate::mixture::scene::{App, Pods, Scene, all, config_map, definition, in_wave, service};

/// Pods that have something wrong with them, in any place.
fn sick(scene: &mut Scene, blight: &Blight, name: &str) -> String {
    blight.pods(name).either(&mut scene.random)
}

/// Programs that need a service of another application, whose pods do not run.
pub(super) fn service_of_another(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let blight = Blight::any(scene);
    let text = sick(scene, &blight, &work);
    scene.deliver(&app, &namespace, &all(&[service(&work, 5432), text]));
    let mut expected = blight.expected(sort, &app);
    for _ in 0..1 + scene.random.below(3) {
        let (user, place, client) = (scene.name(), scene.name(), scene.name());
        let crash = scene.random.coin();
        scene.staged(
            "programs",
            format!("{{image: \"*/acme/{client}:*\", needs: {{service: {work}.{namespace}, crashWithout: {crash}}}}}"),
        );
        let image = format!("ghcr.io/acme/{client}:v1");
        let container = format!(
            "env: [{{name: DATABASE, value: \"postgres://{work}.{namespace}.svc:5432/main\"}}]\nreadinessProbe: {{httpGet: {{path: \
             /ready, port: 8080}}}}\n"
        );
        let pods = Pods { image: &image, container, ..Pods::new(&client) };
        scene.deliver(&user, &place, &pods.deployment());
        expected = expected.stops(&user);
    }
    scene.expect(expected);
}

/// An application of applications in waves, whose first does not become healthy.
pub(super) fn apps_in_waves(scene: &mut Scene, sort: &'static str) {
    let (parent, first, second) = (scene.name(), scene.name(), scene.name());
    let blight = Blight::any(scene);
    for (name, wave) in [(&first, 1), (&second, 2)] {
        let (namespace, work) = (scene.name(), scene.name());
        let text = if wave == 1 { sick(scene, &blight, &work) } else { Pods::new(&work).deployment() };
        scene.deliver_as(&App { wave, ..App::new(name, &namespace) }, &text);
        if let Some((name, text)) = scene.applications.pop() {
            scene.file(format!("{parent}/{name}.yaml"), text);
        }
    }
    scene.application(&App::new(&parent, "argocd"));
    scene.expect(blight.expected(sort, &first).stops(&parent));
}

/// The application that brings a namespace for another one is held by its first wave.
pub(super) fn namespace_of_another(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let (user, place, client) = (scene.name(), scene.name(), scene.name());
    let blight = Blight::waiting(scene);
    let late = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {place}}}\n");
    let text = sick(scene, &blight, &work);
    scene.deliver(&app, &namespace, &all(&[text, in_wave(&late, 2)]));
    let text = all(&[config_map(&client, ""), Pods::new(&client).deployment()]);
    scene.deliver_as(&App { creates_namespace: false, ..App::new(&user, &place) }, &text);
    scene.expect(blight.expected(sort, &app).stops(&user));
}

/// Whoever makes certificates does not run, and pods wait for one.
pub(super) fn operator_away(scene: &mut Scene, sort: &'static str) {
    if std::mem::replace(&mut scene.has_certificates, true) {
        return service_of_another(scene, sort);
    }
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let (user, place, client) = (scene.name(), scene.name(), scene.name());
    let blight = Blight::waiting(scene);
    let mut operator = blight.pods(&work);
    let image = "quay.io/jetstack/cert-manager-controller:v1.18.0";
    let missing = operator.image.to_owned();
    if !missing.starts_with("ghcr.io/") {
        operator.image = image;
    }
    let definitions = ["Issuer", "Certificate"].map(|kind| definition("cert-manager.io", "v1", kind));
    let [issuers, certificates] = definitions;
    scene.deliver(&app, &namespace, &all(&[issuers, certificates, operator.deployment()]));
    let issuer =
        "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: own}\nspec: {selfSigned: { }}\n";
    let certificate = format!(
        "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {{name: {client}}}\nspec: {{secretName: {client}-tls, dnsNames: \
         [{client}.example.com], issuerRef: {{name: own}}}}\n"
    );
    let pod = format!("volumes: [{{name: tls, secret: {{secretName: {client}-tls}}}}]\n");
    let pods = Pods { pod, ..Pods::new(&client) }.deployment();
    scene.deliver(&user, &place, &all(&[issuer.to_owned(), certificate, pods]));
    scene.expect(blight.expected(sort, &app).stops(&user));
}

/// A webhook that has to be asked before others can write, and whose pods do not run.
pub(super) fn webhook_away(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let (user, place, client) = (scene.name(), scene.name(), scene.name());
    let blight = Blight::waiting(scene);
    let hook = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: {work}}}\nwebhooks:\n- \
         name: check.{work}.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n  \
         clientConfig: {{service: {{name: {work}, namespace: {namespace}, path: /check}}}}\n  objectSelector: {{matchLabels: \
         {{checked: {work}}}}}\n  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}}]\n"
    );
    let text = sick(scene, &blight, &work);
    scene.deliver(&app, &namespace, &all(&[service(&work, 443), text, hook]));
    let checked = config_map(&client, "").replacen(
        "metadata: {",
        &format!("metadata: {{labels: {{checked: {work}}}, "),
        1,
    );
    // It comes when the webhook is there.
    let slow = format!("{client}-prepare");
    scene.staged("programs", format!("{{image: \"*/acme/{slow}:*\", exitCode: 0, after: 3m}}"));
    let image = format!("ghcr.io/acme/{slow}:v1");
    let hook = Pods { image: &image, ..Pods::new(&slow) }.job("argocd.argoproj.io/hook: PreSync");
    scene.deliver(&user, &place, &all(&[hook, checked, Pods::new(&client).deployment()]));
    scene.expect(blight.expected(sort, &app).stops(&user));
}

/// A hook that has to end before anything is brought, and whose pods do not start.
pub(super) fn stuck_hook(scene: &mut Scene, sort: &'static str) {
    let (app, namespace, work) = (scene.name(), scene.name(), scene.name());
    let hook = format!("{work}-prepare");
    let blight = Blight::waiting(scene);
    let job = blight.pods(&hook).job("argocd.argoproj.io/hook: PreSync");
    scene.deliver(&app, &namespace, &all(&[job, Pods::new(&work).deployment()]));
    scene.expect(blight.expected(sort, &app));
}
