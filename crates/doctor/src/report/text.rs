//! For a terminal: how many there are, the root causes as trees, what to do first.

use std::fmt::Write as _;

use super::chain;
use super::lines::wrap;
use crate::examination::{Examination, Root};
use crate::finding::Evidence;
use crate::fix::Proof;
use crate::words;

/// How many evidences of a cause are printed; the other reports have all of them.
const SEEN: usize = 4;
/// How many steps of a fix are printed.
const STEPS: usize = 6;

/// How many applications of a rehearsal are printed.
const REHEARSED: usize = 3;

/// The report as a terminal shows it, without colours.
pub fn text(examination: &Examination) -> String {
    let mut out = String::new();
    totals(examination, &mut out);
    for (number, root) in examination.roots.iter().enumerate() {
        cause(number + 1, root, &mut out);
    }
    unexplained(examination, &mut out);
    unseen(examination, &mut out);
    next(examination, &mut out);
    out
}

// Writing to a string cannot fail, so what it gives is dropped everywhere below.

fn totals(examination: &Examination, out: &mut String) {
    let totals = &examination.totals;
    let parts = |counts: &std::collections::BTreeMap<String, usize>| {
        counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    };
    let states = [parts(&totals.sync), parts(&totals.health)].into_iter().filter(|part| !part.is_empty());
    let states = states.collect::<Vec<_>>().join("; ");
    let states = if states.is_empty() { states } else { format!(" ({states})") };
    let _ =
        writeln!(out, "{}, {} fine{states}", words::count(totals.applications, "application"), totals.fine,);
    let ill = totals.applications - totals.fine;
    let explained = ill - examination.unexplained.len().min(ill);
    let _ = match examination.roots.len() {
        0 => writeln!(out, "nothing is wrong that the doctor knows"),
        1 => writeln!(out, "1 root cause, which explains {}", words::count(explained, "application")),
        more => writeln!(out, "{more} root causes, which explain {}", words::count(explained, "application")),
    };
    out.push('\n');
}

fn cause(number: usize, root: &Root, out: &mut String) {
    let finding = &root.finding;
    wrap(&format!("{number}. {} {}", root.severity, finding.cause), "", "   ", out);
    let _ = writeln!(out, "   {}", root.id);
    let mut seen = told_once(&finding.evidence);
    // Where something is written says more than the next one of many who name it.
    if seen.len() > SEEN && !seen[..SEEN].iter().any(|one| matches!(one, Evidence::File { .. })) {
        let file = seen.iter().position(|one| matches!(one, Evidence::File { .. }));
        seen.swap(SEEN - 1, file.unwrap_or(SEEN - 1));
    }
    for evidence in seen.iter().take(SEEN) {
        wrap(&format!("seen: {evidence}"), "   ", "     ", out);
    }
    if seen.len() > SEEN {
        let _ = writeln!(out, "   seen: {} more, which -o markdown and -o json have", seen.len() - SEEN);
    }
    if !root.also.is_empty() {
        let others = root.also.iter().map(|also| also.finding.subject.to_string());
        let _ = writeln!(
            out,
            "   the same in {}: {}",
            words::count(root.also.len(), "other place"),
            words::list(others)
        );
    }
    if !root.chain.waiting.is_empty() {
        let _ = writeln!(out, "   what waits for it:");
        chain::draw(&root.chain, "   ", out);
    }
    if root.applications.len() > 1 {
        let names = words::list(root.applications.iter().map(|app| app.name.as_str()));
        let count = words::count(root.applications.len(), "application");
        wrap(&format!("explains {count}: {names}"), "   ", "     ", out);
    }
    for (place, fix) in finding.fixes.iter().enumerate() {
        // The number is what --choice takes.
        let choice = if finding.fixes.len() > 1 { format!(" {}", place + 1) } else { String::new() };
        wrap(&format!("fix{choice} ({}, {} risk): {}", fix.proof, fix.risk, fix.title), "   ", "     ", out);
        let steps = fix.told();
        for step in steps.iter().take(STEPS) {
            wrap(step, "     ", "       ", out);
        }
        if steps.len() > STEPS {
            let _ =
                writeln!(out, "     and {} more, which -o markdown and -o json have", steps.len() - STEPS);
        }
        rehearsed(&fix.proof, out);
    }
    out.push('\n');
}

/// What a rehearsal of a fix came to.
fn rehearsed(proof: &Proof, out: &mut String) {
    let told = match proof {
        Proof::Proposed { reason: None } => return,
        Proof::Proposed { reason: Some(reason) } => format!("not rehearsed: {reason}"),
        Proof::Refuted { reason } => format!("rehearsed: {reason}"),
        Proof::Verified { table } => {
            let changes = table.iter().map(|(name, before, after)| match before == after {
                true => format!("{name} stays {after}"),
                false => format!("{name} from {before} to {after}"),
            });
            let mut changes: Vec<String> = changes.take(REHEARSED).collect();
            if table.len() > REHEARSED {
                changes.push(format!("{} more", table.len() - REHEARSED));
            }
            format!("rehearsed: {}", changes.join(", "))
        }
    };
    wrap(&told, "     ", "       ", out);
}

