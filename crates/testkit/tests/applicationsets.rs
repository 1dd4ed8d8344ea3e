//! ApplicationSets: what they generate, what becomes of it in the cluster, and what does not.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

#[path = "../../source/tests/support/web_server.rs"]
#[allow(dead_code, reason = "another crate's tests use the rest")]
mod web_server;

use jiff::SignedDuration;
use lynceus_api::Reason;
use lynceus_object::{Value, json, value};
use lynceus_testkit::fixture::config_map;
use lynceus_testkit::world::World;
use web_server::{Reply, WebServer};

const V1ALPHA1: &str = "argoproj.io/v1alpha1";

/// Creates or changes the ApplicationSet `set`; `spec` is the rest of its spec beside the template.
async fn set(world: &World, spec: &str) {
    set_named(world, "set", spec).await;
}

async fn set_named(world: &World, name: &str, spec: &str) {
    let template = format!(
        "  template:\n    metadata: {{name: '{{{{name}}}}', labels: {{env: '{{{{name}}}}'}}}}\n    spec:\n      project: default\n      source: {{repoURL: {}, path: app, targetRevision: main}}\n      destination: {{server: https://kubernetes.default.svc, namespace: default}}\n",
        world.repository()
    );
    let text = format!(
        "apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n{template}{}\n",
        indent(spec)
    );
    world.apply(&text).await;
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A list with these names, and the rest of the spec.
fn list(names: &[&str], rest: &str) -> String {
    let elements: Vec<String> = names.iter().map(|name| format!("{{name: {name}}}")).collect();
    format!("generators: [{{list: {{elements: [{}]}}}}]\n{rest}", elements.join(", "))
}

/// The names of all Applications, in order.
fn names(world: &World) -> Vec<String> {
    let mut names: Vec<String> =
        world.objects("argoproj.io", "Application").iter().map(|app| app.name().to_owned()).collect();
    names.sort();
    names
}

async fn until_names(world: &World, wanted: &[&str]) {
    world.until(&format!("{wanted:?}"), |world| names(world) == wanted).await;
}

/// `type=status reason: message` of a set's condition.
fn condition(world: &World, set: &str, kind: &str) -> String {
    let Some(object) = world.object("argoproj.io", "ApplicationSet", "argocd", set) else {
        return String::new();
    };
    let conditions = object.value().items_at(&["status", "conditions"]);
    let text = |one: &Value, field: &str| one.str_at(&[field]).unwrap_or_default().to_owned();
    conditions
        .iter()
        .find(|one| text(one, "type") == kind)
        .map(|one| format!("{} {}: {}", text(one, "status"), text(one, "reason"), text(one, "message")))
        .unwrap_or_default()
}

async fn until_condition(world: &World, kind: &str, has: &str) {
    let what = format!("{kind} with {has}");
    world.until(&what, |world| condition(world, "set", kind).contains(has)).await;
}

async fn parameters(world: &World, data: &str) {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: argocd-cmd-params-cm, namespace: argocd}}\ndata: {data}\n"
    );
    world.apply(&text).await;
}

#[tokio::test]
async fn a_list_is_followed_element_by_element_and_the_status_says_so() {
    let world = World::new().await;
    set(&world, &list(&["a", "b"], "")).await;
    until_names(&world, &["a", "b"]).await;
    until_condition(&world, "ResourcesUpToDate", "True ApplicationSetUpToDate").await;
    assert!(condition(&world, "set", "ErrorOccurred").starts_with("False"));
    assert!(condition(&world, "set", "ParametersGenerated").starts_with("True"));
    let owner = &world.application("a").metadata.owner_references[0];
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str(), owner.controller),
        ("ApplicationSet", "set", Some(true))
    );
    assert_eq!(world.application("a").metadata.finalizers, ["resources-finalizer.argocd.argoproj.io"]);
    world
        .until("a status with both", |world| {
            let object = world.object("argoproj.io", "ApplicationSet", "argocd", "set").unwrap();
            object.value().int_at(&["status", "resourcesCount"]) == Some(2)
        })
        .await;
    set(&world, &list(&["a", "c"], "")).await;
    until_names(&world, &["a", "c"]).await;
    world.end().await;
}

