//! A rehearsal as a comment on a pull request.

use std::fmt::Write as _;

use lynceus_rehearse::{Report, Verdict};

use super::summary;

/// How many steps a comment lists; a comment has an end.
const STEPS: usize = 200;

/// How many names stand in a row.
const NAMED: usize = 10;

pub(super) fn print(report: &Report) -> String {
    let mut out = format!("## {}\n\n", summary::headline(report));
    match &report.from {
        Some(from) => {
            let _ = writeln!(out, "What the change from `{from}` to {} does.", revision(&report.to));
        }
        None => {
            let _ = writeln!(out, "{} on a cluster with nothing in it.", capital(&revision(&report.to)));
        }
    }
    stuck(&mut out, report);
    deletions(&mut out, report);
    notes(&mut out, report);
    applications(&mut out, report);
    steps(&mut out, report);
    assumed(&mut out, report);
    not_rehearsed(&mut out, report);
    out
}

fn revision(name: &str) -> String {
    if name.contains(' ') { name.to_owned() } else { format!("`{name}`") }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn stuck(out: &mut String, report: &Report) {
    for one in summary::stuck_sets(report) {
        let place = one.place.as_ref().map(|place| format!(" (`{place}`)")).unwrap_or_default();
        let time = summary::seconds(one.stuck_for.unwrap_or_default());
        let _ = writeln!(out, "\n### ApplicationSet {}{place}\n\nStuck for {time}.\n", cell(&one.name));
        let tree: String = one.reasons.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "```\n{}\n```", tree.trim_end().replace("```", "'''"));
    }
    for one in summary::of(report, Verdict::Stuck) {
        let place = one.place.as_ref().map(|place| format!(" (`{place}`)")).unwrap_or_default();
        let time = summary::seconds(one.stuck_for.unwrap_or_default());
        let _ = writeln!(
            out,
            "\n### {}{place}\n\n{} {}, stuck for {time}.\n",
            cell(&one.name),
            one.sync,
            one.health
        );
        let tree: String = one.reasons.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "```\n{}\n```", tree.trim_end().replace("```", "'''"));
    }
}

fn deletions(out: &mut String, report: &Report) {
    if report.mass_deletions.is_empty() {
        return;
    }
    out.push_str("\n### Deleted in mass\n\n");
    for one in &report.mass_deletions {
        let few = summary::few_of(one.objects.iter().map(String::as_str), NAMED, one.deleted);
        let _ = writeln!(out, "- **{}**: {few}", summary::mass(one));
    }
}

fn notes(out: &mut String, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    out.push_str("\n### Cannot be read\n\n");
    for note in &report.notes {
        let hint = note.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let _ = writeln!(out, "- `{}`: {}{hint}", note.place, cell(&note.message));
    }
}

fn applications(out: &mut String, report: &Report) {
    let touched = report.applications.iter();
    let touched: Vec<_> = touched
        .filter(|one| report.from.is_none() || !one.steps.is_empty() || one.verdict == Verdict::Stuck)
        .collect();
    if touched.is_empty() {
        out.push_str("\nNo application is touched.\n");
        return;
    }
    out.push_str("\n| application | comes to | sync | health | after | did |\n|---|---|---|---|---|---|\n");
    for one in touched {
        let comes_to = match one.verdict {
            Verdict::Finishes => "finishes",
            Verdict::Gone => "is gone",
            Verdict::Stuck => "**gets stuck**",
            Verdict::NotRehearsed => "not rehearsed",
        };
        let after = one.done_after.map(summary::seconds).unwrap_or_default();
        let did = summary::counts(&one.steps);
        let _ = writeln!(
            out,
            "| {} | {comes_to} | {} | {} | {after} | {did} |",
            cell(&one.name),
            one.sync,
            one.health
        );
    }
}

fn steps(out: &mut String, report: &Report) {
    let timeline = summary::timeline(report);
    if timeline.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n<details><summary>{} steps, in order</summary>\n", timeline.len());
    out.push_str("| after | application | step |\n|---|---|---|\n");
    for (name, step) in timeline.iter().take(STEPS) {
        let line = format!("{} {}{}", summary::word(step.did), summary::object(step), summary::detail(step));
        let _ = writeln!(out, "| {} | {} | {} |", summary::seconds(step.after), cell(name), cell(&line));
    }
    if timeline.len() > STEPS {
        let _ = writeln!(out, "\n… and {} more", timeline.len() - STEPS);
    }
    out.push_str("\n</details>\n");
}

fn assumed(out: &mut String, report: &Report) {
    if report.assumed.is_empty() {
        return;
    }
    let failed = if report.strict { ", and counted as failures" } else { "" };
    let _ = writeln!(
        out,
        "\n<details><summary>Assumed to be there: {}{failed}</summary>\n",
        report.assumed.len()
    );
    for (sort, all) in summary::assumed(report) {
        let few = summary::few(all.iter().map(|one| one.what.as_str()), NAMED);
        let _ = writeln!(out, "- {sort}: {}", cell(&few));
    }
    out.push_str("\n</details>\n");
}

fn not_rehearsed(out: &mut String, report: &Report) {
    if report.not_rehearsed.is_empty() {
        return;
    }
    out.push_str("\n### Not rehearsed\n\n");
    for one in &report.not_rehearsed {
        let _ = writeln!(out, "- {}: {}", cell(&one.what), cell(&one.why));
    }
}

/// Text that does not break out of its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}
