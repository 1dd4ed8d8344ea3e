//! LimitRanges: what containers get that say nothing, and how little and how much is allowed.

use lynceus_object::edit::each;
use lynceus_object::{Object, Quantity, Value};

use super::Write;
use crate::ApiError;
use crate::attributes::{Admission, Operation};
use crate::kinds::usage::{self, Amounts};
use crate::view::View;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Whether a write falls under limit ranges: new pods, pods that are resized, claims.
fn applies(admission: &Admission, old: Option<&Object>) -> bool {
    let resource = admission.resource.resource.as_str();
    admission.resource.group.is_empty()
        && !old.is_some_and(Object::is_deleting)
        && matches!(
            (resource, admission.operation, admission.subresource.as_str()),
            ("pods", Operation::Create, "")
                | ("pods", Operation::Update, "resize")
                | ("persistentvolumeclaims", Operation::Create | Operation::Update, "")
        )
}

fn ranges(view: &dyn View, admission: &Admission) -> Vec<Object> {
    view.list("", "limitranges", Some(&admission.namespace))
}

/// Gives the containers of a pod what they leave out.
pub(super) fn mutate(view: &dyn View, admission: &Admission, pod: &mut Object, old: Option<&Object>) {
    if admission.resource.resource != "pods" || !applies(admission, old) {
        return;
    }
    for range in ranges(view, admission) {
        let told = fill(pod.value_mut(), &range);
        if !told.is_empty() {
            pod.set_annotation(ANNOTATION, format!("LimitRanger plugin set: {}", told.join("; ")));
        }
    }
}

/// Fills in the defaults of one limit range, and tells what it did.
fn fill(pod: &mut Value, range: &Object) -> Vec<String> {
    let (mut limits, mut requests) = (Vec::new(), Vec::new());
    for limit in limits_of(range, "Container") {
        // Of two defaults for the same resource the later counts.
        for (defaults, field) in [(&mut limits, "default"), (&mut requests, "defaultRequest")] {
            for (name, amount) in
                limit.get(field).and_then(Value::as_map).into_iter().flat_map(|map| map.iter())
            {
                defaults.retain(|(known, _): &(String, Value)| known != name.as_str());
                defaults.push((name.to_string(), amount.clone()));
            }
        }
    }
    limits.sort_by(|a, b| a.0.cmp(&b.0));
    requests.sort_by(|a, b| a.0.cmp(&b.0));
    let mut told = Vec::new();
    for (list, word) in [("containers", "container"), ("initContainers", "init container")] {
        for container in each(pod, &["spec", list]) {
            let name = container.str_at(&["name"]).unwrap_or_default().to_owned();
            let mut lines = Vec::new();
            for (defaults, field, what) in [(&limits, "limits", "limit"), (&requests, "requests", "request")]
            {
                let set = fill_in(container, field, defaults);
                if !set.is_empty() {
                    lines.push(format!("{} {what} for {word} {name}", set.join(", ")));
                }
            }
            lines.reverse();
            told.extend(lines);
        }
    }
    told
}

fn fill_in<'a>(container: &mut Value, field: &str, defaults: &'a [(String, Value)]) -> Vec<&'a str> {
    let lacks = |name: &str| container.at(&["resources", field, name]).is_none();
    let set: Vec<&(String, Value)> = defaults.iter().filter(|(name, _)| lacks(name)).collect();
    for (name, amount) in &set {
        container.set(&["resources", field, name], amount.clone());
    }
    set.into_iter().map(|(name, _)| name.as_str()).collect()
}

fn limits_of<'a>(range: &'a Object, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    let limits = range.value().items_at(&["spec", "limits"]).iter();
    limits.filter(move |limit| limit.str_at(&["type"]) == Some(kind))
}

