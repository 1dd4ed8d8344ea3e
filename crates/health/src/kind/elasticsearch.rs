//! An Elasticsearch cluster is healthy when all of its nodes are there and it is green.

use std::cmp::Ordering;

use lynceus_object::Object;

use crate::{Health, text};

const UNKNOWN: &str = "Elasticsearch Cluster status is unknown. Ensure your ArgoCD is current and then check for/file a bug report: https://github.com/argoproj/argo-cd/issues";

pub(super) fn check(object: &Object) -> Health {
    let Some(there) = object.value().int_at(&["status", "availableNodes"]) else {
        return Health::unknown(UNKNOWN);
    };
    let sets = object.value().items_at(&["spec", "nodeSets"]);
    let wanted: i64 = sets.iter().filter_map(|set| set.int_at(&["count"])).sum();
    match there.cmp(&wanted) {
        Ordering::Less => Health::progressing(format!(
            "The desired amount of availableNodes is {wanted} but the current amount is {there}"
        )),
        Ordering::Equal => by_phase(object),
        Ordering::Greater => Health::unknown(UNKNOWN),
    }
}

fn by_phase(object: &Object) -> Health {
    const LOOK: &str = "Check the status of indices, replicas and shards";
    match (text(object, &["status", "phase"]), text(object, &["status", "health"])) {
        ("Ready", "green") => Health::healthy("Elasticsearch Cluster status is Green"),
        ("Ready", "yellow") => Health::progressing(format!("Elasticsearch Cluster status is Yellow. {LOOK}")),
        ("Ready", "red") => Health::degraded(format!("Elasticsearch Cluster status is Red. {LOOK}")),
        (_, "") => Health::unknown(UNKNOWN),
        (phase @ ("ApplyingChanges" | "MigratingData"), _) => {
            Health::progressing(format!("Elasticsearch phase is {phase}"))
        }
        ("Invalid", _) => Health::degraded("Elasticsearch phase is Invalid"),
        _ => Health::unknown(UNKNOWN),
    }
}
