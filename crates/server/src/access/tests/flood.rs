//! Too much, too slow, and nonsense: refused at once, with bounded memory, and nothing falls over.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use axum::http::{Request, header};
use futures::StreamExt as _;
use futures::stream;
use tower::ServiceExt as _;

use super::{Fine, Stage, accounts};
use crate::limits;
use crate::method::methods;

const PIECE: usize = 64 << 10;

/// A body of a gigabyte, and how many pieces of it were taken.
fn gigabyte() -> (Body, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = taken.clone();
    let pieces = stream::iter(0..(1 << 30) / PIECE).map(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b' '; PIECE]))
    });
    (Body::from_stream(pieces), taken)
}

async fn post(stage: &Stage, path: &str, token: &str, kind: &str) -> (u16, usize) {
    let (body, taken) = gigabyte();
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, kind)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(body)
        .unwrap();
    let answer = crate::api::api(stage.server.clone(), Arc::new(Fine)).oneshot(request).await.unwrap();
    (answer.status().as_u16(), taken.load(Ordering::Relaxed))
}

#[tokio::test]
async fn of_a_gigabyte_no_more_is_taken_than_a_request_may_have() {
    let stage = Stage::new(&accounts()).await;
    let alice = stage.session("alice", "password").await;
    let (status, taken) = post(&stage, "/api/v1/applications", &alice, "application/json").await;
    assert_eq!(status, 429);
    assert!(taken <= limits::BODY / PIECE + 1, "{taken} pieces");
    let (status, taken) = post(&stage, "/api/webhook", &alice, "application/json").await;
    assert_eq!(status, 413);
    assert!(taken <= limits::WEBHOOK / PIECE + 1, "{taken} pieces");
}

#[tokio::test]
async fn of_somebody_whom_nobody_knows_nothing_is_taken() {
    let stage = Stage::new(&accounts()).await;
    let (status, taken) = post(&stage, "/api/v1/applications", "nonsense", "application/json").await;
    assert_eq!((status, taken), (401, 0));
    let grpc = "/application.ApplicationService/GetManifestsWithFiles";
    let (_, taken) = post(&stage, grpc, "nonsense", "application/grpc-web+proto").await;
    assert_eq!(taken, 0);
}

#[tokio::test]
async fn nonsense_is_refused_by_every_method_and_none_falls_over() {
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("admin", &stage.initial_password().await).await;
    let long = [&[0, 0, 0, 0, 200][..], &[0x0a; 200]].concat();
    // What takes no message takes any, and what is a stream does not end.
    let asked = methods().iter().filter(|method| !matches!(method.name, "Version" | "Watch"));
    for method in asked {
        for body in [&b"\0\0\0\0\x05\xff\xff\xff\xff\xff"[..], b"\0\xff\xff\xff\xffx", b"\x01\0\0\0\0", &long]
        {
            let request = Request::post(format!("/{}/{}", method.service, method.name))
                .header(header::CONTENT_TYPE, "application/grpc-web+proto")
                .header("token", &token)
                .body(Body::from(body.to_vec()))
                .unwrap();
            let answer = stage.bytes(request).await;
            let text = String::from_utf8_lossy(&answer);
            assert!(!text.contains("grpc-status: 0"), "{} took {body:?}", method.name);
        }
    }
    for body in ["{", "[1", "\"", "nul", "{\"a\":1}{", "\u{0}"] {
        let said = stage.ask("POST", "/api/v1/applications", &token, body).await;
        assert_eq!(said.status, 400, "{body:?}: {}", said.text("message"));
    }
    let deep = "[".repeat(100_000);
    assert_eq!(stage.ask("POST", "/api/v1/applications", &token, &deep).await.status, 400);
}

#[tokio::test]
async fn thousands_of_streams_are_open_at_once_and_end_with_their_callers() {
    const STREAMS: usize = 2_000;
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("admin", &stage.initial_password().await).await;
    let router = crate::api::api(stage.server.clone(), Arc::new(Fine));
    let mut open = Vec::with_capacity(STREAMS);
    for _ in 0..STREAMS {
        let request = Request::get("/api/v1/stream/applications?resourceVersion=1")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::ACCEPT, "text/event-stream")
            .body(Body::empty())
            .unwrap();
        let mut body = router.clone().oneshot(request).await.unwrap().into_body().into_data_stream();
        assert_eq!(body.next().await.unwrap().unwrap(), ":\n\n");
        open.push(body);
    }
    stage.ask("DELETE", "/api/v1/session", &token, "").await;
    for mut body in open {
        let mut last = Bytes::new();
        while let Some(piece) = body.next().await {
            last = piece.unwrap();
        }
        let text = String::from_utf8_lossy(&last).into_owned();
        assert!(text.contains("error"), "{text}");
    }
}
