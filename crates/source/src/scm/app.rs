//! An app of GitHub: it shows that it has its key, and gets a token for an hour.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Value, json, value};
use reqwest::header::HeaderValue;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use super::web::{Web, text};
use super::{GithubApp, ScmError};
use crate::secret::Secret;

/// How long the proof that we have the key counts; GitHub takes ten minutes at most.
const PROOF_SECONDS: u64 = 540;
/// Clocks differ.
const EARLY_SECONDS: u64 = 60;

/// A token of the app's installation for an organisation.
pub(super) async fn token(web: &Web, app: &GithubApp, organization: &str) -> Result<Secret, ScmError> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let proof = proof(app, now)?;
    let headers = [("authorization", bearer(&proof)?)];
    let installation = match app.installation.as_str() {
        "" => {
            let page = web.get_with(&["orgs", organization, "installation"], &headers).await?;
            super::web::number(web, &page.value, &["id"])?.to_string()
        }
        known => known.to_owned(),
    };
    let path = ["app", "installations", &installation, "access_tokens"];
    let page = web.post(&path, Vec::new(), &headers).await?;
    Ok(text(web, &page.value, &["token"])?.as_str().into())
}

fn bearer(proof: &str) -> Result<HeaderValue, ScmError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {proof}"))
        .map_err(|_| unusable("it cannot be sent in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn unusable(reason: &str) -> ScmError {
    ScmError::Unusable { what: "the key of the GitHub app".to_owned(), reason: reason.to_owned() }
}

/// A JSON web token, signed with the app's key.
fn proof(app: &GithubApp, now: u64) -> Result<String, ScmError> {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(json::to_string(value));
    let second = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let head = part(&value!({"alg": "RS256", "typ": "JWT"}));
    let claims = part(&value!({
        "iat": second(now.saturating_sub(EARLY_SECONDS)),
        "exp": second(now + PROOF_SECONDS),
        "iss": app.id.trim(),
    }));
    let text = format!("{head}.{claims}");
    let key = key(app)?;
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| unusable("nothing can be signed with it"))?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The key in either of the two forms in which it is handed out.
fn key(app: &GithubApp) -> Result<RsaKeyPair, ScmError> {
    let key = PrivateKeyDer::from_pem_slice(app.private_key.reveal().as_bytes())
        .map_err(|_| unusable("it is no private key in PEM"))?;
    let pair = match &key {
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        _ => return Err(unusable("it is no RSA key")),
    };
    pair.map_err(|error| unusable(&error.to_string()))
}
