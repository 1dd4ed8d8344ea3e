//! Argo CD's repository and repo-creds Secrets, and whom to trust, as one book to look repositories up in.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::{labels, parse_bool};
use lynceus_files::Diagnostic;
use lynceus_object::Object;

use crate::error::SourceError;
use crate::oci::is_registry;
use crate::repository::{Access, Repository, RepositoryKind};
use crate::secret::Secret;
use crate::url;

/// The ConfigMap with SSH host keys.
const KNOWN_HOSTS: &str = "argocd-ssh-known-hosts-cm";
/// The ConfigMap with TLS certificates, one key per host.
const TLS_CERTIFICATES: &str = "argocd-tls-certs-cm";

/// The host keys of the large public hosts, for when there is no ConfigMap.
pub const DEFAULT_KNOWN_HOSTS: &str = include_str!("known_hosts.txt");

/// Every repository and credential template that is configured, and whom to trust.
#[derive(Clone, Debug, Default)]
pub struct Book {
    repositories: Vec<Repository>,
    templates: Vec<Repository>,
    known_hosts: Option<Arc<str>>,
    certificates: BTreeMap<String, String>,
}

impl Book {
    /// Reads the Secrets and ConfigMaps; other objects are passed over.
    ///
    /// What is wrong with one of them is told beside the book and costs only the field concerned.
    pub fn read<'a>(objects: impl IntoIterator<Item = &'a Object>) -> (Self, Vec<Diagnostic>) {
        let mut objects: Vec<&Object> = objects.into_iter().collect();
        objects.sort_by_key(|object| object.key());
        let mut book = Book::default();
        let mut findings = Vec::new();
        for object in objects {
            match (object.kind(), object.label(labels::SECRET_TYPE), object.name()) {
                ("Secret", Some(labels::SECRET_TYPE_REPOSITORY), _) => {
                    book.repositories.push(Fields::of(object).repository(&mut findings));
                }
                ("Secret", Some(labels::SECRET_TYPE_REPO_CREDS), _) => {
                    book.templates.push(Fields::of(object).repository(&mut findings));
                }
                ("ConfigMap", _, KNOWN_HOSTS) => {
                    book.known_hosts =
                        object.at(&["data", "ssh_known_hosts"]).and_then(|v| v.as_str()).map(Arc::from);
                }
                ("ConfigMap", _, TLS_CERTIFICATES) => {
                    let data = object
                        .at(&["data"])
                        .and_then(|data| data.as_map())
                        .into_iter()
                        .flat_map(|m| m.iter());
                    book.certificates = data
                        .filter_map(|(host, pem)| {
                            Some((host.as_str().to_lowercase(), pem.as_str()?.to_owned()))
                        })
                        .collect();
                }
                _ => {}
            }
        }
        (book, findings)
    }

    /// The repositories that have a Secret of their own, in the order of the Secrets' names.
    pub fn repositories(&self) -> &[Repository] {
        &self.repositories
    }

    /// How a project reaches the repository at `url`.
    ///
    /// A Secret of the project comes before one that belongs to no project; if neither has credentials,
    /// the template with the longest URL that the repository's URL starts with gives them.
    pub fn find(self: &Arc<Self>, url: &str, project: &str) -> Repository {
        let wanted = comparable(url);
        let matching = || self.repositories.iter().filter(|known| comparable(&known.url) == wanted);
        let known = matching()
            .find(|known| known.project == project)
            .or_else(|| matching().find(|known| known.project.is_empty()));
        let mut found = known.cloned().unwrap_or_default();
        // The URL of the Application is used as it is written, like in Argo CD.
        found.url = url.to_owned();
        if found.project.is_empty() {
            found.project = project.to_owned();
        }
        if !found.access.has_credentials()
            && let Some(template) = self.template(url)
        {
            found.access.fill_from(&template.access);
        }
        found.oci |= self.template(url).is_some_and(|template| template.oci);
        found.access.known_hosts = self.known_hosts.clone().unwrap_or_else(|| Arc::from(DEFAULT_KNOWN_HOSTS));
        found.access.certificate_authority = self.certificate(url);
        found.book = Some(self.clone());
        found
    }

    /// How a project reaches the charts at `url`, which may be a chart repository or a registry.
    pub fn charts(self: &Arc<Self>, url: &str, project: &str) -> Repository {
        let found = self.find(url, project);
        let oci = found.oci || is_registry(url);
        Repository { kind: RepositoryKind::Helm, oci, ..found }
    }

    /// How a project reaches the artifact at `url` in a registry.
    pub fn artifacts(self: &Arc<Self>, url: &str, project: &str) -> Repository {
        Repository { kind: RepositoryKind::Oci, ..self.find(url, project) }
    }

    /// Where a dependency of a chart comes from, by what its `repository` says: a URL, or `@name` or
    /// `alias:name` for a chart repository that has a Secret. `None` if it is to be found beside the chart.
    pub fn dependency(
        self: &Arc<Self>,
        repository: &str,
        project: &str,
    ) -> Result<Option<Repository>, SourceError> {
        let repository = repository.trim();
        if repository.is_empty() || repository.starts_with("file://") {
            return Ok(None);
        }
        let Some(name) = repository.strip_prefix('@').or_else(|| repository.strip_prefix("alias:")) else {
            if !repository.contains("://") {
                let reason = "a dependency comes from https://, oci://, file:// or @name".to_owned();
                return Err(SourceError::Url { url: url::redact(repository), reason });
            }
            return Ok(Some(self.charts(repository, project)));
        };
        let named = || {
            self.repositories.iter().filter(|known| known.kind == RepositoryKind::Helm && known.name == name)
        };
        let known = named()
            .find(|known| known.project == project)
            .or_else(|| named().find(|known| known.project.is_empty()));
        let known = known.ok_or_else(|| SourceError::Url {
            url: repository.to_owned(),
            reason: "no chart repository with this name is configured".to_owned(),
        })?;
        Ok(Some(self.charts(&known.url, project)))
    }

    fn template(&self, url: &str) -> Option<&Repository> {
        let url = comparable(url);
        let mut best: Option<(usize, &Repository)> = None;
        for template in &self.templates {
            let prefix = comparable(&template.url);
            let longer = best.is_none_or(|(length, _)| prefix.len() > length);
            if covers(&prefix, &url) && longer {
                best = Some((prefix.len(), template));
            }
        }
        best.map(|(_, template)| template)
    }

    /// The certificates to trust for the host of a URL; empty if they are the system's.
    pub(crate) fn certificate(&self, url: &str) -> String {
        let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_lowercase));
        host.and_then(|host| self.certificates.get(&host).cloned()).unwrap_or_default()
    }
}

