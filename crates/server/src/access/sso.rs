//! Logging in elsewhere: `oidc.config` of `argocd-cm`.

mod config;
mod fetch;
mod flow;
mod groups;
mod keys;

use std::sync::Arc;

use lynceus_object::Value;
use tokio::time::Instant;
use tracing::debug;

pub(crate) use config::Config;
pub(crate) use fetch::trusting;

use self::fetch::{Fetcher, Trouble};
use self::groups::Groups;
use self::keys::Keys;
use super::caller::{Identity, Origin};
use super::jwt::Unverified;
use super::sessions::invalid;
use super::vault::{SETTINGS, Vault, setting};
use crate::limits;
use crate::refusal::{Code, Refusal};

/// Knows the issuer that people log in with, if there is one.
#[derive(Default)]
pub(super) struct Sso {
    known: tokio::sync::Mutex<Known>,
}

#[derive(Default)]
struct Known {
    provider: Option<Arc<Provider>>,
    /// When an issuer last did not answer, and which. Anybody can send a token that has us ask, so it is not asked again
    /// for each of them.
    failed: Option<(Instant, Config)>,
}

/// An issuer, with what it says of itself.
pub(crate) struct Provider {
    /// What the settings say of it.
    pub(crate) config: Config,
    fetcher: Fetcher,
    /// Its addresses.
    document: Value,
    keys: tokio::sync::Mutex<Option<(Instant, Arc<Keys>)>>,
    groups: Arc<Groups>,
    since: Instant,
}

/// An issuer cannot be used. What is wrong is for the log.
fn unusable(reason: &str) -> Refusal {
    tracing::warn!(reason, "the issuer of oidc.config cannot be used");
    Refusal::new(Code::Unavailable, "single sign-on cannot be used now")
}

impl Sso {
    /// The issuer as the settings name it now; none if they name none.
    pub(super) async fn provider(&self, vault: &Vault) -> Result<Option<Arc<Provider>>, Refusal> {
        let settings = vault.map(SETTINGS).await?;
        let text = setting(settings.as_ref(), "oidc.config");
        if text.is_empty() {
            return Ok(None);
        }
        let config = Config::read(text, vault).await.map_err(|reason| unusable(&reason))?;
        let mut known = self.known.lock().await;
        if let Some(provider) = &known.provider
            && provider.config == config
            && provider.since.elapsed() < limits::ISSUER_DOCUMENT
        {
            return Ok(Some(provider.clone()));
        }
        if let Some((since, failing)) = &known.failed
            && *failing == config
            && since.elapsed() < limits::ISSUER_AGAIN
        {
            return Err(Refusal::new(Code::Unavailable, "single sign-on cannot be used now"));
        }
        match Provider::discover(config.clone()).await {
            Ok(mut provider) => {
                // What it said of people counts for as long as the settings say, however often it is asked for itself.
                if let Some(before) = known.provider.as_ref().filter(|before| before.config == config) {
                    provider.groups = before.groups.clone();
                }
                let provider = Arc::new(provider);
                *known = Known { provider: Some(provider.clone()), failed: None };
                Ok(Some(provider))
            }
            Err(reason) => {
                known.failed = Some((Instant::now(), config));
                Err(unusable(&reason))
            }
        }
    }
}

impl Provider {
    /// Asks an issuer for its addresses.
    async fn discover(config: Config) -> Result<Self, String> {
        let fetcher = Fetcher::new(&config.root_ca)?;
        let place = format!("{}/.well-known/openid-configuration", config.issuer.trim_end_matches('/'));
        let document = fetcher.json(&place).await.map_err(|trouble| trouble.to_string())?;
        // Another one's document would send people, and their secrets, to another place.
        if document.str_at(&["issuer"]) != Some(config.issuer.as_str()) {
            return Err("its document names another issuer".to_owned());
        }
        let since = Instant::now();
        Ok(Provider { config, fetcher, document, keys: Default::default(), groups: Arc::default(), since })
    }

    /// One of its addresses.
    pub(crate) fn address(&self, name: &str) -> Result<&str, Refusal> {
        let address = self.document.str_at(&[name]).filter(|address| fetch::is_safe(address));
        address.ok_or_else(|| unusable(&format!("its document has no {name} that may be asked")))
    }

