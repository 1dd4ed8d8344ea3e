//! Volumes of a pod, and where containers see them.

use std::collections::BTreeMap;

use lynceus_object::{Quantity, Value};

use super::claim;
use super::container::Pod;
use super::env;
use super::names;
use super::report::{Path, Report};
use crate::kinds::amount_of;

const MODE_WORDS: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// The sources that a volume can have, in the order in which they are looked for. The name in the
/// message about a second source is the field's own but for two slips of the original.
const SOURCES: [(&str, &str); 30] = [
    ("emptyDir", "emptyDir"),
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephFS"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwarAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
    ("image", "image"),
];

/// Checks the volumes of a pod and gives back those that are in order. `owner` is the pod's name.
pub(crate) fn volumes<'a>(
    spec: &'a Value,
    owner: Option<&str>,
    at: &Path,
    report: &mut Report,
) -> BTreeMap<&'a str, &'a Value> {
    let mut good = BTreeMap::new();
    let all = spec.items_at(&["volumes"]);
    for (index, volume) in all.iter().enumerate() {
        let at = at.index(index);
        let name = volume.str_at(&["name"]).unwrap_or_default();
        let before = report.len();
        source(volume, name, owner, &at, report);
        if name.is_empty() {
            report.required(&at.child("name"), "");
        } else {
            report.each(&at.child("name"), name, names::dns_label(name));
        }
        if good.contains_key(name) {
            report.duplicate(&at.child("name"), &name.into());
        }
        if report.len() == before {
            good.insert(name, volume);
        }
        let claim = volume.str_at(&["persistentVolumeClaim", "claimName"]);
        let made = |other: &Value| {
            let name = other.str_at(&["name"]).unwrap_or_default();
            let ephemeral = other.get("ephemeral").is_some_and(|source| !source.is_null());
            ephemeral && owner.is_some_and(|owner| claim == Some(format!("{owner}-{name}").as_str()))
        };
        if all.iter().any(made) {
            let at = at.child("persistentVolumeClaim").child("claimName");
            let why = "must not reference a PVC that gets created for an ephemeral volume";
            report.invalid_text(&at, claim.unwrap_or_default(), why);
        }
    }
    good
}

fn source(volume: &Value, name: &str, owner: Option<&str>, at: &Path, report: &mut Report) {
    let mut found = false;
    for (field, shown) in SOURCES {
        let Some(source) = volume.get(field).filter(|source| !source.is_null()) else { continue };
        if found {
            report.forbidden(&at.child(shown), "may not specify more than 1 volume type");
            continue;
        }
        found = true;
        one_source(field, source, &at.child(field), report);
        if let ("ephemeral", Some(owner), false) = (field, owner, name.is_empty()) {
            let claim = format!("{owner}-{name}");
            for problem in names::dns_subdomain(&claim) {
                report.invalid_text(&at.child("name"), name, format!("PVC name {claim:?}: {problem}"));
            }
        }
    }
    if !found {
        report.required(at, "must specify a volume type");
    }
}

