//! From references in a generator to what they lead to. Nothing of it is ever told.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::{
    BasicAuthBitbucketServer, ConfigMapKeyRef, PullRequestGenerator, ScmProviderGenerator, SecretRef, labels,
};
use lynceus_object::{Gvk, Object, ObjectKey, Str, Value};
use lynceus_source::{GithubApp, ScmKeys, Secret};

use super::destinations::is_for_hosts;
use crate::engine::Engine;

/// A field of a Secret's data.
pub(super) fn decoded(secret: &Object, field: &str) -> Option<String> {
    let plain = secret.value().str_at(&["stringData", field]).map(str::to_owned);
    let bytes = secret.value().str_at(&["data", field]).and_then(|text| STANDARD.decode(text.trim()).ok());
    plain.or_else(|| String::from_utf8(bytes?).ok())
}

impl Engine {
    async fn plain_object(&self, kind: &str, namespace: &str, name: &str) -> Result<Object, String> {
        let key = ObjectKey::new("", kind, namespace, name);
        match self.home().live(&key, &Gvk::new("", "v1", kind)).await {
            Ok(Some(object)) => Ok(object),
            Ok(None) => Err(format!("there is no {kind} {name} in the namespace {namespace}")),
            Err(error) => Err(format!("the {kind} {name} cannot be read: {}", crate::words(&error))),
        }
    }

