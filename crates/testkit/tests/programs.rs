//! Sources that are programs: Jsonnet in a folder, and config-management plugins.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use lynceus_object::value;
use lynceus_source::Settings;
use lynceus_testkit::fixture::{FINE, automated};
use lynceus_testkit::world::World;

#[path = "../../source/tests/support/plugin_server.rs"]
#[allow(dead_code, reason = "these tests use a part of it")]
mod plugin_server;

use plugin_server::{Manners, PluginServer};

fn data(world: &World, name: &str, key: &str) -> String {
    let found = world.object("", "ConfigMap", "default", name);
    found.and_then(|map| map.value().str_at(&["data", key]).map(str::to_owned)).unwrap_or_default()
}

fn complaint(world: &World, application: &str) -> String {
    let conditions = world.application(application).status.conditions;
    conditions.iter().map(|condition| condition.message.to_string()).collect()
}

const PROGRAM: &str = "\
local library = import 'names.libsonnet';
[library.map(std.extVar('name'), std.extVar('colour'))]
";

const LIBRARY: &str = "\
{ map(name, colour):: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name }, data: { colour: colour } } }
";

#[tokio::test]
async fn what_a_jsonnet_program_gives_is_delivered_and_a_change_of_its_library_too() {
    let world = World::new().await;
    world.commit(&[("app/main.jsonnet", PROGRAM), ("vendor/names.libsonnet", LIBRARY)]);
    let mut more = automated();
    let jsonnet = value!({
        "extVars": [
            {"name": "name", "value": "$ARGOCD_APP_NAME-map"},
            {"name": "colour", "value": "'bl' + 'ue'", "code": true},
        ],
        "libs": ["vendor"],
    });
    more.set(&["source"], value!({"directory": {"jsonnet": jsonnet}}));
    world.deliver("shop", "app", &more).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "shop-map", "colour"), "blue");
    world.commit(&[("vendor/names.libsonnet", &LIBRARY.replace("colour: colour", "colour: colour + '!'"))]);
    world.until("the change", |world| data(world, "shop-map", "colour") == "blue!").await;
    world.commit(&[("app/main.jsonnet", "local f(x) = f(x + 1);\nf(0)\n")]);
    world.until("the complaint", |world| complaint(world, "shop").contains("app/main.jsonnet:1:")).await;
    assert_eq!(data(&world, "shop-map", "colour"), "blue!", "nothing is pruned on a partial picture");
}

#[tokio::test]
async fn what_a_plugin_makes_is_delivered() {
    let folder = std::env::temp_dir().join(format!("lynceus-plugins-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {by: plugin}\n";
    let manners = Manners::Answers { rules: Some(true), manifests: vec![map.to_owned()] };
    let server = PluginServer::start(&folder, "cdk", manners);
    let world = World::with(Settings { plugin_sockets: Some(folder.clone()), ..Settings::default() }).await;
    world.commit(&[("app/cdk.json", "{}")]);
    let mut named = automated();
    let env = value!([{"name": "TIER", "value": "$ARGOCD_APP_NAME"}]);
    named.set(&["source"], value!({"plugin": {"name": "cdk", "env": env}}));
    world.deliver("shop", "app", &named).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(data(&world, "made", "by"), "plugin");
    let heard = server.heard();
    let generated = heard.iter().find(|heard| heard.method == "GenerateManifest").unwrap();
    assert_eq!(generated.files, ["app/cdk.json={}"]);
    assert!(
        generated.environment.contains(&"ARGOCD_ENV_TIER=shop".to_owned()),
        "{:?}",
        generated.environment
    );
    let _ = std::fs::remove_dir_all(&folder);
}

#[tokio::test]
async fn a_plugin_is_offered_the_credentials_of_the_repository_and_its_complaint_does_not_show_them() {
    let folder = std::env::temp_dir().join(format!("lynceus-askpass-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let _server = PluginServer::start(&folder, "git", Manners::WantsCredentials { fails: true });
    let world = World::with(Settings { plugin_sockets: Some(folder.clone()), ..Settings::default() }).await;
    world.commit(&[("app/cdk.json", "{}")]);
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: repository\n  namespace: argocd\n  labels: \
         {{argocd.argoproj.io/secret-type: repository}}\nstringData: {{url: {:?}, username: ada, password: \
         s3cr3t}}\n",
        world.repository()
    );
    world.apply(&secret).await;
    let mut named = automated();
    named.set(&["source"], value!({"plugin": {"name": "git"}}));
    world.deliver("shop", "app", &named).await;
    world.until("the complaint", |world| complaint(world, "shop").contains("failed: ada/********, ")).await;
    assert!(!complaint(&world, "shop").contains("s3cr3t"), "{}", complaint(&world, "shop"));
    let _ = std::fs::remove_dir_all(&folder);
}

#[tokio::test]
async fn without_sockets_an_application_for_a_plugin_says_how_to_turn_them_on() {
    let world = World::new().await;
    world.commit(&[("app/cdk.json", "{}")]);
    let mut named = automated();
    named.set(&["source"], value!({"plugin": {"name": "cdk"}}));
    world.deliver("shop", "app", &named).await;
    world.until("the complaint", |world| complaint(world, "shop").contains("--plugin-sockets DIR")).await;
}
