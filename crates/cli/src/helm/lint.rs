//! `lynceus helm lint`: what is wrong with a chart, or could be better.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use lynceus_engine::Ambience;
use lynceus_helm::{Finding, InstallError, KubeVersion, LintOptions, Severity, lint};

use super::settings::Settings;
use super::{chart, values};

/// Look for what is wrong with charts, as `helm lint` does.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The directories of the charts.
    #[arg(default_value = ".")]
    paths: Vec<String>,
    #[command(flatten)]
    values: values::Flags,
    /// Fail for warnings too.
    #[arg(long)]
    strict: bool,
    /// Tell warnings and errors only.
    #[arg(long)]
    quiet: bool,
    /// Look at the charts in charts/ as well.
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
        let (tree, directory) = chart::folder(path)?;
        let options = LintOptions {
            directory: path.clone(),
            namespace: settings.namespace(),
            kube_version: kube_version.clone(),
            skip_schema_validation: arguments.skip_schema_validation,
        };
        let findings = lint(&tree, &directory, &values, &options, &mut Ambience::at(Timestamp::now()));
        failed += usize::from(arguments.fails(&findings));
        tell(&mut told, path, &findings, arguments.quiet);
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

fn tell(told: &mut String, path: &str, findings: &[Finding], quiet: bool) {
    let shown: Vec<&Finding> =
        findings.iter().filter(|finding| !quiet || finding.severity > Severity::Info).collect();
    if quiet && shown.is_empty() {
        return;
    }
    let _ = writeln!(told, "==> Linting {path}");
    for finding in shown {
        let _ = writeln!(told, "{finding}");
    }
    told.push('\n');
}

/// The directories below that are charts.
fn subcharts(path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![path.join("charts")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let chart = entry.path();
            if chart.join("Chart.yaml").is_file() {
                found.push(chart.display().to_string());
                folders.push(chart.join("charts"));
            }
        }
    }
    found.sort();
    found
}
