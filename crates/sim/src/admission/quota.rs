//! ResourceQuotas: whether there is enough left for a write, and how much it takes.
//!
//! This only reads and decides. The amounts are booked by whoever stores the object, in the same moment.

use jiff::Timestamp;
use lynceus_object::{Object, Quantity};

use crate::ApiError;
use crate::attributes::{Admission, Operation};
use crate::kinds::usage::{self, Amounts};

/// What a write takes from each quota, by the quota's name.
pub(crate) type Taken = Vec<(String, Amounts)>;

/// What a write takes from the quotas of its namespace, or why there is too little left.
pub(crate) fn check(
    quotas: &[Object],
    admission: &Admission,
    object: &Object,
    old: Option<&Object>,
    now: Timestamp,
) -> Result<Taken, ApiError> {
    if !is_counted(admission, object, old) {
        return Ok(Taken::new());
    }
    let (group, resource) = (admission.resource.group.as_str(), admission.resource.resource.as_str());
    let refuse = |why: &str| ApiError::forbidden(group, resource, &admission.name, why);
    let new = usage::of(group, resource, object, now);
    let mut taken = Taken::new();
    let matching: Vec<Counted<'_>> = quotas
        .iter()
        .filter_map(|quota| Counted::of(quota, group, resource))
        .filter(|counted| usage::in_scope(counted.quota, group, resource, object))
        .collect();
    for counted in &matching {
        let name = counted.quota.name();
        let names: Vec<&str> = counted.hard.keys().map(String::as_str).collect();
        if let Some(why) = usage::missing(object.value(), &names).filter(|_| resource == "pods") {
            return Err(refuse(&format!("failed quota: {name}: {why}")));
        }
        if !names.iter().all(|name| counted.used.contains_key(*name)) {
            let why = format!("status unknown for quota: {name}, resources: {}", names.join(","));
            return Err(refuse(&why));
        }
    }
    for counted in &matching {
        let before = old.filter(|old| usage::in_scope(counted.quota, group, resource, old));
        let before = before.map(|old| usage::of(group, resource, old, now)).unwrap_or_default();
        let requested = counted.rise(&new, &before);
        if requested.is_empty() {
            continue;
        }
        if let Some(why) = counted.excess(&requested) {
            return Err(refuse(&why));
        }
        taken.push((counted.quota.name().to_owned(), requested));
    }
    Ok(taken)
}

/// Whether a write can change what is used.
fn is_counted(admission: &Admission, object: &Object, old: Option<&Object>) -> bool {
    let group = admission.resource.group.as_str();
    let resource = admission.resource.resource.as_str();
    if admission.namespace.is_empty() || resource == "namespaces" || resource == "events" {
        return false;
    }
    match (group, resource, admission.operation, admission.subresource.as_str()) {
        (_, _, Operation::Create, "") => true,
        ("", "services" | "persistentvolumeclaims", Operation::Update, "") => true,
        ("", "pods", Operation::Update, "resize") => true,
        ("", "pods", Operation::Update, "") => {
            old.is_some_and(|old| usage::is_terminating(old.value()) != usage::is_terminating(object.value()))
        }
        _ => false,
    }
}

/// The part of a quota that counts a kind.
struct Counted<'a> {
    quota: &'a Object,
    hard: Amounts,
    used: Amounts,
}

impl<'a> Counted<'a> {
    /// The limits count as the quota's controller has noted them: a change of them takes a moment.
    fn of(quota: &'a Object, group: &str, resource: &str) -> Option<Self> {
        let mut hard = usage::amounts(quota.at(&["status", "hard"]));
        hard.retain(|name, _| usage::counts(name) == Some((group, resource)));
        let used = usage::amounts(quota.at(&["status", "used"]));
        (!hard.is_empty()).then_some(Counted { quota, hard, used })
    }

    /// What is used beyond what the object used before.
    fn rise(&self, new: &Amounts, old: &Amounts) -> Amounts {
        let rise = |name: &String| {
            let new = new.get(name)?;
            Some(*new - old.get(name).copied().unwrap_or(Quantity::ZERO))
        };
        let counted = self.hard.keys().filter_map(|name| Some((name.clone(), rise(name)?)));
        counted.filter(|(_, amount)| *amount > Quantity::ZERO).collect()
    }

    fn excess(&self, requested: &Amounts) -> Option<String> {
        let used = |name: &str| self.used.get(name).copied().unwrap_or(Quantity::ZERO);
        let exceeded: Vec<&String> = requested
            .iter()
            .filter(|(name, amount)| self.hard.get(*name).is_some_and(|hard| used(name) + **amount > *hard))
            .map(|(name, _)| name)
            .collect();
        if exceeded.is_empty() {
            return None;
        }
        let shown = |amounts: &Amounts| {
            let each = exceeded.iter().filter_map(|name| Some(format!("{name}={}", amounts.get(*name)?)));
            each.collect::<Vec<_>>().join(",")
        };
        Some(format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            self.quota.name(),
            shown(requested),
            shown(&self.used),
            shown(&self.hard)
        ))
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::{Gvk, Gvr, yaml};

