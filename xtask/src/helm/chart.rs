//! Charts of others, in several variants each.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run;

/// How many values files of a chart's own checks are tried.
const CHECKS: usize = 3;

/// How many differences are shown.
const SHOWN: usize = 40;

/// One way to render a chart.
struct Variant {
    chart: PathBuf,
    arguments: Vec<String>,
}

/// What a program printed, or what it said instead.
#[derive(PartialEq, Eq)]
enum Answer {
    Printed(Vec<u8>),
    Refused(String),
}

/// Compares every chart below some directories.
pub(super) fn compare(helm: &Path, directories: &[PathBuf]) -> Result<(), String> {
    let lynceus = match std::env::var_os("LYNCEUS_PROGRAM") {
        Some(program) => PathBuf::from(program),
        None => run::program("lynceus")?,
    };
    let mut charts = Vec::new();
    for directory in directories {
        find(directory, &mut charts).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    charts.sort();
    let variants: Vec<Variant> = charts.iter().flat_map(|chart| variants(chart)).collect();
    let (mut same, mut by_shape, mut differences) = (0, 0, Vec::new());
    for variant in &variants {
        let theirs = ask(helm, &["template", "rel"], variant)?;
        let ours = ask(&lynceus, &["helm", "template", "rel"], variant)?;
        if theirs == ours {
            same += 1;
        } else if is_random(helm, variant, &theirs, &ours)? {
            by_shape += 1;
        } else {
            differences.push(tell(variant, &theirs, &ours));
        }
    }
    for difference in differences.iter().take(SHOWN) {
        println!("{difference}");
    }
    println!(
        "charts: {} charts in {} variants: {same} the same to the byte, {by_shape} but for what is random, {} differ",
        charts.len(),
        variants.len(),
        differences.len()
    );
    if differences.is_empty() { Ok(()) } else { Err(format!("{} variants differ", differences.len())) }
}

/// The charts below a directory that are not inside of another.
fn find(directory: &Path, charts: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if directory.join("Chart.yaml").is_file() {
        charts.push(directory.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            find(&entry.path(), charts)?;
        }
    }
    Ok(())
}

/// The default values, those of the chart's own checks, and another cluster.
fn variants(chart: &Path) -> Vec<Variant> {
    let variant = |arguments: &[&str]| Variant {
        chart: chart.to_path_buf(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
    };
    let mut variants = vec![
        variant(&[]),
        variant(&[
            "--namespace=other",
            "--kube-version=1.21.0",
            "--api-versions=monitoring.coreos.com/v1",
            "--api-versions=networking.k8s.io/v1/Ingress",
            "--include-crds",
        ]),
    ];
    let checks = std::fs::read_dir(chart.join("ci")).into_iter().flatten().flatten();
    let mut files: Vec<String> = checks
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.ends_with("values.yaml"))
        .collect();
    files.sort();
    variants.extend(files.iter().take(CHECKS).map(|file| variant(&["--values", file])));
    variants
}

fn ask(program: &Path, command: &[&str], variant: &Variant) -> Result<Answer, String> {
    let output = Command::new(program)
        .args(command)
        .arg(&variant.chart)
        .args(&variant.arguments)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(Answer::Printed(output.stdout));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let from = said.find("Error: ").unwrap_or_default();
    Ok(Answer::Refused(said[from..].trim_end().to_owned()))
}

/// Whether the answers differ only where Helm's own do from one time to the next.
fn is_random(helm: &Path, variant: &Variant, theirs: &Answer, ours: &Answer) -> Result<bool, String> {
    let (Answer::Printed(theirs), Answer::Printed(ours)) = (theirs, ours) else { return Ok(false) };
    let again = ask(helm, &["template", "rel"], variant)?;
    let Answer::Printed(again) = &again else { return Ok(false) };
    let texts = [theirs, again, ours].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let [theirs, again, ours] = texts.each_ref().map(|text| text.lines().collect::<Vec<_>>());
    Ok(theirs != again
        && theirs.len() == ours.len()
        && theirs.len() == again.len()
        && (0..theirs.len()).all(|at| theirs[at] == ours[at] || theirs[at] != again[at]))
}

fn tell(variant: &Variant, theirs: &Answer, ours: &Answer) -> String {
    let what = match (theirs, ours) {
        (Answer::Printed(theirs), Answer::Printed(ours)) => first_difference(theirs, ours),
        (Answer::Refused(theirs), Answer::Refused(ours)) => {
            format!("  helm:    {theirs}\n  lynceus: {ours}")
        }
        (Answer::Printed(_), Answer::Refused(ours)) => format!("  only lynceus refuses: {ours}"),
        (Answer::Refused(theirs), Answer::Printed(_)) => format!("  only helm refuses: {theirs}"),
    };
    format!("{} {}\n{what}", variant.chart.display(), variant.arguments.join(" "))
}

fn first_difference(theirs: &[u8], ours: &[u8]) -> String {
    let (theirs, ours) = (String::from_utf8_lossy(theirs), String::from_utf8_lossy(ours));
    let at = theirs.lines().zip(ours.lines()).position(|(theirs, ours)| theirs != ours);
    match at {
        Some(at) => {
            let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
            format!("  line {}\n  helm:    {}\n  lynceus: {}", at + 1, line(&theirs), line(&ours))
        }
        None => format!("  {} lines by helm, {} by lynceus", theirs.lines().count(), ours.lines().count()),
    }
}
