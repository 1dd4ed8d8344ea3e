//! The flags that say how servers are reached that have charts.

use std::path::{Path, PathBuf};

use lynceus_source::{Access, Secret};

// Credentials and trust for the server that a chart comes from.
#[derive(clap::Args, Clone, Default)]
#[group(skip)]
pub(super) struct Flags {
    /// The user at the chart repository or registry.
    #[arg(long, default_value = "", hide_default_value = true)]
    username: String,
    /// The password at the chart repository or registry.
    #[arg(long, default_value = "", hide_default_value = true)]
    password: String,
    /// The certificates to trust, in PEM.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// The certificate to show, in PEM.
    #[arg(long, value_name = "FILE")]
    cert_file: Option<PathBuf>,
    /// The key of that certificate, in PEM.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Trust any certificate.
    #[arg(long)]
    insecure_skip_tls_verify: bool,
    /// Speak to registries without TLS.
    #[arg(long)]
    plain_http: bool,
}

// What would have to be checked by a chart's provenance file, which nothing here reads.
#[derive(clap::Args, Clone, Default)]
#[group(skip)]
pub(super) struct Provenance {
    #[arg(long, hide = true)]
    verify: bool,
    #[arg(long, hide = true)]
    keyring: Option<PathBuf>,
}

impl Flags {
    /// How to get in with these flags.
    pub(super) fn access(&self) -> Result<Access, String> {
        Ok(Access {
            username: self.username.clone(),
            password: Secret::from(self.password.as_str()),
            certificate_authority: pem(self.ca_file.as_deref())?,
            client_certificate: pem(self.cert_file.as_deref())?,
            client_key: Secret::from(pem(self.key_file.as_deref())?),
            insecure: self.insecure_skip_tls_verify,
            plain_http: self.plain_http,
            ..Access::default()
        })
    }
}

impl Provenance {
    /// Refuses what is not done: whoever asks for a signature to be checked must not believe that it was.
    pub(super) fn refuse(&self) -> Result<(), String> {
        let flag = match (self.verify, &self.keyring) {
            (true, _) => "--verify",
            (false, Some(_)) => "--keyring",
            (false, None) => return Ok(()),
        };
        Err(format!(
            "{flag} is not supported: provenance files are not checked. Verify the chart with 'helm pull --verify', \
             and name the archive"
        ))
    }
}

/// The content of a file with keys or certificates; nothing if none is named.
pub(super) fn pem(path: Option<&Path>) -> Result<String, String> {
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else { return Ok(String::new()) };
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
