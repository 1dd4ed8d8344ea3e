//! What a connection may do before anybody knows whose it is.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lynceus_object::value;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Fine, Stage, accounts};

/// Opens a port; gives its address.
async fn open(stage: &Stage, tls: bool) -> std::net::SocketAddr {
    let listener = crate::listen::listen(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = crate::api::api(stage.server.clone(), Arc::new(Fine));
    match tls {
        true => {
            let tls = crate::Tls::of(&stage.server).await.unwrap();
            tokio::spawn(crate::listen::serve_tls(listener, router, tls, std::future::pending()));
        }
        false => {
            tokio::spawn(crate::listen::serve(listener, router, std::future::pending()));
        }
    }
    address
}

/// What is answered until the other side hangs up, which it has to.
async fn until_hung_up(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut said)).await;
    assert!(ended.is_ok(), "the connection stays open");
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn whoever_says_nothing_or_only_half_is_shown_out() {
    let stage = Stage::new(&accounts()).await;
    for tls in [false, true] {
        let address = open(&stage, tls).await;
        for half in [
            "",
            "G",
            "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
            "PRI * HTTP/2.0\r\n\r\n",
            "\x16\x03\x01",
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(half.as_bytes()).await.unwrap();
            until_hung_up(stream).await;
        }
    }
}

#[tokio::test]
async fn one_port_speaks_both_versions_without_tls() {
    let stage = Stage::new(&accounts()).await;
    let address = open(&stage, false).await;
    let mut old = TcpStream::connect(address).await.unwrap();
    old.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(until_hung_up(old).await.starts_with("HTTP/1.1 200 OK"));
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get(format!("http://{address}/healthz")).body(Body::empty()).unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok\n");
}

async fn handshake(
    stage: &Stage,
    address: std::net::SocketAddr,
    protocol: &str,
) -> tokio_rustls::client::TlsStream<TcpStream> {
    let secret = match stage.secret("argocd-server-tls", "tls.crt").await {
        own if own.is_empty() => stage.secret("argocd-secret", "tls.crt").await,
        own => own,
    };
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(secret.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(address).await.unwrap();
    connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap()
}

#[tokio::test]
async fn tls_is_spoken_with_a_certificate_that_is_made_once_and_replaced_at_will() {
    let stage = Stage::new(&accounts()).await;
    let address = open(&stage, true).await;
    let first = stage.secret("argocd-secret", "tls.crt").await;
    assert!(first.starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(crate::Tls::of(&stage.server).await.is_ok());
    assert_eq!(stage.secret("argocd-secret", "tls.crt").await, first, "a second server takes the same");
    for (protocol, alpn) in [("http/1.1", "http/1.1"), ("h2", "h2")] {
        let stream = handshake(&stage, address, protocol).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(alpn.as_bytes()));
    }
    let mut stream = handshake(&stage, address, "http/1.1").await;
    let body = r#"{"username":"alice","password":"password"}"#;
    let head = format!(
        "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    let said = String::from_utf8_lossy(&said).to_lowercase();
    assert!(said.starts_with("http/1.1 200 ok") && said.contains("; secure"), "{said}");

    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let encode = |text: String| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let pair = value!({"data": {"tls.crt": encode(made.cert.pem()), "tls.key": encode(made.signing_key.serialize_pem())}});
    stage.patch("Secret", "argocd-secret", &pair).await;
    let stream = handshake(&stage, address, "http/1.1").await;
    let shown = stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    assert_eq!(shown, *made.cert.der());
}

#[tokio::test]
async fn whoever_speaks_without_tls_is_told_where_to_go() {
    let stage = Stage::new(&accounts()).await;
    let address = open(&stage, true).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /applications?x=1 HTTP/1.1\r\nHost: lynceus.example\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let said = until_hung_up(stream).await;
    assert!(
        said.starts_with("HTTP/1.1 307")
            && said.contains("location: https://lynceus.example/applications?x=1"),
        "{said}"
    );
}