#[tokio::test]
async fn directories_of_a_repository_are_followed_and_other_commits_cost_nothing() {
    let world = World::new().await;
    world.commit(&[("apps/one/a.yaml", &config_map("a", "1")), ("docs/x", "1")]);
    let spec = format!(
        "goTemplate: true\ngenerators: [{{git: {{repoURL: {0}, revision: main, directories: [{{path: apps/*}}]}}}}]\ntemplate:\n  metadata: {{name: '{{{{.path.basename}}}}'}}\n  spec:\n    project: default\n    source: {{repoURL: {0}, path: '{{{{.path.path}}}}', targetRevision: main}}\n    destination: {{server: https://kubernetes.default.svc, namespace: default}}",
        world.repository()
    );
    let text = format!(
        "apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\nspec:\n{}\n",
        indent(&spec)
    );
    world.apply(&text).await;
    until_names(&world, &["one"]).await;
    world.commit(&[("apps/two/a.yaml", &config_map("b", "1"))]);
    until_names(&world, &["one", "two"]).await;
    assert_eq!(world.application("two").spec.source.unwrap().path, "apps/two");
    let before = world.generations();
    world.commit(&[("apps/two/a.yaml", &config_map("b", "2"))]);
    world.pass(SignedDuration::from_secs(400)).await;
    assert_eq!(world.generations(), before, "no directory has come or gone");
    world.end().await;
}

#[tokio::test]
async fn files_of_a_repository_are_followed_and_a_broken_one_deletes_nothing() {
    let world = World::new().await;
    world.commit(&[("envs/a.yaml", "name: a"), ("envs/b.json", "{\"name\": \"b\"}")]);
    let git = format!(
        "generators: [{{git: {{repoURL: {}, revision: main, files: [{{path: 'envs/*'}}]}}}}]",
        world.repository()
    );
    set(&world, &git).await;
    until_names(&world, &["a", "b"]).await;
    world.commit(&[("envs/a.yaml", "name: [")]);
    until_condition(&world, "ErrorOccurred", "envs/a.yaml").await;
    assert_eq!(names(&world), ["a", "b"]);
    world.commit(&[("envs/a.yaml", "name: c")]);
    until_names(&world, &["b", "c"]).await;
    world.end().await;
}

#[tokio::test]
async fn clusters_are_followed_by_their_secrets_and_combined_with_others() {
    let world = World::new().await;
    let matrix = "generators: [{matrix: {generators: [{clusters: {selector: {matchLabels: {tier: web}}, values: {}}}, {list: {elements: [{app: x}, {app: z}]}}]}}]";
    let spec = format!(
        "{matrix}\ntemplate:\n  metadata: {{name: '{{{{nameNormalized}}}}-{{{{app}}}}'}}\n  spec:\n    project: default\n    source: {{repoURL: {}, path: app}}\n    destination: {{server: '{{{{server}}}}', namespace: default}}",
        world.repository()
    );
    world.apply(&format!("apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\nspec:\n{}\n", indent(&spec))).await;
    until_condition(&world, "ResourcesUpToDate", "True").await;
    assert_eq!(names(&world), [""; 0]);
    world.apply(&cluster("east", "web")).await;
    until_names(&world, &["east-x", "east-z"]).await;
    world.delete("v1", "Secret", "argocd", "east").await;
    // Its cluster is gone, and with it whoever could carry out the finalizer.
    until_names(&world, &[]).await;
    world.end().await;
}

fn cluster(name: &str, tier: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: argocd, labels: {{argocd.argoproj.io/secret-type: cluster, tier: {tier}}}}}\nstringData: {{name: {name}, server: 'https://127.0.0.1:1', config: '{{}}'}}\n"
    )
}

#[tokio::test]
async fn a_merge_changes_elements_by_their_keys() {
    let world = World::new().await;
    let merge = "generators: [{merge: {mergeKeys: [name], generators: [{list: {elements: [{name: a, path: p}, {name: b, path: p}]}}, {list: {elements: [{name: b, path: q}]}}]}}]";
    let spec = format!(
        "{merge}\ntemplate:\n  metadata: {{name: '{{{{name}}}}'}}\n  spec:\n    project: default\n    source: {{repoURL: {}, path: '{{{{path}}}}'}}\n    destination: {{server: https://kubernetes.default.svc, namespace: default}}",
        world.repository()
    );
    world.apply(&format!("apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\nspec:\n{}\n", indent(&spec))).await;
    until_names(&world, &["a", "b"]).await;
    assert_eq!(world.application("a").spec.source.unwrap().path, "p");
    assert_eq!(world.application("b").spec.source.unwrap().path, "q");
    world.end().await;
}

