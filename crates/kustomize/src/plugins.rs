//! Generators and transformers that are written as resources of their own.

use lynceus_object::{Str, Value, yaml};

use crate::chart;
use crate::error::KustomizeError;
use crate::fieldspec::FieldSpec;
use crate::generate;
use crate::iam_policy::IamPolicy;
use crate::id::Kind;
use crate::kustomization::fields::{
    ConfigMapArguments, FieldSpecification, HelmChart, HelmGlobals, Image, ObjectMeta, Patch, PatchOptions,
    Replacement, Replica, SecretArguments, Selector, Texts,
};
use crate::load::Loader;
use crate::namespace::Subjects;
use crate::read;
use crate::record::{Decode, Mode, record};
use crate::resource::Resource;
use crate::transformers::{self, Text, Transformer, ValueTarget};

/// Something that makes resources.
#[derive(Clone, Debug)]
pub(crate) enum Generator {
    ConfigMap(Box<ConfigMapArguments>),
    Secret(Box<SecretArguments>),
    Chart(Box<HelmChart>, HelmGlobals),
    IamPolicy(Box<IamPolicy>),
}

/// What a resource configures.
pub(crate) enum Plugin {
    Generator(Generator),
    Transformers(Vec<Transformer>),
}

impl Generator {
    /// Makes the resources.
    pub(crate) fn generate(&self, loader: &Loader<'_>) -> Result<Vec<Resource>, KustomizeError> {
        match self {
            Generator::ConfigMap(arguments) => Ok(vec![generate::config_map(arguments, loader)?]),
            Generator::Secret(arguments) => Ok(vec![generate::secret(arguments, loader)?]),
            Generator::Chart(chart, globals) => chart::render(chart, globals, loader),
            Generator::IamPolicy(policy) => Ok(vec![policy.generate()?]),
        }
    }
}

/// Reads what a resource configures. Only what is built in may be.
pub(crate) fn configure(resource: &Resource, loader: &Loader<'_>) -> Result<Plugin, KustomizeError> {
    if resource.api_version() != "builtin" {
        return Err(KustomizeError::new(format!(
            "external plugins disabled; unable to load external plugin '{}'",
            resource.kind_name()
        ))
        .hint("only the plugins of apiVersion builtin are known; nothing else is executed"));
    }
    let configured = Configuration { value: &resource.value, loader }.read(resource.kind_name());
    configured.map_err(|error| {
        let error = error.context(format!("plugin {} fails configuration", resource.original_id(false)));
        match &resource.span {
            Some(span) => error.at(span.clone()),
            None => error,
        }
    })
}

struct Configuration<'a, 'b> {
    value: &'a Value,
    loader: &'a Loader<'b>,
}

record! {
    /// What several transformers are configured with.
    struct Common {
        metadata: ObjectMeta = "metadata",
        fields: Option<Vec<FieldSpecification>> = "fieldSpecs",
        annotations: Texts = "annotations",
        labels: Texts = "labels",
        image: Image = "imageTag",
        replica: Replica = "replica",
        prefix: Str = "prefix",
        suffix: Str = "suffix",
        unset_only: bool = "unsetOnly",
        subjects: Str = "setRoleBindingSubjects",
        replacements: Vec<Replacement> = "replacements",
    }
}

record! {
    /// What the name of a generated resource may be taken from.
    struct Named {
        metadata: ObjectMeta = "metadata",
    }
}

record! {
    struct StrategicMerge {
        paths: Vec<Str> = "paths",
        patches: Str = "patches",
    }
}

record! {
    struct Json6902 {
        target: Option<Selector> = "target",
        path: Str = "path",
        operations: Str = "jsonOp",
    }
}

record! {
    struct ValueAdd {
        value: Str = "value",
        targets: Vec<ValueAddTarget> = "targets",
        target_file: Str = "targetFilePath",
    }
}

record! {
    struct ValueAddTarget {
        selector: Option<Selector> = "selector",
        field_path: Str = "fieldPath",
        position: i64 = "filePathPosition",
    }
}

impl Configuration<'_, '_> {
    fn decode<T: Decode>(&self) -> Result<T, KustomizeError> {
        self.decode_as(Mode::Lenient)
    }

    fn decode_as<T: Decode>(&self, mode: Mode) -> Result<T, KustomizeError> {
        T::decode(self.value, mode).map_err(|error| {
            KustomizeError::new(format!("error unmarshaling JSON: {}: {}", error.path(), error.problem))
        })
    }

