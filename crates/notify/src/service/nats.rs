//! Subjects of NATS: `service.nats`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use lynceus_object::{Value, json, value};

use super::conversation::{Delivery, Next, SendError};
use super::job::Job;
use super::memory::Memory;
use super::request::Answer;
use crate::config;

/// The port of a server whose address names none.
const PORT: u16 = 4222;

/// A message for a subject and the servers that may take it. It holds a password or a key, so it cannot be printed.
#[derive(Clone)]
pub struct Publication {
    /// The servers, of which the first that can be reached is asked.
    pub servers: Vec<NatsServer>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// What is said once a server is known to listen.
    pub message: Vec<u8>,
    /// How many bytes of it the server counts.
    pub size: usize,
    /// Whether the server has to know headers.
    pub has_headers: bool,
    login: Login,
}

/// Where a server is.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsServer {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Whether it is to be spoken to over an encrypted connection, whatever it says.
    pub encrypted: bool,
    /// Who logs in there, if the address says so: a name with a password, or a token.
    login: Option<Login>,
}

#[derive(Clone, Default, PartialEq, Eq)]
struct Login {
    user: String,
    password: String,
    token: String,
    /// The secret part of a key of NATS.
    key: Option<[u8; 32]>,
}

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let addresses = job.required("url")?;
    let servers: Result<Vec<NatsServer>, SendError> =
        addresses.split(',').map(|address| server(address.trim())).collect();
    let (message, size, has_headers) = message(job)?;
    let key = match job.option("nkey")? {
        seed if seed.is_empty() => None,
        seed => Some(secret_key(seed.trim()).ok_or_else(|| {
            SendError::lasting("the option nkey is no seed of a user's key; those begin with SU")
        })?),
    };
    let login =
        Login { user: job.option("username")?, password: job.option("password")?, token: String::new(), key };
    let publication =
        Publication { servers: servers?, insecure: job.insecure()?, message, size, has_headers, login };
    Ok(Box::new(Once(Some(publication))))
}

struct Once(Option<Publication>);

impl Delivery for Once {
    fn next(&mut self, _: Option<&Answer>, _: &mut Memory) -> Result<Next, SendError> {
        Ok(self.0.take().map_or(Next::Done, Next::Publish))
    }
}

/// Reads `nats://user:password@host:port`.
fn server(address: &str) -> Result<NatsServer, SendError> {
    let wrong = || SendError::lasting("the option url is no address such as nats://host:4222");
    let (scheme, rest) = address.split_once("://").unwrap_or(("nats", address));
    let encrypted = match scheme {
        "nats" => false,
        "tls" => true,
        other => {
            return Err(SendError::lasting(format!(
                "NATS is not spoken over {other}; the option url begins with nats:// or tls://"
            )));
        }
    };
    let (login, place) = match rest.trim_end_matches('/').rsplit_once('@') {
        Some((login, place)) => (Some(login), place),
        None => (None, rest.trim_end_matches('/')),
    };
    let (host, port) = match place.rsplit_once(':') {
        // A colon inside of brackets belongs to the address.
        Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| wrong())?),
        _ => (place, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '/') {
        return Err(wrong());
    }
    let login = login.map(|login| match login.split_once(':') {
        Some((user, password)) => {
            Login { user: user.to_owned(), password: password.to_owned(), ..Login::default() }
        }
        None => Login { token: login.to_owned(), ..Login::default() },
    });
    Ok(NatsServer { host, port, encrypted, login })
}

/// What is sent, how much of it the server counts, and whether headers are among it.
fn message(job: &Job<'_>) -> Result<(Vec<u8>, usize, bool), SendError> {
    let subject = job.to.recipient.as_str();
    if subject.is_empty() || subject.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(SendError::lasting(format!("{subject:?} is no subject of NATS")));
    }
    let body = job.notification.message.as_bytes();
    let mut headers = String::new();
    let given = job.options.get("headers").unwrap_or(&Value::Null);
    for (name, text) in config::text_map(given).map_err(|why| job.refused("headers", &why))? {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != ':');
        if !is_name || text.contains(['\r', '\n']) {
            return Err(SendError::lasting(format!("{name:?} under headers is no header on one line")));
        }
        headers.push_str(&format!("{name}: {text}\r\n"));
    }
    let head = if headers.is_empty() { String::new() } else { format!("NATS/1.0\r\n{headers}\r\n") };
    let size = head.len() + body.len();
    let command = match head.len() {
        0 => format!("PUB {subject} {size}\r\n"),
        length => format!("HPUB {subject} {length} {size}\r\n"),
    };
    let message = [command.as_bytes(), head.as_bytes(), body, b"\r\n"].concat();
    Ok((message, size, !head.is_empty()))
}

