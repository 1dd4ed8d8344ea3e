//! Events: what controllers tell the world, with repetitions counted instead of repeated.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, Value};

use super::kind::EVENT;
use super::steps::Announcement;
use super::time;
use crate::hash::QuickMap;

/// How many events about one object one component may write at once.
const BURST: f64 = 25.0;
/// How many seconds pass until it may write another one.
const REFILL_SECONDS: f64 = 300.0;
/// From this many similar events on, one event stands for all further ones.
const SIMILAR: usize = 10;
/// Similar events that lie further apart are not counted together.
const SIMILAR_WITHIN: SignedDuration = SignedDuration::from_mins(10);
/// How many events are remembered for counting.
const REMEMBERED: usize = 16 * 1024;

/// Turns announcements into Event objects, and repeated ones into a count.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    buckets: QuickMap<(&'static str, Str), Bucket>,
    similar: QuickMap<Topic, Similar>,
    written: QuickMap<Slot, Object>,
    by_name: QuickMap<Str, Slot>,
    sequence: u64,
}

/// Where the Event for a message about a topic is remembered; combined ones have no message of their own.
type Slot = (Topic, Str);

/// What similar events have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Topic {
    component: &'static str,
    uid: Str,
    reason: &'static str,
    warning: bool,
    field: Str,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    at: Timestamp,
}

#[derive(Debug)]
struct Similar {
    messages: Vec<Str>,
    last: Timestamp,
}

/// What to write for an announcement.
#[derive(Debug)]
pub(crate) enum Record {
    /// A new Event.
    New(Object),
    /// An Event that was written before, counted up.
    Again(Object),
}

impl Recorder {
    /// What to write for an announcement; nothing once there were too many about the same object.
    pub(crate) fn record(
        &mut self,
        component: &'static str,
        announcement: &Announcement,
        now: Timestamp,
    ) -> Option<Record> {
        if self.written.len() > REMEMBERED {
            self.written.clear();
            self.by_name.clear();
            self.similar.clear();
        }
        let topic = Topic {
            component,
            uid: announcement.about.meta_text("uid"),
            reason: announcement.reason,
            warning: announcement.warning,
            field: announcement.field.as_str().into(),
        };
        let (combined, message) = self.combine(&topic, &announcement.message, now);
        if !self.take_token(&topic, now) {
            return None;
        }
        let slot = (topic, if combined { Str::new() } else { message.clone() });
        if let Some(event) = self.written.get_mut(&slot) {
            let count = event.value().int_at(&["count"]).unwrap_or(1) + 1;
            event.set(&["count"], count);
            event.set(&["lastTimestamp"], time::stamp(now));
            event.set(&["message"], message);
            return Some(Record::Again(event.clone()));
        }
        self.sequence += 1;
        let event = event(component, announcement, &message, now, self.sequence);
        self.by_name.insert(event.meta_text("name"), slot.clone());
        self.written.insert(slot, event.clone());
        Some(Record::New(event))
    }

    /// Remembers an Event as it was stored, or forgets one that could not be written.
    pub(crate) fn stored(&mut self, event: Option<Object>, sent: &Object) {
        let Some(slot) = self.by_name.get(sent.name()) else { return };
        match event {
            Some(event) => {
                self.written.insert(slot.clone(), event);
            }
            None => {
                self.written.remove(slot);
                self.by_name.remove(sent.name());
            }
        }
    }

    fn combine(&mut self, topic: &Topic, message: &str, now: Timestamp) -> (bool, Str) {
        let similar =
            self.similar.entry(topic.clone()).or_insert_with(|| Similar { messages: Vec::new(), last: now });
        if now.duration_since(similar.last) > SIMILAR_WITHIN {
            similar.messages.clear();
        }
        similar.last = now;
        if let Some(known) = similar.messages.iter().find(|known| *known == message) {
            return (false, known.clone());
        }
        if similar.messages.len() + 1 >= SIMILAR {
            return (true, ecow::eco_format!("(combined from similar events): {message}"));
        }
        let message = Str::from(message);
        similar.messages.push(message.clone());
        (false, message)
    }

