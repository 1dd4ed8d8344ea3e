//! Claims that are not healthy, and for which it would be wrong to wait.

use std::collections::BTreeSet;

use lynceus_cluster::Cluster;
use lynceus_health::waits_for_later;
use lynceus_object::ObjectKey;

use super::Around;
use crate::assess::Checks;
use crate::limits;
use crate::look::Look;

/// The claims that wait for a consumer which the sync has still to bring. To hold their wave for them is to wait for ever.
pub(crate) async fn unheld(cluster: &Cluster, look: &Look, checks: &Checks) -> BTreeSet<ObjectKey> {
    for _ in 0..limits::REASON_ROUNDS {
        let around = Around::of(cluster, look, checks);
        let live = look.changes.changes.iter().filter_map(|change| change.pair.live());
        let found =
            live.filter(|object| waits_for_later(object, &around)).map(|object| object.key()).collect();
        if !around.fetch(cluster).await {
            return found;
        }
    }
    BTreeSet::new()
}
