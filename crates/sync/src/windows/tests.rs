use super::*;
use lynceus_api::Kind as _;
use lynceus_object::typed::to_typed;
use lynceus_object::{Object, value, yaml};

fn application() -> Application {
    let object = Object::new(value!({
        "metadata": {"name": "shop-web"},
        "spec": {
            "project": "default", "source": {"repoURL": "r", "path": "p"},
            "destination": {"name": "prod-eu", "namespace": "shop"},
        },
    }));
    Application::from_object(&object.unwrap()).unwrap()
}

fn windows(texts: &[&str]) -> Vec<SyncWindow> {
    let read = |text: &&str| {
        let mut window = yaml::parse_str(text).unwrap();
        if window.at(&["applications"]).is_none() {
            window.set(&["applications"], value!(["*"]));
        }
        to_typed(&window).unwrap()
    };
    texts.iter().map(read).collect()
}

/// `open`, or why not and when it opens.
fn gate(texts: &[&str], attempt: Attempt, now: &str) -> String {
    let windows = Windows::of(&windows(texts), &application());
    match windows.map(|windows| windows.gate(attempt, now.parse().unwrap())) {
        Ok(Gate::Open) => "open".to_owned(),
        Ok(Gate::Closed(closed)) => closed.to_string(),
        Err(error) => error.to_string(),
    }
}

const AUTOMATED: Attempt = Attempt { manual: false, started: None };
const MANUAL: Attempt = Attempt { manual: true, started: None };
const NIGHT: &str = "{kind: deny, schedule: '0 22 * * *', duration: 8h}";
const DAY: &str = "{kind: allow, schedule: '0 9 * * 1-5', duration: 8h}";

#[test]
fn without_windows_everything_is_open() {
    assert_eq!(gate(&[], AUTOMATED, "2026-01-05T12:00:00Z"), "open");
}

#[test]
fn a_deny_window_shuts_while_it_lasts() {
    for (now, expect) in [
        ("2026-01-05T21:59:59Z", "open"),
        ("2026-01-05T22:00:00Z", "open"),
        (
            "2026-01-05T22:00:01Z",
            "denied by deny window '0 22 * * *' (8h); open from 2026-01-06T06:00:01Z on",
        ),
        (
            "2026-01-06T05:59:59Z",
            "denied by deny window '0 22 * * *' (8h); open from 2026-01-06T06:00:01Z on",
        ),
        ("2026-01-06T06:00:00Z", "open"),
    ] {
        assert_eq!(gate(&[NIGHT], AUTOMATED, now), expect, "{now}");
    }
}

#[test]
fn where_there_are_allow_windows_one_of_them_has_to_be_open() {
    let shut = "outside of allow window '0 9 * * 1-5' (8h); open from 2026-01-05T09:00:01Z on";
    // 3 and 4 January 2026 are a weekend.
    assert_eq!(gate(&[DAY], AUTOMATED, "2026-01-02T12:00:00Z"), "open");
    assert_eq!(gate(&[DAY], AUTOMATED, "2026-01-03T12:00:00Z"), shut);
    let evening = "{kind: allow, schedule: '0 18 * * *', duration: 1h}";
    assert_eq!(gate(&[DAY, evening], AUTOMATED, "2026-01-03T18:30:00Z"), "open");
}

#[test]
fn what_denies_counts_before_what_allows() {
    let lunch = "{kind: deny, schedule: '0 12 * * *', duration: 1h, description: lunch}";
    let expect = "denied by deny window '0 12 * * *' (1h) \"lunch\"; open from 2026-01-05T13:00:01Z on";
    assert_eq!(gate(&[DAY, lunch], AUTOMATED, "2026-01-05T12:30:00Z"), expect);
    assert_eq!(gate(&[DAY, lunch], AUTOMATED, "2026-01-05T13:30:00Z"), "open");
    // The end of the one that denies is no good outside of those that allow.
    let late = "{kind: deny, schedule: '30 16 * * *', duration: 1h}";
    let shut = gate(&[DAY, late], AUTOMATED, "2026-01-05T16:45:00Z");
    assert!(shut.ends_with("; open from 2026-01-06T09:00:01Z on"), "{shut}");
}

#[test]
fn people_are_let_through_where_every_window_in_the_way_says_so() {
    let kind = "{kind: deny, schedule: '0 22 * * *', duration: 8h, manualSync: true}";
    let now = "2026-01-05T23:00:00Z";
    assert_eq!(gate(&[kind], MANUAL, now), "open");
    assert_ne!(gate(&[kind], AUTOMATED, now), "open");
    assert_ne!(gate(&[kind, NIGHT], MANUAL, now), "open");
    let allow = "{kind: allow, schedule: '0 9 * * *', duration: 1h, manualSync: true}";
    assert_eq!(gate(&[allow], MANUAL, now), "open");
    assert_ne!(gate(&[allow, DAY], MANUAL, now), "open");
}

