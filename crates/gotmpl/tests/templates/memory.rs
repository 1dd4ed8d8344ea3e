//! What is remembered in a render, and when it is made again. `tick` tells how often it was called, which nobody knows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lynceus_gotmpl::{Context, Functions, Map, Options, Str, Templates, Value, signature, sprig, types};

use crate::{Nowhere, dot, functions, run_within, zero};

/// The functions of the tests with sprig's lists, one that counts its calls, and one that says that it is not steady.
fn counting() -> Functions {
    let calls = AtomicU64::new(0);
    let mut all = functions();
    let sprigs = Arc::new(sprig::functions());
    for name in ["keys", "sortAlpha", "join"] {
        let sprigs = Arc::clone(&sprigs);
        let signature = sprigs.get(name).expect("a function of sprig").signature();
        all.add(name, signature, move |context, args| match sprigs.get(name) {
            Some(function) => function.call(context, args),
            None => Ok(Value::Nil),
        });
    }
    all.add("tick", signature!(() -> STRING), move |_, _| {
        Ok(Value::from((calls.fetch_add(1, Ordering::Relaxed) + 1).to_string()))
    });
    all.add("outside", signature!(() -> STRING), |context, _| {
        context.unsteady();
        Ok(Value::from("?"))
    });
    all
}

fn set(text: &str) -> Arc<Templates> {
    let mut set = Templates::new("set", Arc::new(counting()));
    set.parse(&Str::from("t"), &Str::from(text)).expect("a template");
    Arc::new(set)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let mut world = Nowhere(());
    let printed = Context::new(set(text), &mut world, zero()).execute("t", dot()).expect("no error");
    assert_eq!(printed, expected, "{text}");
}

#[test]
fn a_template_is_executed_once_for_the_same_value() {
    check(r#"{{define "a"}}{{tick}}{{end}}{{include "a" .}}{{include "a" .}}{{include "a" $}}"#, "111");
    check(
        r#"{{define "a"}}{{tick}}{{end}}{{include "a" .}}{{include "a" .Values}}{{include "a" .Values}}"#,
        "122",
    );
    check(
        r#"{{define "a"}}{{tick}}{{end}}{{define "b"}}{{include "a" .}}{{tick}}{{end}}{{include "a" .}}{{include "b" .}}"#,
        "112",
    );
    check(r#"{{range list 1 2}}{{tpl "{{tick}}" $}}{{end}}"#, "11");
}

#[test]
fn a_value_that_is_made_for_the_call_is_not_kept() {
    check(r#"{{define "a"}}{{tick}}{{end}}{{include "a" (dict "x" .)}}{{include "a" (dict "x" .)}}"#, "12");
}

#[test]
fn what_was_changed_is_seen() {
    check(
        r#"{{define "a"}}{{.Values.name}} {{tick}};{{end}}{{include "a" .}}{{$_ := set .Values "name" "x"}}{{include "a" .}}{{include "a" .}}"#,
        "web 1;x 2;x 2;",
    );
    check(
        r#"{{define "a"}}{{.Values.image.tag}};{{end}}{{include "a" .}}{{with .Values.image}}{{$_ := set . "tag" "2"}}{{end}}{{include "a" .}}"#,
        "1.29;2;",
    );
    check(
        r#"{{define "a"}}{{join "" .}};{{end}}{{$l := keys .Values.image .Values.labels}}{{$_ := set .Values "l" $l}}{{include "a" $l}}{{$_ := sortAlpha $l}}{{include "a" $l}}"#,
        "repositorytagab;abrepositorytag;",
    );
}

#[test]
fn a_template_that_changes_what_others_see_is_executed_each_time() {
    check(
        r#"{{define "a"}}{{$_ := set .Values "n" (print .Values.n "x")}}{{.Values.n}};{{end}}{{$_ := set .Values "n" ""}}{{include "a" .}}{{include "a" .}}"#,
        "x;xx;",
    );
}

#[test]
fn a_template_may_build_maps_of_its_own() {
    check(
        r#"{{define "a"}}{{$d := dict}}{{$_ := set $d "k" tick}}{{$d.k}}{{end}}{{include "a" .}}{{include "a" .}}"#,
        "11",
    );
    // Nor does that disturb what was remembered before.
    check(
        r#"{{define "a"}}{{tick}}{{end}}{{include "a" .}}{{$d := dict}}{{$_ := set $d "k" 1}}{{include "a" .}}"#,
        "11",
    );
}

#[test]
fn what_depends_on_the_outside_is_computed_each_time() {
    check(r#"{{define "a"}}{{outside}}{{tick}}{{end}}{{include "a" .}}{{include "a" .}}"#, "?1?2");
    check(
        r#"{{define "a"}}{{include "b" .}}{{tick}}{{end}}{{define "b"}}{{outside}}{{end}}{{include "a" .}}{{include "a" .}}"#,
        "?1?2",
    );
}

#[test]
fn only_what_looks_into_a_passing_map_depends_on_it() {
    let set = set(
        r#"{{define "a"}}{{tick}}{{end}}{{define "b"}}{{.Own.Name}}{{end}}{{include "a" .}}{{include "b" .}};"#,
    );
    let mut world = Nowhere(());
    let mut context = Context::new(set, &mut world, zero());
    let scope = dot().as_map().cloned().expect("a map");
    let mut printed = String::new();
    for name in ["x", "y"] {
        let own = BTreeMap::from([(Str::from("Name"), Value::from(name))]);
        scope.insert_passing("Own", Map::passing(&types::MAP, own));
        printed += &context.execute("t", Value::Map(scope.clone())).expect("no error");
    }
    assert_eq!(printed, "1x;1y;");
}

/// A traced render remembers nothing: both must print the same, whatever is changed in between.
#[test]
fn remembering_changes_nothing() {
    const DEFINED: &str = r#"{{define "name"}}{{.Values.name}}{{end}}{{define "labels"}}{{range $k, $v := .Values.labels}}{{$k}}={{$v}},{{end}}{{include "name" .}}{{end}}{{define "own"}}{{$d := dict "n" .Values.name}}{{$_ := set $d "m" (include "labels" .)}}{{toYaml $d}}{{end}}{{define "change"}}{{$_ := set .Values.labels "z" (print .Values.labels.z "+")}}{{end}}{{define "inner"}}{{range $k, $v := .}}{{$k}}{{end}}{{end}}"#;
    const STEPS: [&str; 8] = [
        r#"{{include "labels" .}};"#,
        r#"{{include "own" .}};"#,
        r#"{{include "change" .}};"#,
        r#"{{$_ := set .Values "name" (print .Values.name "!")}}"#,
        r#"{{include "inner" .Values.labels}};"#,
        r#"{{tpl .Values.template .}};"#,
        r#"{{$_ := set .Values.labels (print "k" (size .Values.labels)) "v"}}"#,
        r#"{{with .Values.labels}}{{$_ := set . "a" $.Values.name}}{{include "inner" .}}{{end}};"#,
    ];
    for number in 0..STEPS.len().pow(3) {
        let steps = (0..3).map(|at| STEPS[number / STEPS.len().pow(at) % STEPS.len()]);
        let text = steps.fold(DEFINED.to_owned(), |text, step| text + step);
        let printed = |trace| run_within(&text, Options { trace, ..zero() }).0.expect("no error");
        assert_eq!(printed(false), printed(true), "{text}");
    }
}
