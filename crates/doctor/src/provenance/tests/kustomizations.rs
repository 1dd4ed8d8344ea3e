//! Kustomizations.

use super::{check, refuses};

const FILES: &str = "\
=== base/kustomization.yaml
resources:
- web.yaml
=== base/web.yaml
# the web
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  minReadySeconds: 5 # a while
  paused: true
  template:
    spec:
      containers:
      - name: side
        image: side:1
      - name: web
        image: web:1
        envFrom:
        - configMapRef: {name: settings}
=== app/kustomization.yaml
namePrefix: prod-
namespace: prod
resources:
- ../base
commonLabels:
  team: shop
replicas:
- name: web
  count: 3
images:
- name: side
  newTag: \"2\"
configMapGenerator:
- name: settings
  literals:
  - MODE=fast
  files:
  - notes.txt
patches:
- path: scale.yaml
- target: {kind: Deployment}
  patch: |-
    - op: add
      path: /spec/revisionHistoryLimit
      value: 3
    - op: remove
      path: /spec/paused
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      # soon
      progressDeadlineSeconds: 60
=== app/notes.txt
some notes
=== app/scale.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 10 # short
      containers:
      - name: web
        image: web:2
";

#[test]
fn a_field_of_a_resource_is_changed_in_its_file() {
    let after =
        check(FILES, "deployment/prod-web:spec.minReadySeconds", "9", "base/web.yaml 0:spec.minReadySeconds");
    assert!(after.0[1].1.contains("minReadySeconds: 9 # a while\n"));
}

#[test]
fn a_field_of_a_patch_is_changed_in_the_patch() {
    check(
        FILES,
        "deployment/prod-web:spec.template.spec.terminationGracePeriodSeconds",
        "20",
        "app/scale.yaml 0:spec.template.spec.terminationGracePeriodSeconds",
    );
    check(
        FILES,
        "deployment/prod-web:spec.template.spec.containers[name=web].image",
        "\"web:3\"",
        "app/scale.yaml 0:spec.template.spec.containers[0].image",
    );
}

#[test]
fn a_patch_inside_of_a_kustomization_is_changed_there() {
    check(
        FILES,
        "deployment/prod-web:spec.revisionHistoryLimit",
        "5",
        "app/kustomization.yaml 0:patches[1].patch > 0:[0].value",
    );
    let after = check(
        FILES,
        "deployment/prod-web:spec.progressDeadlineSeconds",
        "90",
        "app/kustomization.yaml 0:patches[2].patch > 0:spec.progressDeadlineSeconds",
    );
    assert!(after.0[2].1.contains("      # soon\n      progressDeadlineSeconds: 90\n"));
}

#[test]
fn fields_of_a_kustomization_are_changed_in_it() {
    check(FILES, "deployment/prod-web:spec.replicas", "4", "app/kustomization.yaml 0:replicas[0].count");
    check(FILES, "deployment/prod-web:metadata.namespace", "\"test\"", "app/kustomization.yaml 0:namespace");
    check(
        FILES,
        "deployment/prod-web:metadata.labels.team",
        "\"pay\"",
        "app/kustomization.yaml 0:commonLabels.team Text",
    );
    check(
        FILES,
        "configmap/prod-settings:data.MODE",
        "\"slow\"",
        "app/kustomization.yaml 0:configMapGenerator[0].literals[0] Pair(\"MODE\")",
    );
}

#[test]
fn images_are_changed_in_their_entry() {
    let field = "deployment/prod-web:spec.template.spec.containers[name=side].image";
    let place = "app/kustomization.yaml 0:images[0] Image { name: \"side\", digest: false, tag: true }";
    let after = check(FILES, field, "\"side:3\"", place);
    assert!(after.0[2].1.contains("- name: side\n  newTag: \"3\"\n"));
    let after = check(FILES, field, "\"example.com/other@sha256:12\"", place);
    assert!(after.0[2].1.contains("- name: side\n  digest: sha256:12\n  newName: example.com/other\n"));
}

#[test]
fn what_has_no_place_of_its_own_is_told() {
    for (field, expected) in [
        ("deployment/prod-web:spec.paused", "app/kustomization.yaml:27:7 removes it"),
        ("configmap/prod-settings:data['notes.txt']", "it follows from the file notes.txt; change that"),
        (
            "deployment/prod-web:metadata.name",
            "namePrefix at app/kustomization.yaml:1:1 sets it in a way that no single change undoes; look there",
        ),
    ] {
        refuses(FILES, field, expected);
    }
}

#[test]
fn what_the_application_sets_is_changed_in_it() {
    let with = |kustomize: &str| {
        format!(
            "{FILES}=== application.yaml\nkind: Application\nspec:\n  source:\n    repoURL: x\n    path: app\n    kustomize:\n{kustomize}"
        )
    };
    let image = "deployment/prod-web:spec.template.spec.containers[name=side].image";
    check(
        &with("      images:\n      - side=example.com/side:9\n"),
        image,
        "\"example.com/side:10\"",
        "Application application.yaml 0:spec.source.kustomize.images[0] Pair(\"side\")",
    );
    check(
        &with("      replicas:\n      - {name: web, count: 8}\n"),
        "deployment/prod-web:spec.replicas",
        "9",
        "Application application.yaml 0:spec.source.kustomize.replicas[0].count",
    );
}
