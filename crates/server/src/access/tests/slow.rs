//! Those who send too slowly or too much, on a real port: shown out in time, whatever they send meanwhile.
//!
//! Time is paused, and moves on when everybody waits, so that nobody waits for it.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::IntoResponse as _;
use axum::routing::post;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::{body, limits, rest};

/// A port whose one path takes bodies as every method of the API does.
async fn open() -> TcpStream {
    let listener = crate::listen::listen(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let taken = async |request: Request<Body>| match body::collect(request.into_body(), limits::BODY).await {
        Ok(taken) => format!("took {}", taken.len()).into_response(),
        Err(refusal) => rest::refused(&refusal),
    };
    let router = Router::new().route("/", post(taken));
    tokio::spawn(crate::listen::serve(listener, router, std::future::pending()));
    TcpStream::connect(address).await.unwrap()
}

/// Sends a byte each second until the other side hangs up; gives what it said and how long that took.
async fn drip(mut stream: TcpStream, head: &str, byte: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut said = Vec::new();
    let mut piece = [0; 4_096];
    stream.write_all(head.as_bytes()).await.unwrap();
    loop {
        // What cannot be written any more is seen by reading.
        let _ = stream.write_all(byte.as_bytes()).await;
        match tokio::time::timeout(Duration::from_millis(100), stream.read(&mut piece)).await {
            Ok(Ok(count)) if count > 0 => said.extend_from_slice(&piece[..count]),
            Ok(_) => return (String::from_utf8_lossy(&said).into_owned(), began.elapsed()),
            Err(_) => assert!(began.elapsed() < Duration::from_secs(600), "the connection stays open"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn headers_that_drip_are_cut_off_however_often_a_byte_comes() {
    let (said, took) = drip(open().await, "POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ", "a").await;
    assert!(!said.contains("200 OK"), "{said}");
    assert!(took < limits::SILENCE + Duration::from_secs(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn headers_of_a_second_request_that_drip_are_cut_off_as_well() {
    let first = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1POST / HTTP/1.1\r\nX-Slow: ";
    let (said, took) = drip(open().await, first, "a").await;
    assert!(said.ends_with("took 1"), "{said}");
    assert!(took < limits::SILENCE * 2 + Duration::from_secs(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_drips_is_cut_off_after_its_time() {
    for (framing, byte) in [("Content-Length: 100000", "a"), ("Transfer-Encoding: chunked", "1\r\na\r\n")] {
        let (said, took) =
            drip(open().await, &format!("POST / HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n"), byte).await;
        assert!(said.starts_with("HTTP/1.1 504"), "{said}");
        assert!(said.contains("the request took too long to arrive"), "{said}");
        assert!(took >= limits::RECEIVE && took < limits::RECEIVE + Duration::from_secs(2), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gigabyte_that_is_announced_is_refused_before_any_of_it_comes() {
    let mut stream = open().await;
    stream.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n").await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 429"), "{said}");
    assert!(said.contains("the request is larger than 8388608 bytes"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn of_a_gigabyte_that_is_not_announced_no_more_is_taken_than_a_request_may_have() {
    let mut stream = open().await;
    stream.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").await.unwrap();
    let piece = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
    let mut taken = 0;
    // The other side hangs up while we speak; what was under way then waits in the system's buffers.
    while taken < 1 << 30 && stream.write_all(&piece).await.is_ok() {
        taken += 0x10000;
    }
    assert!(taken < limits::BODY + (16 << 20), "{taken} bytes");
}
