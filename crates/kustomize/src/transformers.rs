//! Everything that changes resources, behind one door: what is configured here is done by the files of their names.

use std::sync::Arc;

use lynceus_files::FilePath;
use lynceus_object::Str;

use crate::error::KustomizeError;
use crate::fieldspec::FieldSpec;
use crate::hash;
use crate::id::Kind;
use crate::kustomization::fields::{
    Image, Labels, PatchOptions, Replacement, Replica, Selector, SortOptions, Texts, Variable,
};
use crate::resources::Resources;

/// A text with the file that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: Arc<[u8]>,
    pub(crate) file: Option<FilePath>,
}

/// Something that changes resources, with all that it needs.
///
/// Without field specifications of its own it takes those of the configuration.
#[derive(Clone, Debug)]
pub(crate) enum Transformer {
    Annotations { annotations: Texts, fields: Option<Vec<FieldSpec>> },
    CommonLabels { labels: Texts, fields: Option<Vec<FieldSpec>> },
    Hash,
    Image { image: Image, fields: Option<Vec<FieldSpec>> },
    Labels(Labels),
    Namespace { namespace: Str, fields: Option<Vec<FieldSpec>>, unset_only: bool, subjects: Str },
    PatchJson6902 { target: Selector, patch: Text },
    PatchStrategicMerge { patches: Vec<Text> },
    Patch { patch: Text, target: Option<Selector>, options: PatchOptions },
    Prefix { prefix: Str, fields: Option<Vec<FieldSpec>> },
    Suffix { suffix: Str, fields: Option<Vec<FieldSpec>> },
    Replacements(Vec<Replacement>),
    Replica { replica: Replica, fields: Option<Vec<FieldSpec>> },
    ValueAdd { value: Str, targets: Vec<ValueTarget> },
}

/// Where a value is added.
#[derive(Clone, Debug)]
pub(crate) struct ValueTarget {
    pub(crate) selector: Option<Selector>,
    pub(crate) field_path: Str,
    pub(crate) position: i64,
}

impl Transformer {
    /// What it is called as a plugin.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Transformer::Annotations { .. } => "AnnotationsTransformer",
            Transformer::CommonLabels { .. } | Transformer::Labels(_) => "LabelTransformer",
            Transformer::Hash => "HashTransformer",
            Transformer::Image { .. } => "ImageTagTransformer",
            Transformer::Namespace { .. } => "NamespaceTransformer",
            Transformer::PatchJson6902 { .. } => "PatchJson6902Transformer",
            Transformer::PatchStrategicMerge { .. } => "PatchStrategicMergeTransformer",
            Transformer::Patch { .. } => "PatchTransformer",
            Transformer::Prefix { .. } => "PrefixTransformer",
            Transformer::Suffix { .. } => "SuffixTransformer",
            Transformer::Replacements(_) => "ReplacementTransformer",
            Transformer::Replica { .. } => "ReplicaCountTransformer",
            Transformer::ValueAdd { .. } => "ValueAddTransformer",
        }
    }

    /// Changes the resources.
    pub(crate) fn apply(
        &self,
        resources: &mut Resources,
        _config: &Config,
        schema: &Schema,
    ) -> Result<(), KustomizeError> {
        match self {
            Transformer::Hash => hash::add_hashes(resources, &|kind| schema.is_cluster_scoped(kind)),
            _ => Ok(()),
        }
    }
}

/// What is known of the kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    is_chosen: bool,
}

impl Schema {
    /// Whether a kind is known to be without namespaces.
    pub(crate) fn is_cluster_scoped(&self, kind: &Kind) -> bool {
        matches!(
            kind.kind.as_str(),
            "Namespace"
                | "ClusterRole"
                | "ClusterRoleBinding"
                | "CustomResourceDefinition"
                | "PersistentVolume"
        )
    }

    /// Takes the schema that a kustomization asks for. Only the first one that is asked for counts.
    pub(crate) fn choose(
        &mut self,
        version: Option<&str>,
        custom: Option<Text>,
    ) -> Result<(), KustomizeError> {
        if self.is_chosen {
            return Ok(());
        }
        if version.is_some() && custom.is_some() {
            return Err(KustomizeError::new("builtin version and custom schema provided, cannot use both"));
        }
        self.is_chosen = version.is_some_and(|version| !version.is_empty()) || custom.is_some();
        Ok(())
    }
}

/// Which fields transformers look at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {}

impl Config {
    /// Kustomize's own, with what configuration files add.
    pub(crate) fn with_files(_files: &[Text]) -> Result<Self, KustomizeError> {
        Ok(Config {})
    }

    /// What definitions of custom resources say.
    pub(crate) fn from_crds(_files: &[Text]) -> Result<Self, KustomizeError> {
        Ok(Config {})
    }

    /// Adds another configuration.
    pub(crate) fn merge(&mut self, _other: Config) -> Result<(), KustomizeError> {
        Ok(())
    }
}

/// The variables of kustomizations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {}

impl Variables {
    /// Adds those of a kustomization, and marks the resources that they are read from.
    pub(crate) fn add(
        &mut self,
        _variables: &[Variable],
        _resources: &mut Resources,
        _schema: &Schema,
    ) -> Result<(), KustomizeError> {
        Ok(())
    }

    /// Adds those of another kustomization.
    pub(crate) fn merge(&mut self, _other: Variables) -> Result<(), KustomizeError> {
        Ok(())
    }

    /// Writes values in the place of names. Gives what is to be warned of.
    pub(crate) fn resolve(
        &self,
        _resources: &mut Resources,
        _config: &Config,
    ) -> Result<Vec<String>, KustomizeError> {
        Ok(Vec::new())
    }
}

/// Names that have changed are changed where they are referred to.
pub(crate) fn fix_name_references(
    _resources: &mut Resources,
    _config: &Config,
    _schema: &Schema,
) -> Result<(), KustomizeError> {
    Ok(())
}

/// Puts resources in order; without options in the order of old.
pub(crate) fn sort(
    _resources: &mut Resources,
    _options: Option<&SortOptions>,
    _schema: &Schema,
) -> Result<(), KustomizeError> {
    Ok(())
}
