//! Logging in with a password.

use std::time::Duration;

use lynceus_api::parse_duration;
use tokio::time::Instant;
use tracing::{info, warn};

use super::initial::SIGNATURE;
use super::sessions::{self, Order};
use super::vault::{SECRET, SETTINGS, bytes, setting};
use super::{Access, bcrypt, random};
use crate::limits;
use crate::refusal::{Code, Refusal};

/// How long a session lasts if nothing is said.
const SESSION: Duration = Duration::from_secs(24 * 60 * 60);

/// The one answer to a wrong name and to a wrong password.
fn wrong() -> Refusal {
    Refusal::new(Code::Unauthenticated, "Invalid username or password")
}

impl Access {
    /// Opens a session for somebody who knows a password.
    pub(crate) async fn login(&self, name: &str, password: &str) -> Result<String, Refusal> {
        let _place = self.inner.failures.place()?;
        if name.is_empty() || password.is_empty() {
            return Err(Refusal::new(Code::Unauthenticated, "no credentials supplied"));
        }
        self.prepare().await?;
        self.check_password(name, password).await?;
        let seconds = self.session_seconds().await?;
        let token = self.issue(&format!("{name}:login"), &random::uuid()?, seconds).await?;
        info!(target: "audit", user = name, "logged in");
        Ok(token)
    }

    /// Refuses a wrong password, and any password of those who were wrong too often. How long that takes does not tell
    /// whether there is such an account.
    pub(crate) async fn check_password(&self, name: &str, password: &str) -> Result<(), Refusal> {
        if password.is_empty() {
            return Err(Refusal::new(Code::Unauthenticated, "Blank passwords are not allowed"));
        }
        if name.len() > limits::ACCOUNT_NAME {
            let longest = limits::ACCOUNT_NAME;
            return Err(Refusal::invalid(format!("Username is too long ({longest} bytes max)")));
        }
        let begun = Instant::now();
        let checked = self.checked(name, password).await;
        if checked.is_err() {
            warn!(target: "audit", user = name, "failed to log in");
            tokio::time::sleep_until(begun + limits::WRONG_PASSWORD).await;
        }
        checked
    }

    async fn checked(&self, name: &str, password: &str) -> Result<(), Refusal> {
        let account = self.account(name).await?;
        let (failures, vault) = (&self.inner.failures, &self.inner.vault);
        if !failures.count(vault, name, account.is_some(), self.inner.now()).await {
            return Err(wrong());
        }
        let hash = account.as_ref().map(|account| account.password.clone()).unwrap_or_default();
        let mut password = password.to_owned();
        password.truncate(password.floor_char_boundary(limits::PASSWORD));
        let matches = tokio::task::spawn_blocking(move || bcrypt::verify(&password, &hash)).await;
        let Some(account) = account.filter(|_| matches.unwrap_or(false)) else { return Err(wrong()) };
        failures.forget(vault, name).await;
        if !account.enabled {
            return Err(Refusal::new(Code::Unauthenticated, format!("Account {name} is disabled")));
        }
        if !account.login {
            let message = format!("Account {name} does not have login capability");
            return Err(Refusal::new(Code::Unauthenticated, message));
        }
        Ok(())
    }

    /// Signs a token.
    pub(crate) async fn issue(
        &self,
        subject: &str,
        id: &str,
        seconds: Option<i64>,
    ) -> Result<String, Refusal> {
        let secret = self.inner.vault.secret(SECRET).await?.unwrap_or_default();
        let key = bytes(&secret, SIGNATURE).filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| Refusal::new(Code::Internal, "there is no key to sign with"))?;
        Ok(sessions::create(&Order { subject, id, now: self.inner.now(), seconds }, &key))
    }

    /// How long a session lasts, in seconds; none if for ever.
    async fn session_seconds(&self) -> Result<Option<i64>, Refusal> {
        let settings = self.inner.vault.map(SETTINGS).await?;
        let default = i64::try_from(SESSION.as_secs()).ok();
        let seconds = match setting(settings.as_ref(), "users.session.duration") {
            "" => default,
            text => parse_duration(text).map_or(default, |time| Some(time.as_secs())),
        };
        Ok(seconds.filter(|seconds| *seconds > 0))
    }
}
