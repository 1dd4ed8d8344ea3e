//! An artifact in a registry, as an Application's source.

use super::manifest::Manifest;

/// What a tag, digest or range of a registry stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What was asked for.
    pub asked: String,
    /// The tag that was found, with `+` where the registry has `_`; the digest if that was asked for.
    pub tag: String,
    /// The digest of the manifest: this is the revision.
    pub digest: String,
    /// What the publisher says of it, in the order of the keys.
    pub annotations: Vec<(String, String)>,
}

impl Artifact {
    pub(super) fn new(asked: &str, tag: &str, manifest: &Manifest) -> Self {
        let mut annotations = manifest.annotations.clone();
        annotations.sort_unstable();
        Artifact {
            asked: asked.to_owned(),
            tag: tag.replace('_', "+"),
            digest: manifest.digest.clone(),
            annotations,
        }
    }
}
