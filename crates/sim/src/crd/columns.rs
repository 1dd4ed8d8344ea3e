//! Printer columns: the cells of a custom resource in a table.

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value};

use super::jsonpath::JsonPath;
use super::shown::json;
use crate::table::{Column, human_duration};

/// A column and where its value stands.
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    column: Column,
    path: Option<JsonPath>,
}

/// Reads `additionalPrinterColumns`; without any, the age is shown.
pub(crate) fn compile(columns: &[Value]) -> Vec<PrinterColumn> {
    let age = PrinterColumn {
        column: Column {
            name: "Age".into(),
            kind: "date".into(),
            format: Str::new(),
            description: description(".metadata.creationTimestamp"),
            priority: 0,
        },
        path: JsonPath::parse(".metadata.creationTimestamp"),
    };
    if columns.is_empty() {
        return vec![age];
    }
    columns.iter().map(column).collect()
}

fn column(source: &Value) -> PrinterColumn {
    let word = |field: &str| Str::from(source.str_at(&[field]).unwrap_or_default());
    let path = word("jsonPath");
    PrinterColumn {
        column: Column {
            name: word("name"),
            kind: word("type"),
            format: word("format"),
            description: match word("description") {
                text if text.is_empty() => description(&path),
                text => text,
            },
            priority: source.int_at(&["priority"]).unwrap_or_default(),
        },
        path: JsonPath::parse(&path),
    }
}

fn description(path: &str) -> Str {
    ecow::eco_format!("Custom resource definition column (in JSONPath format): {path}")
}

/// The headers: the name, then the definition's columns.
pub(crate) fn headers(columns: &[PrinterColumn]) -> Vec<Column> {
    let name = Column {
        name: "Name".into(),
        kind: "string".into(),
        format: "name".into(),
        description: "The name of the object, unique in its namespace.".into(),
        priority: 0,
    };
    std::iter::once(name).chain(columns.iter().map(|column| column.column.clone())).collect()
}

/// The cells of one object.
pub(crate) fn cells(columns: &[PrinterColumn], object: &Object, now: Timestamp) -> Vec<Value> {
    let rest = columns.iter().map(|column| column.cell(object.value(), now));
    std::iter::once(Value::from(object.name())).chain(rest).collect()
}

impl PrinterColumn {
    fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(path) = &self.path else { return Value::Null };
        let found = path.find(object);
        let Some(value) = found.first() else { return Value::Null };
        match (self.column.kind.as_str(), value) {
            ("string", Value::Str(text)) => Value::Str(text.clone()),
            ("string", Value::Null) => Value::from("<nil>"),
            ("string", Value::Float(number)) => super::shown::float(*number).into(),
            ("string", value) => json(value).into(),
            ("integer", value) => value.as_float().map_or(Value::Null, |number| Value::Int(number as i64)),
            ("number", value) => value.as_float().map_or(Value::Null, Value::Float),
            ("boolean", Value::Bool(b)) => Value::Bool(*b),
            ("date", Value::Str(text)) => match text.parse::<Timestamp>() {
                Ok(at) => human_duration(now.duration_since(at)).into(),
                Err(_) => "<invalid>".into(),
            },
            _ => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn cells_have_the_type_of_their_column() {
        let columns = compile(
            value!([
                {"name": "S", "type": "string", "jsonPath": ".spec.s"}, {"name": "I", "type": "integer", "jsonPath": ".spec.i"},
                {"name": "D", "type": "date", "jsonPath": ".spec.d"}, {"name": "M", "type": "string", "jsonPath": ".spec.m"},
                {"name": "X", "type": "string", "jsonPath": ".spec.x"}])
            .as_seq()
            .unwrap(),
        );
        let object = Object::new(value!({"metadata": {"name": "n"},
            "spec": {"s": "text", "i": 3, "d": "2024-01-01T00:00:00Z", "m": {"a": 1}}}))
        .unwrap();
        let now = "2024-01-01T00:05:00Z".parse().unwrap();
        assert_eq!(
            Value::from(cells(&columns, &object, now)),
            value!(["n", "text", 3, "5m", "{\"a\":1}", null])
        );
    }
}
