//! Rules for parts of Kubernetes that the platform does not show.

use std::collections::{BTreeMap, HashMap};

use lynceus_object::{Object, ObjectKey, Value, json};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::node::AppName;
use crate::rules::Rule;
use crate::snapshot::Wanted;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0306",
    title: "A rule for a part of Kubernetes that the platform does not show",
    explanation: "\
An application brings monitors, services or alerts for the scheduler, the controller manager, etcd or the proxy. On this platform
those run where the cluster cannot see them, so there is nothing to ask: the rules stay empty, and an alert says for ever that the
component is down.

## Why
Charts for monitoring are made for clusters that one runs oneself, and switch these on. Managed clusters (EKS, AKS, GKE) keep their
control plane to themselves.

## Example
```
kubeScheduler: {enabled: true}        namespace kube-system has no pod of kube-scheduler
```

## What to do
Switch the component off in the chart's values.
",
    check,
};

/// The parts of a control plane, and what charts call their options for them.
const PARTS: [(&str, &str); 4] = [
    ("kube-scheduler", "kubeScheduler"),
    ("kube-controller-manager", "kubeControllerManager"),
    ("etcd", "kubeEtcd"),
    ("kube-proxy", "kubeProxy"),
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut hidden: HashMap<&str, Vec<&str>> = HashMap::new();
    for server in case.servers() {
        let parts = PARTS.iter().map(|(part, _)| *part).filter(|part| is_hidden(case, server, part));
        hidden.insert(server, parts.collect());
    }
    for app in case.apps() {
        let parts = hidden.get(app.server()).map_or(&[][..], Vec::as_slice);
        if !parts.is_empty() {
            of_app(case, app, parts, app.wanted().iter().map(|one| (&one.object, Some(one))), findings);
        }
    }
    for server in case.servers() {
        let parts = hidden.get(server).map_or(&[][..], Vec::as_slice);
        // What applications want that were not rendered is seen only in the cluster.
        let mut live: BTreeMap<AppName, Vec<&Object>> = BTreeMap::new();
        for object in KINDS.iter().flat_map(|(group, kind)| case.of_kind(server, group, kind)).copied() {
            let is_hidden = parts.iter().any(|part| is_about(object, part));
            let app = is_hidden.then(|| case.app_of(server, &object.key())).flatten();
            if let Some(app) = app.filter(|app| app.wanted().is_empty()) {
                live.entry(app.name.clone()).or_default().push(object);
            }
        }
        for (name, objects) in live {
            if let Some(app) = case.app(&name) {
                of_app(case, app, parts, objects.into_iter().map(|object| (object, None)), findings);
            }
        }
    }
}

const KINDS: [(&str, &str); 4] = [
    ("", "Service"),
    ("monitoring.coreos.com", "ServiceMonitor"),
    ("monitoring.coreos.com", "PodMonitor"),
    ("monitoring.coreos.com", "PrometheusRule"),
];

/// One finding for each part that an application has something for.
fn of_app<'a>(
    case: &Case<'a>,
    app: &App<'a>,
    parts: &[&str],
    objects: impl Iterator<Item = About<'a>>,
    findings: &mut Findings,
) {
    let mut about: BTreeMap<&str, Vec<About<'a>>> = BTreeMap::new();
    for one in objects {
        if let Some(part) = parts.iter().find(|part| is_about(one.0, part)) {
            about.entry(part).or_default().push(one);
        }
    }
    about.into_iter().for_each(|(part, objects)| findings.add(found(case, app, part, &objects)));
}

/// An object for a part of the control plane, and how it is wanted if that is known.
type About<'a> = (&'a Object, Option<&'a Wanted>);

