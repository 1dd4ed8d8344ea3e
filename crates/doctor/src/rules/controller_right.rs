//! Something that the controller itself may not do.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_object::ObjectKey;

use crate::case::{Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::limits;
use crate::node::Node;
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::rules::forbidden::Forbidden;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0806",
    title: "The controller may not do something in the cluster",
    explanation: "\
The controller reads and writes a cluster with an account of that cluster, or as the service account that the project names, and that
account lacks a right. What it may not read it cannot compare, and what it may not write it cannot sync.

## Why
The account was given rights for some namespaces or kinds only, an operator brought kinds that nobody thought of, or the project syncs
as a service account with fewer rights.

## Example
```
deployments.apps is forbidden: User \"system:serviceaccount:argocd:controller\" cannot list resource \"deployments\" in API
group \"apps\" at the cluster scope
```

## What to do
Give the account the right, or leave the kinds out in the settings if it is meant not to have it.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut found: BTreeMap<(&str, String), Vec<(&Said<'_>, Forbidden)>> = BTreeMap::new();
    for said in case.said().iter().filter(|said| matches!(said.voice, Voice::Application | Voice::Sync)) {
        if let Some(right) = Forbidden::read(said.text) {
            found.entry((said.server, right.user.clone())).or_default().push((said, right));
        }
    }
    for ((server, user), said) in found {
        findings.add(finding(case, server, &user, &said));
    }
}

fn finding(case: &Case<'_>, server: &str, user: &str, said: &[(&Said<'_>, Forbidden)]) -> Finding {
    let rights: BTreeSet<&Forbidden> = said.iter().map(|(_, right)| right).collect();
    let shown = words::list(rights.iter().map(|right| right.told()));
    let cause = format!("the controller may not {shown}: it does so as {user}");
    let fix = rights.iter().take(limits::NAMED).fold(
        Fix::new(format!("Let {user} {shown}"))
            .person(format!(
                "Bind a Role with these rules to {user} in the cluster, or exclude the kinds in the settings."
            ))
            .risk(Risk::Medium, "what the controller may do in this cluster")
            .why("the rights of the controller are for whoever runs the cluster to give"),
        |fix, right| {
            let place = right.namespace.as_ref().map(|one| format!(" -n {one}")).unwrap_or_default();
            fix.verify(format!("kubectl auth can-i {} {}{place} --as {user}", right.verb, right.resource))
        },
    );
    let apps = said.iter().filter_map(|(said, _)| said.app.clone());
    let affected: BTreeSet<Node> =
        said.iter().map(|(said, _)| said.node.clone()).chain(apps.map(Node::Application)).collect();
    Finding::new(RULE.code, subject(case, server, said), cause)
        .seen(evidence(said.iter().map(|(said, _)| *said)))
        .affects(affected)
        .fix([fix])
}

/// The controller, or the service account that it has taken on for a project.
fn subject(case: &Case<'_>, server: &str, said: &[(&Said<'_>, Forbidden)]) -> Node {
    let account = said.first().and_then(|(_, right)| right.account());
    match account {
        Some((namespace, name)) if namespace != case.snapshot.home.as_str() => {
            Node::object(server, ObjectKey::new("", "ServiceAccount", namespace, name))
        }
        _ => Node::Controller,
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const TEXT: &str = "
@app shop Unknown Healthy
@condition ComparisonError Failed to load live state: deployments.apps is forbidden: User \"system:serviceaccount:argocd:controller\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope
";

    #[test]
    fn what_the_controller_may_not_read_is_found() {
        assert_eq!(
            check("LYN0806", TEXT),
            "P1 LYN0806/-/Controller: the controller may not list deployments.apps in the whole cluster: it does so as system:serviceaccount:argocd:controller\n  status of shop: ComparisonError: Failed to load live state: deployments.apps is forbidden: User \"system:serviceaccount:argocd:controller\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope\n  fix: Let system:serviceaccount:argocd:controller list deployments.apps in the whole cluster\n"
        );
    }

    #[test]
    fn what_a_pod_may_not_do_is_another_trouble() {
        let pod = "
@live
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: ci}
spec: {containers: [{name: a, image: x}]}
status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 1, message: 'pods is forbidden: User \"system:serviceaccount:ci:a\" cannot list resource \"pods\" in API group \"\" in the namespace \"ci\"'}}}]}
";
        assert_eq!(check("LYN0806", pod), "");
    }
}
