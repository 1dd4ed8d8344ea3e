//! For a terminal: how many there are, the root causes as trees, what to do first.

use std::fmt::Write as _;

use crate::examination::{Chain, Examination, Root};
use crate::fix::Proof;
use crate::words;

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

fn totals(examination: &Examination, out: &mut String) {
    let totals = &examination.totals;
    let parts = |counts: &std::collections::BTreeMap<String, usize>| {
        counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{}, {} fine ({}; {})",
        words::count(totals.applications, "application"),
        totals.fine,
        parts(&totals.sync),
        parts(&totals.health)
    );
    let explained = totals.applications
        - totals.fine
        - examination.unexplained.len().min(totals.applications - totals.fine);
    let _ = writeln!(
        out,
        "{}, which explain {}\n",
        words::count(examination.roots.len(), "root cause"),
        words::count(explained, "application")
    );
}

fn cause(number: usize, root: &Root, out: &mut String) {
    let finding = &root.finding;
    let _ = writeln!(out, "{number}. {} {}", root.severity, finding.cause);
    let _ = writeln!(out, "   {}", root.id);
    for evidence in &finding.evidence {
        let _ = writeln!(out, "   seen: {evidence}");
    }
    if !root.also.is_empty() {
        let others = root.also.iter().map(|also| also.finding.subject.to_string());
        let _ = writeln!(out, "   the same in {}: {}", words::count(root.also.len(), "other place"), words::list(others));
    }
    if !root.chain.waiting.is_empty() {
        let _ = writeln!(out, "   what waits for it:");
        tree(&root.chain, "   ", out);
    }
    for fix in &finding.fixes {
        let mark = match &fix.proof {
            Proof::Proposed => "proposed",
            Proof::Verified { .. } => "verified",
            Proof::Refuted { .. } => "tried, and it did not help",
        };
        let _ = writeln!(out, "   fix ({mark}, {} risk): {}", fix.risk, fix.title);
        for step in &fix.steps {
            let _ = writeln!(out, "     {step}");
        }
    }
    out.push('\n');
}

fn tree(chain: &Chain, indent: &str, out: &mut String) {
    for (place, part) in chain.waiting.iter().enumerate() {
        let (corner, line) =
            if place + 1 == chain.waiting.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let more = if part.more > 0 { format!(", and {} more", part.more) } else { String::new() };
        let state = if part.state.is_empty() { String::new() } else { format!(" ({})", part.state) };
        let _ = writeln!(out, "{indent}{corner}{}{state}{more}", part.node);
        tree(part, &format!("{indent}{line}"), out);
    }
}

fn unexplained(examination: &Examination, out: &mut String) {
    if examination.unexplained.is_empty() {
        return;
    }
    let _ = writeln!(out, "not explained:");
    for one in &examination.unexplained {
        let _ = writeln!(out, "  {} is {}", one.application, one.state);
        one.says.iter().for_each(|says| {
            let _ = writeln!(out, "    it says: {says}");
        });
    }
    out.push('\n');
}

fn unseen(examination: &Examination, out: &mut String) {
    for what in &examination.unseen {
        let _ = writeln!(out, "not seen: {what}");
    }
}

fn next(examination: &Examination, out: &mut String) {
    let Some(first) = examination.roots.first() else { return };
    let _ = writeln!(out, "next: lynceus fix {}", first.id);
    let _ = writeln!(out, "      lynceus explain {}", first.finding.code);
}
