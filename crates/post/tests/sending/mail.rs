//! Mail is handed over to a stand-in of a mail server, with and without encryption.

use std::sync::Arc;

use lynceus_notify::SendError;
use lynceus_post::{Options, Post};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::line_stand_in::{LineStandIn, Visit};
use crate::send;

/// What a server does.
#[derive(Clone, Copy, Default)]
struct Ways {
    starttls: bool,
    login: &'static str,
    refuses: &'static str,
    /// Says something more right behind its yes to encryption.
    intrudes: bool,
}

async fn listening(ways: Ways) -> LineStandIn {
    LineStandIn::new(move |stream, visit| serve(stream, visit, ways)).await
}

async fn serve(mut stream: TcpStream, visit: Visit, ways: Ways) {
    stream.write_all(b"220 hello\r\n").await.unwrap();
    let mut stream = BufReader::new(stream);
    if converse(&mut stream, ways, &visit, false).await
        && let Some(stream) = visit.encrypt(stream.into_inner()).await
    {
        converse(&mut BufReader::new(stream), ways, &visit, true).await;
    }
}

/// Sends a mail; `more` are further options.
async fn mail(server: &LineStandIn, more: &str) -> Result<(), SendError> {
    mail_by(&server.post(), server.port, more).await
}

async fn mail_by(post: &Post, port: u16, more: &str) -> Result<(), SendError> {
    let options = format!("{{host: localhost, port: {port}, from: 'Lynceus <from@example.com>'{more}}}");
    let message = "{message: \".a line\\nwith ü\", email: {subject: \"Gesundheit: schlecht für shop\\r\\nBcc: evil@example.com\"}}";
    send(post, "email:a@example.com, b@example.com", &options, message).await
}

fn heard(server: &LineStandIn) -> String {
    // Nobody waits for what is said at the end.
    server.heard().trim_end_matches("\nQUIT").to_owned()
}

/// True if the client wants to go on encrypted.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufReader<S>,
    ways: Ways,
    visit: &Visit,
    encrypted: bool,
) -> bool {
    let mut in_data = false;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return false;
        }
        let text = line.trim_end().to_owned();
        visit.note(text.as_str());
        let answer = if in_data {
            if text != "." {
                continue;
            }
            in_data = false;
            "250 taken".to_owned()
        } else if !ways.refuses.is_empty() && text.starts_with(ways.refuses) {
            "550 no such user".to_owned()
        } else if text.starts_with("EHLO") {
            let starttls = if ways.starttls && !encrypted { "250-STARTTLS\r\n" } else { "" };
            format!("250-server\r\n{starttls}250-AUTH {}\r\n250 8BITMIME", ways.login)
        } else if text == "STARTTLS" {
            let more = if ways.intrudes { "250 trust me\r\n" } else { "" };
            let _ = stream.write_all(format!("220 go on\r\n{more}").as_bytes()).await;
            return true;
        } else if text == "DATA" {
            in_data = true;
            "354 go on".to_owned()
        } else if text.starts_with("AUTH PLAIN") || text == "c2VjcmV0" {
            "235 welcome".to_owned()
        } else if text == "AUTH LOGIN" || text == "dXNlcg==" {
            "334 go on".to_owned()
        } else if text == "QUIT" {
            return false;
        } else {
            "250 ok".to_owned()
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
    }
}

const LETTER: &str = "MAIL FROM:<from@example.com>
RCPT TO:<a@example.com>
RCPT TO:<b@example.com>
DATA
From: Lynceus <from@example.com>
To: a@example.com, b@example.com
Subject: =?UTF-8?B?R2VzdW5kaGVpdDogc2NobGVjaHQgZsO8ciBzaG9wICBCY2M6IGV2aWxAZXhh?=
 =?UTF-8?B?bXBsZS5jb20=?=
Date: Fri, 2 Jan 2026 03:04:05 +0000
Message-ID: <07070707-0707-4707-8707-070707070707@example.com>
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: base64

LmEgbGluZQp3aXRoIMO8
.";

#[tokio::test]
async fn a_mail_is_handed_over_without_encryption() {
    let server = listening(Ways::default()).await;
    mail(&server, "").await.unwrap();
    assert_eq!(heard(&server), format!("EHLO localhost\n{LETTER}"));
}