    use super::*;
    use crate::attributes::User;

    fn object(text: &str) -> Object {
        Object::new(yaml::parse_str(text).expect(text)).unwrap()
    }

    /// What is left when an object is made in a namespace with a quota, or the refusal.
    fn outcome(quota: &str, resource: &str, new: &str) -> String {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let admission = Admission {
            user: User::admin().into(),
            operation: Operation::Create,
            kind: Gvk::new(group, "v1", "x"),
            resource: Gvr::new(group, "v1", plural),
            subresource: "".into(),
            namespace: "shop".into(),
            name: "x".into(),
            dry_run: false,
            manager: Default::default(),
        };
        let quotas = [object(&format!("{{metadata: {{name: q}}, {quota}}}"))];
        match check(&quotas, &admission, &object(new), None, Timestamp::UNIX_EPOCH) {
            Ok(taken) => {
                let amounts = taken.into_iter().flat_map(|(_, amounts)| amounts);
                amounts.map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.message,
        }
    }

    #[test]
    fn a_quota_is_taken_from_until_it_is_used_up() {
        let two = "status: {hard: {pods: '2'}, used: {pods: '1'}}";
        let full = "status: {hard: {pods: '2', cpu: '1'}, used: {pods: '2', cpu: 900m}}";
        let pod = "{spec: {containers: [{name: a, resources: {requests: {cpu: 200m}}}]}}";
        for (quota, resource, new, expected) in [
            (two, "pods", pod, "pods=1"),
            (two, "secrets", "{}", ""),
            ("spec: {hard: {pods: '0'}}", "pods", pod, ""),
            (
                full,
                "pods",
                pod,
                "pods \"x\" is forbidden: exceeded quota: q, requested: cpu=200m,pods=1, used: cpu=900m,pods=2, limited: cpu=1,pods=2",
            ),
            (
                "status: {hard: {limits.cpu: '2', memory: 1Gi}, used: {limits.cpu: '0', memory: '0'}}",
                "pods",
                pod,
                "pods \"x\" is forbidden: failed quota: q: must specify limits.cpu for: a; memory for: a",
            ),
            (
                "status: {hard: {pods: '2'}}",
                "pods",
                pod,
                "pods \"x\" is forbidden: status unknown for quota: q, resources: pods",
            ),
            (
                "status: {hard: {count/deployments.apps: '1'}, used: {count/deployments.apps: '1'}}",
                "deployments.apps",
                "{}",
                "deployments.apps \"x\" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1",
            ),
            (
                "status: {hard: {services.nodeports: '5', services.loadbalancers: '1'}, used: {services.nodeports: '0', services.loadbalancers: '0'}}",
                "services",
                "{spec: {type: LoadBalancer, ports: [{port: 1}, {port: 2}]}}",
                "services.loadbalancers=1 services.nodeports=2",
            ),
            (
                "status: {hard: {gold.storageclass.storage.k8s.io/requests.storage: 5Gi}, used: {gold.storageclass.storage.k8s.io/requests.storage: '0'}}",
                "persistentvolumeclaims",
                "{spec: {storageClassName: gold, resources: {requests: {storage: 1Gi}}}}",
                "gold.storageclass.storage.k8s.io/requests.storage=1Gi",
            ),
        ] {
            assert_eq!(outcome(quota, resource, new), expected, "{quota} {resource}");
        }
    }

    #[test]
    fn only_objects_in_scope_are_counted() {
        let status = "status: {hard: {pods: '5'}, used: {pods: '0'}}";
        let class = |operator: &str| {
            format!(
                "scopeSelector: {{matchExpressions: [{{scopeName: PriorityClass, operator: {operator}, values: [high]}}]}}"
            )
        };
        let plain = "{spec: {containers: [{name: a}]}}";
        let high = "{spec: {priorityClassName: high, activeDeadlineSeconds: 5, containers: [{name: a, resources: {requests: {cpu: '1'}}}]}}";
        for (scope, of_plain, of_high) in [
            ("scopes: [BestEffort]".to_owned(), "pods=1", ""),
            ("scopes: [NotBestEffort, Terminating]".to_owned(), "", "pods=1"),
            ("scopes: [NotTerminating]".to_owned(), "pods=1", ""),
            ("scopes: [PriorityClass]".to_owned(), "", "pods=1"),
            (class("In"), "", "pods=1"),
            (class("NotIn"), "pods=1", ""),
            ("scopes: [CrossNamespacePodAffinity]".to_owned(), "", ""),
        ] {
            let quota = format!("spec: {{{scope}}}, {status}");
            assert_eq!(
                (outcome(&quota, "pods", plain).as_str(), outcome(&quota, "pods", high).as_str()),
                (of_plain, of_high),
                "{scope}"
            );
        }
    }
}
