//! The keys that signatures are checked with, and the check.

use jiff::Timestamp;
use lynceus_files::Diagnostic;
use lynceus_object::{Object, Value};
use pgp::composed::{Deserializable as _, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::packet::{PublicKey, PublicSubkey, Signature, SignatureType};
use pgp::types::{Fingerprint, KeyDetails, KeyId, Tag};
use sha2::{Digest as _, Sha256};

use super::{Check, Verdict};
use crate::limits::MAX_SIGNATURE_BYTES;

/// The keys that are trusted: `argocd-gpg-keys-cm`.
///
/// What a key says of itself is checked when it is read: whether it may sign, when it ends, whether it was revoked.
#[derive(Clone, Debug, Default)]
pub struct Keyring {
    signers: Vec<Signer>,
    digest: [u8; 32],
}

/// A key that may sign.
#[derive(Clone, Debug)]
struct Signer {
    key: Key,
    primary: KeyId,
    /// When it ends, in seconds since 1970.
    expires: Option<i64>,
    revoked: bool,
}

#[derive(Clone, Debug)]
enum Key {
    Primary(Box<PublicKey>),
    Sub(Box<PublicSubkey>),
}

impl Keyring {
    /// The ConfigMap with the keys, each under its id.
    pub const CONFIG_MAP: &'static str = "argocd-gpg-keys-cm";

    /// Reads the ConfigMap. A key that cannot be used is told of and left out.
    pub fn read(map: &Object) -> (Self, Vec<Diagnostic>) {
        let mut ring = Keyring::default();
        let mut findings = Vec::new();
        let mut digest = Sha256::new();
        let data = map.at(&["data"]).and_then(Value::as_map).into_iter().flat_map(|data| data.iter());
        for (name, text) in data {
            let text = text.as_str().unwrap_or_default();
            digest.update(text);
            match signers(name, text) {
                Ok(signers) => ring.signers.extend(signers),
                Err(why) => findings.push(
                    Diagnostic::warning(format!("{} has {name}, which {why}", Keyring::CONFIG_MAP))
                        .hint(format!("put there what `gpg --armor --export {name}` prints")),
                ),
            }
        }
        ring.digest = digest.finalize().into();
        (ring, findings)
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.signers.is_empty()
    }

    /// What tells these keys from others.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Checks a signature as it stands in a commit or tag.
    pub(crate) fn check(&self, signature: &[u8], signed: &[u8], now: Timestamp) -> Check {
        if !signature.trim_ascii_start().starts_with(b"-----BEGIN PGP") {
            return Check::without_key(Verdict::Foreign);
        }
        let Some(signature) = read(signature) else { return Check::without_key(Verdict::Bad) };
        let issuers = (signature.issuer_fingerprint(), signature.issuer_key_id());
        let Some(signer) = self.signers.iter().find(|signer| signer.is_one_of(&issuers)) else {
            let named = issuers.1.first().map(|id| id.to_string()).or_else(|| {
                let digits = issuers.0.first()?.to_string();
                digits.len().checked_sub(16).map(|start| digits[start..].to_owned())
            });
            let key = named.unwrap_or_default().to_uppercase();
            return Check { verdict: Verdict::MissingKey, primary: key.clone(), key };
        };
        Check {
            verdict: signer.verdict(&signature, signed, now),
            key: digits(&signer.id()),
            primary: digits(&signer.primary),
        }
    }
}

impl Signer {
    fn is_one_of(&self, (fingerprints, ids): &(Vec<&Fingerprint>, Vec<&KeyId>)) -> bool {
        match fingerprints.is_empty() {
            // The whole fingerprint where there is one: ids can be made to be alike.
            false => fingerprints.contains(&&self.fingerprint()),
            true => ids.contains(&&self.id()),
        }
    }

    fn verdict(&self, signature: &Signature, signed: &[u8], now: Timestamp) -> Verdict {
        let verified = match &self.key {
            Key::Primary(key) => signature.verify(&**key, signed),
            Key::Sub(key) => signature.verify(&**key, signed),
        };
        let made = signature.created().map(|at| i64::from(at.as_secs())).unwrap_or_default();
        let ends = signature.signature_expiration_time().filter(|time| time.as_secs() > 0);
        let now = now.as_second();
        match () {
            () if verified.is_err() => Verdict::Bad,
            () if ends.is_some_and(|time| made + i64::from(time.as_secs()) < now) => Verdict::Expired,
            () if self.expires.is_some_and(|expires| expires < now) => Verdict::ExpiredKey,
            () if self.revoked => Verdict::RevokedKey,
            () => Verdict::Good,
        }
    }

    fn id(&self) -> KeyId {
        match &self.key {
            Key::Primary(key) => key.legacy_key_id(),
            Key::Sub(key) => key.legacy_key_id(),
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        match &self.key {
            Key::Primary(key) => key.fingerprint(),
            Key::Sub(key) => key.fingerprint(),
        }
    }
}

/// The one signature of a block.
fn read(text: &[u8]) -> Option<Signature> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= MAX_SIGNATURE_BYTES)?;
    let (mut found, _) = DetachedSignature::from_string_many(text).ok()?;
    let first = found.next()?.ok()?.signature;
    // Of two nobody could say which counts.
    let is_of_data = matches!(first.typ(), Some(SignatureType::Binary | SignatureType::Text));
    (found.next().is_none() && is_of_data).then_some(first)
}

