//! What is said of bytes: their digest.

use sha2::{Digest as _, Sha256, Sha512};

/// Whether a text is a digest that can be checked: an algorithm that is known and as many digits as it has.
pub(crate) fn is_digest(text: &str) -> bool {
    let digits = |hex: &str, count: usize| {
        hex.len() == count && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    match text.split_once(':') {
        Some(("sha256", hex)) => digits(hex, 64),
        Some(("sha512", hex)) => digits(hex, 128),
        _ => false,
    }
}

/// The digest of bytes by the algorithm of another digest.
pub(crate) fn digest_like(other: &str, bytes: &[u8]) -> String {
    if other.starts_with("sha512:") {
        return format!("sha512:{}", hex(&Sha512::digest(bytes)));
    }
    sha256(bytes)
}

/// The usual digest.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Digits in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_names_a_known_algorithm_and_has_all_its_digits() {
        let empty = sha256(b"");
        assert_eq!(empty, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert!(is_digest(&empty) && is_digest(&digest_like("sha512:", b"")));
        for text in ["", "sha256:", "sha256:ABC", "md5:d41d8cd98f00b204e9800998ecf8427e", "sha256:../../x"] {
            assert!(!is_digest(text), "{text}");
        }
    }
}