/// The URL as it is compared. The scheme of a registry may be left out.
fn comparable(text: &str) -> String {
    let text = url::normalize(text);
    text.strip_prefix("oci://").unwrap_or(&text).to_owned()
}

/// Whether a URL starts with the URL of a template, whose host must not be the mere start of another.
fn covers(prefix: &str, url: &str) -> bool {
    let place = prefix.split_once("://").map_or(prefix, |(_, place)| place);
    match url.strip_prefix(prefix) {
        _ if place.is_empty() => false,
        Some(rest) if place.contains('/') || rest.is_empty() || rest.starts_with('/') => true,
        // Another port of the host is the same host to SSH, which shows its key before it gets anything.
        Some(rest) => place.contains('@') && rest.starts_with(':'),
        None => false,
    }
}

impl Access {
    /// Takes from a template what is not set here.
    fn fill_from(&mut self, template: &Access) {
        let fill = |own: &mut String, other: &String| {
            if own.is_empty() {
                own.clone_from(other);
            }
        };
        let fill_secret = |own: &mut Secret, other: &Secret| {
            if own.is_empty() {
                own.clone_from(other);
            }
        };
        fill(&mut self.username, &template.username);
        fill(&mut self.client_certificate, &template.client_certificate);
        fill(&mut self.no_proxy, &template.no_proxy);
        fill_secret(&mut self.password, &template.password);
        fill_secret(&mut self.bearer_token, &template.bearer_token);
        fill_secret(&mut self.ssh_private_key, &template.ssh_private_key);
        fill_secret(&mut self.client_key, &template.client_key);
        fill_secret(&mut self.proxy, &template.proxy);
        self.unsupported = self.unsupported.or(template.unsupported);
        self.plain_http |= template.plain_http;
        self.force_basic |= template.force_basic;
    }
}

/// The fields of one Secret.
struct Fields<'a> {
    name: &'a str,
    texts: BTreeMap<String, String>,
    unreadable: Vec<String>,
}

