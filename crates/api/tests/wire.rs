//! What goes in comes out, and what is not set is written as Go writes it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use lynceus_api::{
    AppProject, Application, ApplicationSet, HealthStatusCode, IntOrString, Kind, OperationPhase,
    SyncStatusCode,
};
use lynceus_object::{Object, Value, value};

fn round_trip<K: Kind>(value: Value) {
    let object = Object::new(value).unwrap();
    let written = K::from_object(&object).unwrap().to_object();
    assert_eq!(written.value(), object.value());
}

/// What every application has in its status, set or not.
fn bare_status() -> Value {
    value!({
        "health": {},
        "sourceHydrator": {},
        "summary": {},
        "sync": {"status": "", "comparedTo": {"destination": {}, "source": {"repoURL": ""}}},
    })
}

#[test]
fn an_application_with_everything_survives() {
    round_trip::<Application>(value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {
            "name": "shop", "namespace": "argocd", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 4,
            "finalizers": ["resources-finalizer.argocd.argoproj.io"],
            "managedFields": [{"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
        },
        "spec": {
            "project": "default",
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
            "sources": [
                {"repoURL": "https://charts.example.com", "chart": "web", "targetRevision": "1.x", "helm": {
                    "valuesObject": {"replicas": 2, "list": [], "none": null, "nested": {"empty": {}}},
                    "parameters": [{"name": "a.b", "value": "1", "forceString": true}],
                    "valueFiles": ["$values/prod.yaml"],
                }},
                {"repoURL": "https://git.example.com/shop.git", "ref": "values"},
                {"repoURL": "https://git.example.com/shop.git", "path": "kustomize", "kustomize": {
                    "replicas": [{"name": "web", "count": 3}, {"name": "api", "count": "4"}],
                    "images": ["web=registry/web:2"],
                    "patches": [{"patch": "- op: remove", "target": {"kind": "Deployment", "labelSelector": "a=b"}}],
                }},
                {"repoURL": "https://git.example.com/shop.git", "path": "jsonnet", "directory": {
                    "recurse": true, "jsonnet": {"tlas": [{"name": "x", "value": "1", "code": true}]},
                }},
                {"repoURL": "https://git.example.com/shop.git", "path": "cmp", "plugin": {
                    "name": "tanka", "env": [{"name": "A", "value": ""}],
                    "parameters": [
                        {"name": "s", "string": ""}, {"name": "m", "map": {}}, {"name": "l", "array": []},
                    ],
                }},
            ],
            "syncPolicy": {
                "automated": {"prune": false, "selfHeal": true, "enabled": true},
                "retry": {"limit": -1, "backoff": {"duration": "5s", "factor": 0}},
                "syncOptions": ["CreateNamespace=true"],
            },
            "ignoreDifferences": [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}],
            "revisionHistoryLimit": 0,
        },
        "operation": {
            "initiatedBy": {"username": "admin"}, "retry": {},
            "sync": {"prune": true, "resources": [{"kind": "Service", "name": "web"}], "syncStrategy": {"hook": {}}},
        },
        "status": {
            "health": {"status": "Healthy", "lastTransitionTime": "2026-01-01T00:00:05Z"},
            "sync": {
                "status": "OutOfSync", "revisions": ["a", "b"],
                "comparedTo": {"destination": {"namespace": "shop"}, "source": {"repoURL": ""}},
            },
            "summary": {"images": ["web:2"]},
            "sourceHydrator": {},
            "history": [{
                "id": 0, "deployedAt": "2026-01-01T00:00:03Z", "initiatedBy": {}, "revision": "a",
                "source": {"repoURL": "https://git.example.com/shop.git"},
            }],
            "resources": [{"kind": "Service", "name": "web", "status": "Synced", "syncWave": -1, "version": "v1"}],
            "operationState": {
                "operation": {"initiatedBy": {"automated": true}, "retry": {"limit": 5}}, "phase": "Succeeded",
                "startedAt": "2026-01-01T00:00:01Z", "finishedAt": "2026-01-01T00:00:02Z",
                "syncResult": {"revision": "a", "source": {"repoURL": ""}, "resources": [{
                    "group": "", "version": "v1", "kind": "Service", "namespace": "shop", "name": "web",
                    "status": "Synced", "hookPhase": "Running", "syncPhase": "Sync", "message": "service/web created",
                }]},
            },
        },
    }));
}

#[test]
fn unknown_fields_and_words_survive_at_every_level() {
    let mut status = bare_status();
    status.set(&["sync", "status"], "Drifting");
    status.set(&["sync", "since"], "yesterday");
    round_trip::<Application>(value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "future": [1, 2.5, null],
        "metadata": {"name": "shop", "zone": "eu"},
        "spec": {
            "project": "", "destination": {"region": {"name": "eu"}},
            "source": {"repoURL": "x", "terraform": {"dir": "."}, "helm": {"engine": null}},
        },
        "status": status,
    }));
}

