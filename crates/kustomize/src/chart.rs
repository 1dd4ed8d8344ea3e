//! Charts of a kustomization, rendered as `helm template` renders them.

use std::sync::Arc;

use lynceus_files::{Entry, FilePath};
use lynceus_helm::{Chart, KubeVersion, Output, Release, ValueOptions, ValuesFile};
use lynceus_object::{Map, Str, Value, yaml};

use crate::error::KustomizeError;
use crate::kustomization::fields::{HelmChart, HelmGlobals};
use crate::load::{LoadError, Loader};
use crate::need::{Got, Need};
use crate::options::HelmOptions;
use crate::read;
use crate::resource::Resource;

/// A chart with all that it is rendered with.
struct Inflation<'a, 'b> {
    loader: &'a Loader<'b>,
    options: &'a HelmOptions,
    chart: &'a HelmChart,
    /// Where the chart is, or would be had it been pulled.
    directory: FilePath,
}

/// Renders a chart. Nothing comes of one that has to be got first.
pub(crate) fn render(
    chart: &HelmChart,
    globals: &HelmGlobals,
    loader: &Loader<'_>,
) -> Result<Vec<Resource>, KustomizeError> {
    let Some(options) = &loader.context.options.helm else {
        return Err(KustomizeError::new("must specify --enable-helm"));
    };
    if chart.name.is_empty() {
        return Err(KustomizeError::new("chart name cannot be empty"));
    }
    let directory = directory(chart, globals, loader)?;
    let inflation = Inflation { loader, options, chart, directory };
    let precedence = inflation.precedence()?;
    let mut additional = Vec::new();
    for path in &chart.additional_values_files {
        let loaded = loader.load(path).map_err(KustomizeError::from);
        let loaded = loaded.map_err(|error| error.context("could not load additionalValuesFile"))?;
        additional.push(ValuesFile { name: path.to_string(), data: loaded.bytes });
    }
    let loaded = match inflation.load() {
        Ok(loaded) => loaded,
        Err(LoadError::Pending(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let values = inflation.values(precedence, &loaded)?;
    let mut files = vec![ValuesFile { name: format!("{}-kustomize-values.yaml", chart.name), data: values }];
    files.append(&mut additional);
    let text = inflation.template(&loaded.chart, files)?;
    let mut resources =
        read::resources(&text, None).map_err(|error| error.context("error reading helm output"))?;
    for resource in &mut resources {
        resource.is_from_chart = true;
    }
    Ok(resources)
}

/// How values of a kustomization go together with those of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// Those of the kustomization win.
    Inline,
    /// Those of the file win.
    File,
    /// Those of the file do not count.
    InlineOnly,
}

/// A chart that was read.
struct LoadedChart {
    chart: Arc<Chart>,
    /// The chart's own values, if it did not come from the tree.
    pulled_values: Option<Option<Arc<[u8]>>>,
}

fn directory(
    chart: &HelmChart,
    globals: &HelmGlobals,
    loader: &Loader<'_>,
) -> Result<FilePath, KustomizeError> {
    let home = if globals.chart_home.is_empty() { "charts" } else { globals.chart_home.as_str() };
    let outside = || KustomizeError::new(format!("chart home '{home}' is outside of the repository"));
    let mut directory = loader.locate(home).ok_or_else(outside)?;
    if !chart.version.is_empty() && !chart.repository.is_empty() {
        let version = format!("{}-{}", chart.name, chart.version);
        directory = directory.join(&version).map_err(|_| outside())?;
    }
    directory.join(&chart.name).map_err(|_| outside())
}

impl Inflation<'_, '_> {
    fn precedence(&self) -> Result<Precedence, KustomizeError> {
        match self.chart.values_merge.as_str() {
            "" | "override" => Ok(Precedence::Inline),
            "merge" => Ok(Precedence::File),
            "replace" => Ok(Precedence::InlineOnly),
            _ => Err(KustomizeError::new("valuesMerge must be one of [merge override replace]")),
        }
    }

    /// The chart in the tree, or else from its repository.
    fn load(&self) -> Result<LoadedChart, LoadError> {
        let failed = |problem: String| LoadError::Failed(KustomizeError::new(problem));
        let told = |error: &dyn std::fmt::Display| failed(format!("chart {}: {error}", self.chart.name));
        if self.loader.entry(&self.directory).is_ok_and(|entry| entry == Entry::Directory) {
            let chart =
                Chart::from_tree(self.loader.tree(), &self.directory).map_err(|error| told(&error))?;
            return Ok(LoadedChart { chart: Arc::new(chart), pulled_values: None });
        }
        if self.chart.repository.is_empty() {
            let place = self.loader.shown(&self.directory);
            return Err(failed(format!("no repo specified for pull, no chart found at '{place}'")));
        }
        let need = Need::Chart {
            repository: self.chart.repository.clone(),
            name: self.chart.name.clone(),
            version: self.chart.version.clone(),
        };
        match self.loader.context.get(need.clone()) {
            None => Err(LoadError::Pending(need)),
            Some(Got::Bytes(bytes)) => {
                let chart = Chart::from_archive(bytes).map_err(|error| told(&error))?;
                let own = chart.raw().iter().find(|file| file.name == "values.yaml");
                let pulled_values = Some(own.map(|file| file.data.clone()));
                Ok(LoadedChart { chart: Arc::new(chart), pulled_values })
            }
            Some(Got::Tree(_)) => Err(failed(format!("{need} is not an archive"))),
            Some(Got::Failed(reason)) => Err(failed(format!("cannot get {need}: {reason}"))),
        }
    }

    /// The values that stand in the place of the chart's own.
    fn values(&self, precedence: Precedence, chart: &LoadedChart) -> Result<Arc<[u8]>, KustomizeError> {
        let inline: Map =
            self.chart.values_inline.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        if inline.is_empty() {
            return self.values_file(chart);
        }
        let merged = match precedence {
            Precedence::InlineOnly => inline,
            Precedence::Inline => merged(self.read_values(chart)?, &inline),
            Precedence::File => merged(inline, &self.read_values(chart)?),
        };
        Ok(yaml::to_string(&Value::Map(merged)).into_bytes().into())
    }

    fn read_values(&self, chart: &LoadedChart) -> Result<Map, KustomizeError> {
        let text = self.values_file(chart)?;
        let options = yaml::Options::default().version(yaml::Version::V3);
        let told = |problem: String| {
            KustomizeError::new(format!("could not parse values file into rnode: {problem}"))
        };
        match yaml::parse_with(&text, &options).map_err(|error| told(error.to_string()))? {
            Value::Map(map) => Ok(map),
            Value::Null => Err(told("EOF".to_owned())),
            _ => Err(KustomizeError::new("could not merge values: the values file is not a map")),
        }
    }

    fn values_file(&self, chart: &LoadedChart) -> Result<Arc<[u8]>, KustomizeError> {
        if !self.chart.values_file.is_empty() {
            return Ok(self.loader.load(&self.chart.values_file)?.bytes);
        }
        let missing = || KustomizeError::new(format!("chart {} has no values.yaml", self.chart.name));
        match &chart.pulled_values {
            Some(pulled) => pulled.clone().ok_or_else(missing),
            None => {
                let file = self.directory.join("values.yaml").map_err(|_| missing())?;
                Ok(self.loader.load_file(&file)?.bytes)
            }
        }
    }

    fn template(&self, chart: &Arc<Chart>, files: Vec<ValuesFile>) -> Result<Vec<u8>, KustomizeError> {
        let told = |error: &dyn std::fmt::Display| {
            KustomizeError::new(format!("cannot render chart {}: {error}", self.chart.name))
        };
        let values = ValueOptions { files, ..ValueOptions::default() };
        let values = values.merge(&mut |_| Ok(String::new())).map_err(|error| told(&error))?;
        let mut world = self.loader.context.world();
        let name = match (self.chart.release_name.as_str(), self.chart.name_template.as_str()) {
            ("", "") => "release-name".to_owned(),
            ("", template) => lynceus_helm::release_name(template, |_| String::new(), &mut **world)
                .map_err(|error| told(&error))?,
            (name, "") => name.to_owned(),
            _ => return Err(told(&"cannot set --name-template and also specify a name")),
        };
        let namespace =
            if self.chart.namespace.is_empty() { "default" } else { self.chart.namespace.as_str() };
        let capabilities = self.capabilities().map_err(|error| told(&error))?;
        let release = Release::new(name, namespace);
        let options = lynceus_helm::Options::default();
        let rendering = lynceus_helm::render(chart, &values, &release, &capabilities, &options, &mut **world)
            .map_err(|error| told(&error))?;
        let output = Output {
            include_crds: self.chart.include_crds,
            skip_tests: self.chart.skip_tests,
            no_hooks: self.chart.skip_hooks,
            ..Output::default()
        };
        output.print(&rendering).map_err(|error| told(&error))
    }

    fn capabilities(&self) -> Result<lynceus_helm::Capabilities, String> {
        let own = |own: &Str, other: &str| if own.is_empty() { other.to_owned() } else { own.to_string() };
        let version = match own(&self.chart.kube_version, &self.options.kube_version) {
            version if version.is_empty() => None,
            version => Some(KubeVersion::parse(&version)?),
        };
        let apis: Vec<String> = if self.chart.api_versions.is_empty() {
            self.options.api_versions.clone()
        } else {
            self.chart.api_versions.iter().map(ToString::to_string).collect()
        };
        Ok(self.options.capabilities.clone().with(version, &apis))
    }
}

/// Values with others over them: maps are merged, `null` takes a field away, everything else is replaced.
fn merged(mut into: Map, over: &Map) -> Map {
    for (key, value) in over.iter() {
        match (into.get_mut(key), value) {
            (_, Value::Null) => {
                into.remove(key);
            }
            (Some(Value::Map(old)), Value::Map(new)) => *old = merged(std::mem::take(old), new),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
    into
}

#[cfg(test)]
mod tests {
    use lynceus_object::{json, value};

    use super::*;

    #[test]
    fn values_are_merged_field_by_field_and_null_takes_away() {
        let map = |value: Value| value.as_map().cloned().unwrap();
        let found = merged(
            map(value!({"a": {"b": 1, "c": [1, 2]}, "d": 1, "e": 1})),
            &map(value!({"a": {"c": [3]}, "d": null, "f": {"g": 1}})),
        );
        assert_eq!(json::to_string(&Value::Map(found)), r#"{"a":{"b":1,"c":[3]},"e":1,"f":{"g":1}}"#);
    }
}
