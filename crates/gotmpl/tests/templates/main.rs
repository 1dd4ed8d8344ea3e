//! Templates in, text out. The expected texts are what Go prints.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod bounds;
mod chance;
mod errors;
mod evaluation;
mod memory;
mod printing;
mod syntax;
mod trace;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use lynceus_gotmpl::{
    Context, Environment, Error, Failure, Functions, Limits, Map, MissingKey, Options, Str, Templates, Trace,
    Value, format, signature,
};

/// A world where it is always the beginning of 1970 and chance gives ones.
struct Nowhere(());

impl Environment for Nowhere {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(1);
    }

    fn host(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

/// A few functions in the manner of sprig and Helm.
fn functions() -> Functions {
    let text = |value: &Value| value.as_str().cloned().unwrap_or_default();
    let mut all = Functions::new();
    all.add("upper", signature!((STRING) -> STRING), move |_, args| {
        Ok(Value::from(text(&args[0]).to_uppercase()))
    });
    all.add("quote", signature!((...ANY) -> STRING), |context, args| {
        let text = context.sprint(args)?;
        Ok(Value::from(format::quote::double(&text)))
    });
    all.add("nothing", signature!(() -> ANY), |_, _| Ok(Value::Nil));
    all.add("sum", signature!((...INT) -> INT), |_, args| {
        Ok(Value::int(args.iter().filter_map(Value::as_i64).sum()))
    });
    all.add("size", signature!((MAP) -> INT), |_, args| {
        Ok(Value::from(args[0].as_map().map_or(0, Map::len)))
    });
    all.add("half", signature!((FLOAT64) -> FLOAT64), |_, args| {
        Ok(Value::from(args[0].as_f64().unwrap_or_default() / 2.0))
    });
    all.add("broken", signature!((STRING) -> STRING), move |_, args| {
        Err(Failure::new(text(&args[0]).to_string()))
    });
    all.add("list", signature!((...ANY) -> LIST), |_, args| Ok(Value::list(args.iter().cloned())));
    all.add("dict", signature!((...ANY) -> MAP), move |_, args| {
        Ok(Value::map(args.chunks(2).map(|pair| (text(&pair[0]), pair.get(1).cloned().unwrap_or_default()))))
    });
    all.add("set", signature!((MAP, STRING, ANY) -> MAP), move |_, args| {
        if let Some(map) = args[0].as_map() {
            map.insert(text(&args[1]), args[2].clone());
        }
        Ok(args[0].clone())
    });
    all.add("default", signature!((ANY, ANY) -> ANY), |_, args| {
        Ok(if args[1].truth() { args[1].clone() } else { args[0].clone() })
    });
    all.add("coalesce", signature!((...ANY) -> ANY), |_, args| {
        Ok(args.iter().find(|value| value.truth()).cloned().unwrap_or_default())
    });
    all.add("empty", signature!((ANY) -> BOOL), |_, args| Ok((!args[0].truth()).into()));
    all.add("ternary", signature!((ANY, ANY, BOOL) -> ANY), |_, args| {
        Ok(if args[2].truth() { args[0].clone() } else { args[1].clone() })
    });
    all.add("trunc", signature!((INT, STRING) -> STRING), move |_, args| {
        let most = usize::try_from(args[0].as_i64().unwrap_or(0)).unwrap_or(0);
        Ok(Value::from(text(&args[1]).chars().take(most).collect::<String>()))
    });
    all.add("nindent", signature!((INT, STRING) -> STRING), move |_, args| {
        let pad = " ".repeat(usize::try_from(args[0].as_i64().unwrap_or(0)).unwrap_or(0));
        Ok(Value::from(format!("\n{pad}{}", text(&args[1]).replace('\n', &format!("\n{pad}")))))
    });
    all.add("toYaml", signature!((ANY) -> STRING), |_, args| {
        let lines = args[0].as_map().map(|map| {
            map.entries().iter().map(|(key, value)| format!("{key}: {}", show(value))).collect::<Vec<_>>()
        });
        Ok(Value::from(lines.unwrap_or_default().join("\n")))
    });
    all.add("repeat", signature!((INT, STRING) -> STRING), move |context, args| {
        let (count, part) = (usize::try_from(args[0].as_i64().unwrap_or(0)).unwrap_or(0), text(&args[1]));
        context.charge(count.saturating_mul(part.len()))?;
        Ok(Value::from(part.repeat(count)))
    });
    all.add("include", signature!((STRING, ANY) -> STRING), move |context, args| {
        Ok(Value::Str(context.execute(&text(&args[0]), args[1].clone())?))
    });
    all.add("tpl", signature!((STRING, ANY) -> STRING), move |context, args| {
        let name = context.set_name();
        let parsed = context.parse_text(&name, &text(&args[0]))?;
        Ok(Value::Str(context.execute_text(&parsed, args[1].clone())?))
    });
    all
}

fn show(value: &Value) -> Str {
    format::text(value, 1000).expect("short")
}

/// The dot of the tests.
fn dot() -> Value {
    let image = Value::map([("repository", Value::from("nginx")), ("tag", Value::from("1.29"))]);
    let ports = Value::list([Value::from(80.0), Value::from(443.0)]);
    let values = Value::map([
        ("name", Value::from("web")),
        ("replicas", Value::from(3.0)),
        ("million", Value::from(1e6)),
        ("on", Value::from(true)),
        ("null", Value::Nil),
        ("image", image),
        ("ports", ports),
        ("labels", Value::map([("b", Value::from("2")), ("a", Value::from("1"))])),
        ("words", Value::strings(["x", "y"])),
        ("template", Value::from("{{ .Values.name }}!")),
    ]);
    Value::map([("Values", values), ("Release", Value::map([("Name", Value::from("rel"))]))])
}

/// Executes a template and gives what it printed, or its error, and the trace if it is wanted.
fn run_within(text: &str, options: Options) -> (Result<Str, Box<Error>>, Option<Trace>) {
    let mut set = Templates::new("set", Arc::new(functions()));
    let name = Str::from("t");
    if let Err(error) = set.parse(&name, &Str::from(text)) {
        return (Err(error), None);
    }
    let mut world = Nowhere(());
    let mut context = Context::new(Arc::new(set), &mut world, options);
    let result = context.execute(&name, dot());
    (result, context.take_trace())
}

/// Executes a template on a value that is given away.
fn run_on(text: &str, dot: Value) -> Str {
    let mut set = Templates::new("set", Arc::new(functions()));
    set.parse(&Str::from("t"), &Str::from(text)).expect("a template");
    let mut world = Nowhere(());
    Context::new(Arc::new(set), &mut world, zero()).execute("t", dot).expect("no error")
}

fn zero() -> Options {
    Options { missing_key: MissingKey::Zero, ..Options::default() }
}

fn outcome(text: &str, options: Options) -> String {
    match run_within(text, options).0 {
        Ok(text) => text.to_string(),
        Err(error) => format!("ERROR {error}"),
    }
}

/// Checks a template against what it prints, or against its error after `ERROR`.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outcome(text, zero()), expected, "{text}");
}

#[track_caller]
fn check_all(cases: &[(&str, &str)]) {
    cases.iter().for_each(|(text, expected)| check(text, expected));
}
