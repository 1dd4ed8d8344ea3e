//! A cluster that tests speak to in YAML.

use jiff::SignedDuration;
use lynceus_object::{Object, Value, yaml};
use lynceus_sim::view::View;
use lynceus_sim::{ApiError, DeleteOptions, Local, Options, PatchKind, Sim, Stage, Target};

pub(crate) struct Cluster {
    pub(crate) sim: Sim,
    pub(crate) local: Local,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        Cluster::on("").await
    }

    pub(crate) async fn on(stage: &str) -> Self {
        let options = Options::by_hand(Stage::of_keys(stage).unwrap());
        let sim = Sim::start_at_rest(options).await.unwrap();
        Cluster { local: sim.local(), sim }
    }

    /// Creates objects, one after the other, in the namespace `default` where they name none.
    pub(crate) async fn apply(&self, text: &str) {
        for document in text.split("---\n").filter(|text| !text.trim().is_empty()) {
            let mut object = Object::new(yaml::parse_str(document).unwrap()).unwrap();
            let registry = self.local.registry();
            let resource = registry.of_kind(&object.gvk()).unwrap();
            if resource.namespaced && object.namespace().is_empty() {
                object.set(&["metadata", "namespace"], "default");
            }
            self.local.create(&resource.group, &resource.plural, object).await.unwrap();
        }
        self.sim.settle().await;
    }

    pub(crate) async fn pass(&self, seconds: i64) {
        self.sim.advance(SignedDuration::from_secs(seconds)).await;
    }

    /// Merges YAML into an object.
    pub(crate) async fn patch(&self, place: &str, name: &str, patch: &str) -> Result<Object, ApiError> {
        let patch = yaml::parse_str(patch).unwrap();
        let done = self.local.patch(target(place, name), "", PatchKind::Merge, patch).await;
        self.sim.settle().await;
        done
    }

    pub(crate) async fn delete(&self, place: &str, name: &str) {
        self.local.delete(target(place, name), &DeleteOptions::default()).await.unwrap();
        self.sim.settle().await;
    }

    /// Asks for a pod's eviction: what is answered, with its first cause.
    pub(crate) async fn evict(&self, name: &str) -> String {
        match self.local.evict("default", name).await {
            Ok(()) => "evicted".to_owned(),
            Err(error) => {
                let causes = error.details.as_ref().map_or(&[][..], |details| details.items_at(&["causes"]));
                let cause = causes.first().and_then(|cause| cause.str_at(&["message"])).unwrap_or_default();
                format!("{} {} {cause}", error.code, error.message)
            }
        }
    }

    pub(crate) fn find(&self, place: &str, name: &str) -> Option<Object> {
        let Target { group, resource, namespace, name } = target(place, name);
        self.local.get(group, resource, namespace, name)
    }

    pub(crate) fn get(&self, place: &str, name: &str) -> Object {
        self.find(place, name).unwrap_or_else(|| panic!("no {place}/{name}"))
    }

    /// The objects of a place in `default`, or in the whole cluster if they are in no namespace.
    pub(crate) fn list(&self, place: &str) -> Vec<Object> {
        let Target { group, resource, namespace, .. } = target(place, "");
        self.local.list(group, resource, Some(namespace).filter(|namespace| !namespace.is_empty()))
    }

    /// A line for each pod: name, phase, `ready` and `terminating`.
    pub(crate) fn pods(&self) -> Vec<String> {
        self.list("pods").iter().map(pod_line).collect()
    }

    /// What was told of an object, in order: `Reason: message`.
    pub(crate) fn events(&self, about: &str) -> Vec<String> {
        let mut events = self.local.list("", "events", None);
        events.retain(|event| event.value().str_at(&["involvedObject", "name"]) == Some(about));
        events.sort_by_key(|event| event.resource_version().parse::<u64>().unwrap_or_default());
        let text =
            |event: &Object, field: &str| event.value().str_at(&[field]).unwrap_or_default().to_owned();
        events.iter().map(|event| format!("{}: {}", text(event, "reason"), text(event, "message"))).collect()
    }

    /// What was told of an object for one reason.
    pub(crate) fn told(&self, about: &str, reason: &str) -> Vec<String> {
        let start = format!("{reason}: ");
        let events = self.events(about);
        events.iter().filter_map(|line| line.strip_prefix(&start).map(str::to_owned)).collect()
    }
}

fn target<'a>(place: &'a str, name: &'a str) -> Target<'a> {
    let (resource, group) = place.split_once('.').unwrap_or((place, ""));
    let everywhere = [
        "nodes",
        "namespaces",
        "persistentvolumes",
        "storageclasses",
        "csidrivers",
        "apiservices",
        "customresourcedefinitions",
        "validatingadmissionpolicies",
    ];
    let namespace = if everywhere.contains(&resource) { "" } else { "default" };
    Target { group, resource, namespace, name }
}

pub(crate) fn pod_line(pod: &Object) -> String {
    let phase = pod.value().str_at(&["status", "phase"]).unwrap_or_default();
    let ready = if condition(pod, "Ready").starts_with("True") { " ready" } else { "" };
    let going = if pod.is_deleting() { " terminating" } else { "" };
    format!("{} {phase}{ready}{going}", pod.name())
}

/// `True Reason: message`; empty if there is none.
pub(crate) fn condition(object: &Object, type_: &str) -> String {
    let conditions = object.value().items_at(&["status", "conditions"]);
    let Some(found) = conditions.iter().find(|one| one.str_at(&["type"]) == Some(type_)) else {
        return String::new();
    };
    let text = |field: &str| found.str_at(&[field]).unwrap_or_default();
    format!("{} {}: {}", text("status"), text("reason"), text("message"))
}

/// A number of a status.
pub(crate) fn count(object: &Object, field: &str) -> i64 {
    object.at(&["status", field]).and_then(Value::as_int).unwrap_or(0)
}
