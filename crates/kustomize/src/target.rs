//! One kustomization, carried out step by step in Kustomize's order.

mod resources;

use std::sync::Arc;

use lynceus_files::FilePath;
use lynceus_object::Str;

use crate::accumulator::Accumulator;
use crate::config::Config;
use crate::crds::{self, CrdFields};
use crate::error::KustomizeError;
use crate::kustomization::fields::GeneratorOptions;
use crate::kustomization::{FILE_NAMES, Kustomization, Source};
use crate::load::Loader;
use crate::namespace::Subjects;
use crate::origin::{ConfiguredBy, Origin};
use crate::plugins::{self, Generator, Plugin};
use crate::resource::Resource;
use crate::transformers::{self, Text, Transformer};
use crate::variables::Variable;

/// The label that validators may put on what they have seen.
const VALIDATED_BY: &str = "validated-by";

/// A kustomization with where it is and what it is built for.
pub(crate) struct Target<'a> {
    loader: Loader<'a>,
    pub(crate) source: Source,
    /// Where it is seen from where the build began, if the build keeps account of that.
    origin: Option<Origin>,
    /// The namespace that charts get from the kustomizations above.
    chart_namespace: Str,
}

/// Something that makes or changes resources, with where it was written down.
struct Placed<T> {
    what: T,
    origin: Option<Arc<Origin>>,
}

impl<'a> Target<'a> {
    /// Reads the kustomization of a directory.
    pub(crate) fn load(loader: Loader<'a>) -> Result<Self, KustomizeError> {
        let mut found = FILE_NAMES.iter().filter_map(|name| loader.load(name).ok());
        let (first, second) = (found.next(), found.next());
        let root = loader.shown(loader.root());
        let first = match (first, second) {
            (Some(first), None) => first,
            (None, _) => {
                return Err(KustomizeError::new(format!(
                    "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory \
                     '{root}'"
                )));
            }
            _ => {
                let problem = format!("Found multiple kustomization files under: {root}");
                return Err(KustomizeError::new(problem).hint("keep one of them"));
            }
        };
        let file = first.file.unwrap_or_default();
        let source = Source::read(&file, first.bytes, &mut loader.context.warnings())?;
        Ok(Target { loader, source, origin: None, chart_namespace: Str::new() })
    }

    /// Keeps account of where resources come from.
    pub(crate) fn track(&mut self) {
        self.origin = Some(Origin::default());
    }

    /// What the kustomization says.
    pub(crate) fn kustomization(&self) -> &Kustomization {
        &self.source.kustomization
    }

    /// Takes the schema that the kustomization asks for.
    pub(crate) fn choose_schema(&self) -> Result<(), KustomizeError> {
        let openapi = &self.kustomization().openapi;
        let custom = openapi.get("path").map(|path| self.text(path)).transpose();
        let custom = custom.map_err(|error| self.blamed(error, "openapi"))?;
        let version = openapi.get("version").map(Str::as_str);
        self.loader
            .context
            .schema_mut()
            .set(version, custom.as_ref().map(|custom| &*custom.text))
            .map_err(|error| self.blamed(error, "openapi"))
    }

    /// Gathers what the kustomization gives. A component works on what is there already.
    pub(crate) fn accumulate(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        let kustomization = self.kustomization();
        self.accumulate_resources(accumulator, &kustomization.resources, "resources")
            .map_err(|error| error.context("accumulating resources"))?;
        self.configure(accumulator)?;
        self.run_generators(accumulator)?;
        self.accumulate_components(accumulator).map_err(|error| error.context("accumulating components"))?;
        self.run_transformers(accumulator)?;
        self.run_validators(accumulator)?;
        if kustomization.variables.is_empty() {
            return Ok(());
        }
        let Accumulator { resources, variables, .. } = accumulator;
        let schema = self.loader.context.schema();
        let wanted: Vec<Variable> = kustomization.variables.iter().map(transformers::variable).collect();
        variables
            .add(&wanted, resources, &|kind| schema.is_cluster_scoped(kind))
            .map_err(|error| self.blamed(error.context("merging vars"), "vars"))
    }

