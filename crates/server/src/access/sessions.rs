//! Tokens that we sign: sessions of local accounts, their keys, and the tokens of project roles.

use lynceus_object::{Object, Value, value};

use super::accounts::Account;
use super::caller::{Identity, Origin};
use super::jwt::{self, Unverified};
use crate::refusal::{Code, Refusal};

/// The issuer that our tokens name.
pub(crate) const ISSUER: &str = "argocd";

/// A token that does not count, with as much of the reason as its bearer may be told.
pub(crate) fn invalid(reason: &str) -> Refusal {
    Refusal::new(Code::Unauthenticated, format!("invalid session: {reason}"))
}

/// What a new token is for.
pub(crate) struct Order<'a> {
    /// `NAME:login`, `NAME:apiKey` or `proj:PROJECT:ROLE`.
    pub(crate) subject: &'a str,
    /// Its own name.
    pub(crate) id: &'a str,
    /// When it is made, in seconds.
    pub(crate) now: i64,
    /// How long it counts; for ever if not said.
    pub(crate) seconds: Option<i64>,
}

/// Signs a token.
pub(crate) fn create(order: &Order<'_>, key: &[u8]) -> String {
    let mut claims = value!({
        "iss": ISSUER, "sub": order.subject, "nbf": order.now, "iat": order.now, "jti": order.id,
    });
    if let Some(seconds) = order.seconds.filter(|seconds| *seconds > 0) {
        claims.set(&["exp"], order.now.saturating_add(seconds));
    }
    jwt::sign(&claims, key)
}

/// What a token of ours says, once its signature and its times are checked. Whether it counts is for the account or the
/// project to say.
pub(super) fn read(token: &Unverified<'_>, raw: &str, key: &[u8], now: i64) -> Result<Identity, Refusal> {
    // Nobody may sign with no key.
    if key.is_empty() || !token.is_signed_with(key) {
        return Err(invalid("the signature is not ours"));
    }
    // Ours are for nobody else, so that one which says whom it is for is no session.
    if token.claim("iss") != ISSUER || token.claims.get("aud").is_some() {
        return Err(invalid("it is not a session of this server"));
    }
    if !token.is_current(now, 0) {
        return Err(invalid("token has expired, or its time has not come"));
    }
    let issued = token.time("iat").ok_or_else(|| invalid("it does not say when it was issued"))?;
    let (origin, subject) = subject(token.claim("sub")).ok_or_else(|| invalid("it is nobody's"))?;
    Ok(Identity {
        origin,
        subject,
        issuer: ISSUER.to_owned(),
        claims: token.claims.clone(),
        issued,
        expires: token.time("exp"),
        id: token.claim("jti").to_owned(),
        carried: String::new(),
        token: raw.to_owned(),
    })
}

/// Whose a token is. One without a word for what it is is a key, as Argo CD made them at first.
fn subject(text: &str) -> Option<(Origin, String)> {
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        ["proj", project, role] if !project.is_empty() && !role.is_empty() => {
            Some((Origin::Project, text.to_owned()))
        }
        [name] | [name, "apiKey"] if !name.is_empty() => Some((Origin::ApiKey, name.to_owned())),
        [name, "login"] if !name.is_empty() => Some((Origin::Login, name.to_owned())),
        _ => None,
    }
}

/// Refuses a token of an account that may not be used this way any more.
pub(super) fn check_account(identity: &Identity, account: Option<&Account>) -> Result<(), Refusal> {
    let account = account.ok_or_else(|| invalid("the account does not exist"))?;
    let can = if identity.origin == Origin::Login { account.login } else { account.api_key };
    if !account.enabled || !can {
        return Err(invalid("the account is disabled, or may not be used this way"));
    }
    if identity.id.is_empty() {
        return Err(invalid("it cannot be told from others"));
    }
    if identity.origin == Origin::ApiKey && !account.keys.iter().any(|key| key.id == identity.id) {
        return Err(invalid("the account has no such token"));
    }
    if account.changed.is_some_and(|changed| identity.issued < changed.as_second()) {
        return Err(invalid("account password has changed since token issued"));
    }
    Ok(())
}

/// Refuses a token of a project's role that the project does not have any more.
pub(super) fn check_project(identity: &Identity, project: Option<&Object>) -> Result<(), Refusal> {
    let role = identity.subject.rsplit(':').next().unwrap_or_default();
    let project = project.ok_or_else(|| invalid("the project does not exist"))?.value();
    let roles = project.items_at(&["spec", "roles"]);
    let Some(found) = roles.iter().find(|one| one.str_at(&["name"]) == Some(role)) else {
        return Err(invalid("the project has no such role"));
    };
    let newer = project.items_at(&["status", "jwtTokensByRole", role, "items"]);
    let older = found.items_at(&["jwtTokens"]);
    // Tokens have a name; the oldest ones are known by when they were made.
    let is_it = |token: &Value| match token.str_at(&["id"]) {
        None | Some("") => identity.id.is_empty() && token.int_at(&["iat"]) == Some(identity.issued),
        Some(id) => id == identity.id,
    };
    if newer.iter().chain(older).any(is_it) { Ok(()) } else { Err(invalid("the project has no such token")) }
}
