//! What an installation without passwords and keys is given when a server starts, as by Argo CD: the key that sessions are
//! signed with, and a password for the admin, which is to be found in a Secret of its own.
//!
//! Several servers may start at once. The password is decided by one write to `argocd-secret`, which has the hash and the
//! password in it. Whoever sees the password there puts it where people look for it, and then takes it away: all of them
//! see the same one, and a server that dies in between leaves the rest to the next.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use lynceus_object::Object;
use tracing::info;

use super::accounts::{ADMIN, Account};
use super::vault::{self, Changes, SECRET, SETTINGS, Vault};
use super::{bcrypt, random};
use crate::refusal::{Code, Refusal};

/// The key that sessions are signed with.
pub(super) const SIGNATURE: &str = "server.secretkey";

/// Where people look for the first password.
const INITIAL: &str = "argocd-initial-admin-secret";

/// Where the first password is until it is there.
const UNDERWAY: &str = "lynceus.initialPassword";

/// Whether something of it is lacking.
pub(super) fn is_lacking(settings: Option<&Object>, secret: Option<&Object>) -> bool {
    let Some(secret) = secret else { return true };
    let lacks = |key: &str| vault::bytes(secret, key).is_none_or(|value| value.is_empty());
    let admin = Account::read(ADMIN, settings, secret);
    lacks(SIGNATURE)
        || !lacks(UNDERWAY)
        || admin
            .is_some_and(|admin| admin.enabled && (admin.password.is_empty() || lacks("admin.passwordMtime")))
}

/// Makes what is lacking.
pub(super) async fn ensure(vault: &Vault, now: Timestamp) -> Result<(), Refusal> {
    let settings = vault.map(SETTINGS).await?;
    // Hashing takes a while, and is done before the Secret is looked at, which may have to be repeated.
    let password = random::password()?;
    let hashing = password.clone();
    let hash = tokio::task::spawn_blocking(move || bcrypt::hash(&hashing)).await;
    let hash = hash.map_err(|_| Refusal::new(Code::Internal, "the password could not be hashed"))??;
    let key = STANDARD.encode(random::bytes::<32>()?);
    let underway = vault
        .amend(SECRET, |secret| {
            let mut changes = Changes::new();
            if vault::bytes(secret, SIGNATURE).is_none_or(|key| key.is_empty()) {
                changes.insert(SIGNATURE.to_owned(), Some(key.clone().into_bytes()));
            }
            let mut underway = vault::text(secret, UNDERWAY);
            if let Some(admin) = Account::read(ADMIN, settings.as_ref(), secret).filter(|admin| admin.enabled)
            {
                let mut wanted = admin.with_password(&hash, now);
                if admin.password.is_empty() {
                    underway.clone_from(&password);
                    wanted.insert(UNDERWAY.to_owned(), Some(password.clone().into_bytes()));
                    changes.extend(wanted);
                } else if vault::text(secret, "admin.passwordMtime").is_empty() {
                    wanted.retain(|key, _| key == "admin.passwordMtime");
                    changes.extend(wanted);
                }
            }
            Ok((changes, underway))
        })
        .await?;
    if underway.is_empty() {
        return Ok(());
    }
    vault
        .amend(INITIAL, |secret| {
            let is_there = vault::text(secret, "password") == underway;
            let wanted = Changes::from([("password".to_owned(), Some(underway.clone().into_bytes()))]);
            Ok((if is_there { Changes::new() } else { wanted }, ()))
        })
        .await?;
    vault
        .amend(SECRET, |secret| {
            let is_there = vault::text(secret, UNDERWAY) == underway;
            let gone = Changes::from([(UNDERWAY.to_owned(), None)]);
            Ok((if is_there { gone } else { Changes::new() }, ()))
        })
        .await?;
    info!(secret = INITIAL, "the admin has a first password");
    Ok(())
}
