//! A destination that names no cluster.

use std::collections::BTreeMap;

use lynceus_api::labels;
use lynceus_object::{FieldPath, Value};

use super::near;
use crate::case::{App, Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Place, Risk};
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
        findings.add(found(case, &what, &apps));
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

fn found(case: &Case<'_>, what: &str, apps: &[(&App<'_>, &Said<'_>)]) -> Finding {
    let names = words::list(apps.iter().map(|(app, _)| app.name.name.as_str()));
    let goes = if apps.len() == 1 { "goes" } else { "go" };
    let destination = apps.first().map(|(app, _)| &app.application().spec.destination);
    let server =
        destination.map(|one| if one.name.is_empty() { one.server.clone() } else { one.name.clone() });
    let fix = Fix::new("Correct the destination, or add the cluster")
        .person(format!("Correct spec.destination of {names}, or add the Secret of the cluster with the label argocd.argoproj.io/secret-type: cluster."))
        .risk(Risk::Low, names.clone())
        .verify("lynceus cluster list");
    let named = destination.map(|one| one.name.as_str()).filter(|name| !name.is_empty());
    let near = named.and_then(|name| near(case, name));
    let hint = near.as_ref().map(|near| format!("; there is {near}")).unwrap_or_default();
    let rename = near.map(|near| {
        let path = FieldPath::fields(["spec", "destination", "name"]);
        apps.iter().fold(Fix::new(format!("Go to cluster {near}")), |fix, (app, _)| {
            let value = Some(Value::from(near.as_str()));
            fix.git(&app.name, Place::Application { path: path.clone(), value })
        })
    });
    let rename = rename.map(|fix| {
        fix.risk(Risk::Medium, format!("{names}: what it has is made there"))
            .why("it is registered, and its name differs by a slip of the hand")
            .verify("lynceus cluster list")
    });
    Finding::new(
        RULE.code,
        Node::Cluster(server.unwrap_or_default()),
        format!("{names} {goes} nowhere: {what}{hint}"),
    )
    .of(apps.first().map(|(app, _)| app.name.clone()))
    .seen(evidence(apps.iter().map(|(_, said)| *said)))
    .affects(apps.iter().map(|(app, _)| app.node()))
    .fix(rename)
    .fix([fix])
}

/// A cluster that is called almost so: one that applications go to, or one that a Secret registers which is called as its cluster is.
fn near(case: &Case<'_>, name: &str) -> Option<String> {
    let known = case.snapshot.clusters.iter().map(|view| view.name.as_str());
    let live = case.servers().take(1).flat_map(|server| case.of_kind(server, "", "Secret").iter().copied());
    let wanted = case.apps().flat_map(|app| app.wanted()).map(|wanted| &wanted.object);
    let secrets = live.chain(wanted).filter(|object| {
        object.kind() == "Secret" && object.label(labels::SECRET_TYPE) == Some(labels::SECRET_TYPE_CLUSTER)
    });
    let registered = secrets.map(|secret| secret.name().trim_start_matches("cluster-"));
    let all: Vec<&str> = known.chain(registered).filter(|one| !one.is_empty()).collect();
    let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let short = all.iter().copied().find(|one| *one == bare && bare != name);
    near::slip(name, all.iter().copied()).or(short).map(ToOwned::to_owned)
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
