//! Objects of several kinds as Git has them, and what a server made of each.
#![allow(dead_code, clippy::expect_used, reason = "not every test needs everything, and each may stop")]

use lynceus_diff::Pair;
use lynceus_object::{Object, Value, defaults, json, value};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How an object came into the cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applied {
    /// By a patch, with an annotation of what was applied.
    ClientSide,
    /// On the server's side.
    ServerSide,
}

/// So many pairs of objects that are as desired, of all the kinds here in turn.
pub(crate) fn unchanged(count: usize, applied: Applied) -> Vec<Pair> {
    let kinds = [deployment, config_map, service, stateful_set, role, secret, certificate, ingress];
    (0..count).map(|number| pair(kinds[number % kinds.len()](number), applied)).collect()
}

/// So many Deployments that are as desired.
pub(crate) fn deployments(count: usize, applied: Applied) -> Vec<Pair> {
    (0..count).map(|number| pair(deployment(number), applied)).collect()
}

/// A desired object and what a server made of it.
fn pair(mut desired: Value, applied: Applied) -> Pair {
    let text = |path: &[&str]| desired.str_at(path).unwrap_or_default().to_owned();
    let (version, kind, name) = (text(&["apiVersion"]), text(&["kind"]), text(&["metadata", "name"]));
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let mark = format!("shop:{group}/{kind}:shop/{name}");
    desired.set(&["metadata", "annotations", "argocd.argoproj.io/tracking-id"], mark);
    if applied == Applied::ServerSide {
        desired.set(&["metadata", "annotations", "argocd.argoproj.io/sync-options"], "ServerSideApply=true");
    }
    let desired = Object::new(desired).expect("a map");
    let mut live = desired.clone();
    defaults::fill_in(&desired.gvk(), &mut live);
    let operation = match applied {
        Applied::ClientSide => "Update",
        Applied::ServerSide => "Apply",
    };
    if applied == Applied::ClientSide {
        live.set_annotation(LAST_APPLIED, format!("{}\n", json::go_string(desired.value())));
    }
    live.set(&["metadata", "uid"], "7c5f1f0e-8c1c-4a7e-9f43-0d9b6f1d8c11");
    live.set(&["metadata", "resourceVersion"], "12345");
    live.set(&["metadata", "generation"], 1);
    live.set(&["metadata", "creationTimestamp"], "2026-01-01T00:00:00Z");
    let mut entry = value!({
        "manager": "argocd-controller", "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1",
        "time": "2026-01-01T00:00:00Z",
    });
    entry.set(&["fieldsV1"], fields(desired.value()));
    live.set(&["metadata", "managedFields"], vec![entry]);
    if kind != "ConfigMap" && kind != "Secret" && kind != "Role" {
        live.set(&["status"], value!({"observedGeneration": 1, "replicas": 3}));
    }
    // As it comes from a server: none of it is shared with what comes from Git.
    let live = json::parse(&json::to_vec(live.value())).expect("JSON");
    Pair::Both { desired, live: Object::new(live).expect("a map") }
}

/// The set of an object's fields, with named items told by their names.
fn fields(value: &Value) -> Value {
    let mut out = value!({});
    match value {
        Value::Map(map) => {
            for (name, value) in
                map.iter().filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind"))
            {
                out.set(&[&format!("f:{name}")], fields(value));
            }
        }
        Value::Seq(items) if items.iter().all(|item| item.str_at(&["name"]).is_some()) => {
            for item in items {
                let key = format!("k:{}", json::to_string(&value!({"name": item.str_at(&["name"])})));
                out.set(&[&key], fields(item));
            }
        }
        _ => {}
    }
    out
}

fn deployment(number: usize) -> Value {
    value!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": format!("web-{number}"), "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{
                    "name": "web", "image": "registry.example/web:1.2.3",
                    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
                    "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}},
                    "volumeMounts": [{"name": "config", "mountPath": "/etc/web"}],
                }],
                "volumes": [{"name": "config", "configMap": {"name": "settings"}}],
            },
        }},
    })
}

fn config_map(number: usize) -> Value {
    value!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("settings-{number}"), "namespace": "shop"},
        "data": {"a.properties": "x=1\ny=2\n", "b.yaml": "list:\n- one\n- <two>\n"},
    })
}

fn service(number: usize) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": format!("web-{number}"), "namespace": "shop"},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]},
    })
}

fn stateful_set(number: usize) -> Value {
    value!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": format!("db-{number}"), "namespace": "shop"},
        "spec": {
            "serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "db:1"}]}},
        },
    })
}

fn role(number: usize) -> Value {
    value!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": format!("reader-{number}"), "namespace": "shop"},
        "rules": [{"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get", "list", "watch"]}],
    })
}

fn secret(number: usize) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("key-{number}"), "namespace": "shop"},
        "type": "Opaque", "data": {"user": "YWRtaW4=", "word": "aHVzaCBodXNo"},
    })
}

fn certificate(number: usize) -> Value {
    value!({
        "apiVersion": "cert-manager.io/v1", "kind": "Certificate",
        "metadata": {"name": format!("cert-{number}"), "namespace": "shop"},
        "spec": {"secretName": "cert", "dnsNames": ["a.example", "b.example"], "issuerRef": {"name": "ca"}},
    })
}

fn ingress(number: usize) -> Value {
    value!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"name": format!("web-{number}"), "namespace": "shop"},
        "spec": {"ingressClassName": "nginx", "rules": [{"host": "web.example", "http": {"paths": [
            {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web", "port": {"name": "http"}}}},
        ]}}]},
    })
}
