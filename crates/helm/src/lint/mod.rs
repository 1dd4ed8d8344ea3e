//! `helm lint`: what is wrong with a chart, and what could be better.

mod chart_file;
mod deprecations;
mod names;
mod stream;
mod templates;

use std::fmt;
use std::sync::Arc;

use lynceus_files::{Entry, FilePath, Tree, TreeError};
use lynceus_object::Map;

use crate::capabilities::KubeVersion;
use crate::chart::{Chart, ChartError};
use crate::engine::World;
use crate::go::decode;
use crate::limits;
use crate::schema::Schema;
use crate::values::{self, Mode, UserValues, Warnings};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something that could be better.
    Info,
    /// Something that breaks with convention.
    Warning,
    /// Something that will not work.
    Error,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub path: String,
    /// What was found.
    pub message: String,
}

/// How to look at a chart.
#[derive(Clone, Debug)]
pub struct LintOptions {
    /// What the chart's directory is called; some findings name it. If it begins with a slash, the tree is a whole disk,
    /// and so do all other paths.
    pub directory: String,
    /// The namespace that the chart is looked at for.
    pub namespace: String,
    /// The version of Kubernetes, unless it is that of the default capabilities.
    pub kube_version: Option<KubeVersion>,
    /// Whether values are not checked against schemas.
    pub skip_schema_validation: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Info => "INFO",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
        };
        write!(f, "[{severity}] {}: {}", self.path, self.message)
    }
}

/// Looks at the chart in a directory.
pub fn lint(
    tree: &dyn Tree,
    directory: &FilePath,
    values: &UserValues,
    options: &LintOptions,
    world: &mut dyn World,
) -> Vec<Finding> {
    let on_disk = options.directory.starts_with('/');
    let mut linter = Linter { tree, directory, on_disk, findings: Vec::new() };
    chart_file::check(&mut linter);
    linter.values(values.values(), options, world);
    let chart = Chart::from_tree(tree, directory).map(Arc::new);
    templates::check(&mut linter, &chart, values, options, world);
    linter.dependencies(&chart, options, world);
    templates::check_crds(&mut linter, &chart);
    linter.findings
}

type Loaded = Result<Arc<Chart>, ChartError>;

struct Linter<'a> {
    tree: &'a dyn Tree,
    directory: &'a FilePath,
    on_disk: bool,
    findings: Vec<Finding>,
}

impl Linter<'_> {
    /// Notes what is wrong; whether nothing was.
    fn rule(&mut self, severity: Severity, path: &str, result: Result<(), String>) -> bool {
        match result {
            Ok(()) => true,
            Err(message) => {
                self.findings.push(Finding { severity, path: path.to_owned(), message });
                false
            }
        }
    }

    fn read(&self, name: &str) -> Option<Arc<[u8]>> {
        let path = self.directory.join(name).ok()?;
        self.tree.read(&path, limits::MAX_FILE_BYTES).ok()
    }

    /// What stands at a path, or where the link leads that does.
    fn entry(&self, name: &str) -> Option<Entry> {
        let path = self.directory.join(name).ok()?;
        match self.tree.entry(&path).ok()? {
            Entry::Link(_) => match self.tree.list(&path) {
                Ok(_) => Some(Entry::Directory),
                Err(TreeError::NotA(..)) => Some(Entry::File),
                Err(_) => None,
            },
            entry => Some(entry),
        }
    }

    fn told(&self, error: &ChartError) -> String {
        if self.on_disk { error.on_disk() } else { error.to_string() }
    }

    fn values(&mut self, given: &Map, options: &LintOptions, world: &mut dyn World) {
        let Some(data) = self.read("values.yaml") else {
            self.rule(Severity::Info, "values.yaml", Err("file does not exist".to_owned()));
            return;
        };
        let schema = self.read("values.schema.json").filter(|_| !options.skip_schema_validation);
        let result = check_values(&data, given, schema.as_deref(), world);
        self.rule(Severity::Error, "values.yaml", result);
    }

    fn dependencies(&mut self, chart: &Loaded, options: &LintOptions, world: &mut dyn World) {
        let chart = match chart {
            Ok(chart) => chart,
            Err(error) => {
                self.rule(Severity::Error, "", Err(format!("unable to load chart\n\t{}", self.told(error))));
                return;
            }
        };
        // Helm reads the chart once more.
        chart.warnings().iter().for_each(|warning| world.tell(warning));
        let asked: Vec<&str> =
            chart.metadata.dependencies.iter().map(|wanted| wanted.name.as_str()).collect();
        let there: Vec<&str> = chart.dependencies.iter().map(|inner| inner.name()).collect();
        let without = |of: &[&str], these: &[&str]| -> Vec<String> {
            of.iter().filter(|name| !these.contains(name)).map(|name| (*name).to_owned()).collect()
        };
        let told = |what: &str, names: Vec<String>| {
            if names.is_empty() { Ok(()) } else { Err(format!("{what}: {}", names.join(","))) }
        };
        let path = &options.directory;
        let unasked = told("chart metadata is missing these dependencies", without(&there, &asked));
        self.rule(Severity::Error, path, unasked);
        let missing = told("chart directory is missing these dependencies", without(&asked, &there));
        self.rule(Severity::Warning, path, missing);
    }
}

fn check_values(
    data: &[u8],
    given: &Map,
    schema: Option<&[u8]>,
    world: &mut dyn World,
) -> Result<(), String> {
    let unreadable = |reason: String| format!("unable to parse YAML: {reason}");
    let own = lynceus_object::yaml::parse(data)
        .map_err(|error| unreadable(format!("error converting YAML to JSON: {error}")))?;
    let own = match values::floats(own) {
        lynceus_object::Value::Map(map) => map,
        lynceus_object::Value::Null => Map::new(),
        other => return Err(unreadable(decode::not_a(&other, "common.Values"))),
    };
    let all = values::to_template_map(given);
    let mut warnings = Warnings::new();
    values::merge_tables(&all, &values::to_template_map(&own), Mode::Coalesce, &mut warnings);
    warnings.iter().for_each(|warning| world.tell(warning));
    let Some(schema) = schema.filter(|schema| !schema.is_empty()) else { return Ok(()) };
    Schema::read(schema)?.check(&all)
}
