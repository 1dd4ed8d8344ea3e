//! Tokens that are signed with an RSA key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Value, json, value};
use rsa::RsaPrivateKey;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs1v15::SigningKey;
use rsa::pkcs8::DecodePrivateKey as _;
use rsa::sha2::Sha256;
use rsa::signature::{SignatureEncoding as _, Signer as _};

/// A token that says `claims`, signed with a key in PEM. `name` is what the key is called in an error.
pub(super) fn sign(claims: &Value, key: &str, name: &str) -> Result<String, String> {
    let key = RsaPrivateKey::from_pkcs1_pem(key)
        .or_else(|_| RsaPrivateKey::from_pkcs8_pem(key))
        .map_err(|_| format!("{name} is no RSA key in PEM"))?;
    let header = json::to_string(&value!({"alg": "RS256", "typ": "JWT"}));
    let signed =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(json::to_string(claims)));
    let signature = SigningKey::<Sha256>::new(key)
        .try_sign(signed.as_bytes())
        .map_err(|_| format!("{name} cannot sign"))?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_vec())))
}
