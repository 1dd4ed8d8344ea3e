use std::collections::BTreeMap;

use lynceus_object::{Gvk, Gvr, Object, Value, value};

use super::*;
use crate::attributes::{Admission, User};

/// Namespaces and pods, and nothing else.
#[derive(Default)]
struct Shelf(BTreeMap<(String, String), Object>);

impl Shelf {
    fn with(mut self, resource: &str, object: Value) -> Self {
        let object = Object::new(object).unwrap();
        self.0.insert((resource.to_owned(), object.name().to_owned()), object);
        self
    }

    fn labelled(labels: &[(&str, &str)]) -> Self {
        Shelf::default().with("namespaces", namespace(labels).into_value())
    }
}

impl View for Shelf {
    fn get(&self, _: &str, resource: &str, _: &str, name: &str) -> Option<Object> {
        self.0.get(&(resource.to_owned(), name.to_owned())).cloned()
    }

    fn list(&self, _: &str, resource: &str, _: Option<&str>) -> Vec<Object> {
        self.0.iter().filter(|((known, _), _)| known == resource).map(|(_, object)| object.clone()).collect()
    }
}

fn namespace(labels: &[(&str, &str)]) -> Object {
    let mut namespace = Object::new(value!({"metadata": {"name": "shop"}})).unwrap();
    for (mode, text) in labels {
        namespace.set_label(&format!("pod-security.kubernetes.io/{mode}"), *text);
    }
    namespace
}

fn outcome(view: &Shelf, operation: Operation, resource: &str, new: &Value, old: Option<&Value>) -> String {
    let object = Object::new(new.clone()).unwrap();
    let old = old.map(|old| Object::new(old.clone()).unwrap());
    let admission = Admission {
        user: User::admin().into(),
        operation,
        kind: Gvk::new("", "v1", "x"),
        resource: match resource.split_once('.') {
            Some((plural, group)) => Gvr::new(group, "v1", plural),
            None => Gvr::new("", "v1", resource),
        },
        subresource: "".into(),
        namespace: "shop".into(),
        name: object.name().into(),
        dry_run: false,
        manager: Default::default(),
    };
    let write = Write { admission: &admission, object: Some(&object), old: old.as_ref() };
    match validate(view, &write) {
        Ok(warnings) if warnings.is_empty() => "fine".to_owned(),
        Ok(warnings) => format!("warned: {}", warnings.join(" | ")),
        Err(error) => format!("{} {}", error.code, error.message),
    }
}

fn yaml(text: &str) -> Value {
    lynceus_object::yaml::parse_str(text).expect(text)
}

/// A pod that the strictest level lets in, with some more fields.
fn good(more: &str) -> Value {
    let mut pod = yaml(
        "{metadata: {name: x}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: \
         RuntimeDefault}}, containers: [{name: a, image: i, securityContext: {allowPrivilegeEscalation: \
         false, capabilities: {drop: [ALL]}}}]}}",
    );
    for (path, change) in yaml(more).as_map().unwrap().iter() {
        let path: Vec<&str> = path.split('.').collect();
        if let Some(field) = path.strip_prefix(&["a"]) {
            for container in lynceus_object::edit::each(&mut pod, &["spec", "containers"]) {
                container.set(field, change.clone());
            }
        } else {
            pod.set(&path, change.clone());
        }
    }
    pod
}

