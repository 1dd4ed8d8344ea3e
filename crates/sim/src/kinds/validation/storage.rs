//! Storage classes, drivers and attachments.

use lynceus_object::{Object, Value};

use super::meta;
use super::names;
use super::report::{Path, Report, same};

/// Checks a StorageClass.
pub(crate) fn class(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let value = object.value();
    match value.str_at(&["provisioner"]).unwrap_or_default() {
        "" => report.required(&Path::new("provisioner"), ""),
        name => {
            let name = name.to_lowercase();
            report.each(&Path::new("provisioner"), &name, names::label_key(&name));
        }
    }
    parameters(value.get("parameters"), &Path::new("parameters"), report);
    let policies = ["Delete", "Retain"];
    if let Some(policy) =
        value.str_at(&["reclaimPolicy"]).filter(|policy| !policy.is_empty() && !policies.contains(policy))
    {
        report.not_supported(&Path::new("reclaimPolicy"), policy, &policies);
    }
    let modes = ["Immediate", "WaitForFirstConsumer"];
    match value.str_at(&["volumeBindingMode"]) {
        None => report.required(&Path::new("volumeBindingMode"), ""),
        Some(mode) if !modes.contains(&mode) => {
            report.not_supported(&Path::new("volumeBindingMode"), mode, &modes)
        }
        Some(_) => {}
    }
}

fn parameters(parameters: Option<&Value>, at: &Path, report: &mut Report) {
    let fields = parameters.and_then(Value::as_map);
    if fields.is_some_and(|fields| fields.len() > 512) {
        report.too_long(at, 512);
        return;
    }
    let mut size = 0;
    for (key, value) in fields.into_iter().flat_map(|map| map.iter()) {
        if key.is_empty() {
            report.invalid_text(at, key, "field can not be empty.");
        }
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > 256 * 1024 {
        report.too_long(at, 256 * 1024);
    }
}

/// Checks a changed StorageClass.
pub(crate) fn class_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    let fields: [&[&str]; 4] =
        [&["parameters"], &["provisioner"], &["reclaimPolicy"], &["volumeBindingMode"]];
    meta::immutable(new, old, &fields, report);
}

/// Checks a VolumeAttributesClass.
pub(crate) fn attributes_class(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    match object.value().str_at(&["driverName"]).unwrap_or_default() {
        "" => report.required(&Path::new("driverName"), ""),
        name => {
            let name = name.to_lowercase();
            report.each(&Path::new("driverName"), &name, names::label_key(&name));
        }
    }
    let at = Path::new("parameters");
    parameters(object.at(&["parameters"]), &at, report);
    if object.at(&["parameters"]).is_none_or(Value::is_empty) {
        report.required(&at, "must contain at least one key/value pair");
    }
}

/// Checks a VolumeAttachment.
pub(crate) fn attachment(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let attacher = spec.str_at(&["attacher"]).unwrap_or_default();
    super::volume::csi_driver(attacher, &at.child("attacher"), report);
    let words = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let inline = spec.at(&["source", "inlineVolumeSpec"]).is_some_and(|inline| !inline.is_null());
    match (inline, spec.str_at(&["source", "persistentVolumeName"])) {
        (false, None) => report.required(&at.child("source"), words),
        (true, Some(_)) => report.forbidden(&at.child("source"), words),
        (false, Some("")) => {
            let at = at.child("source").child("persistentVolumeName");
            report.required(&at, "must specify non empty persistentVolumeName");
        }
        _ => {}
    }
    let node = spec.str_at(&["nodeName"]).unwrap_or_default();
    report.each(&at.child("nodeName"), node, names::dns_subdomain(node));
    if let Some(volume) = spec.str_at(&["source", "persistentVolumeName"]) {
        let at = at.child("source").child("persistentVolumeName");
        report.each(&at, volume, names::dns_subdomain(volume));
    }
}

/// Checks a CSIDriver.
pub(crate) fn driver(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    driver_spec(object, report);
}

fn driver_spec(object: &Object, report: &mut Report) {
    let at = Path::new("spec");
    let spec = object.at(&["spec"]).unwrap_or(&Value::Null);
    let policies = ["File", "None", "ReadWriteOnceWithFSType"];
    if let Some(policy) = spec.str_at(&["fsGroupPolicy"]).filter(|policy| !policies.contains(policy)) {
        report.not_supported(&at.child("fsGroupPolicy"), policy, &policies);
    }
    for mode in spec.items_at(&["volumeLifecycleModes"]).iter().filter_map(Value::as_str) {
        if !matches!(mode, "Ephemeral" | "Persistent") {
            report.not_supported(&at.child("volumeLifecycleModes"), mode, &["Persistent", "Ephemeral"]);
        }
    }
    let mut audiences: Vec<&str> = Vec::new();
    for (index, request) in spec.items_at(&["tokenRequests"]).iter().enumerate() {
        let at = at.child("tokenRequests").index(index);
        let audience = request.str_at(&["audience"]).unwrap_or_default();
        if audiences.contains(&audience) {
            report.duplicate(&at.child("audience"), &audience.into());
        }
        audiences.push(audience);
        if let Some(seconds) = request.int_at(&["expirationSeconds"]).filter(|seconds| *seconds < 600) {
            let why = "may not specify a duration less than 10 minutes";
            report.invalid_number(&at.child("expirationSeconds"), seconds, why);
        }
    }
}

/// Checks a changed CSIDriver.
pub(crate) fn driver_update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    driver_spec(new, report);
    for (field, shown) in
        [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")]
    {
        if !same(new.at(&["spec", field]), old.at(&["spec", field])) {
            let value = new.at(&["spec", field]).unwrap_or(&Value::Null);
            report.invalid(&Path::new("spec").child(shown), value, "field is immutable");
        }
    }
}

/// Checks a CSINode.
pub(crate) fn node(object: &Object, report: &mut Report) {
    meta::create(object, false, names::dns_subdomain, report);
    let mut known: Vec<&str> = Vec::new();
    for (index, driver) in object.value().items_at(&["spec", "drivers"]).iter().enumerate() {
        let at = Path::new("spec.drivers").index(index);
        let name = driver.str_at(&["name"]).unwrap_or_default();
        super::volume::csi_driver(name, &at.child("name"), report);
        match driver.str_at(&["nodeID"]).unwrap_or_default() {
            "" => report.required(&at.child("nodeID"), ""),
            id if id.len() > 256 => {
                report.invalid_text(&at.child("nodeID"), id, "must be 256 characters or less")
            }
            _ => {}
        }
        report
            .not_negative(&at.child("allocatable").child("count"), driver.int_at(&["allocatable", "count"]));
        if known.contains(&name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        known.push(name);
        let keys: Vec<&str> = driver.items_at(&["topologyKeys"]).iter().filter_map(Value::as_str).collect();
        for (index, key) in keys.iter().enumerate() {
            if key.is_empty() {
                report.required(&at, "");
            }
            if keys[..index].contains(key) {
                report.duplicate(&at, &(*key).into());
            }
            report.each(&at, key, names::label_key(key));
        }
    }
}
