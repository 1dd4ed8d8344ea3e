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
    const STREAMS: usize = limits::OPEN_STREAMS_OF_ONE;
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
    let more = stage.ask("GET", "/api/v1/stream/applications", &token, "").await;
    let words = "2000 streams of yours are open already; close some, or try again later";
    assert_eq!((more.status, more.text("message")), (429, words));
    let grpc = Request::post("/application.ApplicationService/Watch")
        .header(header::CONTENT_TYPE, "application/grpc-web+proto")
        .header("token", &token)
        .body(Body::from(b"\0\0\0\0\0".to_vec()))
        .unwrap();
    let said = String::from_utf8_lossy(&stage.bytes(grpc).await).into_owned();
    assert!(said.contains("grpc-status: 8") && said.contains("2000 streams of yours"), "{said}");
    // Others are not shut out by it, and what is closed makes room.
    let alice = stage.session("alice", "password").await;
    let request = Request::get("/api/v1/stream/applications")
        .header(header::AUTHORIZATION, format!("Bearer {alice}"))
        .body(Body::empty())
        .unwrap();
    assert_eq!(router.clone().oneshot(request).await.unwrap().status(), 200);
    drop(open.pop());
    let request = Request::get("/api/v1/stream/applications")
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::empty())
        .unwrap();
    assert_eq!(router.clone().oneshot(request).await.unwrap().status(), 200);
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

/// What lies about its length, in each of the ways that messages are sent in.
#[tokio::test]
async fn envelopes_that_lie_about_their_length_are_refused_in_words() {
    let stage = Stage::new(&accounts()).await;
    let token = stage.session("admin", &stage.initial_password().await).await;
    let ask = async |kind: &str, body: &[u8]| {
        let request = Request::post("/application.ApplicationService/List")
            .header(header::CONTENT_TYPE, kind)
            .header("token", &token)
            .body(Body::from(body.to_vec()))
            .unwrap();
        let answer = crate::api::api(stage.server.clone(), Arc::new(Fine)).oneshot(request).await.unwrap();
        let collected = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap();
        let status = collected
            .trailers()
            .and_then(|all| all.get("grpc-status"))
            .map(|text| text.to_str().unwrap().to_owned());
        (status, collected.to_bytes())
    };
    let lies: [&[u8]; 6] = [
        b"\0\xff\xff\xff\xff",
        b"\0\0\0\0\x09x",
        b"\0\0\0\0",
        b"\0\0\0\0\0x",
        b"\0\0\0\0\x02\x0a\xff",
        b"\x7f\0\0\0\0",
    ];
    for lie in lies {
        let (status, _) = ask("application/grpc", lie).await;
        assert!(matches!(status.as_deref(), Some("3" | "12")), "{lie:?}: {status:?}");
        let (_, said) = ask("application/grpc-web", lie).await;
        assert!(!String::from_utf8_lossy(&said).contains("grpc-status: 0"), "{lie:?}");
        let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, lie);
        let (_, said) = ask("application/grpc-web-text", text.as_bytes()).await;
        let said = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, said).unwrap();
        assert!(!String::from_utf8_lossy(&said).contains("grpc-status: 0"), "{lie:?}");
    }
    let (_, said) = ask("application/grpc-web-text", b"no base64!").await;
    let said = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, said).unwrap();
    assert!(String::from_utf8_lossy(&said).contains("the body is no base64"));
}

#[tokio::test]
async fn tokens_that_are_none_are_nobodys_and_none_falls_over() {
    let stage = Stage::new(&accounts()).await;
    let deep = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, "[".repeat(20_000));
    let long = "x".repeat(100_000);
    for token in [
        "a.b.c",
        "..",
        "...",
        "a..c",
        "=.=.=",
        &format!("{deep}.{deep}.{deep}"),
        &format!("{long}.{long}.{long}"),
        "\u{e4}.b.c",
    ] {
        for name in ["token", "authorization", "cookie"] {
            let value = match name {
                "token" => token.to_owned(),
                "authorization" => format!("Bearer {token}"),
                _ => format!("argocd.token={token}"),
            };
            let Ok(value) = axum::http::HeaderValue::from_bytes(value.as_bytes()) else { continue };
            let request = Request::get("/api/v1/account").header(name, value).body(Body::empty()).unwrap();
            assert_eq!(stage.send(request).await.status, 401, "{name}: {}", &token[..token.len().min(20)]);
        }
    }
    for cookie in [
        "argocd.token=16:x",
        "argocd.token=99999999999999999999:x",
        "argocd.token=2:a; argocd.token-1=",
        "argocd.token=:",
        ";;;=",
    ] {
        let request =
            Request::get("/api/v1/account").header(header::COOKIE, cookie).body(Body::empty()).unwrap();
        assert_eq!(stage.send(request).await.status, 401, "{cookie}");
    }
}

/// A name is one part of a path, whatever it is: nothing else in the cluster is reached by it.
#[tokio::test]
async fn dots_in_paths_lead_nowhere_else() {
    let stage = Stage::new(&accounts()).await;
    let admin = stage.session("admin", &stage.initial_password().await).await;
    for path in [
        "/api/v1/applications/..",
        "/api/v1/applications/%2e%2e",
        "/api/v1/applications/..%2f..%2fsecrets",
        "/api/v1/applications/x?appNamespace=..%2f..",
        "/api/v1/projects/..%2F..%2Fsecrets%2Fargocd-secret",
        "/api/v1/projects/%2e%2e/detailed",
        "/api/v1/clusters/..%2f..",
        "/api/v1/repositories/file%3A%2F%2F%2Fsrv%2F..%2Fetc",
        "/api/v1/gpgkeys/..%2fx",
        "/api/../api/v1/settings/..",
        "/api/v1/../../etc/passwd",
    ] {
        let said = stage.ask("GET", path, &admin, "").await;
        assert!((400..500).contains(&said.status), "{path}: {}", said.status);
        assert!(!lynceus_object::json::to_string(&said.body).contains("secretkey"), "{path}");
    }
    for (verb, path) in [
        ("DELETE", "/api/v1/projects/..%2Fsecrets%2Fargocd-secret"),
        ("DELETE", "/api/v1/applications/..%2F..%2Fsecrets%2Fargocd-secret?cascade=false"),
        ("DELETE", "/api/v1/gpgkeys?keyID=..%2Fx"),
    ] {
        let said = stage.ask(verb, path, &admin, "").await;
        assert!((400..500).contains(&said.status), "{path}: {}", said.status);
    }
    assert_ne!(stage.secret("argocd-secret", "server.secretkey").await, "", "it is still there");
}
