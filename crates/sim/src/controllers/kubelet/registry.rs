//! The registry inside of an OpenShift: it has what the image streams of the cluster say.

use lynceus_object::{Object, Value};

use crate::controllers::world::World;
use crate::stage::Reference;
use crate::view::View as _;

/// The names that it has in the cluster.
const NAMES: [&str; 2] = [
    "image-registry.openshift-image-registry.svc:5000",
    "image-registry.openshift-image-registry.svc.cluster.local:5000",
];

/// Whether the cluster's own registry has an image, because it was built or imported.
pub(super) fn has(image: &Reference, world: &World<'_>) -> bool {
    let Some((namespace, name)) = image.path.split_once('/') else { return false };
    NAMES.contains(&image.host.as_str())
        && world
            .local
            .get("image.openshift.io", "imagestreams", namespace, name)
            .is_some_and(|stream| holds(&stream, image))
}

/// Whether an image stream has a tag, or under any tag a digest.
fn holds(stream: &Object, image: &Reference) -> bool {
    let items = |tag: &Value| tag.items_at(&["items"]).to_vec();
    let mut tags = stream.value().items_at(&["status", "tags"]).iter();
    match (&image.digest, image.tag.as_deref().unwrap_or("latest")) {
        (Some(digest), _) => {
            tags.any(|tag| items(tag).iter().any(|item| item.str_at(&["image"]) == Some(digest.as_str())))
        }
        (None, wanted) => tags.any(|tag| tag.str_at(&["tag"]) == Some(wanted) && !items(tag).is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::yaml;

    use super::*;

    #[test]
    fn a_stream_has_tags_and_digests() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let stream = format!(
            "status: {{tags: [{{tag: latest, items: [{{image: '{digest}'}}]}}, {{tag: v1, items: []}}]}}"
        );
        let stream = Object::new(yaml::parse_str(&stream).unwrap()).unwrap();
        for (image, wanted) in [
            ("example.com/shop/web", true),
            ("example.com/shop/web:latest", true),
            ("example.com/shop/web:v1", false),
            ("example.com/shop/web:v2", false),
            (&format!("example.com/shop/web@{digest}"), true),
            (&format!("example.com/shop/web@sha256:{}", "b".repeat(64)), false),
        ] {
            assert_eq!(holds(&stream, &Reference::parse(image).unwrap()), wanted, "{image}");
        }
    }
}
