//! What pods use and what other metrics are, as the stage and annotations say it.
//!
//! The stage speaks of all pods of an image for the whole run; the annotation `metrics.sim.lynceus.dev/NAME` on an object
//! counts before it and may change at any time. On a pod `NAME` may be a resource: what each of its containers uses.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use lynceus_object::{Object, Quantity, Selector, Str, Value, value};

use crate::crd;
use crate::kinds::Resource;
use crate::stage::Stage;
use crate::view::View;

const PREFIX: &str = "metrics.sim.lynceus.dev/";
/// The resources that metrics-server knows.
const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// The group under which measurements are served.
const GROUP: &str = "metrics.k8s.io";
/// The time that a measurement is about.
const WINDOW: &str = "15s";

/// What is served where pods are measured: what pods and nodes use, to be read and not to be watched.
pub(crate) fn resources() -> &'static [Arc<Resource>] {
    static RESOURCES: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
        [("nodes", "NodeMetrics", "Cluster"), ("pods", "PodMetrics", "Namespaced")]
            .into_iter()
            .flat_map(|(plural, kind, scope)| {
                let names = value!({"plural": plural, "kind": kind, "listKind": format!("{kind}List")});
                let schema = value!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
                let version = value!({
                    "name": "v1beta1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                });
                let definition = value!({
                    "metadata": {"name": format!("{plural}.{GROUP}"), "uid": format!("{plural}.{GROUP}")},
                    "spec": {"group": GROUP, "scope": scope, "names": names, "versions": [version]},
                    "status": {"acceptedNames": names, "conditions": [{"type": "Established", "status": "True"}]},
                });
                Object::new(definition).map(|definition| crd::resources(&definition)).unwrap_or_default()
            })
            .map(|resource| Arc::new(Resource { verbs: &["get", "list"], ..(*resource).clone() }))
            .collect()
    });
    &RESOURCES
}

/// What a container uses in thousandths, by resource.
pub(crate) type Usage = BTreeMap<Str, i64>;

/// Reads metrics, as they are at one point in time.
pub(crate) struct Meter<'a> {
    stage: &'a Stage,
    view: &'a dyn View,
    /// How many containers share what the stage says of an entry, by its place and the namespace.
    sharing: RefCell<BTreeMap<(usize, Str), i64>>,
}

impl<'a> Meter<'a> {
    /// Metrics as a stage and what is stored have them.
    pub(crate) fn new(stage: &'a Stage, view: &'a dyn View) -> Self {
        Meter { stage, view, sharing: RefCell::default() }
    }

    /// Whether there is somebody who measures pods at all.
    pub(crate) fn measures_pods(&self) -> bool {
        self.stage.measures_pods()
    }

    /// What the containers of a running pod use, each with its name; nothing if nobody says anything of the pod.
    pub(crate) fn of_pod(&self, pod: &Object) -> Vec<(Str, Usage)> {
        if pod.value().str_at(&["status", "phase"]) != Some("Running") {
            return Vec::new();
        }
        let said: Usage = RESOURCES
            .into_iter()
            .filter_map(|name| Some((name.into(), annotated(pod, name)?.milli_value())))
            .collect();
        let mut known = !said.is_empty();
        let mut out = Vec::new();
        for (name, image) in running(pod) {
            let mut usage: Usage = RESOURCES.into_iter().map(|resource| (resource.into(), 0)).collect();
            if let Some(at) = self.script(image, name) {
                let script = &self.stage.scripts[at];
                known |= !script.uses.is_empty() || !script.shares.is_empty();
                for (resource, amount) in &script.uses {
                    *usage.entry(resource.clone()).or_default() += amount.milli_value();
                }
                for (resource, amount) in script.shares.iter().filter(|_| is_ready(pod, name)) {
                    let parts = self.ready_containers(at, pod.namespace()).max(1);
                    *usage.entry(resource.clone()).or_default() += amount.milli_value() / parts;
                }
            }
            usage.extend(said.clone());
            out.push((Str::from(name), usage));
        }
        if known { out } else { Vec::new() }
    }

    /// The measurements of a resource, if it is one of measurements.
    pub(crate) fn served(&self, resource: &Resource, namespace: &str, now: Timestamp) -> Option<Vec<Object>> {
        if resource.group != GROUP {
            return None;
        }
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        let pods = self.view.list("", "pods", namespace);
        let shown = |of: &Object, fields: Value| {
            let time = crate::clock::text(now);
            let mut out = value!({
                "kind": resource.kind.as_str(), "apiVersion": resource.api_version().as_str(),
                "metadata": {"name": of.name(), "creationTimestamp": time.as_str()}, "timestamp": time.as_str(), "window": WINDOW,
            });
            for field in ["namespace", "labels"] {
                if let Some(value) = of.at(&["metadata", field]) {
                    out.set(&["metadata", field], value.clone());
                }
            }
            for (field, value) in fields.as_map().into_iter().flat_map(|map| map.iter()) {
                out.set(&[field], value.clone());
            }
            Object::new(out).ok()
        };
        if resource.plural == "pods" {
            let of_pod = |pod: &Object| {
                let containers: Vec<Value> = self
                    .of_pod(pod)
                    .iter()
                    .map(|(name, usage)| value!({"name": name.as_str(), "usage": usage_text(usage)}))
                    .collect();
                if containers.is_empty() { None } else { shown(pod, value!({"containers": containers})) }
            };
            return Some(pods.iter().filter_map(of_pod).collect());
        }
        let of_node = |node: &Object| {
            let here = |pod: &&Object| pod.value().str_at(&["spec", "nodeName"]) == Some(node.name());
            let mut total: Usage = RESOURCES.into_iter().map(|resource| (resource.into(), 0)).collect();
            for (_, usage) in pods.iter().filter(here).flat_map(|pod| self.of_pod(pod)) {
                usage.into_iter().for_each(|(name, amount)| *total.entry(name).or_default() += amount);
            }
            shown(node, value!({"usage": usage_text(&total)}))
        };
        Some(self.view.list("", "nodes", None).iter().filter_map(of_node).collect())
    }

