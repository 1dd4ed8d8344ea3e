//! Local accounts: their passwords and keys, and what somebody may.

use lynceus_object::{Value, value};

use super::unknown;
use crate::access::{self, Account, ApiKey, Origin, SECRET, SETTINGS};
use crate::call::{Answer, Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};
use crate::rights::Resource;

/// The actions that can be asked about.
pub const ACTIONS: [&str; 8] = ["get", "create", "update", "delete", "sync", "override", "action", "invoke"];

/// The resources that can be asked about.
pub const RESOURCES: [&str; 12] = [
    "clusters",
    "projects",
    "applications",
    "applicationsets",
    "repositories",
    "write-repositories",
    "certificates",
    "accounts",
    "gpgkeys",
    "logs",
    "exec",
    "extensions",
];

/// Those of them whose objects are named with their project before them.
const OF_PROJECTS: [&str; 6] =
    ["applications", "applicationsets", "logs", "exec", "clusters", "repositories"];

/// What a password has to be like if nothing is said.
const PATTERN: &str = "^.{8,32}$";

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "CanI" => can_i(&call),
        "UpdatePassword" => update_password(&call).await,
        "ListAccounts" => list(&call).await,
        "GetAccount" => get(&call).await,
        "CreateToken" => create_token(&call).await,
        "DeleteToken" => delete_token(&call).await,
        _ => Err(unknown(method)),
    }
}

fn can_i(call: &Call) -> Answered {
    let (resource, action, object) = (call.text("resource"), call.text("action"), call.text("subresource"));
    for (word, known) in [(action, &ACTIONS[..]), (resource, &RESOURCES[..])] {
        if !known.contains(&word) {
            return Err(Refusal::invalid(format!("[{}] does not contain {word}", known.join(" "))));
        }
    }
    // Those of our own namespace are named without it.
    let parts: Vec<&str> = object.split('/').collect();
    let object = match parts[..] {
        [project, namespace, name]
            if OF_PROJECTS.contains(&resource) && namespace == call.server.namespace() =>
        {
            format!("{project}/{name}")
        }
        _ => object.to_owned(),
    };
    let may = call.caller.may_word(resource, action, &object);
    Ok(Answer::One(value!({"value": if may { "yes" } else { "no" }})))
}

async fn list(call: &Call) -> Answered {
    let vault = call.server.access.vault();
    let (settings, secret) = (vault.map(SETTINGS).await?, vault.secret(SECRET).await?.unwrap_or_default());
    let may =
        |name: &str| call.caller.account() == Some(name) || call.caller.may(Resource::Accounts, "get", name);
    let items: Value = access::names(settings.as_ref())
        .iter()
        .filter(|name| may(name))
        .filter_map(|name| Account::read(name, settings.as_ref(), &secret))
        .map(|account| told(&account))
        .collect();
    Ok(Answer::One(value!({"items": items})))
}

async fn get(call: &Call) -> Answered {
    let name = call.text("name");
    let account = call.server.access.account(name).await?.ok_or_else(|| access::missing(name))?;
    Ok(Answer::One(told(&account)))
}

/// What is told of an account: never its password, and of its keys only that they are there.
fn told(account: &Account) -> Value {
    let mut keys: Vec<&ApiKey> = account.keys.iter().collect();
    keys.sort_by_key(|key| std::cmp::Reverse(key.issued));
    let keys: Value = keys
        .into_iter()
        .map(|key| value!({"id": key.id.as_str(), "issuedAt": key.issued, "expiresAt": key.expires.unwrap_or_default()}))
        .collect();
    let abilities: Value = account.abilities().into_iter().map(Value::from).collect();
    value!({"name": account.name.as_str(), "enabled": account.enabled, "capabilities": abilities, "tokens": keys})
}