    /// Adds the fields that transformers look at.
    fn configure(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        let kustomization = self.kustomization();
        let blamed = |error: KustomizeError| self.blamed(error, "configurations");
        let files = self.texts(&kustomization.configurations, "configurations")?;
        let config = Config::with_files(files.iter().map(|file| &*file.text)).map_err(blamed)?;
        let merged = accumulator.config.merged(&config);
        accumulator.config = merged.map_err(|error| blamed(error.context("merging config")))?;
        if kustomization.crds.is_empty() {
            return Ok(());
        }
        let blamed = |error: KustomizeError| self.blamed(error, "crds");
        for file in self.texts(&kustomization.crds, "crds")? {
            let path = file.file.as_ref().map_or("", FilePath::as_str);
            let found = crds::read_crds(path, &file.text);
            let found = found.map_err(|error| blamed(error.context("loading CRDs")))?;
            let CrdFields { annotations, labels, prefixes, references } = found;
            let config = Config::of_types(annotations, labels, prefixes, references).map_err(blamed)?;
            let merged = accumulator.config.merged(&config);
            accumulator.config = merged.map_err(|error| blamed(error.context("merging CRDs")))?;
        }
        Ok(())
    }

    fn run_generators(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        let mut generators = Vec::new();
        let built_in =
            |kind| self.origin.as_ref().map(|origin| Arc::new(origin.built_in(self.file_name(), kind)));
        let origin = built_in("ConfigMapGenerator");
        for (index, arguments) in self.kustomization().config_maps.iter().enumerate() {
            let mut arguments = arguments.clone();
            arguments.options = self.generator_options(arguments.options.as_ref());
            let what = Generator::ConfigMap(Box::new(arguments));
            generators.push((Placed { what, origin: origin.clone() }, "configMapGenerator", index));
        }
        let origin = built_in("SecretGenerator");
        for (index, arguments) in self.kustomization().secrets.iter().enumerate() {
            let mut arguments = arguments.clone();
            arguments.options = self.generator_options(arguments.options.as_ref());
            let what = Generator::Secret(Box::new(arguments));
            generators.push((Placed { what, origin: origin.clone() }, "secretGenerator", index));
        }
        let origin = built_in("HelmChartInflationGenerator");
        let globals = self.kustomization().helm_globals.clone().unwrap_or_default();
        for (index, chart) in self.kustomization().helm_charts.iter().enumerate() {
            let mut chart = chart.clone();
            if chart.namespace.is_empty() {
                let own = &self.kustomization().namespace;
                chart.namespace = if own.is_empty() { self.chart_namespace.clone() } else { own.clone() };
            }
            let what = Generator::Chart(Box::new(chart), globals.clone());
            generators.push((Placed { what, origin: origin.clone() }, "helmCharts", index));
        }
        for (placed, index) in self.external_generators()? {
            generators.push((placed, "generators", index));
        }
        for (Placed { what, origin }, field, index) in generators {
            let made = what.generate(&self.loader).and_then(|mut made| {
                for resource in &mut made {
                    resource.origin = resource.origin.take().or_else(|| origin.clone());
                }
                accumulator
                    .absorb(made, &self.loader.context.schema())
                    .map_err(|error| error.context("merging from generator"))
            });
            made.map_err(|error| self.source.blame(field, index, error))?;
        }
        Ok(())
    }

    fn generator_options(&self, own: Option<&GeneratorOptions>) -> Option<GeneratorOptions> {
        GeneratorOptions::with(own, self.kustomization().generator_options.as_ref())
    }

    fn external_generators(&self) -> Result<Vec<(Placed<Generator>, usize)>, KustomizeError> {
        let mut generators = Vec::new();
        for (index, resource) in
            self.plugin_resources(&self.kustomization().generators, "generators")?.iter().enumerate()
        {
            let origin = plugin_origin(resource);
            match plugins::configure(resource, &self.loader)
                .map_err(|error| error.context("failed to load generator"))?
            {
                Plugin::Generator(what) => generators.push((Placed { what, origin }, index)),
                Plugin::Transformers(_) => {
                    let id = resource.original_id(false);
                    return Err(KustomizeError::new(format!("plugin {id} not a generator")));
                }
            }
        }
        Ok(generators)
    }

