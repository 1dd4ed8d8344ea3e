//! Errors as structures, and in Go's words.

use std::sync::Arc;

use crate::{Nowhere, check_all, dot, functions, run_within, zero};
use lynceus_gotmpl::{Context, ErrorKind, Str, Templates};

#[test]
fn wrong_calls_are_told_in_gos_words() {
    check_all(&[
        ("{{upper 1}}", "ERROR template: t:1:8: executing \"t\" at <1>: expected string; found 1"),
        (
            "{{upper .Values.replicas}}",
            "ERROR template: t:1:15: executing \"t\" at <.Values.replicas>: wrong type for value; expected string; got float64",
        ),
        (
            "{{upper .Values.nope}}",
            "ERROR template: t:1:15: executing \"t\" at <.Values.nope>: wrong type for value; expected string; got interface {}",
        ),
        (
            "{{.Values.nope | upper}}",
            "ERROR template: t:1:17: executing \"t\" at <upper>: invalid value; expected string",
        ),
        (
            "{{upper}}",
            "ERROR template: t:1:2: executing \"t\" at <upper>: wrong number of args for upper: want 1 got 0",
        ),
        (
            "{{1 | half 2}}",
            "ERROR template: t:1:6: executing \"t\" at <half>: wrong number of args for half: want 1 got 2",
        ),
        ("{{half 3}}", "1.5"),
        ("{{half 1i}}", "ERROR template: t:1:7: executing \"t\" at <1i>: expected float; found 1i"),
        ("{{sum 1 2 3}} {{sum}}", "6 0"),
        ("{{sum 1.5}}", "ERROR template: t:1:6: executing \"t\" at <1.5>: expected integer; found 1.5"),
        ("{{sum 1e1}}", "10"),
        ("{{size .Values.labels}} {{size nil}}", "2 0"),
        (
            "{{size \"x\"}}",
            "ERROR template: t:1:7: executing \"t\" at <\"x\">: can't handle \"x\" for arg of type map[string]interface {}",
        ),
        (
            "{{size .Values.words}}",
            "ERROR template: t:1:14: executing \"t\" at <.Values.words>: wrong type for value; expected map[string]interface {}; got []string",
        ),
        (
            "{{.Values.name 1}}",
            "ERROR template: t:1:9: executing \"t\" at <.Values.name>: name is not a method but has arguments",
        ),
        (
            "{{$x := 1}}{{$x 2}}",
            "ERROR template: t:1:13: executing \"t\" at <$x>: can't give argument to non-function $x",
        ),
        ("{{nil}}", "ERROR template: t:1:2: executing \"t\" at <nil>: nil is not a command"),
        (
            "{{template \"nope\" .}}",
            "ERROR template: t:1:11: executing \"t\" at <{{template \"nope\" .}}>: template \"nope\" not defined",
        ),
        (
            "{{range .Values.name}}{{end}}",
            "ERROR template: t:1:15: executing \"t\" at <.Values.name>: range can't iterate over web",
        ),
        (
            "{{range $a, $b := 3}}{{end}}",
            "ERROR template: t:1:18: executing \"t\" at <3>: can't use 3 to iterate over more than one variable",
        ),
        (
            "{{call 1}}",
            "ERROR template: t:1:2: executing \"t\" at <call 1>: error calling call: non-function 1 of type int",
        ),
    ]);
}

#[test]
fn errors_of_included_templates_keep_their_place() {
    check_all(&[
        (
            "{{define \"x\"}}\n  {{upper .a.b}}{{end}}{{include \"x\" .}}",
            "ERROR template: t:2:25: executing \"t\" at <include \"x\" .>: error calling include: \
             template: t:2:12: executing \"x\" at <.a.b>: nil pointer evaluating interface {}.b",
        ),
        (
            "{{include \"nope\" .}}",
            "ERROR template: t:1:2: executing \"t\" at <include \"nope\" .>: error calling include: \
             template: no template \"nope\" associated with template \"set\"",
        ),
        (
            "{{tpl \"{{\" .}}",
            "ERROR template: t:1:2: executing \"t\" at <tpl \"{{\" .>: error calling tpl: template: set:1: unclosed action",
        ),
    ]);
}

#[test]
fn errors_are_structures() {
    let text = "{{define \"inner\"}}{{broken \"sad\"}}{{end}}{{define \"outer\"}}\n{{template \"inner\" .}}{{end}}{{include \"outer\" .}}";
    let error = run_within(text, zero()).0.expect_err("broken");
    let ErrorKind::Call { function, failure } = &error.kind else { panic!("{error:?}") };
    assert_eq!(function, "include");
    let inner = failure.cause().expect("an error of a template");
    assert_eq!(inner.template, "inner");
    assert_eq!(inner.action, "broken \"sad\"");
    let place = inner.location.as_ref().map(|place| (place.name.as_str(), place.line, place.column));
    assert_eq!(place, Some(("t", 1, Some(20))));
    let calls: Vec<_> = inner
        .calls
        .iter()
        .map(|call| (call.template.as_str(), call.from.as_ref().map(ToString::to_string)))
        .collect();
    assert_eq!(
        calls,
        [("t", None), ("outer", Some("t:2:31".to_owned())), ("inner", Some("t:2:11".to_owned()))]
    );
}

/// What a text prints that was read under one name, under another.
fn under_another_name(text: &str, name: &str) -> Option<String> {
    let mut set = Templates::new("set", Arc::new(functions()));
    let parsed = set.read(&Str::from("one"), &Str::from(text)).expect("a template");
    set.add(&Str::from("one"), &parsed);
    set.add(&Str::from(name), &parsed.named(&Str::from(name))?);
    let mut world = Nowhere(());
    let told = Context::new(Arc::new(set), &mut world, zero()).execute(name, dot());
    Some(told.map_or_else(|error| format!("ERROR {error}"), |text| text.to_string()))
}

#[test]
fn a_text_that_is_there_twice_is_read_once_and_speaks_of_itself_by_both_names() {
    let broken = "{{define \"in\"}}{{broken \"sad\"}}{{end}}\n{{template \"in\" .}}";
    let told = under_another_name(broken, "two").expect("the same");
    assert_eq!(
        told,
        "ERROR template: two:1:17: executing \"in\" at <broken \"sad\">: error calling broken: sad"
    );
    let plain = "{{define \"in\"}}{{.Values.name}}{{end}}{{range 2}}{{template \"in\" $}}{{end}}";
    assert_eq!(under_another_name(plain, "two").as_deref(), Some("webweb"));
}

#[test]
fn a_text_that_defines_one_of_its_names_is_another_text_under_each() {
    assert_eq!(under_another_name("{{define \"two\"}}a{{end}}b", "two"), None);
    assert_eq!(under_another_name("{{define \"one\"}}a{{end}}", "two"), None);
    assert_eq!(under_another_name("{{define \"one\"}} {{end}}b", "two"), None);
}
