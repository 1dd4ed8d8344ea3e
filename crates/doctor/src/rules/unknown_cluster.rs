//! A destination that names no cluster.

use std::collections::BTreeMap;

use crate::case::{App, Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1306",
    title: "The destination names no cluster that is known",
    explanation: "\
The application's destination names a cluster by a name or address that no cluster Secret has, or that several have. It cannot be compared
with anything.

## Why
The cluster was renamed, removed or never added, its Secret lacks the label, or the name is misspelt.

## Example
```
application destination spec is invalid: unable to find destination server: there are no clusters with this name: prod-eu
```

## What to do
Correct `spec.destination`, or add the cluster.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut lost: BTreeMap<String, Vec<(&App<'_>, &Said<'_>)>> = BTreeMap::new();
    for said in case.said().iter().filter(|said| said.voice == Voice::Application) {
        let app = said.app.as_ref().and_then(|name| case.app(name));
        if let Some((app, what)) = app.zip(problem(said.text)) {
            lost.entry(what).or_default().push((app, said));
        }
    }
    for (what, apps) in lost {
        findings.add(found(&what, &apps));
    }
}

/// What is wrong with a destination, in words.
fn problem(text: &str) -> Option<String> {
    if let Some((_, name)) = text.split_once("no clusters with this name: ") {
        return Some(format!("no cluster is called {}", name.split_whitespace().next()?));
    }
    if let Some((_, rest)) = text.split_once(" clusters with the same name: ") {
        return Some(format!("several clusters have the name: {}", words::quote(rest)));
    }
    let (_, rest) = text.split_once("error getting cluster by server \"")?;
    let (server, rest) = rest.split_once('"')?;
    let is_off = rest.contains("is disabled");
    let is_lost = rest.contains("not found") || rest.contains("not configured");
    (is_off || is_lost).then(|| match is_off {
        true => format!("cluster {server} is switched off as a destination"),
        false => format!("no cluster has the address {server}"),
    })
}

fn found(what: &str, apps: &[(&App<'_>, &Said<'_>)]) -> Finding {
    let names = words::list(apps.iter().map(|(app, _)| app.name.name.as_str()));
    let goes = if apps.len() == 1 { "goes" } else { "go" };
    let destination = apps.first().map(|(app, _)| &app.application().spec.destination);
    let server =
        destination.map(|one| if one.name.is_empty() { one.server.clone() } else { one.name.clone() });
    let fix = Fix::new("Correct the destination, or add the cluster")
        .person(format!("Correct spec.destination of {names}, or add the Secret of the cluster with the label argocd.argoproj.io/secret-type: cluster."))
        .risk(Risk::Low, names.clone())
        .verify("lynceus cluster list");
    Finding::new(
        RULE.code,
        Node::Cluster(server.unwrap_or_default()),
        format!("{names} {goes} nowhere: {what}"),
    )
    .of(apps.first().map(|(app, _)| app.name.clone()))
    .seen(evidence(apps.iter().map(|(_, said)| *said)))
    .affects(apps.iter().map(|(app, _)| app.node()))
    .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_destination_that_names_no_cluster_is_found() {
        let text = "@app a Unknown Unknown\n@condition InvalidSpecError application destination spec for a is invalid: unable to find destination server: there are no clusters with this name: prod-eu\n";
        assert_eq!(
            check("LYN1306", text),
            "P1 LYN1306/a/Cluster/https://kubernetes.default.svc: a goes nowhere: no cluster is called prod-eu\n  status of a: InvalidSpecError: application destination spec for a is invalid: unable to find destination server: there are no clusters with this name: prod-eu\n  fix: Correct the destination, or add the cluster\n"
        );
    }

    #[test]
    fn a_cluster_that_does_not_answer_is_known() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Failed to load live state: cluster \"x\" (https://x) cannot be reached: timed out\n";
        assert_eq!(check("LYN1306", text), "");
    }
}
