//! Argo CD's cluster Secrets: where a cluster is, and how to get in.
//!
//! What is wrong with a Secret is said by field and never by content: neither an error nor a `Debug` of anything here
//! shows a credential.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::labels;
use lynceus_object::{Object, Str};
use serde::Deserialize;

/// A cluster that applications may be delivered to, as its Secret describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// The name of the Secret.
    pub secret: Str,
    /// The address, without a slash at its end: what tells one cluster from another.
    pub server: Str,
    /// The name that applications may use instead of the address.
    pub name: Str,
    /// The namespaces that may be read and written; empty for all of them.
    pub namespaces: Vec<Str>,
    /// With namespaces: whether cluster-scoped kinds belong to it as well.
    pub cluster_resources: bool,
    /// The project that it was registered for; empty for none. Projects that permit only their own clusters ask for it.
    pub project: Str,
    /// The place, in the order of names, of the replica that is to work on it.
    pub shard: Option<usize>,
    /// How to get in.
    pub access: Access,
}

/// How to get into a cluster. Its `Debug` tells what there is, not what it says.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Access {
    pub(crate) username: String,
    pub(crate) password: String,
    pub(crate) bearer_token: String,
    pub(crate) tls_client_config: Tls,
    pub(crate) aws_auth_config: Option<Aws>,
    pub(crate) exec_provider_config: Option<Exec>,
    pub(crate) disable_compression: bool,
    pub(crate) proxy_url: String,
}

#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Tls {
    pub(crate) insecure: bool,
    pub(crate) server_name: String,
    /// PEM in base64, as the kubeconfig has it too.
    pub(crate) cert_data: String,
    pub(crate) key_data: String,
    pub(crate) ca_data: String,
}

#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Aws {
    pub(crate) cluster_name: String,
    #[serde(rename = "roleARN")]
    pub(crate) role_arn: String,
    pub(crate) profile: String,
}

/// A program that prints a credential.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Exec {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) api_version: String,
    pub(crate) install_hint: String,
    pub(crate) provide_cluster_info: bool,
}

/// Why a cluster Secret cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// It does not say where the cluster is.
    #[error("Secret {secret}: data.server is missing")]
    NoServer {
        /// The Secret.
        secret: Str,
    },
    /// A field is not text in base64.
    #[error("Secret {secret}: data.{field} is no text in base64")]
    Encoding {
        /// The Secret.
        secret: Str,
        /// The field.
        field: &'static str,
    },
    /// `config` is not the JSON that it should be. What the parser says could quote it, so only the place is told.
    #[error(
        "Secret {secret}: data.config cannot be read as JSON of a cluster's configuration (line {line}, column {column})"
    )]
    Config {
        /// The Secret.
        secret: Str,
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// A part of `config` makes no sense.
    #[error("Secret {secret}: data.config.{field} {problem}")]
    Field {
        /// The Secret.
        secret: Str,
        /// The field.
        field: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
}

impl Registration {
    /// Whether a Secret describes a cluster.
    pub fn is_one(secret: &Object) -> bool {
        secret.kind() == "Secret" && secret.label(labels::SECRET_TYPE) == Some(labels::SECRET_TYPE_CLUSTER)
    }

    /// Reads a Secret.
    pub fn read(secret: &Object) -> Result<Self, SecretError> {
        let name: Str = secret.name().into();
        let field = |field| text(secret, field);
        let server = field("server")?.trim_end_matches('/').to_owned();
        if server.is_empty() {
            return Err(SecretError::NoServer { secret: name });
        }
        let list = field("namespaces")?;
        let namespaces = list.split(',').map(str::trim).filter(|one| !one.is_empty()).map(Str::from);
        let called = field("name")?;
        Ok(Registration {
            name: if called.is_empty() { server.as_str().into() } else { called.into() },
            server: server.into(),
            namespaces: namespaces.collect(),
            cluster_resources: field("clusterResources")? == "true",
            project: field("project")?.into(),
            // As in Argo CD, one that is no number counts as none.
            shard: field("shard")?.trim().parse().ok(),
            access: access(&name, &field("config")?)?,
            secret: name,
        })
    }

    /// Whether two registrations need the same connection: then a change from one to the other cuts nothing.
    pub fn connects_like(&self, other: &Self) -> bool {
        (&self.server, &self.access, &self.namespaces, self.cluster_resources)
            == (&other.server, &other.access, &other.namespaces, other.cluster_resources)
    }
}

impl Access {
    /// Whether it has nothing that says who we are.
    pub fn is_anonymous(&self) -> bool {
        self.username.is_empty()
            && self.bearer_token.is_empty()
            && self.tls_client_config.cert_data.is_empty()
            && self.aws_auth_config.is_none()
            && self.exec_provider_config.is_none()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ways = [
            (!self.username.is_empty(), "basic"),
            (!self.bearer_token.is_empty(), "token"),
            (!self.tls_client_config.cert_data.is_empty(), "certificate"),
            (self.aws_auth_config.is_some(), "aws"),
            (self.exec_provider_config.is_some(), "exec"),
            (self.tls_client_config.insecure, "insecure"),
            (!self.proxy_url.is_empty(), "proxy"),
        ];
        let ways: Vec<&str> = ways.iter().filter(|(has, _)| *has).map(|(_, way)| *way).collect();
        write!(f, "Access({})", ways.join(", "))
    }
}

/// Reads `config` and what does not depend on the machine that we run on.
fn access(secret: &Str, config: &str) -> Result<Access, SecretError> {
    if config.trim().is_empty() {
        return Ok(Access::default());
    }
    let access: Access = serde_json::from_str(config).map_err(|error| SecretError::Config {
        secret: secret.clone(),
        line: error.line(),
        column: error.column(),
    })?;
    let wrong = |field, problem| Err(SecretError::Field { secret: secret.clone(), field, problem });
    let tls = &access.tls_client_config;
    if tls.insecure && !tls.ca_data.is_empty() {
        return wrong("tlsClientConfig", "has both insecure and caData: set one of them");
    }
    if tls.cert_data.is_empty() != tls.key_data.is_empty() {
        return wrong("tlsClientConfig", "has one of certData and keyData: both are needed");
    }
    for (field, data) in [
        ("tlsClientConfig.caData", &tls.ca_data),
        ("tlsClientConfig.certData", &tls.cert_data),
        ("tlsClientConfig.keyData", &tls.key_data),
    ] {
        if STANDARD.decode(data).is_err() {
            return wrong(field, "is no PEM in base64");
        }
    }
    if access.exec_provider_config.as_ref().is_some_and(|exec| exec.command.is_empty()) {
        return wrong("execProviderConfig.command", "is missing");
    }
    if !access.proxy_url.is_empty() && !is_proxy(&access.proxy_url) {
        return wrong("proxyUrl", "is no address of the form http://, https:// or socks5://HOST:PORT");
    }
    Ok(access)
}

fn is_proxy(url: &str) -> bool {
    url.parse::<http::Uri>().is_ok_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https" | "socks5")) && url.host().is_some()
    })
}

