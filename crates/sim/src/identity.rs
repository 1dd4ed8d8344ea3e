//! The cluster's certificates and keys, and the kubeconfig that is made from them.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::value;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};
use sha2::{Digest, Sha256};

use crate::auth::Keys;

/// The names by which clients reach the server.
const NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

const ADDRESSES: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
];

/// Why there are no certificates.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A file could not be read or written.
    #[error("cannot use {path}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A certificate could not be made.
    #[error("cannot make the certificate of the {what}")]
    Certificate {
        /// Whose.
        what: &'static str,
        /// What the library says.
        #[source]
        source: rcgen::Error,
    },
}

/// Certificates and keys, as PEM.
#[derive(Clone)]
pub struct Identity {
    /// The root certificate that clients trust.
    pub root: String,
    root_key: String,
    /// The server's certificate.
    pub server: String,
    /// The server's key.
    pub server_key: String,
    /// The administrator's certificate.
    pub admin: String,
    /// The administrator's key.
    pub admin_key: String,
    signing_key: String,
    admin_token: String,
}

/// Keys are secret, so that nothing of them is shown.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// A new identity.
    pub fn generate() -> Result<Self, IdentityError> {
        let root_key = key("root")?;
        let mut root = params("kubernetes", &[]);
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        root.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let root_certificate = root
            .self_signed(&root_key)
            .map_err(|source| IdentityError::Certificate { what: "root", source })?;
        let issuer = Issuer::new(root, root_key);
        let (server, server_key) = issue(&issuer, server_params(), "server")?;
        let (admin, admin_key) = issue(&issuer, admin_params(), "administrator")?;
        let secret = key("administrator's token")?.serialize_der();
        Ok(Identity {
            root: root_certificate.pem(),
            root_key: issuer.key().serialize_pem(),
            server,
            server_key,
            admin,
            admin_key,
            signing_key: key("token signer")?.serialize_pem(),
            admin_token: hex(&Sha256::digest(secret)),
        })
    }

    /// Reads the identity in a directory, or makes one there.
    pub fn open(directory: &Path) -> Result<Self, IdentityError> {
        let read = |name: &str| {
            let path = directory.join(name);
            fs::read_to_string(&path)
                .map_err(|source| IdentityError::File { path: path.display().to_string(), source })
        };
        match read(LAST_FILE) {
            Ok(admin_token) => Ok(Identity {
                root: read("ca.crt")?,
                root_key: read("ca.key")?,
                server: read("server.crt")?,
                server_key: read("server.key")?,
                admin: read("admin.crt")?,
                admin_key: read("admin.key")?,
                signing_key: read("sa.key")?,
                admin_token: admin_token.trim().to_owned(),
            }),
            Err(IdentityError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let identity = Identity::generate()?;
                identity.write(directory)?;
                Ok(identity)
            }
            Err(error) => Err(error),
        }
    }

    fn write(&self, directory: &Path) -> Result<(), IdentityError> {
        let fail = |path: &Path| {
            let path = path.display().to_string();
            move |source| IdentityError::File { path, source }
        };
        fs::create_dir_all(directory).map_err(fail(directory))?;
        for (name, text) in [
            ("ca.crt", &self.root),
            ("ca.key", &self.root_key),
            ("server.crt", &self.server),
            ("server.key", &self.server_key),
            ("admin.crt", &self.admin),
            ("admin.key", &self.admin_key),
            ("sa.key", &self.signing_key),
            // Written last: an identity is read back only if all of it is there.
            (LAST_FILE, &self.admin_token),
        ] {
            let path = directory.join(name);
            write_private(&path, text).map_err(fail(&path))?;
        }
        Ok(())
    }

    /// What logins are checked with.
    pub fn keys(&self) -> Keys {
        Keys {
            admin_token: self.admin_token.clone(),
            signing_key: KeyPair::from_pem(&self.signing_key)
                .map(|key| key.serialize_der())
                .unwrap_or_default(),
            issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
            root: Some((self.root.clone(), self.root_key.clone())),
        }
    }

    /// A kubeconfig for the administrator, with everything in it.
    pub fn kubeconfig(&self, server: &str) -> String {
        let config = value!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "lynceus",
            "clusters": [{"name": "lynceus", "cluster": {
                "server": server, "certificate-authority-data": STANDARD.encode(&self.root),
            }}],
            "contexts": [{"name": "lynceus", "context": {"cluster": "lynceus", "user": "lynceus-admin"}}],
            "users": [{"name": "lynceus-admin", "user": {
                "client-certificate-data": STANDARD.encode(&self.admin),
                "client-key-data": STANDARD.encode(&self.admin_key),
            }}],
            "preferences": {},
        });
        lynceus_object::yaml::to_string(&config)
    }
}

const LAST_FILE: &str = "admin.token";

/// Writes a file that only its owner can read, whoever could read the one that was there.
pub fn write_private(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    // The terminal and the like belong to others.
    let is_file = file.metadata()?.is_file();
    #[cfg(unix)]
    if is_file {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    file.write_all(bytes.as_ref())?;
    if is_file { file.sync_all() } else { Ok(()) }
}

fn key(what: &'static str) -> Result<KeyPair, IdentityError> {
    KeyPair::generate().map_err(|source| IdentityError::Certificate { what, source })
}

fn params(name: &str, groups: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    for group in groups {
        params.distinguished_name.push(DnType::OrganizationName, *group);
    }
    // Fixed, so that nothing here asks for the time: the files live as long as the data directory.
    params.not_before = date_time_ymd(2024, 1, 1);
    params.not_after = date_time_ymd(2124, 1, 1);
    params
}

fn server_params() -> CertificateParams {
    let mut params = params("kube-apiserver", &[]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.subject_alt_names =
        NAMES.iter().filter_map(|name| (*name).try_into().ok()).map(SanType::DnsName).collect();
    params.subject_alt_names.extend(ADDRESSES.map(SanType::IpAddress));
    params
}

fn admin_params() -> CertificateParams {
    let mut params = params("kubernetes-admin", &["system:masters"]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params
}

fn issue(
    issuer: &Issuer<'_, KeyPair>,
    params: CertificateParams,
    what: &'static str,
) -> Result<(String, String), IdentityError> {
    let key = key(what)?;
    let certificate =
        params.signed_by(&key, issuer).map_err(|source| IdentityError::Certificate { what, source })?;
    Ok((certificate.pem(), key.serialize_pem()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_private_though_there_was_one_that_all_could_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let path = std::env::temp_dir().join(format!("lynceus-private-{}", std::process::id()));
        fs::write(&path, "a longer text").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write_private(&path, "secret").unwrap();
        let (mode, text) = (fs::metadata(&path).unwrap().permissions().mode(), fs::read(&path).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!((mode & 0o777, text.as_slice()), (0o600, b"secret".as_slice()));
    }
}
