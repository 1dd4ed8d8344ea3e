//! Snapshots of many applications.

use std::fmt;

use lynceus_api::{Application, Kind as _};
use lynceus_doctor::{ClusterView, Delivery, Snapshot, Wanted};
use lynceus_object::{Object, Value, value};

const SERVER: &str = "https://kubernetes.default.svc";

/// What is wrong in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One in ten has a trouble, by turns.
    Mixed,
    /// All of them need one ConfigMap that is not there.
    OneConfigMap,
    /// Half of them wait behind the other half, which are not well.
    Waves,
    /// Each has a trouble of its own.
    EachItsOwn,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shape::Mixed => "one in ten has a trouble",
            Shape::OneConfigMap => "all need one ConfigMap that is not there",
            Shape::Waves => "half of them wait for the other half",
            Shape::EachItsOwn => "each has a cause of its own",
        })
    }
}

/// What is wrong with one application.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    ConfigMap,
    Image,
    OwnConfigMap,
    Manual,
    NotCreated,
}

fn trouble(shape: Shape, number: usize, size: usize) -> Trouble {
    match shape {
        Shape::OneConfigMap => Trouble::ConfigMap,
        Shape::EachItsOwn if number.is_multiple_of(2) => Trouble::Image,
        Shape::EachItsOwn => Trouble::OwnConfigMap,
        Shape::Waves if number < size / 2 => Trouble::Image,
        Shape::Waves => Trouble::NotCreated,
        Shape::Mixed => match number % 40 {
            0 => Trouble::ConfigMap,
            10 => Trouble::Image,
            20 => Trouble::OwnConfigMap,
            30 => Trouble::Manual,
            _ => Trouble::None,
        },
    }
}

/// A snapshot of so many applications and the one that holds them.
pub(super) fn fleet(shape: Shape, size: usize) -> Snapshot {
    let mut objects = vec![object(value!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "general-0"}, "spec": {}
    }))];
    let mut applications = Vec::with_capacity(size + 1);
    let mut held = Vec::with_capacity(size);
    for number in 0..size {
        let namespace = namespace(shape, number);
        if number.is_multiple_of(10) {
            objects.push(object(value!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace.as_str()}
            })));
        }
        let one = One { name: format!("app-{number:05}"), namespace, trouble: trouble(shape, number, size) };
        let wave = if shape == Shape::Waves && number >= size / 2 { "2" } else { "0" };
        if one.trouble != Trouble::NotCreated {
            objects.push(one.application(wave));
        }
        held.push(Wanted { object: one.application(wave), span: None });
        objects.extend(one.live());
        applications.push(one.delivery());
    }
    applications.push(delivery(&application("fleet", "argocd", ("OutOfSync", "Degraded"), true), held));
    let mut kinds = std::collections::BTreeMap::new();
    for object in &objects {
        kinds.insert(object.group_kind(), !object.namespace().is_empty());
    }
    let view = ClusterView {
        server: SERVER.into(),
        name: "in-cluster".into(),
        objects,
        kinds,
        ..ClusterView::default()
    };
    Snapshot { home: "argocd".into(), applications, clusters: vec![view], ..Snapshot::default() }
}

fn namespace(shape: Shape, number: usize) -> String {
    match shape {
        Shape::OneConfigMap => "team".to_owned(),
        _ => format!("team-{:04}", number / 10),
    }
}

fn object(value: Value) -> Object {
    Object::new(value).unwrap_or_default()
}

fn application(name: &str, namespace: &str, (sync, health): (&str, &str), automated: bool) -> Object {
    let mut application = object(value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "project": "default",
            "source": {"repoURL": "https://git.example.com/all.git", "path": name, "targetRevision": "main"},
            "destination": {"server": SERVER, "namespace": namespace},
        },
        "status": {"sync": {"status": sync}, "health": {"status": health}},
    }));
    if automated {
        application.set(&["spec", "syncPolicy"], value!({"automated": {"prune": true, "selfHeal": true}}));
    }
    application
}

fn delivery(application: &Object, wanted: Vec<Wanted>) -> Delivery {
    let application = Application::from_object(application).unwrap_or_default();
    Delivery { application, server: SERVER.into(), rendered: true, wanted, ..Delivery::default() }
}

