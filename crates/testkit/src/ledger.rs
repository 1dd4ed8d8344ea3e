//! What has been measured against the originals: `docs/compatibility.md`, and the ratchet beside it.
//!
//! Several commands measure, each its own sets. Each changes the lines of its sets and leaves those of the others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::conformance::Report;

/// The most that agreed so far, by set: it may only grow.
const RATCHET: &str = "docs/compatibility.ratchet.json";
const PAGE: &str = "docs/compatibility.md";

const HEAD: &str = "# Compatibility, measured\n\n\
    Written by `cargo xtask compat`, which replays recorded answers of the real programs, `cargo xtask compat requests`, \
    which asks a real API server and the embedded one the same, `cargo xtask compat kubectl`, which runs Kubernetes' own tests of kubectl, `cargo xtask compat argocd`, which drives Lynceus with \
    Argo CD's own command line and holds its answers against the shapes that Argo CD publishes, `cargo xtask compat doctor`, which has the doctor look at what Argo CD itself delivers, and `cargo xtask compat helm`, `kustomize`, `plugin`, `appset` and `rbac`, which have the real programs answer anew. The numbers may only grow: `compatibility.ratchet.json` holds the best so far, and the \
    commands fail below it. What there is of Argo CD, feature by feature, is in [argocd.md](argocd.md).\n\n\
    | set | what it is | cases | agree | deviate for a reason | differ |\n|---|---|---|---|---|---|\n";

/// What is known of every set.
#[derive(Default)]
pub struct Ledger {
    best: BTreeMap<String, usize>,
    rows: BTreeMap<String, String>,
    sections: BTreeMap<String, String>,
}

impl Ledger {
    /// Reads what was measured before.
    pub fn read() -> Result<Self, String> {
        let best = match read(RATCHET)? {
            Some(text) => serde_json::from_str(&text).map_err(|error| format!("{RATCHET}: {error}"))?,
            None => BTreeMap::new(),
        };
        let mut ledger = Ledger { best, ..Ledger::default() };
        ledger.take(&read(PAGE)?.unwrap_or_default());
        Ok(ledger)
    }

    /// Enters a measurement, with what else there is to say of the set. Tells on stdout how it went, and gives whether
    /// that is good enough: nothing differs without a reason, and no fewer agree than before.
    #[allow(clippy::print_stdout, reason = "it is the whole output of the commands that call it")]
    pub fn enter(&mut self, set: &str, what: &str, report: &Report, remark: &str) -> bool {
        let best = self.best.get(set).copied().unwrap_or_default();
        let unexplained = report.unexplained().count();
        let explained = report.failures.len() - unexplained;
        println!(
            "{set}: {} of {} agree, {explained} deviate for a known reason, {unexplained} differ (at least {best} have \
             to agree)",
            report.passed, report.ran,
        );
        if report.passed < best {
            println!("  problem: {best} agreed before");
        }
        if unexplained > 0 {
            println!("  problem: a difference needs a reason");
        }
        let share = 100.0 * report.passed as f64 / report.ran.max(1) as f64;
        let row = format!(
            "| {set} | {what} | {} | {} ({share:.1} %) | {explained} | {unexplained} |\n",
            report.ran, report.passed
        );
        self.rows.insert(set.to_owned(), row);
        self.sections.insert(set.to_owned(), section(set, report, remark));
        self.best.insert(set.to_owned(), report.passed.max(best));
        report.passed >= best && unexplained == 0
    }

    /// Writes both files. One that says the same is left alone, so that a check does not dirty the tree.
    pub fn write(&self) -> Result<(), String> {
        let ratchet = serde_json::to_string_pretty(&self.best).map_err(|error| error.to_string())?;
        for (path, text) in [(RATCHET, format!("{ratchet}\n")), (PAGE, self.page())] {
            if read(path)?.as_deref() != Some(text.as_str()) {
                std::fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))?;
            }
        }
        Ok(())
    }

    fn page(&self) -> String {
        let rows: String = self.rows.values().map(String::as_str).collect();
        let sections: String = self.sections.values().map(String::as_str).collect();
        format!("{HEAD}{rows}{sections}")
    }

    /// Takes rows and sections from a page as we write it; a section is headed `## set: …`.
    fn take(&mut self, page: &str) {
        let mut current: Option<String> = None;
        for line in page.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                let set = title.split(':').next().unwrap_or_default().to_owned();
                self.sections.insert(set.clone(), format!("\n{line}\n"));
                current = Some(set);
            } else if let Some(section) = current.as_ref().and_then(|set| self.sections.get_mut(set)) {
                section.push_str(line);
                section.push('\n');
            } else if let Some(row) = line.strip_prefix("| ")
                && !row.starts_with("set ")
                && let Some((set, _)) = row.split_once(" |")
            {
                self.rows.insert(set.to_owned(), format!("{line}\n"));
            }
        }
        for section in self.sections.values_mut() {
            // The blank line before the next section is that section's.
            section.truncate(section.trim_end().len());
            section.push('\n');
        }
    }
}

fn section(set: &str, report: &Report, remark: &str) -> String {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for failure in &report.failures {
        reasons.entry(failure.reason.unwrap_or("not yet explained")).or_default().push(&failure.case);
    }
    let mut lines = String::new();
    if !remark.is_empty() {
        let _ = writeln!(lines, "{remark}\n");
    }
    for (reason, cases) in reasons {
        // What comes after a case's name is the request, which the set has as well.
        let names: Vec<&str> = cases.iter().map(|case| case.split(' ').next().unwrap_or_default()).collect();
        let _ = writeln!(lines, "- {reason} ({}): {}", cases.len(), names.join(", "));
    }
    for (why, count) in &report.skipped {
        let _ = writeln!(lines, "- not replayed: {why} ({count})");
    }
    if lines.is_empty() {
        String::new()
    } else {
        format!("\n## {set}: where it differs, and why\n\n{}\n", lines.trim_end())
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> Result<Option<String>, String> {
    match std::fs::read_to_string(root().join(path)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::default();
        report.count("fine", Ok(()));
        report.count_with("odd", Err("it differs".to_owned()), Some("it has to"));
        report
    }

    #[test]
    fn a_set_that_was_not_measured_now_keeps_its_lines() {
        let mut ledger = Ledger::default();
        assert!(ledger.enter("one", "the first", &report(), ""));
        assert!(ledger.enter("two", "the second", &report(), "A remark."));
        let page = ledger.page();
        assert!(page.contains("| one | the first | 2 | 1 (50.0 %) | 1 | 0 |\n"), "{page}");
        assert!(
            page.ends_with("## two: where it differs, and why\n\nA remark.\n\n- it has to (1): odd\n"),
            "{page}"
        );
        let mut later = Ledger::default();
        later.take(&page);
        assert_eq!(later.page(), page);
        assert!(later.enter("one", "the first", &Report::default(), ""));
        assert!(!later.page().contains("## one"));
        assert!(later.page().contains("## two"));
    }

    #[test]
    fn fewer_than_before_is_not_good_enough() {
        let mut ledger = Ledger::default();
        ledger.best.insert("one".to_owned(), 2);
        assert!(!ledger.enter("one", "the first", &report(), ""));
    }
}
