//! The structures that a kustomization is made of.

use std::collections::BTreeMap;

use lynceus_object::{Str, Value};

use crate::record::record;

/// Texts by their names.
pub(crate) type Texts = BTreeMap<Str, Str>;

record! {
    /// What a kustomization says of itself; nothing comes of it.
    pub(crate) struct ObjectMeta {
        name: Str = "name",
        namespace: Str = "namespace",
        labels: Texts = "labels",
        annotations: Texts = "annotations",
    }
}

record! {
    /// Resources by kind, name, namespace, labels and annotations; most of it regular expressions.
    pub(crate) struct Selector {
        group: Str = "group",
        version: Str = "version",
        kind: Str = "kind",
        name: Str = "name",
        namespace: Str = "namespace",
        annotation_selector: Str = "annotationSelector",
        label_selector: Str = "labelSelector",
    }
}

record! {
    /// A patch, of either kind.
    pub(crate) struct Patch {
        path: Str = "path",
        patch: Str = "patch",
        target: Option<Selector> = "target",
        options: Option<PatchOptions> = "options",
    }
}

record! {
    /// What a patch may do beside patching.
    pub(crate) struct PatchOptions {
        allow_name_change: bool = "allowNameChange",
        allow_kind_change: bool = "allowKindChange",
    }
}

record! {
    /// A field of some kinds, as it is written down.
    pub(crate) struct FieldSpecification {
        group: Str = "group",
        version: Str = "version",
        kind: Str = "kind",
        path: Str = "path",
        create: bool = "create",
    }
}

record! {
    /// Labels, and where they go.
    pub(crate) struct Labels {
        pairs: Texts = "pairs",
        include_selectors: bool = "includeSelectors",
        include_templates: bool = "includeTemplates",
        fields: Vec<FieldSpecification> = "fields",
    }
}

record! {
    /// Another name, tag or digest for an image.
    pub(crate) struct Image {
        name: Str = "name",
        new_name: Str = "newName",
        tag_suffix: Str = "tagSuffix",
        new_tag: Str = "newTag",
        digest: Str = "digest",
    }
}

record! {
    /// How many there are to be of something.
    pub(crate) struct Replica {
        name: Str = "name",
        count: i64 = "count",
    }
}

record! {
    /// A value that is copied from one field to others; written here or in a file.
    pub(crate) struct Replacement {
        path: Str = "path",
        source: Option<ReplacementSource> = "source",
        source_value: Option<Str> = "sourceValue",
        targets: Vec<Option<ReplacementTarget>> = "targets",
    }
}

record! {
    /// Where a value is copied from.
    pub(crate) struct ReplacementSource {
        group: Str = "group",
        version: Str = "version",
        kind: Str = "kind",
        name: Str = "name",
        namespace: Str = "namespace",
        field_path: Str = "fieldPath",
        options: Option<FieldOptions> = "options",
    }
}

record! {
    /// Where a value is copied to.
    pub(crate) struct ReplacementTarget {
        select: Option<Selector> = "select",
        reject: Vec<Option<Selector>> = "reject",
        field_paths: Vec<Str> = "fieldPaths",
        options: Option<FieldOptions> = "options",
    }
}

record! {
    /// Which part of a field is meant.
    pub(crate) struct FieldOptions {
        delimiter: Str = "delimiter",
        index: i64 = "index",
        encoding: Str = "encoding",
        create: bool = "create",
    }
}

record! {
    /// A variable.
    pub(crate) struct Variable {
        name: Str = "name",
        object: VariableObject = "objref",
        field: VariableField = "fieldref",
    }
}

record! {
    /// The resource that a variable is read from.
    pub(crate) struct VariableObject {
        api_version: Str = "apiVersion",
        group: Str = "group",
        version: Str = "version",
        kind: Str = "kind",
        name: Str = "name",
        namespace: Str = "namespace",
    }
}

record! {
    /// The field that a variable is read from.
    pub(crate) struct VariableField {
        field_path: Str = "fieldPath",
    }
}

record! {
    /// In which order resources are printed.
    pub(crate) struct SortOptions {
        order: Str = "order",
        legacy: Option<LegacySortOptions> = "legacySortOptions",
    }
}

