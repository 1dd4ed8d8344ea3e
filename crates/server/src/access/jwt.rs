//! Signed tokens: our own, and those of an issuer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Value, json, value};
use ring::hmac;

use crate::limits;

/// A token that was taken apart. Nothing in it is to be believed before it is verified.
pub(crate) struct Unverified<'t> {
    /// How it says it is signed.
    pub(crate) algorithm: String,
    /// Which key it says it is signed with.
    pub(crate) key: String,
    /// What it says.
    pub(crate) claims: Value,
    /// What is signed.
    pub(crate) signed: &'t str,
    /// The signature.
    pub(crate) signature: Vec<u8>,
}

impl<'t> Unverified<'t> {
    /// Takes a token apart; none if it is no token.
    pub(crate) fn read(token: &'t str) -> Option<Self> {
        if token.len() > limits::TOKEN {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if claims.contains('.') {
            return None;
        }
        let part = |text: &str| json::parse(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        let (header, claims) = (part(header)?, part(claims)?);
        // What it names there would have to be understood, and nothing is.
        if header.get("crit").is_some() || claims.as_map().is_none() {
            return None;
        }
        Some(Unverified {
            algorithm: header.str_at(&["alg"])?.to_owned(),
            key: header.str_at(&["kid"]).unwrap_or_default().to_owned(),
            claims,
            signed,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    /// A text that it claims; empty if there is none.
    pub(crate) fn claim(&self, name: &str) -> &str {
        self.claims.str_at(&[name]).unwrap_or_default()
    }

    /// A time that it claims, in seconds.
    pub(crate) fn time(&self, name: &str) -> Option<i64> {
        match self.claims.get(name)? {
            Value::Int(time) => Some(*time),
            Value::Float(time) if time.is_finite() => Some(*time as i64),
            _ => None,
        }
    }

    /// Whether its time has come, and has not passed. A time that is no number is none that has come.
    pub(crate) fn is_current(&self, now: i64, leeway: i64) -> bool {
        let is_number = |name: &str| self.claims.get(name).is_none() || self.time(name).is_some();
        is_number("exp")
            && is_number("nbf")
            && self.time("exp").is_none_or(|end| now < end)
            && self.time("nbf").is_none_or(|begin| now.saturating_add(leeway) >= begin)
    }

    /// Whether we signed it with a key of ours, in the one way that we sign.
    pub(crate) fn is_signed_with(&self, key: &[u8]) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        self.algorithm == "HS256" && hmac::verify(&key, self.signed.as_bytes(), &self.signature).is_ok()
    }
}

/// Signs claims with a key of ours.
pub(crate) fn sign(claims: &Value, key: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(json::to_vec(value));
    let signed = format!("{}.{}", part(&value!({"alg": "HS256", "typ": "JWT"})), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let signature = hmac::sign(&key, signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forged(header: &str, claims: &str, signature: &str) -> String {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.{}", encode(header), encode(claims), encode(signature))
    }

    #[test]
    fn a_signed_token_is_known_again_and_a_changed_one_is_not() {
        let token = sign(&value!({"sub": "admin:login", "iat": 1}), b"key");
        assert!(Unverified::read(&token).unwrap().is_signed_with(b"key"));
        assert!(!Unverified::read(&token).unwrap().is_signed_with(b"other"));
        let mut other = token.clone();
        let at = other.find('.').unwrap() + 3;
        other.replace_range(at..=at, if &other[at..=at] == "A" { "B" } else { "A" });
        assert!(Unverified::read(&other).is_none_or(|token| !token.is_signed_with(b"key")));
    }

    #[test]
    fn a_token_without_a_signature_or_with_another_algorithm_is_not_ours() {
        for algorithm in ["none", "None", "HS512", "RS256", ""] {
            let token = forged(&format!(r#"{{"alg":"{algorithm}"}}"#), r#"{"sub":"admin"}"#, "");
            assert!(!Unverified::read(&token).unwrap().is_signed_with(b""), "{algorithm}");
        }
    }

    #[test]
    fn nonsense_is_no_token() {
        let many = "a.".repeat(10);
        let crit = forged(r#"{"alg":"HS256","crit":["b64"]}"#, "{}", "x");
        let list = forged(r#"{"alg":"HS256"}"#, "[]", "x");
        for token in
            ["", "a", "a.b", "a.b.c", "..", many.as_str(), &crit, &list, &"x".repeat(limits::TOKEN + 1)]
        {
            assert!(Unverified::read(token).is_none());
        }
    }

    #[test]
    fn a_token_counts_between_its_times() {
        let at = |claims: Value, now| {
            let token = sign(&claims, b"k");
            Unverified::read(&token).unwrap().is_current(now, 0)
        };
        assert!(at(value!({"nbf": 10, "exp": 20}), 10) && at(value!({"exp": 20.5}), 19) && at(value!({}), 0));
        assert!(
            !at(value!({"exp": 20}), 20) && !at(value!({"nbf": 10}), 9) && !at(value!({"exp": "never"}), 0)
        );
    }
}
