//! The inventory that people write by hand when they have only a text editor: what is wrong by weight, what comes from what,
//! what to do in which order, at which risk, how to see that it worked and how to go back.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::chain;
use crate::examination::{Examination, Root};
use crate::finding::Severity;
use crate::fix::{Fix, Proof};
use crate::words;

const HEADINGS: [(Severity, &str); 4] = [
    (Severity::P0, "P0: several applications stand still"),
    (Severity::P1, "P1: one application does not work"),
    (Severity::P2, "P2: not as Git wants it, and works"),
    (Severity::P3, "P3: worth putting right"),
];

/// The report in Markdown.
pub fn markdown(examination: &Examination) -> String {
    let mut out = String::from("# What is wrong, and why\n\n");
    summary(examination, &mut out);
    for (severity, heading) in HEADINGS {
        section(examination, severity, heading, &mut out);
    }
    unexplained(examination, &mut out);
    plan(examination, &mut out);
    risks(examination, &mut out);
    commands("Validation", examination, |fix| &fix.verify, &mut out);
    commands("Rollback", examination, |fix| &fix.undo, &mut out);
    tried(examination, &mut out);
    out
}

// Writing to a string cannot fail, so what it gives is dropped everywhere below.

fn summary(examination: &Examination, out: &mut String) {
    let totals = &examination.totals;
    let _ = writeln!(out, "## Summary\n\nApplications: {}\n", totals.applications);
    let _ = writeln!(out, "- **Synced and Healthy**: {}", totals.fine);
    for (word, count) in totals.health.iter().filter(|(word, _)| *word != "Healthy") {
        let _ = writeln!(out, "- **{word}**: {count}");
    }
    for (word, count) in totals.sync.iter().filter(|(word, _)| *word != "Synced") {
        let _ = writeln!(out, "- **{word}** (sync): {count}");
    }
    let _ = writeln!(out, "\nRoot causes: {}", examination.roots.len());
    for what in &examination.unseen {
        let _ = writeln!(out, "\nNot seen: {what}");
    }
    out.push('\n');
}

fn section(examination: &Examination, severity: Severity, heading: &str, out: &mut String) {
    let roots: Vec<(usize, &Root)> =
        examination.roots.iter().enumerate().filter(|(_, root)| root.severity == severity).collect();
    if roots.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {heading}\n");
    for (place, root) in roots {
        cause(place + 1, root, out);
    }
}

fn cause(number: usize, root: &Root, out: &mut String) {
    let finding = &root.finding;
    let _ = writeln!(out, "### {number}. {}\n\n`{}`\n", escaped(&finding.cause), root.id);
    if !finding.evidence.is_empty() {
        let _ = writeln!(out, "Seen:\n");
        for evidence in &finding.evidence {
            let _ = writeln!(out, "- {}", escaped(&evidence.to_string()));
        }
        out.push('\n');
    }
    if !root.also.is_empty() {
        let _ = writeln!(out, "The same in {}:\n", words::count(root.also.len(), "other place"));
        for also in &root.also {
            let _ = writeln!(out, "- `{}`", also.id);
        }
        out.push('\n');
    }
    if !root.chain.waiting.is_empty() {
        let _ = writeln!(out, "Chain:\n\n```\n{}", root.chain.node);
        chain::draw(&root.chain, "", out);
        let _ = writeln!(out, "```\n");
    }
    if !root.applications.is_empty() {
        let names = root.applications.iter().map(|app| app.name.as_str());
        let _ = writeln!(
            out,
            "Explains {}: {}\n",
            words::count(root.applications.len(), "application"),
            words::list(names)
        );
    }
}

fn unexplained(examination: &Examination, out: &mut String) {
    if examination.unexplained.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Not explained\n\n| Application | State | It says |\n|---|---|---|");
    for one in &examination.unexplained {
        let says = cell(&one.says.join("; "));
        let _ = writeln!(out, "| `{}` | {} | {says} |", one.application, one.state);
    }
    out.push('\n');
}

/// What to do, in phases: one for each weight.
fn plan(examination: &Examination, out: &mut String) {
    let has_fix = |root: &&Root| !root.finding.fixes.is_empty();
    if !examination.roots.iter().any(|root| has_fix(&root)) {
        return;
    }
    let _ = writeln!(out, "## Fix plan\n");
    let mut phase = 0;
    for (severity, _) in HEADINGS {
        let roots: Vec<&Root> =
            examination.roots.iter().filter(|root| root.severity == severity).filter(has_fix).collect();
        if roots.is_empty() {
            continue;
        }
        phase += 1;
        let _ = writeln!(out, "### Phase {phase} ({severity})\n");
        for (number, root) in roots.iter().enumerate() {
            let Some(fix) = root.finding.fixes.first() else { continue };
            let _ = writeln!(
                out,
                "{}. {} ({}), `lynceus fix {}`",
                number + 1,
                escaped(&fix.title),
                fix.proof,
                root.id
            );
            for step in fix.told() {
                let _ = writeln!(out, "   - {}", escaped(&step));
            }
            for other in root.finding.fixes.iter().skip(1) {
                let _ = writeln!(out, "   - or: {} ({} risk)", escaped(&other.title), other.risk);
            }
        }
        out.push('\n');
    }
}

