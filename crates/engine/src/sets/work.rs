//! Who works on ApplicationSets: whichever replica has the home cluster.

use std::sync::Arc;

use lynceus_api::IN_CLUSTER_SERVER;
use lynceus_cluster::on_behalf_of;
use tracing::{Instrument as _, info_span, warn};

use crate::engine::Engine;
use crate::limits;

/// One worker: takes the set that is due, and sees to it that a failure is tried again.
pub(crate) async fn work(engine: Arc<Engine>) {
    while let Some((key, freshness)) = engine.sets.queue.next(&**engine.clock()).await {
        if let Some(turn) = engine.shards.enter(IN_CLUSTER_SERVER) {
            let span = info_span!(
                target: "lynceus::span",
                "reconcile set",
                namespace = key.namespace.as_str(),
                name = key.name.as_str(),
            );
            let reconcile = Box::pin(engine.reconcile_set(&key, freshness).instrument(span));
            let name = format!("applicationset {key}").into();
            let result = turn.guard(Box::pin(on_behalf_of(name, reconcile))).await;
            let failures = engine.sets.queue.count(&key, result.is_err());
            if let Err(error) = result {
                warn!(applicationset = %key, error = crate::words(&error), failures, "reconcile failed; trying again");
                let factor = 2_u32.saturating_pow(failures.min(16));
                let pause = limits::RETRY_MIN.saturating_mul(factor).min(limits::RETRY_MAX);
                engine.sets.queue.add(key.clone(), engine.clock().monotonic() + pause, freshness);
            }
        }
        engine.sets.queue.done(&key, engine.clock().monotonic());
    }
}
