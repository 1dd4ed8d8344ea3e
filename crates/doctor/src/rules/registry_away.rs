//! Registries that do not answer.

use std::collections::BTreeMap;

use super::pull::{self, Pull, Why};
use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::Fix;
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0505",
    title: "The registry does not answer, or not as often as it is asked",
    explanation: "\
The images may well be there, but the registry cannot be reached from the nodes, shows a certificate that they do not trust, or has
had enough questions from this address.

## Why
A name that does not resolve, a firewall, an outage, a certificate of an authority of your own, or the pull limit of a public
registry that all nodes behind one address share.

## Example
```
toomanyrequests: You have reached your pull rate limit.
dial tcp: lookup registry.example.org: no such host
```

## What to do
Mend the way to the registry, or pull through a mirror. With a limit, log in: those who do have a larger one.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut by_host: BTreeMap<String, Vec<Pull<'_>>> = BTreeMap::new();
    for (image, pulls) in pull::failed(case, Why::Registry) {
        by_host.entry(host(&image).to_owned()).or_default().extend(pulls);
    }
    by_host.into_iter().for_each(|(host, pulls)| findings.add(found(case, &host, &pulls)));
}

/// The registry of an image; those without one are on Docker Hub.
fn host(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => "docker.io",
    }
}

/// One finding for a registry: its images stand for it.
fn found(case: &Case<'_>, host: &str, pulls: &[Pull<'_>]) -> Finding {
    let said = pulls.iter().map(|pull| pull.said.to_lowercase()).collect::<String>();
    let is_limit =
        ["toomanyrequests", "too many requests", "rate limit"].iter().any(|word| said.contains(word));
    let what = match is_limit {
        true => "has been asked too often and gives nothing for now",
        false if said.contains("x509:") => "shows a certificate that the nodes do not trust",
        false => "does not answer the nodes",
    };
    let cause = format!("registry {host} {what}; {} cannot start", pull::users(pulls));
    let images: std::collections::BTreeSet<&str> = pulls.iter().map(|pull| pull.image).collect();
    let images = images.into_iter().map(|image| Node::Image(image.into()));
    Finding::new(RULE.code, Node::Repository(host.into()), cause)
        .of(pull::app(case, pulls))
        .seen(pull::evidence(pulls))
        .affects(pull::affected(pulls).into_iter().chain(images))
        .fix([mend(host, is_limit)])
}

fn mend(host: &str, is_limit: bool) -> Fix {
    let pulled = words::quote(host);
    match is_limit {
        true => Fix::new(format!("Log in to {pulled}, or pull through a mirror")).person(
            "give the pods a pull secret of an account, or set the nodes up with a mirror of the registry",
        ),
        false => Fix::new(format!("Mend the way from the nodes to {pulled}"))
            .person(format!("from a node: nslookup {pulled}; curl -v https://{pulled}/v2/")),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const AWAY: &str = "
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: prod}
spec: {containers: [{name: web, image: 'reg.example.org/web:1'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: web, state: {waiting: {reason: ErrImagePull, message: 'dial tcp: lookup reg.example.org: no such host'}}}
";

    #[test]
    fn a_registry_that_does_not_answer_is_found() {
        assert_eq!(
            check("LYN0505", AWAY),
            "P1 LYN0505/-/Repository/reg.example.org: registry reg.example.org does not answer the nodes; Pod web cannot \
             start\n  Pod prod/web: status.containerStatuses: ErrImagePull: dial tcp: lookup reg.example.org: no such host\n  \
             fix: Mend the way from the nodes to reg.example.org\n"
        );
    }

    #[test]
    fn a_registry_that_says_no_does_answer() {
        assert_eq!(
            check("LYN0505", &AWAY.replace("dial tcp: lookup reg.example.org: no such host", "unauthorized")),
            ""
        );
    }
}
