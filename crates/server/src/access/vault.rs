//! The ConfigMaps and Secrets of the installation that say who people are, and how they are changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_cluster::{Cluster, ClusterError, Trial};
use lynceus_object::{Gvk, Map, Object, ObjectKey, Str, Value, value};
use tracing::warn;

use crate::limits;
use crate::refusal::{Code, Refusal};

/// The ConfigMap of settings.
pub(crate) const SETTINGS: &str = "argocd-cm";
/// The ConfigMap of policies.
pub(crate) const RBAC: &str = "argocd-rbac-cm";
/// The Secret of passwords and keys.
pub(crate) const SECRET: &str = "argocd-secret";

/// The installation's own ConfigMaps and Secrets.
#[derive(Clone)]
pub(crate) struct Vault {
    home: Arc<Cluster>,
    namespace: String,
}

/// What is to become of the keys of a Secret: a value, or nothing.
pub(crate) type Changes = BTreeMap<String, Option<Vec<u8>>>;

impl Vault {
    pub(crate) fn new(home: Arc<Cluster>, namespace: &str) -> Self {
        Vault { home, namespace: namespace.to_owned() }
    }

    /// The namespace that they are in.
    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// A ConfigMap; none if there is none.
    pub(crate) async fn map(&self, name: &str) -> Result<Option<Object>, Refusal> {
        self.one("ConfigMap", name).await
    }

    /// A Secret; none if there is none.
    pub(crate) async fn secret(&self, name: &str) -> Result<Option<Object>, Refusal> {
        self.one("Secret", name).await
    }

    /// From the cache, or from the server while the cache is not read.
    async fn one(&self, kind: &str, name: &str) -> Result<Option<Object>, Refusal> {
        let key = ObjectKey::new("", kind, &self.namespace, name);
        let gvk = Gvk::new("", "v1", kind);
        self.home.live(&key, &gvk).await.map_err(|error| unavailable(name, &error))
    }

    /// Changes a Secret by what it says now, and makes it if there is none. Whoever else changes it at the same time is not
    /// written over: then the change is worked out anew from what they made of it.
    pub(crate) async fn amend<T>(
        &self,
        name: &str,
        mut change: impl FnMut(&Object) -> Result<(Changes, T), Refusal>,
    ) -> Result<T, Refusal> {
        let gvk = Gvk::new("", "v1", "Secret");
        for _ in 0..limits::AMENDMENTS {
            let found = self.home.get(&gvk, &self.namespace, name).await;
            let found = found.map_err(|error| unavailable(name, &error))?;
            let (changes, outcome) = change(&found.clone().unwrap_or_default())?;
            if changes.is_empty() {
                return Ok(outcome);
            }
            let data: Map =
                changes.into_iter().map(|(key, value)| (Str::from(key), encoded(value))).collect();
            let written = match found {
                Some(live) => {
                    let patch = value!({"metadata": {"resourceVersion": live.resource_version()}, "data": Value::Map(data)});
                    self.home.patch_record(&gvk, &self.namespace, name, &patch).await
                }
                // What was written has to be known at once: whoever has just logged out may ask again.
                None => self.home.create(&self.made(&gvk, name, data), Trial::No).await,
            };
            match written {
                Ok(_) => return Ok(outcome),
                Err(error) if is_raced(&error) => {}
                Err(error) => return Err(unavailable(name, &error)),
            }
        }
        Err(Refusal::new(Code::Aborted, "others change the same all the time; try again"))
    }

    fn made(&self, gvk: &Gvk, name: &str, data: Map) -> Object {
        let mut secret = Object::named(gvk, &self.namespace, name);
        secret.set_label("app.kubernetes.io/name", name);
        // Argo CD looks at no Secret without it.
        secret.set_label("app.kubernetes.io/part-of", "argocd");
        secret.set(&["type"], "Opaque");
        let data: Map = data.into_iter().filter(|(_, value)| !value.is_null()).collect();
        secret.set(&["data"], Value::Map(data));
        secret
    }
}

fn encoded(value: Option<Vec<u8>>) -> Value {
    value.map_or(Value::Null, |value| STANDARD.encode(value).into())
}

fn is_raced(error: &ClusterError) -> bool {
    error.is_conflict() || error.refusal().is_some_and(|refusal| refusal.reason == "AlreadyExists")
}

/// What the cluster said is for the log: a caller may be anybody.
fn unavailable(name: &str, error: &ClusterError) -> Refusal {
    warn!(name, error = lynceus_engine::words(error), "a record of the installation cannot be used");
    Refusal::new(Code::Unavailable, "the settings cannot be read or written now")
}

/// A text of a ConfigMap.
pub(crate) fn setting<'o>(map: Option<&'o Object>, key: &str) -> &'o str {
    map.and_then(|map| map.value().str_at(&["data", key])).unwrap_or_default()
}

/// A value of a Secret.
pub(crate) fn bytes(secret: &Object, key: &str) -> Option<Vec<u8>> {
    STANDARD.decode(secret.value().str_at(&["data", key])?).ok()
}

/// A text of a Secret; empty if there is none.
pub(crate) fn text(secret: &Object, key: &str) -> String {
    bytes(secret, key).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}
