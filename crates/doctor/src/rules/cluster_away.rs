//! A cluster that does not answer.

use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::cluster_error::{Troubled, Way, troubled};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1301",
    title: "A cluster does not answer",
    explanation: "\
The API server of a cluster cannot be reached. Its applications are Unknown: nothing is compared and nothing synced, while what runs
there goes on.

## Why
The cluster is stopped or was deleted, its address changed, or the network between it and the controller is cut.

## Example
```
cluster \"prod\" (https://10.0.0.1) cannot be reached: connection refused
```

## What to do
Look whether the address in the cluster's Secret still answers from where the controller runs. Remove the cluster if it is gone for
good.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (server, one) in troubled(case, Way::Away) {
        findings.add(found(case, server, &one));
    }
}

fn found(case: &Case<'_>, server: &str, one: &Troubled<'_, '_>) -> Finding {
    let name =
        case.cluster(server).map(|view| view.name.as_str()).filter(|name| !name.is_empty()).unwrap_or(server);
    let cause = format!(
        "cluster {name} does not answer, and {} go{} there",
        words::count(one.apps.len(), "application"),
        if one.apps.len() == 1 { "es" } else { "" }
    );
    let fix = Fix::new(format!("Have cluster {name} answer"))
        .person(format!("Find out from where the controller runs why {server} does not answer."))
        .risk(Risk::Low, "nothing that runs is changed")
        .verify("lynceus cluster list");
    Finding::new(RULE.code, Node::Cluster(server.into()), cause)
        .seen(one.evidence(server))
        .affects(one.apps.iter().map(|app| app.node()))
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_cluster_that_does_not_answer_is_found_once() {
        let app = |name: &str| {
            format!(
                "@app {name} Unknown Unknown\n@condition ComparisonError Failed to load live state: cluster \"prod\" (https://10.0.0.1) cannot be reached since 2026-01-01T00:00:00Z: connection refused\n"
            )
        };
        assert_eq!(
            check("LYN1301", &format!("{}{}", app("a"), app("b"))),
            "P1 LYN1301/-/Cluster/https://kubernetes.default.svc: cluster in-cluster does not answer, and 2 applications go there\n  status of a: ComparisonError: Failed to load live state: cluster \"prod\" (https://10.0.0.1) cannot be reached since 2026-01-01T00:00:00Z: connection refused\n  status of b: ComparisonError: Failed to load live state: cluster \"prod\" (https://10.0.0.1) cannot be reached since 2026-01-01T00:00:00Z: connection refused\n  fix: Have cluster in-cluster answer\n"
        );
    }

    #[test]
    fn a_repository_that_does_not_answer_is_another_trouble() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError cannot read https://g: cannot reach g:443: connection refused\n";
        assert_eq!(check("LYN1301", text), "");
    }

    #[test]
    fn a_cluster_that_refuses_who_asks_has_answered() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Failed to load live state: failed to get cluster info: the server has asked for the client to provide credentials\n";
        assert_eq!(check("LYN1301", text), "");
        assert!(check("LYN1302", text).starts_with("P1 LYN1302/"));
    }
}
