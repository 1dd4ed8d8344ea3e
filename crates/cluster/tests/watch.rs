//! Lists and watches on bad days: the server is scripted, the time is tokio's own.

mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lynceus_cluster::Cluster;
use lynceus_object::{GroupKind, Value, value};
use server::{Answer, Ask, Server, bookmark, end, event, list, pod, resource, status};

const PODS: &str = "/api/v1/pods";

fn pods(cluster: &Cluster) -> Vec<String> {
    let pods = cluster.cache().of_kind(&GroupKind::new("", "Pod"));
    pods.iter().map(|pod| format!("{}@{}", pod.name(), pod.resource_version())).collect()
}

fn error(cluster: &Cluster) -> String {
    let errors = cluster.cache().errors();
    errors.get(&GroupKind::new("", "Pod")).map(|error| error.message.clone()).unwrap_or_default()
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// A server whose pods are scripted.
fn with_pods(script: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> Server {
    Server::new(move |ask| (ask.path == PODS).then(|| script(ask)))
}

#[tokio::test(start_paused = true)]
async fn a_list_is_streamed_and_the_same_stream_goes_on() {
    let server = with_pods(|_| {
        Answer::Open(vec![
            event("ADDED", pod("a", 3)),
            event("ADDED", pod("b", 2)),
            end(5),
            event("DELETED", pod("a", 6)),
            event("ADDED", pod("c", 7)),
        ])
    });
    let cluster = server.connect().await;
    pass(1).await;
    assert_eq!(pods(&cluster), ["b@2", "c@7"]);
    assert_eq!(server.asked(PODS), ["stream"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_stream_lists_is_asked_for_pages() {
    let server = with_pods(|ask| {
        let mut page = list(9, &[pod("b", 2)]);
        match (ask.streams(), ask.is_watch(), ask.parameter("continue")) {
            (true, ..) => Answer::Json(422, status(422, "Invalid", "sendInitialEvents: Forbidden")),
            (_, true, _) => Answer::Open(Vec::new()),
            (_, _, "") => {
                page = list(9, &[pod("a", 1)]);
                page.set(&["metadata", "continue"], "more");
                Answer::Json(200, page)
            }
            _ => Answer::Json(200, page),
        }
    });
    let cluster = server.connect().await;
    pass(1).await;
    assert_eq!(pods(&cluster), ["a@1", "b@2"]);
    assert_eq!(server.asked(PODS), ["stream", "list", "list", "watch 9"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_the_parameters_is_asked_for_pages() {
    let server = with_pods(|ask| match (ask.is_watch(), ask.before) {
        (true, 0) => Answer::Open(vec![event("ADDED", pod("a", 1))]),
        (true, _) => Answer::Open(Vec::new()),
        (false, _) => Answer::Json(200, list(9, &[pod("a", 1)])),
    });
    let cluster = server.connect().await;
    pass(30).await;
    assert_eq!(pods(&cluster), ["a@1"]);
    assert_eq!(server.asked(PODS), ["stream", "list", "watch 9"]);
}

#[tokio::test(start_paused = true)]
async fn pages_that_expire_are_followed_by_one_list_of_everything() {
    let server = with_pods(|ask| match (ask.is_watch(), ask.parameter("limit"), ask.parameter("continue")) {
        (true, ..) if ask.streams() => Answer::Json(422, status(422, "Invalid", "no")),
        (true, ..) => Answer::Open(Vec::new()),
        (_, "", _) => Answer::Json(200, list(9, &[pod("a", 1), pod("b", 2)])),
        (_, _, "") => {
            let mut page = list(5, &[pod("old", 1)]);
            page.set(&["metadata", "continue"], "more");
            Answer::Json(200, page)
        }
        _ => Answer::Json(410, status(410, "Expired", "the token is too old")),
    });
    let cluster = server.connect().await;
    assert_eq!(pods(&cluster), ["a@1", "b@2"]);
}

#[tokio::test(start_paused = true)]
async fn a_cut_connection_is_resumed_where_it_was_and_nothing_is_listed_again() {
    let server = with_pods(|ask| match ask.before {
        0 => Answer::Cut(
            [event("ADDED", pod("a", 1)), end(5), event("MODIFIED", pod("a", 6)), bookmark(8)]
                .iter()
                .map(|event| format!("{}\n", lynceus_object::json::to_string(event)))
                .collect::<String>()
                + "{\"type\":\"MODI",
        ),
        1 => Answer::Events(Vec::new()),
        2 => Answer::Json(500, status(500, "InternalError", "etcd has no leader")),
        3 => Answer::Json(503, status(503, "ServiceUnavailable", "not now")),
        _ => Answer::Open(vec![event("MODIFIED", pod("a", 9))]),
    });
    let cluster = server.connect().await;
    pass(30).await;
    assert_eq!(pods(&cluster), ["a@9"]);
    assert_eq!(server.asked(PODS), ["stream", "watch 8", "watch 8", "watch 8", "watch 8"]);
    assert_eq!(error(&cluster), "");
}

#[tokio::test(start_paused = true)]
async fn a_position_that_is_too_old_is_given_up() {
    let gone = || status(410, "Expired", "too old resource version");
    let server = with_pods(move |ask| match ask.before {
        0 => Answer::Events(vec![event("ADDED", pod("a", 1)), end(5)]),
        1 => Answer::Json(410, gone()),
        2 => Answer::Events(vec![event("ADDED", pod("b", 7)), end(8), event("ERROR", gone())]),
        _ => Answer::Open(vec![event("ADDED", pod("c", 9)), end(9)]),
    });
    let cluster = server.connect().await;
    pass(20).await;
    assert_eq!(pods(&cluster), ["c@9"]);
    assert_eq!(server.asked(PODS), ["stream", "watch 5", "stream", "stream"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_a_pause_gets_it() {
    let server = with_pods(|ask| match ask.before {
        0 => Answer::Events(vec![end(5)]),
        1 => Answer::Later(429, 17),
        _ => Answer::Open(Vec::new()),
    });
    let _cluster = server.connect().await;
    pass(60).await;
    let times = server.times(PODS);
    assert_eq!(times.len(), 3);
    assert!((17_000..18_000).contains(&(times[2] - times[1])), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_own_cache_cannot_be_filled_is_asked_why() {
    let server = with_pods(|ask| match ask.streams() {
        true => Answer::Json(429, status(429, "TooManyRequests", "storage is (re)initializing")),
        false => Answer::Json(500, status(500, "InternalError", "conversion webhook failed: not today")),
    });
    let cluster = server.connect().await;
    pass(1).await;
    assert_eq!(error(&cluster), "conversion webhook failed: not today");
    assert_eq!(server.asked(PODS)[..2], ["stream", "list"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_says_nothing_is_opened_anew() {
    let server = with_pods(|ask| match ask.before {
        0 => Answer::Open(vec![end(5)]),
        _ => Answer::Open(Vec::new()),
    });
    let _cluster = server.connect().await;
    pass(400).await;
    assert_eq!(server.asked(PODS), ["stream", "watch 5", "watch 5"]);
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_while_a_kind_keeps_failing_and_the_kind_is_listed_anew_at_last() {
    let server = with_pods(|ask| match ask.before {
        0 => Answer::Events(vec![end(5)]),
        _ => Answer::Json(500, status(500, "InternalError", "no")),
    });
    let cluster = server.connect().await;
    pass(600).await;
    let asked = server.asked(PODS);
    assert!(asked.len() < 30, "{} requests in ten minutes", asked.len());
    assert_eq!(asked[6], "stream");
    assert_eq!(error(&cluster), "no");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_comes_back_with_an_older_state_is_read_anew() {
    let restored = Arc::new(AtomicBool::new(false));
    let back = restored.clone();
    let server = Server::new(move |ask| {
        let back = back.load(Ordering::SeqCst);
        match (ask.path.as_str(), ask.streams()) {
            ("/api/v1/namespaces", false) if !ask.is_watch() => {
                Some(Answer::Json(200, list(if back { 40 } else { 90 }, &[])))
            }
            (PODS, true) if back => Some(Answer::Open(vec![event("ADDED", pod("old", 20)), end(40)])),
            (PODS, true) => Some(Answer::Events(vec![
                event("ADDED", pod("old", 80)),
                event("ADDED", pod("new", 90)),
                end(90),
            ])),
            // A server that was set back waits silently for versions that it has not reached.
            (PODS, false) => Some(if back { Answer::Open(Vec::new()) } else { Answer::Events(Vec::new()) }),
            _ => None,
        }
    });
    let cluster = server.connect().await;
    pass(5).await;
    assert_eq!(pods(&cluster), ["new@90", "old@80"]);
    restored.store(true, Ordering::SeqCst);
    pass(60).await;
    assert_eq!(pods(&cluster), ["old@20"]);
}

#[tokio::test(start_paused = true)]
async fn versions_that_go_backwards_in_a_watch_are_a_sign_too() {
    let server = with_pods(|ask| match ask.before {
        0 => Answer::Open(vec![event("ADDED", pod("a", 80)), end(90), event("MODIFIED", pod("a", 31))]),
        _ => Answer::Open(vec![event("ADDED", pod("a", 31)), end(32), event("MODIFIED", pod("a", 33))]),
    });
    let cluster = server.connect().await;
    pass(1).await;
    assert_eq!(pods(&cluster), ["a@33"]);
}

#[tokio::test(start_paused = true)]
async fn while_a_cluster_is_away_one_asks_for_all() {
    let away = Arc::new(AtomicBool::new(false));
    let gone = away.clone();
    let server = Server::new(move |ask| {
        if gone.load(Ordering::SeqCst) {
            return Some(Answer::Refused);
        }
        (ask.path == PODS && ask.streams()).then(|| Answer::Events(vec![event("ADDED", pod("a", 1)), end(1)]))
    });
    let cluster = server.connect().await;
    away.store(true, Ordering::SeqCst);
    pass(200).await;
    let before = server.all().len();
    assert!(cluster.outage().is_some());
    pass(600).await;
    let asked = server.all().len() - before;
    assert!((30..=80).contains(&asked), "{asked} requests in ten minutes");
    assert_eq!(pods(&cluster), ["a@1"]);
    away.store(false, Ordering::SeqCst);
    pass(60).await;
    assert_eq!(cluster.outage(), None);
    assert!(server.asked(PODS).last().is_some_and(|last| last == "watch 1"));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_hangs_stops_neither_the_start_nor_the_others() {
    let server = with_pods(|_| Answer::Silence);
    let cluster = server.connect().await;
    assert_eq!(cluster.cache().errors().len(), 1);
    assert!(cluster.cache().knows(&GroupKind::new("", "Namespace"), ""));
    assert!(!cluster.cache().knows(&GroupKind::new("", "Pod"), "shop"));
    assert_eq!(cluster.outage(), None);
}

#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_read_is_lost_alone() {
    let nameless = event("ADDED", value!({"metadata": {"resourceVersion": "4"}}));
    let server =
        with_pods(move |_| Answer::Open(vec![event("ADDED", pod("a", 1)), nameless.clone(), end(5)]));
    let cluster = server.connect().await;
    assert_eq!(pods(&cluster), ["a@1"]);
    assert_eq!(error(&cluster), "1 objects cannot be read, the last because an object has no name");
    assert!(cluster.cache().knows(&GroupKind::new("", "Pod"), "shop"));
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_is_taken_told_and_not_asked_for_all_the_time() {
    let server = with_pods(|ask| match (ask.streams(), ask.is_watch()) {
        (true, _) => Answer::Json(422, status(422, "Invalid", "no")),
        (_, true) => Answer::Open(Vec::new()),
        (_, false) if ask.before < 8 => {
            let mut undated = list(0, &[pod("a", 7), pod("b", 3 + ask.before as u64)][ask.before.min(1)..]);
            undated.remove(&["metadata"]);
            Answer::Json(200, undated)
        }
        _ => Answer::Json(200, list(20, &[pod("a", 18)])),
    });
    let cluster = server.connect().await;
    assert_eq!(pods(&cluster), ["a@7", "b@3"]);
    assert!(error(&cluster).starts_with("the server's list has no resourceVersion"), "{}", error(&cluster));
    assert!(cluster.cache().knows(&GroupKind::new("", "Pod"), "shop"));
    pass(3).await;
    let asked = server.asked(PODS).len();
    assert!((2..=5).contains(&asked), "{asked} requests in three seconds");
    assert!(pods(&cluster)[0].starts_with("b@"), "{:?}", pods(&cluster));
    pass(600).await;
    assert_eq!((error(&cluster).as_str(), pods(&cluster)), ("", vec!["a@18".to_owned()]));
    assert_eq!(server.asked(PODS).last().map(String::as_str), Some("watch 20"));
}

#[tokio::test(start_paused = true)]
async fn kinds_that_cannot_be_watched_leave_room_for_others() {
    let odd: Vec<Value> =
        (0..40).map(|number| resource(&format!("odd{number}"), &format!("Odd{number}"), true)).collect();
    let server = Server::new(move |ask| match (ask.path.as_str(), ask.streams()) {
        ("/api", _) => Some(Answer::Json(
            200,
            value!({"kind": "APIGroupDiscoveryList", "items": [
                {"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": (odd.clone())}]},
            ]}),
        )),
        (path, true) if path.starts_with("/api/v1/odd") => {
            Some(Answer::Json(422, status(422, "Invalid", "no")))
        }
        (path, false) if path.starts_with("/api/v1/odd") => {
            Some(Answer::Json(200, value!({"kind": "OddList", "apiVersion": "v1", "items": []})))
        }
        _ => None,
    });
    let begun = tokio::time::Instant::now();
    server.connect().await;
    assert_eq!(begun.elapsed(), Duration::ZERO, "each was read once before any was waited for");
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_version_at_its_end_is_read_in_pages() {
    let mut undated = end(5);
    undated.remove(&["object", "metadata", "resourceVersion"]);
    let server = with_pods(move |ask| match (ask.streams(), ask.is_watch()) {
        (true, _) => Answer::Open(vec![event("ADDED", pod("a", 1)), undated.clone()]),
        (_, true) => Answer::Open(Vec::new()),
        _ => Answer::Json(200, list(9, &[pod("a", 1)])),
    });
    let cluster = server.connect().await;
    pass(1).await;
    assert_eq!(pods(&cluster), ["a@1"]);
    assert_eq!(server.asked(PODS), ["stream", "list", "watch 9"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_converted_is_an_error_of_its_own_and_heals() {
    let broken = Arc::new(AtomicU64::new(3));
    let left = broken.clone();
    let server = with_pods(move |_| {
        let failing = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match failing {
            Ok(_) => Answer::Events(vec![event(
                "ERROR",
                status(500, "InternalError", "conversion webhook for example.com/v1, Kind=Pod failed"),
            )]),
            Err(_) => Answer::Open(vec![event("ADDED", pod("a", 1)), end(2)]),
        }
    });
    let cluster = server.connect().await;
    assert_eq!(error(&cluster), "conversion webhook for example.com/v1, Kind=Pod failed");
    pass(60).await;
    assert_eq!((error(&cluster).as_str(), pods(&cluster)), ("", vec!["a@1".to_owned()]));
}
