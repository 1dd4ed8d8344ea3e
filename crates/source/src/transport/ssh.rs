//! Git over SSH, with no `ssh` program.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{Buf as _, Bytes};
use gix_transport::Protocol;
use gix_transport::client::git::ConnectMode;
use gix_transport::client::git::blocking_io::Connection;
use russh::client::{self, AuthResult, Handle, Msg};
use russh::keys::{HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Preferred};
use tokio::net::TcpStream;

use super::known_hosts::HostKeys;
use super::proxy;
use crate::call::Call;
use crate::error::{HostKeyProblem, SourceError};
use crate::limits::MAX_SERVER_TEXT;
use crate::repository::Access;
use crate::url::SshUrl;

/// Logs in and starts `git-upload-pack` on the other side.
pub(super) fn connect(
    call: &Arc<Call>,
    place: &SshUrl,
    access: &Access,
) -> Result<Connection<Reader, Writer>, SourceError> {
    let opened = call.wait(open(call, place, access));
    let (reader, writer) = opened.map_err(|error| {
        let text = error.to_string();
        call.trouble().unwrap_or(SourceError::Unreachable { host: call.host.clone(), reason: text })
    })?;
    let path = place.path.as_str();
    Ok(Connection::new(reader, writer, Protocol::V2, path, None::<(String, _)>, ConnectMode::Process, false))
}

async fn open(call: &Arc<Call>, place: &SshUrl, access: &Access) -> Result<(Reader, Writer), SourceError> {
    let unreachable = |reason: String| SourceError::Unreachable { host: call.host.clone(), reason };
    let key = private_key(call, access)?;
    let keys = HostKeys::of(&access.known_hosts, &place.host, place.port);
    let stream = if access.proxy.is_empty() {
        TcpStream::connect((place.host.as_str(), place.port)).await
    } else {
        proxy::connect(&access.proxy, &place.host, place.port).await
    };
    let stream = stream.map_err(|error| unreachable(error.to_string()))?;
    let problem = Arc::new(Mutex::new(None));
    let config = Arc::new(config(&keys));
    let trust = Trust { keys, host: place.host.clone(), insecure: access.insecure, problem: problem.clone() };
    let mut session = client::connect_stream(config, stream, trust).await.map_err(|error| {
        match problem.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(problem) => SourceError::HostKey { host: call.host.clone(), problem },
            None => unreachable(error.to_string()),
        }
    })?;
    log_in(call, &mut session, &place.user, key).await?;
    let protocol = |error: russh::Error| call.protocol(error.to_string());
    let channel = session.channel_open_session().await.map_err(protocol)?;
    // Many servers do not take variables; they then speak the older protocol, which is fine too.
    channel.set_env(false, "GIT_PROTOCOL", "version=2").await.map_err(protocol)?;
    let command = format!("git-upload-pack {}", quote(&place.path));
    channel.exec(true, command).await.map_err(protocol)?;
    let (incoming, outgoing) = channel.split();
    let reader = Reader {
        call: call.clone(),
        channel: incoming,
        _session: session,
        chunk: Bytes::new(),
        any: false,
        said: Vec::new(),
    };
    Ok((reader, Writer { call: call.clone(), channel: outgoing }))
}

fn config(keys: &HostKeys) -> client::Config {
    let default = Preferred::default();
    let algorithms = keys.algorithms(&default.key);
    let certificates = if keys.has_authorities() { algorithms.clone() } else { Vec::new() };
    client::Config {
        preferred: Preferred {
            key: algorithms.into(),
            host_key_certificates: certificates.into(),
            ..default
        },
        nodelay: true,
        ..client::Config::default()
    }
}

fn private_key(call: &Call, access: &Access) -> Result<Option<Arc<PrivateKey>>, SourceError> {
    if access.ssh_private_key.is_empty() {
        return Ok(None);
    }
    // Secrets often lose the last line break, or get spaces in front.
    let pem: String =
        access.ssh_private_key.reveal().lines().map(|line| line.trim().to_owned() + "\n").collect();
    match russh::keys::decode_secret_key(&pem, None) {
        Ok(key) => Ok(Some(Arc::new(key))),
        Err(error) => Err(SourceError::Credentials {
            url: call.url.clone(),
            what: "SSH private key",
            reason: match error {
                russh::keys::Error::KeyIsEncrypted => "it is encrypted with a passphrase".to_owned(),
                _ => "it is not a private key in PEM".to_owned(),
            },
        }),
    }
}

