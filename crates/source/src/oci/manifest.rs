//! What a tag stands for: a list of blobs, or a list of such lists.

use lynceus_object::{Value, json};

use crate::digest::is_digest;
use crate::limits::MAX_OFFERED_MANIFESTS;

/// The configuration of a chart.
pub(super) const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
/// The archive of a chart.
pub(super) const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
/// The archive of a chart as the first Helm with registries pushed it.
pub(super) const LEGACY_CHART_LAYER: &str = "application/tar+gzip";

/// The kinds of manifest that are read.
pub(super) const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json";

/// A manifest, its digest checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) digest: String,
    pub(super) config: String,
    pub(super) layers: Vec<Blob>,
    /// If it is an index: the manifests that it offers.
    pub(super) offered: Vec<Blob>,
    pub(super) annotations: Vec<(String, String)>,
}

/// Bytes in a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
}

impl Manifest {
    /// Reads a manifest.
    pub(super) fn read(digest: String, text: &[u8]) -> Result<Self, String> {
        let value = json::parse(text).map_err(|error| format!("a manifest cannot be read: {error}"))?;
        if value.as_map().is_none() {
            return Err("a manifest is not a map".to_owned());
        }
        let blobs = |key: &str| {
            let list = value.get(key).and_then(Value::as_seq).unwrap_or_default();
            list.iter().map(Blob::read).collect::<Result<Vec<_>, _>>()
        };
        let offered = blobs("manifests")?;
        if offered.len() > MAX_OFFERED_MANIFESTS {
            return Err(format!("an index offers more than {MAX_OFFERED_MANIFESTS} manifests"));
        }
        let annotations =
            value.get("annotations").and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        Ok(Manifest {
            digest,
            config: value.str_at(&["config", "mediaType"]).unwrap_or_default().to_owned(),
            layers: blobs("layers")?,
            offered,
            annotations: annotations
                .filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned())))
                .collect(),
        })
    }

    /// Whether it describes a chart.
    pub(super) fn is_chart(&self) -> bool {
        self.config == CHART_CONFIG
    }

    /// The archive of a chart.
    pub(super) fn chart(&self) -> Result<&Blob, String> {
        if !self.is_chart() {
            return Err(format!("it holds no chart but {:?}", self.config));
        }
        // The last one counts, as in Helm.
        let layer = self
            .layers
            .iter()
            .rev()
            .find(|layer| matches!(layer.media_type.as_str(), CHART_LAYER | LEGACY_CHART_LAYER));
        layer.ok_or_else(|| "the chart has no layer with an archive".to_owned())
    }

    /// An annotation.
    pub(super) fn annotation(&self, key: &str) -> &str {
        self.annotations.iter().find(|(own, _)| own == key).map_or("", |(_, value)| value)
    }
}

impl Blob {
    fn read(value: &Value) -> Result<Self, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let digest = text("digest");
        if !is_digest(&digest) {
            return Err(format!(
                "a manifest has the digest {:?}, which is none",
                digest.chars().take(200).collect::<String>()
            ));
        }
        let size = value.get("size").and_then(Value::as_int).and_then(|size| u64::try_from(size).ok());
        let size = size.ok_or("a manifest has a blob without a size")?;
        Ok(Blob { media_type: text("mediaType"), digest, size })
    }
}
