//! Base64 and base32. What cannot be decoded comes out as the words of the error, as sprig has it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::args::text;
use crate::{Functions, Str, signature};

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) fn register(to: &mut Functions) {
    to.add("b64enc", signature!((STRING) -> STRING), |context, args| {
        let bytes = text(args, 0).bytes();
        context.charge(bytes.len().saturating_mul(2))?;
        Ok(STANDARD.encode(bytes).into())
    });
    to.add("b64dec", signature!((STRING) -> STRING), |_, args| {
        let decoded = decode_base64(&text(args, 0).bytes());
        Ok(decoded.map_or_else(|error| error.into(), |bytes| Str::from_bytes(&bytes)).into())
    });
    to.add("b32enc", signature!((STRING) -> STRING), |context, args| {
        let bytes = text(args, 0).bytes();
        context.charge(bytes.len().saturating_mul(2))?;
        Ok(encode_base32(&bytes).into())
    });
    to.add("b32dec", signature!((STRING) -> STRING), |_, args| {
        let decoded = decode_base32(&text(args, 0).bytes());
        Ok(decoded.map_or_else(|error| error.into(), |bytes| Str::from_bytes(&bytes)).into())
    });
}

/// Decodes as Go does: line breaks do not count, and errors tell the byte that they are about.
pub(super) fn decode_base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let illegal = |at: usize| Err(format!("illegal base64 data at input byte {at}"));
    let is_break = |byte: u8| byte == b'\n' || byte == b'\r';
    let skip_breaks = |from: usize| from + text[from..].iter().take_while(|byte| is_break(**byte)).count();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count, mut at) = (0u32, 0usize, 0usize);
    while let Some(&byte) = text.get(at) {
        at += 1;
        if let Some(value) = base64_value(byte) {
            bits = bits << 6 | value;
            count += 1;
            if count == 4 {
                bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, count) = (0, 0);
            }
        } else if byte == b'=' {
            match count {
                0 | 1 => return illegal(at - 1),
                2 => {
                    at = skip_breaks(at);
                    match text.get(at) {
                        None => return illegal(text.len()),
                        Some(b'=') => at += 1,
                        Some(_) => return illegal(at - 1),
                    }
                    bytes.push((bits >> 4) as u8);
                }
                _ => bytes.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
            }
            at = skip_breaks(at);
            return if at < text.len() { illegal(at) } else { Ok(bytes) };
        } else if !is_break(byte) {
            return illegal(at - 1);
        }
    }
    if count == 0 { Ok(bytes) } else { illegal(at - count) }
}

fn base64_value(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

fn encode_base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let mut block = [0; 8];
        block[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(block);
        let letters = (chunk.len() * 8).div_ceil(5);
        for i in 0..8 {
            let value = (bits >> (35 - 5 * i) & 31) as usize;
            text.push(if i < letters { char::from(BASE32[value]) } else { '=' });
        }
    }
    text
}

/// The same for base32, where positions are counted without the line breaks.
fn decode_base32(text: &[u8]) -> Result<Vec<u8>, String> {
    let illegal = |at: usize| Err(format!("illegal base32 data at input byte {at}"));
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let mut bytes = Vec::with_capacity(text.len() / 8 * 5 + 5);
    let (mut bits, mut count, mut at) = (0u64, 0usize, 0usize);
    while at < text.len() {
        let byte = text[at];
        at += 1;
        let left = &text[at..];
        if byte == b'=' && count >= 2 && left.len() < 8 {
            if left.len() + count < 7 {
                return illegal(text.len());
            }
            if let Some(other) = left.iter().take(7 - count).position(|byte| *byte != b'=') {
                return illegal(at + other - 1);
            }
            if matches!(count, 3 | 6) {
                return illegal(at - 1);
            }
            push_base32(&mut bytes, bits, count);
            return Ok(bytes);
        }
        let Some(value) = BASE32.iter().position(|letter| *letter == byte) else { return illegal(at - 1) };
        bits = bits << 5 | value as u64;
        count += 1;
        if count == 8 {
            push_base32(&mut bytes, bits, count);
            (bits, count) = (0, 0);
        }
    }
    if count == 0 { Ok(bytes) } else { illegal(text.len() - count) }
}

/// The whole bytes in the bits of some letters.
fn push_base32(bytes: &mut Vec<u8>, bits: u64, letters: usize) {
    let whole = letters * 5 / 8;
    let aligned = bits << (64 - letters * 5);
    bytes.extend_from_slice(&aligned.to_be_bytes()[..whole]);
}