#[tokio::test]
async fn objects_choose_clusters() {
    let world = World::new().await;
    world.apply("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: placements.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: placements, singular: placement, kind: Placement}\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n").await;
    world.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: decisions, namespace: argocd}\ndata: {apiVersion: example.com/v1, kind: placements, statusListKey: decisions, matchKey: clusterName}\n").await;
    world.apply(&cluster("east", "web")).await;
    world.apply("apiVersion: example.com/v1\nkind: Placement\nmetadata: {name: p, namespace: argocd}\nstatus: {decisions: [{clusterName: in-cluster}]}\n").await;
    set(&world, "generators: [{clusterDecisionResource: {configMapRef: decisions, name: p, requeueAfterSeconds: 60}}]").await;
    until_names(&world, &["in-cluster"]).await;
    let chosen = value!({"status": {"decisions": [{"clusterName": "in-cluster"}, {"clusterName": "east"}]}});
    world.patch("example.com/v1", "Placement", "argocd", "p", &chosen).await;
    until_names(&world, &["east", "in-cluster"]).await;
    world.end().await;
}

fn secret(name: &str, label: &str, data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: argocd, labels: {{{label}}}}}\nstringData: {data}\n"
    )
}

#[tokio::test]
async fn a_plugin_is_asked_with_the_token_of_a_secret() {
    let world = World::new().await;
    let server = WebServer::start(|seen| {
        assert_eq!(seen.authorization(), Some("Bearer hush"));
        Reply::ok(r#"{"output": {"parameters": [{"name": "a"}, {"name": "b"}]}}"#)
    })
    .await;
    world.apply(&secret("plugin", "app.kubernetes.io/part-of: argocd", "{token: hush}")).await;
    world.apply(&format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: plugin, namespace: argocd}}\ndata: {{token: '$plugin:token', baseUrl: '{}'}}\n", server.url(""))).await;
    set(&world, "generators: [{plugin: {configMapRef: {name: plugin}, input: {parameters: {k: v}}}}]").await;
    until_names(&world, &["a", "b"]).await;
    assert_eq!(server.take_paths()[0], "/api/v1/getparams.execute");
    world.apply(&secret("plugin", "app.kubernetes.io/part-of: other", "{token: hush}")).await;
    refresh(&world).await;
    until_condition(&world, "ErrorOccurred", "it lacks the label app.kubernetes.io/part-of: argocd").await;
    assert_eq!(names(&world), ["a", "b"]);
    world.end().await;
}

async fn refresh(world: &World) {
    let mark = value!({"metadata": {"annotations": {"argocd.argoproj.io/application-set-refresh": "true"}}});
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &mark).await;
}

