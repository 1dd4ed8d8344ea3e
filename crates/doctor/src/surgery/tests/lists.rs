//! Items of lists on lines of their own.

use super::{check, refuses};

const POD: &str = "\
spec:
  containers:
  # the server
  - name: web
    image: nginx:1.0  # pinned
    env:
    - {name: A, value: x}
  # logs
  - name: side
    args: [\"-v\"]
";

#[test]
fn an_item_is_found_by_its_position_or_its_key() {
    let expected = POD.replace("nginx:1.0", "nginx:1.1");
    check(POD, "set spec.containers[0].image \"nginx:1.1\"", &expected);
    check(POD, "set spec.containers[name=\"web\"].image \"nginx:1.1\"", &expected);
    check(POD, "set spec.containers.0.image \"nginx:1.1\"", &expected);
    check(POD, "set spec.containers[1].args[=\"-v\"] \"-q\"", &POD.replace("-v", "-q"));
}

#[test]
fn an_item_with_a_key_is_made_if_it_is_missing() {
    check(
        POD,
        "set spec.containers[name=\"web\"].env[name=\"B\"].value \"z\"",
        &POD.replace("value: x}", "value: x}\n    - name: B\n      value: z"),
    );
    check("a: 1\n", "set l[name=\"x\"].v 2", "a: 1\nl:\n- name: x\n  v: 2\n");
}

#[test]
fn items_are_appended_as_the_others_are_written() {
    check("l:\n  - a # one\n  - b\nx: 1\n", "append l \"c\"", "l:\n  - a # one\n  - b\n  - c\nx: 1\n");
    check(
        "l:\n- a: 1\n  b: 2\n",
        r#"append l {"a": 2, "c": ["x"]}"#,
        "l:\n- a: 1\n  b: 2\n- a: 2\n  c:\n  - x\n",
    );
    check("- a\n", "append . \"b\"", "- a\n- b\n");
    check("- - a\n- b\n", "append [0] \"c\"", "- - a\n  - c\n- b\n");
}

#[test]
fn a_list_is_made_if_it_is_missing() {
    check("a: 1\n", "append x.l 2", "a: 1\nx:\n  l:\n  - 2\n");
    check("l: []\n", "append l 2", "l:\n- 2\n");
    check("l: [] # c\nm:\n  - 1\n", "append l 2", "l: # c\n  - 2\nm:\n  - 1\n");
    check("l:\n", "append l {\"a\": 1}", "l:\n- a: 1\n");
    check("l: null\n", "set l[0].a 1", "l:\n- a: 1\n");
}

#[test]
fn a_position_behind_the_last_is_one_more_item_and_no_further() {
    check("l:\n- 1\n", "set l[1] 2", "l:\n- 1\n- 2\n");
    refuses(
        "l:\n- 1\n",
        "set l[2] 2",
        "l[2] cannot be changed in app.yaml:1: l has 1 items, so that there can be no item 2",
    );
    refuses("l:\n- 1\n", "set l[=5].x 2", "l[=5].x cannot be changed in app.yaml:1: l has no item [=5]");
}

#[test]
fn an_item_is_removed_with_its_lines() {
    check(
        POD,
        "remove spec.containers[0]",
        "spec:\n  containers:\n  # the server\n  # logs\n  - name: side\n    args: [\"-v\"]\n",
    );
    check("l:\n- a\n-\n- b\n", "remove l[1]", "l:\n- a\n- b\n");
    check("- - a\n  - b\n- c\n", "remove [0][0]", "- - b\n- c\n");
}

#[test]
fn the_last_item_leaves_an_empty_list() {
    check("l:\n- 1\nx: 2\n", "remove l[0]", "l: []\nx: 2\n");
    check("l:\n  - 1 # c\nx: 2\n", "remove l[0]", "l: []\nx: 2\n");
    check("- 1\n", "remove [0]", "[]\n");
}

#[test]
fn a_list_that_is_set_keeps_what_is_the_same() {
    check(
        "l:\n- a # first\n- b # second\n- d # last\n",
        r#"set l ["a", "b", "c", "d"]"#,
        "l:\n- a # first\n- b # second\n- c\n- d # last\n",
    );
    check("l:\n- a # first\n- b\n- c # last\n", r#"set l ["a", "c"]"#, "l:\n- a # first\n- c # last\n");
    check("l:\n- b # one\n", r#"set l ["a", "b"]"#, "l:\n- a\n- b # one\n");
    check("l:\n- b\n", "set l []", "l: []\n");
}

#[test]
fn a_list_that_is_no_list_is_refused() {
    refuses(
        "l: {a: 1}\n",
        "append l 1",
        "l cannot be changed in app.yaml:1: l is of type object, where a list is needed",
    );
}

#[test]
fn items_with_wide_dashes_keep_them() {
    check("l:\n-   a: 1\n    b: 2\n", "set l[0].c 3", "l:\n-   a: 1\n    b: 2\n    c: 3\n");
}
