//! Encryption of what is not HTTP.

use lynceus_notify::SendError;
use lynceus_source::{Access, tls_config};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::Certificates;

/// Whom to expect at a host, and whom to trust.
pub(crate) fn client(
    host: &str,
    insecure: bool,
    certificates: &Certificates,
) -> Result<(ServerName<'static>, ClientConfig), SendError> {
    let access = Access {
        insecure,
        certificate_authority: certificates(host).unwrap_or_default().as_str().into(),
        ..Access::default()
    };
    let config = tls_config(host, &access)
        .map_err(|_| SendError::lasting(format!("the certificates for {host} cannot be used")))?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| SendError::lasting(format!("{host:?} is no name of a server")))?;
    Ok((name, config))
}
