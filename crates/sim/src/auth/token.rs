//! Service-account tokens: JSON Web Tokens signed with the cluster's key (ES256).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use lynceus_object::Value;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use sha2::{Digest, Sha256};

use crate::ApiError;

/// Signs and verifies tokens. What it is made of is never shown.
pub(super) struct Signer {
    key: EcdsaKeyPair,
    random: SystemRandom,
    key_id: String,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({})", self.key_id)
    }
}

impl Signer {
    /// A signer with a P-256 key in PKCS#8 DER.
    pub(super) fn new(pkcs8: &[u8]) -> Result<Self, ApiError> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|_| ApiError::internal("the key for service-account tokens is not a P-256 key"))?;
        let key_id = URL_SAFE_NO_PAD.encode(Sha256::digest(key.public_key()));
        Ok(Signer { key, random, key_id })
    }

    /// The public key as a JSON Web Key, for those who verify tokens elsewhere.
    pub(super) fn public_key(&self) -> Value {
        // The key is a point: one byte of form, then both coordinates.
        let point = self.key.public_key().as_ref();
        let half = |from: usize| URL_SAFE_NO_PAD.encode(point.get(from..from + 32).unwrap_or_default());
        lynceus_object::value!({
            "use": "sig", "kty": "EC", "kid": self.key_id, "crv": "P-256", "alg": "ES256", "x": half(1), "y": half(33),
        })
    }

    /// A token with these claims.
    pub(super) fn sign(&self, claims: &Value) -> Result<String, ApiError> {
        let header = format!("{{\"alg\":\"ES256\",\"kid\":\"{}\"}}", self.key_id);
        let claims = serde_json::to_string(claims).map_err(ApiError::internal)?;
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = self
            .key
            .sign(&self.random, text.as_bytes())
            .map_err(|_| ApiError::internal("a token could not be signed"))?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The claims of a token that this signer made and that is valid now.
    pub(super) fn verify(&self, token: &str, now: Timestamp) -> Result<Value, TokenError> {
        let (text, signature) = token.rsplit_once('.').ok_or(TokenError::Form)?;
        let (header, claims) = text.split_once('.').ok_or(TokenError::Form)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Form);
        let header: Value = serde_json::from_slice(&decode(header)?).map_err(|_| TokenError::Form)?;
        if header.str_at(&["alg"]) != Some("ES256") {
            return Err(TokenError::Signature);
        }
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key().as_ref())
            .verify(text.as_bytes(), &decode(signature)?)
            .map_err(|_| TokenError::Signature)?;
        let claims: Value = serde_json::from_slice(&decode(claims)?).map_err(|_| TokenError::Form)?;
        let at = |claim: &str| claims.int_at(&[claim]);
        if at("exp").is_some_and(|until| now.as_second() >= until) {
            return Err(TokenError::Expired);
        }
        if at("nbf").is_some_and(|from| now.as_second() < from) {
            return Err(TokenError::Early);
        }
        Ok(claims)
    }
}

/// Why a token is not taken. The words go into TokenReviews, never the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error("token is malformed")]
    Form,
    #[error("failed to verify signature")]
    Signature,
    #[error("service account token has expired")]
    Expired,
    #[error("service account token is not valid yet")]
    Early,
    #[error("service account token has been invalidated")]
    Invalidated,
    #[error("token audiences do not match")]
    Audience,
}
