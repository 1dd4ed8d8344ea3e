//! Passwords: hashed for servers, and derived from a master password.

use blowfish::Blowfish;
use hmac::{Hmac, KeyInit, Mac};
use rsa::sha2::Sha256;
use scrypt::{Params, scrypt};

use super::Effort;
use crate::sprig::args::{any, text};
use crate::{Context, Failure, Functions, Str, signature};

/// How often bcrypt mixes password and salt in, as a power of two.
const COST: u32 = 10;

/// The longest password that bcrypt takes.
const LONGEST: usize = 72;

pub(super) fn register(to: &mut Functions) {
    to.add("bcrypt", signature!((STRING) -> STRING), |context, args| {
        Ok(bcrypt(context, text(args, 0))?.into())
    });
    to.add("htpasswd", signature!((STRING, STRING) -> STRING), |context, args| {
        let name = text(args, 0);
        if name.contains(':') {
            return Ok(format!("invalid username: {name}").into());
        }
        Ok(format!("{name}:{}", bcrypt(context, text(args, 1))?).into())
    });
    to.add(
        "derivePassword",
        signature!((UINT32, STRING, STRING, STRING, STRING) -> STRING),
        |context, args| {
            Effort::Scrypt.spend(context)?;
            let counter =
                any(args, 0).as_u64().and_then(|counter| u32::try_from(counter).ok()).unwrap_or_default();
            Ok(derive(counter, text(args, 1), text(args, 2), text(args, 3), text(args, 4)).into())
        },
    );
}

fn bcrypt(context: &mut Context<'_>, password: &Str) -> Result<String, Failure> {
    Effort::Bcrypt.spend(context)?;
    let password = password.bytes();
    if password.len() > LONGEST {
        return Ok(format!(
            "failed to encrypt string with bcrypt: bcrypt: password length exceeds {LONGEST} bytes"
        ));
    }
    let mut salt = [0; 16];
    context.random(&mut salt);
    let hash = bcrypt_hash(&password, &salt);
    Ok(format!("$2a${COST:02}${}{}", encode(&salt), encode(&hash)))
}

fn bcrypt_hash(password: &[u8], salt: &[u8; 16]) -> [u8; 23] {
    let key = [password, b"\0"].concat();
    let mut state = Blowfish::bc_init_state();
    state.salted_expand_key(salt, &key);
    for _ in 0..1u32 << COST {
        state.bc_expand_key(&key);
        state.bc_expand_key(salt);
    }
    let mut hash = [0; 24];
    for (block, words) in hash.chunks_exact_mut(8).zip(b"OrpheanBeholderScryDoubt".chunks_exact(8)) {
        let word = |at: usize| words[at..at + 4].iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let mut pair = [word(0), word(4)];
        for _ in 0..64 {
            pair = state.bc_encrypt(pair);
        }
        block[..4].copy_from_slice(&pair[0].to_be_bytes());
        block[4..].copy_from_slice(&pair[1].to_be_bytes());
    }
    // The last byte was lost in the first implementation and has stayed so.
    let mut kept = [0; 23];
    kept.copy_from_slice(&hash[..23]);
    kept
}

/// The base64 of bcrypt, which has letters of its own and no padding.
fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut block = [0; 4];
        block[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(block);
        for i in 0..=chunk.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

/// The scheme of the Master Password app: from one password, one for each site.
fn derive(counter: u32, kind: &str, password: &Str, user: &Str, site: &Str) -> String {
    const SEED: &[u8] = b"com.lyndir.masterpassword";
    let Some(templates) = templates(kind) else { return format!("cannot find password template {kind}") };
    let length = |text: &Str| (text.byte_len() as u32).to_be_bytes();
    let salt = [SEED, &length(user), &user.bytes()].concat();
    let mut key = [0; 64];
    let derived = Params::new(15, 8, 2).map_err(|error| error.to_string()).and_then(|params| {
        scrypt(&password.bytes(), &salt, &params, &mut key).map_err(|error| error.to_string())
    });
    if let Err(error) = derived {
        return format!("failed to derive password: {error}");
    }
    let message = [SEED, &length(site), &site.bytes(), &counter.to_be_bytes()].concat();
    let seed = match Hmac::<Sha256>::new_from_slice(&key) {
        Ok(mac) => mac.chain_update(&message).finalize().into_bytes(),
        Err(error) => return format!("failed to derive password: {error}"),
    };
    let template = templates[usize::from(seed[0]) % templates.len()];
    let letters = template.bytes().zip(&seed[1..]);
    letters
        .map(|(class, &byte)| char::from(class_of(class)[usize::from(byte) % class_of(class).len()]))
        .collect()
}

/// The shapes of a kind of password; each letter is a class of characters.
fn templates(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => return None,
    })
}

fn class_of(class: u8) -> &'static [u8] {
    match class {
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}