async fn update_password(call: &Call) -> Answered {
    let access = &call.server.access;
    let own = call.caller.account();
    let name = match (call.text("name"), own) {
        ("", Some(own)) => own,
        (name, _) => name,
    };
    match call.caller.identity() {
        Some(identity) if identity.origin == Origin::Sso => fresh(call, identity.issued)?,
        // Whoever holds a session has to show that they are the one who opened it.
        _ => {
            let asking =
                own.ok_or_else(|| Refusal::invalid("passwords are changed by local accounts only"))?;
            let checked = access.check_password(asking, call.text("currentPassword")).await;
            checked.map_err(|_| Refusal::invalid("current password does not match"))?;
        }
    }
    let new = call.text("newPassword").to_owned();
    fits(call, &new).await?;
    let hash = tokio::task::spawn_blocking(move || access::hash(&new)).await;
    let hash = hash.map_err(|_| Refusal::new(Code::Internal, "the password could not be hashed"))??;
    let (vault, now) = (access.vault(), call.server.engine.clock().now());
    let settings = vault.map(SETTINGS).await?;
    vault
        .amend(SECRET, |secret| {
            let account =
                Account::read(name, settings.as_ref(), secret).ok_or_else(|| access::missing(name))?;
            Ok((account.with_password(&hash, now), ()))
        })
        .await?;
    Ok(Answer::One(value!({})))
}

/// A session of another issuer has no password; that it is new has to do.
fn fresh(call: &Call, issued: i64) -> Result<(), Refusal> {
    let age = call.server.engine.clock().now().as_second().saturating_sub(issued);
    match age <= limits::FRESH_SESSION {
        true => Ok(()),
        false => Err(Refusal::new(Code::FailedPrecondition, "the session is too old for this; log in again")),
    }
}

/// Refuses a password that is not like the settings want it.
async fn fits(call: &Call, password: &str) -> Result<(), Refusal> {
    let settings = call.server.access.vault().map(SETTINGS).await?;
    let pattern = match access::setting(settings.as_ref(), "passwordPattern") {
        "" => PATTERN,
        pattern => pattern,
    };
    let unreadable =
        |_| Refusal::new(Code::FailedPrecondition, "passwordPattern of argocd-cm is no expression");
    match regex::Regex::new(pattern).map_err(unreadable)?.is_match(password) {
        true => Ok(()),
        false => {
            Err(Refusal::invalid(format!("new password does not match the following expression: {pattern}")))
        }
    }
}

async fn create_token(call: &Call) -> Answered {
    let (access, name) = (&call.server.access, call.text("name"));
    let id = match call.text("id") {
        "" => access::uuid()?,
        id if id.len() > limits::KEY_NAME => return Err(Refusal::invalid("the id is too long")),
        id => id.to_owned(),
    };
    // Numbers of this size are texts in JSON.
    let seconds = match call.request.get("expiresIn") {
        Some(Value::Str(text)) => text.parse().ok(),
        Some(Value::Int(seconds)) => Some(*seconds),
        _ => None,
    };
    let seconds: Option<i64> = seconds.filter(|seconds| *seconds > 0);
    let issued = call.server.engine.clock().now().as_second();
    let expires = seconds.map(|seconds| issued.saturating_add(seconds));
    let settings = access.vault().map(SETTINGS).await?;
    access
        .vault()
        .amend(SECRET, |secret| {
            let account =
                Account::read(name, settings.as_ref(), secret).ok_or_else(|| access::missing(name))?;
            if account.keys.iter().any(|key| key.id == id) {
                return Err(Refusal::new(
                    Code::AlreadyExists,
                    format!("account already has token with id '{id}'"),
                ));
            }
            if !account.api_key {
                let message = format!("account '{name}' does not have apiKey capability");
                return Err(Refusal::new(Code::FailedPrecondition, message));
            }
            let mut keys = account.keys.clone();
            keys.push(ApiKey { id: id.clone(), issued, expires });
            Ok((account.with_keys(&keys), ()))
        })
        .await?;
    let token = access.issue(&format!("{name}:apiKey"), &id, seconds).await?;
    Ok(Answer::One(value!({"token": token})))
}

async fn delete_token(call: &Call) -> Answered {
    let (access, name, id) = (&call.server.access, call.text("name"), call.text("id"));
    let settings = access.vault().map(SETTINGS).await?;
    access
        .vault()
        .amend(SECRET, |secret| {
            let account =
                Account::read(name, settings.as_ref(), secret).ok_or_else(|| access::missing(name))?;
            let keys: Vec<ApiKey> = account.keys.iter().filter(|key| key.id != id).cloned().collect();
            if keys.len() == account.keys.len() {
                return Err(Refusal::not_found(format!("token with id '{id}' does not exist")));
            }
            Ok((account.with_keys(&keys), ()))
        })
        .await?;
    Ok(Answer::One(value!({})))
}
