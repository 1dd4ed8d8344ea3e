//! Whatever the text and whatever the change: an error, or exactly the change.

use lynceus_object::yaml::Options;
use lynceus_object::{Value, manifest, patch, value, yaml};
use proptest::prelude::*;

use super::{Change, Cut, FieldPath, Problem, file};
use crate::surgery::operate;

/// A value with how it is written.
#[derive(Clone, Debug)]
enum Written {
    Scalar(String),
    Map { flow: bool, comment: bool, fields: Vec<(String, Written)> },
    List { flow: bool, indented: bool, comment: bool, items: Vec<Written> },
}

/// Scalars as people write them, those of several lines for a place that is two or four further in.
fn scalar() -> impl Strategy<Value = Written> {
    let text = prop_oneof![
        "[a-z]{1,6}",
        "[0-9]{1,3}",
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just(String::new()),
        "\"[a-z #:{}]{0,8}\"",
        "'[a-z #:,-]{0,8}'",
        Just("|BLOCK".to_owned()),
        Just(">BLOCK".to_owned()),
        Just("|-BLOCK".to_owned()),
        Just("two\nLINES".to_owned()),
    ];
    text.prop_map(Written::Scalar)
}

fn written() -> impl Strategy<Value = Written> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof!["[a-e]", Just("'q k'".to_owned()), Just("\"w\"".to_owned())];
        let fields =
            prop::collection::btree_map(key, inner.clone(), 0..4).prop_map(|map| map.into_iter().collect());
        prop_oneof![
            (any::<bool>(), any::<bool>(), fields).prop_map(|(flow, comment, fields)| Written::Map {
                flow,
                comment,
                fields
            }),
            (any::<bool>(), any::<bool>(), any::<bool>(), prop::collection::vec(inner, 0..4)).prop_map(
                |(flow, indented, comment, items)| Written::List { flow, indented, comment, items }
            ),
        ]
    })
}

impl Written {
    /// What follows a key in a column, or a dash.
    fn print(&self, column: usize, after_dash: bool, out: &mut String) {
        let lead = |column: usize| " ".repeat(column);
        match self {
            Written::Scalar(text) if text.ends_with("BLOCK") => {
                let head = text.trim_end_matches("BLOCK");
                let lead = lead(column + 2);
                out.push_str(&format!(" {head}\n{lead}one\n\n{lead}two\n"));
            }
            Written::Scalar(text) => {
                out.push_str(&format!(" {} # c\n", text.replace('\n', &format!("\n{}", lead(column + 1)))));
            }
            Written::Map { flow: false, comment, fields } if !fields.is_empty() => {
                let inner = column + 2;
                for (at, (key, value)) in fields.iter().enumerate() {
                    match (at, after_dash) {
                        (0, true) => out.push(' '),
                        (0, false) => out.push_str(&format!(" # m\n{}", lead(inner))),
                        _ if *comment => out.push_str(&format!("{}# next\n\n{}", lead(inner), lead(inner))),
                        _ => out.push_str(&lead(inner)),
                    }
                    out.push_str(&format!("{key}:"));
                    value.print(inner, false, out);
                }
            }
            Written::List { flow: false, indented, comment, items } if !items.is_empty() => {
                let inner = if *indented || after_dash { column + 2 } else { column };
                for (at, item) in items.iter().enumerate() {
                    match (at, after_dash) {
                        (0, true) => out.push(' '),
                        (0, false) => out.push_str(&format!("\n{}", lead(inner))),
                        _ if *comment => out.push_str(&format!("{}# next\n{}", lead(inner), lead(inner))),
                        _ => out.push_str(&lead(inner)),
                    }
                    out.push('-');
                    item.print(inner, true, out);
                }
            }
            other => out.push_str(&format!(" {} # f\n", other.in_brackets())),
        }
    }

    fn in_brackets(&self) -> String {
        match self {
            Written::Scalar(text) if text.contains(['B', '\n']) || text.is_empty() => "x".to_owned(),
            Written::Scalar(text) => text.clone(),
            Written::Map { fields, .. } => {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{key}: {}", value.in_brackets())).collect();
                format!("{{{}}}", fields.join(", "))
            }
            Written::List { items, .. } => {
                let items: Vec<String> = items.iter().map(Written::in_brackets).collect();
                format!("[{}]", items.join(","))
            }
        }
    }
}

