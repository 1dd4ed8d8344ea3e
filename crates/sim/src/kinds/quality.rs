//! How well a pod is treated when resources run short.

use std::collections::BTreeMap;

use lynceus_object::{Quantity, Value};

type Amounts = BTreeMap<String, Quantity>;

/// `BestEffort`, `Burstable` or `Guaranteed`.
pub(crate) fn class(pod: &Value) -> &'static str {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut guaranteed = true;
    let mut count = |resources: Option<&Value>| {
        add(&mut requests, resources.and_then(|resources| resources.get("requests")));
        let limited = add(&mut limits, resources.and_then(|resources| resources.get("limits")));
        guaranteed &= limited == 2;
    };
    match pod.at(&["spec", "resources"]).filter(|resources| !resources.is_empty()) {
        Some(whole) => count(Some(whole)),
        None => {
            for list in ["containers", "initContainers"] {
                pod.items_at(&["spec", list]).iter().for_each(|container| count(container.get("resources")));
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if guaranteed && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Adds what counts, and says how many resources that were.
fn add(total: &mut Amounts, amounts: Option<&Value>) -> usize {
    let mut counted = 0;
    for name in ["cpu", "memory"] {
        let amount = amounts.and_then(|amounts| amount_of(amounts.get(name)?));
        if let Some(amount) = amount.filter(|amount| *amount > Quantity::ZERO) {
            let sum = total.entry(name.to_owned()).or_insert(Quantity::ZERO);
            *sum = *sum + amount;
            counted += 1;
        }
    }
    counted
}

/// A quantity, written as a text or as a number.
pub(crate) fn amount_of(value: &Value) -> Option<Quantity> {
    match value {
        Value::Str(text) => Quantity::parse(text).ok(),
        Value::Int(number) => Quantity::parse(&number.to_string()).ok(),
        Value::Float(number) => Quantity::parse(&number.to_string()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn a_pod_is_classed_by_its_requests_and_limits() {
        for (resources, expected) in [
            (value!({}), "BestEffort"),
            (value!({"requests": {"cpu": "1"}}), "Burstable"),
            (value!({"requests": {"cpu": "0"}}), "BestEffort"),
            (
                value!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}}),
                "Guaranteed",
            ),
            (value!({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}), "Burstable"),
            (value!({"requests": {"example.org/gpu": "1"}}), "BestEffort"),
        ] {
            let pod = value!({"spec": {"containers": [{"resources": resources}]}});
            assert_eq!(class(&pod), expected, "{pod:?}");
        }
    }
}
