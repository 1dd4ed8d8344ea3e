//! Messages for subjects of NATS: a protocol of lines over one connection.

use std::sync::Arc;
use std::time::Duration;

use lynceus_notify::{NatsServer, Publication, SendError};
use lynceus_object::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::{Certificates, limits, tls};

/// Has the first server that can be reached take a message, within a time.
pub(crate) async fn send(
    publication: &Publication,
    certificates: &Certificates,
    within: Duration,
) -> Result<(), SendError> {
    let mut failed = SendError::lasting("the option url names no server");
    for server in &publication.servers {
        let late = |_| SendError::new(format!("the server {} did not answer in time", server.host));
        let told = tokio::time::timeout(within, hand_over(publication, server, certificates)).await;
        match told.map_err(late).flatten() {
            Ok(()) => return Ok(()),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

async fn hand_over(
    publication: &Publication,
    server: &NatsServer,
    certificates: &Certificates,
) -> Result<(), SendError> {
    let host = server.host.as_str();
    let unreachable = |error| SendError::new(format!("the server {host} cannot be reached: {error}"));
    let stream = TcpStream::connect((host, server.port)).await.map_err(unreachable)?;
    let mut line = Line { stream, host, buffer: Vec::new() };
    let info = line.info().await?;
    if !server.encrypted && info.bool_at(&["tls_required"]) != Some(true) {
        return line.publish(publication, server, &info, false).await;
    }
    if !line.buffer.is_empty() {
        // Somebody on the way wants that to be taken for what the server says once it is encrypted.
        return Err(SendError::new(format!("the server {host} speaks out of turn")));
    }
    let (name, config) = tls::client(host, publication.insecure, certificates)?;
    let failed = |error| SendError::new(format!("the connection to {host} cannot be encrypted: {error}"));
    let stream = TlsConnector::from(Arc::new(config)).connect(name, line.stream).await.map_err(failed)?;
    let mut line = Line { stream, host, buffer: Vec::new() };
    line.publish(publication, server, &info, true).await
}

struct Line<'a, S> {
    stream: S,
    host: &'a str,
    buffer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<'_, S> {
    fn broken(&self, error: &std::io::Error) -> SendError {
        SendError::new(format!("the connection to the server {} broke: {error}", self.host))
    }

    async fn write(&mut self, text: &[u8]) -> Result<(), SendError> {
        let written = self.stream.write_all(text).await;
        let flushed = match written {
            Ok(()) => self.stream.flush().await,
            Err(error) => Err(error),
        };
        flushed.map_err(|error| self.broken(&error))
    }

    async fn line(&mut self) -> Result<String, SendError> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            let mut piece = [0; 4096];
            let read = self.stream.read(&mut piece).await.map_err(|error| self.broken(&error))?;
            if read == 0 || self.buffer.len() + read > limits::NATS_ANSWER_BYTES {
                return Err(SendError::new(format!("the server {} gave no answer", self.host)));
            }
            self.buffer.extend_from_slice(&piece[..read]);
        }
    }

    /// How the server introduces itself.
    async fn info(&mut self) -> Result<Value, SendError> {
        let line = self.line().await?;
        let info = line.strip_prefix("INFO ").and_then(|info| json::parse(info.trim().as_bytes()).ok());
        info.ok_or_else(|| SendError::lasting(format!("the server {} does not speak NATS", self.host)))
    }

    async fn publish(
        &mut self,
        publication: &Publication,
        server: &NatsServer,
        info: &Value,
        encrypted: bool,
    ) -> Result<(), SendError> {
        let most = info.int_at(&["max_payload"]).and_then(|most| usize::try_from(most).ok());
        if let Some(most) = most.filter(|most| publication.size > *most) {
            return Err(SendError::lasting(format!(
                "the message has {} bytes; the server {} takes {most}",
                publication.size, self.host
            )));
        }
        if publication.has_headers && info.bool_at(&["headers"]) != Some(true) {
            return Err(SendError::lasting(format!("the server {} takes no headers", self.host)));
        }
        self.write(publication.greeting(server, info, encrypted)?.as_bytes()).await?;
        self.answer().await?;
        self.write(&publication.message).await?;
        self.answer().await
    }

    /// Asks for a sign of life: what was said before has been taken by then, or refused.
    async fn answer(&mut self) -> Result<(), SendError> {
        self.write(b"PING\r\n").await?;
        for _ in 0..limits::NATS_LINES {
            let line = self.line().await?;
            match line.split_once(' ').map_or(line.as_str(), |(word, _)| word) {
                "PONG" => return Ok(()),
                "PING" => self.write(b"PONG\r\n").await?,
                "-ERR" => {
                    let told: String = line.chars().skip(5).take(limits::TOLD_CHARACTERS).collect();
                    return Err(SendError::new(format!("the server {} answered {told}", self.host)));
                }
                _ => {}
            }
        }
        Err(SendError::new(format!("the server {} does not stop talking", self.host)))
    }
}