/// A file of some documents, with either line break, ended or not.
fn text() -> impl Strategy<Value = String> {
    let documents = prop::collection::vec(prop::collection::vec(("[a-e]", written()), 1..4), 1..3);
    (documents, any::<bool>(), any::<bool>()).prop_map(|(documents, is_windows, is_ended)| {
        let mut out = String::new();
        for (at, fields) in documents.iter().enumerate() {
            out.push_str(if at > 0 { "---\n# head\n" } else { "# head\n" });
            for (at, (key, value)) in fields.iter().enumerate() {
                out.push_str(&format!("{key}{at}:"));
                value.print(0, false, &mut out);
            }
        }
        let out = if is_ended { out } else { out.trim_end().to_owned() };
        if is_windows { out.replace('\n', "\r\n") } else { out }
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(value!(null)),
        Just(value!(true)),
        any::<i16>().prop_map(|number| Value::from(i64::from(number))),
        "[a-z :#'\"\\\\\n-]{0,12}".prop_map(Value::from),
        Just(value!("one\ntwo\n")),
        Just(value!({})),
        Just(value!([])),
        Just(value!(["p", {"x": 1, "w": ["k"]}])),
        Just(value!({"k": {"l": 1}, "m": "text: #"})),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => value().prop_map(Change::Set),
        2 => Just(Change::Remove),
        1 => value().prop_map(Change::Append),
        1 => Just(Change::Merge(value!({"a": 1, "z": {"b": [2]}}))),
    ]
}

/// Some path of a value, chosen by numbers.
fn some_path(value: &Value, choices: &[usize]) -> FieldPath {
    let mut path = FieldPath::root();
    let mut here = value;
    for choice in choices {
        let (next, inner) = match here {
            Value::Map(map) if !map.is_empty() && choice % 7 > 0 => {
                match map.iter().nth(choice % map.len()) {
                    Some((name, inner)) => (path.field(name.clone()), inner),
                    None => break,
                }
            }
            Value::Map(_) => return path.field("new"),
            Value::Seq(items) if !items.is_empty() => {
                (path.index(choice % items.len()), &items[choice % items.len()])
            }
            Value::Seq(_) => return path.index(0),
            _ => break,
        };
        (path, here) = (next, inner);
    }
    path
}

fn said(text: &str) -> Vec<Value> {
    let found = yaml::documents(text.as_bytes(), &Options::default());
    found
        .into_iter()
        .map(|document| document.result.unwrap_or_else(|error| panic!("{error}\n{text}")))
        .collect()
}

/// What a change makes of a value, by the words of a JSON patch; none if those do not say it.
fn by_patch(document: &Value, cut: &Cut) -> Option<Value> {
    let pointer = cut.path.to_pointer()?;
    let exists = cut.path.get(document).is_some();
    let list = cut.path.get(document).and_then(Value::as_seq);
    let operation = match &cut.change {
        Change::Set(value) if exists => value!({"op": "replace", "path": pointer, "value": (json(value))}),
        Change::Set(value) => value!({"op": "add", "path": pointer, "value": (json(value))}),
        Change::Remove => value!({"op": "remove", "path": pointer}),
        Change::Append(item) if list.is_some() => {
            value!({"op": "add", "path": (format!("{pointer}/-")), "value": (json(item))})
        }
        Change::Append(_) | Change::Merge(_) => return None,
    };
    patch::json(document, &value!([(json(&operation))])).ok()
}

fn json(value: &Value) -> serde_json::Value {
    serde_json::from_str(&lynceus_object::json::to_string(value)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// An ordinary document takes every change that makes sense.
    #[test]
    fn a_change_is_made_exactly(
        text in text(),
        choices in prop::collection::vec(0usize..20, 0..5),
        which in 0usize..2,
        change in change(),
    ) {
        let before = said(&text);
        let document = which % before.len();
        let cut = Cut { document, path: some_path(&before[document], &choices), change };
        let after = match operate(&file(), &text, std::slice::from_ref(&cut)) {
            Ok(after) => said(&after),
            Err(error) => {
                let is_nonsense = matches!(
                    error.problem,
                    Problem::Missing | Problem::Unfit { .. } | Problem::Root | Problem::Beyond { .. }
                );
                prop_assert!(is_nonsense, "{error}\n{cut:?}\n{text}");
                return Ok(());
            }
        };
        prop_assert_eq!(after.len(), before.len());
        for (at, (after, before)) in after.iter().zip(&before).enumerate() {
            if at != document {
                prop_assert_eq!(after, before);
            } else if let Some(wanted) = by_patch(before, &cut) {
                prop_assert_eq!(after, &wanted, "{:?}\n{}", cut, text);
            }
        }
    }

    /// Lines thrown together, most of them wrong: never a panic, and what is not meant stays.
    #[test]
    fn no_text_is_broken(
        lines in prop::collection::vec(
            prop_oneof![
                "[ ]{0,4}[a-c]: ?[&*]?[a-c]?", "[ ]{0,4}- [a-c]: [0-9]", "[ ]{0,4}- ?", "[ ]{0,4}[a-c]: [|>][-+1-3]?",
                "[ ]{0,6}[a-z#]{0,4}", "[ ]{0,2}[a-c]: [\\[{]", "[ ]{0,2}[\\]},] ?", "---", "\\.\\.\\.", "\t?#",
                "[ ]{0,2}<<: \\*a", "[ ]{0,2}\\? [a-c]", "[ ]{0,2}: [a-c]", "[ ]{0,2}[a-c]: ['\"]",
                "[ ]{0,2}[a-c]: !!str 1", "[ ]{0,2}[a-c]: é\r?", "[ ]{0,2}\\{\\{ x \\}\\}",
            ],
            0..10,
        ),
        path in "(a|b|a\\.b|a\\[0\\]|c\\.a|a\\.b\\.c)",
        change in change(),
    ) {
        let text = lines.join("\n");
        let cut = Cut { document: 0, path: FieldPath::parse(&path).unwrap(), change };
        let read = |text: &str| {
            let found = yaml::documents(text.as_bytes(), &Options::default());
            found.into_iter().skip(1).map(|document| document.result.ok()).collect::<Vec<_>>()
        };
        if let Ok(after) = operate(&file(), &text, &[cut]) {
            prop_assert_eq!(read(&after), read(&text), "{}", text);
        }
        // Whatever it is, places in it can be asked for.
        for line in 0..lines.len() {
            let _ = crate::surgery::path_at(&text, line as u32, 1);
        }
        let _ = manifest::read(&file(), text.as_bytes(), &Options::default());
    }
}
