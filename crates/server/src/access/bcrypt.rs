//! Passwords as Argo CD stores them: bcrypt, over the cipher that comes with the tree anyway.

use blowfish::Blowfish;

use super::random;
use crate::refusal::Refusal;

/// How often password and salt are mixed in, as a power of two: what Argo CD hashes with.
const COST: u32 = 10;

/// The costliest hash that is checked. One more would keep a core busy for longer than anybody waits.
const COSTLIEST: u32 = 16;

/// The longest password that can be hashed; what is behind it would not count.
pub(crate) const LONGEST: usize = 72;

const LETTERS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Hashes a password.
pub fn hash(password: &str) -> Result<String, Refusal> {
    if password.len() > LONGEST {
        return Err(Refusal::invalid(format!("a password has at most {LONGEST} bytes")));
    }
    let salt = random::bytes::<16>()?;
    Ok(format!("$2a${COST:02}${}{}", encode(&salt), encode(&digest(password.as_bytes(), &salt, COST))))
}

/// A hash that is quick to check, for tests alone.
#[cfg(test)]
pub(super) fn cheap(password: &str) -> String {
    let salt = [7; 16];
    format!("$2a$04${}{}", encode(&salt), encode(&digest(password.as_bytes(), &salt, 4)))
}

/// Whether a password is the one that was hashed. What is no hash is no password's, and takes as long to say so.
pub(crate) fn verify(password: &str, hash: &str) -> bool {
    let (cost, salt, wanted) = parse(hash).unwrap_or((COST, [0; 16], None));
    let found = digest(password.as_bytes(), &salt, cost);
    let Some(wanted) = wanted else { return false };
    // Every byte is looked at, whatever the first ones are.
    found.iter().zip(&wanted).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
}

type Parts = (u32, [u8; 16], Option<[u8; 23]>);

fn parse(hash: &str) -> Option<Parts> {
    let rest = ["$2a$", "$2b$", "$2y$"].iter().find_map(|version| hash.strip_prefix(version))?;
    let (cost, rest) = rest.split_once('$')?;
    let cost: u32 = cost.parse().ok().filter(|cost| (4..=COSTLIEST).contains(cost))?;
    let (salt, digest) = rest.split_at_checked(22)?;
    let salt = decode(salt)?.try_into().ok()?;
    let digest = decode(digest)?.try_into().ok()?;
    Some((cost, salt, Some(digest)))
}

fn digest(password: &[u8], salt: &[u8; 16], cost: u32) -> [u8; 23] {
    let key = [&password[..password.len().min(LONGEST)], b"\0"].concat();
    let mut state = Blowfish::bc_init_state();
    state.salted_expand_key(salt, &key);
    for _ in 0..1_u32 << cost {
        state.bc_expand_key(&key);
        state.bc_expand_key(salt);
    }
    let mut whole = [0; 24];
    for (block, words) in whole.chunks_exact_mut(8).zip(b"OrpheanBeholderScryDoubt".chunks_exact(8)) {
        let word = |at: usize| words[at..at + 4].iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let pair = (0..64).fold([word(0), word(4)], |pair, _| state.bc_encrypt(pair));
        block[..4].copy_from_slice(&pair[0].to_be_bytes());
        block[4..].copy_from_slice(&pair[1].to_be_bytes());
    }
    // The first implementation lost the last byte, and it has stayed lost.
    std::array::from_fn(|at| whole[at])
}

/// Base64 with letters of its own and no padding.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            (0..3).fold(0, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or_default()));
        for at in 0..=chunk.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes() {
        let value = LETTERS.iter().position(|own| *own == letter)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_checked_as_everybody_checks_them() {
        // From the test vectors of the first implementation, and one that Argo CD's manual shows.
        for (password, hash) in [
            ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
            ("", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"),
        ] {
            assert!(verify(password, hash), "{password}");
            assert!(!verify(&format!("{password}x"), hash));
        }
    }

    #[test]
    fn a_hash_is_of_its_password_alone() {
        let made = hash("correct horse").unwrap();
        assert!(made.starts_with("$2a$10$") && made.len() == 60);
        assert!(verify("correct horse", &made) && !verify("correct hors", &made));
        assert!(hash(&"x".repeat(73)).is_err());
    }

    #[test]
    fn what_is_no_hash_is_no_passwords() {
        for hash in [
            "",
            "$2a$10$",
            "plain",
            "$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2a$05$ä",
        ] {
            assert!(!verify("", hash) && !verify("plain", hash), "{hash}");
        }
    }
}
