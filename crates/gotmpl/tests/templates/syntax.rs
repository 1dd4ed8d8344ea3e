//! Tokens, blocks and definitions.

use crate::check_all;

#[test]
fn spaces_are_trimmed_where_marked() {
    check_all(&[
        ("a  {{- 1 -}}  b", "a1b"),
        ("a\n\t{{- 1 }} b", "a1 b"),
        ("a {{ 1 -}}\n\n b", "a 1b"),
        ("a {{- /* gone */ -}} b", "ab"),
        ("a {{/* kept */}} b", "a  b"),
        ("{{-3}} {{- 3 -}} x", "-33x"),
        ("{{ 3 -}}{{- 4 }}", "34"),
    ]);
}

#[test]
fn constants_have_gos_spellings() {
    check_all(&[
        ("{{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 017 }} {{ 1_000 }}", "31 5 15 15 1000"),
        ("{{ 1e3 }} {{ .5 }} {{ 5. }} {{ 0x1p4 }} {{ 1_0.5 }}", "1000 0.5 5 16 10.5"),
        ("{{ 'a' }} {{ '\\n' }} {{ '\\u00e9' }} {{ -0 }} {{ +3 }}", "97 10 233 0 3"),
        ("{{ 1i }} {{ 1+2i }} {{ printf \"%T\" 2i }}", "(0+1i) (1+2i) complex128"),
        ("{{ \"a\\tb\\u00e9\\x41\\101\" }} {{ `raw\\n` }}", "a\tbéAA raw\\n"),
        ("{{ true }} {{ false }}", "true false"),
        ("{{ 08 }}", "ERROR template: t:1: integer overflow: \"08\""),
        (
            "{{ 9223372036854775808 }}",
            "ERROR template: t:1:3: executing \"t\" at <9223372036854775808>: 9223372036854775808 overflows int",
        ),
        ("{{ 1__0 }}", "ERROR template: t:1: illegal number syntax: \"1__0\""),
        ("{{ 0x }}", "ERROR template: t:1: illegal number syntax: \"0x\""),
        ("{{ 100000000000000000000 }}", "ERROR template: t:1: integer overflow: \"100000000000000000000\""),
        ("{{ 1a }}", "ERROR template: t:1: bad number syntax: \"1a\""),
        ("{{ 'ab' }}", "ERROR template: t:1: malformed character constant: 'ab'"),
        ("{{ \"\\q\" }}", "ERROR template: t:1: invalid syntax"),
    ]);
}

#[test]
fn blocks_nest_and_chain() {
    check_all(&[
        ("{{if 0}}a{{else if 1}}b{{else}}c{{end}}", "b"),
        ("{{if 0}}a{{else if 0}}b{{else}}c{{end}}", "c"),
        ("{{with 0}}a{{else with .Values.name}}{{.}}{{else}}c{{end}}", "web"),
        ("{{with $x := 5}}{{$x}}{{.}}{{end}}", "55"),
        ("{{range $i, $e := .Values.ports}}{{$i}}={{$e}};{{end}}", "0=80;1=443;"),
        ("{{range $k, $v := .Values.labels}}{{$k}}{{$v}}{{end}}", "a1b2"),
        ("{{range 3}}{{.}}{{end}}{{range $i := 2}}[{{$i}}]{{end}}", "012[0][1]"),
        ("{{range .Values.null}}x{{else}}none{{end}}", "none"),
        ("{{range 5}}{{if eq . 1}}{{continue}}{{end}}{{if eq . 3}}{{break}}{{end}}{{.}}{{end}}", "02"),
        ("{{range 2}}{{range 9}}{{break}}{{end}}{{.}}{{end}}", "01"),
    ]);
}

#[test]
fn templates_are_defined_and_called() {
    check_all(&[
        ("{{define \"x\"}}<{{.}}>{{end}}{{template \"x\" 1}}{{template \"x\"}}", "<1><<no value>>"),
        ("{{block \"b\" .Values.name}}[{{.}}]{{end}}{{template \"b\" 2}}", "[web][2]"),
        ("{{define \"x\"}}a{{end}}{{define \"x\"}} {{end}}{{template \"x\"}}", "a"),
        ("{{define \"x\"}} {{end}}{{define \"x\"}}a{{end}}{{template \"x\"}}", "a"),
        ("{{define \"x\"}}{{$}}{{end}}{{$y := 1}}{{template \"x\" 2}}", "2"),
        ("{{tpl .Values.template .}}", "web!"),
        (
            "{{define \"x\"}}X{{end}}{{tpl \"{{define `x`}}Y{{end}}{{include `x` .}}\" .}}{{include \"x\" .}}",
            "YX",
        ),
    ]);
}

#[test]
fn wrong_texts_are_told_as_go_tells_them() {
    check_all(&[
        ("{{", "ERROR template: t:1: unclosed action"),
        ("a\n{{ .x\n", "ERROR template: t:3: unclosed action started at t:2"),
        ("{{ \"a\n}}", "ERROR template: t:1: unterminated quoted string"),
        ("{{if 1}}", "ERROR template: t:1: unexpected EOF"),
        ("{{end}}", "ERROR template: t:1: unexpected {{end}}"),
        ("{{if}}{{end}}", "ERROR template: t:1: missing value for if"),
        ("{{if 1}}{{else}}{{else}}{{end}}", "ERROR template: t:1: expected end; found {{else}}"),
        ("{{nope 1}}", "ERROR template: t:1: function \"nope\" not defined"),
        ("{{$x}}", "ERROR template: t:1: undefined variable \"$x\""),
        ("{{if 1}}{{$x := 1}}{{end}}{{$x}}", "ERROR template: t:1: undefined variable \"$x\""),
        ("{{1 | 2}}", "ERROR template: t:1: non executable command in pipeline stage 2"),
        ("{{break}}", "ERROR template: t:1: {{break}} outside {{range}}"),
        ("{{(1}}", "ERROR template: t:1: unclosed left paren"),
        ("{{1)}}", "ERROR template: t:1: unexpected right paren"),
        ("{{nil.x}}", "ERROR template: t:1: unexpected . after term \"nil\""),
        ("{{\"x\".y}}", "ERROR template: t:1: unexpected . after term \"\\\"x\\\"\""),
        ("{{range $a, $b, $c := .}}{{end}}", "ERROR template: t:1: too many declarations in range"),
        ("{{$a, $b := 1}}", "ERROR template: t:1: too many declarations in command"),
        ("{{.a@b}}", "ERROR template: t:1: bad character U+0040 '@'"),
        ("{{\u{1F600}}}", "ERROR template: t:1: unrecognized character in action: U+1F600 '😀'"),
        ("{{/* a }}", "ERROR template: t:1: unclosed comment"),
        ("{{/* a */ }}", "ERROR template: t:1: comment ends before closing delimiter"),
        (
            "{{define \"x\"}}a{{end}}{{define \"x\"}}b{{end}}",
            "ERROR template: t:1: template: multiple definition of template \"x\"",
        ),
        ("{{if 1}}{{define \"x\"}}{{end}}{{end}}", "ERROR template: t:1: unexpected <define> in command"),
        ("{{template 1}}", "ERROR template: t:1: unexpected \"1\" in template clause"),
        ("{{abcdefghijklmnop := 1}}", "ERROR template: t:1: function \"abcdefghijklmnop\" not defined"),
        ("{{1 \"abcdefghijklmnop\"x}}", "ERROR template: t:1: unexpected \"x\" in operand"),
    ]);
}
