//! `Chart.yaml`.

use std::collections::BTreeMap;

use lynceus_gotmpl::semver;
use lynceus_object::{Map, Value};

use super::ChartError;
use super::dependency::{Dependency, SHAPE as DEPENDENCY};
use crate::go::decode::{self, Shape, Struct};
use crate::go::{path, text};

/// What a chart says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The chart's name.
    pub name: String,
    /// A page about it.
    pub home: String,
    /// Where its sources are.
    pub sources: Vec<String>,
    /// Its version.
    pub version: String,
    /// One sentence about it.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Who looks after it.
    pub maintainers: Vec<Maintainer>,
    /// Where its picture is.
    pub icon: String,
    /// `v1` or `v2`.
    pub api_version: String,
    /// A condition, which nothing looks at.
    pub condition: String,
    /// Tags, which nothing looks at.
    pub tags: String,
    /// The version of what is in it.
    pub app_version: String,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// Notes for other programs; none and empty are told apart when they are printed.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Which versions of Kubernetes it is for.
    pub kube_version: String,
    /// The charts that it depends on.
    pub dependencies: Vec<Dependency>,
    /// `application`, `library` or nothing.
    pub kind: String,
}

/// Somebody who looks after a chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintainer {
    /// The name.
    pub name: String,
    /// The address for mail.
    pub email: String,
    /// A page.
    pub url: String,
}

static MAINTAINER: Struct = Struct {
    name: "Maintainer",
    full_name: "v2.Maintainer",
    fields: &[("name", Shape::Str), ("email", Shape::Str), ("url", Shape::Str)],
};

static METADATA: Struct = Struct {
    name: "Metadata",
    full_name: "v2.Metadata",
    fields: &[
        ("name", Shape::Str),
        ("home", Shape::Str),
        ("sources", Shape::List(&Shape::Str)),
        ("version", Shape::Str),
        ("description", Shape::Str),
        ("keywords", Shape::List(&Shape::Str)),
        ("maintainers", Shape::List(&Shape::Pointer(&MAINTAINER))),
        ("icon", Shape::Str),
        ("apiVersion", Shape::Str),
        ("condition", Shape::Str),
        ("tags", Shape::Str),
        ("appVersion", Shape::Str),
        ("deprecated", Shape::Bool),
        ("annotations", Shape::Map(&Shape::Str)),
        ("kubeVersion", Shape::Str),
        ("dependencies", Shape::List(&Shape::Pointer(&DEPENDENCY))),
        ("type", Shape::Str),
    ],
};

/// What Helm looks at first, to know which kind of chart it is.
static BASE: Struct =
    Struct { name: "chartBase", full_name: "loader.chartBase", fields: &[("apiVersion", Shape::Str)] };

impl Metadata {
    /// Reads `Chart.yaml`; where nothing is said, it is a chart of the first kind.
    pub(super) fn read(data: &[u8]) -> Result<Self, ChartError> {
        let unreadable = |reason| ChartError::Unreadable { file: "Chart.yaml", reason };
        let base = decode::document(data, &BASE).map_err(unreadable)?;
        if !matches!(string(&base, "apiVersion").as_str(), "" | "v1" | "v2") {
            return Err(ChartError::UnsupportedVersion);
        }
        let mut metadata = Metadata::default();
        metadata.take(&decode::document(data, &METADATA).map_err(unreadable)?)?;
        if metadata.api_version.is_empty() {
            "v1".clone_into(&mut metadata.api_version);
        }
        Ok(metadata)
    }

    /// Reads `Chart.yaml` without a look at what kind of chart it is, as linting does.
    pub(crate) fn read_loosely(data: &[u8]) -> Result<Self, ChartError> {
        let mut metadata = Metadata::default();
        let unreadable = |reason| ChartError::Unreadable { file: "Chart.yaml", reason };
        metadata.take(&decode::document(data, &METADATA).map_err(unreadable)?)?;
        Ok(metadata)
    }