    /// The data of a ConfigMap.
    pub(super) async fn config_map(&self, namespace: &str, name: &str) -> Result<BTreeMap<Str, Str>, String> {
        let object = self.plain_object("ConfigMap", namespace, name).await?;
        let data = object.at(&["data"]).and_then(Value::as_map);
        let pairs = data.into_iter().flat_map(|data| data.iter());
        Ok(pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.into()))).collect())
    }

    /// The text that a reference leads to: a Secret in the set's own namespace, and of the right sort if that is asked for.
    async fn secret_text(&self, namespace: &str, reference: &SecretRef) -> Result<Secret, String> {
        let SecretRef { secret_name: name, key, .. } = reference;
        let secret = self.plain_object("Secret", namespace, name).await?;
        if self.settings().sets.strict_tokens && !is_for_hosts(&secret) {
            return Err(format!(
                "the Secret {name} may not be used: it lacks the label {}: {}",
                labels::SECRET_TYPE,
                labels::SECRET_TYPE_SCM_CREDS
            ));
        }
        decoded(&secret, key).map(Secret::from).ok_or_else(|| format!("the Secret {name} has no text {key}"))
    }

    async fn optional(&self, namespace: &str, reference: Option<&SecretRef>) -> Result<Secret, String> {
        match reference {
            Some(reference) => self.secret_text(namespace, reference).await,
            None => Ok(Secret::default()),
        }
    }

    async fn authority(
        &self,
        namespace: &str,
        reference: Option<&ConfigMapKeyRef>,
    ) -> Result<String, String> {
        let Some(ConfigMapKeyRef { config_map_name: name, key, .. }) = reference else {
            return Ok(String::new());
        };
        let data = self.config_map(namespace, name).await?;
        data.get(key).map(|text| text.to_string()).ok_or_else(|| format!("the ConfigMap {name} has no {key}"))
    }

    /// An app of GitHub, whose Secret is one of credentials for repositories in the installation's own namespace.
    async fn app(&self, namespace: &str, name: &str) -> Result<Option<GithubApp>, String> {
        if name.is_empty() {
            return Ok(None);
        }
        let home = &self.options().namespace;
        if namespace != home.as_str() {
            return Err(format!(
                "appSecretName is for ApplicationSets in the namespace {home}; use tokenRef"
            ));
        }
        let secret = self.plain_object("Secret", home, name).await?;
        let field = |field: &str| decoded(&secret, field).unwrap_or_default();
        let app = GithubApp {
            id: field("githubAppID"),
            installation: field("githubAppInstallationID").trim().to_owned(),
            api: field("githubAppEnterpriseBaseUrl"),
            private_key: field("githubAppPrivateKey").into(),
        };
        if app.id.is_empty() || app.private_key.is_empty() {
            return Err(format!("the Secret {name} has no githubAppID and githubAppPrivateKey"));
        }
        Ok(Some(app))
    }

    async fn user(
        &self,
        namespace: &str,
        basic: Option<&BasicAuthBitbucketServer>,
        token: Option<&SecretRef>,
    ) -> Result<ScmKeys, String> {
        if let Some(basic) = basic {
            let token = self.optional(namespace, basic.password_ref.as_ref()).await?;
            return Ok(ScmKeys { username: basic.username.to_string(), token, ..ScmKeys::default() });
        }
        Ok(ScmKeys { token: self.optional(namespace, token).await?, ..ScmKeys::default() })
    }

    /// What lets us in to the host of a generator, and the address that it names.
    pub(super) async fn scm_keys(
        &self,
        namespace: &str,
        asked: &ScmProviderGenerator,
    ) -> Result<(ScmKeys, Str), String> {
        if let Some(host) = &asked.github {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            let app = self.app(namespace, &host.app_secret_name).await?;
            return Ok((ScmKeys { token, app, ..ScmKeys::default() }, host.api.clone()));
        }
        if let Some(host) = &asked.gitlab {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            let certificate_authority = self.authority(namespace, host.ca_ref.as_ref()).await?;
            return Ok((ScmKeys { token, certificate_authority, ..ScmKeys::default() }, host.api.clone()));
        }
        if let Some(host) = &asked.gitea {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            return Ok((ScmKeys { token, ..ScmKeys::default() }, host.api.clone()));
        }
        if let Some(host) = &asked.bitbucket {
            let token = self.optional(namespace, host.app_password_ref.as_ref()).await?;
            return Ok((ScmKeys { token, ..ScmKeys::default() }, Str::new()));
        }
        if let Some(host) = &asked.bitbucket_server {
            let token = host.bearer_token.as_ref().and_then(|token| token.token_ref.as_ref());
            let keys = self.user(namespace, host.basic_auth.as_ref(), token).await?;
            let certificate_authority = self.authority(namespace, host.ca_ref.as_ref()).await?;
            return Ok((ScmKeys { certificate_authority, ..keys }, host.api.clone()));
        }
        if let Some(host) = &asked.azure_dev_ops {
            let token = self.optional(namespace, host.access_token_ref.as_ref()).await?;
            return Ok((ScmKeys { token, ..ScmKeys::default() }, host.api.clone()));
        }
        Ok((ScmKeys::default(), Str::new()))
    }

    /// The same for pull requests.
    pub(super) async fn pull_keys(
        &self,
        namespace: &str,
        asked: &PullRequestGenerator,
    ) -> Result<(ScmKeys, Str), String> {
        if let Some(host) = &asked.github {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            let app = self.app(namespace, &host.app_secret_name).await?;
            return Ok((ScmKeys { token, app, ..ScmKeys::default() }, host.api.clone()));
        }
        if let Some(host) = &asked.gitlab {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            let certificate_authority = self.authority(namespace, host.ca_ref.as_ref()).await?;
            return Ok((ScmKeys { token, certificate_authority, ..ScmKeys::default() }, host.api.clone()));
        }
        if let Some(host) = &asked.gitea {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            return Ok((ScmKeys { token, ..ScmKeys::default() }, host.api.clone()));
        }
        if let Some(host) = &asked.bitbucket_server {
            let token = host.bearer_token.as_ref().and_then(|token| token.token_ref.as_ref());
            let keys = self.user(namespace, host.basic_auth.as_ref(), token).await?;
            let certificate_authority = self.authority(namespace, host.ca_ref.as_ref()).await?;
            return Ok((ScmKeys { certificate_authority, ..keys }, host.api.clone()));
        }
        if let Some(host) = &asked.bitbucket {
            let token = host.bearer_token.as_ref().and_then(|token| token.token_ref.as_ref());
            return Ok((self.user(namespace, host.basic_auth.as_ref(), token).await?, host.api.clone()));
        }
        if let Some(host) = &asked.azuredevops {
            let token = self.optional(namespace, host.token_ref.as_ref()).await?;
            return Ok((ScmKeys { token, ..ScmKeys::default() }, host.api.clone()));
        }
        Ok((ScmKeys::default(), Str::new()))
    }

    /// The token of a plugin: `$key` of Argo CD's own Secret, or `$secret:key` of one that is marked as a part of it.
    pub(super) async fn plugin_token(&self, reference: &str) -> Result<Secret, String> {
        let wanted = reference.trim().strip_prefix('$').ok_or(
            "its token has to name a Secret, as $secret:key or as $key of argocd-secret, and must not stand there itself",
        )?;
        let (name, key) = wanted.split_once(':').unwrap_or(("argocd-secret", wanted));
        let secret = self.plain_object("Secret", &self.options().namespace, name).await?;
        let is_own = name == "argocd-secret" || secret.label(labels::PART_OF) == Some(labels::PART_OF_ARGOCD);
        if !is_own {
            return Err(format!(
                "the Secret {name} may not be used: it lacks the label {}: {}",
                labels::PART_OF,
                labels::PART_OF_ARGOCD
            ));
        }
        decoded(&secret, key).map(Secret::from).ok_or_else(|| format!("the Secret {name} has no text {key}"))
    }
}
