//! What operators do that are declared, on a clock that is moved by hand.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::Arc;

use jiff::SignedDuration;
use lynceus_object::{Gvk, Object, Value, value, yaml};
use lynceus_sim::clock::ManualClock;
use lynceus_sim::operators::{Operator, SHIPPED};
use lynceus_sim::view::View;
use lynceus_sim::{DeleteOptions, Local, Options, PatchKind, Sim, Target};

struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    /// A cluster that serves these kinds, as `group/version/Kind`.
    async fn start(kinds: &[&str], operators: &[&str]) -> Self {
        let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
        let operators = operators.iter().map(|text| Arc::new(Operator::read(text).unwrap())).collect();
        let options = Options { clock: Some(clock), seed: Some(1), operators, ..Options::default() };
        let sim = Sim::start(options).await.unwrap();
        let cluster = Cluster { local: sim.local(), sim };
        for kind in kinds {
            cluster.apply(&definition(kind)).await;
        }
        cluster.advance(5).await;
        cluster
    }

    async fn advance(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    /// Applies documents, in the namespace `default` where they name none.
    async fn apply(&self, text: &str) {
        for document in text.split("\n---\n") {
            let mut object = Object::new(yaml::parse_str(document).unwrap()).unwrap();
            let registry = self.local.registry();
            let resource =
                registry.of_kind(&object.gvk()).unwrap_or_else(|| panic!("{} is not served", object.kind()));
            if resource.namespaced && object.namespace().is_empty() {
                object.set(&["metadata", "namespace"], "default");
            }
            let (name, namespace) = (object.name().to_owned(), object.namespace().to_owned());
            let target = Target {
                group: &resource.group,
                resource: &resource.plural,
                namespace: &namespace,
                name: &name,
            };
            self.local.patch(target, "", PatchKind::Apply, object.into_value()).await.unwrap();
        }
        self.sim.settle().await;
    }

    fn get(&self, group: &str, resource: &str, name: &str) -> Option<Object> {
        let cluster_wide = self.local.get(group, resource, "", name);
        cluster_wide.or_else(|| self.local.get(group, resource, "default", name))
    }

    /// The conditions of an object: `Ready=True Valid`.
    fn conditions(&self, group: &str, resource: &str, name: &str) -> String {
        let object = self.get(group, resource, name).unwrap();
        let text = |value: &Value, field: &str| value.str_at(&[field]).unwrap_or_default().to_owned();
        let one = |condition: &Value| {
            format!("{}={} {}", text(condition, "type"), text(condition, "status"), text(condition, "reason"))
        };
        object.value().items_at(&["status", "conditions"]).iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The last event about an object.
    fn told(&self, about: &str) -> String {
        let mut events = self.local.list("", "events", None);
        events.retain(|event| event.value().str_at(&["involvedObject", "name"]) == Some(about));
        events.sort_by_key(|event| event.resource_version().parse::<u64>().unwrap_or_default());
        let message = events.last().and_then(|event| event.value().str_at(&["message"]));
        message.unwrap_or_default().replace('\n', " ")
    }

    /// Starts a pod with an image, and waits until it is ready.
    async fn run(&self, name: &str, image: &str) {
        self.apply(&format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec:\n  containers: \
             [{{name: main, image: '{image}'}}]\n"
        ))
        .await;
        self.advance(3).await;
    }

    async fn annotate(&self, name: &str, annotations: Value) {
        let target = Target { group: "", resource: "pods", namespace: "default", name };
        let patch = value!({"metadata": {"annotations": annotations}});
        self.local.patch(target, "", PatchKind::Merge, patch).await.unwrap();
        self.advance(3).await;
    }
}

/// The definition of a kind that takes any fields.
fn definition(kind: &str) -> String {
    let [group, version, kind] = kind.split('/').collect::<Vec<_>>().try_into().unwrap();
    let singular = kind.to_lowercase();
    let scope = if kind.starts_with("Cluster") && kind != "Cluster" { "Cluster" } else { "Namespaced" };
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
         {singular}s.{group}}}\nspec:\n  group: {group}\n  scope: {scope}\n  names: {{kind: {kind}, plural: {singular}s, \
         singular: {singular}}}\n  versions:\n  - name: {version}\n    served: true\n    storage: true\n    subresources: \
         {{status: {{}}}}\n    schema:\n      openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: \
         true}}\n"
    )
}

#[test]
fn every_declaration_that_is_shipped_can_be_read() {
    for (name, text) in SHIPPED {
        if let Err(fault) = Operator::read(text) {
            panic!("{name}: {fault}");
        }
    }
}

