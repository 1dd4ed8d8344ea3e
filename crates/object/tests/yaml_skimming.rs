//! Reading no more of a document than is wanted: as if all of it had been read and the rest been taken out.

use lynceus_object::yaml::{Fields, Wanted};
use lynceus_object::{Map, Value, json, yaml};
use proptest::prelude::*;

/// `a`, of `m` what is wanted of the document itself, `l` in any case, and what becomes `true` as a key.
struct Few;

impl Fields for Few {
    fn wanted(&self, key: &str) -> Option<Wanted<'_>> {
        match key {
            "a" | "true" | "1" => Some(Wanted::All),
            "m" => Some(Wanted::Fields(&Few)),
            _ => key.eq_ignore_ascii_case("l").then_some(Wanted::All),
        }
    }
}

/// The whole value without what is not wanted.
fn filtered(value: Value, wanted: Wanted<'_>) -> Value {
    match (value, wanted) {
        (Value::Map(map), Wanted::Fields(fields)) => {
            let kept = map.into_iter().filter_map(|(key, value)| {
                let wanted = fields.wanted(&key)?;
                Some((key, filtered(value, wanted)))
            });
            Value::Map(kept.collect::<Map>())
        }
        (value, _) => value,
    }
}

/// The value as JSON, or the error with its place.
fn told(result: Result<Value, yaml::Error>) -> String {
    match result {
        Ok(value) => json::to_string(&value),
        Err(error) => format!("{}:{} {error} {:?}", error.line, error.column, error.hint),
    }
}

fn both(text: &[u8]) -> (String, String) {
    let whole = yaml::parse(text).map(|value| filtered(value, Wanted::Fields(&Few)));
    (told(yaml::parse_only(text, &Few)), told(whole))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (skimmed, whole) = both(text.as_bytes());
    assert_eq!(skimmed, whole, "{text:?}");
    assert_eq!(skimmed, expected, "{text:?}");
}

