//! Chance that nobody can guess.

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::refusal::{Code, Refusal};

/// Random bytes.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Refusal::new(Code::Internal, "the system gives no random numbers"))?;
    Ok(bytes)
}

/// A UUID of chance.
pub(crate) fn uuid() -> Result<String, Refusal> {
    let mut bytes = bytes::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

/// A password of Argo CD's letters and length.
pub(crate) fn password() -> Result<String, Refusal> {
    const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";
    let mut password = String::new();
    while password.len() < 16 {
        // Of 64 values one has no letter, so that all letters are as likely as each other.
        let drawn = bytes::<16>()?.map(|byte| usize::from(byte & 63));
        let letters = drawn.iter().filter_map(|at| LETTERS.get(*at)).map(|letter| char::from(*letter));
        password.extend(letters.take(16 - password.len()));
    }
    Ok(password)
}
