//! Messages are published to a stand-in of a NATS server, with and without encryption and login.

use lynceus_notify::SendError;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{TcpListener, TcpStream};

use crate::line_stand_in::{LineStandIn, Visit};
use crate::{post, send};

/// A server that introduces itself in these words, and refuses whoever says the others.
async fn listening(info: &'static str, refuses: &'static str) -> LineStandIn {
    LineStandIn::new(move |stream, visit| serve(stream, visit, info, refuses)).await
}

async fn serve(mut stream: TcpStream, visit: Visit, info: &str, refuses: &str) {
    stream.write_all(format!("INFO {info}\r\n").as_bytes()).await.unwrap();
    if !info.contains("tls_required\":true") {
        converse(stream, refuses, &visit).await;
    } else if let Some(stream) = visit.encrypt(stream).await {
        converse(stream, refuses, &visit).await;
    }
}

async fn tell(server: &LineStandIn, to: &str, options: &str) -> Result<(), SendError> {
    let options = options.replace("PORT", &server.port.to_string());
    send(&server.post(), to, &options, "message: 'it is ready'").await
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(stream: S, refuses: &str, visit: &Visit) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_owned();
        let size: usize = match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["PUB" | "HPUB", .., size] => size.parse::<usize>().ok()? + 2,
            _ => 0,
        };
        let mut body = vec![0; size];
        stream.read_exact(&mut body).await.ok()?;
        if !refuses.is_empty() && line.contains(refuses) {
            stream.write_all(b"-ERR 'Authorization Violation'\r\n").await.ok()?;
        }
        if line == "PING" {
            // Asks back, too, as servers do.
            stream.write_all(b"+OK\r\nPING\r\nPONG\r\n").await.ok()?;
        }
        if matches!(line.as_str(), "PING" | "PONG") {
            continue;
        }
        let body = String::from_utf8_lossy(&body).replace("\r\n", "|");
        visit.note(format!("{line} {body}").trim_end());
    }
}

const PLAIN: &str = r#"{"headers":true,"max_payload":1048576}"#;

/// What everybody says who connects, with more of it.
fn connect(more: &str, encrypted: bool) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (user, word) = more.split_once(' ').unwrap_or((more, ""));
    let pass = if word.is_empty() { String::new() } else { format!(r#""pass":"{word}","#) };
    let user = if user.is_empty() { String::new() } else { format!(r#","user":"{user}""#) };
    format!(
        r#"CONNECT {{"echo":true,"headers":true,"lang":"rust","name":"lynceus","no_responders":true,{pass}"pedantic":false,"protocol":1,"tls_required":{encrypted}{user},"verbose":false,"version":"{version}"}}"#
    )
}

#[tokio::test]
async fn a_message_is_published_to_the_subject_that_is_subscribed() {
    let server = listening(PLAIN, "").await;
    tell(&server, "nats:deployments.shop", "url: nats://localhost:PORT").await.unwrap();
    assert_eq!(server.heard(), format!("{}\nPUB deployments.shop 11 it is ready|", connect("", false)));
}

#[tokio::test]
async fn headers_and_a_password_go_along_over_an_encrypted_connection() {
    let server = listening(r#"{"headers":true,"tls_required":true}"#, "").await;
    let options = "{url: 'nats://localhost:PORT', headers: {a: b, c: 2}, username: me, password: word}";
    tell(&server, "nats:s", options).await.unwrap();
    assert_eq!(
        server.heard(),
        format!(
            "-- encrypted --\n{}\nHPUB s 24 35 NATS/1.0|a: b|c: 2||it is ready|",
            connect("me word", true)
        )
    );
}

#[tokio::test]
async fn a_key_signs_what_the_server_made_up() {
    let server = listening(r#"{"headers":true,"nonce":"abc"}"#, "").await;
    let options =
        "{url: 'nats://localhost:PORT', nkey: SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY}";
    tell(&server, "nats:s", options).await.unwrap();
    let heard = server.heard();
    // What the client of NATS in Go signs with that key.
    assert!(
        heard.contains(r#""nkey":"UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4""#),
        "{heard}"
    );
    assert!(heard.contains(r#""sig":"o2SF8zWR9V5LJJ2NObynrTKSv6TEvtjxqTwSaAO0caLdT_gugdZfADVhygclhPAm1OGy0LWzDwI0lBKgEXS_Cw""#), "{heard}");
}

#[tokio::test]
async fn the_next_server_is_asked_if_the_first_cannot_be_reached() {
    let server = listening(PLAIN, "").await;
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let url = format!("url: 'nats://localhost:{gone}, nats://me:word@localhost:PORT'");
    tell(&server, "nats:s", &url).await.unwrap();
    assert!(server.heard().starts_with(&connect("me word", false)), "{}", server.heard());
}

#[tokio::test]
async fn what_cannot_be_published_is_told_without_the_password() {
    let server = listening(PLAIN, "\"word\"").await;
    let told = |result: Result<(), SendError>| result.unwrap_err().to_string();
    let options = "{url: 'nats://localhost:PORT', username: me, password: word}";
    assert_eq!(
        told(tell(&server, "nats:s", options).await),
        "the server localhost answered 'Authorization Violation'"
    );
    assert_eq!(
        told(tell(&server, "nats:a b", "url: nats://localhost:PORT").await),
        r#""a b" is no subject of NATS"#
    );
    let headers = "{url: 'nats://localhost:PORT', headers: {a: \"b\\r\\nPUB x 0\"}}";
    assert_eq!(told(tell(&server, "nats:s", headers).await), r#""a" under headers is no header on one line"#);
    let small = listening(r#"{"max_payload":5}"#, "").await;
    assert_eq!(
        told(tell(&small, "nats:s", "url: nats://localhost:PORT").await),
        "the message has 11 bytes; the server localhost takes 5"
    );
    let other = listening("not json", "").await;
    assert_eq!(
        told(tell(&other, "nats:s", "url: nats://localhost:PORT").await),
        "the server localhost does not speak NATS"
    );
    let gone = send(&post(), "nats:s", "url: 'nats://localhost:1'", "message: m").await;
    assert!(told(gone).starts_with("the server localhost cannot be reached"));
}
