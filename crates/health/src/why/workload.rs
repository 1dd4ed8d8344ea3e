//! Why what makes pods has too few of them.

use lynceus_api::{Reason, ReasonCode};
use lynceus_object::{Object, Value};

use super::{Search, said};
use crate::conditions;

impl Search<'_> {
    /// Deployments, their ReplicaSets, StatefulSets and DaemonSets: what refuses their pods, and what their pods say.
    pub(super) fn workload(&mut self, object: &Object, depth: usize) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if let Some(refused) =
            conditions(object).find(|one| one.kind == "ReplicaFailure" && one.status == "True")
        {
            let words = format!("its pods are refused: {}", refused.message);
            reasons.push(
                Reason::new(ReasonCode::PodsRefused, words).since(said::since(object, "ReplicaFailure")),
            );
        }
        let below = self.children(object, depth);
        let stalled = conditions(object)
            .find(|one| one.kind == "Progressing" && one.reason == "ProgressDeadlineExceeded");
        match stalled {
            Some(condition) => reasons.push(
                Reason::new(
                    ReasonCode::RolloutStalled,
                    format!("its rollout makes no progress: {}", condition.message),
                )
                .since(said::since(object, "Progressing"))
                .because(below),
            ),
            None => reasons.extend(below),
        }
        if reasons.is_empty() {
            reasons.extend(too_few(object));
        }
        reasons
    }

    /// A Job that failed says why; one that has not ended has pods that say it.
    pub(super) fn job(&mut self, object: &Object, depth: usize) -> Vec<Reason> {
        let failed = conditions(object).find(|one| one.kind == "Failed" && one.status == "True");
        let below = self.children(object, depth);
        match failed {
            Some(condition) => vec![said::told(object, condition).because(below)],
            None => below,
        }
    }
}

/// How many pods there are of those that there should be, where nothing says more.
fn too_few(object: &Object) -> Option<Reason> {
    let number = |path: &[&str]| object.value().at(path).and_then(Value::as_int);
    let wanted = number(&["spec", "replicas"]).or_else(|| number(&["status", "desiredNumberScheduled"]))?;
    let ready = number(&["status", "readyReplicas"])
        .or_else(|| number(&["status", "numberReady"]))
        .unwrap_or_default();
    (ready < wanted)
        .then(|| Reason::new(ReasonCode::TooFewReplicas, format!("{ready} of {wanted} pods are ready")))
}
