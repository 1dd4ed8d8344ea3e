//! One question to a plugin: gRPC on its socket.

use std::path::PathBuf;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::SendStream;
use h2::client::ResponseFuture;
use http::HeaderMap;
use tokio::net::UnixStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::pack::Packed;
use super::wire::{self, Configuration, Match};
use super::{Announcement, PluginCall, PluginError};
use crate::limits;

/// What comes before each message: whether it is compressed, and its length.
pub(super) const PREFIX: usize = 5;

/// A plugin and how long it may take.
pub(super) struct Plugin {
    pub(super) name: String,
    pub(super) socket: PathBuf,
    pub(super) deadline: Instant,
    /// How long all of it may take, as it is told when it did.
    pub(super) timeout: Duration,
}

impl Plugin {
    /// What it says about itself.
    pub(super) async fn configuration(&self) -> Result<Configuration, PluginError> {
        let answer = self.ask("CheckPluginConfiguration", vec![Bytes::from_static(&[0; PREFIX])]).await?;
        wire::read_configuration(&answer).ok_or_else(|| self.unreadable())
    }

    /// What its rules say about the files.
    pub(super) async fn matches(&self, call: &PluginCall, packed: &Packed) -> Result<Match, PluginError> {
        let answer = self.ask("MatchRepository", stream(call, packed)).await?;
        wire::read_match(&answer).ok_or_else(|| self.unreadable())
    }

    /// What it makes of the files.
    pub(super) async fn generate(
        &self,
        call: &PluginCall,
        packed: &Packed,
    ) -> Result<Vec<String>, PluginError> {
        let answer = self.ask("GenerateManifest", stream(call, packed)).await?;
        wire::read_manifests(&answer).ok_or_else(|| self.unreadable())
    }

    /// The parameters that it announces for the files.
    pub(super) async fn announcements(
        &self,
        call: &PluginCall,
        packed: &Packed,
    ) -> Result<Vec<Announcement>, PluginError> {
        let answer = self.ask("GetParametersAnnouncement", stream(call, packed)).await?;
        wire::read_announcements(&answer).ok_or_else(|| self.unreadable())
    }

    async fn ask(&self, method: &str, messages: Vec<Bytes>) -> Result<Bytes, PluginError> {
        let overdue = || PluginError::Timeout { plugin: self.name.clone(), after: self.timeout };
        match timeout_at(self.deadline, self.converse(method, messages)).await {
            // A plugin that is told the time ends its command a moment before, and says that the command was killed.
            Ok(Err(PluginError::Failed { .. })) if self.left() <= limits::PLUGIN_LAST_MOMENT => {
                Err(overdue())
            }
            Ok(answer) => answer,
            Err(_) => Err(overdue()),
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    async fn converse(&self, method: &str, messages: Vec<Bytes>) -> Result<Bytes, PluginError> {
        let stream = UnixStream::connect(&self.socket).await.map_err(|error| PluginError::Unreachable {
            plugin: self.name.clone(),
            reason: error.to_string(),
        })?;
        let (requests, connection) =
            h2::client::handshake(stream).await.map_err(|error| self.died(&error))?;
        // The connection lives as long as this question: the set ends it when it is dropped.
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // How it ended is told to whoever waits on a stream of it.
            let _ = connection.await;
        });
        let mut requests = requests.ready().await.map_err(|error| self.died(&error))?;
        let request =
            http::Request::post(format!("http://plugin/plugin.ConfigManagementPluginService/{method}"))
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .header("grpc-timeout", format!("{}m", self.left().as_millis().clamp(1, 99_999_999)))
                .body(())
                .map_err(|error| self.strange(error.to_string()))?;
        let (response, mut body) =
            requests.send_request(request, false).map_err(|error| self.died(&error))?;
        // It may answer before it has heard everything, and then hears no more.
        let sending = async {
            send(&mut body, messages).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            answer = self.receive(response) => answer,
            () = sending => Err(self.strange("it never answers".to_owned())),
        }
    }

