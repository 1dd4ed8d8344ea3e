//! Volumes, claims and the classes and drivers behind them.

use lynceus_object::Value;

use super::{Row, line};

/// The cells of a storage kind.
pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    Some(match kind {
        "PersistentVolume" => volume(row),
        "PersistentVolumeClaim" => claim(row),
        "StorageClass" => line![
            default_marked(row),
            row.text(&["provisioner"]),
            row.text_or(&["reclaimPolicy"], "Delete"),
            row.text_or(&["volumeBindingMode"], "Immediate"),
            row.bool_or(&["allowVolumeExpansion"], false),
            row.age(),
        ],
        "VolumeAttributesClass" => line![row.name(), row.text(&["driverName"]), row.age()],
        "VolumeAttachment" => line![
            row.name(),
            row.text(&["spec", "attacher"]),
            row.text(&["spec", "source", "persistentVolumeName"]),
            row.text(&["spec", "nodeName"]),
            row.bool_or(&["status", "attached"], false),
            row.age(),
        ],
        "CSINode" => line![row.name(), row.items(&["spec", "drivers"]).len(), row.age()],
        "CSIDriver" => driver(row),
        _ => return None,
    })
}

/// Access modes, abbreviated, in a fixed order.
fn access_modes(items: &[Value]) -> String {
    const MODES: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let named = |mode: &&(&str, &str)| items.iter().any(|item| item.as_str() == Some(mode.0));
    MODES.iter().filter(named).map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

fn class(row: &Row<'_>) -> Value {
    let old_name = row.object.annotation("volume.beta.kubernetes.io/storage-class");
    old_name.map_or_else(|| row.text(&["spec", "storageClassName"]), Value::from)
}

fn phase(row: &Row<'_>) -> Value {
    if row.is_deleting() { "Terminating".into() } else { row.text(&["status", "phase"]) }
}

fn volume(row: &Row<'_>) -> Vec<Value> {
    let claim = match row.value().at(&["spec", "claimRef"]).filter(|claim| !claim.is_null()) {
        Some(claim) => {
            let text = |field: &str| claim.str_at(&[field]).unwrap_or_default();
            format!("{}/{}", text("namespace"), text("name"))
        }
        None => String::new(),
    };
    line![
        row.name(),
        row.text_or(&["spec", "capacity", "storage"], "0"),
        access_modes(row.items(&["spec", "accessModes"])),
        row.text(&["spec", "persistentVolumeReclaimPolicy"]),
        phase(row),
        claim,
        class(row),
        row.text_or(&["spec", "volumeAttributesClassName"], "<unset>"),
        row.text(&["status", "reason"]),
        row.age(),
        row.text_or(&["spec", "volumeMode"], "<unset>"),
    ]
}

fn claim(row: &Row<'_>) -> Vec<Value> {
    let bound = !row.str(&["spec", "volumeName"]).is_empty();
    let (capacity, modes) = if bound {
        let modes = access_modes(row.items(&["status", "accessModes"]));
        (row.text_or(&["status", "capacity", "storage"], "0"), modes)
    } else {
        ("".into(), String::new())
    };
    line![
        row.name(),
        phase(row),
        row.text(&["spec", "volumeName"]),
        capacity,
        modes,
        class(row),
        row.text_or(&["spec", "volumeAttributesClassName"], "<unset>"),
        row.age(),
        row.text_or(&["spec", "volumeMode"], "<unset>"),
    ]
}

fn default_marked(row: &Row<'_>) -> String {
    let marks =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    let name = row.object.name();
    let default = marks.iter().any(|mark| row.object.annotation(mark) == Some("true"));
    if default { format!("{name} (default)") } else { name.to_owned() }
}

fn driver(row: &Row<'_>) -> Vec<Value> {
    let joined = |items: &[Value], field: &[&str]| {
        items.iter().filter_map(|item| item.str_at(field)).collect::<Vec<_>>().join(",")
    };
    let modes = joined(row.items(&["spec", "volumeLifecycleModes"]), &[]);
    let tokens = row.value().at(&["spec", "tokenRequests"]).and_then(Value::as_seq);
    line![
        row.name(),
        row.bool_or(&["spec", "attachRequired"], true),
        row.bool_or(&["spec", "podInfoOnMount"], false),
        row.bool_or(&["spec", "storageCapacity"], false),
        tokens.map_or_else(|| "<unset>".to_owned(), |tokens| joined(tokens, &["audience"])),
        row.bool_or(&["spec", "requiresRepublish"], false),
        if modes.is_empty() { "<none>".to_owned() } else { modes },
        row.age(),
    ]
}