#[test]
fn what_is_not_wanted_is_left_out() {
    check("a: 1\nb: 2\nm: {a: [x, {b: 3}], b: 4}\n", r#"{"a":1,"m":{"a":["x",{"b":3}]}}"#);
    check("b:\n- c\n- d: [e, f: g]\na: 1\n", r#"{"a":1}"#);
    check("b: |\n  a: 2\n\n  x\na: |\n  kept\n  too\n", r#"{"a":"kept\ntoo\n"}"#);
    check("b: some\n  words\na: some\n  words\n", r#"{"a":"some words"}"#);
    check("b: [c, d]\n\"\\x61\": 1\n", r#"{"a":1}"#);
    check("b: 1\n", "{}");
    check("{}", "{}");
}

#[test]
fn keys_are_matched_as_what_they_become() {
    check("L: 1\nl: 2\nyes: 3\n0x1: 4\n", r#"{"1":4,"L":1,"l":2,"true":3}"#);
    check("'yes': 1\n", "{}");
    check("? a\n: 1\n? b\n: 2\n? |\n  a\n: 3\n", r#"{"a":1}"#);
}

#[test]
fn the_last_of_several_counts() {
    check("a: 1\nb: 1\na: 2\nb: 2\n", r#"{"a":2}"#);
    check("m: {a: 1}\nm: {true: 1}\n", r#"{"m":{"true":1}}"#);
    check("m: {a: 1}\nm: 2\n", r#"{"m":2}"#);
}

#[test]
fn what_is_no_mapping_is_wanted_whole() {
    check("- b: 1\n", r#"[{"b":1}]"#);
    check("text", r#""text""#);
    check("", "null");
    check("--- # nothing\n", "null");
    check("m: [{b: 1}]\n", r#"{"m":[{"b":1}]}"#);
}

#[test]
fn names_and_merges_reach_into_what_is_wanted() {
    check("b: &x {c: 1}\na: *x\n", r#"{"a":{"c":1}}"#);
    check("b: &x 1\na: 2\n", r#"{"a":2}"#);
    check("<<: {a: 1, b: 2}\nb: 3\n", r#"{"a":1}"#);
    check("m:\n  <<: [{a: 1}, {a: 2, true: 3}]\n", r#"{"m":{"a":1,"true":3}}"#);
    check("b: !!str 1\na: !!str 1\n", r#"{"a":"1"}"#);
}

#[test]
fn only_the_first_document_is_read() {
    check("---\na: 1\nb: 2\n---\na: 3\n", r#"{"a":1}"#);
    check("a: 1\nb: 2\n...\n\t}\n", r#"{"a":1}"#);
    check("%YAML 1.1\n---\nb: 1\n", "{}");
}

#[test]
fn lines_are_stepped_over_by_their_columns() {
    for value in [
        "\n  c: d\n  e:\n  - f: g\n    h: i\n  -\n    j: k\n  - l\n",
        "\n- c\n- d:\n    e: f # g\n# h\n\n- i\n",
        " c\n  d\n\n  - e #\n",
        " >-\n\n   c\n  \n    # d\n   e: f: g\n # h\n",
        "\n  c: |\n    d\n\te\n",
        "\n  c: |\n    \td\n  e: \"f: #\\n\" # g\n  h: 'i''j'\n  k: []\n  l: {}\n",
        "\n  c: http://d:1/#e\n",
        "",
    ] {
        let text = format!("b:{value}\na: 1\n");
        let (skimmed, whole) = both(text.as_bytes());
        assert_eq!(skimmed, whole, "{text:?}");
    }
    check("m:\n  b:\n  - c\n  - d\n  a: 1\nb:\n- c\na: 2", r#"{"a":2,"m":{"a":1}}"#);
    check("m:\n  b:\n    c: d\na: 2\nb:", r#"{"a":2,"m":{}}"#);
    let hint = Some("check that the line is indented like its neighbours");
    check("b:\n  c: d\n e: f\na: 1\n", &format!("3:2 yaml: line 2: did not find expected key {hint:?}"));
}

#[test]
fn plain_words_are_read_from_their_lines() {
    let text = "# first\n\na: word\nb:\n  c: d\nm:\n  b: 1\n  a: \"quoted\"\n  l: 'too'\nL:\n  x: u\n  z:\n    w: v\n";
    let expected = r#"{"L":{"x":"u","z":{"w":"v"}},"a":"word","m":{"a":"quoted","l":"too"}}"#;
    check(text, expected);
    check("m:\n  b: 1\n", r#"{"m":{}}"#);
    check("b: {c: d, e: \"f\"}\na: word", r#"{"a":"word"}"#);
    let deep: String = (0..12).map(|level| format!("{}a:\n", "  ".repeat(level))).collect();
    let long = "x".repeat(2_000);
    for text in [
        "a: w\n  x\n",
        "a: w\n\n  x\n",
        "a: w\n\nb: 1\n",
        "a: w # c\n",
        "a: w\n # c\nb: 1\n",
        "a: w x\n",
        "a: \"w\" \n",
        "a: 'w'x\n",
        "a: ''\n",
        "a: 'it''s'\n",
        "a:\n  b: w\n c: d\n",
        "a:\n",
        "a:\nb: 1\n",
        "a:\n- b\n",
        "a: yes\nl: 1\n",
        "a: null\n",
        "a: w\na: x\n",
        "m:\n  a: w\n...\n\t}\n",
        "m:\n  a: w\n---\na: 2\n",
        "m: w\n  - x\n",
        "a: w\n\tb: 1\n",
        " a: w\nb: 1\n",
        "b: {c: d e: f}\na: w\n",
        "b: {c: d,}\na: w\n",
        "b: {c: {}}\na: w\n",
        "b: {c: d} x\na: w\n",
        "b: {c:d}\na: w\n",
        "b: {c}\na: w\n",
        "b: {~: d}\na: w\n",
        "b: {c: .inf}\na: w\n",
        "b: {c: 'd\\', e: \"f\\\"\"}\na: w\n",
        &format!("{deep}{}b: w\n", "  ".repeat(12)),
        &format!("{long}: w\na: w\n"),
    ] {
        let (skimmed, whole) = both(text.as_bytes());
        assert_eq!(skimmed, whole, "{text:?}");
    }
}

#[test]
fn errors_are_found_in_what_is_left_out() {
    let hint = |text: &str| format!("Some({text:?})");
    check("b: .inf\n", "1:4 json: unsupported value: +Inf None");
    check("b: .inf\nb: 1\na: 2\n", r#"{"a":2}"#);
    check("a: 1\nb: [-.Inf, .nan]\n", "2:12 json: unsupported value: NaN None");
    check("b: {~: 1}\n", "1:5 unsupported map key of type: null None");
    check("b: {18446744073709551615: 1}\n", "1:5 unsupported map key of type: uint64 None");
    check("b: {[c]: 1}\n", "1:5 yaml: invalid map key: a sequence None");
    check("b: *x\n", "1:4 yaml: unknown anchor 'x' referenced None");
    check("b: {<<: 1}\n", "1:9 yaml: map merge requires map or sequence of maps as the value None");
    check("b: !!int x\n", "1:4 yaml: cannot decode the value as a !!int None");
    check("b: [\na: 1\n", "3:1 yaml: line 2: did not find expected ',' or ']' None");
    check(
        "b:\n\tc: 1\n",
        &format!(
            "2:1 yaml: line 2: found character that cannot start any token {}",
            hint("indent with spaces, not tabs")
        ),
    );
}

#[test]
fn the_depth_is_bounded_in_what_is_left_out() {
    for depth in [511, 512, 513] {
        for text in [
            format!("b: {}{}\n", "[".repeat(depth), "]".repeat(depth)),
            format!("m: {{b: {}{}}}\n", "{c: ".repeat(depth), "}".repeat(depth)),
            (0..depth).map(|at| format!("{}b:\n{}-\n", "  ".repeat(at), "  ".repeat(at))).collect(),
        ] {
            let (skimmed, whole) = both(text.as_bytes());
            assert_eq!(skimmed, whole, "{depth}");
        }
    }
}

/// Lines that may stand below each other, with mistakes among them.
fn lines() -> impl Strategy<Value = String> {
    let key = "(a|b|c|m|l|L|'a'|\"\\\\x61\"|yes|1|~|<<|\\? a|\\.inf|[a-z]{1,3})";
    let value = prop_oneof![
        Just(String::new()),
        "[a-z]{1,4}( [a-z]{1,3})?",
        "(1|2\\.5|~|yes|\\.inf|-\\.inf|\\.nan|\\.info|0x1f|1e400|18446744073709551615)",
        "(\\||>)[-+]?[1-3]?",
        "(&x |\\*x|!!str |!!int |! ){1,2}[a-z0-9]{0,2}",
        "(\\[a, b\\]|\\[a: b\\]|\\{a: b, c\\}|\\{a: \\[|\\[\\{c: d\\}\\]|\\}|\\])",
        "('x y'|\"x\\\\ty\"|\"x\\\\|'x|\")",
        "#x",
    ];
    let line = prop_oneof![
        10 => (0..4_usize, 0..6_u8, key, value).prop_map(|(indent, kind, key, value)| {
            let (dash, key) = (if kind == 0 { "- " } else { "" }, key.replace("\\?", "?"));
            let indent = "  ".repeat(indent);
            if kind == 1 { format!("{indent}{value}\n") } else { format!("{indent}{dash}{key}: {value}\n") }
        }),
        1 => "(---|\\.\\.\\.|%YAML 1\\.1|\t|- -|-|\\?|:)[ ]?[a-z]?\n",
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

/// A field that is not wanted, with lines below it that fit together as often as not, between two that are wanted.
fn field() -> impl Strategy<Value = String> {
    let first = "( c|  |  #c| \"c\"| 'c'| c #d| \\|| >-| \\[\\]| &x| \\{c|)";
    let line = prop_oneof![
        6 => "(c|d|e): (d|1|d e|http://d:1/#e)",
        6 => "(c|d|e):",
        4 => "- (c|d: e|'d': e|c d|- c|- d: e|)",
        2 => "(c|'c'|\"c\\\\n\"|[c-e]: ('d''e'|\"d\"|\"\\\\x|'d)) ?(#d)?",
        2 => "(c: |- |d: )(\\||>|\\|-|>\\+|\\|2)( #c)?",
        2 => "(c: |- )(\\[\\]|\\{\\}|\\[c, 'd',\"e\" \\]|\\[ -c,d/e\\]|\\{c: d\\}|\\[)( #c)?",
        1 => "(c: |- )\\[(c|c d|-|- c|'c': d|c: d|,|\\.inf|-\\.inf|~|\\[c\\]),? ?\\]( #c|: d)?",
        2 => "( |#c|# c: d)?",
        1 => "[c-e]: ([c-e]: f|c:|#d|-|- d|\\?|:|@|%|&x|\\*x|!!str d|\\.inf|-d|\\?d|:d|é|\u{2028})",
        1 => "(~|null|<<|18446744073709551615|0x1|\\? c|\\.nan|c d|\"c\"|\t|\t#|---|\\.\\.\\.|\r|: c):? ?d?",
    ];
    let lines = prop::collection::vec((0..5_usize, line), 0..9);
    (first, any::<bool>(), lines, "(a: 2|a: |  a: 2|a: 2\n)").prop_map(|(first, nested, lines, last)| {
        let outer = if nested { "  " } else { "" };
        let below: String =
            lines.iter().map(|(indent, line)| format!("{outer}{}{line}\n", " ".repeat(*indent))).collect();
        format!("{}{outer}a: 1\n{outer}b:{first}\n{below}{outer}{last}", if nested { "m:\n" } else { "" })
    })
}

/// A document of the usual kind.
fn tree() -> impl Strategy<Value = Value> {
    let key = prop_oneof!["[abcmlL]", "(true|1|y|kind|<<|\\.nan)"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[a-z:#.\"' \n-]{0,12}".prop_map(Value::from),
        "([a-z]{1,6} ){20,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|fields| Value::Map(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_read_as_if_all_were_wanted(text in lines()) {
        let (skimmed, whole) = both(text.as_bytes());
        prop_assert_eq!(skimmed, whole, "{}", text);
    }

    #[test]
    fn a_field_is_stepped_over_as_if_it_were_wanted(text in field()) {
        let (skimmed, whole) = both(text.as_bytes());
        prop_assert_eq!(skimmed, whole, "{}", text);
    }

    #[test]
    fn documents_are_read_as_if_all_were_wanted(tree in tree()) {
        let text = yaml::to_string(&tree);
        let (skimmed, whole) = both(text.as_bytes());
        prop_assert_eq!(skimmed, whole, "{}", text);
    }

    #[test]
    fn damaged_documents_are_read_as_if_all_were_wanted(
        tree in tree(),
        damage in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<bool>(), prop::sample::select(&b"\n\t :-?,[]{}'\"|>&*!#.~<a\x00\xff"[..])),
            1..4,
        ),
    ) {
        let mut text = yaml::to_string(&tree).into_bytes();
        for (at, insert, byte) in damage {
            let at = at.index(text.len().max(1)).min(text.len().saturating_sub(1));
            if insert { text.insert(at, byte) } else { text[at] = byte }
        }
        let (skimmed, whole) = both(&text);
        prop_assert_eq!(skimmed, whole, "{}", String::from_utf8_lossy(&text));
    }
}
