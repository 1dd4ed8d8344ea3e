//! The server's own certificate: `argocd-server-tls`, or what `argocd-secret` has, or one that is made and kept there.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lynceus_object::{Object, ObjectKey};
use rustls::ServerConfig;
use rustls::crypto::ring::{default_provider, sign};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;
use tracing::{info, warn};

use crate::access::{SECRET, Vault, text};
use crate::server::Server;

/// The Secret that is the server's certificate and nothing else.
const OWN: &str = "argocd-server-tls";

/// What is needed to speak TLS.
pub struct Tls(Arc<ServerConfig>);

impl Tls {
    /// With the certificate of an installation, which is made if it has none. One that is replaced is used from then on.
    pub async fn of(server: &Arc<Server>) -> Result<Self, String> {
        ensure(server.access.vault()).await?;
        let keeper = Keeper { server: server.clone(), current: Mutex::default() };
        if keeper.current().is_none() {
            return Err(
                "neither argocd-server-tls nor argocd-secret has a certificate that can be used".to_owned()
            );
        }
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(keeper));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls(Arc::new(config)))
    }

    /// With a configuration that a test has made.
    #[cfg(test)]
    pub(crate) fn with(config: ServerConfig) -> Self {
        Tls(Arc::new(config))
    }

    pub(crate) fn acceptor(self) -> TlsAcceptor {
        TlsAcceptor::from(self.0)
    }
}

/// Makes a certificate for an installation that has none. Of several servers that start at once one makes it for all.
async fn ensure(vault: &Vault) -> Result<(), String> {
    let failed = |refusal: crate::refusal::Refusal| refusal.message;
    if vault.secret(OWN).await.map_err(failed)?.is_some_and(|secret| has_pair(&secret)) {
        return Ok(());
    }
    let namespace = vault.namespace();
    let mut names = vec!["localhost".to_owned(), "argocd-server".to_owned()];
    names.extend(["", ".svc", ".svc.cluster.local"].map(|end| format!("argocd-server.{namespace}{end}")));
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    let pair = [("tls.crt", made.cert.pem()), ("tls.key", made.signing_key.serialize_pem())];
    let kept = vault.amend(SECRET, |secret| {
        let wanted = pair.iter().map(|(key, text)| ((*key).to_owned(), Some(text.clone().into_bytes())));
        Ok((if has_pair(secret) { Default::default() } else { wanted.collect() }, ()))
    });
    kept.await.map_err(failed)
}

fn has_pair(secret: &Object) -> bool {
    !text(secret, "tls.crt").is_empty() && !text(secret, "tls.key").is_empty()
}

/// Has the certificate at hand, as the installation has it now.
struct Keeper {
    server: Arc<Server>,
    current: Mutex<Option<(String, Arc<CertifiedKey>)>>,
}

impl Keeper {
    fn current(&self) -> Option<Arc<CertifiedKey>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(secret) = self.secret() else { return current.as_ref().map(|(_, pair)| pair.clone()) };
        let version = format!("{} {}", secret.uid(), secret.resource_version());
        if current.as_ref().is_none_or(|(known, _)| *known != version) {
            match read(&secret) {
                Ok(pair) => {
                    info!(secret = secret.name(), "the certificate is read");
                    *current = Some((version, Arc::new(pair)));
                }
                Err(reason) => warn!(secret = secret.name(), reason, "the certificate cannot be used"),
            }
        }
        current.as_ref().map(|(_, pair)| pair.clone())
    }

    fn secret(&self) -> Option<Object> {
        let cache = self.server.engine().home().cache();
        let of = |name: &str| cache.get(&ObjectKey::new("", "Secret", self.server.namespace(), name));
        of(OWN).filter(has_pair).or_else(|| of(SECRET).filter(has_pair))
    }
}

impl ResolvesServerCert for Keeper {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current()
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeper")
    }
}

/// Reads certificate and key. The error quotes neither.
fn read(secret: &Object) -> Result<CertifiedKey, &'static str> {
    let chain = text(secret, "tls.crt");
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain.as_bytes()).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or("tls.crt has no certificate in PEM")?;
    let key = text(secret, "tls.key");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| "tls.key has no key in PEM")?;
    let key = sign::any_supported_type(&key).map_err(|_| "tls.key is of a kind that is not known")?;
    let pair = CertifiedKey::new(chain, key);
    match pair.keys_match() {
        Ok(()) => Ok(pair),
        Err(_) => Err("tls.key does not belong to tls.crt"),
    }
}
