//! Asking an issuer, over TLS that is always checked.

use std::fmt;
use std::sync::Arc;

use lynceus_object::{Value, json};
use reqwest::{Client, ClientBuilder, Response};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::limits;

/// Asks an issuer.
pub(super) struct Fetcher(Client);

/// Why an issuer did not answer. What it says is not for the log, but for its own word for it: it may hold tokens.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It answered that it will not.
    Refused {
        /// The status of its answer.
        status: u16,
        /// Its word for why, if it has one.
        error: String,
    },
    /// It cannot be reached, or understood.
    Other(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Refused { status, error } => write!(f, "it answered {status} {error}"),
            Trouble::Other(reason) => f.write_str(reason),
        }
    }
}

impl From<reqwest::Error> for Trouble {
    fn from(error: reqwest::Error) -> Self {
        Trouble::Other(cause(&error))
    }
}

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
    pub(super) async fn json(&self, place: &str) -> Result<Value, Trouble> {
        if !is_safe(place) {
            return Err(Trouble::Other(format!("{place} may not be asked")));
        }
        read(self.0.get(place).send().await?).await
    }

    /// A document that is for whoever has a token.
    pub(super) async fn bearing(&self, place: &str, token: &str) -> Result<Value, Trouble> {
        let request = self.0.get(place).bearer_auth(token).header("accept", "application/json");
        read(request.send().await?).await
    }

    /// The answer to a form, with a name and a password if there are any.
    pub(super) async fn post(
        &self,
        place: &str,
        form: &[(&str, &str)],
        basic: Option<(&str, &str)>,
    ) -> Result<Value, Trouble> {
        let body: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let mut request = self.0.post(place).header("content-type", "application/x-www-form-urlencoded");
        request = request.header("accept", "application/json").body(body.join("&"));
        if let Some((name, password)) = basic {
            request = request.basic_auth(encoded(name), Some(encoded(password)));
        }
        read(request.send().await?).await
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

/// The answer, if it is one and not too long.
async fn read(mut answer: Response) -> Result<Value, Trouble> {
    let status = answer.status();
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        if body.len() + piece.len() > limits::ISSUER_BYTES {
            return Err(Trouble::Other("its answer is too long".to_owned()));
        }
        body.extend_from_slice(&piece);
    }
    let value = json::parse(&body).ok();
    if !status.is_success() {
        let error = value.as_ref().and_then(|value| value.str_at(&["error"])).unwrap_or_default();
        let error = error.chars().filter(|c| !c.is_control()).take(60).collect();
        return Err(Trouble::Refused { status: status.as_u16(), error });
    }
    value.ok_or_else(|| Trouble::Other("its answer is no JSON".to_owned()))
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
