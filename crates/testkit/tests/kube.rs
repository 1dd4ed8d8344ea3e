//! The cluster in process, behind a client library that does not know.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use lynceus_sim::attributes::User;
use lynceus_sim::{Options, Sim};

async fn client() -> (Sim, kube::Client) {
    let sim = Sim::start(Options { without_controllers: true, ..Options::default() }).await.unwrap();
    let client = kube::Client::new(sim.service(User::admin()), "default");
    (sim, client)
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(serde_json::json!({"metadata": {"name": name}, "data": {"a": "1"}})).unwrap()
}

#[tokio::test]
async fn a_client_library_creates_reads_lists_changes_and_deletes() {
    let (_sim, client) = client().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let created = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(created.metadata.namespace.as_deref(), Some("default"));
    let patch = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2"}});
    let applied = api.patch("a", &PatchParams::apply("me"), &Patch::Apply(patch)).await.unwrap();
    assert_eq!(applied.data.unwrap().len(), 2);
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), 1);
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
    let error = Api::<Namespace>::all(client).delete("default", &DeleteParams::default()).await.unwrap_err();
    assert!(error.to_string().contains("this namespace may not be deleted"), "{error}");
}

#[tokio::test]
async fn a_client_library_watches() {
    let (_sim, client) = client().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    let mut events = api.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    match events.try_next().await.unwrap() {
        Some(WatchEvent::Added(object)) => assert_eq!(object.metadata.name.as_deref(), Some("a")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_same_over_tls_with_the_written_kubeconfig() {
    let (sim, _) = client().await;
    let server = sim.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    let kubeconfig = kube::config::Kubeconfig::from_yaml(&sim.kubeconfig(&server.url())).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
    let client = kube::Client::try_from(config.await.unwrap()).unwrap();
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), 1);
    assert_eq!(client.apiserver_version().await.unwrap().git_version, "v1.36.3");
    server.shutdown().await;
    assert!(api.get("a").await.is_err());
}