    /// What stands in the stage about a container, by its place there.
    fn script(&self, image: &str, container: &str) -> Option<usize> {
        let found = self.stage.script(image, container)?;
        self.stage.scripts.iter().position(|script| std::ptr::eq(script, found))
    }

    fn ready_containers(&self, script: usize, namespace: &str) -> i64 {
        let key = (script, Str::from(namespace));
        if let Some(known) = self.sharing.borrow().get(&key) {
            return *known;
        }
        let count = self.count_ready(script, namespace);
        self.sharing.borrow_mut().insert(key, count);
        count
    }

    fn count_ready(&self, script: usize, namespace: &str) -> i64 {
        let pods = self.view.list("", "pods", Some(namespace));
        let of_pod = |pod: &Object| {
            let fits = |(name, image): &(&str, &str)| {
                is_ready(pod, name) && self.script(image, name) == Some(script)
            };
            running(pod).filter(fits).count()
        };
        pods.iter().map(of_pod).sum::<usize>() as i64
    }

    /// Whether there is somebody who knows metrics of objects.
    pub(crate) fn knows_objects(&self) -> bool {
        self.stage.metrics.iter().any(|metric| metric.is_of_objects())
    }

    /// Whether there is somebody who knows metrics from outside.
    pub(crate) fn knows_outside(&self) -> bool {
        self.stage.metrics.iter().any(|metric| !metric.is_of_objects())
    }

    /// A metric of an object, in thousandths.
    pub(crate) fn of_object(&self, name: &str, object: &Object) -> Option<i64> {
        let said = annotated(object, name);
        let staged = || {
            let metrics = self.stage.metrics.iter();
            let mut fitting = metrics
                .filter(|metric| metric.is_for(name, object.kind(), object.namespace(), object.name()));
            fitting.next().map(|metric| metric.value)
        };
        said.or_else(staged).map(|value| value.milli_value())
    }

    /// What a metric from outside is, in thousandths: each that fits. What the one who asks carries counts before it.
    pub(crate) fn outside(&self, name: &str, asking: &Object, selector: &Selector) -> Vec<i64> {
        if let Some(said) = annotated(asking, name) {
            return vec![said.milli_value()];
        }
        let metrics = self.stage.metrics.iter();
        let fitting = metrics.filter(|metric| metric.is_outside(name, asking.namespace(), selector));
        fitting.map(|metric| metric.value.milli_value()).collect()
    }
}

fn usage_text(usage: &Usage) -> Value {
    Value::Map(usage.iter().map(|(name, amount)| (name.clone(), amount_text(name, *amount))).collect())
}

fn annotated(object: &Object, name: &str) -> Option<Quantity> {
    object.annotation(&format!("{PREFIX}{name}")).and_then(|text| Quantity::parse(text).ok())
}

/// The containers that run, with their images.
fn running(pod: &Object) -> impl Iterator<Item = (&str, &str)> {
    let statuses = |list: &'static str| pod.value().items_at(&["status", list]).iter();
    let running = |status: &&Value| status.at(&["state", "running"]).is_some();
    statuses("initContainerStatuses")
        .chain(statuses("containerStatuses"))
        .filter(running)
        .filter_map(|status| Some((status.str_at(&["name"])?, status.str_at(&["image"])?)))
}

fn is_ready(pod: &Object, container: &str) -> bool {
    let statuses = pod.value().items_at(&["status", "containerStatuses"]);
    let found = statuses.iter().find(|status| status.str_at(&["name"]) == Some(container));
    found.is_some_and(|status| status.bool_at(&["ready"]) == Some(true))
}

/// Thousandths as metrics-server and autoscalers print them: memory in powers of 1024 where that is exact.
pub(crate) fn amount_text(resource: &str, milli: i64) -> String {
    const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let bytes = milli / 1000;
    if resource == "memory" && milli % 1000 == 0 && bytes.abs() >= 1024 {
        let divides = |power: &usize| bytes % 1024_i64.pow(*power as u32) == 0;
        let power = (0..SUFFIXES.len()).take_while(divides).last().unwrap_or(0);
        return format!("{}{}", bytes / 1024_i64.pow(power as u32), SUFFIXES[power]);
    }
    Quantity::parse(&format!("{milli}m")).map_or_else(|_| "0".to_owned(), |amount| amount.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_printed_as_the_original_prints_them() {
        for (resource, milli, text) in [
            ("cpu", 80, "80m"),
            ("cpu", 2000, "2"),
            ("memory", 100 * 1024 * 1024 * 1000, "100Mi"),
            ("memory", 1_000_000, "1k"),
            ("memory", 3 * 1024 * 1000, "3Ki"),
            ("memory", 1025 * 1000, "1025"),
            ("queue", 0, "0"),
        ] {
            assert_eq!(amount_text(resource, milli), text);
        }
    }
}
