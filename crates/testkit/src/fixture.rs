//! Manifests that scenarios are made of, and what they come to, as text.

use lynceus_api::{Application, Kind as _};
use lynceus_cluster::Cache;
use lynceus_engine::AppKey;
use lynceus_object::{Value, value};

/// What there is to say of an application that is as Git says, delivered by itself or not.
pub const FINE: &str = "Synced Healthy Succeeded";

/// An Application of the home namespace, as a cache has it.
pub fn application(cache: &Cache, name: &str) -> Application {
    let found = cache.get(&AppKey::new("argocd", name).object_key());
    found.and_then(|object| Application::from_object(&object).ok()).unwrap_or_default()
}

/// `Synced Healthy Succeeded`: what there is to say about an Application in three words.
pub fn state(application: &Application) -> String {
    let status = &application.status;
    let phase = status.operation_state.as_ref().map(|state| state.phase.to_string()).unwrap_or_default();
    format!("{} {} {phase}", status.sync.status, status.health.status).trim().to_owned()
}

/// What is said of an Application: `ComparisonError: …`, one line for each condition.
pub fn said(application: &Application) -> String {
    let conditions = application.status.conditions.iter();
    conditions.map(|condition| format!("{}: {}\n", condition.type_, condition.message)).collect()
}

/// A policy that syncs, prunes and heals by itself.
pub fn automated() -> Value {
    value!({"syncPolicy": {"automated": {"prune": true, "selfHeal": true}}})
}

/// The same, with options.
pub fn automated_with(options: &[&str]) -> Value {
    value!({"syncPolicy": {
        "automated": {"prune": true, "selfHeal": true}, "syncOptions": options.to_vec(),
    }})
}

/// A policy that syncs by itself and does not try again.
pub fn once() -> Value {
    value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}})
}

/// A ConfigMap with one key.
pub fn config_map(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  key: {data}\n")
}

/// A Secret with one key.
pub fn secret(name: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  key: hidden\n")
}

/// A Namespace.
pub fn namespace(name: &str) -> String {
    format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n")
}

/// A Deployment of two pods in a wave.
pub fn deployment(name: &str, wave: i32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  annotations:\n    \
         argocd.argoproj.io/sync-wave: \"{wave}\"\nspec:\n  replicas: 2\n  selector:\n    matchLabels: {{app: {name}}}\n  \
         template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      - name: main\n        \
         image: example/{name}:1\n"
    )
}

/// A Job that is a hook.
pub fn job(name: &str, hook: &str, command: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    argocd.argoproj.io/hook: {hook}\n\
         spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: main\n        \
         image: example/job:1\n        command: {command}\n"
    )
}

/// The definition of `Widget` in `example.com`, with these versions; the first is the one that is stored.
pub fn widgets(versions: &[&str]) -> String {
    let mut text = String::from(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.com\n\
         spec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: widgets, singular: widget, kind: Widget}\n  \
         versions:\n",
    );
    for (place, version) in versions.iter().enumerate() {
        let storage = place == 0;
        text.push_str(&format!(
            "  - name: {version}\n    served: true\n    storage: {storage}\n    schema:\n      openAPIV3Schema:\n        \
             type: object\n        properties:\n          spec: {{type: object, x-kubernetes-preserve-unknown-fields: true}}\n",
        ));
    }
    text
}

/// A `Widget`.
pub fn widget(version: &str, name: &str, size: i32) -> String {
    format!(
        "apiVersion: example.com/{version}\nkind: Widget\nmetadata:\n  name: {name}\nspec:\n  size: {size}\n  parts: [a, b]\n"
    )
}

/// A manifest with an annotation more: `key` is Argo CD's, without its domain, unless it has one of its own.
pub fn annotated(manifest: &str, key: &str, text: &str) -> String {
    let domain = if key.contains('/') { "" } else { "argocd.argoproj.io/" };
    let line = format!("    {domain}{key}: \"{text}\"\n");
    match manifest.split_once("  annotations:\n") {
        Some((before, after)) => format!("{before}  annotations:\n{line}{after}"),
        None => manifest.replacen("metadata:\n", &format!("metadata:\n  annotations:\n{line}"), 1),
    }
}

/// What became of an application's last sync, one line for each object: `PreSync migrate Synced Succeeded: done`.
pub fn results(application: &Application) -> Vec<String> {
    let state = application.status.operation_state.as_ref();
    let results =
        state.and_then(|state| state.sync_result.as_ref()).map(|result| result.resources.as_slice());
    let line = |result: &lynceus_api::ResourceResult| {
        let (phase, name, status, progress) =
            (&result.sync_phase, &result.name, &result.status, &result.hook_phase);
        format!("{phase} {name} {status} {progress}: {}", result.message)
    };
    results.unwrap_or_default().iter().map(line).collect()
}
