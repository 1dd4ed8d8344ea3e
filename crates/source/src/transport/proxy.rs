//! A way through a proxy for SSH: SOCKS 5, or the CONNECT of HTTP.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::secret::Secret;

/// The longest answer of an HTTP proxy that is read.
const MAX_ANSWER: usize = 8192;

/// Connects to a host through a proxy. The errors say nothing of the proxy's password.
pub(super) async fn connect(proxy: &Secret, host: &str, port: u16) -> io::Result<TcpStream> {
    let wrong = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text.to_owned());
    let url = reqwest::Url::parse(proxy.reveal()).map_err(|_| wrong("the proxy's URL cannot be read"))?;
    let at = url.host_str().ok_or_else(|| wrong("the proxy's URL has no host"))?.to_owned();
    let user = (url.username().to_owned(), url.password().unwrap_or_default().to_owned());
    match url.scheme() {
        "socks5" | "socks5h" => {
            let mut stream = TcpStream::connect((at, url.port().unwrap_or(1080))).await?;
            socks(&mut stream, &user, host, port).await?;
            Ok(stream)
        }
        "http" => {
            let mut stream = TcpStream::connect((at, url.port().unwrap_or(80))).await?;
            tunnel(&mut stream, &user, host, port).await?;
            Ok(stream)
        }
        _ => Err(wrong("a proxy for SSH is socks5:// or http://")),
    }
}

/// The names are resolved by the proxy, as it may know hosts that this machine does not.
async fn socks(stream: &mut TcpStream, user: &(String, String), host: &str, port: u16) -> io::Result<()> {
    let refused = |what: &str| io::Error::other(format!("the proxy {what}"));
    let method: u8 = if user.0.is_empty() { 0 } else { 2 };
    stream.write_all(&[5, 1, method]).await?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await?;
    if answer != [5, method] {
        return Err(refused("wants another way to log in"));
    }
    if method == 2 {
        let mut message = vec![1];
        text(&mut message, &user.0)?;
        text(&mut message, &user.1)?;
        stream.write_all(&message).await?;
        stream.read_exact(&mut answer).await?;
        if answer != [1, 0] {
            return Err(refused("does not accept the password"));
        }
    }
    let mut message = vec![5, 1, 0, 3];
    text(&mut message, host)?;
    message.extend(port.to_be_bytes());
    stream.write_all(&message).await?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    if let [5, code, ..] = head
        && code != 0
    {
        return Err(refused(&format!("cannot reach the host (code {code})")));
    }
    let [.., kind] = head;
    let rest = match kind {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await?),
        _ => return Err(refused("does not speak SOCKS 5")),
    };
    // The address that it uses, and its port, are of no interest.
    stream.read_exact(&mut vec![0; rest + 2]).await.map(|_| ())
}

/// A text with its length before it.
fn text(message: &mut Vec<u8>, text: &str) -> io::Result<()> {
    let length =
        u8::try_from(text.len()).map_err(|_| io::Error::other("a name for the proxy is too long"))?;
    message.push(length);
    message.extend(text.as_bytes());
    Ok(())
}

async fn tunnel(stream: &mut TcpStream, user: &(String, String), host: &str, port: u16) -> io::Result<()> {
    let authority = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if !user.0.is_empty() {
        let pair = STANDARD.encode(format!("{}:{}", user.0, user.1));
        request.push_str(&format!("Proxy-Authorization: Basic {pair}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    // Byte by byte, so that nothing is taken of what follows.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() > MAX_ANSWER {
            return Err(io::Error::other("the proxy's answer does not end"));
        }
        answer.push(stream.read_u8().await?);
    }
    let line = String::from_utf8_lossy(&answer);
    let status = line.split_ascii_whitespace().nth(1).unwrap_or_default();
    if status == "200" { Ok(()) } else { Err(io::Error::other(format!("the proxy answers {status}"))) }
}
