//! What has been told already.

use jiff::Timestamp;
use lynceus_notify::{ConditionResult, Destination, NOTIFIED_ANNOTATION, State, is_refreshed, state_key};
use lynceus_object::Object;

use crate::{application, now};

/// An application on which stands what was told.
fn having(text: &str) -> Object {
    let mut object = application();
    object.set(&["metadata", "annotations", NOTIFIED_ANNOTATION], text);
    object
}

fn read(text: &str) -> State {
    State::read(having(text).annotation(NOTIFIED_ANNOTATION))
}

fn key(once_per: &str, namespace: Option<&str>) -> String {
    let result = ConditionResult { key: "[0].abc".into(), once_per: once_per.into(), ..Default::default() };
    state_key(namespace, "on-sync", &result, &Destination::parse("slack:general"))
}

#[test]
fn keys_are_those_of_argo_cd() {
    assert_eq!(key("", None), "on-sync:[0].abc:slack:general");
    assert_eq!(key("rev1", None), "rev1:on-sync:[0].abc:slack:general");
    assert_eq!(key("rev1", Some("team")), "rev1:team:on-sync:[0].abc:slack:general");
}

#[test]
fn the_annotation_is_read_and_written_as_argo_cd_writes_it() {
    let text = r#"{"on-a:[0].x:slack:a\u0026b":1767323045,"on-b:[0].y:email:c@d":1767323046}"#;
    let mut state = read(text);
    assert_eq!(state.write().as_deref(), Some(text));
    assert!(state.has("on-a:[0].x:slack:a&b"));
    assert!(!state.tell("on-a:[0].x:slack:a&b", now()));
    state.forget("on-a:[0].x:slack:a&b");
    assert!(state.tell("on-a:[0].x:slack:a&b", now()));
    state.forget("on-a:[0].x:slack:a&b");
    state.forget("on-b:[0].y:email:c@d");
    assert_eq!(state.write(), None);
}

#[test]
fn what_cannot_be_read_says_nothing_and_that_it_is_told_again() {
    let told = |text: &str| {
        let (state, fault) = State::of(&having(text), NOTIFIED_ANNOTATION);
        assert!(state.is_empty(), "{text}");
        fault.map(|fault| fault.to_string()).unwrap_or_default()
    };
    let again = "so what it says has been told is told again; remove it, or put back what was there";
    let place = "annotation notified.notifications.argoproj.io";
    assert_eq!(told("{\"secret"), format!("{place}: it is no JSON, {again}"));
    assert_eq!(told("[]"), format!("{place}: it is no map but array, {again}"));
    assert_eq!(told(r#"{"a":"b"}"#), format!("{place}: 1 of its times are no whole numbers, {again}"));
    assert_eq!(told(""), "");
    assert_eq!(told("null"), "");
    assert_eq!(State::of(&application(), NOTIFIED_ANNOTATION), (State::default(), None));
}

#[test]
fn an_entry_that_cannot_be_read_does_not_have_the_others_told_again() {
    let (state, fault) = State::of(&having(r#"{"a":1,"b":"2","c":3}"#), NOTIFIED_ANNOTATION);
    assert!(state.has("a") && !state.has("b") && state.has("c"));
    assert!(fault.is_some());
}

#[test]
fn only_the_newest_hundred_are_kept() {
    let mut state = State::default();
    for number in 0..150 {
        state.tell(&format!("key-{number:03}"), Timestamp::from_second(1000 + number).unwrap());
    }
    let kept = read(&state.write().unwrap());
    assert!(!kept.has("key-049") && kept.has("key-050") && kept.has("key-149"));
}

#[test]
fn a_status_from_before_the_end_of_the_operation_is_not_told() {
    let mut object = application();
    assert!(is_refreshed(&object));
    object.set(&["status", "reconciledAt"], "2026-01-02T02:59:29Z");
    assert!(!is_refreshed(&object));
    object.set(&["status", "observedAt"], "2026-01-02T02:59:30Z");
    assert!(is_refreshed(&object));
    object.remove(&["status", "operationState", "finishedAt"]);
    assert!(!is_refreshed(&object));
    object.set(&["status", "operationState", "phase"], "Running");
    assert!(is_refreshed(&object));
    object.remove(&["status", "operationState"]);
    assert!(is_refreshed(&object));
}
