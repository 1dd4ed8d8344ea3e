//! Plain manifests.

use super::{check, files, refuses, told};
use crate::surgery::Change;

const FILES: &str = "\
=== app/all.yaml
# the web
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports:
  - port: 80
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3 # three
  template:
    spec:
      containers:
      - name: web
        image: \"nginx:1.0\"
=== app/list.yaml
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: one}
  data: {a: x}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: two}
  data: {a: x}
";

#[test]
fn a_field_is_changed_where_it_is_written() {
    let after = check(FILES, "deployment/web:spec.replicas", "5", "app/all.yaml 1:spec.replicas");
    assert!(after.0[0].1.contains("replicas: 5 # three\n"));
    check(
        FILES,
        "deployment/web:spec.template.spec.containers[name=web].image",
        "\"nginx:1.1\"",
        "app/all.yaml 1:spec.template.spec.containers[name=\"web\"].image",
    );
    check(FILES, "service/web:spec.ports[0].port", "81", "app/all.yaml 0:spec.ports[0].port");
}

#[test]
fn an_item_of_a_list_is_changed_in_the_list() {
    check(FILES, "configmap/two:data.a", "\"z\"", "app/list.yaml 0:items[1].data.a");
}

#[test]
fn a_field_that_is_not_there_is_added() {
    let (files, field) = (files(FILES), "deployment/web:spec.paused".parse().unwrap());
    let place = files.place(&field, None).unwrap();
    assert_eq!(told(&place), "app/all.yaml 1:spec.paused");
    let after = files.changed(&place, &Change::Set(true.into()));
    assert!(after.0[0].1.ends_with("image: \"nginx:1.0\"\n  paused: true\n"), "{}", after.0[0].1);
}

#[test]
fn what_a_program_makes_is_looked_for_there() {
    let program =
        "=== app/a.jsonnet\n{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {a: 'b'}}\n";
    refuses(program, "configmap/x:data.a", "app/a.jsonnet is made by a program; look for the field there");
}
