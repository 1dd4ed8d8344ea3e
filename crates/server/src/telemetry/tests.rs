//! Spans in, metrics and messages out.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use std::sync::Mutex;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Uri};
use axum::routing::post;
use tracing::{info, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use super::*;

/// What is counted while something happens.
fn counted(telemetry: &Telemetry, work: impl FnOnce()) -> String {
    let subscriber = tracing_subscriber::registry().with(telemetry.listener());
    tracing::subscriber::with_default(subscriber, work);
    let mut metrics = Metrics::default();
    telemetry.write(&mut metrics);
    metrics.into_text()
}

#[test]
fn spans_and_measurements_are_counted_by_argo_cds_names() {
    let (telemetry, _) = Telemetry::new(None, true).unwrap();
    let text = counted(&telemetry, || {
        let reconcile = info_span!(
            target: "lynceus::span", "reconcile", namespace = "argocd", name = "shop", project = "p",
            dest_server = "https://a"
        );
        let _entered = reconcile.enter();
        drop(info_span!(
            target: "lynceus::span", "request", server = "https://a", method = "PATCH", verb = "Patch",
            kind = "pods", namespace = "x", dry_run = false, application = "argocd/shop", code = "200"
        ));
        drop(
            info_span!(target: "lynceus::span", "call", service = "SessionService", method = "Create", code = "OK"),
        );
        drop(info_span!(target: "elsewhere", "reconcile", namespace = "other"));
        info!(
            target: "lynceus::measure", namespace = "argocd", name = "shop", project = "p",
            dest_server = "https://a", phase = "Succeeded", dry_run = false, seconds = 7, "sync"
        );
    });
    let application = r#"namespace="argocd",name="shop",project="p""#;
    for line in [
        format!(
            r#"argocd_app_k8s_request_total{{{application},server="https://a",response_code="200",verb="Patch",resource_kind="pods",resource_namespace="x",dry_run="false"}} 1"#
        ),
        format!(r#"argocd_app_sync_duration_seconds_total{{{application},dest_server="https://a"}} 7"#),
        format!(
            r#"argocd_app_sync_total{{{application},dest_server="https://a",phase="Succeeded",dry_run="false"}} 1"#
        ),
        r#"argocd_app_reconcile_count{namespace="argocd",dest_server="https://a"} 1"#.to_owned(),
        r#"argocd_login_request_total{status="success"} 1"#.to_owned(),
        r#"argocd_kubectl_requests_total{host="https://a",method="PATCH",code="200"} 1"#.to_owned(),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains("\"other\""), "{text}");
}

#[test]
fn sizes_waits_retries_and_events_are_counted() {
    let (telemetry, _) = Telemetry::new(None, true).unwrap();
    let text = counted(&telemetry, || {
        drop(info_span!(
            target: "lynceus::span", "request", server = "https://a", method = "POST", verb = "Create",
            waited = 0.2, sent = 100, received = 70_000, code = "200"
        ));
        drop(info_span!(
            target: "lynceus::span", "request", server = "https://a", method = "GET", verb = "List", waited = 0.0,
            sent = tracing::field::Empty, received = tracing::field::Empty, code = "0"
        ));
        info!(target: "lynceus::measure", server = "https://a", method = "GET", code = 429, "request again");
        for kind in ["Pod", "Pod", "Node"] {
            info!(target: "lynceus::measure", server = "https://a", group = "", kind, seconds = 0.3, "resource event");
        }
    });
    let host = r#"host="https://a""#;
    for line in [
        format!(r#"argocd_kubectl_rate_limiter_duration_seconds_bucket{{{host},verb="Create",le="0.1"}} 0"#),
        format!(r#"argocd_kubectl_rate_limiter_duration_seconds_bucket{{{host},verb="Create",le="0.5"}} 1"#),
        format!(r#"argocd_kubectl_rate_limiter_duration_seconds_count{{{host},verb="List"}} 1"#),
        format!(r#"argocd_kubectl_request_size_bytes_sum{{{host},method="POST"}} 100"#),
        format!(r#"argocd_kubectl_response_size_bytes_bucket{{{host},method="POST",le="65536"}} 0"#),
        format!(r#"argocd_kubectl_response_size_bytes_bucket{{{host},method="POST",le="1048576"}} 1"#),
        format!(r#"argocd_kubectl_request_retries_total{{{host},method="GET",code="429"}} 1"#),
        r#"argocd_cluster_events_total{server="https://a",group="",kind="Pod"} 2"#.to_owned(),
        r#"argocd_resource_events_processing_count{server="https://a"} 3"#.to_owned(),
        r#"argocd_resource_events_processing_bucket{server="https://a",le="0.25"} 0"#.to_owned(),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains(r#"size_bytes_count{host="https://a",method="GET"}"#), "nothing came: {text}");
}

/// A request to GitHub while somebody works on an ApplicationSet, and one that nobody knows the reason of.
fn asks_github() {
    let ask = |remaining: &str| {
        info!(
            target: "lynceus::measure", method = "GET", endpoint = "/orgs/x/repos", status = 200, resource = "core",
            limit = "5000", remaining, used = "", reset = "60", seconds = 0.04, "github"
        );
    };
    ask("12");
    let set = info_span!(target: "lynceus::span", "reconcile set", namespace = "argocd", name = "shops");
    let _entered = set.enter();
    let _inner = info_span!(target: "lynceus::span", "git", repo = "x").entered();
    ask("11");
    ask("10");
}

#[test]
fn requests_to_github_are_counted_for_the_set_that_needs_them() {
    let (telemetry, _) = Telemetry::new(None, true).unwrap();
    let text = counted(&telemetry, asks_github);
    let set = r#"appset_namespace="argocd",appset_name="shops""#;
    let nobody = r#"appset_namespace="unknown",appset_name="unknown""#;
    let endpoint = r#"endpoint="/orgs/x/repos""#;
    for line in [
        format!(r#"argocd_github_api_requests_total{{method="GET",{endpoint},status="200",{set}}} 2"#),
        format!(r#"argocd_github_api_requests_total{{method="GET",{endpoint},status="200",{nobody}}} 1"#),
        format!(r#"argocd_github_api_request_duration_seconds_count{{method="GET",{endpoint},{set}}} 2"#),
        format!(r#"argocd_github_api_rate_limit_remaining{{{endpoint},{set},resource="core"}} 10"#),
        format!(r#"argocd_github_api_rate_limit_remaining{{{endpoint},{nobody},resource="core"}} 12"#),
        format!(r#"argocd_github_api_rate_limit_limit{{{endpoint},{set},resource="core"}} 5000"#),
        format!(r#"argocd_github_api_rate_limit_reset_seconds{{{endpoint},{set},resource="core"}} 60"#),
        "# TYPE argocd_github_api_rate_limit_limit gauge".to_owned(),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(!text.contains("rate_limit_used"), "GitHub did not say it");
    let (telemetry, _) = Telemetry::new(None, false).unwrap();
    assert!(!counted(&telemetry, asks_github).contains("github"), "only where somebody wants it");
}

#[test]
fn the_text_is_one_that_a_monitoring_system_reads() {
    let (telemetry, _) = Telemetry::new(None, true).unwrap();
    let text = counted(&telemetry, || {
        for repo in ["https://a", "with \"quotes\"\n and \\"] {
            drop(info_span!(target: "lynceus::span", "git", repo, request_type = "fetch", error = "failed"));
        }
    });
    let mut seen = std::collections::BTreeSet::new();
    let mut family = String::new();
    for line in text.lines() {
        match line.strip_prefix("# ").map(|comment| comment.split(' ').collect::<Vec<_>>()) {
            Some(words) if words[0] == "HELP" => {
                family = words[1].to_owned();
                assert!(seen.insert(format!("# {family}")), "{family} is there twice");
            }
            Some(words) => assert_eq!((words[0], words[1]), ("TYPE", family.as_str())),
            None => {
                assert!(line.starts_with(&family), "{line} is not of {family}");
                let (series, value) = line.rsplit_once(' ').unwrap();
                assert!(value.parse::<f64>().is_ok(), "{line}");
                assert!(seen.insert(series.to_owned()), "{series} is there twice");
            }
        }
    }
    assert!(text.contains(r#"repo="with \"quotes\"\n and \\""#), "{text}");
}

/// A collector on this machine, and what it was sent: the path, the kind of content, a header, and the bytes.
type Received = Arc<Mutex<Vec<(String, String, String, Vec<u8>)>>>;

async fn collector() -> (std::net::SocketAddr, Received, tokio::sync::mpsc::Receiver<()>) {
    let received = Received::default();
    let (heard, hears) = tokio::sync::mpsc::channel(10);
    let kept = received.clone();
    let take = move |uri: Uri, headers: HeaderMap, body: Bytes| {
        let text = |name: &str| {
            headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        kept.lock().unwrap().push((
            uri.path().to_owned(),
            text("content-type"),
            text("x-key"),
            body.to_vec(),
        ));
        let heard = heard.clone();
        async move { heard.send(()).await.unwrap() }
    };
    let listener = crate::listen(std::net::SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(post(take));
    tokio::spawn(crate::serve(listener, router, std::future::pending()));
    (address, received, hears)
}

async fn delivered(address: String) -> (String, String, String, Vec<u8>) {
    let (_, received, mut hears) = {
        let (place, received, hears) = collector().await;
        let collector = Collector {
            address: address.replace("HERE", &place.to_string()),
            insecure: true,
            headers: vec![("x-key".to_owned(), "k".to_owned())],
            attributes: vec![("team".to_owned(), "shop".to_owned())],
            service: "lynceus-test".to_owned(),
        };
        let (telemetry, courier) = Telemetry::new(Some(collector), false).unwrap();
        tokio::spawn(courier.unwrap().run());
        counted(&telemetry, || {
            let outer = info_span!(target: "lynceus::span", "reconcile", name = "shop");
            let _entered = outer.enter();
            drop(info_span!(target: "lynceus::span", "git", repo = "https://a", error = "failed"));
        });
        (place, received, hears)
    };
    hears.recv().await.unwrap();
    received.lock().unwrap().remove(0)
}

#[tokio::test]
async fn spans_arrive_at_a_collector_over_http_and_grpc() {
    let (path, kind, key, body) = delivered("http://HERE".to_owned()).await;
    assert_eq!((path.as_str(), kind.as_str(), key.as_str()), ("/v1/traces", "application/x-protobuf", "k"));
    let text = String::from_utf8_lossy(&body);
    for word in ["service.name", "lynceus-test", "team", "git", "repo", "https://a", "failed"] {
        assert!(text.contains(word), "{word}");
    }
    let (path, kind, _, body) = delivered("HERE".to_owned()).await;
    assert_eq!(path, "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    assert_eq!(kind, "application/grpc");
    let length = u32::from_be_bytes([body[1], body[2], body[3], body[4]]) as usize;
    assert_eq!((body[0], length), (0, body.len() - 5));
}

#[tokio::test]
async fn spans_that_come_too_fast_are_dropped_and_counted() {
    let collector = Collector { address: "http://127.0.0.1:9".to_owned(), ..Collector::default() };
    let (telemetry, courier) = Telemetry::new(Some(collector), false).unwrap();
    let text = counted(&telemetry, || {
        for _ in 0..crate::limits::SPANS + 3 {
            drop(info_span!(target: "lynceus::span", "reconcile", name = "shop"));
        }
    });
    assert!(text.contains("lynceus_traces_dropped_total 3\n"), "{text}");
    drop(courier);
}
