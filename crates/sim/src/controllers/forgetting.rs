//! Events are forgotten after an hour.

use super::key::Key;
use super::kind::{EVENT, is_among};
use super::steps::Steps;
use super::time::{after, read};
use super::world::World;
use super::{Controller, Writer, manager, pods};
use crate::store::{Event, EventKind, Place};

/// How long an Event is kept, in seconds.
const KEPT: i64 = 3600;

/// Deletes old Events.
pub(crate) struct Forgetting;

impl Controller for Forgetting {
    fn component(&self) -> &'static str {
        "event-ttl-controller"
    }

    fn writer(&self) -> Writer {
        manager!("event-ttl-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[EVENT], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if EVENT.is(&event.place) && event.kind == EventKind::Added {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(event) = world.find(key) else { return };
        let last = ["lastTimestamp", "eventTime"].into_iter().find_map(|field| read(event.at(&[field])));
        let Some(end) = last.or_else(|| pods::created(&event)).map(|last| after(last, KEPT)) else { return };
        if end > world.now {
            out.again_at(end);
        } else {
            out.delete(EVENT, &event);
        }
    }
}
