//! The Secrets that repositories, credentials and clusters are kept in, as Argo CD keeps them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::{annotations, labels};
use lynceus_object::{GroupKind, Gvk, Object, Value, value};

use crate::refusal::{Code, Refusal};
use crate::server::Server;

/// The Secrets of a type in the installation's namespace, in the order of their names.
pub(super) fn of_type(server: &Server, kind: &str) -> Vec<Object> {
    let secrets = server.engine.home().cache().of_kind(&GroupKind::new("", "Secret"));
    let is_one = |secret: &Object| {
        secret.namespace() == server.namespace() && secret.label(labels::SECRET_TYPE) == Some(kind)
    };
    secrets.into_iter().filter(is_one).collect()
}

/// A Secret that is not stored yet.
pub(super) fn new(server: &Server, name: &str, kind: &str) -> Object {
    let mut secret = Object::named(&Gvk::new("", "v1", "Secret"), server.namespace(), name);
    secret.set(&["metadata", "labels"], value!({labels::SECRET_TYPE: kind}));
    secret
        .set(&["metadata", "annotations"], value!({annotations::MANAGED_BY: annotations::MANAGED_BY_ARGOCD}));
    secret.set(&["type"], "Opaque");
    secret
}

/// One entry as text; empty if it is not there or is no text.
pub(crate) fn text(secret: &Object, field: &str) -> String {
    if let Some(text) = secret.value().str_at(&["stringData", field]) {
        return text.to_owned();
    }
    let encoded = secret.value().str_at(&["data", field]).unwrap_or_default();
    STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Sets an entry; an empty one is taken out.
pub(super) fn set(secret: &mut Object, field: &str, text: &str) {
    match text.is_empty() {
        true => drop(secret.remove(&["data", field])),
        false => secret.set(&["data", field], STANDARD.encode(text)),
    }
}

/// Stores one that is new.
pub(super) async fn create(server: &Server, secret: &Object) -> Result<Object, Refusal> {
    server.engine.home().create_record(secret).await.map_err(|error| {
        let taken = error.refusal().is_some_and(|refusal| refusal.reason == "AlreadyExists");
        match () {
            () if taken => {
                Refusal::new(Code::AlreadyExists, format!("Secret {} exists already", secret.name()))
            }
            // What is made anew cannot be gone, but what it is made in can.
            () if error.is_not_found() => {
                let what =
                    format!("the Secret cannot be stored: there is no namespace {}", secret.namespace());
                Refusal::new(Code::FailedPrecondition, what)
            }
            () => failed(&error),
        }
    })
}

/// Stores one as it should be now.
pub(super) async fn replace(server: &Server, secret: &Object) -> Result<Object, Refusal> {
    server.engine.home().replace_record(secret).await.map_err(|error| failed(&error))
}

/// Takes one away. One that somebody else made is left to them: it only stops being ours to read.
pub(super) async fn remove(server: &Server, secret: &Object) -> Result<(), Refusal> {
    if secret.annotation(annotations::MANAGED_BY) == Some(annotations::MANAGED_BY_ARGOCD) {
        return server.engine.home().delete_record(secret).await.map_err(|error| failed(&error));
    }
    let mut left = secret.clone();
    left.remove(&["metadata", "labels", labels::SECRET_TYPE]);
    replace(server, &left).await.map(drop)
}

/// What the API server says of a Secret could quote it, so only the sort of failure is passed on.
fn failed(error: &lynceus_cluster::ClusterError) -> Refusal {
    let (code, why) = match () {
        () if error.is_conflict() => (Code::Aborted, "somebody else has changed it meanwhile; try again"),
        () if error.is_not_found() => (Code::NotFound, "it is gone"),
        () if error.is_forbidden() => (Code::FailedPrecondition, "the cluster does not allow us to write it"),
        () if error.is_invalid() => (Code::InvalidArgument, "the cluster takes it for invalid"),
        () if error.is_too_large() => (Code::ResourceExhausted, "it is too large"),
        () if error.is_unreachable() => (Code::Unavailable, "the cluster cannot be reached"),
        () => (Code::Internal, "the cluster has refused it"),
    };
    Refusal::new(code, format!("the Secret cannot be stored: {why}"))
}

/// The number at the end of a Secret's name: FNV-1a over what it is about, in 32 bits.
pub(super) fn number(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Reads a field of a message as the text that a Secret holds for it; empty where it is not set.
pub(super) fn as_text(value: Option<&Value>) -> String {
    match value {
        Some(Value::Str(text)) => text.to_string(),
        Some(Value::Bool(true)) => "true".to_owned(),
        Some(Value::Int(number)) if *number != 0 => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_the_number_that_argo_cd_gives() {
        // The published test vectors of FNV-1a.
        assert_eq!(number(&[""]), 0x811c_9dc5);
        assert_eq!(number(&["foo", "bar"]), 0xbf9c_f968);
    }
}
