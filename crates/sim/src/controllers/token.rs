//! Secrets that hold a service account's token.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lynceus_object::{Object, Value, value};

use super::key::Key;
use super::kind::{SECRET, SERVICE_ACCOUNT, is_among};
use super::steps::Steps;
use super::world::World;
use super::{Controller, Writer, manager};
use crate::store::{Event, Place};

const TYPE: &str = "kubernetes.io/service-account-token";
const ACCOUNT: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// How long a token in a Secret lasts, in seconds.
const TEN_YEARS: i64 = 10 * 365 * 24 * 3600;

/// Fills in Secrets that ask for a token, and deletes those whose account is gone.
pub(crate) struct TokenSecrets;

impl Controller for TokenSecrets {
    fn component(&self) -> &'static str {
        "serviceaccount-token-controller"
    }

    fn writer(&self) -> Writer {
        manager!("tokens-controller")
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[SECRET, SERVICE_ACCOUNT], place)
    }

    fn notice(&mut self, event: &Event, world: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if SECRET.is(&event.place) {
            if is_token(object) {
                wake.push(Key::of(&event.place, object));
            }
        } else if SERVICE_ACCOUNT.is(&event.place) {
            let secrets = world.list(SECRET, object.namespace());
            let own = secrets
                .iter()
                .filter(|secret| is_token(secret) && secret.annotation(ACCOUNT) == Some(object.name()));
            wake.extend(own.map(|secret| Key::of(&SECRET.place(), secret)));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(secret) = world.find(key).filter(|secret| is_token(secret) && !secret.is_deleting()) else {
            return;
        };
        let name = secret.annotation(ACCOUNT).unwrap_or_default();
        let account = world.get(SERVICE_ACCOUNT, secret.namespace(), name);
        let known = secret.annotation(ACCOUNT_UID);
        let Some(account) = account.filter(|account| known.is_none_or(|uid| uid == account.uid())) else {
            out.delete(SECRET, &secret);
            return;
        };
        let mut new = secret.clone();
        new.set_annotation(ACCOUNT_UID, account.uid());
        fill(&mut new, "ca.crt", &world.local.root_certificate());
        fill(&mut new, "namespace", secret.namespace());
        if new.at(&["data", "token"]).is_none_or(Value::is_empty)
            && let Some(token) = token(&account, &secret, world)
        {
            fill(&mut new, "token", &token);
        }
        if new != secret {
            out.update(SECRET, new);
        }
    }
}

/// A token that lasts as long as its Secret.
fn token(account: &Object, secret: &Object, world: &World<'_>) -> Option<String> {
    let request = value!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {
            "expirationSeconds": TEN_YEARS, "audiences": [],
            "boundObjectRef": {
                "apiVersion": "v1", "kind": "Secret", "name": secret.name(), "uid": secret.uid(),
            },
        },
    });
    let answer = world.local.issue(account, Object::new(request).unwrap_or_default());
    let token = answer.ok()?.value().str_at(&["status", "token"])?.to_owned();
    (!token.is_empty()).then_some(token)
}

fn is_token(secret: &Object) -> bool {
    secret.value().str_at(&["type"]) == Some(TYPE)
}

fn fill(secret: &mut Object, key: &str, text: &str) {
    secret.set(&["data", key], STANDARD.encode(text));
}
