//! AES-256 in CBC mode; the key is the password, cut or filled up with zeros.

use aes::Aes256;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cbc::cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};

use crate::sprig::args::text;
use crate::sprig::encodings::decode_base64;
use crate::{Context, Failure, Functions, Str, Value, signature};

const BLOCK: usize = 16;

type Block = [u8; BLOCK];

pub(super) fn register(to: &mut Functions) {
    to.add("encryptAES", signature!((STRING, STRING) -> STRING), |context, args| {
        encrypt(context, text(args, 0), text(args, 1))
    });
    to.add("decryptAES", signature!((STRING, STRING) -> STRING), |_, args| {
        decrypt(text(args, 0), text(args, 1))
    });
}

fn key(password: &Str) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.iter_mut().zip(password.bytes().iter()) {
        *to = *from;
    }
    key
}

fn encrypt(context: &mut Context<'_>, password: &Str, plain: &Str) -> Result<Value, Failure> {
    if plain.is_empty() {
        return Ok("".into());
    }
    let mut content = plain.bytes().into_owned();
    context.charge(content.len().saturating_mul(3))?;
    let padding = BLOCK - content.len() % BLOCK;
    content.resize(content.len() + padding, padding as u8);
    let mut start: Block = [0; BLOCK];
    context.random(&mut start);
    let mut cipher = cbc::Encryptor::<Aes256>::new(&key(password).into(), &start.into());
    let mut encrypted = start.to_vec();
    for chunk in content.as_chunks::<BLOCK>().0 {
        let mut block = Array::from(*chunk);
        cipher.encrypt_block(&mut block);
        encrypted.extend_from_slice(&block);
    }
    Ok(STANDARD.encode(encrypted).into())
}

fn decrypt(password: &Str, encoded: &Str) -> Result<Value, Failure> {
    if encoded.is_empty() {
        return Ok("".into());
    }
    let encrypted = decode_base64(&encoded.bytes())?;
    let Some((start, content)) = encrypted.split_first_chunk::<BLOCK>() else {
        let room = encoded.byte_len() / 4 * 3;
        return Err(Failure::new(format!(
            "runtime error: slice bounds out of range [:{BLOCK}] with capacity {room}"
        )));
    };
    let (blocks, []) = content.as_chunks::<BLOCK>() else {
        return Err(Failure::new("crypto/cipher: input not full blocks"));
    };
    let mut cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), &(*start).into());
    let mut plain = Vec::with_capacity(content.len());
    for chunk in blocks {
        let mut block = Array::from(*chunk);
        cipher.decrypt_block(&mut block);
        plain.extend_from_slice(&block);
    }
    let Some(&padding) = plain.last() else {
        return Err(Failure::new("runtime error: index out of range [-1]"));
    };
    match plain.len().checked_sub(usize::from(padding)) {
        Some(length) => Ok(Str::from_bytes(&plain[..length]).into()),
        None => Err(Failure::new(format!(
            "runtime error: slice bounds out of range [:-{}]",
            usize::from(padding) - plain.len()
        ))),
    }
}
