//! Applications as they change.

use futures::StreamExt as _;
use futures::stream;
use lynceus_cluster::Change;
use lynceus_engine::application_kind;
use lynceus_object::{Object, ObjectKey, Value, value};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::finding::{Filter, found};
use super::known::Known;
use super::shown;
use crate::call::{Answer, Answered, Call};

/// Those that there are, unless the caller has them already, and then every change. What is sent is made when it is
/// sent: whoever reads slowly holds references and not copies.
pub(super) fn watch(call: Call) -> Answered {
    let filter = Filter::of(&call)?;
    let changes = call.server.engine.home().cache().changes();
    let there = found(&call, &filter);
    let known = Known::new(&call.server.rolls, there.iter().map(Object::key).collect());
    let first = if call.text("resourceVersion").is_empty() { there } else { Vec::new() };
    let first = stream::iter(first).map(|object| event("ADDED", shown(&object)));
    let watcher = Watcher { call, filter, changes, known, missed: Vec::new().into_iter() };
    let rest = stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((event, watcher))
    });
    Ok(Answer::Many(first.chain(rest).map(Ok).boxed()))
}

fn event(kind: &str, application: Value) -> Value {
    // Put in and not written as one literal, which would copy every field once for each stream.
    let mut event = value!({"type": kind});
    event.set(&["application"], application);
    event
}

struct Watcher {
    call: Call,
    filter: Filter,
    changes: Receiver<Change>,
    /// The applications that the other side has heard of.
    known: Known,
    /// Those of which changes may have been missed.
    missed: std::vec::IntoIter<ObjectKey>,
}

impl Watcher {
    /// What has changed next; none when nothing will any more.
    async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(key) = self.missed.next() {
                if let Some(event) = self.look(&key) {
                    return Some(event);
                }
            }
            match self.changes.recv().await {
                Ok(change) if change.key.group_kind() == application_kind() => {
                    if let Some(event) = self.look(&change.key) {
                        return Some(event);
                    }
                }
                Ok(_) => {}
                // Some changes were missed: all are told again, which says the same.
                Err(RecvError::Lagged(_)) => self.missed = self.all().into_iter(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn look(&mut self, key: &ObjectKey) -> Option<Value> {
        let server = &self.call.server;
        let there = server.engine.home().cache().get(key);
        match there.filter(|object| self.filter.takes(&self.call, object)) {
            Some(object) => {
                let kind = if self.known.insert(&server.rolls, key) { "ADDED" } else { "MODIFIED" };
                Some(event(kind, shown(&object)))
            }
            None => self.known.remove(&server.rolls, key).then(|| event("DELETED", gone(key))),
        }
    }

    /// Every application that there is or that was told of.
    fn all(&self) -> Vec<ObjectKey> {
        let cache = self.call.server.engine.home().cache();
        let mut keys = self.known.keys();
        keys.extend(cache.of_kind(&application_kind()).iter().map(Object::key));
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// What is left to say of an application that is not there any more, or that is no longer meant.
fn gone(key: &ObjectKey) -> Value {
    value!({"metadata": {"name": key.name.clone(), "namespace": key.namespace.clone()}, "spec": {}, "status": {}})
}
