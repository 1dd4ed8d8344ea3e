//! What notifications do, as text in and text out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod catalogue;
mod config;
mod messages;
mod services;
mod state;
mod subscriptions;
mod triggers;

use std::collections::BTreeMap;

use jiff::Timestamp;
use lynceus_notify::{Config, Facts, Sources, Subject};
use lynceus_object::{Object, Str, Value, yaml};

/// The time of all tests.
fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

/// Chance that is none.
fn random(bytes: &mut [u8]) {
    bytes.fill(7);
}

fn parse(text: &str) -> Value {
    yaml::parse_str(text).unwrap()
}

/// A configuration from the data of a ConfigMap and of a Secret.
fn config(data: &str, secret: &str) -> Config {
    let mut config_map = parse("kind: ConfigMap");
    config_map.set(&["data"], parse(data));
    let mut held = parse("kind: Secret");
    held.set(&["stringData"], parse(secret));
    Config::read(Sources { config_map: Some(&config_map), secret: Some(&held), self_service: None })
}

fn application() -> Object {
    Object::new(parse(
        r#"
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  namespace: argocd
  labels: {team: red}
spec:
  project: default
  source: {repoURL: "https://github.com/example/shop.git", path: deploy, targetRevision: main}
status:
  health: {status: Degraded}
  sync: {status: OutOfSync, revision: abc123}
  reconciledAt: "2026-01-02T03:00:00Z"
  operationState:
    phase: Succeeded
    startedAt: "2026-01-02T02:59:00Z"
    finishedAt: "2026-01-02T02:59:30Z"
    message: successfully synced (all tasks run)
    syncResult: {revision: abc123}
  conditions:
  - {type: ComparisonError, message: 'a "quoted" message'}
"#,
    ))
    .unwrap()
}

/// What is known for a test, kept so that it can be lent.
struct World {
    application: Object,
    context: BTreeMap<Str, Str>,
    facts: Facts,
}

impl World {
    fn new() -> Self {
        let context = BTreeMap::from([("argocdUrl".into(), "https://lynceus.example".into())]);
        World { application: application(), context, facts: Facts::default() }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            application: self.application.value(),
            project: None,
            context: &self.context,
            secrets: None,
            facts: &self.facts,
            more: &[],
        }
    }
}

fn faults(config: &Config) -> String {
    config.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
