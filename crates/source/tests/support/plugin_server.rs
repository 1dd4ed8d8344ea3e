//! A config-management plugin in this process: what it is sent is written down, and it answers as it is told to.

use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::server::SendResponse;
use tokio::net::{UnixListener, UnixStream};

/// How the plugin behaves.
#[derive(Clone)]
pub(crate) enum Manners {
    /// It has rules that say yes or no, or none; and it answers with manifests. Those are the names of the parameters that
    /// it announces, too.
    Answers { rules: Option<bool>, manifests: Vec<String> },
    /// It wants credentials and tells what it got for its nonce, for another and for none: as its manifest, or as the
    /// reason why it fails.
    WantsCredentials { fails: bool },
    /// Its commands fail with this text.
    Fails(&'static str),
    /// It takes the question and never answers.
    Hangs,
    /// It hangs up in the middle.
    Dies,
    /// It answers with so many bytes.
    Floods(usize),
    /// It answers with bytes that are no message.
    Garbles,
}

/// A question that the plugin got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) method: String,
    /// The path of the application in the files.
    pub(crate) path: String,
    pub(crate) environment: Vec<String>,
    /// The files, as `name=content`, `name*=content` for a program, or `name->target`.
    pub(crate) files: Vec<String>,
    /// Whether the checksum and the size are those of the archive.
    pub(crate) is_whole: bool,
    pub(crate) timeout: String,
}

pub(crate) struct PluginServer {
    heard: Arc<Mutex<Vec<Heard>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for PluginServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PluginServer {
    /// Listens on `NAME.sock` in a folder.
    pub(crate) fn start(folder: &Path, name: &str, manners: Manners) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let listener = UnixListener::bind(folder.join(format!("{name}.sock"))).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let book = heard.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manners.clone(), book.clone()));
            }
        });
        PluginServer { heard, task }
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

async fn serve(stream: UnixStream, manners: Manners, book: Arc<Mutex<Vec<Heard>>>) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        if matches!(manners, Manners::Dies) && request.uri().path().ends_with("GenerateManifest") {
            return;
        }
        tokio::spawn(answer(request, respond, manners.clone(), book.clone()));
    }
}

async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: SendResponse<Bytes>,
    manners: Manners,
    book: Arc<Mutex<Vec<Heard>>>,
) {
    let method = request.uri().path().rsplit('/').next().unwrap().to_owned();
    assert!(request.uri().path().starts_with("/plugin.ConfigManagementPluginService/"));
    assert_eq!(request.headers()["content-type"], "application/grpc");
    let timeout = request.headers()["grpc-timeout"].to_str().unwrap().to_owned();
    let mut body = request.into_body();
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = body.data().await {
        let _ = body.flow_control().release_capacity(piece.len());
        bytes.extend_from_slice(&piece);
    }
    let heard = Heard { timeout, ..understood(&method, &bytes) };
    book.lock().unwrap().push(heard.clone());
    let head = http::Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let message = match (method.as_str(), &manners) {
        ("CheckPluginConfiguration", Manners::Answers { rules: Some(_), .. }) => vec![8, 1],
        ("CheckPluginConfiguration", Manners::WantsCredentials { .. }) => vec![16, 1],
        ("CheckPluginConfiguration", _) => Vec::new(),
        ("GetParametersAnnouncement", Manners::Answers { manifests, .. }) => {
            manifests.iter().flat_map(|one| field(1, &field(1, one.as_bytes()))).collect()
        }
        ("MatchRepository", Manners::Answers { rules, .. }) => {
            vec![8, u8::from(*rules == Some(true)), 16, 1]
        }
        (_, Manners::Answers { manifests, .. }) => {
            manifests.iter().flat_map(|one| field(1, one.as_bytes())).collect()
        }
        (_, Manners::WantsCredentials { fails }) => {
            let told = told_credentials(&heard).await;
            if *fails {
                return refuse(respond, head, &told);
            }
            field(1, told.as_bytes())
        }
        (_, Manners::Fails(text)) => return refuse(respond, head, text),
        (_, Manners::Hangs) => {
            std::future::pending::<()>().await;
            return;
        }
        (_, Manners::Floods(size)) => field(1, &vec![b'x'; *size]),
        (_, Manners::Garbles) => b"\xff\xff\xff".to_vec(),
        (_, Manners::Dies) => return,
    };
    let mut stream = respond.send_response(head, false).unwrap();
    let mut framed = vec![0];
    framed.extend_from_slice(&(message.len() as u32).to_be_bytes());
    framed.extend_from_slice(&message);
    // Nothing is held back: who is sent too much may hang up.
    let _ = stream.send_data(framed.into(), false);
    let mut end = http::HeaderMap::new();
    end.insert("grpc-status", "0".parse().unwrap());
    let _ = stream.send_trailers(end);
}

