//! A KafkaCluster of Banzai Cloud is healthy when its brokers, Cruise Control and the cluster itself are.

use lynceus_object::{Map, Object, Value};

use crate::{Health, text};

pub(super) fn check(object: &Object) -> Health {
    let state = text(object, &["status", "state"]);
    if state == "ClusterRollingUpgrading" {
        return Health::progressing("Kafka Cluster is Rolling Upgrading.");
    }
    let waiting = Health::progressing("Waiting for KafkaCluster");
    let Some(brokers) = object.at(&["status", "brokersState"]).filter(|brokers| !brokers.is_null()) else {
        return waiting;
    };
    if !brokers.as_map().into_iter().flat_map(Map::values).all(is_ready) {
        return Health::degraded("Broker Config is out of Sync or CruiseControlState is not Ready");
    }
    match (text(object, &["status", "cruiseControlTopicStatus"]), state) {
        ("CruiseControlTopicReady", "ClusterRunning") => {
            Health::healthy("Kafka Brokers, CruiseControl and cluster are in Healthy State.")
        }
        ("CruiseControlTopicNotReady" | "", "ClusterReconciling") => {
            Health::progressing("Kafka Cluster is Reconciling.")
        }
        _ => waiting,
    }
}

fn is_ready(broker: &Value) -> bool {
    broker.str_at(&["configurationState"]) == Some("ConfigInSync")
        && matches!(
            broker.str_at(&["gracefulActionState", "cruiseControlState"]),
            Some("GracefulUpscaleSucceeded" | "GracefulDownscaleSucceeded")
        )
}
