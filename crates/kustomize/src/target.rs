//! One kustomization, carried out step by step in Kustomize's order.

mod resources;

use std::sync::Arc;

use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, Str};

use crate::accumulator::Accumulator;
use crate::config::Config;
use crate::crds::{self, CrdFields};
use crate::error::KustomizeError;
use crate::idle::{self, IdlePatch};
use crate::kustomization::fields::GeneratorOptions;
use crate::kustomization::{FILE_NAMES, Kustomization, Source};
use crate::load::Loader;
use crate::namespace::Subjects;
use crate::origin::{ConfiguredBy, Origin};
use crate::plugins::{self, Generator, Plugin};
use crate::resource::Resource;
use crate::resources::Resources;
use crate::trace::{self, Asked, Step};
use crate::transformers::{self, Text, Transformer};
use crate::variables::Variable;

/// The label that validators may put on what they have seen.
const VALIDATED_BY: &str = "validated-by";

/// A kustomization with where it is and what it is built for.
pub(crate) struct Target<'a> {
    loader: Loader<'a>,
    source: Arc<Source>,
    /// Where it is seen from where the build began, if the build keeps account of that.
    origin: Option<Origin>,
    /// The namespace that charts get from the kustomizations above.
    chart_namespace: Str,
}

/// Something that makes or changes resources, with where it was written down.
struct Placed<T> {
    what: T,
    /// The field of the kustomization that asks for it.
    field: FieldPath,
    /// The resource that configures it, if it is a plugin.
    plugin: Option<Span>,
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
        Ok(Target { loader, source: Arc::new(source), origin: None, chart_namespace: Str::new() })
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
        if let Some(mut tracer) = self.loader.context.tracer() {
            for (index, variable) in wanted.iter().enumerate() {
                let span = self.source.place(&item("vars", index));
                tracer.define(variable.name.clone(), trace::place(self.loader.repository(), &span));
            }
        }
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
            generators.push(Placed::new(what, item("configMapGenerator", index), origin.clone()));
        }
        let origin = built_in("SecretGenerator");
        for (index, arguments) in self.kustomization().secrets.iter().enumerate() {
            let mut arguments = arguments.clone();
            arguments.options = self.generator_options(arguments.options.as_ref());
            let what = Generator::Secret(Box::new(arguments));
            generators.push(Placed::new(what, item("secretGenerator", index), origin.clone()));
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
            generators.push(Placed::new(what, item("helmCharts", index), origin.clone()));
        }
        generators.extend(self.external_generators()?);
        for Placed { what, field, plugin, origin } in generators {
            let made = what.generate(&self.loader).and_then(|mut made| {
                for resource in &mut made {
                    resource.origin = resource.origin.take().or_else(|| origin.clone());
                }
                accumulator
                    .absorb(made, &self.loader.context.schema())
                    .map_err(|error| error.context("merging from generator"))
            });
            made.map_err(|error| self.blamed_at(error, &field))?;
            let resources = &mut accumulator.resources.list;
            self.loader.context.trace(resources, || self.asked(field, Vec::new(), plugin));
        }
        Ok(())
    }

    fn generator_options(&self, own: Option<&GeneratorOptions>) -> Option<GeneratorOptions> {
        GeneratorOptions::with(own, self.kustomization().generator_options.as_ref())
    }

    fn external_generators(&self) -> Result<Vec<Placed<Generator>>, KustomizeError> {
        let mut generators = Vec::new();
        for (index, resource) in
            self.plugin_resources(&self.kustomization().generators, "generators")?.iter().enumerate()
        {
            let origin = plugin_origin(resource);
            match plugins::configure(resource, &self.loader)
                .map_err(|error| self.blamed(error.context("failed to load generator"), "generators"))?
            {
                Plugin::Generator(what) => {
                    let plugin = resource.span.clone();
                    generators.push(Placed { what, field: item("generators", index), plugin, origin });
                }
                Plugin::Transformers(_) => {
                    let id = resource.original_id(false);
                    let error = KustomizeError::new(format!("plugin {id} not a generator"));
                    return Err(self.blamed(error, "generators"));
                }
            }
        }
        Ok(generators)
    }

    fn run_transformers(&self, accumulator: &mut Accumulator) -> Result<(), KustomizeError> {
        let mut transformers: Vec<Placed<Transformer>> = self
            .built_in_transformers()?
            .into_iter()
            .map(|(what, field)| {
                let kind = what.kind();
                let origin =
                    self.origin.as_ref().map(|origin| Arc::new(origin.built_in(self.file_name(), kind)));
                Placed::new(what, field, origin)
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
        Placed { what, field, plugin, origin }: &Placed<Transformer>,
        accumulator: &mut Accumulator,
    ) -> Result<(), KustomizeError> {
        accumulator.change();
        let Accumulator { resources, config, .. } = accumulator;
        if plugin.is_none() {
            self.note_idle(what, field, resources);
        }
        what.apply(resources, config, &self.loader.context.schema())
            .map_err(|error| self.blamed_at(error, field))?;
        if let Some(origin) = origin {
            for resource in &mut resources.list {
                match resource.origin {
                    Some(_) => resource.transformations.push(origin.clone()),
                    None => resource.origin = Some(origin.clone()),
                }
            }
        }
        resources.list.retain(|resource| !resource.value.is_empty());
        self.loader.context.trace(&mut resources.list, || {
            self.asked(field.clone(), trace::patches_of(what), plugin.clone())
        });
        Ok(())
    }

    /// Notes a patch that is for nothing, where the files are the user's own.
    fn note_idle(&self, what: &Transformer, field: &FieldPath, resources: &Resources) {
        let context = self.loader.context;
        if self.loader.repository().is_some() {
            return;
        }
        if let Some((kind, name, names)) = idle::idle(what, resources, &context.schema()) {
            let field = field.field("target");
            let is_shared = self.kustomization().is_component();
            context.note_idle(IdlePatch {
                span: self.source.place(&field),
                field,
                kind,
                name,
                names,
                is_shared,
            });
        }
    }

    /// The transformers that fields ask for, in the order in which they work.
    fn built_in_transformers(&self) -> Result<Vec<(Transformer, FieldPath)>, KustomizeError> {
        let kustomization = self.kustomization();
        let mut all = Vec::new();
        let merges = &kustomization.patches_strategic_merge;
        if !merges.is_empty() {
            let merge = plugins::strategic_merge(merges, "", &self.loader);
            let merge = merge.map_err(|error| self.blamed(error, "patchesStrategicMerge"))?;
            all.push((merge, FieldPath::fields(["patchesStrategicMerge"])));
        }
        for (index, patch) in kustomization.patches.iter().enumerate() {
            let patch = plugins::patch(patch, &self.loader);
            let field = item("patches", index);
            all.push((patch.map_err(|error| self.blamed_at(error, &field))?, field));
        }
        if !kustomization.namespace.is_empty() {
            let namespace = Transformer::Namespace {
                namespace: kustomization.namespace.clone(),
                fields: None,
                unset_only: false,
                subjects: Subjects::default(),
            };
            all.push((namespace, FieldPath::fields(["namespace"])));
        }
        if !kustomization.name_prefix.is_empty() {
            let prefix = Transformer::Prefix { prefix: kustomization.name_prefix.clone(), fields: None };
            all.push((prefix, FieldPath::fields(["namePrefix"])));
        }
        if !kustomization.name_suffix.is_empty() {
            let suffix = Transformer::Suffix { suffix: kustomization.name_suffix.clone(), fields: None };
            all.push((suffix, FieldPath::fields(["nameSuffix"])));
        }
        let labels = kustomization.labels.iter().cloned().map(Transformer::Labels);
        all.extend(labels.enumerate().map(|(index, labels)| (labels, item("labels", index))));
        if !kustomization.labels.is_empty() || !kustomization.common_labels.is_empty() {
            let labels =
                Transformer::CommonLabels { labels: kustomization.common_labels.clone(), fields: None };
            all.push((labels, FieldPath::fields(["commonLabels"])));
        }
        if !kustomization.common_annotations.is_empty() {
            let annotations = kustomization.common_annotations.clone();
            let annotations = Transformer::Annotations { annotations, fields: None };
            all.push((annotations, FieldPath::fields(["commonAnnotations"])));
        }
        for (index, patch) in kustomization.patches_json6902.iter().enumerate() {
            let patch = plugins::json6902(patch.target.as_ref(), &patch.path, &patch.patch, &self.loader);
            let field = item("patchesJson6902", index);
            all.push((patch.map_err(|error| self.blamed_at(error, &field))?, field));
        }
        for (index, replica) in kustomization.replicas.iter().cloned().enumerate() {
            all.push((Transformer::Replica { replica, fields: None }, item("replicas", index)));
        }
        for (index, image) in kustomization.images.iter().cloned().enumerate() {
            all.push((Transformer::Image { image, fields: None }, item("images", index)));
        }
        self.add_replacements(&mut all)?;
        Ok(all)
    }

    /// All replacements are one transformer, unless somebody asks which of them did what.
    fn add_replacements(&self, all: &mut Vec<(Transformer, FieldPath)>) -> Result<(), KustomizeError> {
        let replacements = &self.kustomization().replacements;
        if replacements.is_empty() {
            return Ok(());
        }
        let keeps_account = self.loader.context.is_traced() && self.origin.is_none();
        if !keeps_account {
            let field = FieldPath::fields(["replacements"]);
            let replacements = plugins::replacements(replacements, &self.loader);
            all.push((replacements.map_err(|error| self.blamed_at(error, &field))?, field));
            return Ok(());
        }
        for (index, replacement) in replacements.iter().enumerate() {
            let field = item("replacements", index);
            let replacement = plugins::replacements(std::slice::from_ref(replacement), &self.loader);
            all.push((replacement.map_err(|error| self.blamed_at(error, &field))?, field));
        }
        Ok(())
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
                        field: FieldPath::fields([field]),
                        plugin: resource.span.clone(),
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

    /// The error as asked for by a field of this kustomization, or of one below it if this one has no such field.
    pub(crate) fn blamed(&self, error: KustomizeError, field: &str) -> KustomizeError {
        self.blamed_at(error, &FieldPath::fields([field]))
    }

    fn blamed_at(&self, error: KustomizeError, field: &FieldPath) -> KustomizeError {
        if error.kustomization.is_some() {
            return error;
        }
        // Replacements are one piece of work; those of files are not items of the field.
        let are_items = *field == FieldPath::fields(["replacements"])
            && self.kustomization().replacements.iter().all(|one| one.path.is_empty());
        let field = match error.field.parse::<usize>().ok().filter(|_| are_items) {
            Some(item) => &field.index(item),
            None => field,
        };
        let place = self.source.place(field);
        error.within(&self.source.file, field.to_string()).at(place)
    }

    /// What a field of this kustomization does, for the account of who set what.
    pub(crate) fn step(&self, field: &str) -> Step {
        self.asked(FieldPath::fields([field]), Vec::new(), None)
    }

    fn asked(&self, field: FieldPath, patches: Vec<Text>, plugin: Option<Span>) -> Step {
        let repository = self.loader.repository().map(str::to_owned);
        Step::Field(Asked { source: self.source.clone(), repository, field, patches, plugin })
    }
}

impl<T> Placed<T> {
    /// What a field of the kustomization says itself.
    fn new(what: T, field: FieldPath, origin: Option<Arc<Origin>>) -> Self {
        Placed { what, field, plugin: None, origin }
    }
}

/// An item of a list of the kustomization.
fn item(field: &str, index: usize) -> FieldPath {
    FieldPath::fields([field]).index(index)
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
