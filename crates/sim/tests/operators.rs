//! What operators do that are declared, on a clock that is moved by hand.
//!
//! Each file in `operators/` is a text of commands, with what they show indented below them; `== a title` begins a new cluster.
//! With `LYNCEUS_BLESS=1` what was shown is written into the files, to be read before it is believed. The declarations are read
//! from `crates/sim/operators` when the test runs, so that one can be changed and tried without building anything. Kinds are small
//! definitions of our own; `LYNCEUS_DEFINITIONS=DIR` plays with those that operators bring, `DIR/things.example.com.yaml`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use jiff::SignedDuration;
use lynceus_object::{Object, Value, json, value, yaml};
use lynceus_sim::operators::{Operator, SHIPPED};
use lynceus_sim::stage::Stage;
use lynceus_sim::view::View;
use lynceus_sim::{DeleteOptions, Local, Options, PatchKind, Sim, Target};

macro_rules! scenarios {
    ($($name:ident)+) => {
        $(#[tokio::test]
        async fn $name() {
            play(stringify!($name)).await;
        })+

        #[test]
        fn every_file_of_scenarios_is_played() {
            assert_eq!(names("tests/operators"), [$(stringify!($name)),+]);
        }
    };
}

scenarios! {
    argo_rollouts cert_manager clickhouse cloudnative_pg elastic envoy_gateway external_secrets gitea istio keycloak
    knative_serving kserve language openshift_ai openshift_builds openshift_router openshift_service_mesh prometheus_operator strimzi tekton
}

#[test]
fn every_declaration_is_shipped_and_can_be_read() {
    assert_eq!(names("operators"), SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, text) in SHIPPED {
        if let Err(fault) = Operator::read(text) {
            panic!("{name}: {fault}");
        }
    }
}

