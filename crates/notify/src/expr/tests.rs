//! Expressions are held to the answers of the original, which xtask/oracle/expr gave.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use lynceus_gotmpl::{Context, Environment, Functions, Options, Templates, Value, format, json as go_json};
use lynceus_object::json;

use super::{evaluate, parse};
use crate::limits;
use crate::names::{Facts, Subject, names, to_template};

struct Outside(());

impl Environment for Outside {
    fn now(&self) -> Duration {
        Duration::from_secs(1_767_323_045)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn host(&mut self) -> &mut dyn Any {
        &mut self.0
    }
}

/// All names of the recorded answers.
fn environment() -> Value {
    let given = json::parse(include_bytes!("../../tests/expr/environment.json")).unwrap();
    let (context, facts) = Default::default();
    let application = given.get("app").unwrap();
    let subject =
        Subject { application, project: None, context: &context, secrets: None, facts: &facts, more: &[] };
    let _: &Facts = &facts;
    let all = names(subject, "");
    let (Value::Map(all_names), Value::Map(given)) = (&all, to_template(&given)) else { panic!("no maps") };
    given.entries().into_iter().for_each(|(name, value)| drop(all_names.insert(name, value)));
    all
}

fn answer(text: &str, names: &Value) -> Result<Value, String> {
    let expression = parse(text).map_err(|error| error.to_string())?;
    let mut outside = Outside(());
    let templates = Arc::new(Templates::new("t", Arc::new(Functions::new())));
    let options = Options { limits: limits::EXPRESSION, ..Options::default() };
    let mut context = Context::new(templates, &mut outside, options);
    evaluate(&expression, names, &mut context).map_err(|error| error.to_string())
}

/// What the answers have for a value, without its type: whole numbers have several in Go and one here.
fn shown(value: &Value) -> String {
    let text = format::text(value, 1 << 20).unwrap().replace('\n', "\\n");
    match go_json::encode(value, go_json::Style::Compact) {
        Ok(encoded) => format!("{encoded} {text}"),
        Err(_) => "json".to_owned(),
    }
}

/// The types with a space in their names.
const TYPES: [&str; 4] =
    ["[]interface {}", "[][2]interface {}", "map[string]interface {}", "map[interface {}]interface {}"];

/// Where we differ, and why.
const OTHERWISE: &[(&str, &str)] = &[
    // An empty list is one, and not nil.
    ("split('abc', ',', 0)", "[] []"),
    ("sort(n)", "error"),
    // Keys of maps are texts.
    ("fromPairs([['a', 1], ['b', 2]])", r#"{"a":1,"b":2} map[a:1 b:2]"#),
    (
        "groupBy(lm, .name)",
        r#"{"x":[{"name":"x","size":3}],"y":[{"name":"y","size":1}],"z":[{"name":"z"}]} map[x:[map[name:x size:3]] y:[map[name:y size:1]] z:[map[name:z]]]"#,
    ),
    ("groupBy(l, # > 1)", r#"{"false":[1],"true":[2,3]} map[false:[1] true:[2 3]]"#),
    // The original stumbles over it, though it takes it in map().
    ("filter(l, #index > 0)", "[2,3] [2 3]"),
    (r#"filter(b"ab", #index == 1)"#, "[98] [98]"),
    // What the type of a name is shows only when it is evaluated; the original takes it that way elsewhere.
    (r#"b"abc" matches s"#, "true true"),
    // The last digit of a power.
    ("i ** f", "15.588457268119896 15.588457268119896"),
    ("g ** f", "15.588457268119896 15.588457268119896"),
];

#[test]
fn expressions_are_worth_what_the_original_says() {
    let names = environment();
    let questions = include_str!("../../tests/expr/questions.txt");
    let answers = include_str!("../../tests/expr/answers.txt");
    let questions = questions.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (question, expected) in questions.zip(answers.lines()) {
        asked += 1;
        let found = answer(question, &names);
        let expected = match expected {
            "compile" | "run" => "error".to_owned(),
            "json" => "json".to_owned(),
            // The type may have a space in it.
            other => TYPES
                .iter()
                .find_map(|of| other.strip_prefix(of))
                .or_else(|| other.split_once(' ').map(|(_, rest)| rest))
                .unwrap_or_default()
                .to_owned(),
        };
        let shown = found.as_ref().map_or("error".to_owned(), shown);
        let allowed = OTHERWISE.iter().any(|(text, ours)| *text == question && *ours == shown);
        if shown.trim() != expected.trim() && !allowed {
            wrong
                .push(format!("{question}\n    expected {expected}\n    found    {shown} {:?}", found.err()));
        }
    }
    assert!(asked > 2_000);
    assert!(wrong.is_empty(), "{} of {asked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_error_says_where_it_is() {
    let names = environment();
    let cases = [
        ("app.status.nope.phase == 'x'", "column 17: there is nothing to look for phase in"),
        ("1 + ", "column 5: the expression ends too early"),
        ("'ü' + 1", "column 5: + does not take string and int"),
        ("any(app.status.conditions, .type)", "column 28: this has to be true or false, not string"),
        ("n ?? 1 + 1", "column 8: ?? and + cannot be mixed without parentheses"),
    ];
    for (text, expected) in cases {
        assert_eq!(answer(text, &names).map(|value| shown(&value)), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn what_would_never_end_or_take_everything_is_refused() {
    let names = environment();
    let nested = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let deep = format!("{}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let long = "1 + ".repeat(300_000) + "1";
    let many = "1 + ".repeat(8_000) + "1";
    let doubled = (0..60).fold("b".to_owned(), |text, _| format!("({text} ?: c)"));
    let chained = (0..60).fold("1".to_owned(), |text, _| format!("(0 < {text} < 2 ? 1 : 1)"));
    let minus = "-".repeat(20_000) + "1";
    let texts = (0..40).fold("'x'".to_owned(), |text, _| format!("let a = {text}; a + a"));
    let loops = "all(1..1000, all(1..1000, all(1..1000, # > 0)))";
    let power = "map(1..1000000, map(1..1000000, 1))";
    for text in [&nested, &deep, &long, &many, &minus, &"[".repeat(60_000), &"a.".repeat(20_000)] {
        assert!(answer(text, &names).is_err(), "{}", &text[..40]);
    }
    for text in [loops, power, &chained, "repeat(repeat('x', 1000000), 1000000)"] {
        assert!(answer(text, &names).is_err(), "{}", &text[..20]);
    }
    assert!(matches!(answer(&doubled, &names), Ok(Value::Bool(true))));
    assert!(answer(&texts, &names).is_err());
}

#[test]
fn an_expression_of_a_thousand_parts_is_fine() {
    let names = environment();
    let text = vec!["app.metadata.name == 'x'"; 900].join(" or ");
    assert!(matches!(answer(&text, &names), Ok(Value::Bool(false))));
}
