//! A kustomization file: what it may say, what it must not, and what older ways of saying it mean.

pub(crate) mod fields;

use std::sync::Arc;

use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, Str, Value, yaml};

use crate::error::KustomizeError;
use crate::record::{Decode, Mode, known_name, record};
use fields::{
    ConfigMapArguments, GeneratorOptions, HelmChart, HelmGlobals, Image, Labels, ObjectMeta, OldHelmChart,
    Patch, Replacement, Replica, SecretArguments, SortOptions, Texts, Variable,
};

/// The names that a kustomization file may have. A directory may hold one of them.
pub(crate) const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

const KUSTOMIZATION_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const COMPONENT_VERSION: &str = "kustomize.config.k8s.io/v1alpha1";
const KUSTOMIZATION: &str = "Kustomization";
const COMPONENT: &str = "Component";

/// The older fields that are warned of, with what stands in their place and what is said of the way there.
const DEPRECATED: [(&str, &str, &str); 6] = [
    ("bases", "resources", ""),
    ("commonLabels", "labels", ""),
    ("imageTags", "images", ""),
    ("patchesJson6902", "patches", ""),
    ("patchesStrategicMerge", "patches", ""),
    ("vars", "replacements", "[EXPERIMENTAL] "),
];

record! {
    /// Everything that a kustomization may say.
    pub(crate) struct Kustomization {
        api_version: Str = "apiVersion",
        kind: Str = "kind",
        metadata: Option<ObjectMeta> = "metadata",
        openapi: Texts = "openapi",
        name_prefix: Str = "namePrefix",
        name_suffix: Str = "nameSuffix",
        namespace: Str = "namespace",
        common_labels: Texts = "commonLabels",
        labels: Vec<Labels> = "labels",
        common_annotations: Texts = "commonAnnotations",
        patches_strategic_merge: Vec<Str> = "patchesStrategicMerge",
        patches_json6902: Vec<Patch> = "patchesJson6902",
        patches: Vec<Patch> = "patches",
        images: Vec<Image> = "images",
        image_tags: Vec<Image> = "imageTags",
        replacements: Vec<Replacement> = "replacements",
        replicas: Vec<Replica> = "replicas",
        variables: Vec<Variable> = "vars",
        sort_options: Option<SortOptions> = "sortOptions",
        resources: Vec<Str> = "resources",
        components: Vec<Str> = "components",
        crds: Vec<Str> = "crds",
        bases: Vec<Str> = "bases",
        config_maps: Vec<ConfigMapArguments> = "configMapGenerator",
        secrets: Vec<SecretArguments> = "secretGenerator",
        helm_globals: Option<HelmGlobals> = "helmGlobals",
        helm_charts: Vec<HelmChart> = "helmCharts",
        old_helm_charts: Vec<OldHelmChart> = "helmChartInflationGenerator",
        generator_options: Option<GeneratorOptions> = "generatorOptions",
        configurations: Vec<Str> = "configurations",
        generators: Vec<Str> = "generators",
        transformers: Vec<Str> = "transformers",
        validators: Vec<Str> = "validators",
        build_metadata: Vec<Str> = "buildMetadata",
    }
}

/// A kustomization with the file that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// What it says.
    pub(crate) kustomization: Kustomization,
    /// The file.
    pub(crate) file: FilePath,
    /// The file's text, in which the places of fields are looked up when something is wrong with one.
    text: Arc<[u8]>,
    /// How many of the resources are written under `resources`; the rest is written under `bases`.
    own_resources: usize,
}

