//! Every way of bringing an object to what Git says, and what stands in the way.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{Object, Value, value};
use lynceus_testkit::fixture::{
    FINE, automated, automated_with, config_map, deployment, once, widget, widgets,
};
use lynceus_testkit::world::{Trouble, World};

const STRATEGIC: &str = "application/strategic-merge-patch+json";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn map(world: &World, name: &str) -> Object {
    world.object("", "ConfigMap", "default", name).unwrap_or_default()
}

/// `key=value` of each entry of a ConfigMap.
fn data(world: &World, name: &str) -> String {
    let map = map(world, name);
    let entries = map.at(&["data"]).and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    let entries: Vec<String> =
        entries.map(|(key, text)| format!("{key}={}", text.as_str().unwrap_or_default())).collect();
    entries.join(" ")
}

/// Who owns fields of an object: `argocd-controller Apply`.
fn managers(object: &Object) -> Vec<String> {
    let entries = object.value().items_at(&["metadata", "managedFields"]).iter();
    let word = |entry: &Value, field: &str| entry.str_at(&[field]).unwrap_or_default().to_owned();
    let mut found: Vec<String> =
        entries.map(|entry| format!("{} {}", word(entry, "manager"), word(entry, "operation"))).collect();
    found.sort();
    found
}

/// What each object of the last sync came to.
fn results(world: &World, name: &str) -> Vec<String> {
    let state = world.application(name).status.operation_state.unwrap_or_default();
    let results = state.sync_result.unwrap_or_default().resources;
    results.iter().map(|one| format!("{} {}: {}", one.name, one.status, one.message)).collect()
}

#[tokio::test]
async fn lists_are_merged_by_their_keys_and_only_what_was_applied_is_removed() {
    let world = World::new().await;
    let web = |image: &str, own: &str| {
        deployment("web", 0).replace("example/web:1", image) + &format!("        env: [{own}]\n")
    };
    world.commit(&[("app/web.yaml", &web("example/web:1", "{name: A, value: a}, {name: B, value: b}"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let path = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=somebody";
    let patch = value!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "env": [{"name": "THEIRS", "value": "t"}]},
    ]}}}});
    assert_eq!(world.ask("PATCH", path, STRATEGIC, &patch).await.0, 200);
    world.commit(&[("app/web.yaml", &web("example/web:2", "{name: A, value: new}"))]);
    let env = |world: &World| {
        let web = world.object("apps", "Deployment", "default", "web").unwrap_or_default();
        let containers = web.value().items_at(&["spec", "template", "spec", "containers"]).to_vec();
        let env = containers.first().map(|main| main.items_at(&["env"]).to_vec()).unwrap_or_default();
        let word = |entry: &Value, field: &str| entry.str_at(&[field]).unwrap_or_default().to_owned();
        let mut env: Vec<String> =
            env.iter().map(|one| format!("{}={}", word(one, "name"), word(one, "value"))).collect();
        env.sort();
        env.join(" ")
    };
    world.until("the second commit", |world| env(world) == "A=new THEIRS=t").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn server_side_apply_takes_fields_over_and_lets_go_of_those_it_no_longer_wants() {
    let world = World::new().await;
    let theirs = value!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"both": "theirs", "theirs": "kept"},
    });
    let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=somebody";
    assert_eq!(world.ask("PATCH", path, APPLY, &theirs).await.0, 201);
    let ours = |more: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  both: ours\n{more}")
    };
    world.commit(&[("app/a.yaml", &ours("  own: one\n"))]);
    world.deliver("shop", "app", &automated_with(&["ServerSideApply=true"])).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "a"), "both=ours own=one theirs=kept");
    assert_eq!(managers(&map(&world, "a")), ["argocd-controller Apply", "somebody Apply"]);
    world.commit(&[("app/a.yaml", &ours(""))]);
    world.until("the second commit", |world| data(world, "a") == "both=ours theirs=kept").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn server_side_apply_takes_over_what_kubectl_applied_before() {
    let world = World::new().await;
    let theirs = value!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "one", "old": "two"},
    });
    let path = "/api/v1/namespaces/default/configmaps?fieldManager=kubectl-client-side-apply";
    assert_eq!(world.ask("POST", path, "application/json", &theirs).await.0, 201);
    world.commit(&[("app/a.yaml", &config_map("a", "new"))]);
    world.deliver("shop", "app", &automated_with(&["ServerSideApply=true"])).await;
    world.until("the commit", |world| data(world, "a") == "key=new").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_eq!(managers(&map(&world, "a")), ["argocd-controller Apply"]);
    world.end().await;
}

