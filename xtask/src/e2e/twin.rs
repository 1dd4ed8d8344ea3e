//! The scenarios of `testkit` on the embedded cluster and on a real one, and whether they came to the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::run;

/// The tests that play scenarios, by theme.
const THEMES: [&str; 22] = [
    "delivery",
    "charts",
    "kustomize",
    "bad_input",
    "apply",
    "compare",
    "watch",
    "definitions",
    "deletion",
    "syncing",
    "hooks",
    "health",
    "governing",
    "reasons",
    "rights",
    "webhooks",
    "scheduling",
    "rollouts",
    "admission",
    "scale",
    "applicationsets",
    "notifications",
];

/// Scenarios that may come to something else on a real cluster, each with its reason.
const KNOWN: [(&str, &str); 2] = [
    (
        "deletion.a_namespace_that_goes_takes_everything_along_and_is_made_again",
        "a real namespace controller waits five seconds before it begins, so that a sync tries in vain meanwhile",
    ),
    (
        "hooks.a_hook_that_loses_its_pods_by_a_deletion_ends_the_sync_with_a_clear_word",
        "who is faster decides the word: the Job's controller, which counts the pod as failed, or the collector",
    ),
];

/// How many objects the largest scenarios have.
const OBJECTS: &str = "5000";

/// What each scenario came to, by its name.
type Transcripts = BTreeMap<String, String>;

/// Plays every scenario on both stages and compares what they came to.
pub(super) fn main(kubeconfig: &Path) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("lynceus-twins-{}", std::process::id()));
    let (embedded, real) = (folder.join("embedded"), folder.join("real"));
    play(&embedded, None)?;
    // What was played to its end is compared even if a scenario failed: one run of an hour tells all there is.
    let played = play(&real, Some(kubeconfig));
    let (embedded, real) = (read(&embedded)?, read(&real)?);
    let differences = compare(&embedded, &real);
    for difference in &differences {
        println!("\n{difference}");
    }
    let total = embedded.len().max(real.len());
    println!("\n{} of {total} scenarios came to the same on both", total - differences.len());
    played?;
    if differences.is_empty() {
        // Kept only if there is something to look at.
        let _ = std::fs::remove_dir_all(&folder);
        return Ok(());
    }
    Err(format!("{} scenarios came to something else; see {}", differences.len(), folder.display()))
}

fn play(transcripts: &Path, kubeconfig: Option<&Path>) -> Result<(), String> {
    let mut cargo = run::command("cargo");
    // The whole workspace is named for the features that everything was built with already.
    cargo.args(["test", "--workspace", "--no-fail-fast"]);
    for theme in THEMES {
        cargo.args(["--test", theme]);
    }
    cargo.env("LYNCEUS_TRANSCRIPTS", transcripts).env("LYNCEUS_OBJECTS", OBJECTS);
    match kubeconfig {
        Some(kubeconfig) => cargo.env("LYNCEUS_RIG", kubeconfig),
        None => cargo.env_remove("LYNCEUS_RIG"),
    };
    run::passes(&mut cargo)
}

fn read(folder: &Path) -> Result<Transcripts, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut found = Transcripts::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.insert(name, std::fs::read_to_string(&path).map_err(failed)?);
    }
    Ok(found)
}

/// One text for each scenario that did not come to the same, unless that is known.
fn compare(embedded: &Transcripts, real: &Transcripts) -> Vec<String> {
    let names: BTreeSet<&String> = embedded.keys().chain(real.keys()).collect();
    let is_known = |name: &str| KNOWN.iter().any(|(known, _)| *known == name);
    names
        .into_iter()
        .filter(|name| embedded.get(*name) != real.get(*name) && !is_known(name))
        .map(|name| match (embedded.get(name), real.get(name)) {
            (Some(embedded), Some(real)) => format!("{name}\n{}", lines_apart(embedded, real)),
            (Some(_), None) => format!("{name}\n  was not played on the real cluster"),
            (None, _) => format!("{name}\n  was not played on the embedded cluster"),
        })
        .collect()
}

/// The lines that only one of them has.
fn lines_apart(embedded: &str, real: &str) -> String {
    let only = |these: &str, others: &str, mark: &str| -> String {
        let others: Vec<&str> = others.lines().collect();
        let lines = these.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("  {mark} {}\n", line.trim_start())).collect()
    };
    let apart = only(embedded, real, "embedded:") + &only(real, embedded, "real:    ");
    if apart.is_empty() { "  the same lines in another order\n".to_owned() } else { apart }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcripts(texts: &[(&str, &str)]) -> Transcripts {
        texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_differs_is_shown_line_by_line() {
        let embedded =
            transcripts(&[("same", "x\n"), ("other", "a\nb\n"), ("turned", "a\nb\n"), ("lone", "")]);
        let real = transcripts(&[("same", "x\n"), ("other", "a\nc\n"), ("turned", "b\na\n")]);
        assert_eq!(
            compare(&embedded, &real),
            [
                "lone\n  was not played on the real cluster",
                "other\n  embedded: b\n  real:     c\n",
                "turned\n  the same lines in another order\n",
            ]
        );
    }
}
