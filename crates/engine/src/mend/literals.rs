//! What the templates of a chart compare values with: how an option can stand that is neither true nor false.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_files::{Entry, FilePath, Tree};
use lynceus_object::Value;

use super::desk::read;
use crate::limits;

/// By the path of a value, as a template of its own chart calls it (`mode`, `metrics.kind`), the texts that it is compared with. Values
/// that are only asked whether they are anything have none.
#[derive(Debug, Default)]
pub(super) struct Literals(BTreeMap<String, BTreeSet<String>>);

impl Literals {
    /// Of all templates of a chart.
    pub(super) fn of_chart(tree: &dyn Tree, chart: &FilePath) -> Self {
        let mut literals = Literals::default();
        let Ok(templates) = chart.join("templates") else { return literals };
        let mut folders = vec![templates];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for (name, entry) in tree.list(&folder).unwrap_or_default() {
                seen += 1;
                let Ok(path) = folder.join(&name) else { continue };
                match entry {
                    _ if seen > limits::MEND_FILES => return literals,
                    Entry::Directory => folders.push(path),
                    _ => read(tree, &path).into_iter().for_each(|text| literals.note(&text)),
                }
            }
        }
        literals
    }

    /// Reads the actions of a template that decide something.
    fn note(&mut self, text: &str) {
        for action in text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next()) {
            let paths: Vec<&str> = action
                .split(|sign: char| sign.is_whitespace() || matches!(sign, '(' | ')' | '|'))
                .filter_map(|word| word.strip_prefix('$').unwrap_or(word).strip_prefix(".Values."))
                .collect();
            let decides =
                ["if ", "with ", "and ", "or ", "eq ", "ne ", "gt "].iter().any(|word| action.contains(word));
            for path in paths.into_iter().filter(|_| decides) {
                let texts = action.split('"').skip(1).step_by(2).filter(|text| !text.is_empty());
                self.0.entry(path.to_owned()).or_default().extend(texts.map(str::to_owned));
            }
        }
    }

    /// How else a value might stand, of a path that a template decides by. None is none; whatever is nothing might be one.
    pub(super) fn others(&self, path: &str, value: &Value) -> Vec<Value> {
        let Some(texts) = self.0.get(path) else { return Vec::new() };
        let mut others: Vec<Value> = match value {
            Value::Str(own) => {
                let others = texts.iter().filter(|text| *text != own.as_str());
                others.map(|text| Value::from(text.as_str())).collect()
            }
            _ => Vec::new(),
        };
        if value.as_int() == Some(0) {
            others.push(Value::from(1));
        }
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_might_be_what_templates_compare_it_with() {
        let mut literals = Literals::default();
        literals.note("{{- if and (eq .Values.mode \"full\") $.Values.on }}{{ else if eq .Values.mode \"lean\" }}{{ .Values.name }}");
        literals.note("{{ if gt (int .Values.copies) 0 }}");
        let shown = |path: &str, value: Value| {
            let others: Vec<String> =
                literals.others(path, &value).iter().map(lynceus_object::json::to_string).collect();
            others.join(" ")
        };
        assert_eq!(shown("mode", "lean".into()), "\"full\"");
        assert_eq!(shown("mode", "none".into()), "\"full\" \"lean\"");
        assert_eq!(shown("copies", Value::from(0)), "1");
        assert_eq!(shown("copies", Value::from(2)), "");
        assert_eq!(shown("name", "x".into()), "", "nothing is decided by it");
    }
}
