//! Text in, text out.

mod anchors;
mod differences;
mod documents;
mod flow;
mod lists;
mod maps;
mod property;
mod scalars;
mod templates;
mod whole_files;

use lynceus_object::json;

use super::*;

fn file() -> FilePath {
    FilePath::new("app.yaml").unwrap()
}

/// Reads `set PATH JSON`, `append PATH JSON`, `merge PATH JSON` and `remove PATH`, one on a line, each after `DOCUMENT:`
/// if it is not about the first.
fn cuts(text: &str) -> Vec<Cut> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(cut).collect()
}

fn cut(line: &str) -> Cut {
    let (document, line) = match line.split_once(':') {
        Some((number, rest)) if number.parse::<usize>().is_ok() => (number.parse().unwrap(), rest),
        _ => (0, line),
    };
    let mut words = line.splitn(3, ' ');
    let (verb, path) = (words.next().unwrap(), words.next().unwrap());
    let value = words.next().map(|value| json::parse(value.as_bytes()).unwrap()).unwrap_or_default();
    let change = match verb {
        "set" => Change::Set(value),
        "append" => Change::Append(value),
        "merge" => Change::Merge(value),
        "remove" => Change::Remove,
        other => panic!("{other}"),
    };
    let path = FieldPath::parse(if path == "." { "" } else { path }).unwrap();
    Cut { document, path, change }
}

/// The text with the changes, or what stands in their way.
fn done(text: &str, changes: &str) -> String {
    operate(&file(), text, &cuts(changes)).unwrap_or_else(|error| error.to_string())
}

#[track_caller]
fn check(text: &str, changes: &str, expected: &str) {
    assert_eq!(done(text, changes), expected, "{changes}");
}

#[track_caller]
fn refuses(text: &str, changes: &str, expected: &str) {
    let error = operate(&file(), text, &cuts(changes)).unwrap_err();
    assert_eq!(error.to_string(), expected, "{changes}");
}