impl Publication {
    /// What is said to a server that has introduced itself with `info`. Who logs in is told there, or by the address. A server
    /// that has made up nothing to be signed does not know keys; what is signed for nobody proves nothing.
    pub fn greeting(&self, server: &NatsServer, info: &Value, encrypted: bool) -> Result<String, SendError> {
        let mut said = value!({
            "verbose": false,
            "pedantic": false,
            "tls_required": encrypted,
            "name": "lynceus",
            "lang": "rust",
            "version": (env!("CARGO_PKG_VERSION")),
            "protocol": 1,
            "headers": true,
            "no_responders": true,
            "echo": true,
        });
        let login = server.login.as_ref().unwrap_or(&self.login);
        let fields = [("user", &login.user), ("pass", &login.password), ("auth_token", &login.token)];
        for (name, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
            said.set(&[name], text.as_str());
        }
        if let Some(secret) = &self.login.key {
            let key = SigningKey::from_bytes(secret);
            let nonce = info.str_at(&["nonce"]).filter(|nonce| !nonce.is_empty()).ok_or_else(|| {
                SendError::lasting(format!(
                    "the server {} lets nobody in by a key; set the options username and password instead of nkey",
                    server.host
                ))
            })?;
            said.set(&["nkey"], public_key(&key));
            said.set(&["sig"], URL_SAFE_NO_PAD.encode(key.sign(nonce.as_bytes()).to_bytes()));
        }
        Ok(format!("CONNECT {}\r\n", json::to_string(&said)))
    }
}

/// What the bytes of keys begin with: that it is a seed, and of a user.
const SEED: u8 = 18 << 3;
const USER: u8 = 20 << 3;

/// The secret part of a seed such as `SUA…`.
fn secret_key(seed: &str) -> Option<[u8; 32]> {
    let bytes = from_base32(seed)?;
    let (content, sum) = bytes.split_at_checked(34)?;
    // The kind of the key stands across the first two bytes.
    let is_user = content[0] & 0xf8 == SEED && (content[0] & 7) << 5 | (content[1] & 0xf8) >> 3 == USER;
    (is_user && sum == checksum(content).to_le_bytes()).then(|| content[2..].try_into().ok())?
}

fn public_key(key: &SigningKey) -> String {
    let mut bytes = vec![USER];
    bytes.extend(key.verifying_key().to_bytes());
    bytes.extend(checksum(&bytes).to_le_bytes());
    to_base32(&bytes)
}

/// CRC-16 as XMODEM has it.
fn checksum(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(
            sum ^ u16::from(*byte) << 8,
            |sum: u16, _| {
                if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x1021 }
            },
        )
    })
}

const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn to_base32(bytes: &[u8]) -> String {
    let (mut text, mut held, mut bits) = (String::new(), 0_u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(LETTERS[(held >> bits) as usize & 31]));
        }
    }
    if bits > 0 {
        text.push(char::from(LETTERS[(held << (5 - bits)) as usize & 31]));
    }
    text
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        held = held << 5 | LETTERS.iter().position(|known| *known == letter)? as u32;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pair was made with the key tool of NATS.
    #[test]
    fn a_seed_gives_the_public_key_that_nats_knows() {
        let secret = secret_key("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY").unwrap();
        let key = SigningKey::from_bytes(&secret);
        assert_eq!(public_key(&key), "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4");
    }

    #[test]
    fn what_is_no_seed_of_a_user_is_refused() {
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
        assert!(secret_key(&seed[1..]).is_none());
        assert!(secret_key(&seed.replace("DXKF", "DXKE")).is_none());
        assert!(secret_key("UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4").is_none());
        assert!(secret_key("").is_none());
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let shown = |address: &str| match server(address) {
            Ok(server) => format!("{} {} {}", server.host, server.port, server.encrypted),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown("nats://nats.nats.svc"), "nats.nats.svc 4222 false");
        assert_eq!(shown("tls://me:word@nats:4333/"), "nats 4333 true");
        assert_eq!(shown("nats:4222"), "nats 4222 false");
        assert_eq!(shown("nats://[::1]:4000"), "::1 4000 false");
        assert_eq!(shown("nats://[::1]"), "::1 4222 false");
        assert_eq!(shown("nats://a b"), "the option url is no address such as nats://host:4222");
        assert!(shown("ws://nats").contains("not spoken over ws"));
    }
}
