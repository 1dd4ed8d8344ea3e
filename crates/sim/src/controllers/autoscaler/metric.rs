//! What each metric of an autoscaler says: how many replicas it takes, or why it says nothing.

use lynceus_object::{Gvk, Object, Selector, Str, Value, value};

use super::count::{self, Count, Found, Goal, PodUse, Tolerance};
use crate::controllers::world::World;
use crate::kinds::amount_of;
use crate::metrics::{Meter, amount_text};
use crate::view::View;

/// What a metric says.
pub(super) struct Proposal {
    pub(super) replicas: i64,
    /// What the autoscaler calls it when it acts on it.
    pub(super) name: String,
    /// What it shows of it in `currentMetrics`.
    pub(super) status: Value,
}

/// Why a metric says nothing.
pub(super) struct Failure {
    pub(super) reason: &'static str,
    /// What event and condition say.
    pub(super) why: String,
    /// The same in what is said of all metrics together.
    pub(super) summary: String,
}

/// An autoscaler with its workload.
pub(super) struct Query<'a> {
    pub(super) scaler: &'a Object,
    /// How many replicas the workload is to have.
    pub(super) wanted: i64,
    /// How many it has.
    pub(super) present: i64,
    /// The pods that its selector finds.
    pub(super) pods: &'a [Object],
    pub(super) world: &'a World<'a>,
}

