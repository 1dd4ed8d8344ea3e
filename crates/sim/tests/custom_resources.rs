//! Custom resources through the whole cluster: defined, written, changed, deleted with their definition.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{Object, Value, value};
use lynceus_sim::attributes::User;
use lynceus_sim::view::View;
use lynceus_sim::{ApiError, DeleteOptions, Local, Options, PatchKind, Sim, Stage, Target};

const GROUP: &str = "stable.example.com";

async fn local() -> Local {
    let options = Options { without_controllers: true, ..Options::by_hand(Stage::default()) };
    Sim::start(options).await.unwrap().local()
}

fn object(value: Value) -> Object {
    Object::new(value).unwrap()
}

fn definition() -> Object {
    object(value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.stable.example.com"},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"plural": "tabs", "kind": "Tab"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "required": ["image"],
                        "properties": {"image": {"type": "string"}, "least": {"type": "integer", "default": 0},
                            "count": {"type": "integer", "minimum": 0, "default": 1}},
                        "x-kubernetes-validations": [{"rule": "self.least <= self.count", "message": "too few"}]},
                    "status": {"type": "object", "properties": {"ready": {"type": "integer"}}}}}}}],
        },
    }))
}

fn tab(spec: Value) -> Object {
    object(value!({
        "apiVersion": "stable.example.com/v1", "kind": "Tab",
        "metadata": {"name": "one", "namespace": "default"}, "spec": spec,
    }))
}

const TAB: Target<'static> = Target { group: GROUP, resource: "tabs", namespace: "default", name: "one" };
const DEFINITION: Target<'static> = Target {
    group: "apiextensions.k8s.io",
    resource: "customresourcedefinitions",
    namespace: "",
    name: "tabs.stable.example.com",
};

async fn defined() -> Local {
    let local = local().await;
    local.create(DEFINITION.group, DEFINITION.resource, definition()).await.unwrap();
    local
}

fn told(outcome: Result<Object, ApiError>) -> String {
    match outcome {
        Ok(object) => serde_json::to_string(object.at(&["spec"]).unwrap()).unwrap(),
        Err(error) => format!("{} {}", error.code, error.message),
    }
}

#[tokio::test]
async fn a_kind_is_there_as_soon_as_it_is_defined() {
    let local = local().await;
    assert_eq!(local.create(GROUP, "tabs", tab(value!({"image": "x"}))).await.unwrap_err().code, 404);
    local.create(DEFINITION.group, DEFINITION.resource, definition()).await.unwrap();
    let made = local.create(GROUP, "tabs", tab(value!({"image": "x", "unknown": 1}))).await;
    assert_eq!(told(made), "{\"count\":1,\"image\":\"x\",\"least\":0}", "pruned and filled in");
}

#[tokio::test]
async fn the_schema_and_its_rules_hold() {
    let local = defined().await;
    for (spec, expected) in [
        (
            value!({}),
            "422 Tab.stable.example.com \"one\" is invalid: [spec.image: Required value, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]",
        ),
        (
            value!({"image": "x", "count": -1, "least": -2}),
            "422 Tab.stable.example.com \"one\" is invalid: spec.count: Invalid value: -1: spec.count in body should be greater than or equal to 0",
        ),
        (
            value!({"image": "x", "least": 5}),
            "422 Tab.stable.example.com \"one\" is invalid: spec: Invalid value: too few",
        ),
    ] {
        assert_eq!(told(local.create(GROUP, "tabs", tab(spec)).await), expected);
    }
}

