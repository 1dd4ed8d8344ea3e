//! Every way in, up to what a server or a proxy gets to see.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Object, value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::client;
use crate::secret::Registration;

const VERSION: &str = r#"{"major":"1","minor":"36","gitVersion":"v1.36.0","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"","platform":""}"#;

/// A proxy of SOCKS that takes whoever comes to wherever they want.
const SOCKS_WELCOME: &[u8] = &[5, 0];
const SOCKS_THROUGH: &[u8] = &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0];

async fn head(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

async fn answer(stream: &mut TcpStream) {
    let length = VERSION.len();
    let text = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{VERSION}"
    );
    stream.write_all(text.as_bytes()).await.unwrap();
}

/// Takes one connection and gives what it was asked for: the proxy's part, then the API server's.
async fn serve(listener: TcpListener, proxy: &str) -> (String, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let before = match proxy {
        "http" => {
            let before = head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            before
        }
        "socks5" => {
            let mut greeting = [0; 3];
            stream.read_exact(&mut greeting).await.unwrap();
            stream.write_all(SOCKS_WELCOME).await.unwrap();
            let mut wish = [0; 5];
            stream.read_exact(&mut wish).await.unwrap();
            let mut place = vec![0; usize::from(wish[4]) + 2];
            stream.read_exact(&mut place).await.unwrap();
            stream.write_all(SOCKS_THROUGH).await.unwrap();
            String::from_utf8_lossy(&place[..place.len() - 2]).into_owned()
        }
        _ => String::new(),
    };
    let request = head(&mut stream).await;
    answer(&mut stream).await;
    (before, request)
}

/// Asks a server for its version, with a Secret's config in which `PORT` stands for the port that is listened at.
async fn seen(config: &str, server: &str, proxy: &str) -> (String, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let encoded = |text: &str| STANDARD.encode(text.replace("PORT", &port));
    let secret = Object::new(value!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "prod"},
        "data": {"server": encoded(server), "config": encoded(config)},
    }));
    let registration = Registration::read(&secret.unwrap()).unwrap();
    let client = client(&registration, None, &["sh".to_owned()]).await.unwrap();
    let (seen, version) = tokio::join!(serve(listener, proxy), client.apiserver_version());
    assert_eq!(version.unwrap().git_version, "v1.36.0");
    seen
}

async fn authorization(config: &str) -> String {
    let (_, request) = seen(config, "http://127.0.0.1:PORT", "").await;
    let found = request.lines().find_map(|line| line.strip_prefix("authorization: "));
    found.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_server_sees_who_the_secret_says_we_are() {
    assert_eq!(authorization("").await, "");
    assert_eq!(authorization(r#"{"bearerToken": "t"}"#).await, "Bearer t");
    assert_eq!(authorization(r#"{"username": "u", "password": "p"}"#).await, "Basic dTpw");
}

#[tokio::test]
async fn the_server_sees_the_token_that_a_program_prints() {
    let config = r#"{"execProviderConfig": {"command": "sh", "apiVersion": "client.authentication.k8s.io/v1",
        "args": ["-c", "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'$WHO'\"}}'"],
        "env": {"WHO": "fresh"}}}"#;
    assert_eq!(authorization(config).await, "Bearer fresh");
}

#[tokio::test]
async fn a_proxy_is_asked_for_the_server() {
    let config = r#"{"bearerToken": "t", "proxyUrl": "http://127.0.0.1:PORT"}"#;
    let (before, request) = seen(config, "http://prod.example:8080", "http").await;
    assert!(before.starts_with("CONNECT prod.example:8080 HTTP/1.1\r\n"), "{before}");
    assert!(!before.contains("Bearer"), "{before}");
    assert!(request.contains("authorization: Bearer t\r\n"), "{request}");
    let config = r#"{"bearerToken": "t", "proxyUrl": "socks5://127.0.0.1:PORT"}"#;
    let (place, request) = seen(config, "http://prod.example:8080", "socks5").await;
    assert_eq!(place, "prod.example");
    assert!(request.contains("authorization: Bearer t\r\n"), "{request}");
}