    fn read(&self, kind: &str) -> Result<Plugin, KustomizeError> {
        if let Some(generator) = self.generator(kind)? {
            return Ok(Plugin::Generator(generator));
        }
        Ok(Plugin::Transformers(match kind {
            "HashTransformer" => vec![Transformer::Hash],
            "PatchTransformer" => vec![patch(&self.decode::<Patch>()?, self.loader)?],
            "PatchJson6902Transformer" => vec![self.json6902()?],
            "PatchStrategicMergeTransformer" => {
                let arguments: StrategicMerge = self.decode()?;
                vec![strategic_merge(&arguments.paths, &arguments.patches, self.loader)?]
            }
            "ValueAddTransformer" => vec![self.value_add()?],
            other => self.by_fields(other)?,
        }))
    }

    fn generator(&self, kind: &str) -> Result<Option<Generator>, KustomizeError> {
        let or = |own: &mut Str, other: Str| {
            if own.is_empty() {
                *own = other;
            }
        };
        Ok(Some(match kind {
            "ConfigMapGenerator" => {
                let mut arguments: ConfigMapArguments = self.decode_as(Mode::Inner)?;
                let Named { metadata } = self.decode()?;
                or(&mut arguments.name, metadata.name);
                or(&mut arguments.namespace, metadata.namespace);
                Generator::ConfigMap(Box::new(arguments))
            }
            "SecretGenerator" => {
                let mut arguments: SecretArguments = self.decode_as(Mode::Inner)?;
                let Named { metadata } = self.decode()?;
                or(&mut arguments.name, metadata.name);
                or(&mut arguments.namespace, metadata.namespace);
                Generator::Secret(Box::new(arguments))
            }
            "HelmChartInflationGenerator" => {
                Generator::Chart(Box::new(self.decode_as(Mode::Inner)?), self.decode_as(Mode::Inner)?)
            }
            "IAMPolicyGenerator" => Generator::IamPolicy(Box::new(self.decode()?)),
            _ => return Ok(None),
        }))
    }

    fn by_fields(&self, kind: &str) -> Result<Vec<Transformer>, KustomizeError> {
        let common: Common = self.decode()?;
        let given = common.fields.as_ref().map(|fields| field_specs(fields));
        // A transformer that is written as a resource has nothing but its own.
        let fields = Some(given.clone().unwrap_or_default());
        let needed = || match &given {
            Some(fields) => Ok(Some(fields.clone())),
            None => Err(KustomizeError::new("fieldSpecs is not expected to be nil")),
        };
        let prefix = |prefix: &Str| {
            Ok::<_, KustomizeError>(Transformer::Prefix { prefix: prefix.clone(), fields: needed()? })
        };
        let suffix = |suffix: &Str| {
            Ok::<_, KustomizeError>(Transformer::Suffix { suffix: suffix.clone(), fields: needed()? })
        };
        Ok(vec![match kind {
            "AnnotationsTransformer" => Transformer::Annotations { annotations: common.annotations, fields },
            "LabelTransformer" => Transformer::CommonLabels { labels: common.labels, fields },
            "ImageTagTransformer" => Transformer::Image { image: common.image, fields },
            "ReplicaCountTransformer" => Transformer::Replica { replica: common.replica, fields },
            "PrefixTransformer" => prefix(&common.prefix)?,
            "SuffixTransformer" => suffix(&common.suffix)?,
            "PrefixSuffixTransformer" => return Ok(vec![prefix(&common.prefix)?, suffix(&common.suffix)?]),
            "ReplacementTransformer" => replacements(&common.replacements, self.loader)?,
            "NamespaceTransformer" => Transformer::Namespace {
                namespace: common.metadata.namespace,
                fields,
                unset_only: common.unset_only,
                subjects: Subjects::read(&common.subjects)?,
            },
            other => {
                let kind = Kind::new("builtin", other);
                return Err(KustomizeError::new(format!("unable to load builtin {kind}")));
            }
        }])
    }

    fn json6902(&self) -> Result<Transformer, KustomizeError> {
        let arguments: Json6902 = self.decode()?;
        json6902(arguments.target.as_ref(), &arguments.path, &arguments.operations, self.loader)
    }

    fn value_add(&self) -> Result<Transformer, KustomizeError> {
        let mut arguments: ValueAdd = self.decode()?;
        if !arguments.target_file.is_empty() {
            let loaded = self.loader.load(&arguments.target_file)?;
            let value = yaml::parse(&loaded.bytes).map_err(|error| KustomizeError::new(error.to_string()))?;
            let more: ValueAdd = Configuration { value: &value, loader: self.loader }.decode()?;
            arguments.targets.extend(more.targets);
        }
        if arguments.targets.is_empty() {
            return Err(KustomizeError::new("must specify at least one target"));
        }
        let mut targets = Vec::new();
        for target in arguments.targets {
            if target.field_path.is_empty() {
                return Err(KustomizeError::new("fieldPath cannot be empty"));
            }
            if target.position < 0 {
                let problem = format!("value of FilePathPosition ({}) cannot be negative", target.position);
                return Err(KustomizeError::new(problem));
            }
            targets.push(ValueTarget {
                selector: target.selector,
                field_path: target.field_path,
                position: target.position,
            });
        }
        let value = match arguments.value.trim() {
            "" => self.loader.root().name().into(),
            value => value.into(),
        };
        Ok(Transformer::ValueAdd { value, targets })
    }
}