/// What a Gitea has: repositories of `acme`, each with a branch, and pull requests of `acme/shop`.
fn gitea(path: &str, repositories: &[&str], pulls: &[(i64, &str)]) -> Reply {
    let path = path.split('?').next().unwrap();
    let list = |items: Vec<Value>| {
        let total = items.len().to_string();
        Reply::ok(json::to_string(&Value::Seq(items.into()))).header("x-total-count", total)
    };
    match path {
        "/api/v1/orgs/acme/repos" => list(
            repositories
                .iter()
                .map(|name| {
                    value!({"id": 1, "name": *name, "default_branch": "main", "owner": {"login": "acme"},
                            "ssh_url": format!("git@git:acme/{name}.git"), "clone_url": format!("https://git/acme/{name}.git")})
                })
                .collect(),
        ),
        "/api/v1/repos/acme/shop/pulls" => list(
            pulls
                .iter()
                .map(|(number, branch)| {
                    value!({"number": *number, "title": "t", "head": {"ref": *branch, "sha": "0123456789abcdef"},
                            "base": {"ref": "main"}, "user": {"login": "ada"}, "labels": [{"name": "preview"}]})
                })
                .collect(),
        ),
        path if path.ends_with("/labels") => list(Vec::new()),
        path if path.ends_with("/branches/main") => {
            Reply::ok(r#"{"name": "main", "commit": {"id": "0123456789abcdef"}}"#)
        }
        _ => Reply::status(404),
    }
}

const SCM: &str = "scmProvider: {cloneProtocol: https, requeueAfterSeconds: 60, gitea: {owner: acme, api: API, tokenRef: {secretName: git, key: token}}}";

#[tokio::test]
async fn a_host_that_fails_deletes_nothing_and_one_that_answers_again_goes_on() {
    let world = World::new().await;
    let server = WebServer::start(|seen| {
        assert_eq!(seen.authorization(), Some("token hush"));
        gitea(&seen.path, &["shop", "web"], &[])
    })
    .await;
    world.apply(&secret("git", "argocd.argoproj.io/secret-type: scm-creds", "{token: hush}")).await;
    let spec = format!(
        "generators: [{{{}}}]\ntemplate:\n  metadata: {{name: '{{{{repository}}}}'}}\n  spec:\n    project: default\n    source: {{repoURL: '{{{{url}}}}', path: app}}\n    destination: {{server: https://kubernetes.default.svc, namespace: default}}",
        SCM.replace("API", &server.url(""))
    );
    world.apply(&format!("apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\nspec:\n{}\n", indent(&spec))).await;
    until_names(&world, &["shop", "web"]).await;
    for (reply, told) in [
        (Reply::status(500), "answers 500"),
        (Reply::status(403), "check that the token is valid"),
        (Reply::status(404), "is not there"),
        (Reply::ok("{\"message\": \"no list\"}"), "is not a list"),
        (Reply::ok("<html>"), "cannot be read"),
        (Reply::ok(""), "it is empty"),
        (Reply::status(429).header("retry-after", "1"), "lets us ask no more until"),
    ] {
        server.answer_with(move |_| reply.clone());
        refresh(&world).await;
        until_condition(&world, "ErrorOccurred", told).await;
        assert_eq!(names(&world), ["shop", "web"], "{told}");
        let all =
            json::to_string(world.object("argoproj.io", "ApplicationSet", "argocd", "set").unwrap().value());
        assert!(!all.contains("hush"), "{all}");
    }
    world.end().await;
}

#[tokio::test]
async fn pull_requests_are_followed_as_they_come_and_go() {
    let world = World::new().await;
    let server = WebServer::start(|seen| gitea(&seen.path, &[], &[(7, "one")])).await;
    let spec = format!(
        "generators: [{{pullRequest: {{requeueAfterSeconds: 30, gitea: {{owner: acme, repo: shop, api: '{}', labels: [preview]}}}}}}]\ntemplate:\n  metadata: {{name: 'shop-{{{{number}}}}'}}\n  spec:\n    project: default\n    source: {{repoURL: {}, path: app, targetRevision: '{{{{branch}}}}'}}\n    destination: {{server: https://kubernetes.default.svc, namespace: default}}",
        server.url(""),
        world.repository()
    );
    world.apply(&format!("apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\nspec:\n{}\n", indent(&spec))).await;
    until_names(&world, &["shop-7"]).await;
    server.answer_with(|seen| gitea(&seen.path, &[], &[(7, "one"), (9, "two")]));
    until_names(&world, &["shop-7", "shop-9"]).await;
    server.answer_with(|seen| gitea(&seen.path, &[], &[(9, "two")]));
    until_names(&world, &["shop-9"]).await;
    world.end().await;
}

#[tokio::test]
async fn a_host_that_is_not_allowed_is_not_asked() {
    let world = World::new().await;
    let server = WebServer::start(|seen| gitea(&seen.path, &["shop"], &[])).await;
    parameters(&world, "{applicationsetcontroller.allowed.scm.providers: 'https://git.example.com'}").await;
    let spec = format!(
        "generators: [{{{}}}]",
        SCM.replace("API", &server.url("")).replace(", tokenRef: {secretName: git, key: token}", "")
    );
    set(&world, &spec).await;
    until_condition(&world, "ErrorOccurred", "is not among the allowed hosts").await;
    assert_eq!(server.take_paths(), [""; 0]);
    world.end().await;
}

#[tokio::test]
async fn policies_say_what_may_be_done() {
    for (policy, updates, deletes) in [
        ("create-only", false, false),
        ("create-update", true, false),
        ("create-delete", false, true),
        ("sync", true, true),
    ] {
        let world = World::new().await;
        let rest = format!("syncPolicy: {{applicationsSync: {policy}}}");
        set(&world, &list(&["a", "b"], &rest)).await;
        until_names(&world, &["a", "b"]).await;
        let changed = list(&["a", "c"], &format!("{rest}\npreservedFields: {{}}"));
        let changed = format!("{changed}\ntemplatePatch: 'metadata: {{annotations: {{new: \"1\"}}}}'");
        set(&world, &changed).await;
        world.until("c", |world| names(world).contains(&"c".to_owned())).await;
        until_condition(&world, "ResourcesUpToDate", "True").await;
        world.pass(SignedDuration::from_secs(5)).await;
        assert_eq!(world.application("a").metadata.annotations.contains_key("new"), updates, "{policy}");
        assert_eq!(!names(&world).contains(&"b".to_owned()), deletes, "{policy}");
        world.end().await;
    }
}

#[tokio::test]
async fn a_policy_for_all_is_not_got_round_by_one_set() {
    let world = World::new().await;
    parameters(&world, "{applicationsetcontroller.policy: create-only}").await;
    set(&world, &list(&["a", "b"], "syncPolicy: {applicationsSync: sync}")).await;
    until_names(&world, &["a", "b"]).await;
    set(&world, &list(&["a"], "syncPolicy: {applicationsSync: sync}")).await;
    world.pass(SignedDuration::from_secs(30)).await;
    assert_eq!(names(&world), ["a", "b"]);
    world.end().await;
}

#[tokio::test]
async fn a_preview_goes_by_the_settings_of_the_installation() {
    let world = World::new().await;
    parameters(&world, "{applicationsetcontroller.policy: create-only}").await;
    set(&world, &list(&["a", "b"], "")).await;
    until_names(&world, &["a", "b"]).await;
    set(&world, &list(&["a"], "")).await;
    until_condition(&world, "ResourcesUpToDate", "True").await;
    world.pass(SignedDuration::from_secs(5)).await;
    assert_eq!(
        world.preview("argocd", "set").await,
        "keep   a: nothing differs\nkeep   b: no longer generated, but the policy allows no deletions\n"
    );
    let free = value!({"data": {"applicationsetcontroller.policy": Value::Null, "lynceus.applicationsets.deletionsUnasked": "0"}});
    world.patch("v1", "ConfigMap", "argocd", "argocd-cmd-params-cm", &free).await;
    until_condition(&world, "ResourcesUpToDate", "DeletionsHeld: 1 of 2 Applications would be deleted (b)")
        .await;
    assert!(world.preview("argocd", "set").await.contains("held: 1 of 2"), "the guard of the settings");
    world.end().await;
}

#[tokio::test]
async fn a_mass_deletion_waits_for_a_confirmation() {
    let world = World::new().await;
    set(&world, &list(&["a", "b", "c", "d", "e"], "")).await;
    until_names(&world, &["a", "b", "c", "d", "e"]).await;
    set(&world, &list(&["a"], "")).await;
    until_condition(&world, "ResourcesUpToDate", "False DeletionsHeld: 4 of 5 Applications would be deleted")
        .await;
    assert!(condition(&world, "set", "ErrorOccurred").starts_with("False"));
    world.pass(SignedDuration::from_secs(60)).await;
    assert_eq!(names(&world).len(), 5);
    let told = condition(&world, "set", "ResourcesUpToDate");
    let token = told.rsplit_once('=').unwrap().1.to_owned();
    let confirm =
        |token: &str| value!({"metadata": {"annotations": {"lynceus.dev/confirm-deletions": token}}});
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &confirm("4-00000000")).await;
    world.pass(SignedDuration::from_secs(10)).await;
    assert_eq!(names(&world).len(), 5, "another confirmation is none");
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &confirm(&token)).await;
    until_names(&world, &["a"]).await;
    until_condition(&world, "ResourcesUpToDate", "True").await;
    world.end().await;
}

