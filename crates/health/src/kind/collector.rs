//! An OpenTelemetry collector counts its replicas in a text, `1/3`.

use lynceus_object::Object;

use crate::{Health, present, rules, text};

pub(super) fn check(object: &Object) -> Health {
    if !present(object, &["status"]) {
        return Health::progressing("Waiting for OpenTelemetry Collector status");
    }
    let mode = text(object, &["spec", "mode"]);
    let Some(replicas) = object.at(&["status", "scale", "statusReplicas"]).filter(|value| !value.is_null())
    else {
        return match mode {
            "sidecar" => Health::healthy("Collector is running in sidecar mode"),
            _ => Health::progressing("Scale status not available"),
        };
    };
    let replicas = rules::plain(replicas);
    match counted(&replicas) {
        Some((0, 0)) if mode == "daemonset" => Health::healthy("DaemonSet has no eligible nodes (0/0)"),
        Some((0, _)) => Health::degraded("No replicas are ready"),
        Some((ready, all)) if ready == all => Health::healthy("All replicas are ready"),
        Some(_) => Health::progressing("Replicas are starting up"),
        None => Health::progressing(format!("Unable to parse replica status: {replicas}")),
    }
}

/// The two numbers around the slash, wherever they stand.
fn counted(text: &str) -> Option<(u64, u64)> {
    text.match_indices('/').find_map(|(at, _)| {
        let before = text[..at].rsplit(|letter: char| !letter.is_ascii_digit()).next()?;
        let after = text[at + 1..].split(|letter: char| !letter.is_ascii_digit()).next()?;
        Some((before.parse().ok()?, after.parse().ok()?))
    })
}
