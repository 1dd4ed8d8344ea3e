//! A Git server on loopback that speaks SSH.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use russh::keys::{Algorithm, PrivateKey, PublicKey};
use russh::server::{self, Auth, Msg, Session, VerifiedPublicKey};
use russh::{Channel, ChannelId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::upload_pack::UploadPack;

pub(crate) struct SshServer {
    pub(crate) address: SocketAddr,
    pub(crate) host_key: PublicKey,
    /// The commands that were run.
    pub(crate) commands: Arc<Mutex<Vec<String>>>,
}

pub(crate) fn new_key() -> PrivateKey {
    PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519).unwrap()
}

pub(crate) fn pem(key: &PrivateKey) -> String {
    key.to_openssh(russh::keys::ssh_key::LineEnding::LF).unwrap().to_string()
}

impl SshServer {
    /// Serves the repository as `/org/repo.git` to whoever has the key.
    pub(crate) async fn start(repository: UploadPack, client: PublicKey) -> Self {
        let key = new_key();
        let host_key = key.public_key().clone();
        let config = Arc::new(server::Config {
            keys: vec![key],
            auth_rejection_time: std::time::Duration::ZERO,
            ..server::Config::default()
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let commands = Arc::new(Mutex::new(Vec::new()));
        let seen = commands.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let visitor = Visitor {
                    repository: repository.clone(),
                    client: client.clone(),
                    commands: seen.clone(),
                    channels: HashMap::new(),
                };
                let config = config.clone();
                tokio::spawn(async move {
                    if let Ok(session) = server::run_stream(config, stream, visitor).await {
                        let _ = session.await;
                    }
                });
            }
        });
        SshServer { address, host_key, commands }
    }

    pub(crate) fn url(&self) -> String {
        format!("ssh://git@127.0.0.1:{}/org/repo.git", self.address.port())
    }

    /// The line of a known-hosts file that names this server.
    pub(crate) fn known_hosts(&self, key: &PublicKey) -> String {
        format!("[127.0.0.1]:{} {}", self.address.port(), key.to_openssh().unwrap())
    }
}

struct Visitor {
    repository: UploadPack,
    client: PublicKey,
    commands: Arc<Mutex<Vec<String>>>,
    channels: HashMap<ChannelId, Channel<Msg>>,
}

impl server::Handler for Visitor {
    type Error = russh::Error;

    async fn auth_publickey(&mut self, user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, russh::Error> {
        let known = user == "git" && key.public_key.key_data() == self.client.key_data();
        Ok(if known { Auth::Accept } else { Auth::reject() })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: server::ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        self.channels.insert(channel.id(), channel);
        reply.accept().await;
        Ok(())
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        let command = String::from_utf8_lossy(command).into_owned();
        self.commands.lock().unwrap().push(command.clone());
        session.channel_success(id)?;
        let Some(channel) = self.channels.remove(&id) else { return Ok(()) };
        if command != "git-upload-pack '/org/repo.git'" {
            session.extended_data(id, 1, "ERROR: Repository not found.\n")?;
            session.exit_status_request(id, 1)?;
            session.eof(id)?;
            return session.close(id);
        }
        let repository = self.repository.clone();
        let handle = session.handle();
        tokio::spawn(async move {
            let mut stream = channel.into_stream();
            stream.write_all(&UploadPack::greeting()).await.unwrap();
            while let Some(request) = request(&mut stream).await {
                stream.write_all(&repository.answer(&request)).await.unwrap();
            }
            let _ = handle.exit_status_request(id, 0).await;
            let _ = handle.eof(id).await;
            let _ = handle.close(id).await;
        });
        Ok(())
    }
}

/// The lines up to a flush; `None` if there are none.
async fn request(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length).await.ok()?;
        request.extend(length);
        match usize::from_str_radix(std::str::from_utf8(&length).unwrap(), 16).unwrap() {
            0 => return (request.len() > 4).then_some(request),
            1..4 => {}
            length => {
                let mut line = vec![0; length - 4];
                stream.read_exact(&mut line).await.ok()?;
                request.extend(line);
            }
        }
    }
}