/// Refuses what is below or above the limits.
pub(super) fn validate(view: &dyn View, write: &Write<'_>) -> Result<(), ApiError> {
    let admission = write.admission;
    let Some(object) = write.object.filter(|_| applies(admission, write.old)) else { return Ok(()) };
    for range in ranges(view, admission) {
        let problems = if admission.resource.resource == "pods" {
            of_pod(&range, object.value())
        } else {
            of_claim(&range, object.value())
        };
        let why = match problems.as_slice() {
            [] => continue,
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        return Err(ApiError::forbidden("", &admission.resource.resource, &admission.name, &why));
    }
    Ok(())
}

fn of_pod(range: &Object, pod: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    for limit in range.value().items_at(&["spec", "limits"]) {
        match limit.str_at(&["type"]) {
            Some("Container") => {
                for list in ["containers", "initContainers"] {
                    for container in pod.items_at(&["spec", list]) {
                        let part = |list: &str| usage::amounts(container.at(&["resources", list]));
                        Use { of: "Container", requests: part("requests"), limits: part("limits") }
                            .check(limit, &mut problems);
                    }
                }
            }
            Some("Pod") => {
                let (requests, limits) = (usage::of_pod(pod, "requests"), usage::of_pod(pod, "limits"));
                Use { of: "Pod", requests, limits }.check(limit, &mut problems);
            }
            _ => {}
        }
    }
    once_each(problems)
}

/// A claim has no limits of its own: what it asks for is what it gets.
fn of_claim(range: &Object, claim: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let requests = usage::amounts(claim.at(&["spec", "resources", "requests"]));
    let asked = Use { of: "PersistentVolumeClaim", requests, limits: Amounts::new() };
    for limit in limits_of(range, "PersistentVolumeClaim") {
        for (name, least) in usage::amounts(limit.get("min")) {
            problems.extend(asked.at_least(&name, least));
        }
        for (name, most) in usage::amounts(limit.get("max")) {
            let of = asked.of;
            match asked.requests.get(&name) {
                None => problems
                    .push(format!("maximum {name} usage per {of} is {most}.  No request is specified")),
                Some(request) if *request > most => problems
                    .push(format!("maximum {name} usage per {of} is {most}, but request is {request}")),
                Some(_) => {}
            }
        }
    }
    once_each(problems)
}

fn once_each(problems: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for problem in problems {
        if !out.contains(&problem) {
            out.push(problem);
        }
    }
    out
}

/// What a container, a pod or a claim asks for.
struct Use {
    of: &'static str,
    requests: Amounts,
    limits: Amounts,
}

impl Use {
    fn check(&self, limit: &Value, problems: &mut Vec<String>) {
        for (name, least) in usage::amounts(limit.get("min")) {
            problems.extend(self.at_least(&name, least));
        }
        for (name, most) in usage::amounts(limit.get("max")) {
            problems.extend(self.at_most(&name, most));
        }
        for (name, ratio) in usage::amounts(limit.get("maxLimitRequestRatio")) {
            problems.extend(self.within(&name, ratio));
        }
    }

    fn at_least(&self, name: &str, least: Quantity) -> Option<String> {
        let start = format!("minimum {name} usage per {} is {least}", self.of);
        match (self.requests.get(name), self.limits.get(name)) {
            (None, _) => Some(format!("{start}.  No request is specified")),
            (Some(request), _) if *request < least => Some(format!("{start}, but request is {request}")),
            (_, Some(limit)) if *limit < least => Some(format!("{start}, but limit is {limit}")),
            _ => None,
        }
    }

    fn at_most(&self, name: &str, most: Quantity) -> Option<String> {
        let start = format!("maximum {name} usage per {} is {most}", self.of);
        match (self.requests.get(name), self.limits.get(name)) {
            (_, None) => Some(format!("{start}.  No limit is specified")),
            (_, Some(limit)) if *limit > most => Some(format!("{start}, but limit is {limit}")),
            (Some(request), _) if *request > most => Some(format!("{start}, but request is {request}")),
            _ => None,
        }
    }

    fn within(&self, name: &str, ratio: Quantity) -> Option<String> {
        let start = format!("{name} max limit to request ratio per {} is {ratio}", self.of);
        let some = |amounts: &Amounts| amounts.get(name).filter(|amount| !amount.is_zero()).copied();
        let Some(request) = some(&self.requests) else {
            return Some(format!("{start}, but no request is specified or request is 0"));
        };
        let Some(limit) = some(&self.limits) else {
            return Some(format!("{start}, but no limit is specified or limit is 0"));
        };
        let found = limit.milli_value() as f64 / request.milli_value() as f64;
        (found * 1000.0 > ratio.milli_value() as f64)
            .then(|| format!("{start}, but provided ratio is {found:.6}"))
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::yaml;

    use super::*;

    fn range(limits: &str) -> Object {
        let limits = yaml::parse_str(limits).expect(limits);
        Object::new(lynceus_object::value!({"metadata": {"name": "l"}, "spec": {"limits": limits}})).unwrap()
    }

    fn pod(containers: &str) -> Value {
        yaml::parse_str(&format!("{{spec: {{containers: {containers}}}}}")).expect(containers)
    }

    #[test]
    fn containers_get_what_they_leave_out_and_the_pod_says_so() {
        let limits = "[{type: Container, default: {cpu: 500m, memory: 1Gi}, defaultRequest: {cpu: 100m}}, {type: Pod}]";
        let mut pod = pod("[{name: a}, {name: b, resources: {limits: {cpu: '1'}, requests: {cpu: '1'}}}]");
        let told = fill(&mut pod, &range(limits));
        assert_eq!(
            told,
            [
                "cpu request for container a",
                "cpu, memory limit for container a",
                "memory limit for container b"
            ]
        );
        assert_eq!(
            pod,
            self::pod(
                "[{name: a, resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: 100m}}}, \
                 {name: b, resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: '1'}}}]"
            )
        );
    }

    #[test]
    fn too_little_and_too_much_are_told_apart() {
        let table = "
            {type: Container, min: {cpu: 100m}} | {} => minimum cpu usage per Container is 100m.  No request is specified
            {type: Container, min: {cpu: 100m}} | {requests: {cpu: 50m}} => minimum cpu usage per Container is 100m, but request is 50m
            {type: Container, min: {cpu: 100m}} | {requests: {cpu: 100m}, limits: {cpu: 50m}} => minimum cpu usage per Container is 100m, but limit is 50m
            {type: Container, max: {cpu: '1'}} | {requests: {cpu: 50m}} => maximum cpu usage per Container is 1.  No limit is specified
            {type: Container, max: {cpu: '1'}} | {limits: {cpu: '2'}} => maximum cpu usage per Container is 1, but limit is 2
            {type: Container, max: {cpu: '1'}} | {limits: {cpu: '1'}} => fine
            {type: Container, maxLimitRequestRatio: {cpu: '2'}} | {limits: {cpu: '1'}} => cpu max limit to request ratio per Container is 2, but no request is specified or request is 0
            {type: Container, maxLimitRequestRatio: {cpu: '2'}} | {limits: {cpu: '1'}, requests: {cpu: 300m}} => cpu max limit to request ratio per Container is 2, but provided ratio is 3.333333
            {type: Pod, max: {memory: 1Gi}} | {limits: {memory: 600Mi}} => maximum memory usage per Pod is 1Gi, but limit is 1200Mi
            {type: PersistentVolumeClaim, max: {storage: 1Gi}} | {} => fine
        ";
        for (case, expected) in table.trim().lines().map(|line| line.trim().split_once(" => ").unwrap()) {
            let (limit, resources) = case.split_once(" | ").unwrap();
            let pod =
                pod(&format!("[{{name: a, resources: {resources}}}, {{name: b, resources: {resources}}}]"));
            let found = of_pod(&range(&format!("[{limit}]")), &pod);
            assert_eq!(
                if found.is_empty() { "fine".to_owned() } else { found.join(", ") },
                expected,
                "{case}"
            );
        }
    }

    #[test]
    fn a_claim_is_measured_by_what_it_asks_for() {
        let range = range("[{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 2Gi}}]");
        for (storage, expected) in [
            ("512Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi"),
            ("1Gi", ""),
            ("3Gi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"),
        ] {
            let claim = lynceus_object::value!({"spec": {"resources": {"requests": {"storage": storage}}}});
            assert_eq!(of_claim(&range, &claim).join(", "), expected);
        }
    }
}