#[tokio::test]
async fn encryption_is_used_where_it_is_offered_and_logins_come_behind_it() {
    let server = listening(Ways { starttls: true, login: "PLAIN LOGIN", ..Ways::default() }).await;
    mail(&server, ", username: user, password: secret").await.unwrap();
    assert_eq!(
        heard(&server),
        format!(
            "EHLO localhost\nSTARTTLS\n-- encrypted --\nEHLO localhost\nAUTH PLAIN AHVzZXIAc2VjcmV0\n{LETTER}"
        )
    );
    let server = listening(Ways { starttls: true, login: "LOGIN", ..Ways::default() }).await;
    mail(&server, ", username: user, password: secret").await.unwrap();
    assert!(heard(&server).contains("AUTH LOGIN\ndXNlcg==\nc2VjcmV0\nMAIL FROM"), "{}", heard(&server));
}

#[tokio::test]
async fn a_certificate_of_a_stranger_is_refused_unless_that_is_wanted() {
    let mut server = listening(Ways { starttls: true, ..Ways::default() }).await;
    server.authority = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.pem();
    let error = mail(&server, "").await.unwrap_err();
    assert!(error.message.starts_with("the connection to localhost cannot be encrypted: "), "{error}");
    mail(&server, ", insecure_skip_verify: true").await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_where_nobody_knows_whom_to_trust() {
    let server = listening(Ways { starttls: true, ..Ways::default() }).await;
    let certificates = Arc::new(|_: &str| Err("the ConfigMap cannot be read".to_owned()));
    let post = Post::new(Options { certificates, environment_proxy: false, ..Options::default() });
    let error = mail_by(&post, server.port, "").await.unwrap_err();
    assert_eq!(error.message, "the certificates for localhost cannot be had: the ConfigMap cannot be read");
    assert!(!heard(&server).contains("MAIL"), "{}", heard(&server));
    let error =
        send(&post, "slack:general", "{token: t, apiURL: 'http://127.0.0.1:1'}", "{message: m}").await;
    assert_eq!(
        error.unwrap_err().message,
        "the certificates for 127.0.0.1 cannot be had: the ConfigMap cannot be read"
    );
}

#[tokio::test]
async fn certificates_that_are_none_are_told() {
    let mut server = listening(Ways { starttls: true, ..Ways::default() }).await;
    server.authority = "very secret".to_owned();
    let error = mail(&server, "").await.unwrap_err();
    assert_eq!(error.message, "the certificates for localhost cannot be used; they have to be in PEM");
}

#[tokio::test]
async fn what_stands_between_yes_and_encryption_is_not_believed() {
    let server = listening(Ways { starttls: true, intrudes: true, ..Ways::default() }).await;
    let error = mail(&server, "").await.unwrap_err();
    assert_eq!(error.message, "the mail server localhost speaks out of turn");
}

#[tokio::test]
async fn a_refusal_is_told_without_secrets() {
    let server = listening(Ways { refuses: "RCPT TO:<b@", ..Ways::default() }).await;
    let error = mail(&server, "").await.unwrap_err();
    assert_eq!(error.message, "the mail server localhost answered 550: no such user");
    let server = listening(Ways { login: "PLAIN", refuses: "AUTH", ..Ways::default() }).await;
    let error = mail(&server, ", username: user, password: secret").await.unwrap_err();
    assert_eq!(error.message, "the mail server localhost answered 550: no such user");
    let server = listening(Ways { login: "XOAUTH2", ..Ways::default() }).await;
    let error = mail(&server, ", username: user, password: secret").await.unwrap_err();
    assert_eq!(error.message, "the mail server localhost offers no login that is known here");
}

#[tokio::test]
async fn addresses_that_are_none_are_not_told_to_anybody() {
    let server = listening(Ways::default()).await;
    for to in ["email:nobody", "email:a@b>\r\nRCPT TO:<c@d", "email:@x", "email:"] {
        let options = format!("{{host: localhost, port: {}, from: a@b}}", server.port);
        let error = send(&crate::post(), to, &options, "{message: m}").await.unwrap_err();
        assert!(error.message.ends_with("is no address of mail") && error.is_lasting, "{error}");
    }
    assert_eq!(heard(&server), "");
}