/// Field specifications as transformers take them.
pub(crate) fn field_specs(given: &[FieldSpecification]) -> Vec<FieldSpec> {
    given.iter().map(transformers::field_spec).collect()
}

fn inline(text: &str) -> Text {
    Text { text: text.as_bytes().into(), file: None }
}

fn loaded(path: &str, loader: &Loader<'_>) -> Result<Text, KustomizeError> {
    let loaded = loader.load(path)?;
    Ok(Text { text: loaded.bytes, file: loaded.file })
}

/// A patch of either kind.
pub(crate) fn patch(patch: &Patch, loader: &Loader<'_>) -> Result<Transformer, KustomizeError> {
    let text = match (patch.patch.trim(), patch.path.as_str()) {
        ("", "") => return Err(KustomizeError::new("must specify one of patch and path")),
        ("", path) => loaded(path, loader)
            .map_err(|error| error.context(format!("failed to get the patch file from path({path})")))?,
        (text, "") => inline(text),
        _ => return Err(KustomizeError::new("patch and path can't be set at the same time")),
    };
    let options: PatchOptions = patch.options.clone().unwrap_or_default();
    Ok(Transformer::Patch { patch: text, target: patch.target.clone(), options })
}

/// A patch of operations.
pub(crate) fn json6902(
    target: Option<&Selector>,
    path: &str,
    operations: &str,
    loader: &Loader<'_>,
) -> Result<Transformer, KustomizeError> {
    let Some(target) = target.filter(|target| !target.name.is_empty()) else {
        return Err(KustomizeError::new("must specify the target name"));
    };
    let patch = match (path, operations) {
        ("", "") => return Err(KustomizeError::new("empty file path and empty jsonOp")),
        ("", operations) => inline(operations),
        (path, "") => loaded(path, loader)?,
        _ => return Err(KustomizeError::new("must specify a file path or jsonOp, not both")),
    };
    if patch.text.is_empty() {
        return Err(KustomizeError::new(format!("patch file '{path}' empty seems to be empty")));
    }
    Ok(Transformer::PatchJson6902 { target: target.clone(), patch })
}

/// Patches that are merged. Each of the paths may be a patch itself.
pub(crate) fn strategic_merge(
    paths: &[Str],
    patches: &str,
    loader: &Loader<'_>,
) -> Result<Transformer, KustomizeError> {
    if paths.is_empty() && patches.is_empty() {
        return Err(KustomizeError::new("empty file path and empty patch content"));
    }
    let mut texts = Vec::new();
    for path in paths {
        let is_patch = read::patches(path.as_bytes(), None).is_ok();
        texts.push(if is_patch { inline(path) } else { loaded(path, loader)? });
    }
    if !patches.is_empty() {
        texts.push(inline(patches));
    }
    let mut found = false;
    for text in &texts {
        found |= !read::patches(&text.text, text.file.as_ref())?.is_empty();
    }
    if !found {
        let files = paths.join(" ");
        return Err(KustomizeError::new(format!("patch appears to be empty; files=[{files}]")));
    }
    Ok(Transformer::PatchStrategicMerge { patches: texts })
}

/// Replacements, those in files among them.
pub(crate) fn replacements(
    given: &[Replacement],
    loader: &Loader<'_>,
) -> Result<Transformer, KustomizeError> {
    let mut replacements = Vec::new();
    for replacement in given {
        if replacement.path.is_empty() {
            replacements.push(replacement.clone());
            continue;
        }
        if replacement.source.is_some() || !replacement.targets.is_empty() {
            return Err(KustomizeError::new("cannot specify both path and inline replacement"));
        }
        let file = loader.load(&replacement.path)?;
        let told = |problem: String| KustomizeError::new(format!("{}: {problem}", replacement.path));
        let value = yaml::parse(&file.bytes).map_err(|error| told(error.to_string()))?;
        let decode = |value: &Value| {
            Replacement::decode(value, Mode::Lenient)
                .map_err(|error| told(format!("{}: {}", error.path(), error.problem)))
        };
        match &value {
            Value::Seq(items) => {
                for item in items {
                    replacements.push(decode(item)?);
                }
            }
            Value::Map(_) => replacements.push(decode(&value)?),
            other => {
                return Err(KustomizeError::new(format!(
                    "unsupported replacement type encountered within replacement path: {}",
                    other.type_name()
                )));
            }
        }
    }
    Ok(Transformer::Replacements(replacements))
}