async fn log_in(
    call: &Call,
    session: &mut Handle<Trust>,
    user: &str,
    key: Option<Arc<PrivateKey>>,
) -> Result<(), SourceError> {
    let anonymous = key.is_none();
    let refused = || SourceError::Authentication { url: call.url.clone(), anonymous };
    let answer = match key {
        None => session.authenticate_none(user).await,
        Some(key) if key.algorithm().is_rsa() => {
            // Where the server does not say what it takes, the newer hash is the better guess.
            let told = session.best_supported_rsa_hash().await.ok().flatten();
            let hash = told.unwrap_or(Some(HashAlg::Sha512));
            session.authenticate_publickey(user, PrivateKeyWithHashAlg::new(key, hash)).await
        }
        Some(key) => session.authenticate_publickey(user, PrivateKeyWithHashAlg::new(key, None)).await,
    };
    match answer {
        Ok(AuthResult::Success) => Ok(()),
        // Some servers hang up on a key that they do not know.
        Ok(AuthResult::Failure { .. }) | Err(_) => Err(refused()),
    }
}

/// In single quotes, as a shell on the other side wants it.
fn quote(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''").replace('!', "'\\!'"))
}

/// Decides about the host's key, and remembers why it was refused.
struct Trust {
    keys: HostKeys,
    host: String,
    insecure: bool,
    problem: Arc<Mutex<Option<HostKeyProblem>>>,
}

impl client::Handler for Trust {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, russh::Error> {
        if self.insecure {
            return Ok(true);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        match self.keys.check(shown, &self.host, now) {
            Ok(()) => Ok(true),
            Err(problem) => {
                *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
                Ok(false)
            }
        }
    }
}

/// What the server sends.
pub(super) struct Reader {
    call: Arc<Call>,
    channel: ChannelReadHalf,
    /// The session ends when its handle goes away.
    _session: Handle<Trust>,
    chunk: Bytes,
    any: bool,
    said: Vec<u8>,
}

impl Reader {
    /// Waits for the next piece; `false` at the end.
    fn advance(&mut self) -> io::Result<bool> {
        loop {
            let channel = &mut self.channel;
            match self.call.wait(async { Ok(channel.wait().await) })? {
                Some(ChannelMsg::Data { data }) if data.is_empty() => {}
                Some(ChannelMsg::Data { data }) => {
                    self.call.take(data.len())?;
                    self.any = true;
                    self.chunk = data;
                    return Ok(true);
                }
                Some(ChannelMsg::ExtendedData { data, .. }) => {
                    let room = MAX_SERVER_TEXT.saturating_sub(self.said.len());
                    self.said.extend(data.iter().take(room));
                }
                Some(ChannelMsg::Failure) => return Err(self.call.fail(self.refusal())),
                // The text on the error channel may come after the end of the data.
                Some(ChannelMsg::Close) | None if !self.any => return Err(self.call.fail(self.refusal())),
                Some(ChannelMsg::Close) | None => return Ok(false),
                Some(ChannelMsg::Eof) if self.any => return Ok(false),
                Some(_) => {}
            }
        }
    }

    /// What the server's words mean when it sends nothing else; SSH has no codes for it.
    fn refusal(&self) -> SourceError {
        let url = self.call.url.clone();
        let said = String::from_utf8_lossy(&self.said);
        let text = said.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&[
            "not found",
            "does not exist",
            "could not be found",
            "not appear to be a git repository",
            "no such file",
        ]) {
            SourceError::RepositoryNotFound { url }
        } else if has(&["denied", "not allowed", "unauthorized", "forbidden", "no access", "authentication"])
        {
            SourceError::Authentication { url, anonymous: false }
        } else {
            let first = said.lines().map(str::trim).find(|line| !line.is_empty());
            self.call.protocol(first.unwrap_or("it says nothing").to_owned())
        }
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() && !self.advance()? {
            return Ok(0);
        }
        let count = self.chunk.len().min(out.len());
        self.chunk.copy_to_slice(out.get_mut(..count).unwrap_or_default());
        Ok(count)
    }
}

/// What we send.
pub(super) struct Writer {
    call: Arc<Call>,
    channel: ChannelWriteHalf<Msg>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let data = Bytes::copy_from_slice(bytes);
        self.call.wait(async {
            self.channel.data_bytes(data).await.map_err(|error| SourceError::Unreachable {
                host: self.call.host.clone(),
                reason: error.to_string(),
            })
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_a_shell() {
        assert_eq!(quote("a/b.git"), "'a/b.git'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote("a; rm -rf /"), "'a; rm -rf /'");
    }
}
