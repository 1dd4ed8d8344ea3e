//! Values as Go prints them in messages, which is also what its library sorts by.

use crate::value::Value;

/// A value as Go's `%v` prints it, which is how messages show it: `map[spec:map[replicas:3]]`.
pub fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(set) => set.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => float(*number),
        Value::Str(text) => text.to_string(),
        Value::Seq(items) => format!("[{}]", joined(items.iter().map(printed))),
        Value::Map(map) => {
            format!("map[{}]", joined(map.iter().map(|(key, value)| format!("{key}:{}", printed(value)))))
        }
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" ")
}

/// The shortest form, with an exponent where Go has one.
pub(crate) fn float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(rest) => ('-', rest),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    number.to_string()
}

/// The name of a value's type, as Go's library holds JSON.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Seq(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[test]
    fn values_are_printed_as_go_does() {
        assert_eq!(printed(&value!({"b": [1, "x", null], "a": true})), "map[a:true b:[1 x <nil>]]");
        for (number, text) in [
            (1.5, "1.5"),
            (1e21, "1e+21"),
            (1_500_000.5, "1.5000005e+06"),
            (1e6, "1e+06"),
            (1.25e-7, "1.25e-07"),
            (100000.0, "100000"),
        ] {
            assert_eq!(printed(&Value::Float(number)), text);
        }
    }
}
