//! A cluster that does not let the controller in any more.

use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::has;
use crate::rules::cluster_error::{Troubled, Way, troubled};

pub(super) const RULE: Rule = Rule {
    code: "LYN1302",
    title: "The credentials of a cluster have run out",
    explanation: "\
The API server answers, and does not accept the controller: a token or certificate has run out or was taken back, or the server shows a
certificate that is not trusted.

## Why
Tokens of cloud providers and client certificates end after a while, and nobody has renewed the ones in the cluster's Secret. A cluster
that was made anew has another authority.

## Example
```
Get \"https://10.0.0.1/version\": x509: certificate has expired or is not yet valid
```

## What to do
Renew the credentials in the cluster's Secret, or let the controller get short-lived ones by itself.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (server, one) in troubled(case, Way::Login) {
        findings.add(found(case, server, &one));
    }
}

fn found(case: &Case<'_>, server: &str, one: &Troubled<'_, '_>) -> Finding {
    let name =
        case.cluster(server).map(|view| view.name.as_str()).filter(|name| !name.is_empty()).unwrap_or(server);
    let text = one.text();
    let what = match text {
        _ if has(text, &["expired", "has run out"]) => "a certificate or token has run out",
        _ if has(text, &["x509"]) => "its certificate is not trusted",
        _ => "the credentials are not accepted",
    };
    let fix = Fix::new(format!("Renew the credentials of cluster {name}"))
        .person(format!("Renew the credentials or the authority in the Secret of cluster {name} ({server})."))
        .risk(Risk::Low, "nothing that runs is changed")
        .why("credentials do not stand in Git")
        .verify("lynceus cluster list");
    Finding::new(
        RULE.code,
        Node::Cluster(server.into()),
        format!("cluster {name} does not let the controller in: {what}"),
    )
    .seen(one.evidence(server))
    .affects(one.apps.iter().map(|app| app.node()))
    .fix([fix])
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn a_certificate_that_has_run_out_is_found() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Failed to load live state: failed to get cluster info for \"https://10.0.0.1\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid\n";
        assert_eq!(
            check("LYN1302", text),
            "P1 LYN1302/-/Cluster/https://kubernetes.default.svc: cluster in-cluster does not let the controller in: a certificate or token has run out\n  status of a: ComparisonError: Failed to load live state: failed to get cluster info for \"https://10.0.0.1\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid\n  fix: Renew the credentials of cluster in-cluster\n"
        );
    }

    #[test]
    fn a_right_that_is_missing_is_another_trouble() {
        let text = "@app a Unknown Unknown\n@condition ComparisonError Failed to load live state: pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\" at the cluster scope\n";
        assert_eq!(check("LYN1302", text), "");
    }
}
