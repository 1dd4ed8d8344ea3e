//! What templates compute.

use crate::{check_all, outcome, zero};
use lynceus_gotmpl::{MissingKey, Options};

#[test]
fn variables_have_scopes() {
    check_all(&[
        ("{{$x := 1}}{{$x = 2}}{{if true}}{{$x = 3}}{{end}}{{$x}}", "3"),
        ("{{$x := 1}}{{if true}}{{$x := 3}}{{$x}}{{end}}{{$x}}", "31"),
        ("{{$x := 0}}{{range 3}}{{$x = .}}{{end}}{{$x}}", "2"),
        ("{{with .Values}}{{$.Release.Name}}{{end}}", "rel"),
        ("{{$m := .Values.labels}}{{$_ := set $m \"c\" 3}}{{.Values.labels}}", "map[a:1 b:2 c:3]"),
    ]);
}

#[test]
fn pipelines_give_the_last_argument() {
    check_all(&[
        ("{{.Values.name | upper | printf \"%s-%s\" \"a\"}}", "a-WEB"),
        ("{{(index .Values.ports 0) | print}}", "80"),
        ("{{(dict \"a\" (dict \"b\" 1)).a.b}}", "1"),
        ("{{nothing}}|{{nothing | print}}", "<no value>|<nil>"),
    ]);
}

#[test]
fn missing_values_are_nothing_nil_or_an_error() {
    let with = |text, missing_key| outcome(text, Options { missing_key, ..Options::default() });
    assert_eq!(with("{{.Values.nope}}", MissingKey::Invalid), "<no value>");
    assert_eq!(with("{{.Values.nope.foo}}", MissingKey::Invalid), "<no value>");
    assert_eq!(with("{{.Values.nope}}", MissingKey::Zero), "<no value>");
    assert_eq!(
        with("{{.Values.nope}}", MissingKey::Error),
        "ERROR template: t:1:9: executing \"t\" at <.Values.nope>: map has no entry for key \"nope\""
    );
    check_all(&[
        (
            "{{.Values.nope.foo}}",
            "ERROR template: t:1:9: executing \"t\" at <.Values.nope.foo>: nil pointer evaluating interface {}.foo",
        ),
        ("{{(.Values.nope).foo}}", "<no value>"),
        ("{{$x := .Values.nope}}{{$x.foo}}", "<no value>"),
        (
            "{{.Values.words.x}}",
            "ERROR template: t:1:9: executing \"t\" at <.Values.words.x>: can't evaluate field x in type interface {}",
        ),
        (
            "{{$w := .Values.words}}{{$w.x}}",
            "ERROR template: t:1:27: executing \"t\" at <$w.x>: can't evaluate field x in type []string",
        ),
    ]);
}

#[test]
fn and_or_stop_early() {
    check_all(&[
        ("{{or .Values.name (broken \"x\")}}", "web"),
        ("{{and 0 (broken \"x\")}}", "0"),
        ("{{and 1 \"\" 2}}|{{or 0 \"\" 2}}|{{not 0}}", "|2|true"),
        ("{{.Values.name | or 0}}", "web"),
    ]);
}

#[test]
fn comparisons_follow_kinds() {
    check_all(&[
        (
            "{{eq 1 2 1}} {{eq \"a\" \"b\"}} {{ne 1 2}} {{eq nil nil}} {{eq 1 nil}}",
            "true false true true false",
        ),
        ("{{lt 1 2}} {{le 2 2}} {{gt \"b\" \"a\"}} {{ge 1.5 2.5}}", "true true true false"),
        (
            "{{eq .Values.replicas 3}}",
            "ERROR template: t:1:2: executing \"t\" at <eq .Values.replicas 3>: error calling eq: incompatible types for comparison: float64 and int",
        ),
        ("{{eq .Values.replicas 3.0}}", "true"),
        (
            "{{lt true false}}",
            "ERROR template: t:1:2: executing \"t\" at <lt true false>: error calling lt: invalid type for comparison",
        ),
        (
            "{{eq .Values.labels .Values.labels}}",
            "ERROR template: t:1:2: executing \"t\" at <eq .Values.labels .Values.labels>: error calling eq: non-comparable type map[a:1 b:2]: map[string]interface {}",
        ),
        (
            "{{eq 1}}",
            "ERROR template: t:1:2: executing \"t\" at <eq 1>: error calling eq: missing argument for comparison",
        ),
    ]);
}

#[test]
fn lists_maps_and_strings_are_indexed() {
    check_all(&[
        ("{{index .Values.ports 1}} {{index .Values \"image\" \"tag\"}} {{index \"abc\" 1}}", "443 1.29 98"),
        ("{{index .Values \"nope\"}}", "<no value>"),
        ("{{slice \"abcdef\" 1 3}} {{slice .Values.ports 1}} {{len \"héllo\"}}", "bc [443] 6"),
        ("{{len .Values.ports}} {{len .Values.labels}} {{len \"\"}}", "2 2 0"),
        ("{{slice \"é\" 0 1 | printf \"%q\"}}", "\"\\xc3\""),
        (
            "{{index .Values.ports 7}}",
            "ERROR template: t:1:2: executing \"t\" at <index .Values.ports 7>: error calling index: index out of range: 7",
        ),
        (
            "{{index .Values.ports 2}}",
            "ERROR template: t:1:2: executing \"t\" at <index .Values.ports 2>: error calling index: reflect: slice index out of range",
        ),
        (
            "{{len .Values.nope}}",
            "ERROR template: t:1:2: executing \"t\" at <len .Values.nope>: error calling len: len of nil pointer",
        ),
        (
            "{{len 3}}",
            "ERROR template: t:1:2: executing \"t\" at <len 3>: error calling len: len of type int",
        ),
    ]);
}

#[test]
fn texts_are_escaped() {
    check_all(&[
        ("{{html \"<a href='x'>&\" 1}}", "&lt;a href=&#39;x&#39;&gt;&amp;1"),
        ("{{js \"it's <b> = \\n\"}}", "it\\'s \\u003Cb\\u003E \\u003D \\u000A"),
        ("{{urlquery \"a b/ü~\"}}", "a+b%2F%C3%BC~"),
    ]);
}

#[test]
fn a_map_can_be_changed_while_it_is_ranged_over() {
    let text = "{{$m := .Values.labels}}{{range $k, $v := $m}}{{$_ := set $m (print $k $k) $v}}{{end}}{{$m}}";
    assert_eq!(outcome(text, zero()), "map[a:1 aa:1 b:2 bb:2]");
}
