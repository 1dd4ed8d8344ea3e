//! A repository and how to get in.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::book::{Book, DEFAULT_KNOWN_HOSTS};
use crate::error::SourceError;
use crate::secret::Secret;
use crate::url::{self, RepoUrl};

/// A repository: its URL, and all that is needed to read it.
#[derive(Clone, Default)]
pub struct Repository {
    /// The URL as the user wrote it.
    pub url: String,
    /// What serves it.
    pub kind: RepositoryKind,
    /// Whether a Helm repository is an OCI registry.
    pub oci: bool,
    /// The name that a Secret gives it.
    pub name: String,
    /// The project that it belongs to; empty if to all.
    pub project: String,
    /// How to get in.
    pub access: Access,
    /// Where the credentials of submodules and dependencies are looked up.
    pub(crate) book: Option<Arc<Book>>,
}

/// What serves a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepositoryKind {
    /// Git.
    #[default]
    Git,
    /// A Helm repository.
    Helm,
    /// An OCI registry.
    Oci,
}

/// Credentials and trust, as Argo CD's repository Secrets hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The user for basic authentication.
    pub username: String,
    /// The password or token for basic authentication.
    pub password: Secret,
    /// The token for bearer authentication.
    pub bearer_token: Secret,
    /// The private key for SSH, in PEM.
    pub ssh_private_key: Secret,
    /// The client certificate for TLS, in PEM.
    pub client_certificate: String,
    /// The key of the client certificate, in PEM.
    pub client_key: Secret,
    /// Certificates to trust instead of the system's, in PEM.
    pub certificate_authority: String,
    /// The known hosts, as in OpenSSH's file.
    pub known_hosts: Arc<str>,
    /// Trust any certificate and any host key.
    pub insecure: bool,
    /// The proxy; its URL may hold a password.
    pub proxy: Secret,
    /// Hosts that are reached without the proxy, separated by commas.
    pub no_proxy: String,
    /// Whether an OCI registry is reached without TLS.
    pub plain_http: bool,
    /// Send user and password with the first request to an OCI registry, without waiting to be asked.
    pub force_basic: bool,
    /// Show the credentials of a chart repository to the other hosts that its index names.
    pub pass_credentials: bool,
    /// A way to get in that the Secret names and that is not supported.
    pub unsupported: Option<&'static str>,
}

/// Without the book, and without the password that the URL may hold.
impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("url", &self.shown())
            .field("kind", &self.kind)
            .field("oci", &self.oci)
            .field("name", &self.name)
            .field("project", &self.project)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

impl Repository {
    /// A repository that anyone may read, with the SSH keys of the large public hosts trusted.
    pub fn at(url: impl Into<String>) -> Self {
        let access = Access { known_hosts: Arc::from(DEFAULT_KNOWN_HOSTS), ..Access::default() };
        Repository { url: url.into(), access, ..Repository::default() }
    }

    /// A chart repository, or a registry with charts, that anyone may read.
    pub fn charts(url: impl Into<String>) -> Self {
        Repository { kind: RepositoryKind::Helm, ..Repository::at(url) }
    }

    /// An artifact in a registry that anyone may read.
    pub fn artifacts(url: impl Into<String>) -> Self {
        Repository { kind: RepositoryKind::Oci, ..Repository::at(url) }
    }

    /// The same repository with other credentials.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The URL without a password, for errors and logs.
    pub fn shown(&self) -> String {
        url::redact(&self.url)
    }

    /// The URL taken apart, with the user and password that it may hold moved to the credentials.
    pub(crate) fn place(&self) -> Result<(RepoUrl, Access), SourceError> {
        let place = RepoUrl::parse(&self.url)?;
        let mut access = self.access.clone();
        if let RepoUrl::Http(http) = &place
            && access.username.is_empty()
            && access.password.is_empty()
        {
            access.username = http.username.clone();
            access.password = http.password.clone();
        }
        Ok((place, access))
    }

    /// A repository of charts that this one points to, or that a chart of it depends on: with what the Secrets
    /// say of its URL, and none of the credentials of this one.
    pub(crate) fn chart_repository(&self, url: &str) -> Repository {
        match &self.book {
            Some(book) => book.charts(url, &self.project),
            None => Repository::charts(url),
        }
    }

    /// The repository of a submodule: what the Secrets say of its URL, else the same credentials if it is
    /// on the same host, else none.
    pub(crate) fn submodule(&self, url: String) -> Repository {
        let known = self.book.as_ref().map(|book| book.find(&url, &self.project));
        if let Some(known) = known.filter(|known| known.access.has_credentials()) {
            return known;
        }
        let host = |url: &str| RepoUrl::parse(url).map(|url| url.host()).ok();
        let mut access = if host(&url) == host(&self.url) { self.access.clone() } else { Access::default() };
        access.known_hosts = self.access.known_hosts.clone();
        Repository {
            url,
            access,
            book: self.book.clone(),
            project: self.project.clone(),
            ..Repository::default()
        }
    }
}

impl Access {
    /// Whether there is anything to authenticate with.
    pub fn has_credentials(&self) -> bool {
        let texts = [&self.username, &self.client_certificate];
        let secrets = [&self.password, &self.bearer_token, &self.ssh_private_key];
        texts.iter().any(|text| !text.is_empty())
            || secrets.iter().any(|secret| !secret.is_empty())
            || self.unsupported.is_some()
    }

    /// What tells these credentials from others without giving them away.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for part in [
            self.username.as_str(),
            self.password.reveal(),
            self.bearer_token.reveal(),
            self.ssh_private_key.reveal(),
            &self.client_certificate,
            self.client_key.reveal(),
            &self.certificate_authority,
            &self.known_hosts,
            if self.insecure { "insecure" } else { "" },
            self.proxy.reveal(),
            &self.no_proxy,
            if self.plain_http { "plain" } else { "" },
            if self.force_basic { "basic" } else { "" },
            if self.pass_credentials { "pass" } else { "" },
        ] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }
}
