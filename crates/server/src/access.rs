//! Who somebody is, and what they may do.
//!
//! Accounts, keys and policies are read where Argo CD keeps them: `argocd-cm`, `argocd-secret`, `argocd-rbac-cm` and the
//! projects. [`Access::caller`] says who asks, by a token that was checked; [`Caller::may`] says what they may, by the rules
//! as they are at that moment, so that what is taken away ends at once.

mod accounts;
mod bcrypt;
mod builtin;
mod caller;
mod failures;
mod glob;
mod initial;
mod jwt;
mod lines;
mod login;
mod policy;
mod random;
mod revoked;
mod rules;
mod seal;
mod sessions;
mod sso;
#[cfg(test)]
pub(crate) mod tests;
mod vault;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, header};
use lynceus_api::parse_bool;
use lynceus_engine::{Engine, project_kind};
use lynceus_object::{GroupKind, Object, ObjectKey};

pub(crate) use accounts::{Account, ApiKey, missing, names};
pub use bcrypt::hash;
#[allow(unused_imports, reason = "for the services that change objects of applications")]
pub(crate) use caller::ResourceName;
pub(crate) use caller::{Caller, Identity, Origin};
pub(crate) use jwt::Unverified;
#[cfg(test)]
pub(crate) use jwt::sign;
pub(crate) use random::uuid;
pub use rules::policy_allows;
pub(crate) use sso::trusting;
pub(crate) use vault::{SECRET, SETTINGS, Vault, bytes, setting, text};
pub(crate) use watch::while_valid;

use caller::Who;
use failures::{Failures, Limits};
use rules::Rules;
use sso::Sso;
use vault::RBAC;

use crate::ask::InProcess;
use crate::cookie;
use crate::refusal::{Code, Refusal};
use crate::rights::Right;

/// Knows accounts, sessions and policies.
pub(crate) struct Access {
    inner: Arc<Inner>,
}

/// What callers share.
pub(crate) struct Inner {
    engine: Arc<Engine>,
    vault: Vault,
    rules: Mutex<Option<Arc<Rules>>>,
    failures: Failures,
    sso: Sso,
}

impl Access {
    /// By what the cluster of an engine says.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let vault = Vault::new(engine.home().clone(), &engine.options().namespace);
        let failures = Failures::new(Limits::read(|name| std::env::var(name).ok()));
        Access {
            inner: Arc::new(Inner { engine, vault, rules: Mutex::default(), failures, sso: Sso::default() }),
        }
    }

    /// The ConfigMaps and Secrets that say who people are.
    pub(crate) fn vault(&self) -> &Vault {
        &self.inner.vault
    }

    /// Gives an installation that has none the key that sessions are signed with, and the admin a password.
    pub(crate) async fn prepare(&self) -> Result<(), Refusal> {
        let vault = &self.inner.vault;
        let (settings, secret) = (vault.map(SETTINGS).await?, vault.secret(SECRET).await?);
        match initial::is_lacking(settings.as_ref(), secret.as_ref()) {
            true => initial::ensure(vault, self.inner.engine.clock().now()).await,
            false => Ok(()),
        }
    }

    /// Somebody who asks in our own process, and has the cluster anyway.
    pub(crate) fn owner(&self, _shown: InProcess, name: &str) -> Caller {
        Caller::new(self.inner.clone(), Who::Owner(name.to_owned()))
    }

    /// Who asks. Refuses those that are nobody where somebody is needed.
    pub(crate) async fn caller(&self, headers: &HeaderMap, right: &Right) -> Result<Caller, Refusal> {
        let found = match token(headers) {
            Some(token) => {
                let carried = cookie::carried(headers).unwrap_or_default();
                self.inner.verify(&token, &carried).await
            }
            None => Err(Refusal::new(Code::Unauthenticated, "no session information")),
        };
        let who = match found {
            Ok(identity) => Who::Known(identity),
            // Nothing of a token that is not good is believed: its bearer is nobody.
            Err(_) if *right == Right::Open => Who::Nobody,
            Err(refusal) => match self.inner.allows_nobody().await? {
                true => Who::Nobody,
                false => return Err(refusal),
            },
        };
        Ok(Caller::new(self.inner.clone(), who))
    }

    /// Ends a session before its time. Keys of accounts and projects are not ended so, but deleted where they are listed.
    pub(crate) async fn revoke(&self, caller: &Caller) -> Result<(), Refusal> {
        match caller.identity() {
            Some(identity) if matches!(identity.origin, Origin::Login | Origin::Sso) => {
                revoked::revoke(&self.inner.vault, identity, self.inner.now()).await
            }
            _ => Ok(()),
        }
    }

    /// An account; none if there is none of that name.
    pub(crate) async fn account(&self, name: &str) -> Result<Option<Account>, Refusal> {
        self.inner.account(name).await
    }
}

impl Inner {
    fn now(&self) -> i64 {
        self.engine.clock().now().as_second()
    }

