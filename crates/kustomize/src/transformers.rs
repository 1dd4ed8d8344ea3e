//! Everything that changes resources, behind one door: what is configured here is done by the files of their names.

use std::borrow::Cow;
use std::sync::Arc;

use lynceus_files::FilePath;
use lynceus_object::Str;

use crate::annotations::Annotations;
use crate::config::Config;
use crate::error::KustomizeError;
use crate::fieldspec::{FieldSpec, FieldSpecs};
use crate::id::Kind;
use crate::images::{self, Images};
use crate::kustomization::fields::{
    self, FieldOptions, FieldSpecification, Image, Labels, PatchOptions, Replacement, ReplacementTarget,
    Replica, Selector, SortOptions, Texts,
};
use crate::labels::{self, LabelField};
use crate::namespace::{Namespace, Subjects};
use crate::patch::{self, JsonPatch, Patch, apply_patches, apply_strategic_patches};
use crate::prefix::Prefix;
use crate::replacement::{self, apply_replacements};
use crate::replicas::{self, Replicas};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema::Schema;
use crate::selector::{self, Matcher};
use crate::sort::SortOrder;
use crate::suffix::Suffix;
use crate::value_add::{self, ValueAdd};
use crate::variables::Variable;
use crate::{hash, read};

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
    Namespace { namespace: Str, fields: Option<Vec<FieldSpec>>, unset_only: bool, subjects: Subjects },
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
        config: &Config,
        schema: &Schema,
    ) -> Result<(), KustomizeError> {
        self.change(resources, config, schema)?;
        // The fields of the configuration are no labels; those that somebody asks for may be.
        if let Transformer::Prefix { fields: Some(_), .. }
        | Transformer::Suffix { fields: Some(_), .. }
        | Transformer::ValueAdd { .. } = self
        {
            resources.list.iter_mut().for_each(Resource::settle);
        }
        Ok(())
    }

    fn change(
        &self,
        resources: &mut Resources,
        config: &Config,
        schema: &Schema,
    ) -> Result<(), KustomizeError> {
        let scoped = |kind: &Kind| schema.is_cluster_scoped(kind);
        let specs = |own: &Option<Vec<FieldSpec>>, usual: &FieldSpecs| match own {
            Some(own) => FieldSpecs::new(own.clone()),
            None => usual.clone(),
        };
        match self {
            Transformer::Hash => hash::add_hashes(resources, &scoped),
            Transformer::Annotations { annotations, fields } => {
                let specs = specs(fields, &config.common_annotations);
                Annotations { annotations: pairs(annotations), specs }.apply(resources)
            }
            Transformer::CommonLabels { labels, fields } => {
                let specs = specs(fields, &config.common_labels);
                labels::Labels { labels: pairs(labels), specs }.apply(resources)
            }
            Transformer::Labels(group) => {
                let field = LabelField {
                    pairs: pairs(&group.pairs),
                    include_selectors: group.include_selectors,
                    include_templates: group.include_templates,
                    fields: group.fields.iter().map(field_spec).collect(),
                };
                labels::Labels::of_field(&field, config)?.apply(resources)
            }
            Transformer::Image { image, fields } => {
                let image = images::Image {
                    name: image.name.clone(),
                    new_name: image.new_name.clone(),
                    tag_suffix: image.tag_suffix.clone(),
                    new_tag: image.new_tag.clone(),
                    digest: image.digest.clone(),
                };
                Images::new(vec![image], specs(fields, &config.images))?.apply(resources)
            }
            Transformer::Namespace { namespace, fields, unset_only, subjects } => Namespace {
                namespace: namespace.clone(),
                specs: specs(fields, &config.namespace),
                unset_only: *unset_only,
                subjects: *subjects,
            }
            .apply(resources, &scoped),
            Transformer::Prefix { prefix, fields } => {
                Prefix { prefix: prefix.clone(), specs: specs(fields, &config.name_prefix) }
                    .apply(resources, &scoped)
            }
            Transformer::Suffix { suffix, fields } => {
                Suffix { suffix: suffix.clone(), specs: specs(fields, &config.name_suffix) }
                    .apply(resources, &scoped)
            }
            Transformer::Replica { replica, fields } => {
                let replica = replicas::Replica { name: replica.name.clone(), count: replica.count };
                Replicas { replicas: vec![replica], specs: specs(fields, &config.replicas) }.apply(resources)
            }
            Transformer::PatchJson6902 { target, patch } => {
                let path = patch.file.as_ref().map(FilePath::as_str);
                JsonPatch::read(Some(selector(target)), path, &patch.as_str()?)?.apply(resources, schema)
            }
            Transformer::PatchStrategicMerge { patches } => {
                let mut all = Vec::new();
                for patch in patches {
                    all.extend(read::patches(&patch.text, patch.file.as_ref())?);
                }
                apply_strategic_patches(&all, resources, schema)
            }
            Transformer::Patch { patch, target, options } => {
                let options = patch::PatchOptions {
                    allow_name_change: options.allow_name_change,
                    allow_kind_change: options.allow_kind_change,
                };
                let target = target.as_ref().map(selector);
                let load = |text: &str| read::patches(text.as_bytes(), patch.file.as_ref());
                let text = patch.as_str()?;
                let patch = match &patch.file {
                    Some(file) => Patch::file(file.as_str(), &text, target, options, load),
                    None => Patch::inline(&text, target, options, load),
                }?;
                apply_patches(&[patch], resources, schema)
            }
            Transformer::Replacements(replacements) => {
                let replacements: Vec<_> = replacements.iter().map(replacement).collect();
                apply_replacements(&replacements, resources, schema)
            }
            Transformer::ValueAdd { value, targets } => {
                let targets = targets.iter().map(|target| value_add::Target {
                    selector: target.selector.as_ref().map(selector),
                    field_path: target.field_path.clone(),
                    position: usize::try_from(target.position).unwrap_or_default(),
                });
                let select = |resources: &Resources, selector: &selector::Selector| {
                    let matcher = Matcher::new(selector)?;
                    let list = resources.list.iter().enumerate();
                    let selected = list.filter(|(_, resource)| matcher.targets(resource, schema));
                    Ok(selected.map(|(at, _)| at).collect())
                };
                ValueAdd { value: value.clone(), targets: targets.collect() }
                    .apply(resources, &scoped, &select)
            }
        }
    }
}

