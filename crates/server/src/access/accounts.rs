//! Local accounts, as Argo CD keeps them: what they can stands in `argocd-cm`, their passwords and keys in `argocd-secret`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use lynceus_api::parse_bool;
use lynceus_object::{Object, Value, json, value};
use tracing::warn;

use super::vault::{self, Changes};
use crate::refusal::{Code, Refusal};

/// The account that is always there.
pub(crate) const ADMIN: &str = "admin";

/// A local account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Account {
    /// Its name.
    pub(crate) name: String,
    /// Whether it may be used.
    pub(crate) enabled: bool,
    /// Whether one can log in with it.
    pub(crate) login: bool,
    /// Whether it can have keys.
    pub(crate) api_key: bool,
    /// The hash of its password; empty if it has none.
    pub(crate) password: String,
    /// When the password was last changed. Sessions from before it are over.
    pub(crate) changed: Option<Timestamp>,
    /// Its keys.
    pub(crate) keys: Vec<ApiKey>,
}

/// A key of an account; the key itself is kept by whoever got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiKey {
    /// Its name.
    pub(crate) id: String,
    /// When it was made.
    pub(crate) issued: i64,
    /// When it ends.
    pub(crate) expires: Option<i64>,
}

/// The names of all accounts, in order.
pub(crate) fn names(settings: Option<&Object>) -> BTreeSet<String> {
    let data = settings.and_then(|settings| settings.at(&["data"])).and_then(Value::as_map);
    let keys = data.into_iter().flat_map(|data| data.iter().map(|(key, _)| key.as_str()));
    let named = keys.filter_map(|key| {
        let mut parts = key.strip_prefix("accounts.")?.split('.');
        let name = parts.next()?;
        (!name.is_empty() && parts.count() <= 1).then(|| name.to_owned())
    });
    named.chain([ADMIN.to_owned()]).collect()
}

impl Account {
    /// Reads an account; none if there is none of that name.
    pub(crate) fn read(name: &str, settings: Option<&Object>, secret: &Object) -> Option<Self> {
        if !names(settings).contains(name) {
            return None;
        }
        let abilities = vault::setting(settings, &format!("accounts.{name}"));
        let abilities: Vec<&str> = abilities.split(',').map(str::trim).collect();
        let is_admin = name == ADMIN;
        let mut account = Account {
            name: name.to_owned(),
            enabled: is_enabled(name, settings),
            login: is_admin || abilities.contains(&"login"),
            api_key: abilities.contains(&"apiKey"),
            password: vault::text(secret, &key(name, "password")),
            changed: None,
            keys: keys(name, &vault::text(secret, &key(name, "tokens"))),
        };
        match vault::text(secret, &key(name, "passwordMtime")).as_str() {
            "" => {}
            text => match text.parse() {
                Ok(time) => account.changed = Some(time),
                // Argo CD passes this over for the admin. Without the time no old session could be told from a new one.
                Err(_) if is_admin => {}
                Err(_) => account.enabled = false,
            },
        }
        Some(account)
    }

    /// What it can, in Argo CD's words.
    pub(crate) fn abilities(&self) -> Vec<&'static str> {
        let all = [(self.login, "login"), (self.api_key, "apiKey")];
        all.into_iter().filter(|(can, _)| *can).map(|(_, word)| word).collect()
    }

    /// Writes down a new password.
    pub(crate) fn with_password(&self, hash: &str, now: Timestamp) -> Changes {
        let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Changes::from([
            (key(&self.name, "password"), Some(hash.as_bytes().to_vec())),
            (key(&self.name, "passwordMtime"), Some(time.into_bytes())),
        ])
    }

    /// Writes down its keys.
    pub(crate) fn with_keys(&self, keys: &[ApiKey]) -> Changes {
        let items: Value = keys
            .iter()
            .map(|one| {
                let mut item = value!({"id": one.id.as_str(), "iat": one.issued});
                if let Some(expires) = one.expires {
                    item.set(&["exp"], expires);
                }
                item
            })
            .collect();
        let text = (!keys.is_empty()).then(|| json::to_vec(&items));
        Changes::from([(key(&self.name, "tokens"), text)])
    }
}