/// One application, with what it has.
struct One {
    name: String,
    namespace: String,
    trouble: Trouble,
}

impl One {
    fn application(&self, wave: &str) -> Object {
        let state = match self.trouble {
            Trouble::None => ("Synced", "Healthy"),
            Trouble::Manual | Trouble::NotCreated => ("OutOfSync", "Missing"),
            _ => ("Synced", "Progressing"),
        };
        let mut one = application(&self.name, &self.namespace, state, self.trouble != Trouble::Manual);
        one.set_annotation("argocd.argoproj.io/sync-wave", wave);
        one
    }

    fn delivery(&self) -> Delivery {
        let wanted = [self.deployment(), self.service()];
        delivery(
            &self.application("0"),
            wanted.into_iter().map(|object| Wanted { object, span: None }).collect(),
        )
    }

    fn deployment(&self) -> Object {
        let map = match self.trouble {
            Trouble::ConfigMap => "settings".to_owned(),
            Trouble::OwnConfigMap => format!("{}-settings", self.name),
            _ => "kube-root-ca.crt".to_owned(),
        };
        object(value!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": self.name.as_str(), "namespace": self.namespace.as_str()},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": self.name.as_str()}},
                "template": {
                    "metadata": {"labels": {"app": self.name.as_str()}},
                    "spec": {"containers": [{
                        "name": "main", "image": format!("ghcr.io/acme/{}:v2", self.name),
                        "envFrom": [{"configMapRef": {"name": map}}],
                    }]},
                },
            },
        }))
    }

    fn service(&self) -> Object {
        object(value!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": self.name.as_str(), "namespace": self.namespace.as_str()},
            "spec": {"selector": {"app": self.name.as_str()}, "ports": [{"port": 80}]},
        }))
    }

    fn live(&self) -> Vec<Object> {
        if matches!(self.trouble, Trouble::Manual | Trouble::NotCreated) {
            return Vec::new();
        }
        let is_well = self.trouble == Trouble::None;
        let ready = i64::from(is_well);
        let mut deployment = self.deployment();
        deployment.set(&["metadata", "uid"], format!("{}-d", self.name));
        deployment.set(&["metadata", "generation"], Value::Int(1));
        let status = value!({
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready,
        });
        deployment.set(&["status"], status);
        vec![deployment, self.service(), self.replica_set(), self.pod(is_well)]
    }

    fn owned(&self, api_version: &str, kind: &str, end: &str, owner: (&str, &str)) -> Object {
        object(value!({
            "apiVersion": api_version, "kind": kind,
            "metadata": {
                "name": format!("{}-{end}", self.name), "namespace": self.namespace.as_str(), "uid": format!("{}-{end}", self.name),
                "labels": {"app": self.name.as_str()},
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": owner.0, "name": self.name.as_str(), "controller": true,
                    "uid": format!("{}-{}", self.name, owner.1),
                }],
            },
        }))
    }

    fn replica_set(&self) -> Object {
        let mut set = self.owned("apps/v1", "ReplicaSet", "r", ("Deployment", "d"));
        set.set(&["spec", "replicas"], Value::Int(1));
        set
    }

    fn pod(&self, is_well: bool) -> Object {
        let mut pod = self.owned("v1", "Pod", "p", ("ReplicaSet", "r"));
        if let Some(spec) = self.deployment().at(&["spec", "template", "spec"]) {
            pod.set(&["spec"], spec.clone());
        }
        let ready = if is_well { "True" } else { "False" };
        let mut status = value!({
            "phase": if is_well { "Running" } else { "Pending" },
            "conditions": [{"type": "Ready", "status": ready}],
        });
        let waits = match self.trouble {
            Trouble::Image => ("ImagePullBackOff", "Back-off pulling image: not found".to_owned()),
            _ => ("CreateContainerConfigError", "configmap not found".to_owned()),
        };
        if !is_well {
            let image = format!("ghcr.io/acme/{}:v2", self.name);
            let (reason, message) = waits;
            let one = value!({
                "name": "main", "image": image, "state": {"waiting": {"reason": reason, "message": message}},
            });
            status.set(&["containerStatuses"], vec![one]);
        }
        pod.set(&["status"], status);
        pod
    }
}
