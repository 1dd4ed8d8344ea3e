//! RuntimeClasses: what it costs to run a pod in another way, and where that can be done.

use lynceus_object::{Object, Value};

use super::usage::amounts;
use crate::ApiError;
use crate::view::View;

fn refuse(pod: &Object, why: &str) -> ApiError {
    ApiError::forbidden("", "pods", pod.name(), why)
}

const DIFFERS: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/// The class that a pod names; an error if there is none of that name.
fn class_of(pod: &Object, view: &dyn View) -> Result<Option<Object>, ApiError> {
    let Some(name) = pod.value().str_at(&["spec", "runtimeClassName"]) else { return Ok(None) };
    match view.get("node.k8s.io", "runtimeclasses", "", name) {
        Some(class) => Ok(Some(class)),
        None => Err(refuse(pod, &format!("pod rejected: RuntimeClass {name:?} not found"))),
    }
}

fn overhead(class: Option<&Object>) -> Option<&Value> {
    class?.at(&["overhead", "podFixed"]).filter(|overhead| !overhead.is_empty())
}

fn is_same(pod: &Object, wanted: &Value) -> bool {
    amounts(pod.at(&["spec", "overhead"])) == amounts(Some(wanted))
}

/// Adds what a pod's class says to a new pod.
pub(super) fn admit(pod: &mut Object, view: &dyn View) -> Result<(), ApiError> {
    let Some(class) = class_of(pod, view)? else { return Ok(()) };
    if let Some(wanted) = overhead(Some(&class)) {
        let own = pod.at(&["spec", "overhead"]).is_some_and(|own| !own.is_empty());
        if own && !is_same(pod, wanted) {
            return Err(refuse(pod, DIFFERS));
        }
        pod.set(&["spec", "overhead"], wanted.clone());
    }
    let labels = class.at(&["scheduling", "nodeSelector"]).and_then(Value::as_map);
    for (key, value) in labels.into_iter().flat_map(|labels| labels.iter()) {
        let wanted = value.as_str().unwrap_or_default();
        match pod.value().str_at(&["spec", "nodeSelector", key]) {
            Some(own) if own != wanted => {
                let why = format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted}; pod.spec.nodeSelector[{key}] = {own}"
                );
                return Err(refuse(pod, &why));
            }
            _ => pod.set(&["spec", "nodeSelector", key], wanted),
        }
    }
    let added = class.value().items_at(&["scheduling", "tolerations"]);
    if !added.is_empty() {
        let all: Vec<Value> =
            pod.value().items_at(&["spec", "tolerations"]).iter().chain(added).cloned().collect();
        pod.set(&["spec", "tolerations"], merged(&all));
    }
    Ok(())
}

/// Checks that a new pod has the overhead of its class and no other, whoever changed it since.
pub(crate) fn check(pod: &Object, view: &dyn View) -> Result<(), ApiError> {
    let class = class_of(pod, view)?;
    match overhead(class.as_ref()) {
        Some(wanted) if !is_same(pod, wanted) => Err(refuse(pod, DIFFERS)),
        None if pod.at(&["spec", "overhead"]).is_some_and(|own| !own.is_null()) => {
            let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
            Err(refuse(pod, why))
        }
        _ => Ok(()),
    }
}

/// Tolerations without those that another one covers.
fn merged(all: &[Value]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let later = all.iter().skip(at + 1).any(|other| other != one && covers(other, one));
        if !later && !out.iter().any(|known| covers(known, one)) {
            out.push(one.clone());
        }
    }
    out
}

/// Whether whatever a toleration tolerates is tolerated by another.
fn covers(wide: &Value, narrow: &Value) -> bool {
    let word = |of: &Value, field: &str| of.str_at(&[field]).unwrap_or_default().to_owned();
    let operator = |of: &Value| match word(of, "operator").as_str() {
        "" => "Equal".to_owned(),
        other => other.to_owned(),
    };
    if wide == narrow {
        return true;
    }
    let everything = word(wide, "key").is_empty() && operator(wide) == "Exists";
    if word(wide, "key") != word(narrow, "key") && !everything {
        return false;
    }
    if word(wide, "effect") != word(narrow, "effect") && !word(wide, "effect").is_empty() {
        return false;
    }
    let seconds = |of: &Value| of.int_at(&["tolerationSeconds"]);
    if word(wide, "effect") == "NoExecute"
        && let Some(longest) = seconds(wide)
        && seconds(narrow).is_none_or(|own| own > longest)
    {
        return false;
    }
    match operator(wide).as_str() {
        "Exists" => true,
        "Equal" => operator(narrow) == "Equal" && word(wide, "value") == word(narrow, "value"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    struct Classes(Value);

    impl View for Classes {
        fn get(&self, _: &str, _: &str, _: &str, name: &str) -> Option<Object> {
            (name == "vm").then(|| Object::new(self.0.clone()).unwrap())
        }

        fn list(&self, _: &str, _: &str, _: Option<&str>) -> Vec<Object> {
            Vec::new()
        }
    }

    fn admitted(class: Value, spec: Value) -> Result<Value, String> {
        let mut pod = Object::new(value!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
        let view = Classes(class);
        admit(&mut pod, &view).map_err(|error| error.message)?;
        check(&pod, &view).map_err(|error| error.message)?;
        Ok(pod.at(&["spec"]).cloned().unwrap())
    }

    #[test]
    fn a_class_adds_overhead_and_where_it_can_run() {
        let class = value!({
            "metadata": {"name": "vm"}, "handler": "vm", "overhead": {"podFixed": {"cpu": "250m"}},
            "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]},
        });
        let own = value!({"runtimeClassName": "vm", "tolerations": [{"key": "vm", "value": "x", "effect": "NoSchedule"}]});
        assert_eq!(
            admitted(class.clone(), own).unwrap(),
            value!({
                "runtimeClassName": "vm", "overhead": {"cpu": "250m"}, "nodeSelector": {"vm": "yes"},
                "tolerations": [{"key": "vm", "operator": "Exists"}],
            })
        );
        for (spec, why) in [
            (value!({"runtimeClassName": "gone"}), "pod rejected: RuntimeClass \"gone\" not found"),
            (value!({"runtimeClassName": "vm", "overhead": {"cpu": "1"}}), DIFFERS),
            (
                value!({"overhead": {"cpu": "1"}}),
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
            ),
            (
                value!({"runtimeClassName": "vm", "nodeSelector": {"vm": "no"}}),
                "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no",
            ),
        ] {
            assert_eq!(admitted(class.clone(), spec).unwrap_err(), format!("pods \"p\" is forbidden: {why}"));
        }
    }
}