/// Whether a cluster has nodes and pods to see, none of them a part of the control plane: others run it.
fn is_hidden(case: &Case<'_>, server: &str, part: &str) -> bool {
    let nodes = case.of_kind(server, "", "Node");
    let rules = |node: &&&Object| {
        ["control-plane", "master", "controlplane", "etcd"]
            .iter()
            .any(|role| node.label(&format!("node-role.kubernetes.io/{role}")).is_some())
    };
    let is_own = nodes.iter().any(|node| rules(&node));
    // One binary that is the whole control plane shows its parts on the nodes that run it.
    let is_one = nodes.iter().any(|node| {
        node.value()
            .str_at(&["status", "nodeInfo", "kubeletVersion"])
            .is_some_and(|version| version.contains("+k3s") || version.contains("+rke2"))
    });
    let absent = ObjectKey::new("", "Pod", "kube-system", part);
    let has_pods = case
        .of_kind(server, "", "Pod")
        .iter()
        .any(|pod| pod.namespace() == "kube-system" && is_pod_of(pod, part));
    !nodes.is_empty()
        && case.is_absent(server, &absent)
        && !has_pods
        && (part == "kube-proxy" || !(is_own || is_one))
}

fn is_pod_of(pod: &Object, part: &str) -> bool {
    ["component", "k8s-app", "app", "app.kubernetes.io/name"].iter().any(|key| pod.label(key) == Some(part))
        || pod.name().strip_prefix(part).is_some_and(|rest| rest.starts_with('-'))
}

/// Whether an object is there only for a part of the control plane: it selects its pods, or asks only for its metrics.
fn is_about(object: &Object, part: &str) -> bool {
    match (object.group(), object.kind()) {
        ("", "Service") => {
            object.namespace() == "kube-system"
                && ["component", "k8s-app"]
                    .iter()
                    .any(|key| object.value().str_at(&["spec", "selector", key]) == Some(part))
        }
        ("monitoring.coreos.com", "ServiceMonitor" | "PodMonitor") => {
            let labels = object.at(&["spec", "selector", "matchLabels"]).and_then(Value::as_map);
            let mut labels = labels.into_iter().flat_map(|map| map.values()).filter_map(Value::as_str);
            labels.any(|value| value == part || value.ends_with(&format!("-{part}")))
        }
        ("monitoring.coreos.com", "PrometheusRule") => asks_only(object, part),
        _ => false,
    }
}

/// Whether every expression of a rule asks for the metrics of one part.
fn asks_only(object: &Object, part: &str) -> bool {
    let groups = object.value().items_at(&["spec", "groups"]).iter();
    let rules: Vec<&Value> = groups.flat_map(|group| group.items_at(&["rules"])).collect();
    let job = format!("job=\"{part}\"");
    let asks = |rule: &&Value| {
        rule.get("expr").is_some_and(|expr| {
            let text = expr.as_str().map_or_else(|| json::to_string(expr), str::to_owned);
            text.replace(' ', "").contains(&job)
        })
    };
    !rules.is_empty() && rules.iter().all(asks)
}

/// What comes before an option in the values of an application whose chart holds the one that has it: `stack.` for what
/// `charts/stack/templates` makes.
fn subchart(app: &App<'_>, wanted: &Wanted) -> Option<String> {
    let file = wanted.span.as_ref()?.file.as_str();
    let sources = app.application().spec.all_sources();
    let inside = sources
        .iter()
        .filter(|source| !source.path.is_empty() && source.path != ".")
        .find_map(|source| file.strip_prefix(source.path.trim_end_matches('/'))?.strip_prefix('/'));
    let mut parts = inside.unwrap_or(file).split('/').peekable();
    // A chart out of an archive begins with its own name.
    if inside.is_none() && parts.peek().is_some_and(|part| *part != "charts") {
        parts.next();
    }
    let mut prefix = String::new();
    while parts.next() == Some("charts") {
        prefix.push_str(&format!("{}.", parts.next()?));
    }
    Some(prefix)
}

