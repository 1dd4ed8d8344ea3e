//! Rules that a file's text has to keep.

use super::{Report, Source};

/// From here on a file is long enough to say so.
const LONG: usize = 600;
/// From here on it fails, unless it starts with a reason.
const TOO_LONG: usize = 1000;
/// How such a reason starts.
const REASON: &str = "//! Long because";

/// The crates that do no IO, read no clock and are not async.
const PURE: [&str; 12] = [
    "files",
    "object",
    "api",
    "gotmpl",
    "helm",
    "kustomize",
    "render",
    "lua",
    "diff",
    "health",
    "sync",
    "doctor",
];

/// What a pure crate may not name.
const IMPURE: [&str; 9] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "tokio::",
];

/// What may not be left behind in code. Split, so that this file does not break its own rule.
const LEFTOVERS: [&str; 5] = [
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("#[", "ignore"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
];

/// The product crates may not run programs; the exec credential provider lives in `kube`.
const FORK: &str = "process::Command";

pub(super) fn check(sources: &[Source], report: &mut Report) {
    for source in sources {
        if source.path.ends_with(".rs") {
            length(source, report);
            leftovers(source, report);
            purity(source, report);
        }
        machine_paths(source, report);
    }
    readme(sources, report);
}

fn length(source: &Source, report: &mut Report) {
    let lines = source.text.lines().count();
    let excused = source.text.starts_with(REASON);
    if lines > TOO_LONG && !excused {
        report.problems.push(format!(
            "{} has {lines} lines; split it, or start it with {REASON:?} and the reason",
            source.path
        ));
    } else if lines > LONG && !excused {
        report.remarks.push(format!("{} has {lines} lines", source.path));
    }
}

fn leftovers(source: &Source, report: &mut Report) {
    for (number, line) in numbered(&source.text) {
        for word in LEFTOVERS {
            if line.contains(word) {
                report.problems.push(format!("{}:{number} has a leftover {word:?}", source.path));
            }
        }
    }
}

fn purity(source: &Source, report: &mut Report) {
    let Some((crate_name, within)) = crate_of(&source.path) else { return };
    let product = within.starts_with("src/") && !matches!(crate_name, "testkit");
    if product && source.text.contains(FORK) {
        report.problems.push(format!("{} names {FORK}: the product runs no other program", source.path));
    }
    if !PURE.contains(&crate_name) || !within.starts_with("src/") {
        return;
    }
    for (number, line) in numbered(before_tests(&source.text)) {
        if let Some(word) = IMPURE.iter().find(|word| line.contains(*word)) {
            report
                .problems
                .push(format!("{}:{number} names {word}, but `{crate_name}` is pure", source.path));
        }
    }
}

/// Paths of somebody's machine have no place in a repository.
fn machine_paths(source: &Source, report: &mut Report) {
    let own: Vec<String> =
        [std::env::var("HOME").ok(), super::run::root().parent().map(|p| p.display().to_string())]
            .into_iter()
            .flatten()
            .filter(|path| path.len() > 1 && path != "/tmp")
            .map(|path| format!("{path}/"))
            .collect();
    for (number, line) in numbered(&source.text) {
        if own.iter().any(|path| line.contains(path.as_str())) {
            report.problems.push(format!("{}:{number} has a path of this machine", source.path));
        }
    }
}

fn readme(sources: &[Source], report: &mut Report) {
    let Some(readme) = sources.iter().find(|source| source.path == "README.md") else {
        report.problems.push("there is no README.md".to_owned());
        return;
    };
    for command in ["cargo run --release -- up --demo", "cargo test --workspace"] {
        if !readme.text.contains(command) {
            report.problems.push(format!("README.md does not name `{command}`"));
        }
    }
}

/// `crates/object/src/value.rs` is `object` and `src/value.rs`.
fn crate_of(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("crates/")?.split_once('/')
}

/// The part of a file above its unit tests, which may read what they like.
fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let mut report = Report::default();
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        length(&source, &mut report);
        leftovers(&source, &mut report);
        purity(&source, &mut report);
        report.problems
    }

    #[test]
    fn a_pure_crate_may_not_read_the_clock() {
        let found = problems("crates/diff/src/lib.rs", "fn f() {\n    Instant::now();\n}\n");
        assert_eq!(found, ["crates/diff/src/lib.rs:2 names Instant::now, but `diff` is pure"]);
    }

    #[test]
    fn an_edge_crate_may_read_the_clock() {
        assert!(problems("crates/sim/src/lib.rs", "Instant::now()").is_empty());
    }

    #[test]
    fn tests_of_a_pure_crate_may_read_files() {
        assert!(problems("crates/diff/src/lib.rs", "#[cfg(test)]\nmod tests { use std::fs; }").is_empty());
    }

    #[test]
    fn a_file_of_a_thousand_lines_needs_a_reason() {
        let long = "\n".repeat(1200);
        assert_eq!(problems("crates/sim/src/lib.rs", &long).len(), 1);
        let excused = format!("//! Long because it is one table.\n{long}");
        assert!(problems("crates/sim/src/lib.rs", &excused).is_empty());
    }
}
