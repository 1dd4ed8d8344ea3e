//! Certificates of TLS, in PEM.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Certificate, der};
use crate::limits;
use crate::refusal::Refusal;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The certificates of an entry. What is none is passed over.
pub(super) fn read(server: &str, pem: &str) -> Vec<Certificate> {
    blocks(pem).filter_map(|(block, bytes)| certificate(server, block, &bytes?)).collect()
}

fn certificate(server: &str, block: &str, bytes: &[u8]) -> Option<Certificate> {
    let facts = der::facts(bytes)?;
    Some(Certificate {
        server: server.to_owned(),
        kind: "https",
        sort: facts.algorithm,
        data: format!("{block}\n"),
        info: facts.subject,
    })
}

/// The blocks of a text, with the bytes that they stand for if they stand for any.
fn blocks(pem: &str) -> impl Iterator<Item = (&str, Option<Vec<u8>>)> {
    let mut rest = pem;
    std::iter::from_fn(move || {
        let begin = rest.find(BEGIN)?;
        let end = begin + rest[begin..].find(END)? + END.len();
        let block = &rest[begin..end];
        rest = &rest[end..];
        let text: String = block[BEGIN.len()..block.len() - END.len()].split_ascii_whitespace().collect();
        Some((block, STANDARD.decode(text).ok()))
    })
}

/// The certificates that are to be added for a server.
pub(super) fn checked(server: &str, pem: &str) -> Result<Vec<Certificate>, Refusal> {
    let host = host(server)?;
    let mut found = Vec::new();
    for (block, bytes) in blocks(pem).take(limits::CERTIFICATES) {
        match bytes.and_then(|bytes| certificate(&host, block, &bytes)) {
            Some(certificate) => found.push(certificate),
            None => return Err(Refusal::invalid(format!("a certificate for {server:?} cannot be read"))),
        }
    }
    match found.is_empty() {
        true => Err(Refusal::invalid(format!("there is no certificate in PEM for {server:?}"))),
        false => Ok(found),
    }
}

/// The name of a server as the key of its entry.
pub(super) fn host(server: &str) -> Result<String, Refusal> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    match !server.is_empty() && server.len() <= 253 && server.chars().all(is_name) {
        true => Ok(server.to_lowercase()),
        false => Err(Refusal::invalid(format!("{server:?} is no name of a server"))),
    }
}
