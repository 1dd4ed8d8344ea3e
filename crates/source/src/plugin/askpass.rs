//! Credentials for a plugin that wants them: Argo CD's askpass service, for the time of one call.
//!
//! Git in the plugin's container runs `argocd` to be told user and password, and that program asks for them on a socket,
//! with a nonce that it finds in its environment. So the password stands in no environment, and what somebody keeps of a
//! call opens nothing when the call is over.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue};
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

use super::PluginError;
use super::call::{PREFIX, framed};
use super::wire;
use crate::limits;
use crate::repository::{Repository, RepositoryKind};
use crate::secret::Secret;

/// The one question that is answered.
const METHOD: &str = "/askpass.AskPassService/GetCredentials";
/// The user where a repository has a token alone, as in Argo CD.
const TOKEN_USER: &str = "x-access-token";

/// The codes of gRPC that are used here.
const INVALID_ARGUMENT: &str = "3";
const NOT_FOUND: &str = "5";
const UNIMPLEMENTED: &str = "12";

/// Credentials on offer. They are gone, with socket and nonce, when this is dropped.
pub(super) struct Offer {
    socket: PathBuf,
    /// What the plugin's commands are to be told.
    pub(super) environment: Vec<(String, String)>,
    /// What nobody may see in what the plugin says.
    secrets: Vec<Secret>,
    /// Ends with the offer.
    _serving: JoinSet<()>,
}

/// What is asked with, and what is answered.
struct Credentials {
    nonce: Secret,
    username: String,
    password: Secret,
}

impl Offer {
    /// Offers what a repository is read with, on a socket in a directory. Nothing if that is no password or token.
    pub(super) fn of(repository: &Repository, directory: &Path) -> Result<Option<Self>, PluginError> {
        let access = &repository.access;
        let has_any = !access.password.is_empty() || !access.bearer_token.is_empty();
        if repository.kind != RepositoryKind::Git || !has_any {
            return Ok(None);
        }
        let failed = |socket: &Path, reason: String| PluginError::Credentials {
            socket: socket.display().to_string(),
            reason,
        };
        let nonce = random().ok_or_else(|| failed(directory, "there is no randomness".to_owned()))?;
        let name = random().ok_or_else(|| failed(directory, "there is no randomness".to_owned()))?;
        // Plugins are looked for by `.sock`, and this is none. Who asks names the whole path as the host that it asks, with
        // `%2F` for slashes, and no host has those: the `@` makes a user of all that comes before it. The path has to fit
        // into a hundred bytes.
        let socket = directory.join(format!("askpass@{}", name.get(..16).unwrap_or(&name)));
        let socket = std::path::absolute(&socket).map_err(|error| failed(&socket, error.to_string()))?;
        let listener = UnixListener::bind(&socket).map_err(|error| failed(&socket, error.to_string()))?;
        let mut environment = vec![
            ("GIT_ASKPASS".to_owned(), "argocd".to_owned()),
            ("ARGOCD_GIT_ASKPASS_NONCE".to_owned(), nonce.clone()),
            ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
            ("ARGOCD_BINARY_NAME".to_owned(), "argocd-git-ask-pass".to_owned()),
            ("ARGOCD_ASK_PASS_SOCK".to_owned(), socket.display().to_string()),
        ];
        if access.insecure {
            environment.push(("GIT_SSL_NO_VERIFY".to_owned(), "true".to_owned()));
        }
        if !access.bearer_token.is_empty() {
            // Git asks for passwords only; a token it has to be told with the request.
            let header = format!("Authorization: Bearer {}", access.bearer_token.reveal());
            environment.push(("ARGOCD_GIT_BEARER_AUTH_HEADER".to_owned(), header));
        }
        let username = if access.username.is_empty() { TOKEN_USER } else { &access.username }.to_owned();
        let credentials = Credentials { nonce: nonce.into(), username, password: access.password.clone() };
        let secrets = [&credentials.nonce, &access.password, &access.bearer_token];
        let secrets = secrets.into_iter().filter(|secret| !secret.is_empty()).cloned().collect();
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::new(credentials)));
        let offer = Offer { socket, environment, secrets, _serving: serving };
        // The plugin may run as somebody else. It is the nonce that opens.
        std::fs::set_permissions(&offer.socket, std::fs::Permissions::from_mode(0o666))
            .map_err(|error| failed(&offer.socket, error.to_string()))?;
        Ok(Some(offer))
    }

    /// An error without what the plugin was offered: its commands may well print that.
    pub(super) fn conceal(&self, error: PluginError) -> PluginError {
        let PluginError::Failed { plugin, mut message } = error else { return error };
        for secret in &self.secrets {
            message = message.replace(secret.reveal(), "********");
        }
        PluginError::Failed { plugin, message }
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        // If it cannot be removed there is still nobody who listens.
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Thirty-two hexadecimal digits that nobody can guess.
fn random() -> Option<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn serve(listener: UnixListener, credentials: Arc<Credentials>) {
    let mut conversations = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if conversations.len() < limits::MAX_ASKPASS_CONVERSATIONS => {
                    conversations.spawn(converse(stream, credentials.clone()));
                }
                Ok(_) => {}
                // Git tells that it got no answer.
                Err(_) => return,
            },
            Some(_) = conversations.join_next() => {}
        }
    }
}

