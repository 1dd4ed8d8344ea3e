//! A rehearsal for people at a terminal.

use std::fmt::Write as _;

use lynceus_rehearse::{ApplicationReport, Report, Verdict};

use super::summary;
use crate::table::Table;

/// How many assumed things of one sort are named.
const NAMED: usize = 6;

/// How many steps are listed without being asked for.
const STEPS: usize = 60;

pub(super) fn print(report: &Report, all_steps: bool) -> String {
    let mut out = format!("{}.\n", summary::headline(report));
    stuck(&mut out, report);
    let timeline = summary::timeline(report);
    if all_steps || (report.from.is_some() && timeline.len() <= STEPS) {
        steps(&mut out, report);
    }
    finished(&mut out, report);
    deletions(&mut out, report);
    notes(&mut out, report);
    assumed(&mut out, report);
    not_rehearsed(&mut out, report);
    out
}

fn stuck(out: &mut String, report: &Report) {
    let stuck = summary::of(report, Verdict::Stuck);
    let sets: Vec<_> = summary::stuck_sets(report).collect();
    if stuck.is_empty() && sets.is_empty() {
        return;
    }
    out.push_str("\nStuck\n");
    for one in sets {
        let place = one.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let time = summary::seconds(one.stuck_for.unwrap_or_default());
        let _ = writeln!(out, "  ApplicationSet {}{place}, for {time}", one.name);
        for line in one.reasons.iter().map(ToString::to_string).collect::<String>().lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    for one in stuck {
        let place = one.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let time = summary::seconds(one.stuck_for.unwrap_or_default());
        let _ = writeln!(out, "  {}{place}: {} {}, for {time}", one.name, one.sync, one.health);
        for line in one.reasons.iter().map(ToString::to_string).collect::<String>().lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
}

fn steps(out: &mut String, report: &Report) {
    let timeline = summary::timeline(report);
    if timeline.is_empty() {
        return;
    }
    out.push_str("\nIn this order\n");
    for (name, step) in timeline {
        let (time, word) = (summary::seconds(step.after), summary::word(step.did));
        let (object, detail) = (summary::object(step), summary::detail(step));
        let _ = writeln!(out, "  {time:>6}  {name}  {word} {object}{detail}");
    }
}

fn finished(out: &mut String, report: &Report) {
    let mut done: Vec<&ApplicationReport> = summary::of(report, Verdict::Finishes);
    done.sort_by_key(|one| one.done_after);
    // Of a change, only those are told of that it touches.
    done.retain(|one| report.from.is_none() || !one.steps.is_empty());
    let gone = summary::of(report, Verdict::Gone);
    if done.is_empty() && gone.is_empty() {
        return;
    }
    out.push_str("\nFinished\n");
    let mut table = Table::new(&["AFTER", "APPLICATION", "DID", ""]);
    for one in done {
        let time = summary::seconds(one.done_after.unwrap_or_default());
        let asked = if one.by_hand { "its sync was asked for" } else { "" };
        table.row([time, one.name.clone(), summary::counts(&one.steps), asked.to_owned()]);
    }
    for one in report.sets.iter().filter(|one| one.verdict == Verdict::Finishes && !one.steps.is_empty()) {
        table.row([
            String::new(),
            one.name.clone(),
            summary::counts(&one.steps),
            "an ApplicationSet".to_owned(),
        ]);
    }
    for one in gone {
        table.row([String::new(), one.name.clone(), summary::counts(&one.steps), "it is gone".to_owned()]);
    }
    for line in table.to_string().lines() {
        let _ = writeln!(out, "  {}", line.trim_end());
    }
}

fn deletions(out: &mut String, report: &Report) {
    if report.mass_deletions.is_empty() {
        return;
    }
    out.push_str("\nDeleted in mass\n");
    for one in &report.mass_deletions {
        let few = summary::few_of(one.objects.iter().map(String::as_str), NAMED, one.deleted);
        let _ = writeln!(out, "  {}: {few}", summary::mass(one));
    }
}

fn notes(out: &mut String, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    out.push_str("\nCannot be read\n");
    for note in &report.notes {
        let _ = writeln!(out, "  {}: {}", note.place, note.message);
        if let Some(hint) = &note.hint {
            let _ = writeln!(out, "    hint: {hint}");
        }
    }
}

fn assumed(out: &mut String, report: &Report) {
    if report.assumed.is_empty() {
        return;
    }
    let failed = if report.strict { " (--strict: each of these counts as a failure)" } else { "" };
    let _ = writeln!(out, "\nAssumed{failed}");
    for (sort, all) in summary::assumed(report) {
        let few = summary::few(all.iter().map(|one| one.what.as_str()), NAMED);
        let _ = writeln!(out, "  {sort}: {few}");
    }
}

fn not_rehearsed(out: &mut String, report: &Report) {
    if report.not_rehearsed.is_empty() {
        return;
    }
    out.push_str("\nNot rehearsed\n");
    for one in &report.not_rehearsed {
        let place = one.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let _ = writeln!(out, "  {}{place}: {}", one.what, one.why);
    }
}