impl Source {
    /// Reads a kustomization file. What should be written otherwise is added to the warnings.
    pub(crate) fn read(
        file: &FilePath,
        text: Arc<[u8]>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, KustomizeError> {
        let value = yaml::parse(&text).map_err(|error| {
            let place = Span { file: file.clone(), line: error.line, column: error.column };
            let told = KustomizeError::new(format!("invalid Kustomization: {error}")).at(place);
            match error.hint {
                Some(hint) => told.hint(hint),
                None => told,
            }
        })?;
        let mut kustomization = Kustomization::decode(&value, Mode::Strict).map_err(|error| {
            let problem = format!("invalid Kustomization: json: {}", error.problem);
            KustomizeError::new(problem).within(file, error.path().to_string()).at(place(
                file,
                &text,
                &error.path(),
            ))
        })?;
        warnings.extend(deprecations(&value));
        let own_resources = kustomization.resources.len();
        kustomization.renew();
        if is_empty(&value) {
            return Err(KustomizeError::new("kustomization.yaml is empty").within(file, ""));
        }
        kustomization.check().map_err(|error| {
            let field = if error.message.contains("kind should be") { "kind" } else { "apiVersion" };
            error.within(file, field).at(place(file, &text, &FieldPath::fields([field])))
        })?;
        Ok(Source { kustomization, file: file.clone(), text, own_resources })
    }

    /// The file's text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where a field is.
    pub(crate) fn place(&self, field: &FieldPath) -> Span {
        place(&self.file, &self.text, field)
    }

    /// The error as asked for by an item of a list.
    pub(crate) fn blame(&self, field: &str, index: usize, error: KustomizeError) -> KustomizeError {
        let (field, index) = match field {
            "resources" if index >= self.own_resources => ("bases", index - self.own_resources),
            _ => (field, index),
        };
        let path = FieldPath::fields([field]).index(index);
        if error.kustomization.is_some() {
            return error;
        }
        let place = self.place(&path);
        error.within(&self.file, path.to_string()).at(place)
    }
}

fn place(file: &FilePath, text: &[u8], field: &FieldPath) -> Span {
    let (line, column) = yaml::locate(text, 0, field).unwrap_or_default();
    Span { file: file.clone(), line, column }
}

impl Kustomization {
    /// Whether this is a component, which works on what is there already.
    pub(crate) fn is_component(&self) -> bool {
        self.kind == COMPONENT
    }

    /// Moves what is said in older ways to where it is said now.
    fn renew(&mut self) {
        if self.kind.is_empty() {
            self.kind = KUSTOMIZATION.into();
        }
        if self.api_version.is_empty() {
            self.api_version = self.wanted_version().into();
        }
        self.resources.append(&mut self.bases);
        self.images.append(&mut self.image_tags);
        for arguments in &mut self.config_maps {
            if !arguments.env.is_empty() {
                arguments.envs.push(std::mem::take(&mut arguments.env));
            }
        }
        for arguments in &mut self.secrets {
            if !arguments.env.is_empty() {
                arguments.envs.push(std::mem::take(&mut arguments.env));
            }
        }
        let old = std::mem::take(&mut self.old_helm_charts);
        let mut globals = HelmGlobals::default();
        for chart in &old {
            if !chart.helm_home.is_empty() {
                globals.config_home = chart.helm_home.clone();
            }
            if !chart.chart_home.is_empty() {
                globals.chart_home = chart.chart_home.clone();
            }
            self.helm_charts.push(chart.renewed());
        }
        if self.helm_globals.is_none() && globals != HelmGlobals::default() {
            self.helm_globals = Some(globals);
        }
    }

    fn wanted_version(&self) -> &'static str {
        if self.is_component() { COMPONENT_VERSION } else { KUSTOMIZATION_VERSION }
    }

    fn check(&self) -> Result<(), KustomizeError> {
        let mut wrong = Vec::new();
        if self.kind != KUSTOMIZATION && self.kind != COMPONENT {
            wrong.push(format!("kind should be {KUSTOMIZATION} or {COMPONENT}"));
        }
        if self.api_version != self.wanted_version() {
            wrong.push(format!("apiVersion for {} should be {}", self.kind, self.wanted_version()));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(KustomizeError::new(format!("Failed to read kustomization file: {}", wrong.join("\n"))))
    }
}

/// What is said of fields that should be written otherwise.
fn deprecations(value: &Value) -> impl Iterator<Item = String> + '_ {
    let said = |name: &str| {
        value.as_map().is_some_and(|map| {
            map.iter().any(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null())
        })
    };
    DEPRECATED.iter().filter(move |(old, ..)| said(old)).map(|(old, new, note)| {
        format!(
            "# Warning: '{old}' is deprecated. Please use '{new}' instead. {note}Run 'kustomize edit fix' to update \
             your Kustomization automatically."
        )
    })
}

