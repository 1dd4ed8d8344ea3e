//! Budgets: whatever a template does, it ends with an error in bounded time and memory.

use std::any::Any;
use std::rc::Rc;

use crate::{Limits, Options, Value, check, outcome, zero};
use lynceus_gotmpl::{Object, Shape, Type, TypeInfo};

fn limited(text: &str, limits: Limits) -> String {
    outcome(text, Options { limits, ..zero() })
}

#[test]
fn endless_recursion_ends() {
    let limits = Limits { depth: 500, ..Limits::default() };
    assert!(
        limited("{{define \"x\"}}{{template \"x\" .}}{{end}}{{template \"x\" .}}", limits)
            .ends_with("at <{{template \"x\" .}}>: exceeded maximum template depth (500)")
    );
    let included = limited("{{define \"x\"}}{{include \"x\" .}}{{end}}{{include \"x\" .}}", limits);
    assert!(included.ends_with("exceeded maximum template depth (500)"), "{included}");
    let text = limited("{{tpl .Values.t (set .Values \"t\" \"{{tpl .t .}}\")}}", limits);
    assert!(text.starts_with("ERROR"), "{text}");
}

#[test]
fn the_default_depth_fits_the_stack() {
    let text =
        outcome("{{define \"x\"}}{{if true}}{{include \"x\" .}}{{end}}{{end}}{{include \"x\" .}}", zero());
    assert!(text.ends_with("exceeded maximum template depth (5000)"));
}

#[test]
fn steps_are_counted() {
    let limits = Limits { steps: 1000, ..Limits::default() };
    let text = limited("{{range 1000000000}}{{end}}", limits);
    assert_eq!(
        text,
        "ERROR template: t:1:8: executing \"t\" at <1000000000>: rendering takes more than 1000 steps"
    );
}

#[test]
fn bytes_are_counted() {
    let limits = Limits { bytes: 100_000, ..Limits::default() };
    for text in [
        "{{range 1000}}{{printf \"%999d\" 1}}{{end}}",
        "{{repeat 1000000000 \"x\"}}",
        "{{$x := \"0123456789\"}}{{range 60}}{{$x = print $x $x}}{{end}}",
        "{{$x := list 1}}{{range 60}}{{$x = list $x $x}}{{end}}{{$x}}",
        "{{printf \"%1000000d%1000000d\" 1 2}}",
        "{{$x := dict}}{{range 1000}}{{$x = dict \"a\" $x \"b\" (list $x 1 2 3)}}{{end}}",
        "{{range 1000}}{{tpl (printf \"{{/* %d */}}{{.}}\" .) .}}{{end}}",
    ] {
        let outcome = limited(text, limits);
        assert!(outcome.ends_with("rendering takes more than 100000 bytes of memory"), "{text}: {outcome}");
    }
}

#[test]
fn deep_values_are_dropped_without_recursion() {
    check("{{$x := list}}{{range 50000}}{{$x = list $x}}{{end}}done", "done");
    check("{{$x := dict}}{{range 50000}}{{$x = dict \"a\" $x}}{{end}}done", "done");
}

#[test]
fn cyclic_values_do_not_print() {
    let text = outcome("{{$x := dict}}{{$_ := set $x \"a\" $x}}{{$x}}", zero());
    assert!(text.starts_with("ERROR"), "{text}");
}

#[test]
fn cyclic_values_are_freed() {
    let dot = crate::dot();
    let witness = Rc::new(Witness);
    if let Some(map) = dot.as_map() {
        map.insert("witness", Value::Object(witness.clone()));
    }
    crate::run_on("{{$d := dict \"w\" .witness}}{{$_ := set $d \"me\" (list $d)}}", dot);
    assert_eq!(Rc::strong_count(&witness), 1);
}

/// Tells by its count of handles whether what held it is still there.
struct Witness;

impl Object for Witness {
    fn go_type(&self) -> Type {
        static WITNESS: TypeInfo = TypeInfo::declared("test.Witness", Shape::Struct, &[]);
        &WITNESS
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn deep_texts_are_refused() {
    let parens = format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000));
    let outcome_of = |text: String| outcome(&text, zero());
    assert_eq!(outcome_of(parens), "ERROR template: t:1: max expression depth exceeded");
    let blocks = "{{if 1}}".repeat(100_000);
    assert_eq!(outcome_of(blocks), "ERROR template: t:1: blocks nest deeper than 1000");
    let fits = format!("{}x{}", "{{if 1}}".repeat(900), "{{end}}".repeat(900));
    assert_eq!(outcome_of(fits), "x");
    let fits = format!("{{{{ {}1{} }}}}", "(".repeat(900), ")".repeat(900));
    assert_eq!(outcome_of(fits), "1");
}
