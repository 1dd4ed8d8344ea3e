//! The fields by which objects of a kind may be selected.

use lynceus_object::{Object, Str, Value};

use super::resources::Resource;

/// The value that a field selector compares: `None` where the kind has no such selectable field.
/// `metadata.name` and `metadata.namespace` are known to the caller.
pub fn field(resource: &Resource, object: &Object, field: &str) -> Option<Str> {
    let known = selectable(resource);
    let position = known.iter().position(|name| *name == field)?;
    let value = match (resource.kind.as_str(), field) {
        ("Event", "source") => first(object, &[&["source", "component"], &["reportingComponent"]]),
        ("Event", "reportingComponent" | "reportingController") => {
            first(object, &[&["reportingComponent"], &["reportingController"]])
        }
        // The events of the newer group are the same objects, seen with other names.
        ("Event", _) => {
            let old = known[position].replacen("regarding.", "involvedObject.", 1);
            let new = known[position].replacen("involvedObject.", "regarding.", 1);
            text(at(object, &old).or_else(|| at(object, &new)), "")
        }
        ("Job", "status.successful") => text(object.at(&["status", "succeeded"]), "0"),
        ("Pod", "status.podIPs") => return Some(pod_ips(object)),
        ("Pod", "spec.hostNetwork") | ("Node", _) => text(at(object, field), "false"),
        (_, "status.replicas") => text(at(object, field), "0"),
        _ => text(at(object, field), ""),
    };
    Some(value)
}

/// The fields besides name and namespace by which objects of a kind may be selected.
pub fn selectable(resource: &Resource) -> &'static [&'static str] {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "Node") => &["spec.unschedulable"],
        ("", "ReplicationController") => &["status.replicas"],
        ("", "Event") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "Event") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("", "Namespace") => &["status.phase"],
        ("", "Secret") => &["type"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("batch", "Job") => &["status.successful"],
        ("certificates.k8s.io", "CertificateSigningRequest") => &["spec.signerName"],
        ("networking.k8s.io", "IPAddress") => &["spec.parentRef.group", "spec.parentRef.resource"],
        ("resource.k8s.io", "ResourceSlice") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    }
}

fn at<'a>(object: &'a Object, dotted: &str) -> Option<&'a Value> {
    dotted.split('.').try_fold(object.value(), |value, key| value.get(key))
}

fn first(object: &Object, paths: &[&[&str]]) -> Str {
    let found = paths.iter().filter_map(|path| object.value().str_at(path)).find(|text| !text.is_empty());
    found.unwrap_or_default().into()
}

fn text(value: Option<&Value>, absent: &str) -> Str {
    match value {
        Some(Value::Str(text)) => text.clone(),
        Some(Value::Bool(flag)) => if *flag { "true" } else { "false" }.into(),
        Some(Value::Int(number)) => number.to_string().into(),
        _ => absent.into(),
    }
}

fn pod_ips(object: &Object) -> Str {
    let ips = object.value().items_at(&["status", "podIPs"]).iter().filter_map(|ip| ip.str_at(&["ip"]));
    ips.collect::<Vec<_>>().join(",").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::resources;
    use lynceus_object::value;

    fn selected(group: &str, plural: &str, object: Value, name: &str) -> Option<Str> {
        let resource = resources().iter().find(|r| r.plural == plural && r.group == group).unwrap();
        field(resource, &Object::new(object).unwrap(), name)
    }

    #[test]
    fn absent_fields_read_as_go_prints_their_zero() {
        assert_eq!(selected("", "nodes", value!({}), "spec.unschedulable").unwrap(), "false");
        assert_eq!(selected("batch", "jobs", value!({}), "status.successful").unwrap(), "0");
        assert_eq!(selected("", "pods", value!({}), "spec.nodeName").unwrap(), "");
    }

    #[test]
    fn a_field_that_is_not_selectable_is_not_known() {
        assert_eq!(selected("", "pods", value!({"spec": {"hostname": "x"}}), "spec.hostname"), None);
    }

    #[test]
    fn events_of_both_groups_select_the_same_object() {
        let event = value!({"involvedObject": {"kind": "Pod"}, "source": {"component": "kubelet"}});
        assert_eq!(selected("", "events", event.clone(), "involvedObject.kind").unwrap(), "Pod");
        assert_eq!(selected("events.k8s.io", "events", event.clone(), "regarding.kind").unwrap(), "Pod");
        assert_eq!(selected("", "events", event, "source").unwrap(), "kubelet");
    }
}