#[tokio::test]
async fn two_sets_that_claim_one_application_do_not_take_it_from_each_other() {
    let world = World::new().await;
    set(&world, &list(&["a"], "")).await;
    until_names(&world, &["a"]).await;
    set_named(&world, "thief", &list(&["a", "b"], "")).await;
    world
        .until("a word", |world| {
            condition(world, "thief", "ErrorOccurred").contains("belongs to ApplicationSet set")
        })
        .await;
    until_names(&world, &["a", "b"]).await;
    assert_eq!(world.application("a").metadata.owner_references[0].name, "set");
    assert!(condition(&world, "set", "ErrorOccurred").starts_with("False"));
    world.end().await;
}

#[tokio::test]
async fn what_others_write_is_kept_where_the_set_says_so_and_put_right_elsewhere() {
    let world = World::new().await;
    let rest = "preservedFields: {annotations: [note], labels: [team]}\nignoreApplicationDifferences: [{jsonPointers: [/spec/source/targetRevision]}]";
    set(&world, &list(&["a"], rest)).await;
    until_names(&world, &["a"]).await;
    let edit = value!({"metadata": {"annotations": {"note": "mine", "other": "mine"}, "labels": {"team": "x"}},
                       "spec": {"source": {"targetRevision": "v2", "path": "elsewhere"}}});
    world.patch(V1ALPHA1, "Application", "argocd", "a", &edit).await;
    // Both at once: the path alone is as it was before the edit is seen, too.
    world
        .until("the edit with the path as it was", |world| {
            let source = world.application("a").spec.source.unwrap();
            source.path == "app" && source.target_revision == "v2"
        })
        .await;
    let app = world.application("a");
    assert_eq!(app.metadata.annotations.get("note").map(|text| text.as_str()), Some("mine"));
    assert!(!app.metadata.annotations.contains_key("other"));
    assert_eq!(app.metadata.labels.get("team").map(|text| text.as_str()), Some("x"));
    let told = "reverted Application \"a\": metadata.annotations.other, spec.source.path";
    world.pass(SignedDuration::from_secs(10)).await;
    assert!(events(&world).await.contains(&told.to_owned()), "{:?}", events(&world).await);
    // What the template changes is nobody's edit.
    let other = format!("{rest}\ntemplatePatch: 'spec: {{source: {{path: other}}}}'");
    set(&world, &list(&["a"], &other)).await;
    world.until("the new path", |world| world.application("a").spec.source.unwrap().path == "other").await;
    world.pass(SignedDuration::from_secs(10)).await;
    assert_eq!(events(&world).await.iter().filter(|text| text.starts_with("reverted")).count(), 1);
    world.end().await;
}

