//! Machines that every pod fits on: with the labels that pods select by and the devices that they ask for, and without taints.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::{Quantity, Str, Value};
use lynceus_sim::stage::Pool;

use super::pod::{containers, each};
use super::{Assumed, Needs, Sort};
use crate::survey::Survey;

/// What a pod selects machines by.
type Labels = BTreeMap<String, String>;

/// What each machine has of everything that is counted.
const PLENTY: &str = "1024";

/// Resources that every machine has anyway.
const USUAL: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pods"];

pub(crate) fn assume(surveys: &[&Survey], assumed: &mut Assumed, needs: &mut Needs) {
    if assumed.stage.pools.is_some() {
        return;
    }
    let mut wanted: BTreeSet<Labels> = BTreeSet::from([Labels::new()]);
    let mut devices: BTreeSet<String> = BTreeSet::new();
    each(surveys, |key, _, pod| {
        needs.add(Sort::Nodes, "three nodes with room for everything", key);
        let labels = selected(pod);
        if !labels.is_empty() {
            needs.add(Sort::Nodes, format!("nodes with {}", shown(&labels)), key);
            wanted.insert(labels);
        }
        for device in counted(pod) {
            needs.add(Sort::Nodes, format!("nodes with {device}"), key);
            devices.insert(device);
        }
    });
    let pool = |(at, labels): (usize, Labels)| pool(at, labels, &devices);
    assumed.stage.pools = Some(wanted.into_iter().enumerate().map(pool).collect());
}

/// The labels that a machine needs for a pod: those of its selector, and the first way that its affinity leaves.
fn selected(pod: &Value) -> Labels {
    let selector = pod.at(&["nodeSelector"]).and_then(Value::as_map);
    let pairs = selector.into_iter().flat_map(|map| map.iter());
    let mut labels: Labels =
        pairs.filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect();
    let terms = pod.items_at(&[
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ]);
    for rule in terms.first().map(|term| term.items_at(&["matchExpressions"])).unwrap_or_default() {
        let (Some(key), Some(operator)) = (rule.str_at(&["key"]), rule.str_at(&["operator"])) else {
            continue;
        };
        let first = rule.items_at(&["values"]).first().and_then(Value::as_str).unwrap_or_default();
        let value = match operator {
            "In" => first.to_owned(),
            "Exists" => "true".to_owned(),
            "Gt" => first.parse::<i64>().map_or_else(|_| String::new(), |least| (least + 1).to_string()),
            "Lt" => first.parse::<i64>().map_or_else(|_| String::new(), |most| (most - 1).to_string()),
            _ => continue,
        };
        labels.entry(key.to_owned()).or_insert(value);
    }
    labels
}

/// The resources that only some machines have, such as `nvidia.com/gpu`.
fn counted(pod: &Value) -> BTreeSet<String> {
    let parts = containers(pod).flat_map(|container| {
        ["requests", "limits"].into_iter().filter_map(|list| container.at(&["resources", list])?.as_map())
    });
    let is_asked = |amount: &Value| match amount {
        Value::Str(text) => Quantity::parse(text).is_ok_and(|amount| !amount.is_zero()),
        other => other.as_int().is_some_and(|amount| amount > 0),
    };
    parts
        .flat_map(|map| map.iter())
        .filter(|(name, amount)| !USUAL.contains(&name.as_str()) && is_asked(amount))
        .map(|(name, _)| name.to_string())
        .collect()
}

fn pool(at: usize, labels: Labels, devices: &BTreeSet<String>) -> Pool {
    let (mut zones, mut architecture) =
        (["sim-a", "sim-b", "sim-c"].map(Str::from).to_vec(), Str::from("amd64"));
    let mut own = Vec::new();
    for (key, value) in labels {
        match key.as_str() {
            "topology.kubernetes.io/zone" => zones = vec![value.into()],
            "kubernetes.io/arch" => architecture = value.into(),
            _ => own.push((key.into(), value.into())),
        }
    }
    let room = [("cpu", "512"), ("memory", "4Ti"), ("ephemeral-storage", "16Ti"), ("pods", "5000")];
    let room = room.into_iter().map(|(name, amount)| (name.into(), amount.into()));
    let devices = devices.iter().map(|name| (name.as_str().into(), PLENTY.into()));
    Pool {
        name: if at == 0 { "node".into() } else { format!("node-{at}").into() },
        count: 3,
        capacity: room.chain(devices).collect(),
        labels: own,
        taints: Vec::new(),
        architecture,
        zones,
        volume_limit: None,
    }
}

fn shown(labels: &Labels) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}