/// Whether nothing is asked for. An empty list counts as something, unless it would be moved elsewhere.
fn is_empty(value: &Value) -> bool {
    const TEXTS: [&str; 3] = ["namePrefix", "nameSuffix", "namespace"];
    const MOVED: [&str; 3] = ["bases", "imageTags", "helmChartInflationGenerator"];
    const TYPE: [&str; 2] = ["apiVersion", "kind"];
    let Some(map) = value.as_map() else { return true };
    map.iter().all(|(key, value)| {
        let is_one_of = |names: &[&'static str]| known_name(names, key).is_some();
        value.is_null() || is_one_of(&TYPE) || ((is_one_of(&TEXTS) || is_one_of(&MOVED)) && value.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<Source, KustomizeError>, Vec<String>) {
        let mut warnings = Vec::new();
        let file = FilePath::new("kustomization.yaml").unwrap();
        let source = Source::read(&file, text.as_bytes().into(), &mut warnings);
        (source, warnings)
    }

    fn failure(text: &str) -> String {
        read(text).0.unwrap_err().to_string()
    }

    #[test]
    fn a_field_that_nobody_knows_is_named_with_its_line() {
        assert_eq!(
            failure("resources: []\npatches:\n- path: a\n  targt: {}\n"),
            "kustomization.yaml: patches[0].targt: invalid Kustomization: json: unknown field \"targt\" \
             (kustomization.yaml:4:3)"
        );
    }

    #[test]
    fn names_of_fields_may_be_written_in_any_case() {
        let source = read("NamePrefix: a-\nRESOURCES: [b]\n").0.unwrap();
        assert_eq!(source.kustomization.name_prefix, "a-");
        assert_eq!(source.kustomization.resources, ["b"]);
    }

    #[test]
    fn a_label_has_to_be_a_text() {
        assert!(failure("commonLabels: {a: 1}\n").contains("cannot unmarshal number"));
    }

    #[test]
    fn a_kustomization_that_asks_for_nothing_is_an_error() {
        for text in
            ["", "# nothing\n", "kind: Kustomization\n", "namePrefix: ''\n", "bases: []\n", "patches:\n"]
        {
            assert!(failure(text).contains("kustomization.yaml is empty"), "{text}");
        }
        for text in ["resources: []\n", "metadata: {}\n", "openapi: {}\n", "labels: []\n"] {
            assert!(read(text).0.is_ok(), "{text}");
        }
    }

    #[test]
    fn older_fields_are_warned_of_and_moved() {
        let (source, warnings) = read(
            "bases: [b]\nresources: [a]\nimageTags: [{name: nginx}]\nvars: []\npatchesJson6902: null\n\
             configMapGenerator: [{name: c, env: e, envs: [f]}]\n",
        );
        let kustomization = source.unwrap().kustomization;
        assert_eq!(kustomization.resources, ["a", "b"]);
        assert_eq!(kustomization.images.len(), 1);
        assert_eq!(kustomization.config_maps[0].envs, ["f", "e"]);
        assert_eq!(
            warnings,
            [
                "# Warning: 'bases' is deprecated. Please use 'resources' instead. Run 'kustomize edit fix' to update \
                 your Kustomization automatically.",
                "# Warning: 'imageTags' is deprecated. Please use 'images' instead. Run 'kustomize edit fix' to update \
                 your Kustomization automatically.",
                "# Warning: 'vars' is deprecated. Please use 'replacements' instead. [EXPERIMENTAL] Run 'kustomize edit \
                 fix' to update your Kustomization automatically.",
            ]
        );
    }

    #[test]
    fn the_kind_and_its_version_have_to_fit() {
        assert!(
            failure("kind: Deployment\nresources: [a]\n")
                .contains("kind should be Kustomization or Component")
        );
        assert!(
            failure("kind: Component\napiVersion: kustomize.config.k8s.io/v1beta1\nresources: [a]\n")
                .contains("apiVersion for Component should be kustomize.config.k8s.io/v1alpha1")
        );
        assert!(read("kind: Component\nresources: [a]\n").0.unwrap().kustomization.is_component());
    }

    #[test]
    fn an_error_is_blamed_on_the_field_that_it_was_written_in() {
        let source = read("resources:\n- a\nbases:\n- b\n- c\n").0.unwrap();
        let told = |index| source.blame("resources", index, KustomizeError::new("gone")).to_string();
        assert_eq!(told(0), "kustomization.yaml: resources[0]: gone (kustomization.yaml:2:3)");
        assert_eq!(told(2), "kustomization.yaml: bases[1]: gone (kustomization.yaml:5:3)");
    }

    #[test]
    fn charts_as_they_were_written_before_are_charts() {
        let source = read(
            "helmChartInflationGenerator:\n- {chartName: c, chartRepoUrl: r, chartHome: h, valuesLocal: {a: 1}}\n",
        );
        let kustomization = source.0.unwrap().kustomization;
        assert_eq!(kustomization.helm_charts[0].name, "c");
        assert_eq!(kustomization.helm_globals.unwrap().chart_home, "h");
    }
}