/// One entry of a Secret as text; empty if it is not there.
fn text(secret: &Object, field: &'static str) -> Result<String, SecretError> {
    let Some(encoded) = secret.value().str_at(&["data", field]) else { return Ok(String::new()) };
    STANDARD
        .decode(encoded)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| SecretError::Encoding { secret: secret.name().into(), field })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::value;

    fn secret(entries: &[(&str, &str)]) -> Object {
        let mut object = Object::new(value!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "prod", "labels": {"argocd.argoproj.io/secret-type": "cluster"}},
        }))
        .unwrap();
        for (key, text) in entries {
            object.set(&["data", key], STANDARD.encode(text));
        }
        object
    }

    #[test]
    fn a_secret_tells_where_the_cluster_is_and_who_may_use_it() {
        let registration = Registration::read(&secret(&[
            ("server", "https://10.0.0.1:6443/"),
            ("name", "prod"),
            ("namespaces", "shop, pay ,"),
            ("clusterResources", "true"),
            ("project", "shop"),
            ("shard", "2"),
            ("config", r#"{"bearerToken": "t0ken", "tlsClientConfig": {"insecure": true}}"#),
        ]))
        .unwrap();
        assert_eq!(registration.server, "https://10.0.0.1:6443");
        assert_eq!(registration.namespaces, ["shop", "pay"]);
        assert_eq!((registration.shard, registration.cluster_resources), (Some(2), true));
        let shown = format!("{registration:?}");
        assert!(shown.contains("Access(token, insecure)") && !shown.contains("t0ken"), "{shown}");
    }

    #[test]
    fn a_cluster_without_a_name_goes_by_its_address() {
        let registration = Registration::read(&secret(&[("server", "https://a")])).unwrap();
        assert_eq!(registration.name, "https://a");
        assert!(registration.access.is_anonymous());
    }

    #[test]
    fn a_broken_secret_is_told_of_by_place_and_never_by_content() {
        let said = |entries: &[(&str, &str)]| Registration::read(&secret(entries)).unwrap_err().to_string();
        assert_eq!(said(&[("name", "x")]), "Secret prod: data.server is missing");
        let config = r#"{"bearerToken": ["t0ken"]}"#;
        let error = said(&[("server", "https://a"), ("config", config)]);
        assert_eq!(
            error,
            "Secret prod: data.config cannot be read as JSON of a cluster's configuration (line 1, column 16)"
        );
        let config = r#"{"tlsClientConfig": {"insecure": true, "caData": "QQ=="}}"#;
        assert_eq!(
            said(&[("server", "https://a"), ("config", config)]),
            "Secret prod: data.config.tlsClientConfig has both insecure and caData: set one of them"
        );
        let config = r#"{"proxyUrl": "ftp://user:s3cret@host"}"#;
        let error = said(&[("server", "https://a"), ("config", config)]);
        assert!(error.contains("proxyUrl") && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn bytes_that_are_no_text_are_told_of() {
        let mut object = secret(&[("server", "https://a")]);
        object.set(&["data", "config"], "%%%");
        let error = Registration::read(&object).unwrap_err().to_string();
        assert_eq!(error, "Secret prod: data.config is no text in base64");
    }
}
