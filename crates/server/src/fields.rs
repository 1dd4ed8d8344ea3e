//! `fields=items.metadata.name,items.status`: answers with only what was asked for.

use std::collections::BTreeMap;

use lynceus_object::{Str, Value};

/// Which fields of an answer are sent.
pub(crate) struct Fields {
    tree: Tree,
    /// Whether the paths say what is left out instead.
    but: bool,
}

/// Paths with what they have in common written once, so that each field of an answer is looked for once.
#[derive(Default)]
struct Tree {
    /// Whether a path ends here.
    whole: bool,
    /// In the order of the names, which is that of the fields of a map.
    below: BTreeMap<Str, Tree>,
}

impl Fields {
    /// Reads what a query asks for; none if it asks for everything.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (but, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let mut tree = Tree::default();
        text.split(',').filter(|path| !path.is_empty()).for_each(|path| tree.add(path.split('.')));
        (!tree.below.is_empty()).then_some(Fields { tree, but })
    }

    /// The same for the messages of a stream: their fields may be named from the `result` on that each comes in.
    pub(crate) fn of_stream(mut self) -> Self {
        if let Some(result) = self.tree.below.remove("result") {
            self.tree.merge(result);
        }
        self
    }

    /// The fields of each item of a list; none if all of an item is sent.
    pub(crate) fn of_items(mut self) -> Option<Self> {
        let tree = self.tree.below.remove("items").filter(|tree| !tree.whole)?;
        Some(Fields { tree, ..self })
    }

    /// The part of an answer that is sent.
    pub(crate) fn of(&self, value: &Value) -> Value {
        if self.but { self.tree.without(value) } else { self.tree.only(value) }
    }
}

impl Tree {
    fn add<'p>(&mut self, mut path: impl Iterator<Item = &'p str>) {
        match path.next() {
            Some(name) => self.below.entry(name.into()).or_default().add(path),
            None => self.whole = true,
        }
    }

    fn merge(&mut self, other: Tree) {
        self.whole |= other.whole;
        for (name, tree) in other.below {
            self.below.entry(name).or_default().merge(tree);
        }
    }

    fn only(&self, value: &Value) -> Value {
        match value {
            value if self.whole => value.clone(),
            Value::Seq(items) => items.iter().map(|item| self.only(item)).collect(),
            Value::Map(map) => {
                let found = self.below.iter().filter_map(|(name, tree)| Some((name, tree, map.get(name)?)));
                Value::Map(found.map(|(name, tree, field)| (name.clone(), tree.only(field))).collect())
            }
            _ => Value::Null,
        }
    }

    fn without(&self, value: &Value) -> Value {
        match value {
            Value::Seq(items) => items.iter().map(|item| self.without(item)).collect(),
            Value::Map(map) => {
                let mut left = map.clone();
                for (name, tree) in &self.below {
                    if tree.whole {
                        left.remove(name);
                    } else if let Some(field) = map.get(name) {
                        left.insert(name.clone(), tree.without(field));
                    }
                }
                Value::Map(left)
            }
            other => other.clone(),
        }
    }
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
        assert_eq!(
            check("items.status.deeper,items.metadata"),
            r#"{"items":[{"metadata":{"labels":{"x":"y"},"name":"a"},"status":null}]}"#
        );
        assert_eq!(check("items.metadata.name,items.metadata"), check("items.metadata"));
        assert_eq!(check("-items.metadata.name.deeper"), check("items,metadata"));
    }
}