#[test]
fn every_check_tells_what_it_has_against_a_pod() {
    let table = r#"
        {} => fine
        {metadata.annotations: {container.apparmor.security.beta.kubernetes.io/a: unconfined}} => forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="unconfined"")
        {spec.securityContext.appArmorProfile: {type: Unconfined}, a.securityContext.appArmorProfile: {type: Unconfined}} => forbidden AppArmor profile (pod and container "a" must not set AppArmor profile type to "Unconfined")
        {spec.hostNetwork: true, spec.hostIPC: true} => host namespaces (hostNetwork=true, hostIPC=true)
        {a.ports: [{hostPort: 80}, {hostPort: 443}, {containerPort: 1}]} => hostPort (container "a" uses hostPorts 443, 80)
        {a.livenessProbe: {httpGet: {host: h}}, a.lifecycle: {preStop: {tcpSocket: {host: g}}}} => probe or lifecycle host (container "a" uses probe or lifecycle hosts "g", "h")
        {a.securityContext.privileged: true} => privileged (container "a" must not set securityContext.privileged=true)
        {spec.securityContext.seLinuxOptions: {type: bad_t, user: u, role: r}} => seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "bad_t"; user may not be set; role may not be set)
        {spec.securityContext.sysctls: [{name: kernel.msgmax}, {name: net.ipv4.tcp_rmem}]} => forbidden sysctls (kernel.msgmax)
        {spec.securityContext.windowsOptions: {hostProcess: true}} => hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)
        {a.securityContext.allowPrivilegeEscalation: true} => allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)
        {a.securityContext.capabilities: {add: [KILL, NET_BIND_SERVICE]}} => unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "KILL" in securityContext.capabilities.add)
        {a.securityContext.procMount: Unmasked, spec.hostUsers: false} => procMount (container "a" must not set securityContext.procMount to "Unmasked")
        {spec.volumes: [{name: v, hostPath: {}}, {name: w, nfs: {}}, {name: e, emptyDir: {}}]} => restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")
        {spec.securityContext.runAsNonRoot: false} => runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)
        {spec.securityContext: {seccompProfile: {type: Localhost}}} => runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)
        {a.securityContext.runAsUser: 0} => runAsUser=0 (container "a" must not set runAsUser=0)
        {a.securityContext.runAsUser: 0, spec.hostUsers: false} => fine
        {spec.securityContext: {runAsNonRoot: true}} => seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")
        {a.securityContext.seccompProfile: {type: Unconfined}} => seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")
    "#;
    let view = Shelf::labelled(&[("enforce", "restricted")]);
    for (more, expected) in table.trim().lines().map(|line| line.trim().split_once(" => ").unwrap()) {
        let found = outcome(&view, Operation::Create, "pods", &good(more), None);
        let start = "403 pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": ";
        assert_eq!(found.strip_prefix(start).unwrap_or(&found), expected, "{more}");
    }
}

