//! Applications as they change.

use futures::StreamExt as _;
use futures::stream;
use lynceus_cluster::Change;
use lynceus_engine::{AppKey, application_kind};
use lynceus_object::{Object, Value, value};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::finding::Asked;
use super::known::Known;
use super::roster::order;
use crate::call::{Answer, Answered, Call};

/// Those that there are, unless the caller has them already, and then every change. What is sent is made when it is
/// sent: whoever reads slowly holds names and not applications.
pub(super) fn watch(call: Call) -> Answered {
    let asked = Asked::read(call)?;
    let changes = asked.call.server.engine.home().cache().changes();
    let known = Known::new(&asked.call.server.rolls, asked.found().keys());
    let first = if asked.call.text("resourceVersion").is_empty() { known.keys() } else { Vec::new() };
    let (first, missed) = (first.into_iter(), Vec::new().into_iter());
    let watcher = Watcher { asked, changes, known, first, missed };
    let events = stream::unfold(watcher, |mut watcher| async move {
        let event = watcher.next().await?;
        Some((event, watcher))
    });
    Ok(Answer::Many(events.map(Ok).boxed()))
}

fn event(kind: &str, application: Value) -> Value {
    // Put in and not written as one literal, which would copy every field once for each stream.
    let mut event = value!({"type": kind});
    event.set(&["application"], application);
    event
}

struct Watcher {
    asked: Asked,
    changes: Receiver<Change>,
    /// The applications that the other side has heard of, or is about to.
    known: Known,
    /// Those that have yet to be told of at the beginning.
    first: std::vec::IntoIter<AppKey>,
    /// Those of which changes may have been missed.
    missed: std::vec::IntoIter<AppKey>,
}

impl Watcher {
    /// What has changed next; none when nothing will any more.
    async fn next(&mut self) -> Option<Value> {
        if let Some(object) = self.first.find_map(|key| self.asked.get(&key)) {
            return Some(event("ADDED", self.shown(&object)));
        }
        loop {
            while let Some(key) = self.missed.next() {
                if let Some(event) = self.look(&key) {
                    return Some(event);
                }
            }
            match self.changes.recv().await {
                Ok(Change { key, .. }) if key.group_kind() == application_kind() && !key.name.is_empty() => {
                    if let Some(event) = self.look(&AppKey::new(key.namespace, key.name)) {
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

    fn shown(&self, object: &Object) -> Value {
        self.asked.call.server.shown_with_health(object)
    }

    fn look(&mut self, key: &AppKey) -> Option<Value> {
        let rolls = &self.asked.call.server.rolls;
        match self.asked.get(key) {
            Some(object) => {
                let kind = if self.known.insert(rolls, key) { "ADDED" } else { "MODIFIED" };
                Some(event(kind, self.shown(&object)))
            }
            None => self.known.remove(rolls, key).then(|| event("DELETED", gone(key))),
        }
    }

    /// Every application that there is or that was told of.
    fn all(&self) -> Vec<AppKey> {
        let mut keys = self.known.keys();
        keys.extend(self.asked.found().keys().cloned());
        keys.sort_unstable_by(order);
        keys.dedup();
        keys
    }
}

/// What is left to say of an application that is not there any more, or that is no longer meant.
fn gone(key: &AppKey) -> Value {
    value!({"metadata": {"name": key.name.clone(), "namespace": key.namespace.clone()}, "spec": {}, "status": {}})
}
