//! Whom to trust over TLS.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::error::SourceError;
use crate::repository::Access;

/// The TLS settings for one repository: its own certificates in place of the system's, its client
/// certificate, and no check at all if that is what the operator wants.
pub fn config(url: &str, access: &Access) -> Result<ClientConfig, SourceError> {
    let unusable =
        |what: &'static str, reason: String| SourceError::Credentials { url: url.to_owned(), what, reason };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("TLS settings", error.to_string()))?;
    let builder = if access.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(TrustAnyone(provider)))
    } else if access.certificate_authority.is_empty() {
        builder.with_root_certificates(system_roots())
    } else {
        let roots = own_roots(&access.certificate_authority);
        builder.with_root_certificates(roots.map_err(|reason| unusable("certificate authority", reason))?)
    };
    if access.client_certificate.is_empty() {
        return Ok(builder.with_no_client_auth());
    }
    let certificate = CertificateDer::pem_slice_iter(access.client_certificate.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable("client certificate", error.to_string()))?;
    // The error of the parser does not quote the key.
    let key = PrivateKeyDer::from_pem_slice(access.client_key.reveal().as_bytes())
        .map_err(|error| unusable("client key", error.to_string()))?;
    builder
        .with_client_auth_cert(certificate, key)
        .map_err(|error| unusable("client certificate", error.to_string()))
}

/// The system's certificates, read once.
fn system_roots() -> Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    ROOTS
        .get_or_init(|| {
            let mut roots = RootCertStore::empty();
            let found = rustls_native_certs::load_native_certs();
            for error in found.errors {
                tracing::warn!(%error, "a certificate of the system cannot be read");
            }
            roots.add_parsable_certificates(found.certs);
            Arc::new(roots)
        })
        .clone()
}

fn own_roots(pem: &str) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("it holds no certificate in PEM".to_owned());
    }
    Ok(Arc::new(roots))
}

/// Accepts any certificate, as `insecure` asks for. The handshake itself is still checked.
#[derive(Debug)]
struct TrustAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