#[test]
fn a_sync_that_has_begun_goes_on_where_every_window_in_the_way_says_so() {
    let since = |text: &str| Attempt { manual: false, started: Some(text.parse().unwrap()) };
    let deny = "{kind: deny, schedule: '0 22 * * *', duration: 8h, syncOverrun: true}";
    let allow = "{kind: allow, schedule: '0 9 * * *', duration: 8h, syncOverrun: true}";
    let (before, within) = (since("2026-01-05T21:50:00Z"), since("2026-01-05T22:10:00Z"));
    assert_eq!(gate(&[deny], before, "2026-01-05T22:30:00Z"), "open");
    assert_ne!(gate(&[deny], within, "2026-01-05T22:30:00Z"), "open");
    assert_ne!(gate(&[NIGHT], before, "2026-01-05T22:30:00Z"), "open");
    assert_ne!(gate(&[deny, NIGHT], before, "2026-01-05T22:30:00Z"), "open");
    assert_eq!(gate(&[allow], since("2026-01-05T16:50:00Z"), "2026-01-05T17:30:00Z"), "open");
    assert_ne!(gate(&[allow], since("2026-01-05T08:50:00Z"), "2026-01-05T17:30:00Z"), "open");
}

#[test]
fn the_clock_on_the_wall_of_the_time_zone_counts() {
    let berlin = "{kind: deny, schedule: '0 8 * * *', duration: 1h, timeZone: Europe/Berlin}";
    let is_open = |now: &str| gate(&[berlin], AUTOMATED, now) == "open";
    // One hour ahead of UTC in winter, two in summer.
    assert!(!is_open("2026-01-05T07:30:00Z") && is_open("2026-01-05T08:30:00Z"));
    assert!(!is_open("2026-07-05T06:30:00Z") && is_open("2026-07-05T07:30:00Z"));
    let tokyo = "{kind: deny, schedule: '0 0 * * 1', duration: 1h, timeZone: Asia/Tokyo}";
    // Monday begins while it is still Sunday in London.
    assert_ne!(gate(&[tokyo], AUTOMATED, "2026-01-04T15:30:00Z"), "open");
}

#[test]
fn where_clocks_are_changed_the_hours_that_they_show_count() {
    let night = "{kind: deny, schedule: '0 1 * * *', duration: 3h, timeZone: America/New_York}";
    let shown = |now: &str| gate(&[night], AUTOMATED, now);
    // On 8 March 2026 the clock goes from 1:59 to 3:00: the window from 1:00 to 4:00 is two hours long.
    assert_eq!(shown("2026-03-08T05:59:00Z"), "open");
    assert!(shown("2026-03-08T06:30:00Z").ends_with("open from 2026-03-08T08:00:01Z on"));
    assert_ne!(shown("2026-03-08T07:30:00Z"), "open");
    assert_eq!(shown("2026-03-08T08:00:00Z"), "open");
    // On 1 November 2026 it goes from 1:59 back to 1:00: the window is four hours long.
    assert_ne!(shown("2026-11-01T05:30:00Z"), "open");
    assert_ne!(shown("2026-11-01T06:30:00Z"), "open");
    assert_ne!(shown("2026-11-01T08:59:00Z"), "open");
    assert_eq!(shown("2026-11-01T09:00:00Z"), "open");
}

#[test]
fn a_time_zone_that_nobody_knows_counts_as_utc() {
    let lost = "{kind: deny, schedule: '0 8 * * *', duration: 1h, timeZone: Atlantis/Poseidonis}";
    let shown = gate(&[lost], AUTOMATED, "2026-01-05T08:30:00Z");
    assert!(shown.contains("Atlantis/Poseidonis, which is no time zone: UTC counts"), "{shown}");
}

#[test]
fn a_window_is_for_those_that_one_of_its_filters_names_or_each_where_it_says_so() {
    let check = |filters: &str, expect: bool| {
        let window = format!("{{kind: deny, schedule: '* * * * *', duration: 1h, {filters}}}");
        let shut = gate(&[&window], AUTOMATED, "2026-01-05T08:30:00Z") != "open";
        assert_eq!(shut, expect, "{filters}");
    };
    check("applications: [shop-*]", true);
    check("applications: [blog]", false);
    check("applications: [blog], namespaces: [shop]", true);
    check("applications: [blog], clusters: [prod-*]", true);
    check("applications: [], clusters: [test], namespaces: [other]", false);
    check("applications: [shop-*], clusters: [prod-*], andOperator: true", true);
    check("applications: [shop-*], clusters: [test], andOperator: true", false);
    check("applications: [shop-*], namespaces: [other], andOperator: true", false);
    check("applications: [], namespaces: [shop], andOperator: true", true);
    check("applications: []", false);
    check("applications: [], andOperator: true", false);
}

#[test]
fn a_window_that_cannot_be_read_shuts_and_says_why() {
    for (window, expect) in [
        (
            "{kind: deny, schedule: nonsense, duration: 1h}",
            "cannot parse schedule 'nonsense': expected exactly 5 fields, found 1: [nonsense]",
        ),
        (
            "{kind: deny, schedule: '* * * * *', duration: '30'}",
            "cannot parse duration '30': time: missing unit in duration \"30\"",
        ),
        ("{kind: deny, schedule: '0 0 30 2 *', duration: 1h}", "schedule '0 0 30 2 *' never comes"),
    ] {
        assert_eq!(gate(&[window], AUTOMATED, "2026-01-05T08:30:00Z"), expect);
    }
}

#[test]
fn a_window_of_neither_kind_or_without_length_changes_nothing() {
    for window in [
        "{kind: perhaps, schedule: '* * * * *', duration: 1h}",
        "{kind: deny, schedule: '* * * * *', duration: '0'}",
        "{kind: deny, schedule: '* * * * *', duration: -1h}",
    ] {
        assert_eq!(gate(&[window], AUTOMATED, "2026-01-05T08:30:30Z"), "open", "{window}");
    }
}
