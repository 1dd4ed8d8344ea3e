//! `lynceus helm lint`: what is wrong with a chart, or could be better.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use lynceus_files::{FilePath, MemoryTree, Tree as _};
use lynceus_helm::{Chart, Finding, InstallError, KubeVersion, LintOptions, Severity, UserValues, lint};

use super::settings::Settings;
use super::speech::Aloud;
use super::{chart, values};

/// Look for what is wrong with charts, as `helm lint` does.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The directories or archives of the charts.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    values: values::Flags,
    /// Fail for warnings too.
    #[arg(long)]
    strict: bool,
    /// Tell warnings and errors only.
    #[arg(long)]
    quiet: bool,
    /// Look at the charts and archives in charts/ as well.
    #[arg(long)]
    with_subcharts: bool,
    /// The version of Kubernetes that the chart sees.
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Do not check the values against schemas.
    #[arg(long)]
    skip_schema_validation: bool,
}

pub(super) fn run(arguments: &Arguments, settings: &Settings) -> Result<Vec<u8>, String> {
    if arguments.paths.is_empty() {
        let needs = "\"lynceus helm lint\" requires at least 1 argument";
        return Err(format!("{needs}\n\nUsage:  lynceus helm lint PATH [flags]"));
    }
    let values = arguments.values.read(settings)?;
    let kube_version = arguments
        .kube_version
        .as_deref()
        .map(|version| {
            KubeVersion::parse(version).map_err(|why| InstallError::BadKubeVersion(version.to_owned(), why))
        })
        .transpose()
        .map_err(|error| error.to_string())?;
    let mut paths = arguments.paths.clone();
    if arguments.with_subcharts {
        paths.extend(arguments.paths.iter().flat_map(|path| subcharts(Path::new(path))));
    }
    let (mut told, mut failed) = (String::new(), 0);
    for path in &paths {
        let options = LintOptions {
            directory: absolute(path)?,
            namespace: settings.namespace(),
            kube_version: kube_version.clone(),
            skip_schema_validation: arguments.skip_schema_validation,
        };
        let looked = look(path, &values, &options);
        failed += usize::from(looked.as_ref().map_or(true, |findings| arguments.fails(findings)));
        tell(&mut told, path, &looked, arguments.quiet);
    }
    let summary = format!("{} chart(s) linted, {failed} chart(s) failed", paths.len());
    if failed > 0 {
        print!("{told}");
        return Err(summary);
    }
    if !arguments.quiet {
        told.push_str(&format!("{summary}\n"));
    }
    Ok(told.into_bytes())
}

impl Arguments {
    fn fails(&self, findings: &[Finding]) -> bool {
        let least = if self.strict { Severity::Warning } else { Severity::Error };
        findings.iter().any(|finding| finding.severity >= least)
    }
}

/// What there is to say about a chart, or why it is not looked at.
fn look(path: &str, values: &UserValues, options: &LintOptions) -> Result<Vec<Finding>, String> {
    let world = &mut Aloud::now();
    if is_archive(path) {
        return Ok(lint(&unpacked(path)?, &FilePath::root(), values, options, world));
    }
    let chart_file = cleaned(&Path::new(path).join("Chart.yaml"));
    std::fs::metadata(&chart_file).map_err(|error| {
        let why = chart::not_there("stat", &chart_file.to_string_lossy(), &error);
        format!("unable to check Chart.yaml file in chart: {why}")
    })?;
    let (tree, directory) = chart::folder(path)?;
    Ok(lint(&tree, &directory, values, options, world))
}

fn is_archive(path: &str) -> bool {
    [".tgz", ".tar.gz"].iter().any(|end| path.ends_with(end))
}

/// The files of an archive.
fn unpacked(path: &str) -> Result<MemoryTree, String> {
    let bytes = chart::archive(path).map_err(|why| format!("unable to open tarball: {why}"))?;
    let failed = |why: String| format!("unable to extract tarball: {why}");
    let tree = Chart::unpack(&bytes).map_err(|why| failed(why.to_string()))?;
    let chart_file = FilePath::root().join("Chart.yaml").map_err(|why| failed(why.to_string()))?;
    match tree.entry(&chart_file) {
        Ok(_) => Ok(tree),
        // Helm unpacks it into a directory with the chart's name.
        Err(_) => Err(failed("chart name not specified".to_owned())),
    }
}

/// A path as Go writes it: without what leads nowhere, or there and back.
fn cleaned(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if cleaned.file_name().is_some() => {
                cleaned.pop();
            }
            part => cleaned.push(part),
        }
    }
    cleaned
}

/// A path from the root on. Links are left as they are.
fn absolute(path: &str) -> Result<String, String> {
    let absolute = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(cleaned(&absolute).to_string_lossy().into_owned())
}

fn tell(told: &mut String, path: &str, looked: &Result<Vec<Finding>, String>, quiet: bool) {
    let shown: Vec<String> = match looked {
        Ok(findings) => {
            let shown = findings.iter().filter(|finding| !quiet || finding.severity > Severity::Info);
            shown.map(ToString::to_string).collect()
        }
        Err(error) => vec![format!("Error {error}")],
    };
    if quiet && shown.is_empty() {
        return;
    }
    let _ = writeln!(told, "==> Linting {path}");
    for finding in shown {
        let _ = writeln!(told, "{finding}");
    }
    told.push('\n');
}

/// The charts below `charts/`, however deep, in the order in which Helm walks there. Links are not followed.
fn subcharts(path: &Path) -> Vec<String> {
    let (mut found, mut places) = (Vec::new(), vec![cleaned(&path.join("charts"))]);
    while let Some(place) = places.pop() {
        let Ok(about) = std::fs::symlink_metadata(&place) else { continue };
        let named = place.to_string_lossy();
        match place.parent() {
            Some(chart) if place.ends_with("Chart.yaml") => found.push(chart.to_string_lossy().into_owned()),
            _ if is_archive(&named) => found.push(named.into_owned()),
            _ => {}
        }
        if about.is_dir() {
            let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
            let mut inner: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            // The last is the next.
            inner.sort_by(|one, other| other.cmp(one));
            places.append(&mut inner);
        }
    }
    found
}
