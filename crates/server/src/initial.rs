//! The password that the administrator has at first, which Argo CD keeps in a Secret of its own until somebody deletes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_engine::Engine;
use lynceus_object::Gvk;

/// The Secret's name.
pub(crate) const SECRET: &str = "argocd-initial-admin-secret";

/// The password, if it is still kept.
pub async fn initial_password(engine: &Engine) -> Option<String> {
    let namespace = &engine.options().namespace;
    let secret = engine.home().get(&Gvk::new("", "v1", "Secret"), namespace, SECRET).await.ok()??;
    let bytes = STANDARD.decode(secret.value().str_at(&["data", "password"])?).ok()?;
    String::from_utf8(bytes).ok()
}