const STORE: &str = "
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault}
spec: {provider: {vault: {server: 'http://vault.default.svc:8200', auth: {kubernetes: {role: shop}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db}
spec:
  secretStoreRef: {name: vault}
  target: {name: db-password}
  data: [{secretKey: password, remoteRef: {key: db}}]
";

const VAULT: &str = "
apiVersion: v1
kind: Service
metadata: {name: vault}
spec: {selector: {app: vault-0}, ports: [{port: 8200}]}
";

#[tokio::test]
async fn a_secret_waits_for_its_store_and_the_store_for_a_vault_that_is_there_and_open() {
    let kinds = ["external-secrets.io/v1/SecretStore", "external-secrets.io/v1/ExternalSecret"];
    let cluster = Cluster::start(&kinds, &[]).await;
    cluster.apply(STORE.trim()).await;
    cluster.advance(10).await;
    assert_eq!(
        cluster.conditions("external-secrets.io", "secretstores", "vault"),
        "",
        "nobody is there to look"
    );
    cluster.run("eso", "ghcr.io/external-secrets/external-secrets:v0.19.0").await;
    let store = || cluster.conditions("external-secrets.io", "secretstores", "vault");
    let secret = || cluster.conditions("external-secrets.io", "externalsecrets", "db");
    assert_eq!(store(), "Ready=False InvalidProviderConfig");
    assert!(
        cluster.told("vault").ends_with("lookup vault.default.svc: no such host"),
        "{}",
        cluster.told("vault")
    );
    assert_eq!(secret(), "Ready=False SecretSyncedError");
    assert!(cluster.told("db").ends_with("SecretStore \"vault\" is not ready"), "{}", cluster.told("db"));

    cluster.apply(VAULT.trim()).await;
    cluster.advance(3).await;
    assert!(cluster.told("vault").ends_with("connect: connection refused"), "{}", cluster.told("vault"));
    cluster.run("vault-0", "hashicorp/vault:1.20").await;
    assert_eq!(store(), "Ready=True Valid");
    assert_eq!(secret(), "Ready=True SecretSynced");
    let made = cluster.get("", "secrets", "db-password").unwrap();
    assert!(made.at(&["data", "password"]).is_some());
    assert_eq!(made.controller().unwrap().name, "db");

    cluster.annotate("vault-0", value!({"sim.lynceus.dev/sealed": "true"})).await;
    assert!(
        cluster.told("vault").ends_with("Code: 503. Errors:  * Vault is sealed"),
        "{}",
        cluster.told("vault")
    );
    assert_eq!(secret(), "Ready=False SecretSyncedError");
    cluster
        .annotate("vault-0", value!({"sim.lynceus.dev/sealed": null, "sim.lynceus.dev/forbids": "shop"}))
        .await;
    assert!(
        cluster.told("vault").ends_with("Code: 403. Errors:  * permission denied"),
        "{}",
        cluster.told("vault")
    );
    cluster.annotate("vault-0", value!({"sim.lynceus.dev/forbids": null})).await;
    assert_eq!((store().as_str(), secret().as_str()), ("Ready=True Valid", "Ready=True SecretSynced"));
}

#[tokio::test]
async fn an_operator_that_writes_a_field_of_the_spec_is_its_manager() {
    let cluster = Cluster::start(&["route.openshift.io/v1/Route"], &[]).await;
    cluster
        .apply(
            "apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: web}\nspec: {to: {name: web}}",
        )
        .await;
    cluster.advance(3).await;
    let route = cluster.get("route.openshift.io", "routes", "web").unwrap();
    assert_eq!(route.value().str_at(&["spec", "host"]), Some("web-default.apps.sim.example.com"));
    assert_eq!(route.value().items_at(&["status", "ingress"]).len(), 1);
    let managers: Vec<&str> = route
        .value()
        .items_at(&["metadata", "managedFields"])
        .iter()
        .filter(|entry| entry.at(&["fieldsV1", "f:spec", "f:host"]).is_some())
        .filter_map(|entry| entry.str_at(&["manager"]))
        .collect();
    assert_eq!(managers, ["openshift-router"]);
}

#[tokio::test]
async fn a_certificate_waits_for_its_issuer() {
    let kinds = ["cert-manager.io/v1/Issuer", "cert-manager.io/v1/Certificate"];
    let cluster = Cluster::start(&kinds, &[]).await;
    cluster.run("cm", "quay.io/jetstack/cert-manager-controller:v1.18.0").await;
    let certificate = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: web}\nspec: {secretName: \
                       web-tls, issuerRef: {name: ca}}";
    cluster.apply(certificate).await;
    cluster.advance(10).await;
    let state = || cluster.conditions("cert-manager.io", "certificates", "web");
    assert_eq!(state(), "Issuing=True DoesNotExist, Ready=False DoesNotExist");
    cluster
        .apply("apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: ca}\nspec: {selfSigned: {}}")
        .await;
    cluster.advance(10).await;
    assert_eq!(state(), "Ready=True Ready");
    assert_eq!(
        cluster.get("", "secrets", "web-tls").unwrap().value().str_at(&["type"]),
        Some("kubernetes.io/tls")
    );
}

#[tokio::test]
async fn a_database_and_a_broker_are_ready_when_their_pods_are() {
    let kinds = [
        "postgresql.cnpg.io/v1/Cluster",
        "kafka.strimzi.io/v1beta2/Kafka",
        "kafka.strimzi.io/v1beta2/KafkaTopic",
    ];
    let cluster = Cluster::start(&kinds, &[]).await;
    cluster.run("cnpg", "ghcr.io/cloudnative-pg/cloudnative-pg:1.27.0").await;
    cluster.run("strimzi", "quay.io/strimzi/operator:0.47.0").await;
    cluster
        .apply("apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: db}\nspec: {instances: 2}")
        .await;
    let topic = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata: {name: orders, labels: \
                 {strimzi.io/cluster: bus}}\nspec: {}";
    cluster.apply(topic).await;
    assert_eq!(cluster.conditions("postgresql.cnpg.io", "clusters", "db"), "Ready=False ClusterIsNotReady");
    cluster.advance(20).await;
    assert_eq!(cluster.conditions("postgresql.cnpg.io", "clusters", "db"), "Ready=True ClusterIsReady");
    assert_eq!(
        cluster.conditions("kafka.strimzi.io", "kafkatopics", "orders"),
        "",
        "its cluster is not there"
    );
    cluster.apply("apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: bus}\nspec: {kafka: {replicas: 1}}").await;
    cluster.advance(20).await;
    assert_eq!(cluster.conditions("kafka.strimzi.io", "kafkas", "bus"), "Ready=True ");
    assert_eq!(cluster.conditions("kafka.strimzi.io", "kafkatopics", "orders"), "Ready=True ");
}

#[tokio::test]
async fn a_declaration_of_ones_own_stands_beside_those_that_are_shipped() {
    let own = "
apiVersion: sim.lynceus.dev/v1alpha1
kind: Operator
metadata: {name: things}
spec:
  rules:
  - kind: example.com/Thing
    cases:
    - when: self.spec.size > 3
      status: {phase: TooLarge}
    - after: 10s
      create:
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: 'of-${self.metadata.name}'}, data: {size: '${string(self.spec.size)}'}}
      status: {phase: Done}
";
    let cluster = Cluster::start(&["example.com/v1/Thing"], &[own]).await;
    let thing = |size: i64| {
        format!("apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {{size: {size}}}")
    };
    let phase = || {
        let thing = cluster.get("example.com", "things", "a").unwrap();
        thing.value().str_at(&["status", "phase"]).unwrap_or_default().to_owned()
    };
    cluster.apply(&thing(5)).await;
    assert_eq!(phase(), "TooLarge");
    cluster.apply(&thing(2)).await;
    cluster.advance(5).await;
    assert_eq!(phase(), "TooLarge", "its time has not come");
    cluster.advance(6).await;
    assert_eq!(phase(), "Done");
    let map = || {
        cluster
            .get("", "configmaps", "of-a")
            .map(|map| map.value().str_at(&["data", "size"]).unwrap().to_owned())
    };
    assert_eq!(map().as_deref(), Some("2"));
    let target = Target { group: "", resource: "configmaps", namespace: "default", name: "of-a" };
    cluster.local.delete(target, &DeleteOptions::default()).await.unwrap();
    cluster.advance(1).await;
    assert_eq!(map().as_deref(), Some("2"), "what is deleted is made again");
    assert_eq!(
        cluster.local.registry().of_kind(&Gvk::new("example.com", "v1", "Thing")).unwrap().plural,
        "things"
    );
}

