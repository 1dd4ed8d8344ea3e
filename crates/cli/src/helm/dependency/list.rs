//! `helm dependency list`: what a chart asks for, and what is there.

use std::fmt::Write as _;
use std::path::Path;

use lynceus_helm::{Chart, Dependency, resolve};

use super::local;
use crate::helm::chart;
use crate::helm::speech::say;

/// List the dependencies of a chart and whether they are there.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The directory or the archive of the chart.
    #[arg(default_value = ".")]
    chart: String,
    /// How wide a column may be.
    #[arg(long, value_name = "WIDTH", default_value_t = 80)]
    max_col_width: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<Vec<u8>, String> {
    let path = local::clean(&arguments.chart);
    let chart = chart::load(&path)?;
    chart.warnings().iter().for_each(say);
    let asked = &chart.metadata().dependencies;
    if asked.is_empty() {
        return Ok(format!("WARNING: no dependencies at {path}/charts\n").into_bytes());
    }
    let inside = archives(&path);
    let mut rows = vec![["NAME", "VERSION", "REPOSITORY", "STATUS"].map(str::to_owned)];
    rows.extend(asked.iter().map(|wanted| {
        let status = status(wanted, &inside, &chart);
        [wanted.name.clone(), wanted.version.clone(), wanted.repository.clone(), status.to_owned()]
    }));
    let mut told = table(&rows, arguments.max_col_width);
    told.push('\n');
    for file in strangers(&path, asked) {
        let _ = writeln!(told, "{file}");
    }
    Ok(told.into_bytes())
}

/// Columns with tabs between, each as wide as its widest cell but not wider than is allowed.
fn table(rows: &[[String; 4]], most: usize) -> String {
    let mut told = String::new();
    let width = |column: usize| {
        let widest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        if most == 0 { widest } else { widest.min(most) }
    };
    let widths = [0, 1, 2, 3].map(width);
    for row in rows {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| fitted(cell, width)).collect();
        let _ = writeln!(told, "{}", cells.join("\t"));
    }
    told
}

/// A text cut or filled up to a width.
fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    // One character stays even where there is room for the dots only.
    let kept: String = text.chars().take(width.saturating_sub(3).max(1)).collect();
    format!("{kept}...")
}

/// The archives in the chart's `charts/`, in order.
fn archives(path: &str) -> Vec<String> {
    files(path)
        .into_iter()
        .filter(|name| name.ends_with(".tgz"))
        .map(|name| format!("{path}/charts/{name}"))
        .collect()
}

/// The names in the chart's `charts/`, in order; none where the chart is an archive itself.
fn files(path: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(path).join("charts")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn status(wanted: &Dependency, archives: &[String], parent: &Chart) -> &'static str {
    let version_in = |archive: &str| {
        let name = archive.rsplit('/').next().unwrap_or_default().strip_suffix(".tgz");
        name.and_then(|name| name.strip_prefix(&format!("{}-", wanted.name))).map(str::to_owned)
    };
    let mut candidates: Vec<&String> = archives.iter().filter(|path| version_in(path).is_some()).collect();
    if candidates.len() > 1 {
        candidates
            .retain(|path| version_in(path).is_some_and(|version| resolve::is_strict_version(&version)));
    }
    match candidates.as_slice() {
        [] => {}
        [archive] => return status_of_archive(wanted, archive),
        _ => return "too many matches",
    }
    match parent.dependencies().iter().rfind(|inner| inner.name() == wanted.name) {
        None => "missing",
        Some(inner) => trouble(wanted, inner).unwrap_or("unpacked"),
    }
}

fn status_of_archive(wanted: &Dependency, archive: &str) -> &'static str {
    match chart::load(archive) {
        Err(_) => "corrupt",
        Ok(chart) if chart.name() != wanted.name => "misnamed",
        Ok(chart) => trouble(wanted, &chart).unwrap_or("ok"),
    }
}

/// What is wrong with the version of a chart.
fn trouble(wanted: &Dependency, found: &Chart) -> Option<&'static str> {
    let version = &found.metadata().version;
    if *version == wanted.version {
        return None;
    }
    match resolve::satisfies(wanted, version) {
        Ok(true) => None,
        Ok(false) => Some("wrong version"),
        Err(_) => Some("invalid version"),
    }
}

/// What is said of files in `charts/` that nobody asks for.
fn strangers(path: &str, asked: &[Dependency]) -> Vec<String> {
    let mut told = Vec::new();
    for name in files(path) {
        let file = format!("{path}/charts/{name}");
        if !Path::new(&file).is_dir() && !name.ends_with(".tgz") {
            continue;
        }
        match chart::load(&file) {
            Err(_) => told.push(format!("WARNING: {file:?} is not a chart.")),
            Ok(chart) if !asked.iter().any(|wanted| wanted.name == chart.name()) => {
                told.push(format!("WARNING: {file:?} is not in Chart.yaml."));
            }
            Ok(_) => {}
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_too_wide_ends_with_dots() {
        assert_eq!(fitted("abc", 5), "abc  ");
        assert_eq!(fitted("abcdefgh", 6), "abc...");
        assert_eq!(fitted("abcdefgh", 2), "a...");
    }
}
