//! Printer columns: the cells of a custom resource in a table.

use jiff::Timestamp;
use lynceus_object::jsonpath::{Found, MissingKeys, Template};
use lynceus_object::{Object, Str, Value};

use super::shown::json;
use crate::table::{Column, human_duration};

/// A column and where its value stands.
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    column: Column,
    path: Option<Template>,
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
        path: template(".metadata.creationTimestamp"),
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
        path: template(&path),
    }
}

/// A definition has its paths without the braces.
pub(super) fn template(path: &str) -> Option<Template> {
    Template::parse(&format!("{{{path}}}")).ok()
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
        let found = self.path.as_ref().and_then(|path| path.first(object, MissingKeys::Allowed));
        let Some(value) = found.map(Found::to_value) else { return Value::Null };
        match (self.column.kind.as_str(), &value) {
            ("string", Value::Str(text)) => Value::Str(text.clone()),
            ("string", Value::Null) => Value::from("<no value>"),
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

    #[test]
    fn cells_are_what_their_path_leads_to_first() {
        let object = Object::new(value!({"metadata": {"name": "n", "labels": {"a.b/c": "x"}},
            "spec": {"ports": [{"p": 80}, {"p": 443}], "none": null},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]}}))
        .unwrap();
        for (path, expected) in [
            (".spec.ports[1].p", value!("443")),
            (".spec.ports[*].p", value!("80")),
            (".spec.ports[-1].p", value!("443")),
            (".spec.ports[2].p", value!(null)),
            (".status.conditions[?(@.type==\"Ready\")].status", value!("True")),
            (".status.conditions[?(@.type!='Ready')].status", value!("False")),
            (".status.conditions[?(@.type==1)].status", value!(null)),
            (".metadata.labels['a\\.b/c']", value!("x")),
            (".metadata.labels.a\\.b/c", value!("x")),
            // A dot ends a name in brackets too.
            (".metadata.labels['a.b/c']", value!(null)),
            (".spec.nope", value!(null)),
            (".spec.none", value!("<no value>")),
            ("..p", value!("80")),
            (".spec[", value!(null)),
        ] {
            let columns = compile(&[value!({"name": "C", "type": "string", "jsonPath": path})]);
            assert_eq!(cells(&columns, &object, Timestamp::UNIX_EPOCH)[1], expected, "{path}");
        }
    }
}
