//! What the last Helm 3 prints for the project's own charts, beside what Helm 4 does.
//!
//! We follow Helm 4: that the two differ is a fact about them, and the page says in what.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::cases::{CHARTS, Case, words};
use crate::compat;

/// Has Helm 3 answer to every command, and counts where it answers as Helm 4 does.
pub(super) fn compare(helm: &Path) -> Result<(), String> {
    let directory = std::env::temp_dir().join(format!("lynceus-helm3-{}", std::process::id()));
    let (mut ran, mut differing) = (0, Vec::new());
    for case in Case::all(CHARTS)? {
        let _ = std::fs::remove_dir_all(&directory);
        case.write(&directory)?;
        for (number, (command, four)) in case.commands().enumerate() {
            ran += 1;
            let three = ask(helm, command, &directory)?;
            if three != four {
                let kind = kind((&case.name, command), &four, &three);
                differing.push((kind, format!("{}#{}", case.name, number + 1)));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
    compat::tell_count_with("helm3", ran - differing.len(), ran, &differing)
}

/// What a Helm prints, or what it says from `Error: ` on, as the tests have it.
fn ask(helm: &Path, command: &str, directory: &Path) -> Result<String, String> {
    let words = words(command);
    let verb = words.first().is_none_or(|first| !matches!(first.as_str(), "lint" | "show"));
    let mut program = Command::new(helm);
    program.args(verb.then_some("template")).args(&words).current_dir(directory);
    let output = program.output().map_err(|error| format!("cannot run {}: {error}", helm.display()))?;
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let error = said.find("Error: ").map_or(said.as_str(), |at| &said[at..]);
    let mut answer = if words.first().is_some_and(|first| first == "lint") {
        let findings: Vec<&str> = printed.lines().skip(1).collect();
        let error = if said.contains("Error: ") { error } else { "" };
        format!("{}\n{error}", findings.join("\n")).replace(&format!("{}/", directory.display()), "")
    } else if output.status.success() {
        printed
    } else {
        error.to_owned()
    };
    if !answer.is_empty() && !answer.ends_with('\n') {
        answer.push('\n');
    }
    Ok(answer)
}

/// The charts that are about how values are merged.
const ABOUT_VALUES: [&str; 3] = ["corners-values", "values-null-and-tables", "values-subcharts-and-globals"];

/// In what two answers differ, in a word that the page explains; an empty one if nobody has looked into it yet.
fn kind((case, command): (&str, &str), four: &str, three: &str) -> &'static str {
    let (refused, refuses) = (four.starts_with("Error: "), three.starts_with("Error: "));
    let (lines_of_four, lines_of_three) = (lines(four), lines(three));
    let has_fewer = lines_of_three.is_subset(&lines_of_four);
    let only_four: Vec<&str> = lines_of_four.difference(&lines_of_three).copied().collect();
    let only_three: Vec<&str> = lines_of_three.difference(&lines_of_four).copied().collect();
    if command.starts_with("lint") {
        "lint"
    } else if refused && refuses {
        "words"
    } else if three.contains("\" not defined\n") {
        "functions"
    } else if three.contains("<.Chart.") || only_four.iter().any(|line| line.contains("\"APIVersion\"")) {
        "chart"
    } else if refuses && three.contains("executing ") && ABOUT_VALUES.contains(&case) {
        "values"
    } else if refused != refuses {
        "strict"
    } else if has_fewer && (only_four.is_empty() || command.contains(" -s ")) {
        "documents"
    } else if four.replace("common.Values", "chartutil.Values") == three {
        "types"
    } else if ABOUT_VALUES.contains(&case) || only_three.iter().any(|line| line.contains("null")) {
        "values"
    } else {
        ""
    }
}

/// The lines that are not blank and separate nothing.
fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| !line.trim().is_empty() && *line != "---").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_apart() {
        for (four, three, expected) in [
            ("Error: a\n", "Error: b\n", "words"),
            ("---\nx: 1\n\n---\ny: 2\n", "---\nx: 1\n---\ny: 2\n", "documents"),
            ("x: 1\n", "Error: parse error: function \"mustToYaml\" not defined\n", "functions"),
            ("x: 1\n", "x: 1\ny: null\n", "values"),
            ("x: common.Values\n", "x: chartutil.Values\n", "types"),
            ("Error: unsupported\n", "", "strict"),
            ("x: 1\n", "x: 2\n", ""),
            ("x: 1\ny: 2\n", "x: 1\n", ""),
        ] {
            assert_eq!(kind(("case", "r ."), four, three), expected, "{four}");
        }
        assert_eq!(kind(("case", "lint ."), "a\n", "b\n"), "lint");
    }
}
