//! Asking an issuer, over TLS that is always checked.

use std::sync::Arc;

use lynceus_object::{Value, json};
use reqwest::{Client, ClientBuilder, Response};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::limits;

/// Asks an issuer.
pub(super) struct Fetcher(Client);

impl Fetcher {
    /// Trusts certificates in PEM, or the system's if there are none.
    pub(super) fn new(root_ca: &str) -> Result<Self, String> {
        let client = trusting(root_ca)?
            // An issuer answers itself: what it is sent is for nobody else.
            .redirect(reqwest::redirect::Policy::none())
            .timeout(limits::ISSUER_ANSWER)
            .build();
        client.map(Fetcher).map_err(|error| error.to_string())
    }

    /// A document.
    pub(super) async fn json(&self, place: &str) -> Result<Value, String> {
        if !is_safe(place) {
            return Err(format!("{place} may not be asked"));
        }
        let answer = self.0.get(place).send().await;
        read(answer.map_err(|error| cause(&error))?).await
    }

    /// The answer to a form, with a name and a password if there are any.
    pub(super) async fn post(
        &self,
        place: &str,
        form: &[(&str, &str)],
        basic: Option<(&str, &str)>,
    ) -> Result<Value, String> {
        let body: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let mut request = self.0.post(place).header("content-type", "application/x-www-form-urlencoded");
        request = request.header("accept", "application/json").body(body.join("&"));
        if let Some((name, password)) = basic {
            request = request.basic_auth(encoded(name), Some(encoded(password)));
        }
        read(request.send().await.map_err(|error| cause(&error))?).await
    }
}

/// A client that trusts certificates in PEM, or the system's if there are none.
pub(crate) fn trusting(root_ca: &str) -> Result<ClientBuilder, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots(root_ca)?)
        .with_no_client_auth();
    let agent = concat!("lynceus/", env!("CARGO_PKG_VERSION"));
    Ok(Client::builder().user_agent(agent).tls_backend_preconfigured(config))
}

/// The answer, if it is one and not too long. What it says is not for the log: it may hold tokens.
async fn read(mut answer: Response) -> Result<Value, String> {
    let status = answer.status();
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| cause(&error))? {
        if body.len() + piece.len() > limits::ISSUER_BYTES {
            return Err("its answer is too long".to_owned());
        }
        body.extend_from_slice(&piece);
    }
    let value = json::parse(&body).ok();
    if !status.is_success() {
        let error = value.as_ref().and_then(|value| value.str_at(&["error"])).unwrap_or_default();
        return Err(format!("it answered {status} {}", error.chars().take(60).collect::<String>()));
    }
    value.ok_or_else(|| "its answer is no JSON".to_owned())
}

/// The innermost reason, without the address, which may hold more than a name.
fn cause(error: &reqwest::Error) -> String {
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string().chars().take(200).collect()
}

fn roots(pem: &str) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    if pem.is_empty() {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(Arc::new(roots));
    }
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.map_err(|_| "rootCA is no PEM")?).map_err(|_| "rootCA is no certificate")?;
    }
    if roots.is_empty() { Err("rootCA has no certificate".to_owned()) } else { Ok(Arc::new(roots)) }
}

/// Whether an address may be asked: over TLS, or on this machine.
pub(super) fn is_safe(address: &str) -> bool {
    if address.starts_with("https://") {
        return true;
    }
    let Some(rest) = address.strip_prefix("http://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    };
    !place.contains('@') && matches!(host, "localhost" | "127.0.0.1" | "::1")
}

/// A text as forms and queries carry it.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_asked_over_tls_or_on_this_machine() {
        for address in
            ["https://sso.example/x", "http://127.0.0.1:5556/dex", "http://localhost", "http://[::1]:80/"]
        {
            assert!(is_safe(address), "{address}");
        }
        for address in [
            "http://sso.example",
            "http://127.0.0.1@evil.example/",
            "http://127.0.0.1.evil.example",
            "file:///etc",
            "",
            "javascript:x",
        ] {
            assert!(!is_safe(address), "{address}");
        }
    }
}
