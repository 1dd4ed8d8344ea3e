//! `fields=items.metadata.name,items.status`: answers with only what was asked for.

use lynceus_object::{Map, Value};

/// Which fields of an answer are sent.
pub(crate) struct Fields {
    paths: Vec<Vec<String>>,
    /// Whether the paths say what is left out instead.
    but: bool,
}

impl Fields {
    /// Reads what a query asks for; none if it asks for everything.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (but, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let paths: Vec<Vec<String>> = text
            .split(',')
            .filter(|path| !path.is_empty())
            .map(|path| path.split('.').map(str::to_owned).collect())
            .collect();
        (!paths.is_empty()).then_some(Fields { paths, but })
    }

    /// The same for the messages of a stream: their fields may be named from the `result` on that each comes in.
    pub(crate) fn of_stream(mut self) -> Self {
        for path in &mut self.paths {
            if path.first().is_some_and(|first| first == "result") {
                path.remove(0);
            }
        }
        self
    }

    /// The part of an answer that is sent.
    pub(crate) fn of(&self, value: &Value) -> Value {
        let paths: Vec<&[String]> = self.paths.iter().map(Vec::as_slice).collect();
        if self.but { without(value, &paths) } else { only(value, &paths) }
    }
}

fn only(value: &Value, paths: &[&[String]]) -> Value {
    if paths.iter().any(|path| path.is_empty()) {
        return value.clone();
    }
    match value {
        Value::Seq(items) => items.iter().map(|item| only(item, paths)).collect(),
        Value::Map(map) => {
            let mut out = Map::new();
            for (key, field) in map.iter() {
                let below = below(paths, key);
                if !below.is_empty() {
                    out.insert(key, only(field, &below));
                }
            }
            Value::Map(out)
        }
        _ => Value::Null,
    }
}

fn without(value: &Value, paths: &[&[String]]) -> Value {
    match value {
        Value::Seq(items) => items.iter().map(|item| without(item, paths)).collect(),
        Value::Map(map) => {
            let mut out = Map::new();
            for (key, field) in map.iter() {
                let below = below(paths, key);
                if !below.iter().any(|path| path.is_empty()) {
                    out.insert(key, if below.is_empty() { field.clone() } else { without(field, &below) });
                }
            }
            Value::Map(out)
        }
        other => other.clone(),
    }
}

/// What is left of the paths that go through a key.
fn below<'p>(paths: &[&'p [String]], key: &str) -> Vec<&'p [String]> {
    paths
        .iter()
        .filter_map(|path| {
            let (first, rest) = path.split_first()?;
            (first == key).then_some(rest)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{json, value};

    fn check(fields: &str) -> String {
        let answer = value!({"items": [{"metadata": {"name": "a", "labels": {"x": "y"}}, "status": 1}], "metadata": {}});
        Fields::read(fields).map_or_else(|| "all".to_owned(), |fields| json::to_string(&fields.of(&answer)))
    }

    #[test]
    fn fields_are_chosen_or_left_out_by_path() {
        assert_eq!(check("items.metadata.name"), r#"{"items":[{"metadata":{"name":"a"}}]}"#);
        assert_eq!(check("items.status,metadata"), r#"{"items":[{"status":1}],"metadata":{}}"#);
        assert_eq!(
            check("-items.metadata.labels,metadata"),
            r#"{"items":[{"metadata":{"name":"a"},"status":1}]}"#
        );
        let streamed = Fields::read("result.items.status,metadata").map(Fields::of_stream);
        let answer = value!({"items": [{"status": 1, "spec": 2}], "metadata": {}});
        let shown = streamed.map(|fields| json::to_string(&fields.of(&answer)));
        assert_eq!(shown.as_deref(), Some(r#"{"items":[{"status":1}],"metadata":{}}"#));
        assert_eq!(check(""), "all");
        assert_eq!(check("items.nothing"), r#"{"items":[{}]}"#);
    }
}