#[test]
fn what_go_always_writes_is_written() {
    let object =
        Object::new(value!({"metadata": {"name": "shop"}, "spec": {"source": {"path": ""}}})).unwrap();
    let written = Application::from_object(&object).unwrap().to_object();
    assert_eq!(
        *written.value(),
        value!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "shop"},
            "spec": {"project": "", "destination": {}, "source": {"repoURL": ""}},
            "status": bare_status(),
        })
    );
}

#[test]
fn an_operation_that_has_not_started_has_a_null_start() {
    let mut app = Application::default();
    app.status.operation_state =
        Some(lynceus_api::OperationState { phase: OperationPhase::Running.into(), ..Default::default() });
    let written = app.to_object();
    assert!(written.at(&["status", "operationState", "startedAt"]).unwrap().is_null());
    assert_eq!(written.at(&["status", "operationState", "finishedAt"]), None);
}

#[test]
fn null_means_not_set() {
    let object = Object::new(value!({
        "metadata": {"name": "shop"}, "operation": null, "status": null,
        "spec": {"project": null, "destination": {}, "syncPolicy": null, "sources": null},
    }))
    .unwrap();
    let app = Application::from_object(&object).unwrap();
    assert_eq!((app.operation, app.spec.sync_policy, app.spec.project.as_str()), (None, None, ""));
}

#[test]
fn a_project_survives() {
    round_trip::<AppProject>(value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "team"},
        "spec": {
            "sourceRepos": ["*"], "destinations": [{"namespace": "*", "server": "*"}],
            "clusterResourceWhitelist": [{"group": "", "kind": "Namespace"}],
            "namespaceResourceBlacklist": [{"group": "", "kind": "Secret"}],
            "orphanedResources": {"warn": false},
            "roles": [{"name": "ci", "jwtTokens": [{"iat": 1_600_000_000}], "policies": ["p, a, b, c, d, allow"]}],
            "syncWindows": [{"kind": "deny", "schedule": "0 22 * * *", "duration": "1h", "manualSync": true}],
            "sourceIntegrity": {"git": {"policies": [
                {"repos": [{"url": "*"}], "gpg": {"mode": "strict", "keys": ["ABCD"]}},
            ]}},
        },
        "status": {"jwtTokensByRole": {"ci": {"items": [{"iat": 1_600_000_000, "exp": 5}]}}},
    }));
}

#[test]
fn an_application_set_survives() {
    let template = value!({"metadata": {}, "spec": {"destination": {}, "project": ""}});
    let mut status = value!({"health": {}});
    status.set(
        &["applicationStatus"],
        value!([
            {"application": "a", "message": "", "status": "Waiting", "step": "1", "targetRevisions": ["x"]},
        ]),
    );
    round_trip::<ApplicationSet>(value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "all"},
        "spec": {
            "goTemplate": true,
            "generators": [
                {"list": {"elements": [{"env": "prod", "deep": {"a": [1]}}], "template": template}},
                {"clusters": {"selector": {"matchLabels": {"a": "b"}}, "template": template, "values": {"x": "y"}}},
                {"matrix": {"template": template, "generators": [
                    {"git": {"repoURL": "x", "revision": "HEAD", "directories": [{"path": "*"}], "template": template}},
                    {"merge": {"anything": ["goes", 1]}},
                ]}},
            ],
            "strategy": {"type": "RollingSync", "rollingSync": {"steps": [{"maxUpdate": "10%"}, {"maxUpdate": 0}]}},
            "template": {"metadata": {"name": "{{.env}}"}, "spec": {"destination": {}, "project": "default"}},
        },
        "status": status,
    }));
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    let object = Object::new(
        value!({"metadata": {"name": "shop"}, "spec": {"source": {"helm": {"skipCrds": "yes"}}}}),
    )
    .unwrap();
    let error = Application::from_object(&object).unwrap_err();
    assert_eq!(error.to_string(), "Application \"shop\" has a field of the wrong type");
    let source = error.source.to_string();
    assert_eq!(source, "spec: source: helm: skipCrds: expected a boolean, found a string");
}

#[test]
fn words_are_compared_as_words() {
    let app = Application::from_object(
        &Object::new(value!({"status": {"sync": {"status": "Synced"}, "health": {"status": "Degraded"}}}))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(app.status.sync.status, SyncStatusCode::Synced);
    assert_eq!(app.status.health.status.known(), Some(HealthStatusCode::Degraded));
    assert_eq!(IntOrString::default().to_string(), "0");
}
