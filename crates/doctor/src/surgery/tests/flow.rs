//! Maps and lists in braces and brackets, and JSON.

use super::{check, refuses};

#[test]
fn a_value_in_braces_is_changed() {
    check("a: {b: 1, c: 'x'} # d\n", "set a.b 2\nset a.c \"w2\"", "a: {b: 2, c: 'w2'} # d\n");
    check("a: [1, 2,3]\n", "set a[1] 5", "a: [1, 5,3]\n");
    check("a: {b, c: }\n", "set a.b 2\nset a.c 3", "a: {b: 2, c: 3 }\n");
}

#[test]
fn parts_are_added_behind_the_last() {
    check("a: {b: 1}\n", "set a.c \"x\"", "a: {b: 1, c: x}\n");
    check("a: { b: 1 }\n", "set a.c.d 2", "a: { b: 1, c: {d: 2} }\n");
    check("a: [x]\n", "append a \"w2, z\"", "a: [x, \"w2, z\"]\n");
    check("a: [x,]\n", "append a \"w2\"", "a: [x, w2,]\n");
    check("a: [{}]\n", "set a[0].x 1", "a: [{x: 1}]\n");
}

#[test]
fn parts_on_their_own_lines_stay_there() {
    check("a: [\n  x, # one\n  w2 # two\n]\n", "append a \"z\"", "a: [\n  x, # one\n  w2, # two\n  z\n]\n");
    check("a: {\n  x: 1,\n}\n", "set a.w2 2", "a: {\n  x: 1,\n  w2: 2,\n}\n");
    check("a: [\n  x, # one\n  w2 # two\n]\n", "remove a[0]", "a: [\n  w2 # two\n]\n");
    check("a: [\n  x, # one\n  w2 # two\n]\n", "remove a[1]", "a: [\n  x # one\n]\n");
}

#[test]
fn parts_are_removed_with_their_comma() {
    check("a: [x, w2, z]\n", "remove a[0]", "a: [w2, z]\n");
    check("a: [x, w2, z]\n", "remove a[1]", "a: [x, z]\n");
    check("a: [x, w2, z]\n", "remove a[2]", "a: [x, w2]\n");
    check("a: [x]\n", "remove a[0]", "a: []\n");
    check("a: {b: 1}\n", "remove a.b", "a: {}\n");
    check("a: {b: 1, c: [1, {d: 2}]}\n", "remove a.c[1].d", "a: {b: 1, c: [1, {}]}\n");
}

#[test]
fn a_map_of_one_field_without_braces_is_known() {
    check("a: [b: 1, c]\n", "set a[0].b 2", "a: [b: 2, c]\n");
}

#[test]
fn a_list_in_brackets_that_is_set_keeps_what_is_the_same() {
    check("a: [x, w2] # c\n", r#"set a ["x", "w", "w2"]"#, "a: [x, w, w2] # c\n");
    check("a: [x, w2]\n", r#"set a {"x": 1}"#, "a:\n  x: 1\n");
}

const JSON: &str =
    "{\n    \"kind\": \"A\",\n    \"spec\": {\n        \"list\": [\n            1\n        ]\n    }\n}\n";

#[test]
fn json_stays_json() {
    check(
        JSON,
        r#"set kind "B"
           append spec.list 2
           set spec.more {"x": "w2", "n": [null, true]}"#,
        "{\n    \"kind\": \"B\",\n    \"spec\": {\n        \"list\": [\n            1,\n            2\n        ],\n        \
         \"more\": {\n            \"n\": [\n                null,\n                true\n            ],\n            \
         \"x\": \"w2\"\n        }\n    }\n}\n",
    );
    check(JSON, "remove kind", &JSON.replace("    \"kind\": \"A\",\n", ""));
    check(JSON, "remove spec", "{\n    \"kind\": \"A\"\n}\n");
    check(JSON, "set spec {}", "{\n    \"kind\": \"A\",\n    \"spec\": {}\n}\n");
}

#[test]
fn tight_json_stays_tight() {
    check(r#"{"a":1,"b":[1,2]}"#, "set c.d 1\nappend b \"x\"", r#"{"a":1,"b":[1,2,"x"],"c":{"d":1}}"#);
    check("{\"a\": 1}\n", "set b 2", "{\"a\": 1, \"b\": 2}\n");
    check("{}", "set b 2", "{\"b\": 2}");
}

#[test]
fn json_is_indented_with_tabs_if_it_is() {
    check("{\n\t\"a\": 1\n}\n", "set b {\"c\": 2}", "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": 2\n\t}\n}\n");
}

#[test]
fn a_stream_of_json_has_documents() {
    check("{\"a\": 1}\n{\"a\": 2}\n", "1:set a 3", "{\"a\": 1}\n{\"a\": 3}\n");
    refuses(
        "{\"a\": 1}\n",
        "1:set a 3",
        "a cannot be changed in app.yaml: there is no document 2; the file has 1",
    );
}

#[test]
fn braces_at_the_root_are_kept() {
    check("{a: 1, b: x}\n", "set b \"w2\"\nset c 2", "{a: 1, b: w2, c: 2}\n");
}
