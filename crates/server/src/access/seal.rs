//! What a browser carries for us and may not read: sealed with a key that is made of the one that sessions are signed with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use super::random;
use crate::refusal::{Code, Refusal};

/// What the key is for: one that signs sessions must not be the same as one that seals.
const PURPOSE: &[u8] = b"lynceus: what browsers carry";

/// Seals a text for its owner: to nobody else does it open.
pub(super) fn seal(key: &[u8], owner: &str, text: &str) -> Result<String, Refusal> {
    let nonce = random::bytes::<NONCE_LEN>()?;
    let mut sealed = text.as_bytes().to_vec();
    let failed = || Refusal::new(Code::Internal, "nothing can be sealed");
    let own = key_of(key).ok_or_else(failed)?;
    own.seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::from(owner.as_bytes()),
        &mut sealed,
    )
    .map_err(|_| failed())?;
    Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
}

/// The text, if we sealed it for this owner.
pub(super) fn open(key: &[u8], owner: &str, sealed: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
    let mut sealed = sealed.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let text = key_of(key)?.open_in_place(nonce, Aad::from(owner.as_bytes()), &mut sealed).ok()?;
    String::from_utf8(text.to_vec()).ok()
}

fn key_of(key: &[u8]) -> Option<LessSafeKey> {
    if key.is_empty() {
        return None;
    }
    let own = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), PURPOSE);
    UnboundKey::new(&CHACHA20_POLY1305, own.as_ref()).ok().map(LessSafeKey::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_with_the_same_key_for_the_same_owner_alone() {
        let sealed = seal(b"key", "carol", "secret").unwrap();
        assert!(!sealed.contains("secret"));
        assert_eq!(open(b"key", "carol", &sealed).as_deref(), Some("secret"));
        assert_ne!(seal(b"key", "carol", "secret").unwrap(), sealed, "no two look alike");
        let mut other = sealed.clone();
        other.replace_range(20..21, if &sealed[20..21] == "A" { "B" } else { "A" });
        for (key, owner, sealed) in [
            (&b"other"[..], "carol", sealed.as_str()),
            (b"", "carol", &sealed),
            (b"key", "eve", &sealed),
            (b"key", "carol", &other),
            (b"key", "carol", &sealed[..20]),
            (b"key", "carol", ""),
            (b"key", "carol", "no base64!"),
        ] {
            assert_eq!(open(key, owner, sealed), None, "{owner} {sealed}");
        }
    }
}
