use lynceus_object::yaml;

use super::{Fate, merge};
use crate::fixture::load;
use crate::schema::Schema;

/// Merges the body of a Deployment's only container, which is what most lists are in.
fn check(dest: &str, patch: &str, expected: &str) {
    let wrap = |text: &str| {
        let body: String = text.lines().map(|line| format!("        {line}\n")).collect();
        let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
        format!("{head}spec:\n  template:\n    spec:\n      containers:\n      - name: web\n{body}")
    };
    let mut dest = load(&wrap(dest)).unwrap().remove(0);
    let mut source = load(&wrap(patch)).unwrap().remove(0);
    let fate = merge(&mut dest.value, &dest.written, &mut source.value, &source.written, &Schema::new());
    assert_eq!(fate, Ok(Fate::Kept));
    let mut container = dest.value.items_at(&["spec", "template", "spec", "containers"])[0].clone();
    container.remove(&["name"]);
    assert_eq!(yaml::to_string(&container).trim_end(), expected, "{patch}");
}

#[test]
fn items_of_the_patch_come_first() {
    check(
        "env:\n- name: A\n  value: a\n- name: B\n  value: b",
        "env:\n- name: C\n  value: c\n- name: B\n  value: x",
        "env:\n- name: C\n  value: c\n- name: B\n  value: x\n- name: A\n  value: a",
    );
}

#[test]
fn a_list_without_keys_is_replaced() {
    check("args:\n- a\n- b", "args:\n- c", "args:\n- c");
}

#[test]
fn null_takes_a_field_away() {
    check("command: x\nimage: z", "command: null", "image: z");
    check("image: z", "command: null", "image: z");
}

#[test]
fn a_null_that_is_written_stays_and_one_that_is_left_out_does_not() {
    check("a:\nb: null\nc: ~\nimage: x", "image: y", "b: null\nc: null\nimage: \"y\"");
}

#[test]
fn a_number_in_the_place_of_a_quoted_string_is_a_string() {
    check(
        "resources:\n  limits:\n    cpu: \"500m\"\n    memory: 1Gi",
        "resources:\n  limits:\n    cpu: 1.0\n    memory: 2",
        "resources:\n  limits:\n    cpu: \"1.0\"\n    memory: 2",
    );
}

#[test]
fn directives_delete_and_replace_maps() {
    check("resources:\n  limits:\n    cpu: 1", "resources:\n  $patch: delete", "{}");
    check(
        "resources:\n  limits:\n    cpu: 1",
        "resources:\n  $patch: replace\n  requests:\n    cpu: 2",
        "resources:\n  requests:\n    cpu: 2",
    );
    check("image: x", "resources:\n  $patch: delete\n  limits:\n    cpu: 2", "image: x");
}

#[test]
fn directives_delete_and_replace_lists_and_items() {
    check("env:\n- name: A", "env:\n- $patch: replace\n- name: B", "env:\n- name: B");
    check("env:\n- name: A\n- name: B", "env:\n- $patch: delete\n  name: A", "env:\n- name: B");
    check("env:\n- name: A", "env:\n- $patch: delete", "{}");
    check("env:\n- name: B", "env:\n- $patch: delete\n  name: A", "env:\n- name: B");
}

#[test]
fn replacing_an_item_of_a_list_does_nothing() {
    check(
        "env:\n- name: A\n  value: a",
        "env:\n- $patch: replace\n  name: A\n  value: b",
        "env:\n- name: A\n  value: a",
    );
}

#[test]
fn a_port_without_a_protocol_is_taken_for_the_one_with_it_and_lost() {
    check(
        "ports:\n- containerPort: 80\n  protocol: TCP\n- containerPort: 81",
        "ports:\n- containerPort: 80\n  name: http",
        "ports:\n- containerPort: 80\n  protocol: TCP\n- containerPort: 81",
    );
    check(
        "ports:\n- containerPort: 80\n- containerPort: 81",
        "ports:\n- containerPort: 80\n  protocol: TCP",
        "ports:\n- containerPort: 80\n- containerPort: 81",
    );
}

#[test]
fn items_that_repeat_a_key_are_united_even_where_the_patch_is_silent() {
    check(
        "env:\n- name: A\n  value: a\n- name: A\n  value: b\nimage: x",
        "image: x",
        "env:\n- name: A\n  value: b\nimage: x",
    );
}

#[test]
fn a_value_of_another_kind_is_an_error() {
    let mut dest = load("kind: X\nmetadata: {name: x}\nspec: {a: {b: 1}}\n").unwrap().remove(0);
    let mut patch = load("kind: X\nmetadata: {name: x}\nspec: {a: 5}\n").unwrap().remove(0);
    let written = patch.written.clone();
    let error =
        merge(&mut dest.value, &dest.written, &mut patch.value, &written, &Schema::new()).unwrap_err();
    assert_eq!(error.message, "at spec.a: wrong node kind: expected MappingNode but got ScalarNode");
}

#[test]
fn a_kind_inside_of_an_unknown_kind_is_known() {
    let text = |env: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Wrapper\nmetadata: {{name: x}}\nspec:\n  inner:\n    apiVersion: v1\n    \
             kind: Pod\n    spec: {{containers: [{{name: a, env: [{env}]}}]}}\n"
        )
    };
    let mut dest = load(&text("{name: A}")).unwrap().remove(0);
    let mut patch = load(&text("{name: B}")).unwrap().remove(0);
    let written = patch.written.clone();
    merge(&mut dest.value, &dest.written, &mut patch.value, &written, &Schema::new()).unwrap();
    let env = yaml::to_string(dest.value.at(&["spec", "inner", "spec"]).unwrap());
    assert_eq!(env, "containers:\n- env:\n  - name: B\n  - name: A\n  name: a\n");
}
