//! What sprig's functions give, case by case.
//!
//! The files under `sprig/` have a template on a line and below it, indented, what Go prints, or after `!` how it
//! fails. The answers come from the program in `xtask/oracle/gotmpl`. What is random is told by its shape.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::any::Any;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lynceus_gotmpl::{Context, Environment, Functions, MissingKey, Options, Str, Templates, Value, sprig};

/// The clock stands still, and chance is a series of numbers.
struct Machine(u64);

impl Environment for Machine {
    fn now(&self) -> Duration {
        Duration::from_secs(1_800_000_000)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 56) as u8;
        }
    }

    fn host(&mut self) -> &mut dyn Any {
        self
    }
}

fn evaluate(functions: &Arc<Functions>, template: &str) -> Result<Str, String> {
    let mut templates = Templates::new("t", Arc::clone(functions));
    templates.parse(&"t".into(), &template.into()).map_err(|error| error.to_string())?;
    let mut machine = Machine(1);
    let options = Options { missing_key: MissingKey::Zero, ..Options::default() };
    let mut context = Context::new(Arc::new(templates), &mut machine, options);
    context.execute("t", Value::Nil).map_err(|error| error.to_string())
}

/// A template and what is expected of it.
struct Case<'a> {
    template: &'a str,
    expected: String,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("{{") {
            cases.push(Case { template: line, expected: String::new() });
        } else if let Some(case) = cases.last_mut().filter(|_| !line.starts_with('#')) {
            case.expected.push_str(line.strip_prefix("  ").unwrap_or(line));
            case.expected.push('\n');
        }
    }
    cases
}

fn check(family: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sprig").join(family).with_extension("txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let functions = Arc::new(sprig::functions());
    let mut wrong = String::new();
    for Case { template, expected } in cases(&text) {
        let actual = match evaluate(&functions, template) {
            Ok(text) => text.to_string(),
            Err(error) => format!("! {}", error.strip_prefix("template: t:").unwrap_or(&error)),
        };
        if actual.trim_end_matches('\n') != expected.trim_end_matches('\n') {
            writeln!(wrong, "{template}\n  expected: {expected}\n  actual: {actual}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn no_host_is_looked_up() {
    let functions = Arc::new(sprig::functions());
    assert_eq!(evaluate(&functions, r#"{{ getHostByName "localhost" }}"#), Ok(Str::new()));
}

#[test]
fn what_is_too_large_is_an_error() {
    let functions = Arc::new(sprig::functions());
    for template in [
        "{{ until 1000000000 }}",
        "{{ seq 1 1000000000 }}",
        "{{ untilStep 0 9223372036854775807 1 }}",
        r#"{{ repeat 1000000000 "0123456789" }}"#,
        r#"{{ indent 2000000000 "x" }}"#,
        "{{ randAlpha 2000000000 }}",
        "{{ randBytes 2000000000 }}",
        r#"{{ $s := repeat 100000 "a" }}{{ replace "a" $s $s }}"#,
        r#"{{ $s := repeat 100000 "a" }}{{ regexReplaceAll "a" (trunc 20000 $s) $s }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toRawJson $d }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $e := dict }}{{ $_ := set $e "d" $e }}{{ mustMerge $d $e }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $e := dict }}{{ $_ := set $e "d" $e }}{{ deepEqual $d $e }}"#,
        r#"{{ mustFromJson (repeat 100000 "[") }}"#,
        r#"{{ mustRegexFind (repeat 5000 "(") "" }}"#,
        r#"{{ mustRegexFind (cat (repeat 1500 "(") (repeat 1500 ")")) "" }}"#,
    ] {
        assert!(evaluate(&functions, template).is_err(), "{template}");
    }
}

macro_rules! families {
    ($($name:ident),*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn every_function_has_a_case() {
            let texts = [$(include_str!(concat!("sprig/", stringify!($name), ".txt"))),*].concat();
            let words: std::collections::HashSet<&str> =
                texts.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
            let missing: Vec<_> = sprig::functions().names().into_iter().filter(|name| !words.contains(name)).collect();
            // Where Go would ask the network, Helm has a function of its own.
            assert_eq!(missing, ["getHostByName"]);
        }
    };
}

families!(
    crypto,
    dates,
    defaults,
    dicts,
    encodings,
    lists,
    numbers,
    paths_and_urls,
    random,
    reflection,
    regexes,
    strings,
    versions
);
