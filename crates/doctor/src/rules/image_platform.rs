//! Images that were made for other machines.

use std::collections::BTreeSet;

use super::pull::{self, Pull, Why};
use crate::case::Case;
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0503",
    title: "The image has no variant for the machine",
    explanation: "\
The image is there, but not for the sort of machine that the node is: it was made for ARM and the node is amd64, or the other way
round. No change to a manifest helps, except one that sends the pods to other nodes.

## Why
It was built on a laptop with another processor, without saying for which machines.

## Example
```
no matching manifest for linux/amd64 in the manifest list entries
```

## What to do
Build it for the machines of the cluster: `docker buildx build --platform linux/amd64,linux/arm64 --push`. If there are nodes of the
right sort, a node selector by `kubernetes.io/arch` sends the pods there.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (image, pulls) in pull::failed(case, Why::Platform) {
        findings.add(found(case, &image, &pulls));
    }
}

fn found(case: &Case<'_>, image: &str, pulls: &[Pull<'_>]) -> Finding {
    let platforms: BTreeSet<String> = pulls.iter().filter_map(|pull| platform(case, pull)).collect();
    let machines = match platforms.is_empty() {
        true => "the machines that run it".to_owned(),
        false => words::list(&platforms),
    };
    let cause = format!("image {image} has no variant for {machines}; {} cannot start", pull::users(pulls));
    let build = format!(
        "docker buildx build --platform {} --tag {image} --push .",
        if platforms.is_empty() {
            "linux/amd64,linux/arm64".to_owned()
        } else {
            platforms.iter().cloned().collect::<Vec<_>>().join(",")
        }
    );
    Finding::new(RULE.code, Node::Image(image.into()), cause)
        .of(pull::app(case, pulls))
        .seen(pull::evidence(pulls))
        .seen(nodes(case, pulls))
        .affects(pull::affected(pulls))
        .fix([Fix::new(format!("Build {image} for {machines}"))
            .person(build)
            .risk(Risk::Low, "nothing that runs")
            .verify(format!("docker manifest inspect {image}"))])
}

/// The sort of machine that a pod was sent to, by its node or by what is said.
fn platform(case: &Case<'_>, pull: &Pull<'_>) -> Option<String> {
    let node = pull.pod.value().str_at(&["spec", "nodeName"])?;
    let key = lynceus_object::ObjectKey::new("", "Node", "", node);
    let node = case.live(pull.server, &key);
    let known = node.and_then(|node| {
        node.label("kubernetes.io/arch")
            .or_else(|| node.value().str_at(&["status", "nodeInfo", "architecture"]))
    });
    known.map(|known| format!("linux/{known}")).or_else(|| {
        let said = pull.said.split_once("no matching manifest for ")?.1;
        said.split_whitespace().next().map(str::to_owned)
    })
}

fn nodes(case: &Case<'_>, pulls: &[Pull<'_>]) -> Option<Evidence> {
    let pull = pulls.first()?;
    let node = pull.pod.value().str_at(&["spec", "nodeName"])?;
    let platform = platform(case, pull)?;
    Some(Evidence::seen(format!("pod {} is on node {node}, which is {platform}", pull.pod.name())))
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const FOREIGN: &str = "
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: prod}
spec: {nodeName: a, containers: [{name: web, image: 'shop/web:latest'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: web, state: {waiting: {reason: ErrImagePull, message: 'no matching manifest for linux/amd64 in the manifest list entries'}}}
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {kubernetes.io/arch: amd64}}
";

    #[test]
    fn an_image_for_other_machines_is_found() {
        assert_eq!(
            check("LYN0503", FOREIGN),
            "P1 LYN0503/-/Image/shop/web:latest: image shop/web:latest has no variant for linux/amd64; Pod web cannot start\n  \
             Pod prod/web: status.containerStatuses: ErrImagePull: no matching manifest for linux/amd64 in the manifest list \
             entries\n  pod web is on node a, which is linux/amd64\n  fix: Build shop/web:latest for linux/amd64\n"
        );
    }

    #[test]
    fn an_image_that_is_not_there_at_all_is_another_matter() {
        let text = FOREIGN
            .replace("no matching manifest for linux/amd64 in the manifest list entries", "manifest unknown");
        assert_eq!(check("LYN0503", &text), "");
        assert!(check("LYN0501", &text).contains("LYN0501"));
    }
}