    async fn receive(&self, response: ResponseFuture) -> Result<Bytes, PluginError> {
        let response = response.await.map_err(|error| self.died(&error))?;
        if response.status() != http::StatusCode::OK {
            return Err(self.strange(format!("HTTP status {}", response.status())));
        }
        let (head, mut body) = response.into_parts();
        // An error may come at once, without a message.
        if head.headers.contains_key("grpc-status") {
            self.check(&head.headers)?;
        }
        let limit = limits::MAX_PLUGIN_ANSWER_BYTES;
        let mut answer = BytesMut::new();
        while let Some(piece) = body.data().await {
            let piece = piece.map_err(|error| self.died(&error))?;
            if answer.len() + piece.len() > limit + PREFIX {
                return Err(PluginError::TooLarge { plugin: self.name.clone(), limit });
            }
            body.flow_control().release_capacity(piece.len()).map_err(|error| self.died(&error))?;
            answer.extend_from_slice(&piece);
        }
        match body.trailers().await.map_err(|error| self.died(&error))? {
            Some(trailers) => self.check(&trailers)?,
            None => return Err(self.strange("its answer has no end".to_owned())),
        }
        self.message(answer.freeze())
    }

    /// The one message of an answer.
    fn message(&self, answer: Bytes) -> Result<Bytes, PluginError> {
        let Some((prefix, message)) = answer.split_first_chunk::<PREFIX>() else {
            return Err(self.strange("its answer is empty".to_owned()));
        };
        let [compressed, length @ ..] = *prefix;
        if compressed != 0 {
            return Err(self.strange("its answer is compressed, which nobody asked for".to_owned()));
        }
        if u32::from_be_bytes(length) as usize != message.len() {
            return Err(self.strange("its answer is not one message".to_owned()));
        }
        Ok(answer.slice(PREFIX..))
    }

    /// What the end of an answer says.
    fn check(&self, headers: &HeaderMap) -> Result<(), PluginError> {
        let text = |name: &str| {
            headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let status = text("grpc-status").unwrap_or_default();
        if status == "0" {
            return Ok(());
        }
        let message: String = match text("grpc-message") {
            Some(message) if !message.is_empty() => percent_decoded(&message),
            _ => format!("gRPC status {status:?}"),
        };
        let message = message.chars().take(limits::MAX_SERVER_TEXT).collect();
        Err(PluginError::Failed { plugin: self.name.clone(), message })
    }

    fn died(&self, error: &h2::Error) -> PluginError {
        PluginError::Died { plugin: self.name.clone(), reason: error.to_string() }
    }

    fn strange(&self, reason: String) -> PluginError {
        PluginError::Protocol { plugin: self.name.clone(), reason }
    }

    fn unreadable(&self) -> PluginError {
        self.strange("its answer cannot be read".to_owned())
    }
}

/// The messages with which a plugin is sent the files.
fn stream(call: &PluginCall, packed: &Packed) -> Vec<Bytes> {
    let chunks = packed.bytes.chunks(limits::PLUGIN_CHUNK_BYTES).map(wire::chunk);
    std::iter::once(wire::metadata(call, packed)).chain(chunks).map(|message| framed(&message)).collect()
}

/// A message with what comes before it.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(message.len() + PREFIX);
    out.put_u8(0);
    out.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    out.extend_from_slice(message);
    out.freeze()
}

/// Sends as fast as the plugin takes it. Where it takes no more, its answer says why.
async fn send(body: &mut SendStream<Bytes>, messages: Vec<Bytes>) {
    for mut message in messages {
        while !message.is_empty() {
            body.reserve_capacity(message.len());
            let Some(Ok(room)) = std::future::poll_fn(|context| body.poll_capacity(context)).await else {
                return;
            };
            let piece = message.split_to(room.min(message.len()));
            if body.send_data(piece, false).is_err() {
                return;
            }
        }
    }
    // A stream that is closed already needs no end.
    let _ = body.send_data(Bytes::new(), true);
}

/// gRPC writes what is not plain text in a message as `%C3%A4`.
fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) if *byte == b'%' => {
                out.push(decoded);
                rest = &after[2..];
            }
            _ => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
