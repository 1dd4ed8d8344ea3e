//! Changes that are no reason to look at an application.

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{Ignore, RuleError};
use lynceus_object::Str;

use super::compare::{CompareOptions, StatusField};
use super::customizations::Customizations;

/// What Argo CD installs, which holds for a kind unless the settings say something else of it: group, kind, and the fields
/// as JSON pointers.
const INSTALLED: &[(&str, &str, &[&str])] = &[
    ("*", "*", &["/status"]),
    (
        "argoproj.io",
        "Application",
        &[
            "/metadata/annotations/notified.notifications.argoproj.io",
            "/metadata/annotations/argocd.argoproj.io~1refresh",
            "/metadata/annotations/argocd.argoproj.io~1refresh-timestamp",
            "/metadata/annotations/argocd.argoproj.io~1hydrate",
            "/metadata/annotations/argocd.argoproj.io~1hydrate-timestamp",
            "/operation",
        ],
    ),
    ("argoproj.io", "Rollout", &["/metadata/annotations/notified.notifications.argoproj.io"]),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        &[
            "/metadata/annotations/autoscaling.alpha.kubernetes.io~1behavior",
            "/metadata/annotations/autoscaling.alpha.kubernetes.io~1conditions",
            "/metadata/annotations/autoscaling.alpha.kubernetes.io~1metrics",
            "/metadata/annotations/autoscaling.alpha.kubernetes.io~1current-metrics",
        ],
    ),
    (
        "",
        "ConfigMap",
        &[
            "/metadata/annotations/cluster-autoscaler.kubernetes.io~1last-updated",
            "/metadata/annotations/control-plane.alpha.kubernetes.io~1leader",
        ],
    ),
    (
        "apps",
        "ReplicaSet",
        &[
            "/metadata/annotations/deployment.kubernetes.io~1desired-replicas",
            "/metadata/annotations/deployment.kubernetes.io~1max-replicas",
            "/metadata/annotations/rollout.argoproj.io~1desired-replicas",
        ],
    ),
    ("discovery.k8s.io", "EndpointSlice", &["/metadata", "/endpoints", "/ports"]),
    ("", "Endpoints", &["/metadata", "/subsets"]),
];

/// Fields that change with every write, and our own marks.
const ALWAYS: &[&str] = &[
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/managedFields",
    "/metadata/annotations/lynceus.dev~1waiting",
    "/metadata/annotations/lynceus.dev~1reasons",
];

/// The fields that are taken away before two states of an object are compared, and the rules that cannot be read.
pub(super) fn ignored(customizations: &Customizations, compare: &CompareOptions) -> (Ignore, Vec<RuleError>) {
    let mut rules = customizations.ignored_updates();
    let said: Vec<(Str, Str)> = rules.iter().map(|rule| (rule.group.clone(), rule.kind.clone())).collect();
    let is_said = |group: &str, kind: &str| said.iter().any(|(g, k)| g == group && k == kind);
    for (group, kind, fields) in INSTALLED.iter().filter(|(group, kind, _)| !is_said(group, kind)) {
        rules.push(rule(group, kind, fields));
    }
    if compare.ignore_differences_on_updates {
        rules.extend(customizations.ignored_differences());
        match compare.status {
            StatusField::All => rules.push(rule("*", "*", &["/status"])),
            StatusField::Definitions => {
                rules.push(rule("apiextensions.k8s.io", "CustomResourceDefinition", &["/status"]));
            }
            StatusField::None => {}
        }
    }
    rules.push(rule("*", "*", ALWAYS));
    Ignore::new(&rules)
}

fn rule(group: &str, kind: &str, pointers: &[&str]) -> ResourceIgnoreDifferences {
    ResourceIgnoreDifferences {
        group: group.into(),
        kind: kind.into(),
        json_pointers: pointers.iter().map(|pointer| Str::from(*pointer)).collect(),
        ..ResourceIgnoreDifferences::default()
    }
}
