//! What the settings say of an issuer.

use std::time::Duration;

use lynceus_api::{parse_bool, parse_duration};
use lynceus_object::{Value, yaml};

use super::super::vault::{SECRET, Vault, text};
use super::fetch;
use crate::limits;

/// An issuer, as `oidc.config` describes it.
#[derive(Clone, PartialEq)]
pub(crate) struct Config {
    /// Its address, which its tokens name.
    pub(crate) issuer: String,
    /// What we are called there.
    pub(crate) client_id: String,
    /// What the program `argocd` is called there.
    pub(crate) cli_client_id: String,
    /// How we prove that it is us.
    pub(super) client_secret: String,
    /// Further names that tokens may be for; then only these count.
    allowed_audiences: Vec<String>,
    /// What we ask to be told.
    pub(crate) scopes: Vec<String>,
    /// Which claims we ask for.
    pub(crate) claims: Option<Value>,
    /// Certificates to trust in place of the system's.
    pub(super) root_ca: String,
    /// Where to log out.
    pub(crate) logout_url: String,
    /// How to ask for groups, if the issuer is to be asked.
    pub(super) user_info: Option<UserInfo>,
}

/// How an issuer is asked for what its tokens do not say.
#[derive(Clone, PartialEq)]
pub(super) struct UserInfo {
    /// Where, below its address; empty for where it says itself.
    pub(super) path: String,
    /// For how long its answer counts.
    pub(super) lasts: Duration,
}

impl Config {
    /// Reads it, with what it refers to in Secrets.
    pub(super) async fn read(document: &str, vault: &Vault) -> Result<Self, String> {
        let value = yaml::parse(document.as_bytes()).map_err(|_| "oidc.config is no YAML".to_owned())?;
        let mut parts = Vec::new();
        for field in ["issuer", "clientID", "cliClientID", "clientSecret", "rootCA", "logoutURL"] {
            parts.push(resolved(value.str_at(&[field]).unwrap_or_default(), vault).await?);
        }
        let [issuer, client_id, cli_client_id, client_secret, root_ca, logout_url] =
            <[String; 6]>::try_from(parts).map_err(|_| "oidc.config cannot be read".to_owned())?;
        if issuer.is_empty() || client_id.is_empty() {
            return Err("oidc.config needs issuer and clientID".to_owned());
        }
        if !fetch::is_safe(&issuer) {
            return Err("the issuer has to be reached over https".to_owned());
        }
        let list = |field: &str| -> Vec<String> {
            value.items_at(&[field]).iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
        };
        let mut scopes = list("requestedScopes");
        if scopes.is_empty() {
            scopes = ["openid", "profile", "email", "groups"].map(str::to_owned).to_vec();
        }
        Ok(Config {
            issuer,
            client_id,
            cli_client_id,
            client_secret,
            allowed_audiences: list("allowedAudiences"),
            scopes,
            claims: value.get("requestedIDTokenClaims").filter(|claims| claims.as_map().is_some()).cloned(),
            root_ca,
            logout_url,
            user_info: user_info(&value)?,
        })
    }

    /// Whom a token may be for.
    pub(super) fn audiences(&self) -> Vec<&str> {
        match self.allowed_audiences.is_empty() {
            false => self.allowed_audiences.iter().map(String::as_str).collect(),
            true => [&self.client_id, &self.cli_client_id]
                .into_iter()
                .map(String::as_str)
                .filter(|name| !name.is_empty())
                .collect(),
        }
    }
}

/// `enableUserInfoGroups`, `userInfoPath` and `userInfoCacheExpiration`.
fn user_info(value: &Value) -> Result<Option<UserInfo>, String> {
    let wanted = match value.get("enableUserInfoGroups") {
        Some(Value::Bool(wanted)) => *wanted,
        Some(Value::Str(text)) => parse_bool(text) == Some(true),
        _ => false,
    };
    if !wanted {
        return Ok(None);
    }
    let text = |field: &str| value.str_at(&[field]).unwrap_or_default();
    let lasts = match text("userInfoCacheExpiration") {
        "" => limits::USER_INFO,
        text => {
            let lasts = parse_duration(text).ok().and_then(|lasts| Duration::try_from(lasts).ok());
            lasts.ok_or_else(|| "userInfoCacheExpiration of oidc.config is no time".to_owned())?
        }
    };
    let path = text("userInfoPath").to_owned();
    Ok(Some(UserInfo { path, lasts: lasts.min(limits::USER_INFO_MAX) }))
}

/// `$key` stands for a value of `argocd-secret`, `$secret:key` for one of another Secret.
async fn resolved(part: &str, vault: &Vault) -> Result<String, String> {
    let Some(reference) = part.strip_prefix('$') else { return Ok(part.to_owned()) };
    let (name, key) = reference.split_once(':').unwrap_or((SECRET, reference));
    let secret = vault.secret(name.trim()).await.map_err(|refusal| refusal.message)?;
    // As in Argo CD, only Secrets that say they are for it: whoever writes settings may not read all others.
    let secret =
        secret.filter(|secret| name == SECRET || secret.label("app.kubernetes.io/part-of") == Some("argocd"));
    let value = secret.map(|secret| text(&secret, key.trim())).unwrap_or_default();
    match value.trim() {
        "" => Err(format!("oidc.config refers to {reference}, which is not there")),
        value => Ok(value.to_owned()),
    }
}