/// What the events about the set say.
async fn events(world: &World) -> Vec<String> {
    let path = "/api/v1/namespaces/argocd/events";
    let (_, found) = world.ask("GET", path, "application/json", &Value::Null).await;
    let of_set = |event: &&Value| event.str_at(&["involvedObject", "kind"]) == Some("ApplicationSet");
    let all = found.items_at(&["items"]).iter().filter(of_set);
    all.filter_map(|event| event.str_at(&["message"]).map(str::to_owned)).collect()
}

#[tokio::test]
async fn resources_are_kept_where_the_set_preserves_them() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("kept", "one"))]);
    let rest = "syncPolicy: {preserveResourcesOnDeletion: true}\ntemplatePatch: 'spec: {syncPolicy: {automated: {}}}'";
    set(&world, &list(&["a"], rest)).await;
    world.until("a delivery", |world| world.object("", "ConfigMap", "default", "kept").is_some()).await;
    assert!(world.application("a").metadata.finalizers.is_empty());
    delete_set(&world).await;
    until_names(&world, &[]).await;
    assert!(world.object("", "ConfigMap", "default", "kept").is_some());
    world.end().await;
}

const STEPS: &str = "strategy: {type: RollingSync, rollingSync: {steps: [{matchExpressions: [{key: env, operator: In, values: [a]}]}, {matchExpressions: [{key: env, operator: In, values: [b, c]}], maxUpdate: 1}]}ORDER}\ntemplatePatch: 'spec: {source: {path: \"apps/{{name}}\"}, syncPolicy: {automated: {prune: true}}}'";