fn found(case: &Case<'_>, app: &App<'_>, part: &str, about: &[About<'_>]) -> Finding {
    let (first, _) = about.iter().min_by_key(|(one, _)| rank(one.kind())).copied().unwrap_or(about[0]);
    let name = |one: &Object| format!("{} {}", one.kind(), one.name());
    let names = words::list(about.iter().map(|(one, _)| name(one)));
    let cause = format!(
        "{names} of {} is for {part}, which this platform does not show: namespace kube-system has no pod of it",
        app.name
    );
    let is_felt = about.iter().any(|(one, _)| is_short(case, app, &one.key()));
    let option = PARTS.iter().find(|(name, _)| *name == part).map_or(part, |(_, option)| *option);
    let within = about.iter().find_map(|(_, wanted)| subchart(app, (*wanted)?)).unwrap_or_default();
    let version =
        case.cluster(app.server()).map(|view| view.version.as_str()).filter(|version| !version.is_empty());
    let remove = about.iter().fold(Fix::new(format!("Remove what is for {part}")), |fix, (one, _)| {
        fix.git(&app.name, Place::Remove { object: one.key() })
    });
    Finding::new(RULE.code, case.node(app.server(), &first.key()), cause)
        .of(Some(app.name.clone()))
        .severity(if is_felt { Severity::P2 } else { Severity::P3 })
        .seen(about.iter().filter_map(|(one, wanted)| app.file((*wanted)?, name(one))))
        .seen(version.map(|version| {
            Evidence::seen(format!("the cluster is {version}, and no node is of the control plane"))
        }))
        .affects(about.iter().map(|(one, _)| case.node(app.server(), &one.key())))
        .fix([
            Fix::new(format!("Switch {part} off in the chart's values"))
                .person(format!(
                    "set {within}{option}.enabled and its default rules to false in the values of {}",
                    app.name
                ))
                .risk(Risk::Low, "monitors and alerts that never had anything to say")
                .why("it goes with the next render, and stays away"),
            remove
                .risk(Risk::Low, "monitors and alerts that never had anything to say")
                .why("for manifests that come from no chart"),
        ])
}

fn rank(kind: &str) -> usize {
    ["Service", "ServiceMonitor", "PodMonitor"].iter().position(|one| *one == kind).unwrap_or(3)
}

/// Whether an object is not there, or not as it is wanted.
fn is_short(case: &Case<'_>, app: &App<'_>, key: &ObjectKey) -> bool {
    case.is_absent(app.server(), key) || app.failures().iter().any(|(failed, _)| failed == key)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    #[test]
    fn the_option_of_a_chart_within_another_is_named_with_it() {
        let inner =
            HIDDEN.replacen("apiVersion", "@file prom/charts/stack/templates/rules.yaml\napiVersion", 1);
        let fixes = crate::tests::roots_with_fixes(&inner);
        assert!(fixes.contains("set stack.kubeScheduler.enabled and"), "{fixes}");
        assert!(crate::tests::roots_with_fixes(HIDDEN).contains("set kubeScheduler.enabled and"));
    }

    const HIDDEN: &str = "
@app prom OutOfSync Healthy
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: prom-kube-scheduler.rules, namespace: mon}
spec: {groups: [{name: a, rules: [{record: x, expr: 'rate(scheduler_x{job=\"kube-scheduler\"}[5m])'}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: nodes, namespace: mon}
spec: {groups: [{name: a, rules: [{record: x, expr: 'up{job=\"node\"}'}]}]}
@live
apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: v1
kind: Pod
metadata: {name: coredns-1, namespace: kube-system}
";

    #[test]
    fn a_rule_for_a_scheduler_that_nobody_sees_is_found() {
        assert_eq!(
            check("LYN0306", HIDDEN),
            "P2 LYN0306/prom/PrometheusRule/prom-kube-scheduler.rules: PrometheusRule prom-kube-scheduler.rules of prom is for \
             kube-scheduler, which this platform does not show: namespace kube-system has no pod of it\n  prom.yaml:1: \
             PrometheusRule prom-kube-scheduler.rules\n  fix: Switch kube-scheduler off in the chart's values\n  fix: Remove what \
             is for kube-scheduler\n"
        );
    }

    #[test]
    fn a_scheduler_that_can_be_seen_may_have_rules() {
        let seen = format!(
            "{HIDDEN}---\napiVersion: v1\nkind: Pod\nmetadata: {{name: kube-scheduler-a, namespace: kube-system, labels: {{component: kube-scheduler}}}}\n"
        );
        assert_eq!(check("LYN0306", &seen), "");
    }

    #[test]
    fn a_cluster_that_runs_its_own_control_plane_may_have_rules() {
        assert_eq!(
            check(
                "LYN0306",
                &HIDDEN.replace(
                    "{name: a}\n---",
                    "{name: a, labels: {node-role.kubernetes.io/control-plane: ''}}\n---"
                )
            ),
            ""
        );
    }
}
