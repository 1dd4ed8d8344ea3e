//! Whom to trust at the other end of an encrypted connection.

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
    let config = config(host, insecure, &authority(host, certificates)?)?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| SendError::lasting(format!("{host:?} is no name of a server")))?;
    Ok((name, config))
}

/// The certificates that a host is trusted by in place of the system's; empty if it has none of its own.
pub(crate) fn authority(host: &str, certificates: &Certificates) -> Result<String, SendError> {
    let found = certificates(host)
        .map_err(|why| SendError::new(format!("the certificates for {host} cannot be had: {why}")))?;
    Ok(found.unwrap_or_default())
}

/// How a connection is encrypted where these certificates count.
pub(crate) fn config(host: &str, insecure: bool, authority: &str) -> Result<ClientConfig, SendError> {
    let access = Access { insecure, certificate_authority: authority.into(), ..Access::default() };
    tls_config(host, &access).map_err(|_| {
        SendError::lasting(format!("the certificates for {host} cannot be used; they have to be in PEM"))
    })
}