#[tokio::test]
async fn what_an_operator_has_to_tell_is_told_once_even_if_its_time_passed_while_it_was_away() {
    let own = "
apiVersion: sim.lynceus.dev/v1alpha1
kind: Operator
metadata: {name: things}
spec:
  image: '*/things:*'
  rules:
  - kind: example.com/Thing
    cases:
    - after: 10s
      status: {phase: Done}
      events: [{reason: Done, message: it is done}]
";
    let cluster = Cluster::start(&["example.com/v1/Thing"], &[own]).await;
    cluster.run("things", "example.com/things:1").await;
    cluster.apply("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}").await;
    cluster.advance(2).await;
    let target = Target { group: "", resource: "pods", namespace: "default", name: "things" };
    let now = DeleteOptions { grace_seconds: Some(0), ..DeleteOptions::default() };
    cluster.local.delete(target, &now).await.unwrap();
    cluster.advance(20).await;
    assert_eq!(cluster.told("a"), "");
    cluster.run("things", "example.com/things:1").await;
    cluster.annotate("things", value!({"any": "change"})).await;
    let events = cluster.local.list("", "events", None);
    let done = events.iter().filter(|event| event.value().str_at(&["reason"]) == Some("Done"));
    let counts: Vec<i64> = done.map(|event| event.value().int_at(&["count"]).unwrap_or(1)).collect();
    assert_eq!(counts, [1]);
}
