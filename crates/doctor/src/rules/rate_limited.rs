//! Requests that are held back.

use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::cluster_error::{Way, troubled, way};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1303",
    title: "Requests to a cluster are held back",
    explanation: "\
The API server asks to be left alone (429), or the controller holds its own requests back because it makes more than it may. Syncs take
long or fail, and statuses lag behind.

## Why
Something asks too much: many applications after a restart, a controller that writes in a loop, or a limit that is too low for the
number of objects.

## Example
```
the server has received too many requests and has asked us to try again later
```

## What to do
Find who asks most: `kubectl get --raw /metrics | grep apiserver_flowcontrol`. Raise the client's limits only if the server has room.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (server, one) in troubled(case, Way::Busy) {
        let name = case
            .cluster(server)
            .map(|view| view.name.as_str())
            .filter(|name| !name.is_empty())
            .unwrap_or(server);
        let finding = Finding::new(
            RULE.code,
            Node::Cluster(server.into()),
            format!("requests to cluster {name} are held back: there are too many"),
        )
        .seen(one.evidence(server))
        .affects(one.apps.iter().map(|app| app.node()))
        .fix([fix()]);
        findings.add(finding);
    }
    let held: Vec<&String> =
        case.snapshot.engine.complaints.iter().filter(|text| way(text) == Some(Way::Busy)).collect();
    if let Some(first) = held.first() {
        let seen = held.iter().take(crate::limits::EVIDENCE).map(|text| Evidence::seen(words::quote(text)));
        let cause = format!("the controller's requests are held back: {}", words::quote(first));
        findings.add(
            Finding::new(RULE.code, Node::Controller, cause).severity(Severity::P3).seen(seen).fix([fix()]),
        );
    }
}

fn fix() -> Fix {
    Fix::new("Find who asks most, and let it ask less")
        .person("Look at apiserver_flowcontrol_* of the API server for who asks most; raise the limits of the controller if the server has room.")
        .risk(Risk::Low, "how fast statuses and syncs are")
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_server_that_asks_to_be_left_alone_is_found() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Failed to load live state: the server has received too many requests and has asked us to try again later\n";
        assert_eq!(
            check("LYN1303", text),
            "P1 LYN1303/-/Cluster/https://kubernetes.default.svc: requests to cluster in-cluster are held back: there are too many\n  status of a: ComparisonError: Failed to load live state: the server has received too many requests and has asked us to try again later\n  fix: Find who asks most, and let it ask less\n"
        );
    }

    #[test]
    fn a_server_that_is_away_is_another_trouble() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Failed to load live state: dial tcp 10.0.0.1:443: connect: connection refused\n";
        assert_eq!(check("LYN1303", text), "");
    }
}
