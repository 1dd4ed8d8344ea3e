//! Keys and certificates as text between `-----BEGIN …-----` and `-----END …-----`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::sprig::encodings::decode_base64;

/// What stands in a text.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn encode(label: &str, bytes: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    let encoded = STANDARD.encode(bytes);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}

/// The first block of a text that is well-formed. Headers before the data are passed over.
pub(super) fn decode(text: &str) -> Option<Block> {
    let mut rest = text;
    loop {
        let begin = begin_of_line(rest, "-----BEGIN ")?;
        rest = &rest[begin + "-----BEGIN ".len()..];
        let (first, body) = rest.split_once('\n')?;
        let Some(label) = first.trim_end_matches([' ', '\t', '\r']).strip_suffix("-----") else { continue };
        let end = format!("-----END {label}-----");
        let Some(length) = begin_of_line(body, &end) else { continue };
        let data: Vec<u8> =
            without_headers(&body[..length]).bytes().filter(|byte| !matches!(byte, b' ' | b'\t')).collect();
        if let Ok(bytes) = decode_base64(&data) {
            return Some(Block { label: label.to_owned(), bytes });
        }
    }
}

/// Where a line starts with something.
fn begin_of_line(text: &str, start: &str) -> Option<usize> {
    if text.starts_with(start) {
        return Some(0);
    }
    text.find(&format!("\n{start}")).map(|at| at + 1)
}

fn without_headers(body: &str) -> &str {
    let mut rest = body;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.contains(':') {
            break;
        }
        rest = after;
    }
    rest
}