fn commit_apps(world: &World) {
    let files: Vec<(String, String)> = ["a", "b", "c"]
        .iter()
        .map(|name| (format!("apps/{name}/{name}.yaml"), config_map(name, "one")))
        .collect();
    world.commit(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
}

/// Deletes the set as kubectl does: what belongs to it goes when it is gone.
async fn delete_set(world: &World) {
    let path = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applicationsets/set";
    let options = value!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
    let (code, _) = world.ask("DELETE", path, "application/json", &options).await;
    assert_eq!(code, 200);
}

fn sync_of(world: &World, name: &str) -> String {
    world.application(name).status.sync.status.as_str().to_owned()
}

#[tokio::test]
async fn steps_follow_each_other_as_the_earlier_becomes_healthy() {
    let world = World::new().await;
    parameters(&world, "{applicationsetcontroller.enable.progressive.syncs: 'true'}").await;
    commit_apps(&world);
    set(&world, &list(&["a", "b", "c"], &STEPS.replace("ORDER", ""))).await;
    until_names(&world, &["a", "b", "c"]).await;
    assert_eq!(world.application("a").spec.sync_policy.unwrap().automated.unwrap().enabled, Some(false));
    world.until("the first step", |world| sync_of(world, "a") == "Synced").await;
    world
        .until("the second", |world| sync_of(world, "b") == "Synced" && sync_of(world, "c") == "Synced")
        .await;
    until_condition(&world, "RolloutProgressing", "False ApplicationSetRolloutComplete").await;
    let started = |name: &str| world.application(name).status.operation_state.unwrap().started_at.unwrap();
    let finished = |name: &str| world.application(name).status.operation_state.unwrap().finished_at.unwrap();
    assert!(started("b") >= finished("a") && started("c") >= finished("b"));
    let set = world.object("argoproj.io", "ApplicationSet", "argocd", "set").unwrap();
    let steps: Vec<String> = set
        .value()
        .items_at(&["status", "applicationStatus"])
        .iter()
        .map(|one| {
            ["application", "step", "status"].map(|field| one.str_at(&[field]).unwrap().to_owned()).join(" ")
        })
        .collect();
    assert_eq!(steps, ["a 1 Healthy", "b 2 Healthy", "c 2 Healthy"]);
    world.end().await;
}

#[tokio::test]
async fn a_step_that_is_not_healthy_holds_the_next() {
    let world = World::new().await;
    parameters(&world, "{applicationsetcontroller.enable.progressive.syncs: 'true'}").await;
    let broken = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {no: such}, containers: [{name: c, image: i}]}}}\n";
    world.commit(&[("apps/a/a.yaml", broken), ("apps/b/b.yaml", &config_map("b", "one"))]);
    set(&world, &list(&["a", "b"], &STEPS.replace("ORDER", ""))).await;
    world.until("the first step", |world| sync_of(world, "a") == "Synced").await;
    until_condition(
        &world,
        "RolloutProgressing",
        "True ApplicationSetModified: ApplicationSet is performing rollout of step 1",
    )
    .await;
    world.pass(SignedDuration::from_secs(120)).await;
    assert_eq!(sync_of(&world, "b"), "OutOfSync");
    let told = |world: &World| -> String {
        Reason::of(&world.application("b").metadata).iter().map(ToString::to_string).collect()
    };
    // What one waits for may change its reasons before that is told of the one that waits.
    let is_told = |world: &World| {
        [
            "it is in step 2 of ApplicationSet set, which waits for step 1 to end [WaitsForStep]",
            "Application a is Synced and Progressing [WaitsForHealth]",
            "[Unschedulable]",
        ]
        .iter()
        .all(|words| told(world).contains(words))
    };
    world.until("what the second step waits for", is_told).await;
    assert!(!told(&world).contains("SyncIsManual"), "{}", told(&world));
    world.end().await;
}

#[tokio::test]
async fn who_waits_for_room_or_is_in_no_step_is_told_so() {
    let world = World::new().await;
    parameters(&world, "{applicationsetcontroller.enable.progressive.syncs: 'true'}").await;
    let broken = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {no: such}, containers: [{name: c, image: i}]}}}\n";
    let text = config_map("c", "one");
    world.commit(&[("apps/b/b.yaml", broken), ("apps/c/c.yaml", &text), ("apps/d/d.yaml", &text)]);
    set(&world, &list(&["b", "c", "d"], &STEPS.replace("ORDER", ""))).await;
    let told = |world: &World, name: &str| -> String {
        Reason::of(&world.application(name).metadata).iter().map(ToString::to_string).collect()
    };
    let room = "step 2 of ApplicationSet set changes 1 at a time, and 1 are being changed [WaitsForStep]";
    world.until("room", |world| told(world, "c").contains(room)).await;
    assert!(told(&world, "d").contains("no step of ApplicationSet set selects it"), "{}", told(&world, "d"));
    world.end().await;
}