    /// Checks a token in every way: who signed it, for whom, by whom, and when.
    pub(crate) async fn verify(
        &self,
        token: &Unverified<'_>,
        raw: &str,
        now: i64,
    ) -> Result<Identity, Refusal> {
        if token.claim("iss") != self.config.issuer {
            return Err(invalid("another issuer made it"));
        }
        if !self.is_for_us(&token.claims) {
            return Err(invalid("it is for somebody else"));
        }
        if token.time("exp").is_none() || !token.is_current(now, limits::ISSUER_LEEWAY) {
            return Err(invalid("token has expired, or its time has not come"));
        }
        if !self.is_signed(token).await? {
            return Err(invalid("the issuer did not sign it"));
        }
        let claims = token.claims.clone();
        let subject = claims.str_at(&["federated_claims", "user_id"]).filter(|id| !id.is_empty());
        let subject = subject.unwrap_or_else(|| token.claim("sub")).to_owned();
        if subject.is_empty() {
            return Err(invalid("it is nobody's"));
        }
        let id =
            ["jti", "uti", "at_hash"].into_iter().map(|name| token.claim(name)).find(|id| !id.is_empty());
        Ok(Identity {
            origin: Origin::Sso,
            subject,
            issuer: self.config.issuer.clone(),
            issued: token.time("iat").unwrap_or_default(),
            expires: token.time("exp"),
            id: id.unwrap_or_default().to_owned(),
            token: raw.to_owned(),
            carried: String::new(),
            claims,
        })
    }

    fn is_for_us(&self, claims: &Value) -> bool {
        let ours = self.config.audiences();
        match claims.get("aud") {
            Some(Value::Str(one)) => ours.contains(&one.as_str()),
            Some(Value::Seq(many)) => many.iter().filter_map(Value::as_str).any(|one| ours.contains(&one)),
            _ => false,
        }
    }

    async fn is_signed(&self, token: &Unverified<'_>) -> Result<bool, Refusal> {
        let (keys, age) = self.keys(limits::ISSUER_KEYS).await?;
        if keys.verify(token) {
            return Ok(true);
        }
        // It may be signed with a key that is newer than what we know. Somebody who makes keys up does not make us ask
        // again and again.
        if keys.knows(token) || age < limits::ISSUER_KEYS_AGAIN {
            return Ok(false);
        }
        debug!("a key of the issuer is not known; asking again");
        let (keys, _) = self.keys(limits::ISSUER_KEYS_AGAIN).await?;
        Ok(keys.verify(token))
    }

    /// Its keys, no older than this.
    async fn keys(&self, oldest: std::time::Duration) -> Result<(Arc<Keys>, std::time::Duration), Refusal> {
        let mut known = self.keys.lock().await;
        if let Some((since, keys)) = &*known
            && since.elapsed() < oldest
        {
            return Ok((keys.clone(), since.elapsed()));
        }
        let document = match (self.fetcher.json(self.address("jwks_uri")?).await, &mut *known) {
            (Ok(document), _) => document,
            // Those that are known are better than none while the issuer is away for a moment.
            (Err(reason), Some((since, keys))) => {
                tracing::warn!(%reason, "the keys of the issuer cannot be read anew");
                *since = Instant::now();
                return Ok((keys.clone(), std::time::Duration::ZERO));
            }
            (Err(reason), None) => return Err(unusable(&reason.to_string())),
        };
        let keys = Arc::new(Keys::read(&document));
        *known = Some((Instant::now(), keys.clone()));
        Ok((keys, std::time::Duration::ZERO))
    }

    /// Exchanges a code for the tokens that it stands for. One that the issuer does not know was made up, or used
    /// before: nothing is wrong with the issuer then.
    pub(crate) async fn exchange(&self, form: &[(&str, &str)]) -> Result<Exchanged, Refusal> {
        let place = self.address("token_endpoint")?;
        let secret = self.config.client_secret.as_str();
        let methods = self.document.items_at(&["token_endpoint_auth_methods_supported"]);
        let posts = methods.iter().any(|method| method.as_str() == Some("client_secret_post"));
        let basics =
            methods.is_empty() || methods.iter().any(|method| method.as_str() == Some("client_secret_basic"));
        let mut form = form.to_vec();
        form.push(("client_id", &self.config.client_id));
        let header = match secret {
            "" => None,
            secret if basics || !posts => Some((self.config.client_id.as_str(), secret)),
            secret => {
                form.push(("client_secret", secret));
                None
            }
        };
        let answer = self.fetcher.post(place, &form, header).await.map_err(|trouble| match trouble {
            trouble if is_about_the_code(&trouble) => {
                tracing::info!(target: "audit", %trouble, "a login was refused: the issuer does not take its code");
                Refusal::new(Code::Unauthenticated, "the issuer does not know this login; please log in again")
            }
            trouble => unusable(&trouble.to_string()),
        })?;
        let text = |field: &str| answer.str_at(&[field]).filter(|token| !token.is_empty()).map(str::to_owned);
        let session = text("id_token").ok_or_else(|| unusable("it answered without an id_token"))?;
        Ok(Exchanged { session, access: text("access_token") })
    }
}

/// What an issuer gives for a code.
pub(crate) struct Exchanged {
    /// Who somebody is.
    pub(crate) session: String,
    /// With what the issuer can be asked more about them.
    pub(crate) access: Option<String>,
}

/// Whether an issuer refused a code, and not us: it has words for both.
fn is_about_the_code(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Refused { error, .. } if error == "invalid_grant" => true,
        Trouble::Refused { status, error } => {
            matches!(status, 400 | 403) && matches!(error.as_str(), "" | "invalid_request" | "access_denied")
        }
        Trouble::Other(_) => false,
    }
}
