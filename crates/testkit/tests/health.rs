//! Users' own health checks, as they stand in `argocd-cm`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_testkit::fixture::{FINE, automated, config_map};
use lynceus_testkit::world::World;

/// `argocd-cm` with one check.
fn check(kind: &str, script: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\n  namespace: argocd\ndata:\n  \
         resource.customizations.health.{kind}: |\n    {}\n",
        script.replace('\n', "\n    ")
    )
}

const BY_KEY: &str = "local hs = {status = \"Healthy\", message = \"the key is \" .. obj.data.key}
if obj.data.key == \"bad\" then
  hs.status = \"Degraded\"
end
return hs";

#[tokio::test]
async fn a_users_check_gives_a_kind_its_health_and_is_followed_when_it_changes() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "good")), ("app/b.yaml", &config_map("b", "bad"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.apply(&check("ConfigMap", BY_KEY)).await;
    world.until("the check", |world| world.state("shop") == "Synced Degraded Succeeded").await;
    world.apply(&check("ConfigMap", "return {status = \"Suspended\"}")).await;
    world.until("the other check", |world| world.state("shop") == "Synced Suspended Succeeded").await;
    world.end().await;
}

#[tokio::test]
async fn a_wave_waits_for_what_a_users_check_says() {
    let world = World::new().await;
    world.apply(&check("ConfigMap", BY_KEY.replace("Degraded", "Progressing").as_str())).await;
    let late = config_map("late", "good")
        .replace("name: late", "name: late\n  annotations: {argocd.argoproj.io/sync-wave: '1'}");
    world.commit(&[("app/a.yaml", &config_map("early", "bad")), ("app/b.yaml", &late)]);
    world.deliver("shop", "app", &automated()).await;
    let is_early = |world: &World| world.object("", "ConfigMap", "default", "early").is_some();
    world.until("the wait", |world| world.state("shop").ends_with("Running") && is_early(world)).await;
    assert!(world.object("", "ConfigMap", "default", "late").is_none());
    world
        .patch("v1", "ConfigMap", "default", "early", &lynceus_object::value!({"data": {"key": "good"}}))
        .await;
    world.until("the second wave", |world| world.object("", "ConfigMap", "default", "late").is_some()).await;
    world.end().await;
}

#[tokio::test]
async fn a_check_that_never_ends_makes_its_kind_unknown_and_nothing_else() {
    let world = World::new().await;
    world.apply(&check("ConfigMap", "while true do end")).await;
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: robot}\n";
    world.commit(&[
        ("app/a.yaml", &config_map("a", "good")),
        ("app/b.yaml", account),
        ("other/c.yaml", &account.replace("robot", "other")),
    ]);
    world.deliver("shop", "app", &automated()).await;
    world.deliver("other", "other", &automated()).await;
    world.until("the other application", |world| world.state("other") == FINE).await;
    world.until("the sync", |world| world.state("shop").starts_with("Synced Unknown")).await;
    assert!(world.object("", "ServiceAccount", "default", "robot").is_some());
    world.end().await;
}

const OPERATORS: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: argocds.argoproj.io}
spec:
  group: argoproj.io
  scope: Namespaced
  names: {plural: argocds, singular: argocd, kind: ArgoCD, listKind: ArgoCDList}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

#[tokio::test]
async fn the_resource_of_openshifts_operator_is_followed_where_the_settings_say_nothing() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "good"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.apply(OPERATORS).await;
    let resource = "apiVersion: argoproj.io/v1beta1\nkind: ArgoCD\nmetadata: {name: main, namespace: argocd}\nspec:\n  \
                    resourceHealthChecks:\n  - {kind: ConfigMap, check: 'return {status = \"Degraded\"}'}\n";
    world.apply(resource).await;
    world.until("its check", |world| world.state("shop") == "Synced Degraded Succeeded").await;
    world.apply(&check("ConfigMap", "return {status = \"Suspended\"}")).await;
    world.until("the settings' check", |world| world.state("shop") == "Synced Suspended Succeeded").await;
    world.end().await;
}
