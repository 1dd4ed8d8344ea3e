//! Drops what a schema does not know, and says what was dropped.

use lynceus_object::Value;

use super::schema::{Additional, Schema};

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes fields that the schema does not name. Returns their paths, in order, without the three
/// fields that every object has.
pub(crate) fn prune(value: &mut Value, schema: &Schema) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(value, &Rule::root(schema), &mut String::new(), &mut unknown);
    unknown.sort();
    unknown
}

/// Removes unknown fields of a value that is not a whole object, such as a default.
pub(crate) fn prune_part(value: &mut Value, schema: &Schema) {
    walk(value, &Rule::of(Some(schema)), &mut String::new(), &mut Vec::new());
}

/// The schema at a place; the root of an object counts as embedded whatever its schema says.
struct Rule<'a> {
    schema: Option<&'a Schema>,
    embedded: bool,
    preserves: bool,
}

impl<'a> Rule<'a> {
    fn root(schema: &'a Schema) -> Self {
        Rule { embedded: true, ..Rule::of(Some(schema)) }
    }

    fn of(schema: Option<&'a Schema>) -> Self {
        let is = |flag: fn(&Schema) -> bool| schema.is_some_and(flag);
        Rule { schema, embedded: is(|schema| schema.embedded), preserves: is(|schema| schema.preserve) }
    }

    /// What stands for a key: nothing, anything (`additionalProperties: true` prunes inside), a schema.
    fn key(&self, name: &str) -> Option<Rule<'a>> {
        let schema = self.schema?;
        match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => Some(Rule::of(Some(property))),
            (None, Some(Additional::Schema(other))) => Some(Rule::of(Some(other))),
            (None, Some(_)) => Some(Rule::of(None)),
            (None, None) => None,
        }
    }

    /// The items of a list that keeps unknown fields keep theirs.
    fn item(&self) -> Rule<'a> {
        let item = Rule::of(self.schema.and_then(|schema| schema.items.as_deref()));
        Rule { preserves: self.preserves || item.preserves, ..item }
    }
}

fn walk(value: &mut Value, rule: &Rule<'_>, path: &mut String, unknown: &mut Vec<String>) {
    let len = path.len();
    match value {
        Value::Map(map) => {
            if nothing_to_drop(map, rule) {
                return;
            }
            map.retain(|name, field| {
                if rule.embedded && META.contains(&name) {
                    return true;
                }
                let Some(below) = rule.key(name) else {
                    if rule.preserves {
                        return true;
                    }
                    if len > 0 || !META.contains(&name) {
                        unknown.push(if len == 0 { name.to_owned() } else { format!("{path}.{name}") });
                    }
                    return false;
                };
                if len > 0 {
                    path.push('.');
                }
                path.push_str(name);
                walk(field, &below, path, unknown);
                path.truncate(len);
                true
            });
        }
        Value::Seq(items) => {
            let below = rule.item();
            // Under preserve-unknown-fields only known items are looked into.
            if rule.preserves && below.schema.is_none() {
                return;
            }
            if items.iter().all(|item| !matches!(item, Value::Map(_) | Value::Seq(_))) {
                return;
            }
            for (at, item) in items.make_mut().iter_mut().enumerate() {
                path.push_str(&format!("[{at}]"));
                walk(item, &below, path, unknown);
                path.truncate(len);
            }
        }
        _ => {}
    }
}

/// Keeps a shared map shared when it holds known scalars only.
fn nothing_to_drop(map: &lynceus_object::Map, rule: &Rule<'_>) -> bool {
    map.iter().all(|(name, field)| {
        (rule.embedded && META.contains(&name.as_str()))
            || ((rule.preserves || rule.key(name).is_some())
                && !matches!(field, Value::Map(_) | Value::Seq(_)))
    })
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn pruned(schema: Value, mut object: Value) -> (Value, Vec<String>) {
        let unknown = prune(&mut object, &Schema::compile(&schema));
        (object, unknown)
    }

    #[test]
    fn unknown_fields_go_and_are_named() {
        let (object, unknown) = pruned(
            value!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "a": {"type": "integer"}, "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}}}}}}),
            value!({"apiVersion": "v", "kind": "K", "metadata": {"name": "x"}, "extra": 1,
                "spec": {"a": 1, "b": 2, "list": [{"n": "x", "m": 1}]}}),
        );
        assert_eq!(
            object,
            value!({"apiVersion": "v", "kind": "K", "metadata": {"name": "x"}, "spec": {"a": 1, "list": [{"n": "x"}]}})
        );
        assert_eq!(unknown, ["extra", "spec.b", "spec.list[0].m"]);
    }

    #[test]
    fn preserve_keeps_unknown_but_prunes_known_children() {
        let (object, unknown) = pruned(
            value!({"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}}}}}),
            value!({"spec": {"free": {"x": 1}, "known": {"a": "1", "b": "2"}}}),
        );
        assert_eq!(object, value!({"spec": {"free": {"x": 1}, "known": {"a": "1"}}}));
        assert_eq!(unknown, ["spec.known.b"]);
    }

    #[test]
    fn embedded_resources_keep_their_metadata() {
        let (object, _) = pruned(
            value!({"type": "object", "properties": {"template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object"}}}}}),
            value!({"template": {"apiVersion": "v1", "kind": "P", "metadata": {"name": "a"}, "spec": {"x": 1}, "y": 1}}),
        );
        assert_eq!(
            object,
            value!({"template": {"apiVersion": "v1", "kind": "P", "metadata": {"name": "a"}, "spec": {}}})
        );
    }
}
