//! A controller that does not keep up.

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::limits;
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::{evidence, has};
use crate::rules::source_error::{Step, told};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1305",
    title: "The controller does not keep up",
    explanation: "\
Applications wait long before they are looked at, what was remembered has expired before it was used again, or rendering takes longer
than it may. What statuses say may be old.

## Why
There are more applications than the controller was set up for, something makes all of them be looked at at once, or one source takes so
long to render that the others wait for it. With Argo CD entries of the cache expire after an hour by default, and each miss is logged as
an error although it only costs time.

## Example
```
DiffFromCache error: error getting managed resources for app web: cache: key is missing
```

## What to do
Give it more workers, memory or replicas, a longer time for what it remembers, and find the source that takes so long.
",
    check,
};

/// How many waiting applications are nothing special, and which part of all.
const FEW: usize = 50;
const PART: usize = 4;

const BEHIND: [&str; 9] = [
    "difffromcache",
    "cache: key is missing",
    "context deadline exceeded",
    "deadlineexceeded",
    "took longer than",
    "queue",
    "resourceexhausted",
    "expired before",
    "out of memory",
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    let slow = told(case, Step::Renderer);
    if !slow.is_empty() {
        let names = words::list(slow.iter().map(|(app, _)| app.name.name.as_str()));
        let cause = format!("what renders sources does not answer in time; {names} cannot be compared");
        let finding = Finding::new(RULE.code, Node::Controller, cause)
            .seen(evidence(slow.iter().map(|(_, said)| *said)))
            .affects(slow.iter().map(|(app, _)| app.node()))
            .fix([fix()]);
        findings.add(finding);
    }
    if let Some(finding) = behind(case) {
        findings.add(finding);
    }
}

/// What the controller says of itself. It may be slow without anything being wrong, so this only says so.
fn behind(case: &Case<'_>) -> Option<Finding> {
    let engine = &case.snapshot.engine;
    let many = engine.waiting.filter(|waiting| *waiting > FEW.max(case.snapshot.applications.len() / PART));
    let complaints: Vec<&String> = engine.complaints.iter().filter(|text| has(text, &BEHIND)).collect();
    let cause = match (many, complaints.first()) {
        (Some(waiting), _) => format!("{} wait to be looked at", words::count(waiting, "application")),
        (None, Some(first)) if has(first, &["cache"]) => {
            "what the controller remembers has expired before it was used again".to_owned()
        }
        (None, Some(first)) => format!("the controller does not keep up: {}", words::quote(first)),
        (None, None) => return None,
    };
    let seen = complaints.into_iter().take(limits::EVIDENCE).map(|text| Evidence::seen(words::quote(text)));
    Some(
        Finding::new(RULE.code, Node::Setting("controller".into()), cause)
            .severity(Severity::P3)
            .seen(seen)
            .fix([fix()]),
    )
}

fn fix() -> Fix {
    Fix::new("Give the controller more room")
        .person("Raise the workers, the memory and the time for which it remembers, and find the source that takes longest to render.")
        .risk(Risk::Low, "the controller is started again")
}

#[cfg(test)]
mod tests {
    use crate::case::Case;
    use crate::finding::Findings;
    use crate::snapshot::{EngineView, Snapshot};
    use crate::tests::check;

    fn told(waiting: usize, complaint: &str) -> Vec<String> {
        let complaints = Some(complaint.to_owned()).filter(|text| !text.is_empty()).into_iter().collect();
        let snapshot =
            Snapshot { engine: EngineView { waiting: Some(waiting), complaints }, ..Snapshot::default() };
        let mut findings = Findings::default();
        super::check(&Case::new(&snapshot), &mut findings);
        findings
            .into_sorted()
            .into_iter()
            .map(|finding| format!("{} {}", finding.severity, finding.cause))
            .collect()
    }

    #[test]
    fn a_queue_that_is_long_and_a_cache_that_expires_are_told() {
        assert_eq!(told(900, ""), ["P3 900 applications wait to be looked at"]);
        let cache = "DiffFromCache error: error getting managed resources for app web: cache: key is missing";
        assert_eq!(told(0, cache), ["P3 what the controller remembers has expired before it was used again"]);
    }

    #[test]
    fn a_few_that_wait_are_nothing_special() {
        assert!(told(12, "").is_empty());
    }

    #[test]
    fn rendering_that_takes_too_long_stops_its_applications() {
        let text = "@app a Unknown Healthy\n@condition ComparisonError Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = DeadlineExceeded desc = context deadline exceeded\n";
        assert_eq!(
            check("LYN1305", text),
            "P1 LYN1305/-/Controller: what renders sources does not answer in time; a cannot be compared\n  status of a: ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = DeadlineExceeded desc = context deadline exceeded\n  fix: Give the controller more room\n"
        );
    }
}
