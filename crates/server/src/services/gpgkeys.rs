//! Keys that signatures of commits are checked with: `argocd-gpg-keys-cm`.

use lynceus_object::{Value, value};
use lynceus_source::{Keyring, PublicKey};

use super::{maps, unknown};
use crate::call::{Answered, Call};
use crate::refusal::Refusal;
use crate::rights::Resource;
use crate::server::Server;

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "List" => Ok(list(&call).into()),
        "Get" => get(&call),
        "Create" => create(&call).await,
        "Delete" => delete(&call).await,
        _ => Err(unknown(method)),
    }
}

fn known(server: &Server) -> Vec<PublicKey> {
    let entries = maps::entries(&maps::get(server, Keyring::CONFIG_MAP));
    // One that cannot be read is told of where the settings are read.
    entries.iter().flat_map(|(_, text)| PublicKey::read(text).unwrap_or_default()).collect()
}

fn shown(key: &PublicKey, with_data: bool) -> Value {
    value!({
        "keyID": key.id, "fingerprint": key.fingerprint, "owner": key.owner, "trust": "unknown",
        "subType": key.algorithm, "keyData": if with_data { key.armored.as_str() } else { "" },
    })
}

fn list(call: &Call) -> Value {
    let wanted = call.text("keyID").to_uppercase();
    let keys = known(&call.server);
    let fitting = keys.iter().filter(|key| {
        (wanted.is_empty() || key.id.ends_with(&wanted)) && call.caller.may(Resource::GpgKeys, "get", &key.id)
    });
    let items: Vec<Value> = fitting.map(|key| shown(key, false)).collect();
    value!({"metadata": {}, "items": items})
}

fn get(call: &Call) -> Answered {
    let id = id(call)?;
    let key = known(&call.server).into_iter().find(|key| key.id == id);
    key.map(|key| shown(&key, true).into()).ok_or_else(|| missing(&id))
}

async fn create(call: &Call) -> Answered {
    let text = call.request.str_at(&["publickey", "keyData"]).unwrap_or_default();
    let keys = PublicKey::read(text).map_err(|why| Refusal::invalid(format!("the key data {why}")))?;
    let before = known(&call.server);
    let (mut changes, mut created, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for key in keys {
        call.caller.need(Resource::GpgKeys, "create", &key.id)?;
        if before.iter().any(|known| known.id == key.id) && !call.flag("upsert") {
            skipped.push(key.id);
            continue;
        }
        created.push(shown(&key, false));
        changes.push((key.id, Some(key.armored)));
    }
    if !changes.is_empty() {
        maps::write(&call.server, Keyring::CONFIG_MAP, changes).await?;
    }
    Ok(value!({"created": {"metadata": {}, "items": created}, "skipped": skipped}).into())
}

async fn delete(call: &Call) -> Answered {
    let id = id(call)?;
    let map = maps::get(&call.server, Keyring::CONFIG_MAP);
    let is_it = |text: &str| PublicKey::read(text).unwrap_or_default().iter().any(|key| key.id == id);
    let entries = maps::entries(&map);
    let gone: Vec<(String, Option<String>)> = entries
        .into_iter()
        .filter(|(name, text)| name.to_uppercase() == id || is_it(text))
        .map(|(name, _)| (name, None))
        .collect();
    if gone.is_empty() {
        return Err(missing(&id));
    }
    maps::write(&call.server, Keyring::CONFIG_MAP, gone).await?;
    Ok(value!({}).into())
}

/// The id of a key: the last sixteen digits, however many are given.
fn id(call: &Call) -> Result<String, Refusal> {
    let text = call.needed("keyID")?.to_uppercase();
    let is_id = text.len() >= 16 && text.len() <= 40 && text.chars().all(|c| c.is_ascii_hexdigit());
    match is_id {
        true => Ok(text[text.len() - 16..].to_owned()),
        false => Err(Refusal::invalid("KeyID is malformed or invalid")),
    }
}

fn missing(id: &str) -> Refusal {
    Refusal::not_found(format!("no such key: {id}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

    use super::*;
    use crate::stage::{ALL, Stage};
    use lynceus_object::json;
    use pgp::composed::{ArmorOptions, KeyType, SecretKeyParamsBuilder, SignedPublicKey};
    use rand::SeedableRng as _;

    /// A key that was made for the test.
    fn armored(number: u64) -> String {
        let mut key = SecretKeyParamsBuilder::default();
        key.key_type(KeyType::Ed25519Legacy).can_certify(true).can_sign(true);
        key.primary_user_id("Jane <jane@example.com>".to_owned());
        let secret = key.build().unwrap().generate(rand::rngs::StdRng::seed_from_u64(number)).unwrap();
        SignedPublicKey::from(secret).to_armored_string(ArmorOptions::default()).unwrap()
    }

    #[tokio::test]
    async fn a_key_is_added_listed_and_taken_away() {
        let stage = Stage::new().await;
        let ask = |rights: &'static str, method: &'static str, request: Value| {
            let stage = &stage;
            async move { stage.ask(rights, &format!("GPGKeyService.{method}"), request).await }
        };
        let request = value!({"publickey": {"keyData": armored(1)}});
        assert_eq!(
            ask("gpgkeys, get, *", "Create", request.clone()).await.unwrap_err().message,
            "permission denied"
        );
        let made = ask(ALL, "Create", request.clone()).await.unwrap();
        let key = &made.items_at(&["created", "items"])[0];
        assert_eq!(key.str_at(&["owner"]), Some("Jane <jane@example.com>"));
        let id = key.str_at(&["keyID"]).unwrap().to_owned();
        assert!(key.str_at(&["fingerprint"]).unwrap().ends_with(&id), "{}", json::to_string(key));
        // What is there already is left as it is.
        let again = ask(ALL, "Create", request).await.unwrap();
        assert_eq!(again.items_at(&["skipped"]), [Value::from(id.as_str())]);
        // The ring that signatures are checked with takes what was stored.
        let (ring, findings) = Keyring::read(&maps::get(&stage.server, Keyring::CONFIG_MAP));
        assert!(!ring.is_empty() && findings.is_empty());
        let got = ask("gpgkeys, get, *", "Get", value!({"keyID": id.as_str()})).await.unwrap();
        assert!(got.str_at(&["keyData"]).unwrap().starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----"));
        ask(ALL, "Delete", value!({"keyID": id})).await.unwrap();
        assert_eq!(ask(ALL, "List", value!({})).await.unwrap().items_at(&["items"]).len(), 0);
    }

    #[tokio::test]
    async fn what_is_no_key_is_refused_and_what_is_not_there_is_not_found() {
        let stage = Stage::new().await;
        let said = |method: &'static str, request: Value| {
            let stage = &stage;
            async move { stage.said(ALL, &format!("GPGKeyService.{method}"), request).await }
        };
        assert_eq!(said("List", value!({})).await, r#"{"items":[],"metadata":{}}"#);
        assert!(
            said("Create", value!({"publickey": {"keyData": "nonsense"}}))
                .await
                .starts_with("InvalidArgument: the key data")
        );
        assert_eq!(
            said("Get", value!({"keyID": "4AEE18F83AFDEB23"})).await,
            "NotFound: no such key: 4AEE18F83AFDEB23"
        );
        assert_eq!(
            said("Delete", value!({"keyID": "../x"})).await,
            "InvalidArgument: KeyID is malformed or invalid"
        );
    }
}
