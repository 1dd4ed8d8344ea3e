//! Traced builds: a tree of files and a field in, what set it out.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::World;
use lynceus_kustomize::{Cause, Fetched, Got, Need, Options, build, build_traced};
use lynceus_object::FieldPath;

struct Still;

impl World for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// A tree of files that begin with lines of `-- path`.
fn tree(text: &str) -> MemoryTree {
    let mut tree = MemoryTree::new();
    for file in text.split("-- ").skip(1) {
        let (path, content) = file.split_once('\n').unwrap();
        tree.insert(FilePath::new(path).unwrap(), content.as_bytes());
    }
    tree
}

fn told(cause: &Cause) -> String {
    match cause {
        Cause::Written(place) => place.to_string(),
        Cause::Field { field, place, within: Some(within) } => format!("{within} by {field} at {place}"),
        Cause::Field { field, place, within: None } => format!("{field} at {place}"),
        Cause::Hash => "hash".to_owned(),
        Cause::Reference { to } => format!("name of {}", to.as_deref().unwrap_or("something")),
        Cause::Variable { name, place: Some(place) } => format!("$({name}) at {place}"),
        Cause::Variable { name, place: None } => format!("$({name})"),
    }
}

/// What set a field of the object of a kind, the last first.
fn check_with(files: &str, fetched: &Fetched, (kind, path): (&str, &str), expected: &[&str]) {
    let (tree, root) = (tree(files), FilePath::new("prod").unwrap());
    let options = Options::default();
    let (built, traces) = build_traced(&tree, &root, &options, fetched, &mut Still).unwrap();
    let usual = build(&tree, &root, &options, fetched, &mut Still).unwrap();
    assert_eq!(built.to_yaml(), usual.to_yaml(), "a traced build gives the same");
    let resource = built.resources.list.iter().find(|resource| resource.kind_name() == kind).unwrap();
    let explanation = traces.explain(resource, &FieldPath::parse(path).unwrap());
    let told: Vec<String> = explanation
        .iter()
        .flat_map(|found| [&found.last].into_iter().chain(&found.before))
        .map(told)
        .collect();
    assert_eq!(told, expected, "{kind}:{path}");
}

const FILES: &str = "\
-- base/kustomization.yaml
resources:
- all.yaml
configMapGenerator:
- name: settings
  literals:
  - A=1
  - B=2
-- base/all.yaml
# What everybody runs.
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  ports:
  - port: 80
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  paused: true
  template:
    spec:
      containers:
      - name: web
        image: web:1
        envFrom:
        - configMapRef:
            name: settings
      - name: log
        image: log:1
-- prod/kustomization.yaml
namePrefix: prod-
resources:
- ../base
commonLabels:
  team: shop
  tier: front
configMapGenerator:
- name: settings
  behavior: merge
  literals:
  - B=3
patches:
- path: scale.yaml
- target:
    kind: Deployment
  patch: |-
    - op: replace
      path: /spec/template/spec/containers/2/image
      value: log:2
    - op: remove
      path: /spec/paused
- patch: |

    kind: Service
    apiVersion: v1
    metadata:
      name: web
    spec:
      type: NodePort
images:
- name: log
  newTag: '3'
replicas:
- name: web
  count: 5
-- prod/scale.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: side
        image: side:1
      - name: web
        command: [run]
";

fn check(kind: &str, path: &str, expected: &[&str]) {
    check_with(FILES, &Fetched::new(), (kind, path), expected);
}

#[test]
fn a_field_that_nobody_touches_is_written_in_its_file() {
    check("Service", "spec.ports[0].port", &["base/all.yaml:8:5"]);
    check("Deployment", "spec.template.spec.containers[name=\"web\"].image", &["base/all.yaml:21:9"]);
    check("Service", "spec.nothing", &[]);
}

#[test]
fn patches_are_told_with_their_own_lines() {
    check(
        "Deployment",
        "spec.replicas",
        &[
            "replicas[0] at prod/kustomization.yaml:34:3",
            "prod/scale.yaml:6:3 by patches[0] at prod/kustomization.yaml:13:3",
            "base/all.yaml:15:3",
        ],
    );
    check(
        "Deployment",
        "spec.template.spec.containers[name=\"side\"].image",
        &["prod/scale.yaml:11:9 by patches[0] at prod/kustomization.yaml:13:3"],
    );
    check(
        "Service",
        "spec.type",
        &["prod/kustomization.yaml:29:7 by patches[2] at prod/kustomization.yaml:22:3"],
    );
}

