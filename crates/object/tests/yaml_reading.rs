//! What YAML means: text in, JSON out, as Kubernetes' Go library answers. Errors have its words too, except
//! that they never repeat a value, which may be a secret.

use lynceus_object::{json, value, yaml};

/// Reads `text` and compares with JSON.
#[track_caller]
fn check(text: &str, expected: &str) {
    match yaml::parse_str(text) {
        Ok(value) => assert_eq!(json::to_string(&value), expected, "{text:?}"),
        Err(error) => panic!("{text:?}: {error}"),
    }
}

/// Reads `text` as go-yaml v3 does.
#[track_caller]
fn check_v3(text: &str, expected: &str) {
    let options = yaml::Options::default().version(yaml::Version::V3);
    match yaml::parse_with(text.as_bytes(), &options) {
        Ok(value) => assert_eq!(json::to_string(&value), expected, "{text:?}"),
        Err(error) => panic!("{text:?}: {error}"),
    }
}

/// Reads `text` and compares the error, with the place that we tell before what Go says.
#[track_caller]
fn check_error(text: &str, expected: &str) {
    match yaml::parse_str(text) {
        Ok(value) => panic!("{text:?}: {}", json::to_string(&value)),
        Err(error) => {
            assert_eq!(format!("{}:{} {error}", error.line, error.column), expected, "{text:?}");
        }
    }
}