fn folder(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The names of the files in a folder, without their ends.
fn names(path: &str) -> Vec<String> {
    let files = fs::read_dir(folder(path)).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Plays a file and compares what it shows.
async fn play(name: &str) {
    let path = folder("tests/operators").join(format!("{name}.txt"));
    let text = fs::read_to_string(&path).unwrap();
    let mut played = String::new();
    let mut lines = text.lines().peekable();
    let mut cluster = None;
    while let Some(line) = lines.next() {
        let mut block = String::new();
        while let Some(inner) = lines.next_if(|line| line.starts_with("  ")) {
            block.push_str(&inner[2..]);
            block.push('\n');
        }
        played.push_str(line);
        played.push('\n');
        let shown = match line.split_once(' ').unwrap_or((line, "")) {
            ("" | "#", _) => continue,
            ("==", _) => {
                cluster = None;
                continue;
            }
            ("stage" | "operator", _) => {
                let (stage, own) = if line == "stage" { (block.as_str(), None) } else { ("", Some(&*block)) };
                cluster = Some(Cluster::start(stage, own).await);
                None
            }
            (command, rest) => {
                if cluster.is_none() {
                    cluster = Some(Cluster::start("", None).await);
                }
                cluster.as_ref().unwrap().obey(command, rest, &block).await
            }
        };
        for line in shown.as_deref().unwrap_or(&block).lines() {
            played.push_str("  ");
            played.push_str(line);
            played.push('\n');
        }
    }
    if std::env::var_os("LYNCEUS_BLESS").is_some() {
        fs::write(&path, &played).unwrap();
    }
    assert_eq!(played, text, "{} shows something else; what it shows is on the left", path.display());
}

/// The declarations as they are in their files.
fn declared() -> &'static [Arc<Operator>] {
    static READ: OnceLock<Vec<Arc<Operator>>> = OnceLock::new();
    let read = |name: String| {
        let text = fs::read_to_string(folder("operators").join(format!("{name}.yaml"))).unwrap();
        Arc::new(Operator::read(&text).unwrap_or_else(|fault| panic!("{name}: {fault}")))
    };
    READ.get_or_init(|| names("operators").into_iter().map(read).collect())
}

struct Cluster {
    sim: Sim,
    local: Local,
}

impl Cluster {
    async fn start(stage: &str, own: Option<&str>) -> Self {
        let mut operators = declared().to_vec();
        operators
            .extend(own.map(|text| Arc::new(Operator::read(text).unwrap_or_else(|fault| panic!("{fault}")))));
        let stage = match stage {
            "" => Stage::default(),
            text => Stage::read("stage", text).unwrap(),
        };
        let options = Options { operators, ..Options::by_hand(stage) };
        let sim = Sim::start_at_rest(options).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    /// Does what a command says. `None` if the command shows nothing.
    async fn obey(&self, command: &str, rest: &str, block: &str) -> Option<String> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (command, words.as_slice()) {
            ("kinds", kinds) => {
                for kind in kinds {
                    self.apply(&definition(kind)).await;
                }
                self.wait("2s").await;
                None
            }
            ("apply", []) => {
                self.apply(block).await;
                None
            }
            // A pod with an image, which is ready afterwards.
            ("run", [name, image]) => {
                self.apply(&format!(
                    "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec:\n  \
                     containers: [{{name: main, image: '{image}'}}]\n"
                ))
                .await;
                self.wait("3s").await;
                None
            }
            ("wait", [time]) => {
                self.wait(time).await;
                None
            }
            ("annotate", [kind, name, pairs @ ..]) => {
                let pairs = pairs.iter().map(|pair| match pair.split_once('=') {
                    Some((key, value)) => (key, Value::from(value)),
                    None => (pair.trim_end_matches('-'), Value::Null),
                });
                let annotations: lynceus_object::Map = pairs.collect();
                self.patch(kind, name, "", value!({"metadata": {"annotations": Value::Map(annotations)}}))
                    .await;
                None
            }
            ("patch" | "status", [kind, name]) => {
                let subresource = if command == "status" { "status" } else { "" };
                self.patch(kind, name, subresource, yaml::parse_str(block).unwrap()).await;
                None
            }
            ("delete", [kind, name]) => {
                let (group, plural, namespace, name) = self.place(kind, name);
                let target = Target { group: &group, resource: &plural, namespace: &namespace, name };
                let now = DeleteOptions { grace_seconds: Some(0), ..DeleteOptions::default() };
                self.local.delete(target, &now).await.unwrap();
                self.sim.settle().await;
                None
            }
            ("conditions", [kind, name, path @ ..]) => Some(self.conditions(kind, name, path)),
            ("health", [kind, name]) => {
                Some(match self.find(kind, name).as_ref().map(lynceus_health::check) {
                    None => "not there".to_owned(),
                    Some(Some(health)) => {
                        format!("{} {}", health.status, health.message.trim_end()).trim_end().to_owned()
                    }
                    Some(None) => "none".to_owned(),
                })
            }
            ("show", [kind, name, paths @ ..]) => Some(self.show(kind, name, paths)),
            ("list", [kind]) => Some(self.list(kind)),
            ("events", [name]) => Some(self.events(name)),
            ("told", [name]) => Some(self.events(name).lines().last().unwrap_or_default().to_owned()),
            _ => panic!("{command} {rest} is no command"),
        }
    }

    async fn wait(&self, time: &str) {
        let time: SignedDuration = time.parse().unwrap();
        self.sim.advance(time).await;
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

    async fn patch(&self, kind: &str, name: &str, subresource: &str, patch: Value) {
        let (group, plural, namespace, name) = self.place(kind, name);
        let target = Target { group: &group, resource: &plural, namespace: &namespace, name };
        self.local.patch(target, subresource, PatchKind::Merge, patch).await.unwrap();
        self.sim.settle().await;
    }

    /// Where an object is: its group, the plural name of its kind, its namespace and its name. A name may be
    /// `namespace/name`.
    fn place<'a>(&self, kind: &str, name: &'a str) -> (String, String, String, &'a str) {
        let (group, kind) = kind.rsplit_once('/').unwrap_or(("", kind));
        let registry = self.local.registry();
        let mut found = registry.resources().iter().filter(|one| one.group == group && one.kind == kind);
        let resource = found.next().unwrap_or_else(|| panic!("{group}/{kind} is not served"));
        let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
        let namespace = if resource.namespaced { namespace } else { "" };
        (group.to_owned(), resource.plural.to_string(), namespace.to_owned(), name)
    }

    fn find(&self, kind: &str, name: &str) -> Option<Object> {
        let (group, plural, namespace, name) = self.place(kind, name);
        self.local.get(&group, &plural, &namespace, name)
    }

    /// `Ready=False Reason message`, a line for each condition; of another list than the status's own if there is a path.
    fn conditions(&self, kind: &str, name: &str, path: &[&str]) -> String {
        let Some(object) = self.find(kind, name) else { return "not there".to_owned() };
        let path = path.first().copied().unwrap_or(".status.conditions");
        let found = at(object.value(), path).cloned().unwrap_or(Value::Null);
        let one = |condition: &Value| {
            let text = |field: &str| condition.str_at(&[field]).unwrap_or_default().replace('\n', " ");
            let line = format!("{}={} {} {}", text("type"), text("status"), text("reason"), text("message"));
            line.trim_end().to_owned() + "\n"
        };
        found.as_seq().map(|found| found.iter().map(one).collect()).unwrap_or_default()
    }

    fn show(&self, kind: &str, name: &str, paths: &[&str]) -> String {
        let Some(object) = self.find(kind, name) else { return "not there".to_owned() };
        let one = |path: &&str| match at(object.value(), path) {
            Some(Value::Str(text)) => format!("{path} {}\n", text.replace("\n", " ")),
            Some(value) => format!("{path} {}\n", json::to_string(value)),
            None => format!("{path} none\n"),
        };
        paths.iter().map(one).collect()
    }

    /// The names of all objects of a kind, with those that they belong to. The pods of ReplicaSets have names by chance.
    fn list(&self, kind: &str) -> String {
        let (group, plural, ..) = self.place(kind, "");
        let mut lines: Vec<String> = Vec::new();
        for object in self.local.list(&group, &plural, None) {
            let owner = object.controller().filter(|owner| owner.kind != "ReplicaSet");
            if owner.is_none() && object.controller().is_some() {
                continue;
            }
            let owner = owner.map(|owner| format!(" of {} {}", owner.kind, owner.name));
            if object.namespace().is_empty() || object.namespace() == "default" || owner.is_some() {
                lines.push(format!("{}{}", object.name(), owner.unwrap_or_default()));
            }
        }
        lines.sort();
        lines.join("\n")
    }

    /// What was told about an object, in the order in which it was told last.
    fn events(&self, about: &str) -> String {
        let mut events = self.local.list("", "events", None);
        events.retain(|event| event.value().str_at(&["involvedObject", "name"]) == Some(about));
        events.sort_by_key(|event| event.resource_version().parse::<u64>().unwrap_or_default());
        let text = |event: &Object, field: &str| {
            event.value().str_at(&[field]).unwrap_or_default().replace('\n', " ")
        };
        let one = |event: &Object| {
            format!("{} {}: {}\n", text(event, "type"), text(event, "reason"), text(event, "message"))
        };
        events.iter().map(one).collect()
    }
}

/// The value at a path such as `.spec.ports.0.name`, or `.metadata.labels["a.b/c"]`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut rest = path;
    let mut value = value;
    while !rest.is_empty() {
        let step = match rest.strip_prefix("[\"") {
            Some(quoted) => {
                let (step, after) = quoted.split_once("\"]").unwrap();
                rest = after;
                step
            }
            None => {
                let inner = rest.strip_prefix('.').unwrap();
                let end = inner.find(['.', '[']).unwrap_or(inner.len());
                rest = &inner[end..];
                &inner[..end]
            }
        };
        value = match value {
            Value::Seq(items) => items.get(step.parse::<usize>().ok()?)?,
            value => value.get(step)?,
        };
    }
    Some(value)
}