impl Query<'_> {
    /// What one metric says.
    pub(super) fn ask(&self, metric: &Value) -> Result<Proposal, Failure> {
        let part = |field: &str| metric.get(field).unwrap_or(&Value::Null);
        match metric.str_at(&["type"]).unwrap_or_default() {
            "Resource" => self.resource(part("resource"), None),
            "ContainerResource" => {
                let source = part("containerResource");
                self.resource(source, source.str_at(&["container"]))
            }
            "Pods" => self.of_pods(part("pods")),
            "Object" => self.of_object(part("object")),
            "External" => self.external(part("external")),
            other => {
                let why = format!("unknown metric source type {other:?}");
                Err(Failure { reason: "InvalidMetricSourceType", summary: why.clone(), why })
            }
        }
    }

    fn meter(&self) -> Meter<'_> {
        Meter::new(self.world.local.stage(), self.world.local)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::of(self.scaler)
    }

    fn count(&self, is_cpu: bool) -> Count<'_> {
        let tolerance = self.tolerance();
        Count { current: self.wanted, pods: self.pods, is_cpu, tolerance, now: self.world.now }
    }

    fn resource(&self, source: &Value, container: Option<&str>) -> Result<Proposal, Failure> {
        let name = source.str_at(&["name"]).unwrap_or_default();
        let average = source.at(&["target", "averageValue"]).and_then(amount_of);
        let percent = source.int_at(&["target", "averageUtilization"]);
        let failed = |what: &str, why: String| {
            let why = format!("failed to get {name} {what}: {why}");
            match container {
                None => Failure {
                    reason: "FailedGetResourceMetric",
                    summary: format!("failed to get {name} resource metric value: {why}"),
                    why,
                },
                Some(container) => Failure {
                    reason: "FailedGetContainerResourceMetric",
                    summary: format!("failed to get {container} container metric value: {why}"),
                    why,
                },
            }
        };
        let what = if average.is_some() { "usage" } else { "utilization" };
        let goal = || match (average, percent) {
            (Some(average), _) => Ok(Goal::Average(average.milli_value())),
            (None, percent) => {
                let requests = count::requests(self.pods, name, container)?;
                Ok(Goal::Percent { percent: percent.unwrap_or(80), requests })
            }
        };
        let uses = self.pod_use(name, container);
        let uses = uses.map_err(|why| format!("unable to get metrics for resource {name}: {why}"));
        let wanted = uses.and_then(|uses| self.count(name == "cpu").wanted(uses, goal));
        let (replicas, found) = wanted.map_err(|why| failed(what, why))?;
        let Found { percent: used, average: each, .. } = found;
        let (called, current) = match (average, container) {
            (Some(_), _) => (format!("{name} resource"), value!({"averageValue": amount_text(name, each)})),
            (None, container) => {
                let of = if container.is_some() { "container resource" } else { "resource" };
                let current = value!({"averageUtilization": used, "averageValue": amount_text(name, each)});
                (format!("{name} {of} utilization (percentage of request)"), current)
            }
        };
        let status = match container {
            None => value!({"type": "Resource", "resource": {"name": name, "current": current}}),
            Some(container) => value!({
                "type": "ContainerResource",
                "containerResource": {"name": name, "container": container, "current": current},
            }),
        };
        Ok(Proposal { replicas, name: called, status })
    }

    /// What the pods use of a resource, as metrics-server would say it.
    fn pod_use(&self, resource: &str, container: Option<&str>) -> Result<PodUse, String> {
        let meter = self.meter();
        let measured: Vec<_> = self
            .pods
            .iter()
            .map(|pod| (Str::from(pod.name()), meter.of_pod(pod)))
            .filter(|(_, containers)| !containers.is_empty())
            .collect();
        if measured.is_empty() && !meter.measures_pods() {
            return Err(
                "unable to fetch metrics from resource metrics API: the server could not find the requested \
                        resource (get pods.metrics.k8s.io)"
                    .into(),
            );
        }
        if measured.is_empty() {
            return Err("no metrics returned from resource metrics API".into());
        }
        let of_pod = |containers: Vec<(Str, crate::metrics::Usage)>| -> Option<i64> {
            match container {
                Some(wanted) => containers.iter().find(|(name, _)| name == wanted)?.1.get(resource).copied(),
                None => containers.iter().map(|(_, usage)| usage.get(resource).copied()).sum(),
            }
        };
        Ok(measured.into_iter().filter_map(|(pod, uses)| Some((pod, of_pod(uses)?))).collect())
    }

    fn of_pods(&self, source: &Value) -> Result<Proposal, Failure> {
        let name = source.str_at(&["metric", "name"]).unwrap_or_default();
        let meter = self.meter();
        let uses: PodUse = self
            .pods
            .iter()
            .filter_map(|pod| Some((Str::from(pod.name()), meter.of_object(name, pod)?)))
            .collect();
        let uses = match uses.is_empty() {
            true => Err(format!("unable to get metric {name}: {}", no_custom(&meter, name, "pods"))),
            false => Ok(uses),
        };
        let average = source.at(&["target", "averageValue"]).and_then(amount_of);
        let goal = || Ok(Goal::Average(average.map_or(1000, |average| average.milli_value())));
        let wanted = uses.and_then(|uses| self.count(false).wanted(uses, goal));
        let (replicas, found) = wanted.map_err(|why| Failure {
            reason: "FailedGetPodsMetric",
            summary: format!("failed to get pods metric value: {why}"),
            why,
        })?;
        let current = value!({"averageValue": amount_text("", found.average)});
        let status = value!({"type": "Pods", "pods": {"metric": identifier(source), "current": current}});
        Ok(Proposal { replicas, name: format!("pods metric {name}"), status })
    }

    fn of_object(&self, source: &Value) -> Result<Proposal, Failure> {
        let name = source.str_at(&["metric", "name"]).unwrap_or_default();
        let described = source.get("describedObject").cloned().unwrap_or_default();
        let word = |field: &str| described.str_at(&[field]).unwrap_or_default();
        let (kind, object) = (word("kind"), word("name"));
        let namespace = self.scaler.namespace();
        let used = self.described(name, &described).map_err(|why| {
            // The original puts the words of this message into the wrong places.
            format!("unable to get metric {name}: {kind} on {namespace} {object}/{why}")
        });
        let target = source.get("target").unwrap_or(&Value::Null);
        let amount = |field: &str| target.get(field).and_then(amount_of);
        let failed = |why: String, outer: String| Failure {
            reason: "FailedGetObjectMetric",
            summary: format!("failed to get object metric value: {outer}"),
            why,
        };
        let (replicas, called, current) = match (
            target.str_at(&["type"]),
            amount("value"),
            amount("averageValue"),
        ) {
            (Some("Value"), Some(goal), _) => {
                let counted = used.and_then(|used| Ok((self.by_ratio(used, goal.milli_value())?, used)));
                let (replicas, used) = counted.map_err(|why| failed(why.clone(), why))?;
                (replicas, format!("{kind} metric {name}"), value!({"value": amount_text("", used)}))
            }
            (Some("AverageValue"), _, Some(goal)) => {
                let used = used.map_err(|why| {
                    failed(why.clone(), format!("failed to get {name} object metric: {why}"))
                })?;
                let (replicas, each) = self.per_pod(used, goal.milli_value());
                let called = format!("external metric {name}({})", shown(source));
                (replicas, called, value!({"averageValue": amount_text("", each)}))
            }
            _ => {
                let why = "invalid object metric source: neither a value target nor an average value target was set";
                return Err(failed(why.into(), why.into()));
            }
        };
        let status = value!({
            "type": "Object",
            "object": {"describedObject": described, "metric": identifier(source), "current": current},
        });
        Ok(Proposal { replicas, name: called, status })
    }

    /// A metric of the object that is named; a namespace stands for the autoscaler's own.
    fn described(&self, metric: &str, reference: &Value) -> Result<i64, String> {
        let word = |field: &str| reference.str_at(&[field]).unwrap_or_default();
        let gvk = Gvk::from_manifest(word("apiVersion"), word("kind"));
        let registry = self.world.local.registry();
        let resource = registry
            .resources()
            .iter()
            .find(|resource| resource.group == gvk.group && resource.kind == gvk.kind)
            .ok_or_else(|| {
                let group_kind = [gvk.kind.as_str(), gvk.group.as_str()].join(".");
                format!(
                    "unable to fetch metrics from custom metrics API: unable to map kind {} to resource: no matches for \
                     kind {:?} in group {:?}",
                    group_kind.trim_end_matches('.'),
                    gvk.kind,
                    gvk.group
                )
            })?;
        let own = self.scaler.namespace();
        let (namespace, name) = match (resource.namespaced, resource.plural.as_str()) {
            (true, _) => (own, word("name")),
            (false, "namespaces") => ("", own),
            (false, _) => ("", word("name")),
        };
        let meter = self.meter();
        let object = self.world.local.get(&resource.group, &resource.plural, namespace, name);
        let found = object.and_then(|object| meter.of_object(metric, &object));
        found.ok_or_else(|| {
            let what = format!("{} {name}", resource.qualified());
            no_custom(&meter, metric, &what)
        })
    }

    fn external(&self, source: &Value) -> Result<Proposal, Failure> {
        let name = source.str_at(&["metric", "name"]).unwrap_or_default();
        let average = source.at(&["target", "averageValue"]).and_then(amount_of);
        let total = source.at(&["target", "value"]).and_then(amount_of);
        let failed = |why: String, outer: &str| Failure {
            reason: "FailedGetExternalMetric",
            summary: format!("failed to get {name} external metric value: {outer}: {why}"),
            why,
        };
        let used = self.outside(name, source);
        let (replicas, current) = match (average, total) {
            (Some(goal), _) => {
                let used =
                    used.map_err(|why| failed(why, &format!("failed to get {name} external metric")))?;
                let (replicas, each) = self.per_pod(used, goal.milli_value());
                (replicas, value!({"averageValue": amount_text("", each)}))
            }
            (None, goal) => {
                let goal = goal.map_or(1000, |goal| goal.milli_value());
                let counted = used.and_then(|used| Ok((self.by_ratio(used, goal)?, used)));
                let (replicas, used) =
                    counted.map_err(|why| failed(why, &format!("failed to get external metric {name}")))?;
                (replicas, value!({"value": amount_text("", used)}))
            }
        };
        let status =
            value!({"type": "External", "external": {"metric": identifier(source), "current": current}});
        Ok(Proposal { replicas, name: format!("external metric {name}({})", shown(source)), status })
    }

    fn outside(&self, name: &str, source: &Value) -> Result<i64, String> {
        let meter = self.meter();
        let selector = source.at(&["metric", "selector"]).filter(|selector| !selector.is_null());
        let selector = match selector {
            Some(selector) => Selector::from_object(Some(selector)).map_err(|error| error.to_string())?,
            None => Selector::from_labels([]),
        };
        let found = meter.outside(name, self.scaler, &selector);
        if !found.is_empty() {
            return Ok(found.into_iter().fold(0, i64::saturating_add));
        }
        let why = match meter.knows_outside() {
            true => "no metrics returned from external metrics API".to_owned(),
            false => format!(
                "unable to fetch metrics from external metrics API: the server could not find the requested resource \
                 (get {name}.external.metrics.k8s.io)"
            ),
        };
        Err(format!(
            "unable to get external metric {}/{name}/{}: {why}",
            self.scaler.namespace(),
            shown(source)
        ))
    }

    /// How many replicas it takes for something that all of them share.
    fn by_ratio(&self, used: i64, goal: i64) -> Result<i64, String> {
        let ratio = used as f64 / goal as f64;
        if self.wanted == 0 {
            return Ok(ratio.ceil() as i64);
        }
        if self.tolerance().covers(ratio) {
            return Ok(self.wanted);
        }
        Ok((ratio * count::ready(self.pods)? as f64).ceil().min(f64::from(i32::MAX)) as i64)
    }

    /// How many replicas it takes for each to have so much, and how much each has now.
    fn per_pod(&self, used: i64, goal: i64) -> (i64, i64) {
        let ratio = used as f64 / (goal as f64 * self.present as f64);
        let replicas = match self.tolerance().covers(ratio) {
            true => self.present,
            false => (used as f64 / goal as f64).ceil().min(f64::from(i32::MAX)) as i64,
        };
        (replicas, (used as f64 / self.present as f64).ceil() as i64)
    }
}

