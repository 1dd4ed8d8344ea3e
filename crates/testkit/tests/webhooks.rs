//! Webhooks that deny, change, dawdle or are not there.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::time::Duration;

use base64::Engine as _;
use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, automated, config_map, once, secret, widget, widgets};
use lynceus_testkit::webhook::Webhook;
use lynceus_testkit::world::World;

fn allow(_: &Value) -> Value {
    value!({"allowed": true})
}

fn result(world: &World) -> String {
    let state = world.application("shop").status.operation_state.unwrap_or_default();
    let resources = state.sync_result.unwrap_or_default().resources;
    resources.first().map(|one| one.message.to_string()).unwrap_or_default()
}

/// Delivers a ConfigMap past a webhook.
async fn delivered_past(configuration: &str, policy: &Value) -> World {
    let world = World::new().await;
    world.apply(configuration).await;
    // A real API server takes a moment to know a new configuration.
    world.pass(jiff::SignedDuration::from_secs(2)).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", policy).await;
    world
}

#[tokio::test]
async fn a_webhook_that_denies_is_quoted() {
    let hook = Webhook::start(
        Duration::ZERO,
        |_| value!({"allowed": false, "status": {"code": 403, "message": "not on my watch"}}),
    )
    .await;
    let world = delivered_past(&hook.configuration("Validating", &value!({})), &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert_eq!(result(&world), "admission webhook \"hook.example.com\" denied the request: not on my watch");
    world.end().await;
}

#[tokio::test]
async fn what_a_webhook_adds_is_no_drift() {
    let patch = r#"[{"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}}]"#;
    let patch = base64::engine::general_purpose::STANDARD.encode(patch);
    let hook = Webhook::start(Duration::ZERO, move |request| match request.str_at(&["operation"]) {
        Some("CREATE") => value!({"allowed": true, "patchType": "JSONPatch", "patch": patch.as_str()}),
        _ => value!({"allowed": true}),
    })
    .await;
    let world = delivered_past(&hook.configuration("Mutating", &value!({})), &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.label("by"), Some("hook"));
    world.end().await;
}

#[tokio::test]
async fn a_webhook_that_changes_what_git_says_leaves_the_application_out_of_sync() {
    let patch = r#"[{"op": "replace", "path": "/data/key", "value": "changed"}]"#;
    let patch = base64::engine::general_purpose::STANDARD.encode(patch);
    let hook = Webhook::start(
        Duration::ZERO,
        move |_| value!({"allowed": true, "patchType": "JSONPatch", "patch": patch.as_str()}),
    )
    .await;
    let world = delivered_past(&hook.configuration("Mutating", &value!({})), &once()).await;
    world.until("the sync", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    world.end().await;
}

#[tokio::test]
async fn a_webhook_that_is_not_there_stops_writes_if_it_must_be_asked() {
    let hook = Webhook::start(Duration::ZERO, allow).await;
    let configuration = hook.configuration("Validating", &value!({"failurePolicy": "Fail"}));
    let address = hook.url.clone();
    drop(hook);
    let world = delivered_past(&configuration, &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    let port = address.rsplit(':').next().unwrap().trim_end_matches("/hook").to_owned();
    let said = result(&world).replace(&port, "PORT");
    assert_eq!(
        said,
        "Internal error occurred: failed calling webhook \"hook.example.com\": failed to call webhook: Post \
         \"https://127.0.0.1:PORT/hook?timeout=10s\": dial tcp 127.0.0.1:PORT: connect: connection refused"
    );
    world.delete("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "hook").await;
    world.pass(jiff::SignedDuration::from_secs(2)).await;
    let operation = value!({"operation": {"sync": {}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &operation).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_webhook_that_is_not_there_is_passed_by_if_it_may_be() {
    let hook = Webhook::start(Duration::ZERO, allow).await;
    let configuration = hook.configuration("Validating", &value!({"failurePolicy": "Ignore"}));
    drop(hook);
    let world = delivered_past(&configuration, &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_webhook_that_dawdles_is_not_waited_for() {
    let hook = Webhook::start(Duration::from_secs(30), allow).await;
    let more = value!({"failurePolicy": "Fail", "timeoutSeconds": 1});
    let world = delivered_past(&hook.configuration("Validating", &more), &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert!(result(&world).contains("context deadline exceeded"), "{}", result(&world));
    world.end().await;
}

#[tokio::test]
async fn a_kind_that_cannot_be_converted_stops_nothing_else() {
    let hook = Webhook::start(
        Duration::ZERO,
        |_| value!({"result": {"status": "Failed", "message": "not today"}, "convertedObjects": []}),
    )
    .await;
    let world = World::new().await;
    world.apply(&widgets(&["v1"])).await;
    let served = |world: &World| {
        world.cluster().kinds().preferred(&lynceus_object::GroupKind::new("example.com", "Widget")).is_some()
    };
    world.until("the kind", served).await;
    world.commit(&[("app/w.yaml", &widget("v1", "w", 1)), ("other/s.yaml", &secret("s"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the object", |world| world.state("shop") == FINE).await;
    let conversion = format!(
        "  conversion:\n    strategy: Webhook\n    webhook:\n      conversionReviewVersions: [v1]\n      clientConfig:\n        url: \
         {}\n        caBundle: {}\n",
        hook.url, hook.bundle
    );
    // From now on v2 is what is read and stored, and what is stored as v1 cannot be converted to it.
    world.apply(&(widgets(&["v2", "v1"]) + &conversion)).await;
    world.until("what is wrong", |world| world.said("shop").contains("Widget")).await;
    world.deliver("other", "other", &automated()).await;
    world.until("the other one", |world| world.state("other") == FINE).await;
    world.end().await;
}
