//! What a rehearsal comes to in a few words, however it is printed.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use lynceus_rehearse::{
    ApplicationReport, Assumption, Ending, MassDeletion, Report, SetReport, Sort, Step, StepKind, Verdict,
};

use crate::format;

/// The applications that come to something.
pub(super) fn of(report: &Report, verdict: Verdict) -> Vec<&ApplicationReport> {
    report.applications.iter().filter(|one| one.verdict == verdict).collect()
}

/// The first thing that anybody wants to know.
pub(super) fn headline(report: &Report) -> String {
    let all = report.applications.len();
    let stuck = of(report, Verdict::Stuck).len();
    let time = seconds(report.seconds);
    match report.verdict {
        _ if report.ending == Ending::OutOfPatience => {
            format!(
                "Could not be rehearsed: after {time} on its own clock it had taken too long on this machine's"
            )
        }
        Verdict::Stuck if stuck > 0 => {
            format!("Would get stuck: {} of {all}, after {time}", applications(stuck))
        }
        Verdict::Stuck if stuck_sets(report).next().is_some() => {
            format!("Would get stuck: {}, after {time}", sets(stuck_sets(report).count()))
        }
        Verdict::Stuck if !report.notes.is_empty() => {
            "Would not be whole: not every file can be read".to_owned()
        }
        Verdict::Stuck => "Would finish, but only if what is assumed is there".to_owned(),
        Verdict::NotRehearsed => format!(
            "Could not be rehearsed as a whole: {} finish, {} unknown",
            of(report, Verdict::Finishes).len(),
            report.not_rehearsed.len()
        ),
        Verdict::Finishes | Verdict::Gone => format!("Would finish: {}, after {time}", applications(all)),
    }
}

pub(super) fn applications(count: usize) -> String {
    if count == 1 { "1 application".to_owned() } else { format!("{count} applications") }
}

fn sets(count: usize) -> String {
    if count == 1 { "1 ApplicationSet".to_owned() } else { format!("{count} ApplicationSets") }
}

pub(super) fn seconds(seconds: i64) -> String {
    format::duration(SignedDuration::from_secs(seconds))
}

/// `4 created, 1 deleted`.
pub(super) fn counts<'a>(steps: impl IntoIterator<Item = &'a Step>) -> String {
    let mut counts: BTreeMap<StepKind, usize> = BTreeMap::new();
    for step in steps {
        *counts.entry(step.did).or_default() += step.times;
    }
    let words: Vec<String> =
        counts.into_iter().map(|(did, count)| format!("{count} {}", word(did))).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

pub(super) fn word(did: StepKind) -> &'static str {
    match did {
        StepKind::Created => "created",
        StepKind::Changed => "changed",
        StepKind::Deleted => "deleted",
        StepKind::Refused => "refused",
    }
}

/// `Deployment shop/web`, with the cluster where it is another one.
pub(super) fn object(step: &Step) -> String {
    let slash = if step.namespace.is_empty() { "" } else { "/" };
    let at = if step.cluster.is_empty() { String::new() } else { format!(" at {}", step.cluster) };
    format!("{} {}{slash}{}{at}", step.kind, step.namespace, step.name)
}

/// What there is to add to a step.
pub(super) fn detail(step: &Step) -> String {
    let again = if step.times > 1 { format!(" ({} times)", step.times) } else { String::new() };
    match step.did {
        StepKind::Changed => format!(": {}", step.fields.join(", ")),
        StepKind::Refused => format!(": {}{again}", step.message),
        StepKind::Created | StepKind::Deleted => again,
    }
}

/// All steps in order, with the application or ApplicationSet on whose behalf each was.
pub(super) fn timeline(report: &Report) -> Vec<(&str, &Step)> {
    let sets = report.sets.iter().map(|one| (one.name.as_str(), &one.steps));
    let applications = report.applications.iter().map(|one| (one.name.as_str(), &one.steps));
    let steps = sets.chain(applications);
    let mut all: Vec<_> =
        steps.flat_map(|(name, steps)| steps.iter().map(move |step| (name, step))).collect();
    all.sort_by_key(|(_, step)| step.after);
    all
}

/// The ApplicationSets that get stuck.
pub(super) fn stuck_sets(report: &Report) -> impl Iterator<Item = &SetReport> {
    report.sets.iter().filter(|one| one.verdict == Verdict::Stuck)
}

pub(super) fn mass(one: &MassDeletion) -> String {
    let whose = one.application.as_deref().map_or("all applications together", |name| name);
    format!("{} of the {} objects of {whose}", one.deleted, one.of)
}

/// What is assumed, by sort.
pub(super) fn assumed(report: &Report) -> BTreeMap<Sort, Vec<&Assumption>> {
    let mut sorts: BTreeMap<Sort, Vec<&Assumption>> = BTreeMap::new();
    for one in &report.assumed {
        sorts.entry(one.sort).or_default().push(one);
    }
    sorts
}

/// Names, of which no more than a few are shown.
pub(super) fn few<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let count = names.len();
    few_of(names, most, count)
}

/// Names of which only some are known, and of which no more than a few are shown.
pub(super) fn few_of<'a>(names: impl Iterator<Item = &'a str>, most: usize, count: usize) -> String {
    let shown: Vec<&str> = names.take(most).collect();
    let more = match count.saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_counted_though_its_name_was_not_kept() {
        assert_eq!(few_of(["a", "b", "c"].into_iter(), 2, 12), "a, b and 10 more");
        assert_eq!(few(["a", "b"].into_iter(), 2), "a, b");
    }
}
