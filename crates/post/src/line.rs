//! A conversation in lines over one connection, which may be encrypted on the way.

use std::sync::Arc;

use lynceus_notify::SendError;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{Certificates, tls};

/// Whom one speaks with, and how much they may say.
#[derive(Clone, Copy)]
pub(crate) struct Peer<'a> {
    /// Where it is.
    pub(crate) host: &'a str,
    /// What it is called in errors.
    pub(crate) word: &'static str,
    /// How many bytes one line may have.
    pub(crate) limit: usize,
}

impl Peer<'_> {
    /// Something that went wrong with it and may be better later: `does` follows its name.
    pub(crate) fn error(&self, does: impl AsRef<str>) -> SendError {
        SendError::new(format!("the {} {} {}", self.word, self.host, does.as_ref()))
    }

    fn broken(&self, error: &std::io::Error) -> SendError {
        SendError::new(format!("the connection to the {} {} broke: {error}", self.word, self.host))
    }
}

/// One connection.
pub(crate) struct Line<'a, S> {
    pub(crate) peer: Peer<'a>,
    stream: S,
    /// What was heard behind the end of the last line.
    buffer: Vec<u8>,
}

impl<'a> Line<'a, TcpStream> {
    pub(crate) async fn open(peer: Peer<'a>, port: u16) -> Result<Self, SendError> {
        let opened = TcpStream::connect((peer.host, port)).await;
        let stream = opened.map_err(|error| peer.error(format!("cannot be reached: {error}")))?;
        Ok(Self { peer, stream, buffer: Vec::new() })
    }

    /// The same connection encrypted from here on.
    pub(crate) async fn encrypt(
        self,
        insecure: bool,
        certificates: &Certificates,
    ) -> Result<Line<'a, TlsStream<TcpStream>>, SendError> {
        let Self { peer, stream, buffer } = self;
        if !buffer.is_empty() {
            // Somebody on the way wants that to be taken for what the server says once it is encrypted.
            return Err(peer.error("speaks out of turn"));
        }
        let host = peer.host;
        let (name, config) = tls::client(host, insecure, certificates)?;
        let failed = |error| SendError::new(format!("the connection to {host} cannot be encrypted: {error}"));
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(failed)?;
        Ok(Line { peer, stream, buffer })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<'_, S> {
    pub(crate) async fn write(&mut self, text: &[u8]) -> Result<(), SendError> {
        let written = self.stream.write_all(text).await;
        let flushed = match written {
            Ok(()) => self.stream.flush().await,
            Err(error) => Err(error),
        };
        flushed.map_err(|error| self.peer.broken(&error))
    }

    /// One line of the server, without its end.
    pub(crate) async fn read(&mut self) -> Result<String, SendError> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            let mut piece = [0; 4096];
            let read = self.stream.read(&mut piece).await.map_err(|error| self.peer.broken(&error))?;
            if read == 0 {
                return Err(self.peer.error("gave no answer"));
            }
            if self.buffer.len() + read > self.peer.limit {
                return Err(self.peer.error(format!("says more than {} bytes on one line", self.peer.limit)));
            }
            self.buffer.extend_from_slice(&piece[..read]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn reading(said: &'static [u8]) -> String {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let speaking = tokio::spawn(async move { theirs.write_all(said).await });
        let peer = Peer { host: "h", word: "clock", limit: 8 };
        let mut line = Line { peer, stream: ours, buffer: Vec::new() };
        let mut heard = Vec::new();
        let error = loop {
            match line.read().await {
                Ok(text) => heard.push(text),
                Err(error) => break error,
            }
        };
        drop(line);
        let _ = speaking.await;
        format!("{}; {error}", heard.join("|"))
    }

    #[tokio::test]
    async fn lines_are_told_apart_and_have_a_bound() {
        assert_eq!(reading(b"a\r\nb\n").await, "a|b; the clock h gave no answer");
        assert_eq!(reading(b"half").await, "; the clock h gave no answer");
        assert_eq!(reading(b"012345678").await, "; the clock h says more than 8 bytes on one line");
    }
}