#[test]
fn items_are_followed_when_others_are_put_before_them() {
    check(
        "Deployment",
        "spec.template.spec.containers[name=\"log\"].image",
        &[
            "images[0] at prod/kustomization.yaml:31:3",
            "prod/kustomization.yaml:18:7 by patches[1] at prod/kustomization.yaml:14:3",
            "base/all.yaml:26:9",
        ],
    );
}

#[test]
fn what_is_removed_is_told_with_what_removed_it() {
    check(
        "Deployment",
        "spec.paused",
        &["prod/kustomization.yaml:21:7 by patches[1] at prod/kustomization.yaml:14:3", "base/all.yaml:16:3"],
    );
}

#[test]
fn names_are_given_prefixes_and_hashes_and_followed() {
    check(
        "ConfigMap",
        "metadata.name",
        &[
            "hash",
            "namePrefix at prod/kustomization.yaml:1:1",
            "configMapGenerator[0] at base/kustomization.yaml:4:3",
        ],
    );
    check(
        "Deployment",
        "spec.template.spec.containers[name=\"web\"].envFrom[0].configMapRef.name",
        &["name of ConfigMap/prod-settings-2cfbcb2mhm", "base/all.yaml:24:13"],
    );
}

#[test]
fn generators_and_labels_are_told_by_their_entries() {
    check("ConfigMap", "data.A", &["configMapGenerator[0].literals[0] at base/kustomization.yaml:6:5"]);
    check(
        "ConfigMap",
        "data.B",
        &[
            "configMapGenerator[0].literals[0] at prod/kustomization.yaml:11:5",
            "configMapGenerator[0].literals[1] at base/kustomization.yaml:7:5",
        ],
    );
    check("Service", "metadata.labels.tier", &["commonLabels.tier at prod/kustomization.yaml:6:3"]);
}

#[test]
fn replacements_and_variables_are_told_one_by_one() {
    let files = "\
-- prod/kustomization.yaml
resources:
- all.yaml
vars:
- name: NAME
  objref: {kind: Service, apiVersion: v1, name: web}
replacements:
- source: {kind: Service, name: web, fieldPath: spec.type}
  targets:
  - select: {kind: Pod}
    fieldPaths: [metadata.labels.one]
- source: {kind: Service, name: web, fieldPath: metadata.name}
  targets:
  - select: {kind: Pod}
    fieldPaths: [metadata.labels.two]
-- prod/all.yaml
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort}
---
apiVersion: v1
kind: Pod
metadata:
  name: pod
  labels: {one: a, two: b}
spec:
  containers:
  - name: c
    args: [$(NAME)]
";
    let check = |path: &str, expected: &[&str]| check_with(files, &Fetched::new(), ("Pod", path), expected);
    check("metadata.labels.two", &["replacements[1] at prod/kustomization.yaml:11:3", "prod/all.yaml:10:20"]);
    check("spec.containers[0].args[0]", &["$(NAME) at prod/kustomization.yaml:4:3", "prod/all.yaml:14:12"]);
}

#[test]
fn what_is_elsewhere_is_named_with_its_repository() {
    let files = "-- prod/kustomization.yaml\nresources:\n- https://example.com/o/r.git//web?ref=v1\n";
    let other = tree(
        "-- web/kustomization.yaml\nnamespace: there\nresources: [a.yaml]\n-- web/a.yaml\nkind: A\nmetadata:\n  name: a\n",
    );
    let need = Need::Repository {
        url: "https://example.com/o/r.git".into(),
        reference: "v1".into(),
        submodules: true,
    };
    let fetched: Fetched = [(need, Got::Tree(Arc::new(other)))].into_iter().collect();
    check_with(files, &fetched, ("A", "metadata.name"), &["https://example.com/o/r.git//web/a.yaml:3:3"]);
    check_with(
        files,
        &fetched,
        ("A", "metadata.namespace"),
        &["namespace at https://example.com/o/r.git//web/kustomization.yaml:1:1"],
    );
}

#[test]
fn an_annotation_that_is_only_spelled_anew_is_not_taken_for_a_reference() {
    let files = "\
-- prod/kustomization.yaml
resources: [all.yaml]
namePrefix: p-
replacements:
- source: {kind: ConfigMap, fieldPath: data.a}
  targets:
  - select: {kind: Deployment}
    fieldPaths: [metadata.annotations.x]
    options: {create: true}
-- prod/all.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: \"1\"}
";
    let expected = ["replacements[0] at prod/kustomization.yaml:4:3"];
    check_with(files, &Fetched::new(), ("Deployment", "metadata.annotations.x"), &expected);
}