#[test]
fn words_of_yaml_1_1_are_booleans_even_as_keys() {
    check("[y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE]", &format!("[{}true]", "true,".repeat(10)));
    check("[n, N, no, No, NO, off, Off, OFF, false, False]", &format!("[{}false]", "false,".repeat(9)));
    check("[yEs, oN, tRue, nO, yess, offf]", r#"["yEs","oN","tRue","nO","yess","offf"]"#);
    check("y: 1\nno: 2\n", r#"{"false":2,"true":1}"#);
    check("'y': 1\n\"no\": 2\n", r#"{"no":2,"y":1}"#);
    check_v3("[y, yes, on, off, True, TRUE, false]", r#"["y","yes","on","off",true,true,false]"#);
}

#[test]
fn nothing_is_null() {
    check(
        "a:\nb: ~\nc: null\nd: Null\ne: NULL\nf: nULL\n",
        r#"{"a":null,"b":null,"c":null,"d":null,"e":null,"f":"nULL"}"#,
    );
    check("", "null");
    check("# only a comment\n", "null");
    check("---\n", "null");
    check("- \n-\n- a\n", r#"[null,null,"a"]"#);
    check("a: ''\nb: \"\"\n", r#"{"a":"","b":""}"#);
}

#[test]
fn integers_have_many_forms() {
    check("[0, 7, -7, +7, 007, 0o17, 0x1F, 0X1f, 0b101, -0b11, 1_000]", "[0,7,-7,7,7,15,31,31,5,-3,1000]");
    check("[08, 0800, 09.5]", "[8,800,9.5]");
    check("[0x, 0b2, 0o8, 1__0, 1_, -, +]", r#"["0x","0b2","0o8",10,1,"-","+"]"#);
    check("[9223372036854775807, -9223372036854775808]", "[9223372036854775807,-9223372036854775808]");
    check("[9223372036854775808, 18446744073709551616]", "[9223372036854776000,18446744073709552000]");
    check("123456789012345678901234567890\n", "1.2345678901234568e+29");
}

#[test]
fn floats_have_many_forms() {
    check("[1.5, .5, 5., -1.5e3, 1e3, 1E3, 1e+3, 12e03, +.5]", "[1.5,0.5,5,-1500,1000,1000,1000,12000,0.5]");
    check("[1e400, 1.2.3, 1e, e3, ., .., 1.5_0, .5_0]", r#"["1e400","1.2.3","1e","e3",".","..",1.5,0.5]"#);
    check("a: 123456789.123456789\n", r#"{"a":123456789.12345679}"#);
    check_error("a: .inf\n", "1:4 json: unsupported value: +Inf");
    check_error("a: -.INF\n", "1:4 json: unsupported value: -Inf");
    check_error("a: .NaN\n", "1:4 json: unsupported value: NaN");
    check("a: .inf\na: 1\n", r#"{"a":1}"#);
}

#[test]
fn times_and_base_60_stay_strings() {
    check("[12:30, 12:30:45, 190:20:30.5]", r#"["12:30","12:30:45","190:20:30.5"]"#);
    check("[2001-12-14, 2001-12-14T21:59:43Z]", r#"["2001-12-14","2001-12-14T21:59:43Z"]"#);
    check_v3(
        "[2001-12-14, 2001-13-14, !!str 2001-12-14]",
        r#"["2001-12-14T00:00:00Z","2001-13-14","2001-12-14"]"#,
    );
}

#[test]
fn keys_become_strings() {
    check(
        "1: a\n1.5: b\ntrue: c\n0x10: d\n1e7: e\n",
        r#"{"1":"a","1.5":"b","16":"d","1e+07":"e","true":"c"}"#,
    );
    check("2001-01-01: a\n", r#"{"2001-01-01":"a"}"#);
    check("? a\n: b\n? c\n", r#"{"a":"b","c":null}"#);
    check("a : b\n\"c\" : d\n", r#"{"a":"b","c":"d"}"#);
    check_error("null: a\n", "1:1 unsupported map key of type: null");
    check_error("? [a]\n: b\n", "1:3 yaml: invalid map key: a sequence");
    check_error("{a: b}: c\n", "1:1 yaml: invalid map key: a mapping");
}

/// Compares the error with all that Go says, and with the same without values.
#[track_caller]
fn check_words(text: &str, expected: &str, without_values: &str) {
    let Err(error) = yaml::parse_str(text) else { panic!("{text:?} is read") };
    assert_eq!((error.words().as_str(), error.to_string().as_str()), (expected, without_values), "{text:?}");
}

#[test]
fn a_map_or_a_list_as_a_key_is_told_as_go_prints_it() {
    let check = |text: &str, key: &str| {
        let kind = if key.starts_with('[') { "a sequence" } else { "a mapping" };
        let [full, short] = [key, kind].map(|key| format!("yaml: invalid map key: {key}"));
        check_words(text, &full, &short);
    };
    check("? [a]\n: b\n", r#"[]interface {}{"a"}"#);
    check("? []\n: b\n", "[]interface {}{}");
    check("? {r: 3, <<: {q: 1, r: 2}}\n: b\n", r#"map[interface {}]interface {}{"q":1, "r":2}"#);
    check("? {<<: {q: 1, r: 2}, r: 3}\n: b\n", r#"map[interface {}]interface {}{"q":1, "r":3}"#);
    check(
        "? {~: a, 18446744073709551615: b, 3: c, 1.5: d, true: e, 1: f, false: g, 0.5: h, s: i}\n: b\n",
        "map[interface {}]interface {}{interface {}(nil):\"a\", \"s\":\"i\", 0xffffffffffffffff:\"b\", 1:\"f\", \
         3:\"c\", 0.5:\"h\", 1.5:\"d\", false:\"g\", true:\"e\"}",
    );
    check(
        "? [1, 1e20, .inf, -0.0, ~, \"\\\"\\n\u{e9}\\x01\", !!binary aGk=, 2001-01-01]\n: b\n",
        "[]interface {}{1, 1e+20, +Inf, -0, interface {}(nil), \"\\\"\\né\\x01\", \"hi\", \"2001-01-01\"}",
    );
    check("a: &a [1]\n? [*a, *a]\n: b\n", "[]interface {}{[]interface {}{1}, []interface {}{1}}");
    // What is left of a template that nobody has run.
    check("a: {{ .Values.x }}\n", r#"map[interface {}]interface {}{".Values.x":interface {}(nil)}"#);
}

#[test]
fn values_are_told_only_to_who_has_them() {
    check_words(
        "a: !!int hidden\n",
        "yaml: cannot decode !!str `hidden` as a !!int",
        "yaml: cannot decode the value as a !!int",
    );
    check_words(
        "a: !!null 1.5\n",
        "yaml: cannot decode !!float `1.5` as a !!null",
        "yaml: cannot decode the value as a !!null",
    );
    check_words(
        "a: 1\n~: [hidden, {b: ~}]\n",
        "unsupported map key of type: %!s(<nil>), key: <nil>, value: []interface {}{\"hidden\", \
         map[interface {}]interface {}{\"b\":interface {}(nil)}}",
        "unsupported map key of type: null",
    );
    check_words(
        "18446744073709551615: hidden\n",
        "unsupported map key of type: uint64, key: 0xffffffffffffffff, value: \"hidden\"",
        "unsupported map key of type: uint64",
    );
    let plain = "yaml: line 1: did not find expected node content";
    check_words("a: [\n", plain, plain);
}

#[test]
fn sequences_may_stand_in_the_column_of_their_key() {
    check("a:\n- 1\n- 2\nb:\n  - 3\n", r#"{"a":[1,2],"b":[3]}"#);
    check("- - a\n  - b\n-\n  - c\n", r#"[["a","b"],["c"]]"#);
    check("- a: 1\n  b: 2\n- c: 3\n", r#"[{"a":1,"b":2},{"c":3}]"#);
    check("a:\n  - b: 1\n    c:\n    - d\n", r#"{"a":[{"b":1,"c":["d"]}]}"#);
    check("a: -1\nb: -x\n", r#"{"a":-1,"b":"-x"}"#);
}

#[test]
fn flow_collections() {
    check("{a: 1, b: [x, z], c: {d: e}}", r#"{"a":1,"b":["x","z"],"c":{"d":"e"}}"#);
    check("{\"a\":1,\"b\":[true,null]}", r#"{"a":1,"b":[true,null]}"#);
    check("[a, b, ]\n", r#"["a","b"]"#);
    check("{a, b: , c}\n", r#"{"a":null,"b":null,"c":null}"#);
    check("[a: 1, b]\n", r#"[{"a":1},"b"]"#);
    check("{a:1}\n", r#"{"a:1":null}"#);
    check("a: [\n1,\n2\n]\nb: {\n}\n", r#"{"a":[1,2],"b":{}}"#);
    check("[a b, 'c d', http://x/y]\n", r#"["a b","c d","http://x/y"]"#);
}

#[test]
fn plain_scalars_go_on_on_the_next_line() {
    check("a: b\n  c\n  d\ne: f\n", r#"{"a":"b c d","e":"f"}"#);
    check("a: b\n\n\n  c\n", r#"{"a":"b\n\nc"}"#);
    check("a: b # no\nc: d#yes\n", r#"{"a":"b","c":"d#yes"}"#);
    check("a: http://x:80/y\nb: c:d\n", r#"{"a":"http://x:80/y","b":"c:d"}"#);
    check("a: b  \n", r#"{"a":"b"}"#);
    check("a: b\tc\n", r#"{"a":"b\tc"}"#);
    check("a: $b\n", r#"{"a":"$b"}"#);
}

#[test]
fn quoted_scalars() {
    check(r#"["a\tb\n\"\\\x41\u00e9\U0001F600", 'it''s', 'a\n']"#, r#"["a\tb\n\"\\Aé😀","it's","a\\n"]"#);
    check("\"a\n  b\n\n  c\"\n", r#""a b\nc""#);
    check("\"a\\\n  b\"\n", r#""ab""#);
    check("'a\n b'\n", r#""a b""#);
    check(
        r#""\0\a\b\e\v\f\r\ \_\N\L\P""#,
        "\"\\u0000\\u0007\\b\\u001b\\u000b\\f\\r \u{a0}\u{85}\\u2028\\u2029\"",
    );
    check("a: \"b\"   # comment\n", r#"{"a":"b"}"#);
    check_error(r#"a: "\/""#, "1:5 yaml: found unknown escape character");
    check_error(r#"a: "\ud800""#, "1:7 yaml: found invalid Unicode character escape code");
    check_error("a: \"b\n", "2:1 yaml: line 2: found unexpected end of stream");
}

#[test]
fn literal_scalars() {
    check("a: |\n  b\n   c\n\n  d\n\n\n", r#"{"a":"b\n c\n\nd\n"}"#);
    check("a: |-\n  b\n\nc: d\n", r#"{"a":"b","c":"d"}"#);
    check("a: |+\n  b\n\nc: d\n", r#"{"a":"b\n\n","c":"d"}"#);
    check("a: |2\n    b\n", r#"{"a":"  b\n"}"#);
    check("a: |1-\n   b\n", r#"{"a":"  b"}"#);
    check("a: | # comment\n  b\n", r#"{"a":"b\n"}"#);
    check("a: |\n  b", r#"{"a":"b"}"#);
    check("a: |\nb: c\n", r#"{"a":"","b":"c"}"#);
    check("- |\n x\n- z\n", r#"["x\n","z"]"#);
    check("a: |\n  key: value\n  # not a comment\n", r#"{"a":"key: value\n# not a comment\n"}"#);
}

#[test]
fn folded_scalars() {
    check("a: >\n  b\n  c\n\n  d\n", r#"{"a":"b c\nd\n"}"#);
    check("a: >-\n  b\n    c\n  d\n", r#"{"a":"b\n  c\nd"}"#);
    check("a: >+\n  b\n\n", r#"{"a":"b\n\n"}"#);
    check("a: >\n\n  b\n", r#"{"a":"\nb\n"}"#);
}

#[test]
fn anchors_and_aliases() {
    check("a: &x {b: 1}\nc: *x\n", r#"{"a":{"b":1},"c":{"b":1}}"#);
    check("a: &x 1\n*x : b\n", r#"{"1":"b","a":1}"#);
    check("- &x a\n- &x b\n- *x\n", r#"["a","b","b"]"#);
    check("a: &x\nb: *x\n", r#"{"a":null,"b":null}"#);
    check("&x a: 1\n", r#"{"a":1}"#);
    check("a: &x\n  b: 1\nc: *x\n", r#"{"a":{"b":1},"c":{"b":1}}"#);
    check_error("a: *x\n", "1:4 yaml: unknown anchor 'x' referenced");
    check_error("a: &x [*x]\n", "1:8 yaml: anchor 'x' value contains itself");
}

#[test]
fn merge_keys() {
    check("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n", r#"{"a":{"p":1,"q":2},"b":{"p":1,"q":3}}"#);
    check("a: &x {q: 2}\nb:\n  q: 3\n  <<: *x\n", r#"{"a":{"q":2},"b":{"q":2}}"#);
    check("b:\n  <<: [{p: 1}, {p: 2, q: 3}]\n", r#"{"b":{"p":1,"q":3}}"#);
    check("'<<': {p: 1}\n", r#"{"<<":{"p":1}}"#);
    check_v3("a: &x {q: 2}\nb:\n  q: 3\n  <<: *x\n", r#"{"a":{"q":2},"b":{"q":3}}"#);
    check_error("<<: 1\n", "1:5 yaml: map merge requires map or sequence of maps as the value");
}

#[test]
fn tags() {
    check("[!!str 1, !!int \"7\", !!float 1, !custom 2, ! 3]", r#"["1",7,1,"2","3"]"#);
    check("a: !!binary aGVsbG8=\n", r#"{"a":"hello"}"#);
    check("a: !!map {b: c}\nd: !!set {e}\n", r#"{"a":{"b":"c"},"d":{"e":null}}"#);
    check("%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\n", r#"{"a":"1"}"#);
    check("!<tag:yaml.org,2002:str> 1\n", r#""1""#);
    check_v3("! 3\n", "3");
    check_error("!!int x\n", "1:1 yaml: cannot decode the value as a !!int");
    check_error("!x!y z\n", "1:1 yaml: found undefined tag handle");
}

#[test]
fn only_the_first_document_is_read() {
    check("%YAML 1.1\n---\na: 1\n---\nb: 2\n", r#"{"a":1}"#);
    check("a: 1\n...\n}{\n", r#"{"a":1}"#);
    check_error("%YAML 1.2\n---\na: 1\n", "1:1 yaml: found incompatible YAML document");
    check_error("%FOO x\n---\n", "1:5 yaml: found unknown directive name");
}

#[test]
fn line_ends_and_byte_order_marks() {
    check("a: 1\r\nb: |\r\n  x\r\n  y\r\n", r#"{"a":1,"b":"x\ny\n"}"#);
    check("\u{feff}a: 1\n", r#"{"a":1}"#);
    let utf16: Vec<u8> = "\u{feff}a: é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(json::to_string(&yaml::parse(&utf16).unwrap()), r#"{"a":"é"}"#);
}

#[test]
fn mistakes_have_a_place() {
    check_error("a: b: c\n", "1:5 yaml: mapping values are not allowed in this context");
    check_error("a: 1\n b: 2\n", "2:3 yaml: line 2: mapping values are not allowed in this context");
    check_error("a:\n\tb: 1\n", "2:1 yaml: line 2: found character that cannot start any token");
    check_error("a: 1\nb\nc: 2\n", "3:1 yaml: line 3: could not find expected ':'");
    check_error("a:\n  - b\n  c: d\n", "3:3 yaml: line 2: did not find expected '-' indicator");
    check_error("- a\nb: c\n", "2:1 yaml: line 1: did not find expected '-' indicator");
    check_error("a: [b, c\nd: e\n", "2:2 yaml: line 1: did not find expected ',' or ']'");
    check_error("a: {b: c\n", "2:1 yaml: line 1: did not find expected ',' or '}'");
    check_error("a: `b`\n", "1:4 yaml: found character that cannot start any token");
    check_error("a: %b\n", "1:4 yaml: found character that cannot start any token");
    check_error("key: - a\n", "1:6 yaml: block sequence entries are not allowed in this context");
    check_error("é: b: c\n", "1:5 yaml: mapping values are not allowed in this context");
    check_error("a: |x\n  b\n", "1:5 yaml: did not find expected comment or line break");
    check_error(
        "a: |\n  b\n \tc\n",
        "3:2 yaml: line 3: found a tab character where an indentation space is expected",
    );
}

#[test]
fn text_that_is_not_yaml_at_all() {
    check_error("a: \x01\n", "1:4 yaml: control characters are not allowed");
    let error = yaml::parse(b"a: 1\nb: \xff\n").unwrap_err();
    assert_eq!(format!("{}:{} {error}", error.line, error.column), "2:4 yaml: invalid leading UTF-8 octet");
    let error = yaml::parse(b"a: 1\nb: \xc3").unwrap_err();
    assert_eq!(error.to_string(), "yaml: incomplete UTF-8 octet sequence");
    for (bytes, problem) in [
        (&b"a: \xc0\x80\n"[..], "invalid length of a UTF-8 sequence"),
        (b"a: \xf0\x80\x80\x80\n", "invalid length of a UTF-8 sequence"),
        (b"a: \xed\xa0\x80\n", "invalid Unicode character"),
        (b"a: \xf5\x80\x80\x80\n", "invalid Unicode character"),
        (b"a: \xf0\x9f\n", "incomplete UTF-8 octet sequence"),
        (b"a: \xe2\x28\xa1\n", "invalid trailing UTF-8 octet"),
        (b"a: \xf8\n", "invalid leading UTF-8 octet"),
    ] {
        let error = yaml::parse(bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("yaml: {problem}"), "{bytes:?}");
    }
}

#[test]
fn duplicates_are_told_or_refused() {
    let text = "a: 1\nb:\n  c: 1\n  c: 2\na: 3\n";
    let documents = yaml::documents(text.as_bytes(), &yaml::Options::default());
    let told: Vec<String> = documents[0]
        .duplicates
        .iter()
        .map(|found| format!("{} {}:{} first {}", found.key, found.line, found.column, found.first_line))
        .collect();
    assert_eq!(told, ["c 4:6 first 3", "a 5:4 first 1"]);
    let error = yaml::parse_with(text.as_bytes(), &yaml::Options::default().strict()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n  line 5: key \"a\" already set in map"
    );
    let options = yaml::Options::default().strict().version(yaml::Version::V3);
    let error = yaml::parse_with(b"a: 1\na: 2\n", &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "yaml: unmarshal errors:\n  line 2: mapping key \"a\" already defined at line 1"
    );
}

#[test]
fn overriding_a_merged_key_is_not_a_duplicate() {
    let text = b"a: &x {p: 1}\nb: {<<: *x, p: 2}\n";
    assert!(yaml::documents(text, &yaml::Options::default())[0].duplicates.is_empty());
    // go-yaml v2 minds in its strict mode.
    assert!(yaml::parse_with(text, &yaml::Options::default().strict()).is_err());
}

#[test]
fn streams_are_cut_as_kubernetes_cuts_them() {
    let text = "---\na: 1\n---\n# nothing\n--- # b\nb: 2\n---x\nc: 3\n---\nd: [\n---\ne: 5\n";
    let told: Vec<String> = yaml::documents(text.as_bytes(), &yaml::Options::default())
        .into_iter()
        .map(|document| {
            let result = match document.result {
                Ok(_) if document.is_empty => "empty".to_owned(),
                Ok(value) => json::to_string(&value),
                Err(error) => format!("{}:{} {error}", error.line, error.column),
            };
            format!("{} line {}: {result}", document.index, document.line)
        })
        .collect();
    let expected = [
        "0 line 2: {\"a\":1}",
        "1 line 4: empty",
        "2 line 6: {\"b\":2}",
        "3 line 7: 7:1 invalid Yaml document separator: x",
        "4 line 10: 11:1 yaml: line 1: did not find expected node content",
        "5 line 12: {\"e\":5}",
    ];
    assert_eq!(told, expected);
}

#[test]
fn bombs_do_not_go_off() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        text += &format!("a{level}: &a{level} [{alias}]\n");
    }
    let error = yaml::parse_str(&text).unwrap_err();
    assert_eq!(error.to_string(), "yaml: document contains excessive aliasing");
    assert!(error.line > 1);
}

#[test]
fn a_long_string_may_not_be_repeated_without_end() {
    let text = format!("a: &a {}\nb:\n{}", "x".repeat(1 << 20), "- *a\n".repeat(1000));
    let error = yaml::parse_str(&text).unwrap_err();
    assert_eq!(error.to_string(), "yaml: document contains excessive aliasing");
}

#[test]
fn thousands_of_duplicates_are_told_of_within_bounds() {
    let text = format!("{{{}}}", "a: 1, ".repeat(2_000));
    let documents = yaml::documents(text.as_bytes(), &yaml::Options::default());
    assert_eq!(documents[0].duplicates.len(), 100);
    let json = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(2_000));
    assert_eq!(json::read(json.as_bytes()).unwrap().duplicates.len(), 100);
}

#[test]
fn deep_nesting_is_an_error() {
    for text in ["[".repeat(10_000), "{a: ".repeat(10_000), "- ".repeat(10_000)] {
        let error = yaml::parse_str(&text).unwrap_err();
        assert!(error.to_string().ends_with("exceeded max depth of 512"), "{error}");
    }
    let indented: String = (0..700).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let error = yaml::parse_str(&indented).unwrap_err();
    assert!(error.to_string().ends_with("exceeded max depth of 512"), "{error}");
    // Each alias adds the depth of what it stands for.
    let chain: String = (1..300).map(|at| format!("a{at}: &a{at} [[*a{}]]\n", at - 1)).collect();
    let error = yaml::parse_str(&format!("a0: &a0 x\n{chain}")).unwrap_err();
    assert_eq!(error.to_string(), "yaml: exceeded max depth of 512");
}

#[test]
fn a_document_within_the_limits_is_read() {
    let text = format!("{}x{}", "[".repeat(512), "]".repeat(512));
    assert!(yaml::parse_str(&text).is_ok());
}

#[test]
fn a_large_document_is_refused() {
    let options = yaml::Options { max_bytes: 1000, ..yaml::Options::default() };
    let text = "a: ".to_owned() + &"x".repeat(2000);
    let error = yaml::parse_with(text.as_bytes(), &options).unwrap_err();
    assert_eq!(error.to_string(), "yaml: the document has 2003 bytes; at most 1000 are read");
}

#[test]
fn the_last_line_of_a_stream_counts_as_ended() {
    let read = |text: &str| {
        let documents = yaml::documents(text.as_bytes(), &yaml::Options::default());
        documents
            .into_iter()
            .map(|document| document.result.unwrap().str_at(&["x"]).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(read("x: |\n  a\n  b"), ["a\nb\n"]);
    assert_eq!(read("x: |+\n  a"), ["a\n"]);
    assert_eq!(read("x: >-\n  a\n  b"), ["a b"]);
    assert_eq!(read("x: |\n  a\n---\nx: |\n  b"), ["a\n", "b\n"]);
}

#[test]
fn a_map_can_be_told_by_a_field_that_it_has_a_key_twice() {
    let options = yaml::Options {
        duplicate_keys: yaml::DuplicateKeys::Marked("!"),
        ..yaml::Options::default().version(yaml::Version::V3)
    };
    let read = |text: &str| yaml::parse_with(text.as_bytes(), &options).unwrap();
    assert_eq!(read("b: 1\na: {c: 1, d: 2, c: 3}\n"), value!({"b": 1, "a": {"c": 1, "d": 2, "!": true}}));
    assert_eq!(read("b: 1\nb: 2\nb: 3\n"), value!({"b": 1, "!": true}));
    assert_eq!(read("x: &x {a: 1}\ny: {<<: *x, a: 2}\n"), value!({"x": {"a": 1}, "y": {"a": 2}}));
}
