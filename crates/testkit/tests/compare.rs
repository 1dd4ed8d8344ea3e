//! What counts as a difference, who is told of it, and what is never shown.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::time::Duration;

use base64::Engine as _;
use jiff::SignedDuration;
use lynceus_diff::{RuleVerdict, Verdict};
use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, automated, automated_with, config_map, once, secret};
use lynceus_testkit::webhook::Webhook;
use lynceus_testkit::world::World;

const MERGE: &str = "application/merge-patch+json";

/// A webhook that patches ConfigMaps in these operations.
async fn patching(operations: &'static [&'static str], patch: &str) -> Webhook {
    let patch = base64::engine::general_purpose::STANDARD.encode(patch);
    Webhook::start(Duration::ZERO, move |request| match request.str_at(&["operation"]) {
        Some(operation) if operations.contains(&operation) => {
            value!({"allowed": true, "patchType": "JSONPatch", "patch": patch.as_str()})
        }
        _ => value!({"allowed": true}),
    })
    .await
}

/// A webhook that denies updates with these words.
async fn denying(words: &'static str) -> Webhook {
    Webhook::start(Duration::ZERO, move |request| match request.str_at(&["operation"]) {
        Some("UPDATE") => value!({"allowed": false, "status": {"code": 403, "message": words}}),
        _ => value!({"allowed": true}),
    })
    .await
}

/// A world with a webhook, which a real API server takes a moment to know.
async fn behind(configuration: &str) -> World {
    let world = World::new().await;
    world.apply(configuration).await;
    world.pass(SignedDuration::from_secs(2)).await;
    world
}

async fn compare_options(world: &World, options: &str) {
    let annotations = value!({"argocd.argoproj.io/compare-options": options});
    let patch = value!({"metadata": {"annotations": annotations}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &patch).await;
}

/// Sets something for the whole installation.
async fn set(world: &World, config: &str, data: &Value) {
    let mut object = value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": config, "namespace": "argocd", "labels": {"app.kubernetes.io/part-of": "argocd"}},
    });
    object.set(&["data"], data.clone());
    world.apply(&lynceus_object::yaml::to_string(&object)).await;
}

/// Changes a ConfigMap as somebody else.
async fn drift(world: &World, name: &str, data: &Value) {
    let path = format!("/api/v1/namespaces/default/configmaps/{name}?fieldManager=somebody");
    let mut patch = value!({});
    patch.set(&["data"], data.clone());
    assert_eq!(world.ask("PATCH", &path, MERGE, &patch).await.0, 200);
}

fn key_of(world: &World, name: &str) -> String {
    let map = world.object("", "ConfigMap", "default", name).unwrap_or_default();
    map.value().str_at(&["data", "key"]).unwrap_or_default().to_owned()
}

/// What every ConfigMap comes to that a webhook changes to something else than Git says.
const CHANGE: &str = r#"[{"op": "replace", "path": "/data/key", "value": "changed"}]"#;

