use super::{Style, decode, encode};
use crate::{Str, Value};

fn written(value: Value, style: Style) -> String {
    encode(&value, style).unwrap_or_else(|failure| failure.to_string())
}

fn read(text: &str) -> String {
    match decode(&Str::from(text)) {
        Ok(value) => written(value, Style::Raw),
        Err(error) => error.to_string(),
    }
}

#[test]
fn numbers_have_the_form_that_go_gives_them() {
    let floats = [1e21, 1e-7, 1e20, 1e-6, 1.5, -0.0, 123_456_789.0, 5e-324];
    let list = Value::list(floats.map(Value::Float));
    assert_eq!(
        written(list, Style::Compact),
        "[1e+21,1e-7,100000000000000000000,0.000001,1.5,-0,123456789,5e-324]"
    );
    assert_eq!(written(f64::NAN.into(), Style::Raw), "json: unsupported value: NaN");
}

#[test]
fn markup_is_escaped_unless_asked_otherwise() {
    let text = Value::str("<&>\u{2028}\u{8}\u{1}é\"");
    assert_eq!(written(text.clone(), Style::Compact), r#""\u003c\u0026\u003e\u2028\b\u0001é\"""#);
    assert_eq!(written(text, Style::Raw), r#""<&>\u2028\b\u0001é\"""#);
}

#[test]
fn pretty_has_no_lines_in_what_is_empty() {
    let value = Value::map([("a", Value::list([])), ("b", Value::list([Value::Nil]))]);
    assert_eq!(written(value, Style::Pretty), "{\n  \"a\": [],\n  \"b\": [\n    null\n  ]\n}");
}

#[test]
fn errors_have_go_s_words() {
    for (text, answer) in [
        ("{", "unexpected end of JSON input"),
        ("nul", "invalid character ' ' in literal null (expecting 'l')"),
        ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("1.", "invalid character ' ' after decimal point in numeric literal"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
        ("[1e400]", "json: cannot unmarshal number 1e400 into Go value of type float64"),
        ("1e400 x", "invalid character 'x' after top-level value"),
        ("\"a\nb\"", r"invalid character '\n' in string literal"),
        (r#""\ud83d\ude00\ud800x""#, "\"😀\u{FFFD}x\""),
    ] {
        assert_eq!(read(text), answer, "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    assert_eq!(read(&"[".repeat(100_000)), "exceeded max depth");
}