/// The definition of a kind, `group/version/Kind`: one that takes any fields, with `!` without namespaces and with `~` without a
/// subresource for the status; or that of the operator.
fn definition(kind: &str) -> String {
    let scope = if kind.ends_with('!') { "Cluster" } else { "Namespaced" };
    let subresources = if kind.ends_with('~') { "{}" } else { "{status: {}}" };
    let [group, version, kind] =
        kind.trim_end_matches(['!', '~']).split('/').collect::<Vec<_>>().try_into().unwrap();
    let singular = kind.to_lowercase();
    let plural = match singular.as_str() {
        word if word.ends_with("cy") => format!("{}ies", &word[..word.len() - 1]),
        word if word.ends_with('s') => format!("{word}es"),
        word => format!("{word}s"),
    };
    if let Some(folder) = std::env::var_os("LYNCEUS_DEFINITIONS")
        && let Ok(text) = fs::read_to_string(PathBuf::from(folder).join(format!("{plural}.{group}.yaml")))
    {
        return text;
    }
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
         {plural}.{group}, annotations: {{api-approved.kubernetes.io: unapproved}}}}\nspec:\n  group: {group}\n  scope: {scope}\n  names: {{kind: {kind}, plural: {plural}, \
         singular: {singular}}}\n  versions:\n  - name: {version}\n    served: true\n    storage: true\n    subresources: \
         {subresources}\n    schema:\n      openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: \
         true}}\n"
    )
}