impl<'a> Fields<'a> {
    fn of(secret: &'a Object) -> Self {
        let mut fields = Fields { name: secret.name(), texts: BTreeMap::new(), unreadable: Vec::new() };
        let entries =
            |field| secret.at(&[field]).and_then(|data| data.as_map()).into_iter().flat_map(|m| m.iter());
        for (key, value) in entries("data") {
            let decoded = value.as_str().and_then(|text| STANDARD.decode(text.trim()).ok());
            match decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(text) => {
                    fields.texts.insert(key.to_string(), text);
                }
                None => fields.unreadable.push(key.to_string()),
            }
        }
        for (key, value) in entries("stringData") {
            if let Some(text) = value.as_str() {
                fields.texts.insert(key.to_string(), text.to_owned());
            }
        }
        fields
    }

    fn text(&self, key: &str) -> String {
        self.texts.get(key).cloned().unwrap_or_default()
    }

    fn secret(&self, key: &str) -> Secret {
        Secret::from(self.text(key))
    }

    fn has(&self, key: &str) -> bool {
        self.texts.get(key).is_some_and(|text| !text.is_empty())
    }

    /// A bool as Go reads it; anything else is told and counts as false.
    fn flag(&self, key: &str, findings: &mut Vec<Diagnostic>) -> bool {
        let text = self.text(key);
        parse_bool(&text).unwrap_or_else(|| {
            if !text.is_empty() {
                findings.push(
                    Diagnostic::warning(format!("Secret {}: {key} is neither true nor false", self.name))
                        .hint(format!("set {key} to \"true\" or \"false\"")),
                );
            }
            false
        })
    }

    fn repository(self, findings: &mut Vec<Diagnostic>) -> Repository {
        for key in &self.unreadable {
            findings.push(Diagnostic::error(format!("Secret {}: {key} is not text in base64", self.name)));
        }
        if !self.has("url") {
            findings.push(Diagnostic::error(format!("Secret {} has no url", self.name)));
        }
        let kind = match self.text("type").as_str() {
            "helm" => RepositoryKind::Helm,
            "oci" => RepositoryKind::Oci,
            _ => RepositoryKind::Git,
        };
        Repository {
            url: self.text("url"),
            kind,
            oci: self.flag("enableOCI", findings),
            name: self.text("name"),
            project: self.text("project"),
            access: self.access(findings),
            book: None,
        }
    }

    fn access(&self, findings: &mut Vec<Diagnostic>) -> Access {
        // Both names mean the same; the first is the old one.
        let insecure = self.flag("insecureIgnoreHostKey", findings) | self.flag("insecure", findings);
        Access {
            username: self.text("username"),
            password: self.secret("password"),
            bearer_token: self.secret("bearerToken"),
            ssh_private_key: self.secret("sshPrivateKey"),
            client_certificate: self.text("tlsClientCertData"),
            client_key: self.secret("tlsClientCertKey"),
            insecure,
            proxy: self.secret("proxy"),
            no_proxy: self.text("noProxy"),
            plain_http: self.flag("insecureOCIForceHttp", findings),
            force_basic: self.flag("forceHttpBasicAuth", findings),
            unsupported: self.unsupported(findings),
            ..Access::default()
        }
    }

    /// Ways to get in that are not supported; only named when nothing else in the Secret would do.
    fn unsupported(&self, findings: &mut Vec<Diagnostic>) -> Option<&'static str> {
        if ["password", "bearerToken", "sshPrivateKey"].iter().any(|key| self.has(key)) {
            return None;
        }
        if self.has("githubAppPrivateKey") {
            Some("GitHub App credentials")
        } else if self.has("gcpServiceAccountKey") {
            Some("Google Cloud credentials")
        } else if self.has("azureServicePrincipalClientSecret") {
            Some("Azure service principal credentials")
        } else if self.flag("useAzureWorkloadIdentity", findings) {
            Some("Azure workload identity")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{Value, value};

    fn secret(name: &str, kind: &str, fields: Value) -> Object {
        Object::new(value!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": name, "namespace": "argocd", "labels": { "argocd.argoproj.io/secret-type": kind } },
        }))
        .map(|mut object| {
            object.set(&["stringData"], fields);
            object
        })
        .unwrap()
    }

    fn book(objects: &[Object]) -> Arc<Book> {
        Arc::new(Book::read(objects).0)
    }

    #[test]
    fn the_longest_url_prefix_gives_the_credentials() {
        let book = book(&[
            secret(
                "a",
                "repo-creds",
                value!({"url": "https://github.com", "username": "all", "password": "1"}),
            ),
            secret(
                "b",
                "repo-creds",
                value!({"url": "https://github.com/Acme", "username": "acme", "password": "2"}),
            ),
        ]);
        assert_eq!(book.find("https://github.com/acme/app.git", "").access.username, "acme");
        assert_eq!(book.find("https://github.com/other/app", "").access.username, "all");
        assert_eq!(book.find("https://gitlab.com/other/app", "").access.username, "");
    }

    #[test]
    fn a_template_for_a_host_is_not_for_one_whose_name_starts_like_it() {
        let creds = |url: &str| secret("a", "repo-creds", value!({"url": url.to_owned(), "password": "1"}));
        let check =
            |prefix: &str, url: &str| !book(&[creds(prefix)]).find(url, "").access.password.is_empty();
        assert!(check("https://h", "https://h/x"));
        assert!(check("https://h/", "https://h/x"));
        assert!(check("https://h/a", "https://h/abc"), "as in Argo CD");
        assert!(check("h.io", "oci://h.io/x"));
        assert!(check("oci://h.io/x", "h.io/x/y"));
        assert!(check("ssh://git@h", "ssh://git@h:2222/x"));
        for url in [
            "https://h.evil/x",
            "https://h@evil/x",
            "https://h:pw@evil/x",
            "https://h:8443/x",
            "https://he/x",
        ] {
            assert!(!check("https://h", url), "{url}");
        }
        assert!(!check("h.io", "oci://h.io.evil/x"));
        assert!(!check("https://", "https://h/x"));
    }

    #[test]
    fn a_registry_with_charts_is_described_by_a_secret_of_type_helm() {
        let book = book(&[
            secret(
                "a",
                "repository",
                value!({"url": "r.io/charts", "type": "helm", "name": "ours", "enableOCI": "true", "username": "me",
                        "password": "1", "forceHttpBasicAuth": "true", "insecureOCIForceHttp": "true"}),
            ),
            secret(
                "b",
                "repository",
                value!({"url": "https://h/charts", "type": "helm", "enableOCI": "true"}),
            ),
            secret("c", "repo-creds", value!({"url": "https://t", "enableOCI": "true", "password": "1"})),
        ]);
        for url in ["r.io/charts", "oci://r.io/charts"] {
            let found = book.charts(url, "team");
            assert_eq!((found.kind, found.oci, found.url.as_str()), (RepositoryKind::Helm, true, url));
            assert!(found.access.force_basic && found.access.plain_http);
            assert_eq!(found.access.username, "me");
        }
        assert!(book.charts("https://h/charts", "").oci && book.charts("https://t/charts", "").oci);
        assert!(!book.charts("https://elsewhere/charts", "").oci);
        assert_eq!(book.dependency("@ours", "team").unwrap().unwrap().url, "r.io/charts");
        assert_eq!(book.artifacts("oci://r.io/charts", "").kind, RepositoryKind::Oci);
    }

    #[test]
    fn a_secret_of_the_project_comes_before_one_for_all() {
        let book = book(&[
            secret("a", "repository", value!({"url": "git@h:x.git", "username": "everyone"})),
            secret(
                "b",
                "repository",
                value!({"url": "ssh://git@h/x", "username": "ours", "project": "team"}),
            ),
        ]);
        assert_eq!(book.find("git@h:x", "team").access.username, "ours");
        assert_eq!(book.find("git@h:x", "other").access.username, "everyone");
    }

    #[test]
    fn a_repository_without_credentials_keeps_its_settings_and_takes_them_from_the_template() {
        let book = book(&[
            secret("a", "repository", value!({"url": "https://h/x", "insecure": "true"})),
            secret("b", "repo-creds", value!({"url": "https://h/", "bearerToken": "t", "proxy": "http://p"})),
        ]);
        let found = book.find("https://h/x", "default");
        assert!(found.access.insecure);
        assert_eq!(found.access.bearer_token.reveal(), "t");
        assert_eq!(found.access.proxy.reveal(), "http://p");
    }

    #[test]
    fn a_wrong_field_is_told_and_costs_only_itself() {
        let (book, findings) = Book::read(&[secret(
            "a",
            "repository",
            value!({"url": "https://h/x", "insecure": "maybe", "username": "u"}),
        )]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("insecure is neither"));
        assert_eq!(Arc::new(book).find("https://h/x", "").access.username, "u");
    }

    #[test]
    fn nothing_secret_is_printed() {
        let book = book(&[secret(
            "a",
            "repository",
            value!({"url": "https://me:hidden@h/x", "password": "hidden", "sshPrivateKey": "hidden", "bearerToken": "hidden",
                    "tlsClientCertKey": "hidden", "proxy": "http://a:hidden@p"}),
        )]);
        let found = book.find("https://me:hidden@h/x", "");
        assert!(!format!("{found:?} {book:?}").contains("hidden"));
    }

    #[test]
    fn trust_comes_from_the_config_maps() {
        let hosts =
            Object::new(value!({"kind": "ConfigMap", "metadata": {"name": "argocd-ssh-known-hosts-cm"},
            "data": {"ssh_known_hosts": "h ssh-ed25519 AAAA"}}))
            .unwrap();
        let certificates =
            Object::new(value!({"kind": "ConfigMap", "metadata": {"name": "argocd-tls-certs-cm"},
            "data": {"git.example.com": "PEM"}}))
            .unwrap();
        let book = book(&[hosts, certificates]);
        let found = book.find("https://Git.example.com:8443/x", "");
        assert_eq!(&*found.access.known_hosts, "h ssh-ed25519 AAAA");
        assert_eq!(found.access.certificate_authority, "PEM");
        let plain = Arc::new(Book::default()).find("git@github.com:x", "");
        assert!(plain.access.known_hosts.contains("github.com ssh-ed25519"));
    }
}
