//! How values are printed as YAML: JSON in, text out. Each expectation is what Kubernetes' Go library prints.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_object::{json, value, yaml};

#[track_caller]
fn check(json: &str, expected: &str) {
    let value = json::parse(json.as_bytes()).unwrap();
    let printed = yaml::to_string(&value);
    assert_eq!(printed, expected, "{json}");
    assert_eq!(yaml::parse_str(&printed).unwrap(), value, "{json} does not come back");
}

#[test]
fn collections() {
    check(
        r#"{"a":{"b":[1,{"c":2,"d":3}],"e":{}},"f":[]}"#,
        "a:\n  b:\n  - 1\n  - c: 2\n    d: 3\n  e: {}\nf: []\n",
    );
    check(r#"[[1,[2]],{"a":[3]}]"#, "- - 1\n  - - 2\n- a:\n  - 3\n");
    check(r#"{}"#, "{}\n");
    check(r#"[]"#, "[]\n");
    check("null", "null\n");
}

#[test]
fn numbers() {
    check("[0,-7,1.5,1e21,1e-7,123456789.125]", "- 0\n- -7\n- 1.5\n- 1e+21\n- 1e-07\n- 1.23456789125e+08\n");
    check("[9223372036854775807,10000000000000000000]", "- 9223372036854775807\n- 10000000000000000000\n");
}

#[test]
fn strings_that_would_read_as_something_else_are_quoted() {
    for text in [
        "",
        "y",
        "No",
        "on",
        "~",
        "null",
        "true",
        "1",
        "-1",
        "+1.5",
        "0x1F",
        "0777",
        "1e3",
        "1_000",
        ".5",
        ".inf",
        "12:30",
        "2001-01-01",
        "0b1",
    ] {
        check(&format!("[{text:?}]"), &format!("- {text:?}\n"));
    }
}

#[test]
fn strings_with_signs_are_single_quoted() {
    for text in [
        "- a", "-", "? a", ": a", "a: b", "a:", "#a", "a #b", "@a", "`a", "%a", "*a", "&a", "!a", "|a", ">a",
        "{a", "[a", "]a", ",a", "---", "...", " a", "a ",
    ] {
        check(&format!("[{text:?}]"), &format!("- '{text}'\n"));
    }
    check(r#"["'a","it's","\"a"]"#, "- '''a'\n- it's\n- '\"a'\n");
}

#[test]
fn other_strings_are_plain() {
    for text in [
        "a", "-a", "?a", ":a", "a:b", "a#b", "<<", "=", ".", "..", "1.2.3", "1e", "a\\b", "é", "x]", "$(A)",
        "~a",
    ] {
        let json = json::to_string(&value!([text]));
        check(&json, &format!("- {text}\n"));
    }
}

#[test]
fn odd_characters_are_escaped() {
    check(
        r#"["\t","\u0000\u0007\b\u001b","\u0001","\u00a0","😀","\ufeff","a\rb"]"#,
        "- \"\\t\"\n- \"\\0\\a\\b\\e\"\n- \"\\x01\"\n- \u{a0}\n- \"\\U0001F600\"\n- \"\\uFEFF\"\n- \"a\\rb\"\n",
    );
}

#[test]
fn lines_are_literals() {
    check(r#"{"a":"b\nc\n"}"#, "a: |\n  b\n  c\n");
    check(r#"{"a":"b\nc"}"#, "a: |-\n  b\n  c\n");
    check(r#"{"a":"b\n\n"}"#, "a: |+\n  b\n\n");
    check(r#"{"a":" b\nc"}"#, "a: |2-\n   b\n  c\n");
    check(r#"{"a":"\nb"}"#, "a: |2-\n\n  b\n");
    check(r#"{"a":["b\nc\n"],"d":1}"#, "a:\n- |\n  b\n  c\nd: 1\n");
    check(r#"{"a":"b \nc"}"#, "a: \"b \\nc\"\n");
    check(r#"{"a":"b\nc "}"#, "a: \"b\\nc \"\n");
    check(r#""b\nc""#, "|-\n  b\n  c\n");
}

#[test]
fn long_strings_are_folded_after_80_columns() {
    let words = "word ".repeat(30);
    let text = words.trim_end();
    let line = "word ".repeat(16);
    let expected = format!("a: {}\n  {}\n", line.trim_end(), "word ".repeat(14).trim_end());
    check(&format!("{{\"a\":{text:?}}}"), &expected);
    let quoted = format!("x: {text}");
    let expected = format!("- 'x: {}\n  {}'\n", line.trim_end(), "word ".repeat(14).trim_end());
    check(&format!("[{quoted:?}]"), &expected);
    let long = "x".repeat(200);
    check(&format!("[{long:?}]"), &format!("- {long}\n"));
}

#[test]
fn keys_are_in_natural_order() {
    check(
        r#"{"a10":1,"a2":2,"ab":3,"a-b":4,"B":5,"_":6,"1":7}"#,
        "_: 6\n\"1\": 7\nB: 5\na-b: 4\na2: 2\na10: 1\nab: 3\n",
    );
}

#[test]
fn keys_are_quoted_like_values() {
    check(r#"{"yes":1,"":2,"a b":3,"a: b":4,"n":5}"#, "\"\": 2\na b: 3\n'a: b': 4\n\"n\": 5\n\"yes\": 1\n");
}

#[test]
fn long_and_many_lined_keys_are_asked_for() {
    let key = "k".repeat(129);
    check(&format!("{{{key:?}:[1,2]}}"), &format!("? {key}\n: - 1\n  - 2\n"));
    check(r#"{"a\nb":{"c":1}}"#, "? |-\n  a\n  b\n: c: 1\n");
}

#[test]
fn streams_have_separators() {
    let values = [value!({"a": 1}), value!({"b": "x\n\n"}), value!([1])];
    assert_eq!(yaml::to_string_many(&values), "a: 1\n---\nb: |+\n  x\n\n---\n- 1\n");
}