#[tokio::test]
async fn a_move_to_server_side_apply_takes_over_what_was_applied_before() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &(config_map("a", "one") + "  old: two\n"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let spec = value!({"spec": {"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}});
    world.patch("argoproj.io/v1alpha1", "Application", "argocd", "shop", &spec).await;
    world.commit(&[("app/a.yaml", &config_map("a", "new"))]);
    world.until("the second commit", |world| data(world, "a").starts_with("key=new")).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    // kubectl, and with it Argo CD, hands over the fields of whoever wrote the annotation of client-side applies.
    assert_eq!(data(&world, "a"), "key=new");
    world.end().await;
}

#[tokio::test]
async fn replacing_leaves_nothing_of_another_writer() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated_with(&["Replace=true"])).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=somebody";
    let patch = value!({"data": {"theirs": "t"}});
    assert_eq!(world.ask("PATCH", path, MERGE, &patch).await.0, 200);
    world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    world.until("the second commit", |world| data(world, "a") == "key=two").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_eq!(results(&world, "shop"), ["a Synced: configmap/a replaced"]);
    world.end().await;
}

#[tokio::test]
async fn what_cannot_be_changed_fails_and_is_made_anew_by_force() {
    let world = World::new().await;
    let fixed = |text: &str| config_map("a", text) + "immutable: true\n";
    world.commit(&[("app/a.yaml", &fixed("one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let first = map(&world, "a").uid().to_owned();
    world.commit(&[("app/a.yaml", &fixed("two"))]);
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    let forced = fixed("two").replace(
        "  name: a\n",
        "  name: a\n  annotations: {argocd.argoproj.io/sync-options: \"Force=true,Replace=true\"}\n",
    );
    world.commit(&[("app/a.yaml", &forced)]);
    world.until("the force", |world| data(world, "a") == "key=two").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    assert_ne!(map(&world, "a").uid(), first);
    world.end().await;
}

#[tokio::test]
async fn force_and_server_side_apply_together_are_refused_and_nothing_is_made_anew() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let first = map(&world, "a").uid().to_owned();
    let both = config_map("a", "two").replace(
        "  name: a\n",
        "  name: a\n  annotations: {argocd.argoproj.io/sync-options: \"Force=true,ServerSideApply=true\"}\n",
    );
    world.commit(&[("app/a.yaml", &both)]);
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert_eq!(
        results(&world, "shop"),
        ["a SyncFailed: error validating options: --force cannot be used with --server-side \
          (take Force=true or ServerSideApply=true away, or add Replace=true)"]
    );
    assert_eq!((data(&world, "a").as_str(), map(&world, "a").uid()), ("key=one", first.as_str()));
    world.end().await;
}

#[tokio::test]
async fn a_selector_that_cannot_be_changed_is_told_in_the_servers_words() {
    let world = World::new().await;
    world.commit(&[("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/web.yaml", &deployment("web", 0).replace("{app: web}", "{app: other}"))]);
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert!(results(&world, "shop")[0].contains("field is immutable"), "{:?}", results(&world, "shop"));
    world.end().await;
}

#[tokio::test]
async fn roles_and_bindings_follow_git() {
    let world = World::new().await;
    let role = |verbs: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: reader}}\nrules:\n- apiGroups: [\"\"]\n  \
             resources: [pods]\n  verbs: [{verbs}]\n"
        )
    };
    let binding = |users: &[&str]| {
        let mut text = String::from(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: readers}\nroleRef: \
             {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}\nsubjects:\n",
        );
        for user in users {
            text.push_str(&format!("- {{apiGroup: rbac.authorization.k8s.io, kind: User, name: {user}}}\n"));
        }
        text
    };
    world.commit(&[("app/role.yaml", &role("get, list")), ("app/binding.yaml", &binding(&["ann", "bob"]))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    world.commit(&[("app/role.yaml", &role("get")), ("app/binding.yaml", &binding(&["bob", "eve"]))]);
    let rbac = |world: &World, kind: &str, name: &str| {
        world.object("rbac.authorization.k8s.io", kind, "default", name).unwrap_or_default()
    };
    let subjects = |world: &World| -> Vec<String> {
        let binding = rbac(world, "RoleBinding", "readers");
        let subjects = binding.value().items_at(&["subjects"]).iter();
        subjects.filter_map(|subject| subject.str_at(&["name"]).map(str::to_owned)).collect()
    };
    world.until("the second commit", |world| subjects(world) == ["bob", "eve"]).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    let verbs = rbac(&world, "Role", "reader").value().items_at(&["rules"])[0].items_at(&["verbs"]).len();
    assert_eq!(verbs, 1);
    world.end().await;
}

#[tokio::test]
async fn a_custom_kind_is_merged_as_json() {
    let world = World::new().await;
    world.commit(&[("app/def.yaml", &widgets(&["v1"])), ("app/w.yaml", &widget("v1", "w", 1))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let path = "/apis/example.com/v1/namespaces/default/widgets/w?fieldManager=somebody";
    let patch = value!({"spec": {"theirs": true}});
    assert_eq!(world.ask("PATCH", path, MERGE, &patch).await.0, 200);
    world.commit(&[("app/w.yaml", &widget("v1", "w", 2).replace("[a, b]", "[b]"))]);
    let spec = |world: &World| {
        let widget = world.object("example.com", "Widget", "default", "w").unwrap_or_default();
        lynceus_object::json::to_string(widget.at(&["spec"]).unwrap_or(&Value::Null))
    };
    world.until("the merge", |world| spec(world) == r#"{"parts":["b"],"size":2,"theirs":true}"#).await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn what_is_too_large_is_refused_and_the_rest_is_applied() {
    let world = World::new().await;
    world.commit(&[
        ("app/a.yaml", &config_map("a", "one")),
        ("app/large.yaml", &config_map("large", &"x".repeat(300_000))),
        ("app/huge.yaml", &config_map("huge", &"x".repeat(1_100_000))),
    ]);
    world.deliver("shop", "app", &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert_eq!(data(&world, "a"), "key=one");
    assert!(world.object("", "ConfigMap", "default", "large").is_none());
    world.end().await;
}

#[tokio::test]
async fn what_is_too_large_to_be_remembered_can_be_applied_by_the_server() {
    let world = World::new().await;
    world.commit(&[("app/large.yaml", &config_map("large", &"x".repeat(300_000)))]);
    world.deliver("shop", "app", &automated_with(&["ServerSideApply=true"])).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn fields_that_a_kind_does_not_have_are_refused_unless_nobody_checks() {
    let world = World::new().await;
    let odd = |name: &str, options: &str| {
        config_map(name, "one").replace(
            &format!("  name: {name}\n"),
            &format!("  name: {name}\n  annotations: {{argocd.argoproj.io/sync-options: \"{options}\"}}\n"),
        ) + "nonsense: true\n"
    };
    world.commit(&[
        ("app/checked.yaml", &odd("checked", "Prune=true")),
        ("app/free.yaml", &odd("free", "Validate=false")),
    ]);
    world.deliver("shop", "app", &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    assert_eq!(data(&world, "free"), "key=one");
    assert!(world.object("", "ConfigMap", "default", "checked").is_none());
    world.end().await;
}

#[tokio::test]
async fn a_writer_in_between_does_not_undo_a_sync() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let hand = world.hand().clone();
    let mut left = 1;
    world.wire().meddle(move |call| {
        let ours = call.verb == "patch" && call.resource == "configmaps" && left > 0;
        ours.then(|| {
            left -= 1;
            let hand = hand.clone();
            Trouble::After(Box::pin(async move {
                let gvk = lynceus_object::Gvk::new("", "v1", "ConfigMap");
                let patch = value!({"data": {"theirs": "t"}});
                hand.patch_record(&gvk, "default", "a", &patch).await.unwrap();
            }))
        })
    });
    world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    world.until("both", |world| data(world, "a") == "key=two theirs=t").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_conflict_that_passes_does_not_fail_a_sync() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the first commit", |world| world.state("shop") == FINE).await;
    let mut left = 3;
    world.wire().meddle(move |call| {
        let ours = call.verb == "patch" && call.resource == "configmaps" && left > 0;
        ours.then(|| {
            left -= 1;
            Trouble::Code(409)
        })
    });
    world.commit(&[("app/a.yaml", &config_map("a", "two"))]);
    world.until("the second commit", |world| data(world, "a") == "key=two").await;
    world.until("rest", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_namespace_that_is_missing_is_an_error_unless_it_may_be_created() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let to = |name: &str, options: Value| {
        value!({
            "destination": {"namespace": name},
            "syncPolicy": {"automated": {}, "retry": {"limit": 0}, "syncOptions": options,
                "managedNamespaceMetadata": {"labels": {"team": "shop"}}},
        })
    };
    world.deliver("bad", "app", &to("nowhere", value!([]))).await;
    world.deliver("good", "app", &to("made", value!(["CreateNamespace=true"]))).await;
    world.until("the failure", |world| world.state("bad").ends_with("Failed")).await;
    world.until("the namespace", |world| world.state("good") == FINE).await;
    let made = world.object("", "Namespace", "", "made").unwrap();
    assert_eq!(made.label("team"), Some("shop"));
    world.end().await;
}

#[tokio::test]
async fn an_object_that_is_there_already_is_adopted() {
    let world = World::new().await;
    world.apply(&config_map("a", "before").replace("name: a\n", "name: a\n  namespace: default\n")).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "a"), "key=one");
    assert_eq!(results(&world, "shop"), ["a Synced: configmap/a configured"]);
    world.end().await;
}
