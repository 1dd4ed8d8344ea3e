//! A small HTTPS client, enough to ask a component whether it is well.

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::certificates::Certificates;

/// How long a component may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// More than any answer about health has.
const LONGEST: u64 = 64 * 1024;

/// A client that trusts the rig's authority and shows the administrator's certificate.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    config: Arc<ClientConfig>,
}

impl Client {
    pub(crate) fn new(certificates: &Certificates) -> Result<Self, String> {
        let read = |name: &str| {
            let path = certificates.path(name);
            CertificateDer::from_pem_file(&path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let mut roots = RootCertStore::empty();
        roots.add(read("ca.crt")?).map_err(|error| format!("the rig's authority: {error}"))?;
        let key = PrivateKeyDer::from_pem_file(certificates.path("admin.key"))
            .map_err(|error| format!("cannot read the administrator's key: {error}"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![read("admin.crt")?], key)
            .map_err(|error| format!("the administrator's certificate: {error}"))?;
        Ok(Client { config: Arc::new(config) })
    }

    /// Whether a GET is answered with 200.
    pub(crate) fn is_well(&self, port: u16, path: &str, tls: bool) -> bool {
        self.get(port, path, tls).is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
    }

    fn get(&self, port: u16, path: &str, tls: bool) -> Result<String, String> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let socket = TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| error.to_string())?;
        let timeouts = socket.set_read_timeout(Some(PATIENCE)).and(socket.set_write_timeout(Some(PATIENCE)));
        timeouts.map_err(|error| error.to_string())?;
        if !tls {
            return exchange(socket, path);
        }
        let name = ServerName::try_from("127.0.0.1").map_err(|error| error.to_string())?;
        let connection =
            ClientConnection::new(Arc::clone(&self.config), name).map_err(|error| error.to_string())?;
        exchange(StreamOwned::new(connection, socket), path)
    }
}

fn exchange(mut stream: impl std::io::Read + std::io::Write, path: &str) -> Result<String, String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    // A server that hangs up without a goodbye has still answered.
    let ended = (&mut stream).take(LONGEST).read_to_end(&mut answer);
    if answer.is_empty() {
        ended.map_err(|error| error.to_string())?;
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