async fn converse(stream: UnixStream, credentials: Arc<Credentials>) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    let mut answers = JoinSet::new();
    while let Some(Ok((request, respond))) = connection.accept().await {
        if answers.len() < limits::MAX_ASKPASS_CONVERSATIONS {
            answers.spawn(answer(request, respond, credentials.clone()));
        }
        while answers.try_join_next().is_some() {}
    }
}

/// Answers one question. Whoever hangs up in the middle gets none.
async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: SendResponse<Bytes>,
    credentials: Arc<Credentials>,
) {
    let message = match asked(request).await {
        Ok(nonce) => credentials.given(&nonce),
        Err(refusal) => Err(refusal),
    };
    let mut head = http::Response::new(());
    head.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    match message {
        Ok(message) => {
            let Ok(mut body) = respond.send_response(head, false) else { return };
            let mut end = HeaderMap::new();
            end.insert("grpc-status", HeaderValue::from_static("0"));
            let _ = body.send_data(framed(&message), false).and_then(|()| body.send_trailers(end));
        }
        Err((status, why)) => {
            head.headers_mut().insert("grpc-status", HeaderValue::from_static(status));
            head.headers_mut().insert("grpc-message", HeaderValue::from_static(why));
            let _ = respond.send_response(head, true);
        }
    }
}

/// The code and the words of an answer that is none.
type Refusal = (&'static str, &'static str);

/// The nonce that a question is asked with.
async fn asked(request: http::Request<h2::RecvStream>) -> Result<String, Refusal> {
    if request.uri().path() != METHOD {
        return Err((UNIMPLEMENTED, "only credentials are to be had here"));
    }
    let malformed = (INVALID_ARGUMENT, "the question cannot be read");
    let mut body = request.into_body();
    let mut question = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(|_| malformed)?;
        if question.len() + piece.len() > limits::MAX_ASKPASS_BYTES {
            return Err(malformed);
        }
        body.flow_control().release_capacity(piece.len()).map_err(|_| malformed)?;
        question.extend_from_slice(&piece);
    }
    let message = question.get(PREFIX..).ok_or(malformed)?;
    let (nonce, _) = wire::read_pair(message).ok_or(malformed)?;
    Ok(nonce)
}

impl Credentials {
    /// The answer to somebody with a nonce.
    fn given(&self, nonce: &str) -> Result<Vec<u8>, Refusal> {
        if nonce.is_empty() {
            return Err((INVALID_ARGUMENT, "missing nonce"));
        }
        // How long it takes to compare digests says nothing about what they are of.
        if Sha256::digest(nonce) != Sha256::digest(self.nonce.reveal()) {
            return Err((NOT_FOUND, "unknown nonce"));
        }
        Ok(wire::pair(&self.username, self.password.reveal()))
    }
}