fn risks(examination: &Examination, out: &mut String) {
    let fixes: Vec<(&Root, &Fix)> =
        examination.roots.iter().filter_map(|root| Some((root, root.finding.fixes.first()?))).collect();
    if fixes.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Risk\n\n| Finding | Risk | Touches | Way back |\n|---|---|---|---|");
    for (root, fix) in fixes {
        let undo = fix.undo.first().map_or("none is needed", String::as_str);
        let _ = writeln!(out, "| `{}` | {} | {} | {} |", root.id, fix.risk, cell(&fix.blast), cell(undo));
    }
    out.push('\n');
}

fn commands(heading: &str, examination: &Examination, of: impl Fn(&Fix) -> &Vec<String>, out: &mut String) {
    let fixes = examination.roots.iter().filter_map(|root| root.finding.fixes.first());
    let all: BTreeSet<&String> = fixes.flat_map(of).collect();
    if all.is_empty() {
        return;
    }
    let (commands, words): (Vec<&String>, Vec<&String>) = all.into_iter().partition(|text| is_command(text));
    let _ = writeln!(out, "## {heading}\n");
    for text in &words {
        let _ = writeln!(out, "- {}", escaped(text));
    }
    if !words.is_empty() {
        out.push('\n');
    }
    if !commands.is_empty() {
        let _ = writeln!(out, "```");
        for command in commands {
            let _ = writeln!(out, "{command}");
        }
        let _ = writeln!(out, "```\n");
    }
}

/// Whether a text is a command and no sentence that begins like one.
fn is_command(text: &str) -> bool {
    let programs = ["kubectl ", "lynceus ", "git ", "vault ", "helm ", "oc ", "skopeo "];
    programs.iter().any(|program| text.starts_with(program)) && !text.contains(" the ")
}

/// Before and after, of the fixes that were rehearsed, and why others could not be.
fn tried(examination: &Examination, out: &mut String) {
    let fixes =
        || examination.roots.iter().flat_map(|root| root.finding.fixes.iter().map(move |fix| (root, fix)));
    if fixes().all(|(_, fix)| fix.proof == Proof::default()) {
        return;
    }
    let _ = writeln!(out, "## Before and after, rehearsed\n");
    for (root, fix) in fixes() {
        let title = escaped(&fix.title);
        let _ = match &fix.proof {
            Proof::Verified { table } => {
                let _ = writeln!(
                    out,
                    "{title} (`{}`), {}:\n\n| Application | Before | After |\n|---|---|---|",
                    root.id, fix.proof
                );
                for (application, before, after) in table {
                    let _ = writeln!(out, "| `{application}` | {} | {} |", cell(before), cell(after));
                }
                writeln!(out)
            }
            Proof::Refuted { reason } => {
                writeln!(out, "{title} (`{}`), {}: {}\n", root.id, fix.proof, escaped(reason))
            }
            Proof::Proposed { reason: Some(reason) } => {
                writeln!(out, "{title} (`{}`), {} only: {}\n", root.id, fix.proof, escaped(reason))
            }
            Proof::Proposed { reason: None } => Ok(()),
        };
    }
}

/// Text from clusters and files as text, whatever stands in it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('<', "&lt;").replace('`', "'")
}

/// The same in a table.
fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examination::examine;
    use crate::tests::snapshot;

    #[test]
    fn what_was_rehearsed_stands_there_before_and_after() {
        let mut examination = examine(&snapshot(
            "\n@app a OutOfSync Healthy\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: n}\n@app b OutOfSync \
             Healthy\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: n}\n",
        ));
        assert!(!markdown(&examination).contains("rehearsed"));
        let row = ("a".to_owned(), "OutOfSync Healthy".to_owned(), "Synced Healthy".to_owned());
        examination.roots[0].finding.fixes[0].proof = Proof::Verified { table: vec![row] };
        let report = markdown(&examination);
        let wanted = "## Before and after, rehearsed\n\nKeep it in b and remove it from a (`LYN0101/a/ConfigMap/x`), verified:\n\n| \
                      Application | Before | After |\n|---|---|---|\n| `a` | OutOfSync Healthy | Synced Healthy |\n\n";
        assert!(report.ends_with(wanted), "{report}");
        examination.roots[0].finding.fixes[0].proof = Proof::proposed("no time was left");
        assert!(!markdown(&examination).contains("verified"));
        assert!(markdown(&examination).contains(", proposed only: no time was left\n"));
    }

    #[test]
    fn the_inventory_has_causes_by_weight_a_plan_risks_and_the_way_back() {
        let text = "
@app grafana OutOfSync Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: grafana, namespace: monitoring}
---
apiVersion: v1
kind: Service
metadata: {name: grafana, namespace: monitoring}
@app secrets OutOfSync Healthy
apiVersion: v1
kind: ConfigMap
metadata: {name: grafana, namespace: monitoring}
";
        let report = markdown(&examine(&snapshot(text)));
        for part in [
            "Applications: 2",
            "- **OutOfSync** (sync): 2",
            "## P2: not as Git wants it, and works",
            "`LYN0101/grafana/ConfigMap/grafana`",
            "## Fix plan\n\n### Phase 1 (P2)",
            "## Risk\n\n| Finding | Risk | Touches | Way back |",
            "## Validation\n\n```\nlynceus app get grafana\n```",
            "## Rollback\n\n- git revert the commit\n",
        ] {
            assert!(report.contains(part), "{part} is not in\n{report}");
        }
    }
}
