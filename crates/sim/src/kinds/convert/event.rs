//! Events are served by two groups, with other names for the same fields.

use lynceus_object::Value;

/// Name in the core group, name in `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// From the core group to `events.k8s.io`.
pub(super) fn to_events(event: &mut Value) {
    for (core, events) in NAMES {
        rename(event, core, events);
    }
}

/// From `events.k8s.io` to the core group.
pub(super) fn to_core(event: &mut Value) {
    for (core, events) in NAMES {
        rename(event, events, core);
    }
    for required in ["involvedObject", "source"] {
        if event.get(required).is_none() {
            event.set(&[required], Value::Map(Default::default()));
        }
    }
}

fn rename(event: &mut Value, from: &str, to: &str) {
    if let Some(value) = event.remove(&[from]) {
        event.set(&[to], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    #[test]
    fn an_event_keeps_everything_on_the_way_there_and_back() {
        let core = value!({
            "involvedObject": {"kind": "Pod"}, "message": "m", "source": {"component": "c"}, "count": 2,
            "firstTimestamp": "t", "lastTimestamp": "t", "reportingComponent": "c", "type": "Normal",
        });
        let mut event = core.clone();
        to_events(&mut event);
        assert_eq!(event.str_at(&["note"]), Some("m"));
        assert_eq!(event.str_at(&["regarding", "kind"]), Some("Pod"));
        to_core(&mut event);
        assert_eq!(event, core);
    }
}
