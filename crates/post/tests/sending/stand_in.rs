//! A server that answers what it is told to, and writes down what it was asked.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server answers to one request: status, headers, body. An answer of status 0 never comes.
pub(crate) type Reply = (u16, &'static str, String);

pub(crate) struct StandIn {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

/// The headers that are written down.
const SHOWN: [&str; 10] = [
    "authorization",
    "content-type",
    "x-api-key",
    "x-auth-token",
    "x-user-id",
    "x-amz-target",
    "x-amz-date",
    "accept",
    "from",
    "x-own",
];

impl StandIn {
    /// A server that gives these answers one after the other, and the last one again and again.
    pub(crate) async fn new(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = asked.clone();
        tokio::spawn(async move {
            let mut count = 0;
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(request) = read(&mut stream).await else { continue };
                seen.lock().unwrap().push(request);
                let (status, headers, body) = replies[count.min(replies.len() - 1)].clone();
                count += 1;
                if status == 0 {
                    // Held open, so that nobody is told that there will be no answer.
                    std::mem::forget(stream);
                    continue;
                }
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        StandIn { url, asked }
    }

    pub(crate) async fn answering(status: u16, body: &str) -> Self {
        Self::new(vec![(status, "", body.to_owned())]).await
    }

    /// What it was asked, each request as a block of lines.
    pub(crate) fn asked(&self) -> String {
        let address = self.url.trim_start_matches("http://");
        self.asked.lock().unwrap().join("\n\n").replace(address, "HOST")
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let first = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < end + 4 + length {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
    let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
    let shown = headers.iter().filter(|(name, value)| SHOWN.contains(&name.as_str()) && value != "*/*");
    let mut told = vec![first];
    told.extend(shown.map(|(name, value)| format!("{name}: {value}")));
    if !body.is_empty() {
        told.push(body);
    }
    Some(told.join("\n"))
}