#[tokio::test]
async fn status_and_spec_have_doors_of_their_own() {
    let local = defined().await;
    local.create(GROUP, "tabs", tab(value!({"image": "x"}))).await.unwrap();
    let both = value!({"spec": {"count": 3}, "status": {"ready": 2}});
    let main = local.patch(TAB, "", PatchKind::Merge, both.clone()).await.unwrap();
    assert_eq!((main.at(&["spec", "count"]), main.at(&["status"])), (Some(&value!(3)), None));
    assert_eq!(main.generation(), 2);
    let part = local
        .patch(TAB, "status", PatchKind::Merge, value!({"spec": {"count": 9}, "status": {"ready": 2}}))
        .await;
    let part = part.unwrap();
    assert_eq!(part.at(&["spec", "count"]), Some(&value!(3)));
    assert_eq!((part.at(&["status", "ready"]), part.generation()), (Some(&value!(2)), 2));
}

#[tokio::test]
async fn a_new_schema_counts_at_once() {
    let local = defined().await;
    local.create(GROUP, "tabs", tab(value!({"image": "x"}))).await.unwrap();
    let patch = value!([{"op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/colour",
        "value": {"type": "string", "default": "blue"}}]);
    local.patch(DEFINITION, "", PatchKind::Json, patch).await.unwrap();
    let touched = local.patch(TAB, "", PatchKind::Merge, value!({"spec": {"image": "y"}})).await;
    assert_eq!(told(touched), "{\"colour\":\"blue\",\"count\":1,\"image\":\"y\",\"least\":0}");
}

#[tokio::test]
async fn instances_go_with_their_definition() {
    let local = defined().await;
    let mut waiting = tab(value!({"image": "x"}));
    waiting.set(&["metadata", "finalizers"], value!(["example.com/wait"]));
    local.create(GROUP, "tabs", waiting).await.unwrap();
    let mut plain = tab(value!({"image": "x"}));
    plain.set(&["metadata", "name"], "two");
    local.create(GROUP, "tabs", plain).await.unwrap();
    local.delete(DEFINITION, &DeleteOptions::default()).await.unwrap();
    let names: Vec<String> =
        local.list(GROUP, "tabs", None).iter().map(|tab| tab.name().to_owned()).collect();
    assert_eq!(names, ["one"], "only the one with a finalizer is left");
    assert!(local.get(DEFINITION.group, DEFINITION.resource, "", DEFINITION.name).is_some());
    local.patch(TAB, "", PatchKind::Merge, value!({"metadata": {"finalizers": null}})).await.unwrap();
    assert_eq!(local.get(DEFINITION.group, DEFINITION.resource, "", DEFINITION.name), None);
    assert_eq!(local.create(GROUP, "tabs", tab(value!({"image": "x"}))).await.unwrap_err().code, 404);
}

#[tokio::test]
async fn aggregated_roles_follow_their_parts() {
    let local = local().await;
    let part = object(value!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "tab-viewer", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"apiGroups": [GROUP], "resources": ["tabs"], "verbs": ["get"]}],
    }));
    local.create("rbac.authorization.k8s.io", "clusterroles", part.clone()).await.unwrap();
    for name in ["view", "edit", "admin"] {
        let role = local.get("rbac.authorization.k8s.io", "clusterroles", "", name).unwrap();
        assert!(role.value().items_at(&["rules"]).contains(&part.value().items_at(&["rules"])[0]), "{name}");
    }
}

#[tokio::test]
async fn roles_give_no_more_than_their_writer_has() {
    let local = local().await.acting_as(User::new("alice", &["system:authenticated"]), "test");
    let role = object(value!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r", "namespace": "default"},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
    }));
    let error = local.create("rbac.authorization.k8s.io", "roles", role).await.unwrap_err();
    assert_eq!(
        error.message,
        "roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"alice\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"
    );
}

#[tokio::test]
async fn an_instance_may_have_a_finalizer_without_a_path() {
    let local = defined().await;
    let mut tab = tab(value!({"image": "x"}));
    tab.set(&["metadata", "finalizers"], value!(["keeper.stable.example.com"]));
    let made = local.create(GROUP, "tabs", tab).await.unwrap();
    assert_eq!(made.finalizers().collect::<Vec<_>>(), ["keeper.stable.example.com"]);
}