    async fn account(&self, name: &str) -> Result<Option<Account>, Refusal> {
        let settings = self.vault.map(SETTINGS).await?;
        let secret = self.vault.secret(SECRET).await?.unwrap_or_default();
        Ok(Account::read(name, settings.as_ref(), &secret))
    }

    /// Whether those who have not logged in may ask at all.
    async fn allows_nobody(&self) -> Result<bool, Refusal> {
        let settings = self.vault.map(SETTINGS).await?;
        Ok(parse_bool(setting(settings.as_ref(), "users.anonymous.enabled")) == Some(true))
    }

    /// Who the bearer of a token is, by what a browser carries beside it as well.
    async fn verify(&self, raw: &str, carried: &str) -> Result<Identity, Refusal> {
        let token = Unverified::read(raw).ok_or_else(|| sessions::invalid("it is no token"))?;
        // Which checks there are depends on who says to have issued it; none is passed over by saying another.
        let identity = match token.claim("iss") {
            sessions::ISSUER => self.verify_own(&token, raw).await?,
            _ => Box::pin(self.verify_elsewhere(&token, raw, carried)).await?,
        };
        match revoked::is_revoked(&self.vault, &identity).await? {
            true => Err(sessions::invalid("token is revoked, please re-login")),
            false => Ok(identity),
        }
    }

    async fn verify_elsewhere(
        &self,
        token: &Unverified<'_>,
        raw: &str,
        carried: &str,
    ) -> Result<Identity, Refusal> {
        let provider = self.sso.provider(&self.vault).await?;
        let provider = provider.ok_or_else(|| sessions::invalid("it is not a session of this server"))?;
        let mut identity = provider.verify(token, raw, self.now()).await?;
        let subject = token.claim("sub");
        let access = match carried {
            "" => None,
            carried => seal::open(&self.signing_key().await?, subject, carried),
        };
        if let Some(groups) = provider.groups(subject, access.as_deref()).await? {
            identity.claims.set(&["groups"], groups);
        }
        identity.carried = carried.to_owned();
        Ok(identity)
    }

    /// The key that sessions are signed with.
    async fn signing_key(&self) -> Result<Vec<u8>, Refusal> {
        let secret = self.vault.secret(SECRET).await?.unwrap_or_default();
        let key = bytes(&secret, initial::SIGNATURE).filter(|key| !key.is_empty());
        key.ok_or_else(|| Refusal::new(Code::Internal, "there is no key to sign with"))
    }

    async fn verify_own(&self, token: &Unverified<'_>, raw: &str) -> Result<Identity, Refusal> {
        let secret = self.vault.secret(SECRET).await?.unwrap_or_default();
        let key = bytes(&secret, initial::SIGNATURE).unwrap_or_default();
        let identity = sessions::read(token, raw, &key, self.now())?;
        match identity.project() {
            Some(project) => sessions::check_project(&identity, self.project(project).as_ref())?,
            None => {
                let settings = self.vault.map(SETTINGS).await?;
                let account = Account::read(&identity.subject, settings.as_ref(), &secret);
                sessions::check_account(&identity, account.as_ref())?;
            }
        }
        Ok(identity)
    }

    /// The rules as they are now.
    fn rules(&self) -> Arc<Rules> {
        let (cache, namespace) = (self.engine.home().cache(), self.vault.namespace());
        let map = cache.get(&ObjectKey::new("", "ConfigMap", namespace, RBAC));
        if map.is_none() && !cache.knows(&GroupKind::new("", "ConfigMap"), namespace) {
            return Arc::new(Rules::unread());
        }
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        match &*rules {
            Some(known) if known.are_of(map.as_ref()) => known.clone(),
            _ => rules.insert(Arc::new(Rules::read(map.as_ref()))).clone(),
        }
    }

    fn project(&self, name: &str) -> Option<Object> {
        let kind = project_kind();
        let key = ObjectKey::new(kind.group, kind.kind, self.vault.namespace(), name);
        self.engine.home().cache().get(&key)
    }

    fn projects(&self) -> Vec<Object> {
        let mut projects = self.engine.home().cache().of_kind(&project_kind());
        projects.retain(|project| project.namespace() == self.vault.namespace());
        projects
    }

    /// Whether who may change an application may change every object of it. Not unless somebody wants it so.
    fn inherits_rights(&self) -> bool {
        let key = ObjectKey::new("", "ConfigMap", self.vault.namespace(), SETTINGS);
        let settings = self.engine.home().cache().get(&key);
        let text = setting(settings.as_ref(), "server.rbac.disableApplicationFineGrainedRBACInheritance");
        parse_bool(text) == Some(false)
    }
}

/// The token of a request: as a gRPC client sends it, as everybody sends it, or as a browser does.
fn token(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(token) = text("token").filter(|token| !token.is_empty()) {
        return Some(token.to_owned());
    }
    let bearers = headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
    let mut bearers = bearers.filter_map(|value| value.strip_prefix("Bearer "));
    if let Some(token) = bearers.find(|token| token.split('.').count() == 3) {
        return Some(token.to_owned());
    }
    cookie::token(headers)
}
