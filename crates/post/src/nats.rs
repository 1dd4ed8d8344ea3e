//! Messages for subjects of NATS: a protocol of lines over one connection.

use std::time::Duration;

use lynceus_notify::{NatsServer, Publication, SendError};
use lynceus_object::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::line::{Line, Peer};
use crate::{Certificates, limits};

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
    let peer = Peer { host: &server.host, word: "server", limit: limits::NATS_ANSWER_BYTES };
    let mut line = Line::open(peer, server.port).await?;
    let info = introduction(&mut line).await?;
    let about = Publishing { publication, server, info };
    if server.encrypted || about.info.bool_at(&["tls_required"]) == Some(true) {
        let line = line.encrypt(publication.insecure, certificates).await?;
        return about.publish(line, true).await;
    }
    about.publish(line, false).await
}

/// How the server introduces itself.
async fn introduction<S: AsyncRead + AsyncWrite + Unpin>(line: &mut Line<'_, S>) -> Result<Value, SendError> {
    let said = line.read().await?;
    let info = said.strip_prefix("INFO ").and_then(|info| json::parse(info.trim().as_bytes()).ok());
    info.ok_or_else(|| SendError { is_lasting: true, ..line.peer.error("does not speak NATS") })
}

/// A message for a server that is known.
struct Publishing<'a> {
    publication: &'a Publication,
    server: &'a NatsServer,
    info: Value,
}

impl Publishing<'_> {
    async fn publish<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut line: Line<'_, S>,
        encrypted: bool,
    ) -> Result<(), SendError> {
        let Self { publication, server, info } = self;
        let host = &server.host;
        let most = info.int_at(&["max_payload"]).and_then(|most| usize::try_from(most).ok());
        if let Some(most) = most.filter(|most| publication.size > *most) {
            return Err(SendError::lasting(format!(
                "the message has {} bytes; the server {host} takes {most}",
                publication.size
            )));
        }
        if publication.has_headers && info.bool_at(&["headers"]) != Some(true) {
            return Err(SendError::lasting(format!("the server {host} takes no headers")));
        }
        line.write(publication.greeting(server, info, encrypted)?.as_bytes()).await?;
        answer(&mut line).await?;
        line.write(&publication.message).await?;
        answer(&mut line).await
    }
}

/// Asks for a sign of life: what was said before has been taken by then, or refused.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(line: &mut Line<'_, S>) -> Result<(), SendError> {
    line.write(b"PING\r\n").await?;
    for _ in 0..limits::NATS_LINES {
        let said = line.read().await?;
        match said.split_once(' ').map_or(said.as_str(), |(word, _)| word) {
            "PONG" => return Ok(()),
            "PING" => line.write(b"PONG\r\n").await?,
            "-ERR" => {
                let told: String = said.chars().skip(5).take(limits::TOLD_CHARACTERS).collect();
                return Err(line.peer.error(format!("answered {told}")));
            }
            _ => {}
        }
    }
    Err(line.peer.error("does not stop talking"))
}