#[test]
fn a_release_has_the_rules_it_had() {
    let table = "
        baseline v1.18 {metadata.annotations: {seccomp.security.alpha.kubernetes.io/pod: unconfined}} => seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")
        baseline v1.19 {metadata.annotations: {seccomp.security.alpha.kubernetes.io/pod: unconfined}} => fine
        baseline v1.31 {spec.securityContext.sysctls: [{name: net.ipv4.tcp_rmem}]} => forbidden sysctls (net.ipv4.tcp_rmem)
        baseline v1.32 {spec.securityContext.sysctls: [{name: net.ipv4.tcp_rmem}]} => fine
        baseline v1.30 {spec.securityContext.seLinuxOptions: {type: container_engine_t}} => seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type \"container_engine_t\")
        baseline v1.31 {spec.securityContext.seLinuxOptions: {type: container_engine_t}} => fine
        baseline v1.33 {a.livenessProbe: {httpGet: {host: h}}} => fine
        baseline v1.34 {a.livenessProbe: {httpGet: {host: h}}} => probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\")
        baseline v1.34 {a.securityContext.procMount: Unmasked, spec.hostUsers: false} => procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")
        baseline v1.35 {a.securityContext.procMount: Unmasked, spec.hostUsers: false} => fine
        baseline v1.99 {a.securityContext.procMount: Unmasked} => procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")
        restricted v1.21 {a.securityContext.capabilities: {add: [NET_RAW]}} => non-default capabilities (container \"a\" must not include \"NET_RAW\" in securityContext.capabilities.add)
        restricted v1.7 {a.securityContext: {}} => fine
        restricted v1.22 {a.securityContext.runAsUser: 0} => fine
        restricted v1.24 {spec.os: {name: windows}, a.securityContext: {}} => allowPrivilegeEscalation != false (container \"a\" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"a\" must set securityContext.capabilities.drop=[\"ALL\"])
        restricted v1.25 {spec.os: {name: windows}, a.securityContext: {}} => fine
    ";
    for (case, expected) in table.trim().lines().map(|line| line.trim().split_once(" => ").unwrap()) {
        let words: Vec<&str> = case.splitn(3, ' ').collect();
        let (level, version, more) = (words[0], words[1], words[2]);
        let view = Shelf::labelled(&[("enforce", level), ("enforce-version", version)]);
        let found = outcome(&view, Operation::Create, "pods", &good(more), None);
        let start = format!("403 pods \"x\" is forbidden: violates PodSecurity \"{level}:{version}\": ");
        assert_eq!(found.strip_prefix(&start).unwrap_or(&found), expected, "{case}");
    }
}

#[test]
fn containers_are_named_in_their_order_whatever_they_are_for() {
    let pod = yaml(
        "{metadata: {name: x}, spec: {containers: [{name: a}, {name: b}], initContainers: [{name: i}], \
         ephemeralContainers: [{name: e}], securityContext: {runAsNonRoot: true, seccompProfile: {type: \
         Localhost}}}}",
    );
    let view = Shelf::labelled(&[("enforce", "restricted"), ("enforce-version", "v1.8")]);
    assert_eq!(
        outcome(&view, Operation::Create, "pods", &pod, None),
        "403 pods \"x\" is forbidden: violates PodSecurity \"restricted:v1.8\": allowPrivilegeEscalation != \
         false (containers \"i\", \"a\", \"b\", \"e\" must set \
         securityContext.allowPrivilegeEscalation=false)"
    );
}

#[test]
fn workloads_are_warned_of_and_let_in() {
    let template = value!({"metadata": {"name": "d"}, "spec": {"template": good("{spec.hostPID: true}")}});
    let warned = "warned: would violate PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
    for (labels, resource, expected) in [
        (vec![], "deployments.apps", "fine"),
        (vec![("enforce", "baseline")], "deployments.apps", warned),
        (vec![("enforce", "baseline"), ("warn", "privileged")], "deployments.apps", "fine"),
        (vec![("warn", "baseline")], "replicationcontrollers", warned),
        (vec![("warn", "nonsense"), ("enforce", "baseline")], "jobs.batch", "fine"),
        (vec![("audit", "baseline")], "daemonsets.apps", "fine"),
        (vec![("warn", "baseline")], "widgets.example.com", "fine"),
    ] {
        let view = Shelf::labelled(&labels);
        assert_eq!(
            outcome(&view, Operation::Create, resource, &template, None),
            expected,
            "{labels:?} {resource}"
        );
    }
    let pod = good("{spec.hostPID: true}");
    assert_eq!(
        outcome(&Shelf::labelled(&[("warn", "baseline")]), Operation::Create, "pods", &pod, None),
        warned
    );
}

#[test]
fn a_pod_that_is_there_is_looked_at_again_only_for_other_images() {
    let view = Shelf::labelled(&[("enforce", "baseline")]);
    let old = good("{spec.hostPID: true}");
    let refused = "403 pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
    for (more, expected) in [
        ("{spec.hostPID: true, metadata.labels: {a: b}}", "fine"),
        ("{spec.hostPID: true, a.image: j}", refused),
        ("{spec.hostPID: true, spec.ephemeralContainers: [{name: e}]}", refused),
    ] {
        assert_eq!(outcome(&view, Operation::Update, "pods", &good(more), Some(&old)), expected, "{more}");
    }
}

#[test]
fn labels_have_to_be_understood_when_they_change() {
    let bad = namespace(&[("enforce", "strict"), ("warn-version", "v1.01")]).into_value();
    let refused = "422 Namespace \"shop\" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"v1.01\": must be \"latest\" or \"v1.x\"]";
    let view = Shelf::default();
    let plain = namespace(&[]).into_value();
    assert_eq!(outcome(&view, Operation::Create, "namespaces", &bad, None), refused);
    assert_eq!(outcome(&view, Operation::Update, "namespaces", &bad, Some(&plain)), refused);
    assert_eq!(outcome(&view, Operation::Update, "namespaces", &bad, Some(&bad)), "fine");
}

#[test]
fn a_stricter_namespace_tells_which_of_its_pods_would_not_be_let_in() {
    let mut view = Shelf::default();
    for name in ["b", "a", "c"] {
        view = view.with("pods", value!({"metadata": {"name": name}, "spec": {"hostPID": true}}));
    }
    view = view.with(
        "pods",
        value!({"metadata": {"name": "v"}, "spec": {"volumes": [{"name": "h", "hostPath": {}}]}}),
    );
    let (plain, strict) = (namespace(&[]).into_value(), namespace(&[("enforce", "baseline")]).into_value());
    assert_eq!(
        outcome(&view, Operation::Update, "namespaces", &strict, Some(&plain)),
        "warned: existing pods in namespace \"shop\" violate the new PodSecurity enforce level \
         \"baseline:latest\" | a (and 2 other pods): host namespaces | v: hostPath volumes"
    );
    assert_eq!(outcome(&view, Operation::Update, "namespaces", &plain, Some(&strict)), "fine");
}