/// Evidence without what merely repeats another: a status and the event about it say the same.
fn told_once(evidence: &[Evidence]) -> Vec<&Evidence> {
    let mut kept: Vec<&Evidence> = Vec::new();
    for one in evidence {
        let repeats = kept.iter().any(|known| match (said(known), said(one)) {
            (Some(known), Some(said)) => known.contains(said),
            _ => known == &one,
        });
        if !repeats {
            kept.push(one);
        }
    }
    kept
}

/// What somebody says in an evidence, without where; none if it is too short to be told from another by it.
fn said(evidence: &Evidence) -> Option<&str> {
    let text = match evidence {
        Evidence::Field { value, .. } => value,
        Evidence::Event { message, .. } => message,
        Evidence::Status { text, .. } => text,
        Evidence::File { .. } | Evidence::Seen { .. } => return None,
    };
    Some(text.as_str()).filter(|text| text.contains(' '))
}

fn unexplained(examination: &Examination, out: &mut String) {
    if examination.unexplained.is_empty() {
        return;
    }
    let _ = writeln!(out, "not explained:");
    for one in &examination.unexplained {
        let _ = writeln!(out, "  {} is {}", one.application, one.state);
        for says in &one.says {
            wrap(&format!("it says: {says}"), "    ", "      ", out);
        }
    }
    out.push('\n');
}

fn unseen(examination: &Examination, out: &mut String) {
    for what in &examination.unseen {
        wrap(&format!("not seen: {what}"), "", "  ", out);
    }
}

fn next(examination: &Examination, out: &mut String) {
    let Some(first) = examination.roots.first() else { return };
    if !first.finding.fixes.is_empty() {
        let _ = writeln!(out, "next: lynceus fix {}", first.id);
    }
    let next = if first.finding.fixes.is_empty() { "next:" } else { "     " };
    let _ = writeln!(out, "{next} lynceus explain {}", first.finding.code);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::told;

    const SHARED: &str = "
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

    #[test]
    fn one_cause_is_told_with_what_it_explains_and_what_to_do() {
        assert_eq!(
            told(SHARED),
            "2 applications, 0 fine (2 OutOfSync; 2 Healthy)\n\
             1 root cause, which explains 2 applications\n\n\
             1. P2 ConfigMap grafana is wanted by grafana and secrets, and only one can have it\n\
             \x20  LYN0101/grafana/ConfigMap/grafana\n\
             \x20  seen: grafana.yaml:1: grafana wants it\n\
             \x20  seen: secrets.yaml:1: secrets wants it\n\
             \x20  what waits for it:\n\
             \x20  └─ application grafana (OutOfSync Healthy), and 1 more\n\
             \x20  explains 2 applications: grafana and secrets\n\
             \x20  fix (proposed, medium risk): Keep it in grafana and remove it from secrets\n\
             \x20    in the files of secrets: remove ConfigMap grafana\n\n\
             next: lynceus fix LYN0101/grafana/ConfigMap/grafana\n\
             \x20     lynceus explain LYN0101\n"
        );
    }

    #[test]
    fn a_fix_is_told_with_what_its_rehearsal_came_to() {
        let said = |proof: Proof| {
            let mut out = String::new();
            rehearsed(&proof, &mut out);
            out
        };
        let row =
            |name: &str, before: &str, after: &str| (name.to_owned(), before.to_owned(), after.to_owned());
        let mut table = vec![row("a", "Synced Degraded", "Synced Healthy"), row("b", "Missing", "Missing")];
        assert_eq!(
            said(Proof::Verified { table: table.clone() }),
            "     rehearsed: a from Synced Degraded to Synced Healthy, b stays Missing\n"
        );
        table.extend(["c", "d", "e"].map(|name| row(name, "x", "y")));
        assert!(said(Proof::Verified { table }).ends_with("c from x to y, 2 more\n"));
        assert_eq!(said(Proof::proposed("no time was left")), "     not rehearsed: no time was left\n");
        assert_eq!(said(Proof::default()), "");
    }

    #[test]
    fn where_nothing_is_wrong_there_is_nothing_to_do() {
        assert_eq!(
            told("\n@app shop Synced Healthy\n"),
            "1 application, 1 fine (1 Synced; 1 Healthy)\nnothing is wrong that the doctor knows\n\n"
        );
    }

    #[test]
    fn what_a_status_and_an_event_say_is_told_once() {
        let key = || lynceus_object::ObjectKey::new("", "Pod", "prod", "web");
        let field = |value: &str| Evidence::Field {
            object: key(),
            path: lynceus_object::FieldPath::fields(["status"]),
            value: value.to_owned(),
        };
        let event = Evidence::Event {
            object: key(),
            reason: "FailedScheduling".into(),
            message: "no node takes it".to_owned(),
            count: 7,
        };
        let all = [field("Unschedulable: no node takes it"), event, field("x"), field("x"), field("y")];
        assert_eq!(told_once(&all), [&all[0], &all[2], &all[4]]);
    }
}