/// The keys of an entry that may sign.
fn signers(name: &str, text: &str) -> Result<Vec<Signer>, String> {
    let unreadable = |error: pgp::errors::Error| format!("is no public key that can be read: {error}");
    let (keys, _) = SignedPublicKey::from_string_many(text).map_err(unreadable)?;
    let keys: Vec<SignedPublicKey> = keys.collect::<Result<_, _>>().map_err(unreadable)?;
    let id = |key: &SignedPublicKey| digits(&key.primary_key.legacy_key_id());
    if !keys.iter().any(|key| name.to_uppercase().ends_with(&id(key))) {
        let ids: Vec<String> = keys.iter().map(id).collect();
        return Err(format!("is not the key of that id but {}", ids.join(", ")));
    }
    let found: Vec<Signer> = keys.iter().flat_map(of_certificate).collect();
    if found.is_empty() {
        return Err("may not sign, or has no valid signature of its own".to_owned());
    }
    Ok(found)
}

/// The primary key and the subkeys of a certificate, those that may sign.
fn of_certificate(certificate: &SignedPublicKey) -> Vec<Signer> {
    let primary = &certificate.primary_key;
    let Some(own) = newest(self_signatures(certificate)) else { return Vec::new() };
    let revoked = certificate.details.revocation_signatures.iter().any(|one| one.verify_key(primary).is_ok());
    let expires = expiry(primary, own);
    let mut signers = Vec::new();
    if may_sign(own) {
        let key = Key::Primary(Box::new(primary.clone()));
        signers.push(Signer { key, primary: primary.legacy_key_id(), expires, revoked });
    }
    for subkey in &certificate.public_subkeys {
        let Some((binding, subkey_revoked)) = bound(subkey, primary) else { continue };
        let own_end = expiry(&subkey.key, binding);
        signers.push(Signer {
            key: Key::Sub(Box::new(subkey.key.clone())),
            primary: primary.legacy_key_id(),
            expires: own_end.into_iter().chain(expires).min(),
            revoked: revoked || subkey_revoked,
        });
    }
    signers
}

/// What a primary key says of itself, where it is true.
fn self_signatures(certificate: &SignedPublicKey) -> Vec<&Signature> {
    let primary = &certificate.primary_key;
    let direct = certificate.details.direct_signatures.iter().filter(|one| one.verify_key(primary).is_ok());
    let users = certificate.details.users.iter().flat_map(|user| {
        let of_user = user.signatures.iter().filter(|one| one.typ() != Some(SignatureType::CertRevocation));
        of_user.filter(|one| one.verify_certification(primary, Tag::UserId, &user.id).is_ok())
    });
    direct.chain(users).collect()
}

/// What binds a subkey that may sign to its primary key, and whether it was revoked. The subkey has to say so as well, or
/// anybody could take another's key for their own.
fn bound<'a>(subkey: &'a SignedPublicSubKey, primary: &PublicKey) -> Option<(&'a Signature, bool)> {
    let valid =
        || subkey.signatures.iter().filter(|one| one.verify_subkey_binding(primary, &subkey.key).is_ok());
    let of = |kind| valid().filter(|one| one.typ() == Some(kind)).collect::<Vec<_>>();
    let binding = newest(of(SignatureType::SubkeyBinding))?;
    let agreed = binding.embedded_signature()?.verify_primary_key_binding(&subkey.key, primary);
    let signs = binding.key_flags().sign() && agreed.is_ok();
    signs.then(|| (binding, !of(SignatureType::SubkeyRevocation).is_empty()))
}

fn newest(signatures: Vec<&Signature>) -> Option<&Signature> {
    signatures.into_iter().max_by_key(|one| one.created().map(|at| at.as_secs()))
}

/// Old keys do not say what they may do.
fn may_sign(own: &Signature) -> bool {
    let flags = own.key_flags();
    flags.sign()
        || !(flags.certify() || flags.encrypt_comms() || flags.encrypt_storage() || flags.authentication())
}

fn expiry(key: &impl KeyDetails, own: &Signature) -> Option<i64> {
    let lasts = own.key_expiration_time().filter(|time| time.as_secs() > 0)?;
    Some(i64::from(key.created_at().as_secs()) + i64::from(lasts.as_secs()))
}

fn digits(id: &KeyId) -> String {
    id.to_string().to_uppercase()
}
