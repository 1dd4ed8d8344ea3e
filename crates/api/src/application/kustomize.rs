//! How a kustomization is built.

use std::collections::BTreeMap;

use lynceus_object::Str;

use crate::scalar::IntOrString;
use crate::wire::wire;

wire! {
    /// What is changed in a kustomization before it is built.
    pub struct ApplicationSourceKustomize {
        /// Goes before every name.
        optional name_prefix: Str = "namePrefix",
        /// Goes behind every name.
        optional name_suffix: Str = "nameSuffix",
        /// Image overrides, as `name=newName:tag`.
        optional images: Vec<Str> = "images",
        /// Labels for every object.
        optional common_labels: BTreeMap<Str, Str> = "commonLabels",
        /// The version of Kustomize.
        optional version: Str = "version",
        /// Annotations for every object.
        optional common_annotations: BTreeMap<Str, Str> = "commonAnnotations",
        /// Whether labels win over those in the kustomization.
        optional force_common_labels: bool = "forceCommonLabels",
        /// Whether annotations win over those in the kustomization.
        optional force_common_annotations: bool = "forceCommonAnnotations",
        /// The namespace for every object.
        optional namespace: Str = "namespace",
        /// Whether variables in annotation values are replaced.
        optional common_annotations_envsubst: bool = "commonAnnotationsEnvsubst",
        /// Replica counts by name.
        optional replicas: Vec<KustomizeReplica> = "replicas",
        /// Patches to apply.
        optional patches: Vec<KustomizePatch> = "patches",
        /// Components to add.
        optional components: Vec<Str> = "components",
        /// Whether a component may be missing.
        optional ignore_missing_components: bool = "ignoreMissingComponents",
        /// Whether labels stay out of selectors.
        optional label_without_selector: bool = "labelWithoutSelector",
        /// The Kubernetes version that charts in it are told.
        optional kube_version: Str = "kubeVersion",
        /// The API versions that charts in it are told.
        optional api_versions: Vec<Str> = "apiVersions",
        /// Whether labels also go into pod templates.
        optional label_include_templates: bool = "labelIncludeTemplates",
    }
}

wire! {
    /// A replica count.
    pub struct KustomizeReplica {
        /// The workload.
        required name: Str = "name",
        /// How many.
        required count: IntOrString = "count",
    }
}

wire! {
    /// A patch, given in place or by file, and what it applies to.
    pub struct KustomizePatch {
        /// The file with the patch.
        optional path: Str = "path",
        /// The patch itself.
        optional patch: Str = "patch",
        /// The objects that it applies to.
        optional target: Option<KustomizeSelector> = "target",
        /// Further options of the patch.
        optional options: BTreeMap<Str, bool> = "options",
    }
}

wire! {
    /// Which objects a patch applies to.
    pub struct KustomizeSelector {
        /// The API group.
        optional group: Str = "group",
        /// The API version.
        optional version: Str = "version",
        /// The kind.
        optional kind: Str = "kind",
        /// The name.
        optional name: Str = "name",
        /// The namespace.
        optional namespace: Str = "namespace",
        /// A selector of annotations.
        optional annotation_selector: Str = "annotationSelector",
        /// A selector of labels.
        optional label_selector: Str = "labelSelector",
    }
}
