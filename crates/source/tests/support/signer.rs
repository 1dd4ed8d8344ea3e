//! Somebody who signs, with a key made for the test.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "not every test needs all of it, and one that cannot go on has to stop"
)]

use pgp::composed::{ArmorOptions, DetachedSignature, EncryptionCaps, KeyType, SecretKeyParamsBuilder};
use pgp::composed::{SignedPublicKey, SignedSecretKey, SubkeyParamsBuilder};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{KeyFlags, SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::types::{Duration, KeyDetails as _, Password, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// Somebody who signs.
pub(crate) struct Signer {
    secret: SignedSecretKey,
    random: StdRng,
}

impl Signer {
    /// A key that certifies and signs, and a subkey that signs. The same number makes the same key.
    pub(crate) fn new(number: u64) -> Self {
        let mut random = StdRng::seed_from_u64(number);
        let mut subkey = SubkeyParamsBuilder::default();
        subkey.key_type(KeyType::Ed25519Legacy).can_sign(true).can_encrypt(EncryptionCaps::None);
        let mut key = SecretKeyParamsBuilder::default();
        key.key_type(KeyType::Ed25519Legacy).can_certify(true).can_sign(true);
        key.primary_user_id("Jane <jane@example.com>".to_owned()).subkey(subkey.build().unwrap());
        let secret = key.build().unwrap().generate(&mut random).unwrap();
        Signer { secret, random }
    }

    /// The id of the key.
    pub(crate) fn id(&self) -> String {
        self.secret.primary_key.legacy_key_id().to_string().to_uppercase()
    }

    /// The id of the subkey.
    pub(crate) fn subkey_id(&self) -> String {
        self.secret.secret_subkeys[0].key.legacy_key_id().to_string().to_uppercase()
    }

    /// The key as others have it.
    pub(crate) fn public(&self) -> String {
        SignedPublicKey::from(self.secret.clone()).to_armored_string(ArmorOptions::default()).unwrap()
    }

    /// The signature of some bytes, as it stands in a commit.
    pub(crate) fn sign(&mut self, data: &[u8]) -> String {
        let key = &self.secret.primary_key;
        let made = DetachedSignature::sign_binary_data(
            &mut self.random,
            key,
            &Password::empty(),
            HashAlgorithm::Sha256,
            data,
        );
        made.unwrap().to_armored_string(ArmorOptions::default()).unwrap()
    }

    /// The same by the subkey.
    pub(crate) fn sign_by_subkey(&mut self, data: &[u8]) -> String {
        let key = &self.secret.secret_subkeys[0].key;
        let made = DetachedSignature::sign_binary_data(
            &mut self.random,
            key,
            &Password::empty(),
            HashAlgorithm::Sha256,
            data,
        );
        made.unwrap().to_armored_string(ArmorOptions::default()).unwrap()
    }

    /// Takes the key back.
    pub(crate) fn revoke(&mut self) {
        let signature = self.of_itself(SignatureType::KeyRevocation, Vec::new());
        self.secret.details.revocation_signatures.push(signature);
    }

    /// Lets the key end a second after it was made.
    pub(crate) fn expire(&mut self) {
        let mut flags = KeyFlags::default();
        flags.set_sign(true);
        let more = vec![
            Subpacket::regular(SubpacketData::KeyExpirationTime(Duration::from_secs(1))).unwrap(),
            Subpacket::regular(SubpacketData::KeyFlags(flags)).unwrap(),
        ];
        let signature = self.of_itself(SignatureType::Key, more);
        self.secret.details.direct_signatures.push(signature);
    }

    fn of_itself(&mut self, kind: SignatureType, more: Vec<Subpacket>) -> pgp::packet::Signature {
        let key = &self.secret.primary_key;
        let mut config = SignatureConfig::from_key(&mut self.random, key, kind).unwrap();
        let later = Timestamp::from_secs(Timestamp::now().as_secs() + 60);
        config.hashed_subpackets = vec![
            Subpacket::regular(SubpacketData::SignatureCreationTime(later)).unwrap(),
            Subpacket::regular(SubpacketData::IssuerFingerprint(key.fingerprint())).unwrap(),
        ];
        config.hashed_subpackets.extend(more);
        config.sign_key(key, &Password::empty(), key.public_key()).unwrap()
    }
}