fn key(name: &str, suffix: &str) -> String {
    if name == ADMIN { format!("{ADMIN}.{suffix}") } else { format!("accounts.{name}.{suffix}") }
}

/// An account is enabled unless something else is said. What is neither yes nor no is no; for the admin Argo CD passes it
/// over.
fn is_enabled(name: &str, settings: Option<&Object>) -> bool {
    let said = |key: &str| match vault::setting(settings, key) {
        "" => None,
        text => Some(parse_bool(text)),
    };
    let admin = (name == ADMIN).then(|| said("admin.enabled").flatten()).flatten();
    match said(&format!("accounts.{name}.enabled")) {
        Some(enabled) => enabled.unwrap_or(false),
        None => admin.unwrap_or(true),
    }
}

fn keys(name: &str, text: &str) -> Vec<ApiKey> {
    if text.is_empty() {
        return Vec::new();
    }
    let Ok(items) = json::parse(text.as_bytes()) else {
        warn!(account = name, "the keys of an account cannot be read");
        return Vec::new();
    };
    let read = |item: &Value| {
        let expires = item.int_at(&["exp"]).filter(|expires| *expires > 0);
        Some(ApiKey {
            id: item.str_at(&["id"])?.to_owned(),
            issued: item.int_at(&["iat"]).unwrap_or_default(),
            expires,
        })
    };
    items.as_seq().unwrap_or_default().iter().filter_map(read).collect()
}

/// There is no such account.
pub(crate) fn missing(name: &str) -> Refusal {
    Refusal::new(Code::NotFound, format!("account '{name}' does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    fn objects(settings: Value, secret: &[(&str, &str)]) -> (Object, Object) {
        let map = value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}, "data": settings});
        let mut keys =
            value!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret"}, "data": {}});
        for (key, text) in secret {
            keys.set(&["data", key], base64::engine::general_purpose::STANDARD.encode(text));
        }
        (Object::new(map).unwrap(), Object::new(keys).unwrap())
    }

    #[test]
    fn accounts_are_read_as_argo_cd_writes_them() {
        let (settings, secret) = objects(
            value!({"accounts.alice": "apiKey, login", "accounts.bob": "login", "accounts.bob.enabled": "false", "accounts.a.b.c": "x"}),
            &[
                ("accounts.alice.password", "hash"),
                ("accounts.alice.passwordMtime", "2024-05-01T10:00:00Z"),
                ("accounts.alice.tokens", r#"[{"id":"k","iat":5,"exp":9},{"id":"l","iat":6}]"#),
            ],
        );
        let read = |name: &str| Account::read(name, Some(&settings), &secret);
        let alice = read("alice").unwrap();
        assert_eq!(alice.abilities(), ["login", "apiKey"]);
        assert!(alice.enabled && alice.password == "hash" && alice.changed.is_some());
        assert_eq!(alice.keys.iter().map(|key| key.expires).collect::<Vec<_>>(), [Some(9), None]);
        assert!(!read("bob").unwrap().enabled);
        assert!(read("a").is_none() && read("carol").is_none() && read("").is_none());
        let admin = read("admin").unwrap();
        assert!(admin.enabled && admin.login && !admin.api_key);
        assert_eq!(names(Some(&settings)).into_iter().collect::<Vec<_>>(), ["admin", "alice", "bob"]);
    }

    #[test]
    fn an_account_of_which_something_is_wrong_is_closed() {
        let (settings, secret) = objects(
            value!({"accounts.a": "login", "accounts.a.enabled": "perhaps", "accounts.b": "login", "admin.enabled": "false"}),
            &[("accounts.b.passwordMtime", "yesterday")],
        );
        for name in ["a", "b", "admin"] {
            assert!(!Account::read(name, Some(&settings), &secret).unwrap().enabled, "{name}");
        }
    }
}