#[tokio::test]
async fn the_server_is_asked_what_an_apply_would_do_where_an_annotation_says_so() {
    let hook = patching(&["CREATE", "UPDATE"], CHANGE).await;
    let world = behind(&hook.configuration("Mutating", &value!({}))).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("a difference", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    compare_options(&world, "ServerSideDiff=true").await;
    world.until("no difference, as the server sees it", |world| world.state("shop") == FINE).await;
    compare_options(&world, "ServerSideDiff=false").await;
    world.until("a difference again", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    world.end().await;
}

#[tokio::test]
async fn the_server_is_asked_for_all_applications_but_those_that_say_otherwise() {
    let hook = patching(&["CREATE", "UPDATE"], CHANGE).await;
    let world = behind(&hook.configuration("Mutating", &value!({}))).await;
    set(&world, "argocd-cmd-params-cm", &value!({"controller.diff.server.side": "true"})).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("no difference, as the server sees it", |world| world.state("shop") == FINE).await;
    compare_options(&world, "ServerSideDiff=false").await;
    world.until("a difference", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    world.end().await;
}

#[tokio::test]
async fn what_a_webhook_would_add_counts_only_where_it_is_included() {
    let label = r#"[{"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}}]"#;
    let hook = patching(&["UPDATE"], label).await;
    let world = behind(&hook.configuration("Mutating", &value!({}))).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    compare_options(&world, "ServerSideDiff=true,IncludeMutationWebhook=true").await;
    world.until("the webhook's change", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    compare_options(&world, "ServerSideDiff=true").await;
    world.until("no change of ours", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_field_that_git_no_longer_has_is_seen_by_the_server_too() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &(config_map("a", "one") + "  old: two\n"))]);
    world.deliver("shop", "app", &automated_with(&["ServerSideApply=true"])).await;
    compare_options(&world, "ServerSideDiff=true").await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let gone = |world: &World| {
        let map = world.object("", "ConfigMap", "default", "a").unwrap_or_default();
        map.at(&["data", "old"]).is_none()
    };
    world.until("the removal", gone).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_dry_run_that_fails_is_never_taken_for_no_difference() {
    let hook = denying("not on my watch").await;
    let world = behind(&hook.configuration("Validating", &value!({}))).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    compare_options(&world, "ServerSideDiff=true").await;
    world.until("the refusal", |world| world.state("shop") == "Unknown Healthy Succeeded").await;
    assert_eq!(
        world.said("shop"),
        "ComparisonError: /ConfigMap/default/a cannot be compared: the server's dry run failed: admission webhook \
         \"hook.example.com\" denied the request: not on my watch\n"
    );
    world.end().await;
}

#[tokio::test]
async fn what_a_server_quotes_of_a_secret_is_in_no_condition_and_no_result() {
    let hook = denying("the value \"hidden\" (aGlkZGVu) is weak").await;
    let rules = value!([{
        "operations": ["UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"],
    }]);
    let mut more = value!({});
    more.set(&["rules"], rules);
    let world = behind(&hook.configuration("Validating", &more)).await;
    world.commit(&[("app/s.yaml", &secret("s"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    compare_options(&world, "ServerSideDiff=true").await;
    world.until("the refusal", |world| world.said("shop").contains("denied the request")).await;
    let said = world.said("shop");
    assert!(said.contains("++++++++") && !said.contains("hidden") && !said.contains("aGlkZGVu"), "{said}");
    compare_options(&world, "").await;
    world.until("rest", |world| world.said("shop").is_empty()).await;
    let labelled = secret("s") + "  more: hidden\n";
    world.commit(&[("app/s.yaml", &labelled)]);
    world.until("the failed sync", |world| world.state("shop").ends_with("Failed")).await;
    let status = lynceus_object::json::to_string(
        world.object("argoproj.io", "Application", "argocd", "shop").unwrap().at(&["status"]).unwrap(),
    );
    assert!(status.contains("is weak"), "{status}");
    assert!(!status.contains("hidden") && !status.contains("aGlkZGVu"), "{status}");
    world.end().await;
}

#[tokio::test]
async fn rules_of_the_application_and_of_the_installation_leave_fields_out() {
    let world = World::new().await;
    let data = |more: &str| config_map("a", "one") + more;
    world.commit(&[("app/a.yaml", &data("  other: two\n"))]);
    let mut policy = once();
    policy.set(
        &["ignoreDifferences"],
        value!([
            {"kind": "Config*", "jsonPointers": ["/data/key"]},
            {"kind": "ConfigMap", "name": "b", "jsonPointers": ["/data"]},
            {"kind": "ConfigMap", "jqPathExpressions": [".data.nothing"]},
        ]),
    );
    world.deliver("shop", "app", &policy).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    drift(&world, "a", &value!({"key": "drifted"})).await;
    world.pass(SignedDuration::from_secs(3)).await;
    assert_eq!(world.state("shop"), FINE, "the application leaves the field out");
    drift(&world, "a", &value!({"other": "drifted"})).await;
    world.until("a difference", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    let look = world.look("shop").await;
    let verdicts: Vec<RuleVerdict> = look.changes.rules.iter().map(|rule| rule.verdict()).collect();
    assert_eq!(verdicts, [RuleVerdict::Useful, RuleVerdict::NoObject, RuleVerdict::NoField]);
    let Verdict::Update(update) = &look.changes.changes[0].verdict else { panic!("it differs") };
    let writer = update.fields[0].writer.clone().unwrap();
    assert_eq!((writer.manager.as_str(), writer.operation.as_str()), ("somebody", "Update"));
    let rule =
        value!({"resource.customizations.ignoreDifferences.ConfigMap": "jqPathExpressions: [.data.other]"});
    set(&world, "argocd-cm", &rule).await;
    world.until("the installation leaves it out", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn an_expression_that_takes_for_ever_is_one_condition() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let mut policy = once();
    let endless = "select(first(repeat(empty)))";
    policy.set(&["ignoreDifferences"], value!([{"kind": "ConfigMap", "jqPathExpressions": [endless]}]));
    world.commit(&[("app/b.yaml", &config_map("b", "one"))]);
    world.apply(&config_map("a", "one").replace("  name: a", "  name: a\n  namespace: default")).await;
    world.deliver("shop", "app", &policy).await;
    world.until("what is wrong", |world| !world.said("shop").is_empty()).await;
    assert_eq!(
        world.said("shop"),
        format!(
            "ComparisonError: the rule {endless} for ConfigMap cannot be followed: it takes more than 10000000 steps\n"
        )
    );
    world.end().await;
}

#[tokio::test]
async fn ignored_fields_are_applied_as_they_are_where_they_are_respected() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &(config_map("a", "one") + "  other: one\n"))]);
    let mut policy = automated_with(&["RespectIgnoreDifferences=true"]);
    policy.set(&["ignoreDifferences"], value!([{"kind": "ConfigMap", "jsonPointers": ["/data/key"]}]));
    world.deliver("shop", "app", &policy).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    drift(&world, "a", &value!({"key": "drifted"})).await;
    world.commit(&[("app/a.yaml", &(config_map("a", "two") + "  other: two\n"))]);
    let other = |world: &World| {
        let map = world.object("", "ConfigMap", "default", "a").unwrap_or_default();
        map.value().str_at(&["data", "other"]) == Some("two")
    };
    world.until("the second commit", other).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_eq!(key_of(&world, "a"), "drifted");
    world.end().await;
}

#[tokio::test]
async fn both_owners_of_an_object_are_told_of_each_other() {
    let world = World::new().await;
    world.commit(&[("one/a.yaml", &config_map("a", "one")), ("two/b.yaml", &config_map("a", "two"))]);
    world.deliver("one", "one", &once()).await;
    world.until("the first", |world| world.state("one").ends_with("Succeeded")).await;
    world.deliver("two", "two", &once()).await;
    world.until("the second", |world| key_of(world, "a") == "two").await;
    let told = |world: &World, name: &str| world.said(name).contains("SharedResourceWarning");
    world.until("both", |world| told(world, "one") && told(world, "two")).await;
    assert_eq!(
        world.said("one"),
        "SharedResourceWarning: ConfigMap/a is part of applications argocd/one and two (argocd/one has it from one/a.yaml, \
         two has it from two/b.yaml)\n"
    );
    assert_eq!(
        world.said("two"),
        "SharedResourceWarning: ConfigMap/a is part of applications argocd/two and one (argocd/two has it from two/b.yaml, \
         one has it from one/a.yaml)\n"
    );
    world.commit(&[("one/a.yaml", ""), ("one/c.yaml", &config_map("c", "one"))]);
    world.until("peace", |world| !told(world, "one") && !told(world, "two")).await;
    world.end().await;
}

#[tokio::test]
async fn an_object_that_moves_to_another_application_is_its_own_from_then_on() {
    let world = World::new().await;
    world.commit(&[
        ("one/a.yaml", &config_map("a", "one")),
        ("one/rest.yaml", &config_map("rest", "one")),
        ("two/b.yaml", &config_map("b", "two")),
    ]);
    world.deliver("one", "one", &once()).await;
    world.deliver("two", "two", &once()).await;
    world.until("both", |world| world.state("one") == FINE && world.state("two") == FINE).await;
    let before = world.object("", "ConfigMap", "default", "a").unwrap();
    world.commit(&[("one/a.yaml", ""), ("two/a.yaml", &config_map("a", "one"))]);
    let owner = |world: &World| {
        let map = world.object("", "ConfigMap", "default", "a").unwrap_or_default();
        map.annotation("argocd.argoproj.io/tracking-id").unwrap_or_default().to_owned()
    };
    world.until("the move", |world| owner(world) == "two:/ConfigMap:default/a").await;
    world.until("rest", |world| world.state("one") == FINE && world.state("two") == FINE).await;
    let after = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(before.uid(), after.uid(), "it was never away");
    assert_eq!(world.said("one") + &world.said("two"), "");
    world.end().await;
}

#[tokio::test]
async fn objects_are_tracked_by_label_and_a_change_of_method_alone_is_no_difference() {
    let world = World::new().await;
    set(&world, "argocd-cm", &value!({"application.resourceTrackingMethod": "label"})).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.label("app.kubernetes.io/instance"), Some("shop"));
    assert_eq!(map.annotation("argocd.argoproj.io/tracking-id"), None);
    set(&world, "argocd-cm", &value!({"application.resourceTrackingMethod": "annotation"})).await;
    world.pass(SignedDuration::from_secs(3)).await;
    assert_eq!(world.state("shop"), FINE);
    world.end().await;
}

#[tokio::test]
async fn objects_of_another_installation_are_left_alone() {
    let world = World::new().await;
    set(&world, "argocd-cm", &value!({"installationID": "east"})).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let map = world.object("", "ConfigMap", "default", "a").unwrap();
    assert_eq!(map.annotation("argocd.argoproj.io/installation-id"), Some("east"));
    let mark = |name: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\n  annotations:\n    \
             argocd.argoproj.io/tracking-id: shop:/ConfigMap:default/{name}\n{more}"
        )
    };
    world.apply(&mark("theirs", "    argocd.argoproj.io/installation-id: west\n")).await;
    world.apply(&mark("ours", "    argocd.argoproj.io/installation-id: east\n")).await;
    world.until("ours is pruned", |world| world.object("", "ConfigMap", "default", "ours").is_none()).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert!(world.object("", "ConfigMap", "default", "theirs").is_some());
    world.end().await;
}

#[tokio::test]
async fn an_extra_object_that_asks_for_it_and_a_copied_mark_make_no_difference() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let extra = |name: &str, mark: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: default\n  annotations:\n    \
             argocd.argoproj.io/tracking-id: shop:/ConfigMap:default/{mark}\n{more}"
        )
    };
    world.apply(&extra("b", "b", "    argocd.argoproj.io/compare-options: IgnoreExtraneous\n")).await;
    world.apply(&extra("c", "a", "")).await;
    world.pass(SignedDuration::from_secs(3)).await;
    assert_eq!(world.state("shop"), FINE);
    let resources = world.application("shop").status.resources;
    let told = |one: &lynceus_api::ResourceStatus| {
        format!("{} {}{}", one.name, one.status, if one.requires_pruning { ", to be pruned" } else { "" })
    };
    let told: Vec<String> = resources.iter().map(told).collect();
    assert_eq!(told, ["a Synced", "b OutOfSync, to be pruned", "c "]);
    world.apply(&extra("d", "d", "")).await;
    world.until("an extra object", |world| world.state("shop") == "OutOfSync Healthy Succeeded").await;
    world.end().await;
}
