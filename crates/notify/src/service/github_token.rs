//! How an app of GitHub shows who it is.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use lynceus_object::{json, value};
use rsa::RsaPrivateKey;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs1v15::SigningKey;
use rsa::pkcs8::DecodePrivateKey as _;
use rsa::sha2::Sha256;
use rsa::signature::{SignatureEncoding as _, Signer as _};

/// How long the token holds, and how much clocks may differ, in seconds.
const HOLDS: i64 = 540;
const SKEW: i64 = 60;

/// The token of an app, signed with its key.
pub(super) fn app_token(app: &str, key: &str, now: Timestamp) -> Result<String, String> {
    let key = RsaPrivateKey::from_pkcs1_pem(key)
        .or_else(|_| RsaPrivateKey::from_pkcs8_pem(key))
        .map_err(|_| "the option privateKey is no RSA key in PEM".to_owned())?;
    let header = json::to_string(&value!({"alg": "RS256", "typ": "JWT"}));
    let second = now.as_second();
    let claims = json::to_string(&value!({"iat": (second - SKEW), "exp": (second + HOLDS), "iss": (app)}));
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = SigningKey::<Sha256>::new(key)
        .try_sign(signed.as_bytes())
        .map_err(|_| "the key cannot sign".to_owned())?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_vec())))
}
