//! What is told of a key that signatures are checked with. Whether it may sign is found out where it is used.

use pgp::composed::{ArmorOptions, Deserializable as _, SignedPublicKey};
use pgp::types::KeyDetails as _;

use crate::limits::MAX_KEY_BYTES;

/// A public key, as people know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// The last sixteen digits of its fingerprint.
    pub id: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Whose it says it is: the first user id.
    pub owner: String,
    /// Its algorithm.
    pub algorithm: String,
    /// The key in ASCII armour.
    pub armored: String,
}

impl PublicKey {
    /// Reads the keys of a text in ASCII armour, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        if text.len() > MAX_KEY_BYTES {
            return Err(format!("has more than {MAX_KEY_BYTES} bytes"));
        }
        let unreadable = |error: pgp::errors::Error| format!("is no public key that can be read: {error}");
        let (keys, _) = SignedPublicKey::from_string_many(text).map_err(unreadable)?;
        let mut found = Vec::new();
        for key in keys {
            let key = key.map_err(unreadable)?;
            let owner =
                key.details.users.first().map(|user| String::from_utf8_lossy(user.id.id()).into_owned());
            found.push(PublicKey {
                id: key.primary_key.legacy_key_id().to_string().to_uppercase(),
                fingerprint: key.primary_key.fingerprint().to_string().to_uppercase(),
                owner: owner.unwrap_or_default(),
                algorithm: format!("{:?}", key.primary_key.algorithm()).to_lowercase(),
                armored: key.to_armored_string(ArmorOptions::default()).map_err(unreadable)?,
            });
        }
        match found.is_empty() {
            true => Err("holds no public key".to_owned()),
            false => Ok(found),
        }
    }
}