    fn run_transformers(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        let mut transformers: Vec<Placed<Transformer>> = self
            .built_in_transformers()?
            .into_iter()
            .map(|what| {
                let kind = what.kind();
                let origin =
                    self.origin.as_ref().map(|origin| Arc::new(origin.built_in(self.file_name(), kind)));
                Placed { what, origin }
            })
            .collect();
        transformers.extend(self.external_transformers(&self.kustomization().transformers, "transformers")?);
        for transformer in &transformers {
            self.transform(transformer, accumulator)?;
        }
        Ok(())
    }

    fn transform(
        &self,
        Placed { what, origin }: &Placed<Transformer>,
        accumulator: &mut Accumulator,
    ) -> Result<(), KustomizeError> {
        accumulator.change();
        let Accumulator { resources, config, .. } = accumulator;
        what.apply(resources, config, &self.loader.context.schema())
            .map_err(|error| self.blamed(error, field_of(what)))?;
        if let Some(origin) = origin {
            for resource in &mut resources.list {
                match resource.origin {
                    Some(_) => resource.transformations.push(origin.clone()),
                    None => resource.origin = Some(origin.clone()),
                }
            }
        }
        resources.list.retain(|resource| !resource.value.is_empty());
        Ok(())
    }

    /// The transformers that fields ask for, in the order in which they work.
    fn built_in_transformers(&self) -> Result<Vec<Transformer>, KustomizeError> {
        let kustomization = self.kustomization();
        let mut all = Vec::new();
        let merges = &kustomization.patches_strategic_merge;
        if !merges.is_empty() {
            let merge = plugins::strategic_merge(merges, "", &self.loader);
            all.push(merge.map_err(|error| self.blamed(error, "patchesStrategicMerge"))?);
        }
        for (index, patch) in kustomization.patches.iter().enumerate() {
            let patch = plugins::patch(patch, &self.loader);
            all.push(patch.map_err(|error| self.source.blame("patches", index, error))?);
        }
        if !kustomization.namespace.is_empty() {
            all.push(Transformer::Namespace {
                namespace: kustomization.namespace.clone(),
                fields: None,
                unset_only: false,
                subjects: Subjects::default(),
            });
        }
        if !kustomization.name_prefix.is_empty() {
            all.push(Transformer::Prefix { prefix: kustomization.name_prefix.clone(), fields: None });
        }
        if !kustomization.name_suffix.is_empty() {
            all.push(Transformer::Suffix { suffix: kustomization.name_suffix.clone(), fields: None });
        }
        all.extend(kustomization.labels.iter().cloned().map(Transformer::Labels));
        if !kustomization.labels.is_empty() || !kustomization.common_labels.is_empty() {
            all.push(Transformer::CommonLabels { labels: kustomization.common_labels.clone(), fields: None });
        }
        if !kustomization.common_annotations.is_empty() {
            let annotations = kustomization.common_annotations.clone();
            all.push(Transformer::Annotations { annotations, fields: None });
        }
        for (index, patch) in kustomization.patches_json6902.iter().enumerate() {
            let patch = plugins::json6902(patch.target.as_ref(), &patch.path, &patch.patch, &self.loader);
            all.push(patch.map_err(|error| self.source.blame("patchesJson6902", index, error))?);
        }
        let replicas = kustomization.replicas.iter().cloned();
        all.extend(replicas.map(|replica| Transformer::Replica { replica, fields: None }));
        let images = kustomization.images.iter().cloned();
        all.extend(images.map(|image| Transformer::Image { image, fields: None }));
        if !kustomization.replacements.is_empty() {
            let replacements = plugins::replacements(&kustomization.replacements, &self.loader);
            all.push(replacements.map_err(|error| self.blamed(error, "replacements"))?);
        }
        Ok(all)
    }

