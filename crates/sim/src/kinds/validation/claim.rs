//! Persistent volumes and the claims to them.

use lynceus_object::{Object, Value};

use super::affinity;
use super::diff;
use super::meta;
use super::names;
use super::report::{Path, Report, same};
use super::resources;
use super::selector;
use super::volume;
use crate::kinds::amount_of;

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// Checks a new claim.
pub(crate) fn create(claim: &Object, report: &mut Report) {
    meta::create(claim, true, names::dns_subdomain, report);
    spec(claim.at(&["spec"]).unwrap_or(&Value::Null), &Path::new("spec"), report);
}

/// Checks what a claim asks for.
pub(crate) fn spec(spec: &Value, at: &Path, report: &mut Report) {
    if spec.items_at(&["accessModes"]).is_empty() {
        report.required(&at.child("accessModes"), "at least 1 access mode is required");
    }
    selector::label_selector(spec.get("selector"), &at.child("selector"), report);
    access_modes(spec, &at.child("accessModes"), report);
    let size = at.child("resources").key("storage");
    match spec.at(&["resources", "requests", "storage"]).and_then(amount_of) {
        None => report.required(&size, ""),
        Some(amount) if amount.is_negative() || amount.is_zero() => {
            report.invalid_text(&size, &amount.to_string(), "must be greater than zero");
        }
        Some(amount) => resources::resource_amount("storage", amount, &size, report),
    }
    for field in ["storageClassName", "volumeAttributesClassName"] {
        if let Some(class) = spec.str_at(&[field]).filter(|class| !class.is_empty()) {
            report.each(&at.child(field), class, names::dns_subdomain(class));
        }
    }
    volume_mode(spec, at, report);
    for field in ["dataSource", "dataSourceRef"] {
        if let Some(source) = spec.get(field).filter(|source| !source.is_null()) {
            data_source(source, &at.child(field), report);
        }
    }
}

fn access_modes(spec: &Value, at: &Path, report: &mut Report) {
    let modes: Vec<&str> = spec.items_at(&["accessModes"]).iter().filter_map(Value::as_str).collect();
    for mode in modes.iter().filter(|mode| !MODES.contains(mode)) {
        report.not_supported(at, mode, &MODES);
    }
    let alone = modes.contains(&"ReadWriteOncePod");
    if alone && modes.iter().any(|mode| *mode != "ReadWriteOncePod" && MODES.contains(mode)) {
        report.forbidden(at, "may not use ReadWriteOncePod with other access modes");
    }
}

fn volume_mode(spec: &Value, at: &Path, report: &mut Report) {
    if let Some(mode) = spec.str_at(&["volumeMode"]).filter(|mode| !matches!(*mode, "Block" | "Filesystem")) {
        report.not_supported(&at.child("volumeMode"), mode, &["Block", "Filesystem"]);
    }
}

fn data_source(source: &Value, at: &Path, report: &mut Report) {
    let text = |field: &str| source.str_at(&[field]).unwrap_or_default();
    for field in ["name", "kind"] {
        if text(field).is_empty() {
            report.required(&at.child(field), "");
        }
    }
    if text("apiGroup").is_empty() {
        if text("kind") != "PersistentVolumeClaim" {
            let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            report.invalid_text(at, text("kind"), why);
        }
    } else {
        report.each(&at.child("apiGroup"), text("apiGroup"), names::dns_subdomain(text("apiGroup")));
    }
}

/// Checks a changed claim: little can be changed, and only once it is bound.
pub(crate) fn update(new: &Object, old: &Object, report: &mut Report) {
    meta::update(new, old, report);
    create(new, report);
    let (mut is, mut was) =
        (new.at(&["spec"]).cloned().unwrap_or_default(), old.at(&["spec"]).cloned().unwrap_or_default());
    let put = |to: &mut Value, from: &Value, path: &[&str]| match from.at(path) {
        Some(value) => to.set(path, value.clone()),
        None => {
            to.remove(path);
        }
    };
    if was.str_at(&["volumeName"]).unwrap_or_default().is_empty() {
        put(&mut was, &is, &["volumeName"]);
    }
    if was.get("storageClassName").is_none() && is.str_at(&["storageClassName"]).is_some() {
        put(&mut is, &was.clone(), &["storageClassName"]);
    }
    if new.value().str_at(&["status", "phase"]) == Some("Bound") {
        put(&mut is, &was, &["resources", "requests", "storage"]);
        put(&mut is, &was, &["volumeAttributesClassName"]);
    }
    if !same(Some(&is), Some(&was)) {
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        report.forbidden(&Path::new("spec"), format!("{why}\n{}", diff::lines(&was, &is)));
    }
    let size = |object: &Object, path: &[&str]| {
        object.at(path).and_then(amount_of).unwrap_or(lynceus_object::Quantity::ZERO)
    };
    let request = ["spec", "resources", "requests", "storage"];
    if size(new, &request) < size(old, &request)
        && size(new, &request) <= size(old, &["status", "capacity", "storage"])
    {
        let at = Path::new("spec.resources.requests.storage");
        report.forbidden(&at, "field can not be less than status.capacity");
    }
    report.immutable(
        &Path::new("volumeMode"),
        new.at(&["spec", "volumeMode"]),
        old.at(&["spec", "volumeMode"]),
    );
}