#[tokio::test]
async fn a_set_of_a_hundred_thousand_is_refused_and_deletes_nothing() {
    let world = World::new().await;
    let numbers = |count: usize, key: &str| {
        let all: Vec<String> = (0..count).map(|number| format!("{{{key}: x{number}}}")).collect();
        format!("{{list: {{elements: [{}]}}}}", all.join(", "))
    };
    set(&world, &list(&["a"], "")).await;
    until_names(&world, &["a"]).await;
    let many = format!(
        "generators: [{{matrix: {{generators: [{}, {}]}}}}]",
        numbers(400, "name"),
        numbers(250, "other")
    );
    set(&world, &many).await;
    until_condition(&world, "ErrorOccurred", "give more than 20000 sets of parameters").await;
    world.pass(SignedDuration::from_secs(30)).await;
    assert_eq!(names(&world), ["a"]);
    world.end().await;
}

#[tokio::test]
async fn a_set_that_nobody_is_to_look_at_is_left_alone() {
    let world = World::new().await;
    set(&world, &list(&["a"], "")).await;
    until_names(&world, &["a"]).await;
    let skip =
        |text: &str| value!({"metadata": {"annotations": {"argocd.argoproj.io/skip-reconcile": text}}});
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &skip("true")).await;
    let more = value!({"spec": {"generators": [{"list": {"elements": [{"name": "a"}, {"name": "b"}]}}]}});
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &more).await;
    world.pass(SignedDuration::from_secs(60)).await;
    assert_eq!(names(&world), ["a"]);
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &skip("false")).await;
    until_names(&world, &["a", "b"]).await;
    world.end().await;
}

#[tokio::test]
async fn a_set_that_is_deleted_in_reverse_order_takes_its_applications_one_by_one() {
    let world = World::new().await;
    parameters(&world, "{applicationsetcontroller.enable.progressive.syncs: 'true'}").await;
    commit_apps(&world);
    set(&world, &list(&["a", "b", "c"], &STEPS.replace("ORDER", ", deletionOrder: Reverse"))).await;
    until_condition(&world, "RolloutProgressing", "False").await;
    delete_set(&world).await;
    world.until("the last step's end", |world| names(world) == ["a"]).await;
    until_names(&world, &[]).await;
    world.until("its end", |world| world.objects("argoproj.io", "ApplicationSet").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_set_that_may_not_delete_leaves_its_applications_behind_when_it_goes() {
    let world = World::new().await;
    set(&world, &list(&["a"], "syncPolicy: {applicationsSync: create-update}")).await;
    until_names(&world, &["a"]).await;
    let hold = value!({"metadata": {"finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
    world.patch(V1ALPHA1, "ApplicationSet", "argocd", "set", &hold).await;
    delete_set(&world).await;
    world.until("its end", |world| world.objects("argoproj.io", "ApplicationSet").is_empty()).await;
    world.pass(SignedDuration::from_secs(30)).await;
    assert_eq!(names(&world), ["a"]);
    assert!(world.application("a").metadata.owner_references.is_empty());
    world.end().await;
}

#[tokio::test]
async fn a_set_in_another_namespace_is_followed_only_where_that_is_allowed() {
    let world = World::new().await;
    world.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n").await;
    let spec = list(&["a"], "");
    let text = format!(
        "apiVersion: {V1ALPHA1}\nkind: ApplicationSet\nmetadata: {{name: set, namespace: team}}\nspec:\n{}  template: {{metadata: {{name: '{{{{name}}}}'}}, spec: {{project: default, source: {{repoURL: r, path: p}}, destination: {{name: in-cluster, namespace: default}}}}}}\n",
        indent(&spec)
    );
    world.apply(&text).await;
    world.pass(SignedDuration::from_secs(30)).await;
    assert_eq!(names(&world), [""; 0]);
    parameters(&world, "{applicationsetcontroller.namespaces: team}").await;
    world
        .until("its Application", |world| world.object("argoproj.io", "Application", "team", "a").is_some())
        .await;
    world.end().await;
}
