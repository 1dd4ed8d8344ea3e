//! The keys that an issuer signs with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::Value;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

use super::super::jwt::Unverified;
use crate::limits;

/// All of them.
pub(super) struct Keys(Vec<Key>);

struct Key {
    id: String,
    /// The one way that it is for, if it says so.
    algorithm: String,
    material: Material,
}

enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// A point of the curve.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Keys {
    /// Reads a document of keys. What is not understood is passed over.
    pub(super) fn read(document: &Value) -> Self {
        Keys(
            document
                .items_at(&["keys"])
                .iter()
                .take(limits::ISSUER_KEY_COUNT)
                .filter_map(Key::read)
                .collect(),
        )
    }

    /// Whether one of them is named by a token.
    pub(super) fn knows(&self, token: &Unverified<'_>) -> bool {
        token.key.is_empty() || self.0.iter().any(|key| key.id == token.key)
    }

    /// Whether one of them signed a token: the one that it names, or any if it names none.
    pub(super) fn verify(&self, token: &Unverified<'_>) -> bool {
        let named = self.0.iter().filter(|key| token.key.is_empty() || key.id == token.key);
        named
            .filter(|key| key.algorithm.is_empty() || key.algorithm == token.algorithm)
            .any(|key| key.signed(token))
    }
}

impl Key {
    fn read(value: &Value) -> Option<Self> {
        if value.str_at(&["use"]).is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = |field: &str| URL_SAFE_NO_PAD.decode(value.str_at(&[field])?.trim_end_matches('=')).ok();
        let material = match (value.str_at(&["kty"])?, value.str_at(&["crv"]).unwrap_or_default()) {
            ("RSA", _) => Material::Rsa { n: bytes("n")?, e: bytes("e")? },
            ("EC", "P-256") => Material::P256(point(&bytes("x")?, &bytes("y")?)),
            ("EC", "P-384") => Material::P384(point(&bytes("x")?, &bytes("y")?)),
            ("OKP", "Ed25519") => Material::Ed25519(bytes("x")?),
            _ => return None,
        };
        let text = |field: &str| value.str_at(&[field]).unwrap_or_default().to_owned();
        Some(Key { id: text("kid"), algorithm: text("alg"), material })
    }

    /// Whether it signed a token. Which way of signing counts is for the key to say: a token cannot make a key that is
    /// public be taken for one that is shared.
    fn signed(&self, token: &Unverified<'_>) -> bool {
        let (message, mark) = (token.signed.as_bytes(), token.signature.as_slice());
        let verify = |way: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(way, key).verify(message, mark).is_ok()
        };
        match (&self.material, token.algorithm.as_str()) {
            (Material::Rsa { n, e }, algorithm) => rsa(algorithm)
                .is_some_and(|way| RsaPublicKeyComponents { n, e }.verify(way, message, mark).is_ok()),
            (Material::P256(key), "ES256") => verify(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Material::P384(key), "ES384") => verify(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Material::Ed25519(key), "EdDSA") => verify(&signature::ED25519, key),
            _ => false,
        }
    }
}

fn rsa(algorithm: &str) -> Option<&'static RsaParameters> {
    match algorithm {
        "RS256" => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        "RS384" => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        "RS512" => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        "PS256" => Some(&signature::RSA_PSS_2048_8192_SHA256),
        _ => None,
    }
}

fn point(x: &[u8], y: &[u8]) -> Vec<u8> {
    [&[4], x, y].concat()
}
