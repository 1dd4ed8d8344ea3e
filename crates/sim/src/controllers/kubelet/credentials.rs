//! Whether a pod may pull an image: the pull secrets that it names.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::Glob;
use lynceus_object::{Object, Value, json};

use crate::controllers::kind::SECRET;
use crate::controllers::world::World;
use crate::stage::Reference;

/// What came of looking for a pod's pull secrets. Those of its service account stand in the pod already.
pub(super) struct Secrets {
    /// Whether one of them is for the registry.
    pub(super) fits: bool,
    /// Those that are not there.
    pub(super) missing: Vec<String>,
}

/// Looks through a pod's pull secrets for one that is for an image's registry.
pub(super) fn find(pod: &Object, image: &Reference, world: &World<'_>) -> Secrets {
    let mut secrets = Secrets { fits: false, missing: Vec::new() };
    for named in pod.value().items_at(&["spec", "imagePullSecrets"]) {
        let name = named.str_at(&["name"]).unwrap_or_default();
        match world.get(SECRET, pod.namespace(), name) {
            Some(secret) => secrets.fits |= servers(&secret).iter().any(|server| is_for(server, image)),
            None => secrets.missing.push(name.to_owned()),
        }
    }
    secrets
}

/// The registries that a secret has credentials for.
fn servers(secret: &Object) -> Vec<String> {
    let read = |key: &str| {
        let text = secret.value().str_at(&["data", key])?;
        json::parse(&STANDARD.decode(text).ok()?).ok()
    };
    let found: Option<Value> = match secret.value().str_at(&["type"]) {
        Some("kubernetes.io/dockerconfigjson") => {
            read(".dockerconfigjson").and_then(|config| config.get("auths").cloned())
        }
        Some("kubernetes.io/dockercfg") => read(".dockercfg"),
        _ => None,
    };
    let keys =
        found.as_ref().and_then(Value::as_map).map(|map| map.keys().map(ToString::to_string).collect());
    keys.unwrap_or_default()
}

/// Whether an entry, `https://index.docker.io/v1/` or `registry.example.com/team`, is for an image.
fn is_for(server: &str, image: &Reference) -> bool {
    let server = server.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    let (host, path) = server.split_once('/').unwrap_or((server, ""));
    let host = if host == "index.docker.io" { "docker.io" } else { host };
    let path = if matches!(path, "v1" | "v2") { "" } else { path };
    Glob::new(host).is_ok_and(|host| host.matches(&image.host)) && image.path.starts_with(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_for_a_registry_or_a_part_of_it() {
        for (server, image, wanted) in [
            ("registry.example.com", "registry.example.com/team/app", true),
            ("https://registry.example.com/v2/", "registry.example.com/team/app", true),
            ("*.example.com", "registry.example.com/team/app", true),
            ("registry.example.com/team", "registry.example.com/team/app", true),
            ("registry.example.com/other", "registry.example.com/team/app", false),
            ("registry.example.com:5000", "registry.example.com/team/app", false),
            ("https://index.docker.io/v1/", "nginx", true),
            ("quay.io", "nginx", false),
        ] {
            assert_eq!(is_for(server, &Reference::parse(image).unwrap()), wanted, "{server} {image}");
        }
    }

    #[test]
    fn only_secrets_for_registries_count() {
        let mut secret = SECRET.named("shop", "pull");
        secret
            .set(&["data", ".dockerconfigjson"], STANDARD.encode(r#"{"auths":{"quay.io":{"auth":"eA=="}}}"#));
        assert!(servers(&secret).is_empty());
        secret.set(&["type"], "kubernetes.io/dockerconfigjson");
        assert_eq!(servers(&secret), ["quay.io"]);
    }
}