/// The sources that a persistent volume can have.
const SOURCES: [(&str, &str); 21] = [
    ("hostPath", "hostPath"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("nfs", "nfs"),
    ("rbd", "rbd"),
    ("quobyte", "quobyte"),
    ("cephfs", "cephFS"),
    ("iscsi", "iscsi"),
    ("cinder", "cinder"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("scaleIO", "scaleIO"),
    ("local", "local"),
    ("csi", "csi"),
];

/// Checks a new persistent volume.
pub(crate) fn volume_create(volume: &Object, report: &mut Report) {
    meta::create(volume, false, names::dns_subdomain, report);
    volume_spec(volume.at(&["spec"]).unwrap_or(&Value::Null), &Path::new("spec"), report);
}

fn volume_spec(spec: &Value, at: &Path, report: &mut Report) {
    if spec.items_at(&["accessModes"]).is_empty() {
        report.required(&at.child("accessModes"), "");
    }
    access_modes(spec, &at.child("accessModes"), report);
    capacity(spec, &at.child("capacity"), report);
    if let Some(policy) = spec.str_at(&["persistentVolumeReclaimPolicy"]).filter(|policy| !policy.is_empty())
    {
        let policies = ["Delete", "Recycle", "Retain"];
        if !policies.contains(&policy) {
            report.not_supported(&at.child("persistentVolumeReclaimPolicy"), policy, &policies);
        }
    }
    let required = spec.at(&["nodeAffinity", "required"]).filter(|required| !required.is_null());
    if let Some(affinity) = spec.get("nodeAffinity").filter(|affinity| !affinity.is_null()) {
        let at = at.child("nodeAffinity").child("required");
        match required {
            Some(required) => affinity::node_selector(required, &at, report),
            None if affinity.is_empty() => report.required(&at, "must specify required node constraints"),
            None => report.required(&at, "must specify required node constraints"),
        }
    }
    source(spec, required.is_some(), at, report);
    if let Some(class) = spec.str_at(&["storageClassName"]).filter(|class| !class.is_empty()) {
        report.each(&at.child("storageClassName"), class, names::dns_subdomain(class));
    }
    volume_mode(spec, at, report);
}

fn capacity(spec: &Value, at: &Path, report: &mut Report) {
    let capacity = spec.get("capacity").and_then(Value::as_map);
    let count = capacity.map_or(0, |capacity| capacity.len());
    if count == 0 {
        report.required(at, "");
    }
    if count != 1 || capacity.is_some_and(|capacity| !capacity.contains("storage")) {
        let shown = crate::kinds::gofmt::json(spec.get("capacity").unwrap_or(&Value::Null));
        report.push(crate::FieldError::not_supported(at.to_string(), shown, &["storage"]));
    }
    for (resource, amount) in resources::amounts(spec.get("capacity")) {
        let at = at.key(resource);
        if amount.is_negative() {
            report.invalid_number(&at, amount.value(), "must be a valid resource quantity");
        }
        if amount.is_negative() || amount.is_zero() {
            report.invalid_text(&at, &amount.to_string(), "must be greater than zero");
        }
    }
}

fn source(spec: &Value, placed: bool, at: &Path, report: &mut Report) {
    let mut found = false;
    for (field, shown) in SOURCES {
        let Some(source) = spec.get(field).filter(|source| !source.is_null()) else { continue };
        if found {
            report.forbidden(&at.child(shown), "may not specify more than 1 volume type");
            continue;
        }
        found = true;
        let here = at.child(field);
        match field {
            "hostPath" => volume::host_path(source, &here, report),
            "nfs" => volume::nfs(source, &here, report),
            "local" => {
                match source.str_at(&["path"]).unwrap_or_default() {
                    "" => report.required(&here.child("path"), ""),
                    path => volume::no_backsteps(path, &here.child("path"), report),
                }
                if !placed {
                    report.required(&at.child("nodeAffinity"), "Local volume requires node affinity");
                }
            }
            "csi" => {
                volume::csi_driver(
                    source.str_at(&["driver"]).unwrap_or_default(),
                    &here.child("driver"),
                    report,
                );
                if source.str_at(&["volumeHandle"]).unwrap_or_default().is_empty() {
                    report.required(&here.child("volumeHandle"), "");
                }
            }
            _ => {}
        }
    }
    if !found {
        report.required(at, "must specify a volume type");
    }
    let root = spec.str_at(&["hostPath", "path"]).is_some_and(|path| path.trim_end_matches('/').is_empty());
    if root && spec.str_at(&["persistentVolumeReclaimPolicy"]) == Some("Recycle") {
        let why = "may not be 'recycle' for a hostPath mount of '/'";
        report.forbidden(&at.child("persistentVolumeReclaimPolicy"), why);
    }
}

/// Checks a changed persistent volume: what it stands for cannot be changed.
pub(crate) fn volume_update(new: &Object, old: &Object, report: &mut Report) {
    volume_create(new, report);
    let source_of = |object: &Object| {
        let mut source = Value::Map(Default::default());
        for (field, _) in SOURCES {
            if let Some(value) = object.at(&["spec", field]) {
                source.set(&[field], value.clone());
            }
        }
        source
    };
    let (is, was) = (source_of(new), source_of(old));
    if is != was {
        let why = "spec.persistentvolumesource is immutable after creation";
        let at = Path::new("spec.persistentvolumesource");
        report.forbidden(&at, format!("{why}\n{}", diff::lines(&was, &is)));
    }
    report.immutable(
        &Path::new("volumeMode"),
        new.at(&["spec", "volumeMode"]),
        old.at(&["spec", "volumeMode"]),
    );
    let affinity = old.at(&["spec", "nodeAffinity"]);
    if affinity.is_some() && !same(new.at(&["spec", "nodeAffinity"]), affinity) {
        let value = new.at(&["spec", "nodeAffinity"]).unwrap_or(&Value::Null);
        report.invalid(&Path::new("nodeAffinity"), value, "field is immutable");
    }
}
