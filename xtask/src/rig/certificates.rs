//! The rig's own certificates: one authority, and a certificate for each who has to show one.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};

use super::build::{make_directory, write};

/// Who shows a certificate to the API server: file name, user, group.
pub(crate) const CLIENTS: [(&str, &str, Option<&str>); 5] = [
    ("admin", "kubernetes-admin", Some("system:masters")),
    ("controller-manager", "system:kube-controller-manager", None),
    ("scheduler", "system:kube-scheduler", None),
    ("kwok", "kwok", Some("system:masters")),
    // The program under test, so that its writes can be told from those of others.
    ("lynceus", "lynceus", Some("system:masters")),
];

/// The directory that the certificates and keys lie in.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    directory: PathBuf,
}

impl Certificates {
    /// Opens the directory; what is in it is made on first use and kept, so that kubeconfigs stay good.
    pub(crate) fn ready(directory: &Path) -> Result<Self, String> {
        let certificates = Certificates { directory: directory.to_path_buf() };
        let mut files: Vec<String> = CLIENTS.iter().map(|(client, _, _)| format!("{client}.crt")).collect();
        files.push("service-accounts.pub".to_owned());
        if files.iter().any(|file| !certificates.path(file).exists()) {
            make_directory(directory)?;
            certificates.make()?;
        }
        Ok(certificates)
    }

    /// The path of a file such as `ca.crt`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn make(&self) -> Result<(), String> {
        let mut params = named("lynceus-rig-ca", None)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let authority = CertifiedIssuer::self_signed(params, new_key()?).map_err(tell)?;
        self.keep("ca", &authority.pem(), &authority.key().serialize_pem())?;

        let mut server = named("kube-apiserver", None)?;
        let names = [
            "127.0.0.1",
            "10.0.0.1",
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
        ];
        let names = CertificateParams::new(names.map(str::to_owned)).map_err(tell)?;
        server.subject_alt_names = names.subject_alt_names;
        server.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        self.issue("server", server, &authority)?;

        for (file, user, group) in CLIENTS {
            let mut client = named(user, group)?;
            client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            self.issue(file, client, &authority)?;
        }

        let accounts = new_key()?;
        self.secret("service-accounts.key", &accounts.serialize_pem())?;
        write(&self.path("service-accounts.pub"), &accounts.public_key_pem())
    }

    fn issue(
        &self,
        file: &str,
        params: CertificateParams,
        authority: &CertifiedIssuer<'_, KeyPair>,
    ) -> Result<(), String> {
        let key = new_key()?;
        let certificate = params.signed_by(&key, authority).map_err(tell)?;
        self.keep(file, &certificate.pem(), &key.serialize_pem())
    }

    fn keep(&self, file: &str, certificate: &str, key: &str) -> Result<(), String> {
        write(&self.path(&format!("{file}.crt")), certificate)?;
        self.secret(&format!("{file}.key"), key)
    }

    /// Writes a file that nobody else may read.
    fn secret(&self, name: &str, text: &str) -> Result<(), String> {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt as _;
        let path = self.path(name);
        std::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

fn named(name: &str, group: Option<&str>) -> Result<CertificateParams, String> {
    let mut params = CertificateParams::new(Vec::new()).map_err(tell)?;
    let mut subject = DistinguishedName::new();
    if let Some(group) = group {
        subject.push(DnType::OrganizationName, group);
    }
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn new_key() -> Result<KeyPair, String> {
    KeyPair::generate().map_err(tell)
}

fn tell(error: rcgen::Error) -> String {
    format!("cannot make a certificate: {error}")
}