fn one_source(field: &str, source: &Value, at: &Path, report: &mut Report) {
    let text = |field: &str| source.str_at(&[field]).unwrap_or_default();
    let need = |fields: &[&str], report: &mut Report| {
        for field in fields.iter().filter(|field| source.get(field).is_none_or(Value::is_empty)) {
            report.required(&at.child(field), "");
        }
    };
    match field {
        "emptyDir"
            if source.get("sizeLimit").and_then(amount_of).is_some_and(|size| size < Quantity::ZERO) =>
        {
            report.forbidden(&at.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
        }
        "hostPath" => host_path(source, at, report),
        "secret" => files(source, "secretName", at, report),
        "configMap" => files(source, "name", at, report),
        "persistentVolumeClaim" => need(&["claimName"], report),
        "nfs" => nfs(source, at, report),
        "downwardAPI" => {
            mode(source, "defaultMode", at, report);
            source.items_at(&["items"]).iter().for_each(|file| downward_file(file, at, report));
        }
        "projected" => projected(source, at, report),
        "csi" => csi(source, at, report),
        "ephemeral" => match source.get("volumeClaimTemplate").filter(|template| !template.is_null()) {
            Some(template) => {
                let at = at.child("volumeClaimTemplate");
                claim::spec(template.get("spec").unwrap_or(&Value::Null), &at.child("spec"), report);
            }
            None => report.required(&at.child("volumeClaimTemplate"), ""),
        },
        "image" => {
            need(&["reference"], report);
            let policy = text("pullPolicy");
            report.one_of(&at.child("pullPolicy"), policy, &["Always", "IfNotPresent", "Never"]);
        }
        "gitRepo" => {
            need(&["repository"], report);
            if !text("directory").is_empty() {
                descending_path(text("directory"), &at.child("directory"), report);
            }
        }
        "gcePersistentDisk" => {
            need(&["pdName"], report);
            partition(source, at, report);
        }
        "awsElasticBlockStore" => {
            need(&["volumeID"], report);
            partition(source, at, report);
        }
        "cinder" => need(&["volumeID"], report),
        "fc" => fibre(source, at, report),
        "glusterfs" => need(&["endpoints", "path"], report),
        "cephfs" => need(&["monitors"], report),
        "rbd" => need(&["monitors", "image"], report),
        "azureFile" => need(&["secretName", "shareName"], report),
        "azureDisk" => need(&["diskName", "diskURI"], report),
        "vsphereVolume" => need(&["volumePath"], report),
        "photonPersistentDisk" => need(&["pdID"], report),
        "portworxVolume" => need(&["volumeID"], report),
        "flexVolume" => need(&["driver"], report),
        "iscsi" => {
            need(&["targetPortal"], report);
            iscsi(source, at, report);
        }
        "quobyte" => need(&["registry", "volume"], report),
        "scaleIO" => need(&["gateway", "system", "volumeName"], report),
        _ => {}
    }
}

fn partition(source: &Value, at: &Path, report: &mut Report) {
    let number = source.int_at(&["partition"]).unwrap_or(0);
    if !(0..=255).contains(&number) {
        report.invalid_number(&at.child("partition"), number, "must be between 1 and 255, inclusive");
    }
}

fn lun(source: &Value, at: &Path, report: &mut Report) {
    if let Some(number) = source.int_at(&["lun"]).filter(|number| !(0..=255).contains(number)) {
        report.invalid_number(&at.child("lun"), number, "must be between 0 and 255, inclusive");
    }
}

fn fibre(source: &Value, at: &Path, report: &mut Report) {
    let (ports, ids) = (source.items_at(&["targetWWNs"]), source.items_at(&["wwids"]));
    let at_ports = at.child("targetWWNs");
    if ports.is_empty() && ids.is_empty() {
        report.required(&at_ports, "must specify either targetWWNs or wwids, but not both");
    }
    if !ports.is_empty() && !ids.is_empty() {
        let list = source.get("targetWWNs").unwrap_or(&Value::Null);
        report.invalid(&at_ports, list, "targetWWNs and wwids can not be specified simultaneously");
    }
    if !ports.is_empty() && source.int_at(&["lun"]).is_none() {
        report.required(&at.child("lun"), "lun is required if targetWWNs is specified");
    } else if !ports.is_empty() {
        lun(source, at, report);
    }
}

fn iscsi(source: &Value, at: &Path, report: &mut Report) {
    let name = source.str_at(&["iqn"]).unwrap_or_default();
    if name.is_empty() {
        report.required(&at.child("iqn"), "");
    } else if !["iqn", "eui", "naa"].iter().any(|start| name.starts_with(start)) {
        report.invalid_text(&at.child("iqn"), name, "must be valid format starting with iqn, eui, or naa");
    }
    lun(source, at, report);
    let asks = |field: &str| source.bool_at(&[field]) == Some(true);
    if (asks("chapAuthDiscovery") || asks("chapAuthSession"))
        && source.get("secretRef").is_none_or(Value::is_null)
    {
        report.required(&at.child("secretRef"), "");
    }
}

/// Checks a directory of a node.
pub(crate) fn host_path(source: &Value, at: &Path, report: &mut Report) {
    const TYPES: [&str; 8] =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    match source.str_at(&["path"]).unwrap_or_default() {
        "" => {
            report.required(&at.child("path"), "");
            return;
        }
        path => no_backsteps(path, &at.child("path"), report),
    }
    if let Some(kind) = source.str_at(&["type"]).filter(|kind| !TYPES.contains(kind)) {
        report.not_supported(&at.child("type"), kind, &TYPES);
    }
}

/// Checks an NFS share.
pub(crate) fn nfs(source: &Value, at: &Path, report: &mut Report) {
    let text = |field: &str| source.str_at(&[field]).unwrap_or_default();
    for field in ["server", "path"] {
        if text(field).is_empty() {
            report.required(&at.child(field), "");
        }
    }
    if !text("path").starts_with('/') {
        report.invalid_text(&at.child("path"), text("path"), "must be an absolute path");
    }
}

fn csi(source: &Value, at: &Path, report: &mut Report) {
    csi_driver(source.str_at(&["driver"]).unwrap_or_default(), &at.child("driver"), report);
    if let Some(secret) = source.get("nodePublishSecretRef").filter(|secret| !secret.is_null()) {
        match secret.str_at(&["name"]).unwrap_or_default() {
            "" => report.required(&at.child("nodePublishSecretRef").child("name"), ""),
            name => report.each(&at.child("name"), name, names::dns_subdomain(name)),
        }
    }
}

/// Checks the name of a storage driver.
pub(crate) fn csi_driver(driver: &str, at: &Path, report: &mut Report) {
    if driver.is_empty() {
        report.required(at, "");
        return;
    }
    if driver.len() > 63 {
        report.too_long(at, 63);
    }
    report.each(at, driver, names::dns_subdomain(&driver.to_lowercase()));
}

fn files(source: &Value, name: &str, at: &Path, report: &mut Report) {
    if source.str_at(&[name]).unwrap_or_default().is_empty() {
        report.required(&at.child(name), "");
    }
    mode(source, "defaultMode", at, report);
    key_paths(source, at, report);
}

fn key_paths(source: &Value, at: &Path, report: &mut Report) {
    for (index, item) in source.items_at(&["items"]).iter().enumerate() {
        let at = at.child("items").index(index);
        for field in ["key", "path"] {
            if item.str_at(&[field]).unwrap_or_default().is_empty() {
                report.required(&at.child(field), "");
            }
        }
        local_path(item.str_at(&["path"]).unwrap_or_default(), &at.child("path"), report);
        mode(item, "mode", &at, report);
    }
}

fn mode(source: &Value, field: &str, at: &Path, report: &mut Report) {
    if let Some(mode) = source.int_at(&[field]).filter(|mode| !(0..=0o777).contains(mode)) {
        report.invalid_number(&at.child(field), mode, MODE_WORDS);
    }
}

fn downward_file(file: &Value, at: &Path, report: &mut Report) {
    let path = file.str_at(&["path"]).unwrap_or_default();
    if path.is_empty() {
        report.required(&at.child("path"), "");
    }
    local_path(path, &at.child("path"), report);
    let part = |name: &str| file.get(name).filter(|part| !part.is_null());
    match (part("fieldRef"), part("resourceFieldRef")) {
        (Some(field), other) => {
            env::field_ref(field, &env::FILE_FIELDS, &at.child("fieldRef"), report);
            if other.is_some() {
                let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
                report.invalid_text(at, "resource", why);
            }
        }
        (None, Some(field)) => env::resource_field_ref(field, true, &at.child("resourceFieldRef"), report),
        (None, None) => report.required(at, "one of fieldRef and resourceFieldRef is required"),
    }
    mode(file, "mode", at, report);
}

fn projected(source: &Value, at: &Path, report: &mut Report) {
    mode(source, "defaultMode", at, report);
    let mut taken: Vec<&str> = Vec::new();
    for (index, projection) in source.items_at(&["sources"]).iter().enumerate() {
        let here = at.child("sources").index(index);
        let mut count = 0;
        for field in [
            "secret",
            "configMap",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ] {
            let Some(part) = projection.get(field).filter(|part| !part.is_null()) else { continue };
            count += 1;
            let place = here.child(field);
            let name = part.str_at(&["name"]).unwrap_or_default();
            match field {
                "secret" | "configMap" => {
                    if name.is_empty() {
                        report.required(&place.child("name"), "");
                    }
                    key_paths(part, &place, report);
                }
                "downwardAPI" => {
                    part.items_at(&["items"]).iter().for_each(|file| downward_file(file, &place, report));
                }
                "serviceAccountToken" => token(part, &place, at, report),
                _ => {}
            }
            for path in part.items_at(&["items"]).iter().filter_map(|item| item.str_at(&["path"])) {
                if path.is_empty() {
                    continue;
                }
                if taken.contains(&path) {
                    let shown = if field == "downwardAPI" { path } else { name };
                    report.invalid_text(at, shown, "conflicting duplicate paths");
                } else {
                    taken.push(path);
                }
            }
        }
        if count > 1 {
            report.forbidden(&here, "may not specify more than 1 volume type per source");
        }
    }
}

fn token(token: &Value, at: &Path, volume: &Path, report: &mut Report) {
    let seconds = token.int_at(&["expirationSeconds"]).unwrap_or_default();
    let at = at.child("expirationSeconds");
    if seconds < 600 {
        report.invalid_number(&at, seconds, "may not specify a duration less than 10 minutes");
    }
    if seconds > 1 << 32 {
        report.invalid_number(&at, seconds, "may not specify a duration larger than 2^32 seconds");
    }
    match token.str_at(&["path"]).unwrap_or_default() {
        "" => report.required(&volume.child("path"), ""),
        path => local_path(path, &volume.child("path"), report),
    }
}

/// Checks a path that has to stay below where it starts.
pub(crate) fn descending_path(path: &str, at: &Path, report: &mut Report) {
    if path.starts_with('/') {
        report.invalid_text(at, path, "must be a relative path");
    }
    no_backsteps(path, at, report);
}

/// The same, and no name that the system uses for itself.
pub(crate) fn local_path(path: &str, at: &Path, report: &mut Report) {
    descending_path(path, at, report);
    if path.starts_with("..") && !path.starts_with("../") {
        report.invalid_text(at, path, "must not start with '..'");
    }
}

/// Checks that a path does not go back up.
pub(crate) fn no_backsteps(path: &str, at: &Path, report: &mut Report) {
    if path.split('/').any(|part| part == "..") {
        report.invalid_text(at, path, "must not contain '..'");
    }
}

/// Checks where a container sees volumes as directories.
pub(crate) fn mounts(pod: &Pod<'_>, container: &Value, at: &Path, report: &mut Report) {
    let devices = container.items_at(&["volumeDevices"]);
    let mut points: Vec<&str> = Vec::new();
    for (index, mount) in container.items_at(&["volumeMounts"]).iter().enumerate() {
        let here = at.index(index);
        let text = |field: &str| mount.str_at(&[field]).unwrap_or_default();
        let (name, path) = (text("name"), text("mountPath"));
        if name.is_empty() {
            report.required(&here.child("name"), "");
        }
        if !pod.volumes.contains_key(name) {
            report.not_found(&here.child("name"), name);
        }
        if path.is_empty() {
            report.required(&here.child("mountPath"), "");
        }
        if points.contains(&path) {
            report.invalid_text(&here.child("mountPath"), path, "must be unique");
        }
        points.push(path);
        if devices.iter().any(|device| device.str_at(&["name"]) == Some(name)) {
            report.invalid_text(&here.child("name"), name, "must not already exist in volumeDevices");
        }
        if devices.iter().any(|device| device.str_at(&["devicePath"]) == Some(path)) {
            report.invalid_text(
                &here.child("mountPath"),
                path,
                "must not already exist as a path in volumeDevices",
            );
        }
        if !text("subPath").is_empty() {
            descending_path(text("subPath"), &at.child("subPath"), report);
        }
        if !text("subPathExpr").is_empty() {
            if !text("subPath").is_empty() {
                let why = "subPathExpr and subPath are mutually exclusive";
                report.invalid_text(&here.child("subPathExpr"), text("subPathExpr"), why);
            }
            descending_path(text("subPathExpr"), &at.child("subPathExpr"), report);
        }
        propagation(container, mount, at, report);
    }
}

fn propagation(container: &Value, mount: &Value, at: &Path, report: &mut Report) {
    const MODES: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
    let mode = mount.str_at(&["mountPropagation"]);
    if let Some(mode) = mode {
        let at = at.child("mountPropagation");
        if !MODES.contains(&mode) {
            report.not_supported(&at, mode, &MODES);
        }
        if mode == "Bidirectional" && container.bool_at(&["securityContext", "privileged"]) != Some(true) {
            let why = "Bidirectional mount propagation is available only to privileged containers";
            report.forbidden(&at, why);
        }
    }
    let at = at.child("recursiveReadOnly");
    match mount.str_at(&["recursiveReadOnly"]) {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if mount.bool_at(&["readOnly"]) != Some(true) {
                report.forbidden(&at, "may only be specified when readOnly is true");
            }
            if mode.is_some_and(|mode| mode != "None") {
                report.forbidden(&at, "may only be specified when mountPropagation is None or not specified");
            }
        }
        Some(other) => report.not_supported(&at, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// Checks where a container sees volumes as devices.
pub(crate) fn devices(pod: &Pod<'_>, container: &Value, at: &Path, report: &mut Report) {
    let mounts = container.items_at(&["volumeMounts"]);
    let (mut known, mut points): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (index, device) in container.items_at(&["volumeDevices"]).iter().enumerate() {
        let here = at.index(index);
        let text = |field: &str| device.str_at(&[field]).unwrap_or_default();
        let (name, path) = (text("name"), text("devicePath"));
        if name.is_empty() {
            report.required(&here.child("name"), "");
        }
        if known.contains(&name) {
            report.invalid_text(&here.child("name"), name, "must be unique");
        }
        match pod.volumes.get(name) {
            None => report.not_found(&here.child("name"), name),
            Some(volume)
                if volume.get("persistentVolumeClaim").is_none() && volume.get("ephemeral").is_none() =>
            {
                let why =
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                report.invalid_text(&here.child("name"), name, why);
            }
            Some(_) => {}
        }
        if path.is_empty() {
            report.required(&here.child("devicePath"), "");
        }
        if points.contains(&path) {
            report.invalid_text(&here.child("devicePath"), path, "must be unique");
        }
        if path.split('/').any(|part| part == "..") {
            report.invalid_text(&here.child("devicePath"), path, "can not contain backsteps ('..')");
        } else {
            points.push(path);
        }
        if mounts.iter().any(|mount| mount.str_at(&["name"]) == Some(name)) {
            report.invalid_text(&here.child("name"), name, "must not already exist in volumeMounts");
        }
        if mounts.iter().any(|mount| mount.str_at(&["mountPath"]) == Some(path)) {
            report.invalid_text(
                &here.child("devicePath"),
                path,
                "must not already exist as a path in volumeMounts",
            );
        }
        if !name.is_empty() {
            known.push(name);
        }
    }
}
