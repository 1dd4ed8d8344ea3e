//! The hash of a ConfigMap or a Secret that its name ends with.

use lynceus_object::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::KustomizeError;
use crate::resource::Resource;
use crate::resources::Resources;

/// Ends the names of resources that want it with a hash of what is in them.
pub(crate) fn add_hashes(
    resources: &mut Resources,
    is_cluster_scoped: &dyn Fn(&crate::id::Kind) -> bool,
) -> Result<(), KustomizeError> {
    for resource in resources.list.iter_mut().filter(|resource| resource.needs_hash) {
        let name = format!("{}-{}", resource.name(), hash(resource)?);
        resource.remember_id(is_cluster_scoped(&resource.kind()));
        resource.value.set(&["metadata", "name"], name);
    }
    Ok(())
}

/// The hash of a resource's content; names are not part of it.
pub(crate) fn hash(resource: &Resource) -> Result<String, KustomizeError> {
    let (fields, optional): (&[&str], &str) = match resource.kind_name() {
        "ConfigMap" => (&["data"], "binaryData"),
        "Secret" => (&["data", "type"], "stringData"),
        other => {
            return Err(KustomizeError::new(format!("the content of a {other} cannot be hashed"))
                .hint("only a ConfigMap or a Secret may have a hash in its name"));
        }
    };
    let nothing = Value::from("");
    let field =
        |name: &str| resource.value.get(name).filter(|value| !value.is_null()).unwrap_or(&nothing).clone();
    let mut content = Map::new();
    content.insert("kind", resource.kind_name());
    // Kustomize means to hash the name too, but looks for it in the wrong place.
    content.insert("name", "");
    for name in fields {
        content.insert(*name, field(name));
    }
    if let map @ Value::Map(_) = field(optional) {
        content.insert(optional, map);
    }
    Ok(encoded(json::go_string(&Value::Map(content)).as_bytes()))
}

/// The first ten digits of a hash, without the letters that could make a word.
fn encoded(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    let digits = digest.iter().take(5).flat_map(|byte| [byte >> 4, byte & 0xf]);
    const LETTERS: &[u8; 16] = b"gh2k456789mbcdtf";
    digits.map(|digit| char::from(LETTERS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn check(value: Value, expected: &str) {
        assert_eq!(hash(&Resource::new(value)).unwrap(), expected);
    }

    #[test]
    fn the_content_is_hashed_and_the_name_is_not() {
        check(value!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}), "hmg6f82fh6");
        check(value!({"kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"x": "1"}}), "hmg6f82fh6");
        check(value!({"kind": "ConfigMap", "data": {"x": "<a>&b\u{2028}"}}), "mbf4kc94kk");
        check(value!({"kind": "ConfigMap"}), "6ct58987ht");
        check(value!({"kind": "Secret", "type": "Opaque", "data": {}}), "46f8b28mk5");
    }
}
