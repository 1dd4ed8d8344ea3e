//! The files of a chart, sorted into what they are for.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use lynceus_object::Map;

use super::{Chart, ChartError, ChartFile, Lock, Metadata, archive};
use crate::engine::Parsed;
use crate::go::path;
use crate::warning::Warning;
use crate::{limits, values};

const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The content without a byte-order mark.
pub(super) fn without_mark(data: Arc<[u8]>) -> Arc<[u8]> {
    data.strip_prefix(&MARK).map(Arc::from).unwrap_or(data)
}

/// Makes a chart of its files. `depth` says how many charts it is inside of.
pub(super) fn chart(files: Vec<ChartFile>, depth: usize) -> Result<Chart, ChartError> {
    if depth > limits::MAX_CHART_DEPTH {
        let limit = limits::MAX_CHART_DEPTH as u64;
        return Err(ChartError::Limit { what: "too many charts inside each other", limit });
    }
    let metadata = files.iter().rfind(|file| file.name == "Chart.yaml");
    let metadata = metadata.map(|file| Metadata::read(&file.data)).transpose()?;
    let mut sorting = Sorting { metadata, ..Sorting::default() };
    for file in &files {
        sorting.take(file)?;
    }
    let Sorting { metadata, lock, values, schema, templates, files: others, subcharts, mut warnings } =
        sorting;
    let mut metadata = metadata.ok_or(ChartError::NoChartFile)?;
    metadata.validate()?;
    let mut dependencies = Vec::new();
    for (name, files) in subcharts {
        if let Some(chart) = subchart(&name, files, &metadata.name, depth)? {
            warnings.extend_from_slice(&chart.warnings);
            dependencies.push(Arc::new(chart));
        }
    }
    Ok(Chart {
        metadata,
        lock,
        values,
        schema,
        raw: files,
        templates,
        files: others,
        dependencies,
        warnings,
        directories: Vec::new(),
        read_schema: OnceLock::new(),
        parsed: Parsed::default(),
    })
}

#[derive(Default)]
struct Sorting {
    metadata: Option<Metadata>,
    lock: Option<Lock>,
    values: Map,
    schema: Option<Arc<[u8]>>,
    templates: Vec<ChartFile>,
    files: Vec<ChartFile>,
    /// The files of each chart in `charts/`, with the names that they have there.
    subcharts: BTreeMap<String, Vec<ChartFile>>,
    warnings: Vec<Warning>,
}

impl Sorting {
    fn take(&mut self, file: &ChartFile) -> Result<(), ChartError> {
        match file.name.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => self.lock = Some(Lock::read(&file.data, "Chart.lock")?),
            "values.yaml" => self.values = values::read(&file.data)?,
            "values.schema.json" => self.schema = Some(file.data.clone()),
            "requirements.yaml" => {
                let is_first = self.is_first_kind();
                if !is_first {
                    self.warn("Dependencies are handled in Chart.yaml", "dependencies to Chart.yaml");
                }
                self.metadata.get_or_insert_default().read_requirements(&file.data)?;
                if is_first {
                    self.files.push(file.clone());
                }
            }
            "requirements.lock" => {
                self.lock = Some(Lock::read(&file.data, "requirements.lock")?);
                if self.is_first_kind() {
                    self.files.push(file.clone());
                } else {
                    self.warn("Dependency locking is handled in Chart.lock", "to Chart.lock");
                }
            }
            name if name.starts_with("templates/") => self.templates.push(file.clone()),
            name => match name.strip_prefix("charts/") {
                Some(inner) if path::extension(name) != ".prov" => {
                    let chart = inner.split('/').next().unwrap_or_default().to_owned();
                    let file = ChartFile { name: inner.to_owned(), ..file.clone() };
                    self.subcharts.entry(chart).or_default().push(file);
                }
                _ => self.files.push(file.clone()),
            },
        }
        Ok(())
    }

    fn is_first_kind(&self) -> bool {
        self.metadata.as_ref().is_some_and(|metadata| metadata.api_version == "v1")
    }

    fn warn(&mut self, what: &str, migrating: &str) {
        let message = format!("Warning: {what} since apiVersion \"v2\". We recommend migrating {migrating}.");
        self.warnings.push(Warning::info(message));
    }
}

/// The chart that stands in `charts/` under a name, unless the name says that it is none.
fn subchart(
    name: &str,
    files: Vec<ChartFile>,
    parent: &str,
    depth: usize,
) -> Result<Option<Chart>, ChartError> {
    if name.starts_with(['_', '.']) {
        return Ok(None);
    }
    let chart = if path::extension(name) == ".tgz" {
        let Some(file) = files.into_iter().next() else { return Ok(None) };
        if file.name != name {
            return Err(ChartError::SubchartArchive {
                parent: parent.to_owned(),
                expected: name.to_owned(),
                found: file.name,
            });
        }
        archive::read_inner(&file.data, file.source, depth + 1)
    } else {
        // A file that lies in `charts/` by itself is not part of a chart.
        let inner = files.into_iter().filter_map(|file| {
            let name = file.name.split_once('/')?.1.to_owned();
            Some(ChartFile { name, ..file })
        });
        self::chart(inner.collect(), depth + 1)
    };
    chart.map(Some).map_err(|reason| ChartError::Subchart {
        name: name.to_owned(),
        parent: parent.to_owned(),
        reason: Box::new(reason),
    })
}