record! {
    /// The kinds that come first and last.
    pub(crate) struct LegacySortOptions {
        order_first: Vec<Str> = "orderFirst",
        order_last: Vec<Str> = "orderLast",
    }
}

record! {
    /// What generators add to what they make.
    pub(crate) struct GeneratorOptions {
        labels: Texts = "labels",
        annotations: Texts = "annotations",
        disable_name_suffix_hash: bool = "disableNameSuffixHash",
        immutable: bool = "immutable",
    }
}

record! {
    /// A ConfigMap to make.
    pub(crate) struct ConfigMapArguments {
        namespace: Str = "namespace",
        name: Str = "name",
        behavior: Str = "behavior",
        literals: Vec<Str> = "literals",
        files: Vec<Str> = "files",
        envs: Vec<Str> = "envs",
        env: Str = "env",
        options: Option<GeneratorOptions> = "options",
    }
}

record! {
    /// A Secret to make.
    pub(crate) struct SecretArguments {
        namespace: Str = "namespace",
        name: Str = "name",
        behavior: Str = "behavior",
        literals: Vec<Str> = "literals",
        files: Vec<Str> = "files",
        envs: Vec<Str> = "envs",
        env: Str = "env",
        options: Option<GeneratorOptions> = "options",
        kind: Str = "type",
    }
}

record! {
    /// What all charts have in common.
    pub(crate) struct HelmGlobals {
        chart_home: Str = "chartHome",
        config_home: Str = "configHome",
    }
}

record! {
    /// A chart to render.
    pub(crate) struct HelmChart {
        name: Str = "name",
        version: Str = "version",
        repository: Str = "repo",
        release_name: Str = "releaseName",
        namespace: Str = "namespace",
        additional_values_files: Vec<Str> = "additionalValuesFiles",
        values_file: Str = "valuesFile",
        values_inline: BTreeMap<Str, Value> = "valuesInline",
        values_merge: Str = "valuesMerge",
        include_crds: bool = "includeCRDs",
        skip_hooks: bool = "skipHooks",
        api_versions: Vec<Str> = "apiVersions",
        kube_version: Str = "kubeVersion",
        name_template: Str = "nameTemplate",
        skip_tests: bool = "skipTests",
        debug: bool = "debug",
        devel: bool = "devel",
    }
}

record! {
    /// A chart to render, as it was written before `helmCharts`.
    pub(crate) struct OldHelmChart {
        chart_name: Str = "chartName",
        chart_version: Str = "chartVersion",
        chart_repository: Str = "chartRepoUrl",
        chart_home: Str = "chartHome",
        chart_repository_name: Str = "chartRepoName",
        helm_binary: Str = "helmBin",
        helm_home: Str = "helmHome",
        values: Str = "values",
        values_local: BTreeMap<Str, Value> = "valuesLocal",
        values_merge: Str = "valuesMerge",
        release_name: Str = "releaseName",
        release_namespace: Str = "releaseNamespace",
        extra_arguments: Vec<Str> = "extraArgs",
    }
}

impl GeneratorOptions {
    /// These options with those of the whole kustomization, which add to them and cannot be taken back.
    pub(crate) fn with(own: Option<&Self>, global: Option<&Self>) -> Option<Self> {
        let Some(global) = global else { return own.cloned() };
        let mut merged = own.cloned().unwrap_or_default();
        let fill = |own: &mut Texts, global: &Texts| {
            for (key, value) in global {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
        };
        fill(&mut merged.labels, &global.labels);
        fill(&mut merged.annotations, &global.annotations);
        merged.disable_name_suffix_hash |= global.disable_name_suffix_hash;
        merged.immutable |= global.immutable;
        Some(merged)
    }
}

impl OldHelmChart {
    /// The same as it is written now.
    pub(crate) fn renewed(&self) -> HelmChart {
        HelmChart {
            name: self.chart_name.clone(),
            version: self.chart_version.clone(),
            repository: self.chart_repository.clone(),
            values_file: self.values.clone(),
            values_inline: self.values_local.clone(),
            values_merge: self.values_merge.clone(),
            release_name: self.release_name.clone(),
            ..HelmChart::default()
        }
    }
}
