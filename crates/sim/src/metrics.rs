//! What pods use and what other metrics are, as the stage and annotations say it.
//!
//! The stage speaks of all pods of an image for the whole run; the annotation `metrics.sim.lynceus.dev/NAME` on an object
//! counts before it and may change at any time. On a pod `NAME` may be a resource: what each of its containers uses.

use std::collections::BTreeMap;

use lynceus_object::{Object, Quantity, Selector, Str, Value};

use crate::stage::Stage;
use crate::view::View;

const PREFIX: &str = "metrics.sim.lynceus.dev/";
/// The resources that metrics-server knows.
const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// What a container uses in thousandths, by resource.
pub(crate) type Usage = BTreeMap<Str, i64>;

/// Reads metrics.
pub(crate) struct Meter<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) view: &'a dyn View,
}

impl Meter<'_> {
    /// Whether there is somebody who measures pods at all.
    pub(crate) fn measures_pods(&self) -> bool {
        self.stage.scripts.iter().any(|script| !script.uses.is_empty() || !script.shares.is_empty())
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

    /// What stands in the stage about a container, by its place there.
    fn script(&self, image: &str, container: &str) -> Option<usize> {
        let found = self.stage.script(image, container)?;
        self.stage.scripts.iter().position(|script| std::ptr::eq(script, found))
    }

    fn ready_containers(&self, script: usize, namespace: &str) -> i64 {
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
            let mut fitting =
                metrics.filter(|metric| metric.is_for(name, object.kind(), object.namespace(), object.name()));
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
