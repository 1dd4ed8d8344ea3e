//! Sessions that were ended before their time. They stand in a Secret until they would have ended anyway, so that no
//! restart brings one back and every server knows.

use std::collections::HashMap;

use lynceus_object::{Object, Value};
use ring::digest;

use super::caller::Identity;
use super::vault::{self, Changes, Vault};
use crate::limits;
use crate::refusal::Refusal;

/// The Secret of ended sessions.
const SECRET: &str = "lynceus-revoked-sessions";

/// What stands before the mark of somebody all of whose sessions were ended.
const ALL: &str = "all-";

/// Ends a session.
pub(super) async fn revoke(vault: &Vault, identity: &Identity, now: i64) -> Result<(), Refusal> {
    let until = identity.expires.unwrap_or(i64::MAX);
    if until <= now {
        return Ok(());
    }
    vault
        .amend(SECRET, |secret| {
            let mut changes: Changes = entries(secret)
                .filter(|(_, entry)| entry.until <= now)
                .map(|(key, _)| (key.to_owned(), None))
                .collect();
            let left = entries(secret).count() - changes.len();
            if left >= limits::REVOKED {
                changes.extend(joined(secret, now));
            }
            let entry = Entry { until, what: of_subject(identity) };
            changes.insert(of_token(identity), Some(entry.to_string().into_bytes()));
            Ok((changes, ()))
        })
        .await
}

/// Whether a session was ended.
pub(super) async fn is_revoked(vault: &Vault, identity: &Identity) -> Result<bool, Refusal> {
    let Some(secret) = vault.secret(SECRET).await? else { return Ok(false) };
    let all = vault::text(&secret, &format!("{ALL}{}", of_subject(identity)));
    let everything = Entry::read(&all).and_then(|entry| entry.what.parse::<i64>().ok());
    Ok(vault::bytes(&secret, &of_token(identity)).is_some()
        || everything.is_some_and(|last| identity.issued <= last))
}

/// Makes room: whoever has ended the most sessions has all of theirs ended, in one entry. That some of them may still be
/// open is better than that one which was closed opens again.
fn joined(secret: &Object, now: i64) -> Changes {
    let singles = || entries(secret).filter(|(key, entry)| !key.starts_with(ALL) && entry.until > now);
    let mut counts: HashMap<String, usize> = HashMap::new();
    singles().for_each(|(_, entry)| *counts.entry(entry.what).or_default() += 1);
    let Some((most, _)) = counts.into_iter().max_by_key(|(what, count)| (*count, what.clone())) else {
        return Changes::new();
    };
    let theirs: Vec<(&str, Entry)> = singles().filter(|(_, entry)| entry.what == most).collect();
    let until = theirs.iter().map(|(_, entry)| entry.until).max().unwrap_or_default();
    let mut changes: Changes = theirs.iter().map(|(key, _)| ((*key).to_owned(), None)).collect();
    let entry = Entry { until, what: now.to_string() };
    changes.insert(format!("{ALL}{most}"), Some(entry.to_string().into_bytes()));
    changes
}

/// An entry: until when it has to be known, and whose session it was; for all of somebody's, up to which time they were
/// issued.
struct Entry {
    until: i64,
    what: String,
}

impl Entry {
    fn read(text: &str) -> Option<Self> {
        let (until, what) = text.split_once(' ')?;
        Some(Entry { until: until.parse().ok()?, what: what.to_owned() })
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.until, self.what)
    }
}

fn entries(secret: &Object) -> impl Iterator<Item = (&str, Entry)> {
    let data = secret.at(&["data"]).and_then(Value::as_map);
    let keys = data.into_iter().flat_map(|data| data.iter().map(|(key, _)| key.as_str()));
    keys.filter_map(|key| Some((key, Entry::read(&vault::text(secret, key))?)))
}

/// A token by its name, or by itself if it has none. What is kept tells nothing of it.
fn of_token(identity: &Identity) -> String {
    match identity.id.as_str() {
        "" => mark(&["token", &identity.token]),
        id => mark(&["id", &identity.issuer, id]),
    }
}

fn of_subject(identity: &Identity) -> String {
    mark(&["subject", &identity.issuer, &identity.subject])
}

fn mark(parts: &[&str]) -> String {
    let digest = digest::digest(&digest::SHA256, parts.join("\n").as_bytes());
    digest.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use lynceus_object::value;

    #[test]
    fn a_full_list_ends_all_sessions_of_whoever_filled_it() {
        let mut secret =
            value!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {}});
        let mut put = |key: &str, text: &str| {
            secret.set(&["data", key], base64::engine::general_purpose::STANDARD.encode(text));
        };
        put("a", "50 alice");
        put("b", "60 bob");
        put("c", "70 bob");
        let changes = joined(&Object::new(secret).unwrap(), 10);
        let said: Vec<(String, String)> = changes
            .into_iter()
            .map(|(key, value)| {
                (key, value.map(|value| String::from_utf8(value).unwrap()).unwrap_or_default())
            })
            .collect();
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(said, [pair("all-bob", "70 10"), pair("b", ""), pair("c", "")]);
    }
}