fn refuse(mut respond: SendResponse<Bytes>, mut head: http::Response<()>, why: &str) {
    head.headers_mut().insert("grpc-status", "2".parse().unwrap());
    head.headers_mut().insert("grpc-message", why.parse().unwrap());
    let _ = respond.send_response(head, true);
}

/// What a plugin's Git would be told with the environment that the plugin has.
async fn told_credentials(heard: &Heard) -> String {
    let variable = |name: &str| {
        let found = heard.environment.iter().find_map(|one| one.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().to_owned()
    };
    let (socket, nonce) = (variable("ARGOCD_ASK_PASS_SOCK"), variable("ARGOCD_GIT_ASKPASS_NONCE"));
    if socket.is_empty() {
        return "nothing is offered".to_owned();
    }
    let mut told = Vec::new();
    for nonce in [nonce.as_str(), "0123456789abcdef0123456789abcdef", ""] {
        told.push(ask_credentials(Path::new(&socket), nonce).await);
    }
    format!("{} with nonce {nonce}", told.join(", "))
}

/// Asks for credentials as Argo CD's askpass program does: `user/password`, or the code and the words of the refusal.
pub(crate) async fn ask_credentials(socket: &Path, nonce: &str) -> String {
    let stream = match UnixStream::connect(socket).await {
        Ok(stream) => stream,
        Err(error) => return error.kind().to_string(),
    };
    let (requests, connection) = h2::client::handshake(stream).await.unwrap();
    let driven = tokio::spawn(connection);
    // As Go's gRPC names a socket.
    let host = socket.display().to_string().trim_start_matches('/').replace('/', "%2F");
    let request = http::Request::post(format!("http://{host}/askpass.AskPassService/GetCredentials"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let (response, mut body) = requests.ready().await.unwrap().send_request(request, false).unwrap();
    let question = field(1, nonce.as_bytes());
    let framed = [&[0, 0, 0, 0, question.len() as u8][..], &question].concat();
    body.send_data(framed.into(), true).unwrap();
    let response = response.await.unwrap();
    let text = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    if let (Some(status), Some(message)) = (text("grpc-status"), text("grpc-message")) {
        return format!("{status} {message}");
    }
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        bytes.extend_from_slice(&piece.unwrap());
    }
    assert_eq!(body.trailers().await.unwrap().unwrap()["grpc-status"], "0");
    driven.abort();
    let parts =
        fields(&bytes[5..]).into_iter().map(|(_, part, _)| String::from_utf8_lossy(part).into_owned());
    parts.collect::<Vec<_>>().join("/")
}

/// What the messages of a question say.
fn understood(method: &str, mut bytes: &[u8]) -> Heard {
    let mut heard = Heard { method: method.to_owned(), is_whole: true, ..Heard::default() };
    let (mut archive, mut checksum, mut size) = (Vec::new(), String::new(), 0);
    while bytes.len() >= 5 {
        let length = u32::from_be_bytes(bytes[1..5].try_into().unwrap()) as usize;
        for (number, value, _) in fields(&bytes[5..5 + length]) {
            match number {
                1 => {
                    for (number, value, count) in fields(value) {
                        let text = || String::from_utf8(value.to_vec()).unwrap();
                        match number {
                            2 => heard.path = text(),
                            3 => checksum = text(),
                            4 => size = count,
                            5 => {
                                let parts: Vec<String> = fields(value)
                                    .iter()
                                    .map(|(_, part, _)| String::from_utf8(part.to_vec()).unwrap())
                                    .collect();
                                heard.environment.push(parts.join("="));
                            }
                            _ => {}
                        }
                    }
                }
                _ => archive.extend_from_slice(fields(value)[0].1),
            }
        }
        bytes = &bytes[5 + length..];
    }
    if archive.is_empty() {
        return heard;
    }
    use sha2::Digest as _;
    let digest: String = sha2::Sha256::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
    heard.is_whole = checksum == digest && size == archive.len() as u64;
    let mut unpacked = tar::Archive::new(flate2::read::GzDecoder::new(&archive[..]));
    for entry in unpacked.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if let Some(target) = entry.link_name().unwrap() {
            heard.files.push(format!("{name}->{}", target.display()));
        } else if entry.header().entry_type().is_file() {
            let mark = if entry.header().mode().unwrap() & 0o111 == 0 { "" } else { "*" };
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            heard.files.push(format!("{name}{mark}={content}"));
        }
    }
    heard
}

/// The fields of a message: number, bytes, and the number that it is if it is one.
fn fields(mut message: &[u8]) -> Vec<(u64, &[u8], u64)> {
    fn varint(message: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = message[0];
            *message = &message[1..];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }
    let mut out = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let value = varint(&mut message);
        let taken = if key & 7 == 2 { value as usize } else { 0 };
        out.push((key >> 3, &message[..taken], value));
        message = &message[taken..];
    }
    out
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
    out
}