fn no_custom(meter: &Meter<'_>, metric: &str, of: &str) -> String {
    let why = match meter.knows_objects() {
        true => format!("the server could not find the metric {metric} for {of}"),
        false => "no custom metrics API (custom.metrics.k8s.io) registered".to_owned(),
    };
    format!("unable to fetch metrics from custom metrics API: {why}")
}

fn identifier(source: &Value) -> Value {
    source.get("metric").cloned().unwrap_or_default()
}

/// The selector of a metric as the original's messages show it.
fn shown(source: &Value) -> String {
    let Some(selector) = source.at(&["metric", "selector"]).filter(|selector| !selector.is_null()) else {
        return "nil".to_owned();
    };
    let labels = selector.get("matchLabels").and_then(Value::as_map);
    let labels: String = labels
        .into_iter()
        .flat_map(|map| map.iter())
        .map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default()))
        .collect();
    let expressions: String = selector
        .items_at(&["matchExpressions"])
        .iter()
        .map(|one| {
            let word = |field: &str| one.str_at(&[field]).unwrap_or_default();
            let values: Vec<&str> = one.items_at(&["values"]).iter().filter_map(Value::as_str).collect();
            let (key, operator, values) = (word("key"), word("operator"), values.join(" "));
            format!("LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},")
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}
