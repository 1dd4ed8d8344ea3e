//! The secrets that webhooks are checked with, and the checks, which take as long whatever they find.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::labels;
use lynceus_object::{Object, ObjectKey};
use ring::hmac;

use crate::server::Server;
use crate::services::secrets;

/// The secrets of `argocd-secret`.
#[derive(Default)]
pub(super) struct Secrets {
    /// Those that are set, by their names.
    set: Vec<(&'static str, String)>,
}

/// All that can be set.
const NAMES: [&str; 8] = [
    "webhook.github.secret",
    "webhook.gitlab.secret",
    "webhook.gogs.secret",
    "webhook.bitbucket.uuid",
    "webhook.bitbucketserver.secret",
    "webhook.azuredevops.username",
    "webhook.azuredevops.password",
    "webhook.harbor.secret",
];

impl Secrets {
    /// As they are now.
    pub(super) fn of(server: &Server) -> Self {
        let get = |name: &str| {
            server.engine.home().cache().get(&ObjectKey::new("", "Secret", server.namespace(), name))
        };
        let Some(own) = get("argocd-secret") else { return Secrets::default() };
        let set = NAMES.into_iter().filter_map(|name| {
            let text = secrets::text(&own, name);
            (!text.is_empty()).then(|| (name, resolved(&own, &text, &get)))
        });
        Secrets { set: set.collect() }
    }

    #[cfg(test)]
    pub(super) fn given(set: &[(&'static str, &str)]) -> Self {
        Secrets { set: set.iter().map(|(name, text)| (*name, (*text).to_owned())).collect() }
    }

    /// A secret, if the operator has set it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.set.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }
}

/// A text that may stand in another place: `$key` of the same Secret, `$name:key` of another one of the installation.
fn resolved(own: &Object, text: &str, get: &dyn Fn(&str) -> Option<Object>) -> String {
    let Some(reference) = text.strip_prefix('$') else { return text.to_owned() };
    let found = match reference.split_once(':') {
        Some((name, key)) => {
            let other =
                get(name).filter(|other| other.label(labels::PART_OF) == Some(labels::PART_OF_ARGOCD));
            other.map(|other| secrets::text(&other, key)).unwrap_or_default()
        }
        None => secrets::text(own, reference),
    };
    if found.is_empty() { text.to_owned() } else { found }
}

/// Whether two texts are the same.
pub(super) fn same(given: &str, secret: &str) -> bool {
    // Tags of one length are compared, so that the time tells neither where two texts differ nor how long one is.
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"lynceus");
    hmac::verify(&key, given.as_bytes(), hmac::sign(&key, secret.as_bytes()).as_ref()).is_ok()
}

/// Whether a body was signed with a secret; the signature is in hexadecimal digits.
pub(super) fn signed(algorithm: hmac::Algorithm, secret: &str, body: &[u8], signature: &str) -> bool {
    let key = hmac::Key::new(algorithm, secret.as_bytes());
    bytes(signature.trim()).is_some_and(|tag| hmac::verify(&key, body, &tag).is_ok())
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    (digits.len().is_multiple_of(2) && digits.len() <= 128)
        .then(|| digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}

/// The user and the password of basic authentication.
pub(super) fn basic(header: &str) -> Option<(String, String)> {
    let encoded = header.strip_prefix("Basic ").or_else(|| header.strip_prefix("basic "))?;
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}
