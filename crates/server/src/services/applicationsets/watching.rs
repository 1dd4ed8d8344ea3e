//! Sets as they change.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use futures::stream;
use lynceus_cluster::Change;
use lynceus_engine::set_kind;
use lynceus_object::{Object, ObjectKey, Value, value};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Filter, found, shown};
use crate::call::{Answer, Answered, Call};

/// Those that there are, unless the caller has them already, and then every change.
pub(super) fn watch(call: Call) -> Answered {
    let filter = Filter::of(&call)?;
    let changes = call.server.engine.home().cache().changes();
    let there = found(&call, &filter);
    let known = there.iter().map(Object::key).collect();
    let first: Vec<Value> = match call.text("resourceVersion") {
        "" => there.iter().map(|object| event("ADDED", shown(object))).collect(),
        _ => Vec::new(),
    };
    let watcher = Watcher { call, filter, changes, known };
    let rest = stream::unfold(watcher, |mut watcher| async move {
        let events = watcher.next().await?;
        Some((stream::iter(events), watcher))
    });
    Ok(Answer::Many(stream::iter(first).chain(rest.flatten()).map(Ok).boxed()))
}

fn event(kind: &str, set: Value) -> Value {
    value!({"type": kind, "applicationSet": set})
}

struct Watcher {
    call: Call,
    filter: Filter,
    changes: Receiver<Change>,
    /// The sets that the other side has heard of.
    known: BTreeSet<ObjectKey>,
}

impl Watcher {
    /// What has changed; none when nothing will any more.
    async fn next(&mut self) -> Option<Vec<Value>> {
        loop {
            let events = match self.changes.recv().await {
                Ok(change) if change.key.group_kind() == set_kind() => {
                    self.look(&change.key).into_iter().collect()
                }
                Ok(_) => continue,
                Err(RecvError::Lagged(_)) => self.look_at_all(),
                Err(RecvError::Closed) => return None,
            };
            if !events.is_empty() {
                return Some(events);
            }
        }
    }

    fn look(&mut self, key: &ObjectKey) -> Option<Value> {
        let there = self.call.server.engine.home().cache().get(key);
        match there.filter(|object| self.filter.takes(&self.call, object)) {
            Some(object) => {
                let kind = if self.known.insert(key.clone()) { "ADDED" } else { "MODIFIED" };
                Some(event(kind, shown(&object)))
            }
            None => self.known.remove(key).then(|| event("DELETED", gone(key))),
        }
    }

    fn look_at_all(&mut self) -> Vec<Value> {
        let cache = self.call.server.engine.home().cache().clone();
        let mut keys: BTreeSet<ObjectKey> = cache.of_kind(&set_kind()).iter().map(Object::key).collect();
        keys.extend(self.known.iter().cloned());
        keys.iter().filter_map(|key| self.look(key)).collect()
    }
}

/// What is left to say of a set that is not there any more, or that is no longer meant.
fn gone(key: &ObjectKey) -> Value {
    let metadata = value!({"name": key.name.clone(), "namespace": key.namespace.clone()});
    value!({"metadata": metadata, "spec": {"generators": [], "template": {"metadata": {}, "spec": {}}}, "status": {}})
}