    fn external_transformers(
        &self,
        given: &[Str],
        field: &str,
    ) -> Result<Vec<Placed<Transformer>>, KustomizeError> {
        let mut transformers = Vec::new();
        for resource in &self.plugin_resources(given, field)? {
            let origin = plugin_origin(resource);
            match plugins::configure(resource, &self.loader).map_err(|error| self.blamed(error, field))? {
                Plugin::Transformers(all) => {
                    // What is configured as one is one, however many it is made of.
                    let last = all.len().saturating_sub(1);
                    transformers.extend(all.into_iter().enumerate().map(|(index, what)| Placed {
                        what,
                        origin: origin.clone().filter(|_| index == last),
                    }));
                }
                Plugin::Generator(_) => {
                    let id = resource.original_id(false);
                    let error = KustomizeError::new(format!("plugin {id} not a transformer"));
                    return Err(self.blamed(error, field));
                }
            }
        }
        Ok(transformers)
    }

    /// A validator is a transformer that may change nothing but one label.
    fn run_validators(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        for validator in self.external_transformers(&self.kustomization().validators, "validators")? {
            let before: Vec<Resource> = accumulator.resources.list.clone();
            let validator = Placed { origin: None, ..validator };
            self.transform(&validator, accumulator)?;
            let after = &accumulator.resources.list;
            let is_same = before.len() == after.len()
                && before.iter().zip(after).all(|(before, after)| {
                    let mut after = after.value.clone();
                    after.remove(&["metadata", "labels", VALIDATED_BY]);
                    if before.value.at(&["metadata", "labels"]).is_none()
                        && after.at(&["metadata", "labels"]).is_some_and(|labels| labels.is_empty())
                    {
                        after.remove(&["metadata", "labels"]);
                    }
                    before.value == after
                });
            if !is_same {
                let error = KustomizeError::new("validator shouldn't modify the resource map");
                return Err(self.blamed(error, "validators"));
            }
        }
        Ok(())
    }

    fn file_name(&self) -> &str {
        self.source.file.name()
    }

    fn text(&self, path: &str) -> Result<Text, KustomizeError> {
        let loaded = self.loader.load(path)?;
        Ok(Text { text: loaded.bytes, file: loaded.file })
    }

    fn texts(&self, paths: &[Str], field: &str) -> Result<Vec<Text>, KustomizeError> {
        let texts = paths.iter().enumerate();
        texts
            .map(|(index, path)| self.text(path).map_err(|error| self.source.blame(field, index, error)))
            .collect()
    }

    /// The error as asked for by a field of this kustomization.
    fn blamed(&self, error: KustomizeError, field: &str) -> KustomizeError {
        error.within(&self.source.file, field)
    }
}

/// Where a plugin that is written as a resource was written down.
fn plugin_origin(resource: &Resource) -> Option<Arc<Origin>> {
    let origin = resource.origin.as_ref()?;
    Some(Arc::new(origin.plugin(ConfiguredBy {
        api_version: resource.api_version().into(),
        kind: resource.kind_name().into(),
        name: resource.name().into(),
        namespace: resource.namespace().into(),
    })))
}

/// The field of a kustomization that a transformer comes from.
fn field_of(transformer: &Transformer) -> &'static str {
    match transformer {
        Transformer::Annotations { .. } => "commonAnnotations",
        Transformer::CommonLabels { .. } => "commonLabels",
        Transformer::Hash => "transformers",
        Transformer::Image { .. } => "images",
        Transformer::Labels(_) => "labels",
        Transformer::Namespace { .. } => "namespace",
        Transformer::PatchJson6902 { .. } => "patchesJson6902",
        Transformer::PatchStrategicMerge { .. } => "patchesStrategicMerge",
        Transformer::Patch { .. } => "patches",
        Transformer::Prefix { .. } => "namePrefix",
        Transformer::Suffix { .. } => "nameSuffix",
        Transformer::Replacements(_) => "replacements",
        Transformer::Replica { .. } => "replicas",
        Transformer::ValueAdd { .. } => "transformers",
    }
}