    fn take_token(&mut self, topic: &Topic, now: Timestamp) -> bool {
        let bucket = self
            .buckets
            .entry((topic.component, topic.uid.clone()))
            .or_insert(Bucket { tokens: BURST, at: now });
        let passed = now.duration_since(bucket.at).as_secs_f64().max(0.0);
        bucket.tokens = (bucket.tokens + passed / REFILL_SECONDS).min(BURST);
        bucket.at = now;
        if bucket.tokens < 1.0 {
            return false;
        }
        bucket.tokens -= 1.0;
        true
    }
}

fn event(component: &str, said: &Announcement, message: &Str, now: Timestamp, sequence: u64) -> Object {
    let about = &said.about;
    // Events about cluster-scoped objects live in the default namespace.
    let namespace = if about.namespace().is_empty() { "default" } else { about.namespace() };
    let nanos = now.as_nanosecond() as u64;
    let name = format!("{}.{:016x}", about.name(), nanos.wrapping_add(sequence));
    let own = |path: &[&str]| about.at(path).cloned().unwrap_or_else(|| "".into());
    let mut involved = vec![
        ("apiVersion", own(&["apiVersion"])),
        ("kind", own(&["kind"])),
        ("name", own(&["metadata", "name"])),
        ("resourceVersion", own(&["metadata", "resourceVersion"])),
        ("uid", own(&["metadata", "uid"])),
    ];
    if !about.namespace().is_empty() {
        involved.push(("namespace", own(&["metadata", "namespace"])));
    }
    if !said.field.is_empty() {
        involved.push(("fieldPath", said.field.as_str().into()));
    }
    let mut source = vec![("component", Value::from(component))];
    if !said.host.is_empty() {
        source.push(("host", said.host.clone().into()));
    }
    let at = Value::from(time::stamp(now));
    let map = |fields: Vec<(&str, Value)>| Value::Map(fields.into_iter().collect());
    // In the order of their names, in which a map is made without moving any of them.
    let event = map(vec![
        ("apiVersion", EVENT.version.into()),
        ("count", 1.into()),
        ("eventTime", Value::Null),
        ("firstTimestamp", at.clone()),
        ("involvedObject", map(involved)),
        ("kind", EVENT.kind.into()),
        ("lastTimestamp", at),
        ("message", message.clone().into()),
        ("metadata", map(vec![("name", name.into()), ("namespace", namespace.into())])),
        ("reason", said.reason.into()),
        ("reportingComponent", component.into()),
        ("reportingInstance", said.host.clone().into()),
        ("source", map(source)),
        ("type", if said.warning { "Warning" } else { "Normal" }.into()),
    ]);
    Object::new(event).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::kind::REPLICA_SET;

    fn say(recorder: &mut Recorder, message: &str) -> Option<(bool, i64, String)> {
        let mut about = REPLICA_SET.named("shop", "web");
        about.set(&["metadata", "uid"], "u1");
        let said = Announcement::normal(&about, "SuccessfulCreate", message);
        let record = recorder.record("replicaset-controller", &said, Timestamp::UNIX_EPOCH)?;
        let (new, event) = match record {
            Record::New(event) => (true, event),
            Record::Again(event) => (false, event),
        };
        let value = event.value();
        Some((new, value.int_at(&["count"])?, value.str_at(&["message"])?.to_owned()))
    }

    #[test]
    fn the_same_event_is_counted() {
        let mut recorder = Recorder::default();
        assert_eq!(say(&mut recorder, "a"), Some((true, 1, "a".into())));
        assert_eq!(say(&mut recorder, "a"), Some((false, 2, "a".into())));
    }

    #[test]
    fn many_similar_events_become_one_and_then_none() {
        let mut recorder = Recorder::default();
        for n in 0..9 {
            assert!(say(&mut recorder, &n.to_string()).unwrap().0);
        }
        assert_eq!(say(&mut recorder, "x"), Some((true, 1, "(combined from similar events): x".into())));
        assert_eq!(say(&mut recorder, "y"), Some((false, 2, "(combined from similar events): y".into())));
        for n in 11..25 {
            assert!(say(&mut recorder, &format!("z{n}")).is_some());
        }
        assert_eq!(say(&mut recorder, "last"), None);
    }
}