    /// A field that `Chart.yaml` does not have.
    pub(crate) fn unknown_field(chart: &Value) -> Option<String> {
        let known = |name: &str| METADATA.fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name));
        chart.as_map()?.keys().find(|name| !known(name)).map(|name| name.to_string())
    }

    /// Reads `requirements.yaml`, which may say anything that `Chart.yaml` says.
    pub(super) fn read_requirements(&mut self, data: &[u8]) -> Result<(), ChartError> {
        let fields = decode::document(data, &METADATA)
            .map_err(|reason| ChartError::Unreadable { file: "requirements.yaml", reason })?;
        self.take(&fields)
    }

    fn take(&mut self, fields: &Map) -> Result<(), ChartError> {
        let texts: [(&str, &mut String); 12] = [
            ("name", &mut self.name),
            ("home", &mut self.home),
            ("version", &mut self.version),
            ("description", &mut self.description),
            ("icon", &mut self.icon),
            ("apiVersion", &mut self.api_version),
            ("condition", &mut self.condition),
            ("tags", &mut self.tags),
            ("appVersion", &mut self.app_version),
            ("kubeVersion", &mut self.kube_version),
            ("type", &mut self.kind),
            ("", &mut String::new()),
        ];
        for (name, field) in texts {
            if let Some(Value::Str(text)) = fields.get(name) {
                *field = text.to_string();
            }
        }
        if let Some(Value::Bool(deprecated)) = fields.get("deprecated") {
            self.deprecated = *deprecated;
        }
        if fields.contains("sources") {
            self.sources = strings(fields, "sources");
        }
        if fields.contains("keywords") {
            self.keywords = strings(fields, "keywords");
        }
        if let Some(Value::Map(map)) = fields.get("annotations") {
            self.annotations =
                Some(map.iter().map(|(key, value)| (key.to_string(), text_of(value))).collect());
        }
        if let Some(Value::Seq(items)) = fields.get("maintainers") {
            self.maintainers = items.iter().map(Maintainer::read).collect::<Result<_, _>>()?;
        }
        if let Some(Value::Seq(items)) = fields.get("dependencies") {
            self.dependencies = items.iter().map(Dependency::read).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Takes out what cannot be printed, and looks for what must not be.
    pub(super) fn validate(&mut self) -> Result<(), ChartError> {
        for field in [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ] {
            *field = text::sanitize(field);
        }
        self.sources.iter_mut().chain(&mut self.keywords).for_each(|word| *word = text::sanitize(word));
        self.validate_names()?;
        for maintainer in &mut self.maintainers {
            for field in [&mut maintainer.name, &mut maintainer.email, &mut maintainer.url] {
                *field = text::sanitize(field);
            }
        }
        let mut seen: Vec<String> = Vec::new();
        for dependency in &mut self.dependencies {
            dependency.validate()?;
            let key = dependency.effective_name();
            if seen.iter().any(|name| name == key) {
                let key = text::quote(key);
                return Err(invalid(format!("more than one dependency with name or alias {key}")));
            }
            seen.push(key.to_owned());
        }
        Ok(())
    }

    fn validate_names(&self) -> Result<(), ChartError> {
        if self.api_version.is_empty() {
            return Err(invalid("chart.metadata.apiVersion is required"));
        }
        let name = text::quote(&self.name);
        if self.name.is_empty() {
            return Err(invalid("chart.metadata.name is required"));
        }
        if self.name == "." || self.name == ".." {
            return Err(invalid(format!("chart.metadata.name {name} is not allowed")));
        }
        if self.name != path::base(&self.name) {
            return Err(invalid(format!("chart.metadata.name {name} is invalid")));
        }
        if self.version.is_empty() {
            return Err(invalid("chart.metadata.version is required"));
        }
        if semver::Version::parse(&self.version).is_err() {
            let version = text::quote(&self.version);
            return Err(invalid(format!("chart.metadata.version {version} is invalid")));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return Err(invalid("chart.metadata.type must be application or library"));
        }
        Ok(())
    }

    /// Whether the chart only has templates for others.
    pub fn is_library(&self) -> bool {
        self.kind.eq_ignore_ascii_case("library")
    }
}

impl Maintainer {
    fn read(value: &Value) -> Result<Self, ChartError> {
        match value {
            Value::Map(fields) => Ok(Maintainer {
                name: string(fields, "name"),
                email: string(fields, "email"),
                url: string(fields, "url"),
            }),
            _ => Err(invalid("maintainers must not contain empty or null nodes")),
        }
    }
}

pub(super) fn invalid(problem: impl Into<String>) -> ChartError {
    ChartError::Invalid(problem.into())
}

pub(super) fn string(fields: &Map, name: &str) -> String {
    fields.get(name).map(text_of).unwrap_or_default()
}

pub(super) fn strings(fields: &Map, name: &str) -> Vec<String> {
    fields
        .get(name)
        .and_then(Value::as_seq)
        .map(|items| items.iter().map(text_of).collect())
        .unwrap_or_default()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
