//! Scalars as they are written: what Kustomize keeps of them.

use lynceus_object::yaml::{Options, Version, meaning, parse_written};
use lynceus_object::{Value, value};

#[test]
fn a_scalar_tells_its_text_and_whether_it_is_plain() {
    let text =
        "a: 1.10\nb: '1'\nc:\nd: ~\ne: |\n  x\nh: >-\n  x\nf: [yes, \"no\"]\n1: 2020-01-01\ng: !!str 5\n";
    let options = Options::default().version(Version::V3);
    let expected = value!({
        "a": "=1.10", "b": "\"1", "c": "=", "d": "=~", "e": "\"x\n", "h": ">x", "f": ["=yes", "\"no"], "1": "=2020-01-01",
        "g": "\"5",
    });
    assert_eq!(parse_written(text.as_bytes(), 0, &options).unwrap(), expected);
}

#[test]
fn anchors_and_merges_are_followed() {
    let text = "a: &a {x: 1, y: 'z'}\nb: {<<: *a, y: 2}\nc: *a\n";
    let options = Options::default().version(Version::V3);
    let expected = value!({
        "a": {"x": "=1", "y": "\"z"}, "b": {"x": "=1", "y": "=2"}, "c": {"x": "=1", "y": "\"z"},
    });
    assert_eq!(parse_written(text.as_bytes(), 0, &options).unwrap(), expected);
}

#[test]
fn a_text_without_quotes_has_a_meaning() {
    assert_eq!(meaning("1", Version::V3), Value::Int(1));
    assert_eq!(meaning("yes", Version::V3), Value::from("yes"));
    assert_eq!(meaning("yes", Version::V2), Value::Bool(true));
    assert_eq!(meaning("", Version::V3), Value::Null);
    assert_eq!(meaning("a: b", Version::V3), Value::from("a: b"));
}