impl Text {
    fn as_str(&self) -> Result<Cow<'_, str>, KustomizeError> {
        std::str::from_utf8(&self.text)
            .map(Cow::Borrowed)
            .map_err(|error| KustomizeError::new(format!("the text is not UTF-8: {error}")))
    }
}

fn pairs(texts: &Texts) -> Vec<(Str, Str)> {
    texts.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A field specification, as it is written down.
pub(crate) fn field_spec(written: &FieldSpecification) -> FieldSpec {
    let kind =
        Kind { group: written.group.clone(), version: written.version.clone(), kind: written.kind.clone() };
    FieldSpec { kind, path: written.path.clone(), create: written.create }
}

/// A selector, as it is written down.
pub(crate) fn selector(written: &Selector) -> selector::Selector {
    selector::Selector {
        kind: Kind {
            group: written.group.clone(),
            version: written.version.clone(),
            kind: written.kind.clone(),
        },
        name: written.name.clone(),
        namespace: written.namespace.clone(),
        labels: written.label_selector.clone(),
        annotations: written.annotation_selector.clone(),
    }
}

/// A replacement, as it is written down.
pub(crate) fn replacement(written: &Replacement) -> replacement::Replacement {
    let options = |options: &Option<FieldOptions>| {
        options.as_ref().map(|options| replacement::FieldOptions {
            delimiter: options.delimiter.clone(),
            index: options.index,
            create: options.create,
        })
    };
    let target = |target: &ReplacementTarget| replacement::Target {
        select: target.select.as_ref().map(selector),
        reject: target.reject.iter().flatten().map(selector).collect(),
        field_paths: target.field_paths.clone(),
        options: options(&target.options),
    };
    replacement::Replacement {
        source: written.source.as_ref().map(|source| replacement::Source {
            kind: Kind {
                group: source.group.clone(),
                version: source.version.clone(),
                kind: source.kind.clone(),
            },
            name: source.name.clone(),
            namespace: source.namespace.clone(),
            field_path: source.field_path.clone(),
            options: options(&source.options),
        }),
        source_value: written.source_value.clone(),
        targets: (!written.targets.is_empty())
            .then(|| written.targets.iter().flatten().map(target).collect()),
    }
}

/// A variable, as it is written down.
pub(crate) fn variable(written: &fields::Variable) -> Variable {
    let object = &written.object;
    let kind =
        Kind { group: object.group.clone(), version: object.version.clone(), kind: object.kind.clone() };
    Variable::new(
        written.name.clone(),
        &object.api_version,
        kind,
        object.name.clone(),
        object.namespace.clone(),
        written.field.field_path.clone(),
    )
}

/// Puts resources in order; without options in the order of old.
pub(crate) fn sort(resources: &mut Resources, options: Option<&SortOptions>) -> Result<(), KustomizeError> {
    let order = match options {
        None => SortOrder::legacy(),
        Some(options) => {
            let legacy = options.legacy.as_ref();
            let kinds = legacy.map(|legacy| (legacy.order_first.clone(), legacy.order_last.clone()));
            SortOrder::new(&options.order, kinds)?
        }
    };
    order.apply(resources);
    Ok(())
}
