//! Reads OpenAPI schemas: of custom resources, and of whole documents that an API server publishes.

use std::collections::HashMap;

use super::model::{
    Arena, FieldDef, Flags, Id, ListType, MergeStrategy, Node, NodeKind, Scalar, Schema, StructDef, TypeRef,
};
use crate::limits::SCHEMA_DEPTH;
use crate::value::{Str, Value};

impl Schema {
    /// Reads the `openAPIV3Schema` of a custom resource. Its `apiVersion`, `kind` and `metadata` are
    /// those of every object, whatever the schema says of them.
    pub fn from_openapi(schema: &Value) -> Schema {
        let mut reader = Reader::new(None);
        let root = reader.read(schema, Marks { resource: true, ..Marks::default() }, 0);
        Schema { arena: reader.arena, root }
    }

    /// Reads one named schema of an OpenAPI v3 document, following its references.
    pub fn from_document(document: &Value, name: &str) -> Option<Schema> {
        let schemas = document.at(&["components", "schemas"])?;
        let schema = schemas.get(name)?;
        let mut reader = Reader::new(Some(schemas));
        let root = reader.read(schema, Marks::default(), 0);
        Some(Schema { arena: reader.arena, root })
    }
}

/// What a schema takes from where it stands.
#[derive(Clone, Copy, Default)]
struct Marks {
    resource: bool,
    preserve: bool,
}

struct Reader<'v> {
    arena: Arena,
    schemas: Option<&'v Value>,
    /// References that have been met; recursive ones find their place here.
    known: HashMap<Str, Id>,
}

impl<'v> Reader<'v> {
    fn new(schemas: Option<&'v Value>) -> Self {
        Reader { arena: Arena::new(), schemas, known: HashMap::new() }
    }

    fn add(&mut self, kind: NodeKind) -> Id {
        self.arena.add(Node { name: Str::new(), kind })
    }

    fn read(&mut self, schema: &Value, marks: Marks, depth: usize) -> Id {
        if depth > SCHEMA_DEPTH {
            return self.add(NodeKind::Any);
        }
        if let Some(name) = reference(schema) {
            return self.follow(schema, name, depth);
        }
        let flag = |name| schema.bool_at(&[name]).unwrap_or(false);
        let marks = Marks {
            resource: marks.resource || flag("x-kubernetes-embedded-resource"),
            preserve: marks.preserve || flag("x-kubernetes-preserve-unknown-fields"),
        };
        if flag("x-kubernetes-int-or-string") {
            return self.scalar(Scalar::IntOrString, schema);
        }
        let format = schema.str_at(&["format"]).unwrap_or_default();
        match schema.str_at(&["type"]).unwrap_or_default() {
            "object" => self.object(schema, marks, depth),
            "" if schema.get("properties").is_some() || marks.resource => self.object(schema, marks, depth),
            "array" => self.array(schema, marks, depth),
            "string" if format == "int-or-string" => self.scalar(Scalar::IntOrString, schema),
            "string" => self.scalar(Scalar::String, schema),
            "boolean" => self.scalar(Scalar::Bool, schema),
            "integer" if format == "int32" => self.scalar(Scalar::Int32, schema),
            "integer" => self.scalar(Scalar::Int64, schema),
            "number" => self.scalar(Scalar::Float64, schema),
            _ => self.add(NodeKind::Any),
        }
    }

    fn follow(&mut self, schema: &Value, name: &str, depth: usize) -> Id {
        let base = match self.known.get(name) {
            Some(id) => *id,
            None => {
                let Some(target) = self.schemas.and_then(|schemas| schemas.get(name)) else {
                    return self.add(NodeKind::Any);
                };
                // The place is taken first, so that a schema may refer to itself.
                let id = self.add(NodeKind::Any);
                self.known.insert(name.into(), id);
                let read = self.read(target, Marks::default(), depth + 1);
                self.arena.nodes[id as usize] = self.arena.nodes[read as usize].clone();
                id
            }
        };
        let Some(map_type) = schema.str_at(&["x-kubernetes-map-type"]) else { return base };
        let mut node = self.arena.nodes[base as usize].clone();
        if let NodeKind::Struct { atomic, .. } | NodeKind::Map { atomic, .. } = &mut node.kind {
            *atomic = map_type == "atomic";
        }
        self.arena.add(node)
    }

    fn scalar(&mut self, scalar: Scalar, schema: &Value) -> Id {
        let values = schema.items_at(&["enum"]).iter().filter_map(Value::as_str).map(Str::from).collect();
        self.add(NodeKind::Scalar(scalar, values))
    }

    fn object(&mut self, schema: &Value, marks: Marks, depth: usize) -> Id {
        let atomic = schema.str_at(&["x-kubernetes-map-type"]) == Some("atomic");
        let inner = Marks { resource: false, ..marks };
        let properties = schema.get("properties").and_then(Value::as_map);
        let rest = self.rest(schema, inner, depth);
        if properties.is_none_or(|map| map.is_empty()) && !marks.resource {
            let value = match rest {
                Some(id) => id,
                // A map that says nothing of its values takes any in server-side apply's eyes.
                None => self.add(NodeKind::Any),
            };
            return self.add(NodeKind::Map { value, atomic });
        }
        let required: Vec<&str> = schema.items_at(&["required"]).iter().filter_map(Value::as_str).collect();
        let mut structure = StructDef { rest, ..StructDef::default() };
        for (name, property) in properties.into_iter().flat_map(|map| map.iter()) {
            if marks.resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let ty = self.read(property, inner, depth + 1);
            let mut field = plain_field(name.clone(), ty);
            field.flags.required = required.contains(&name.as_str());
            field.flags.list_marker = property.get("x-kubernetes-list-type").is_some();
            field.merge = merge_strategy(property);
            field.default = property.get("default").cloned();
            structure.fields.push(field);
        }
        if marks.resource {
            self.add_resource_fields(&mut structure);
        }
        structure.fields.sort_by(|a, b| a.name.cmp(&b.name));
        let def = self.arena.structs.len() as u32;
        self.arena.structs.push(structure);
        self.add(NodeKind::Struct { def, atomic })
    }

    fn add_resource_fields(&mut self, structure: &mut StructDef) {
        let text = self.add(NodeKind::Scalar(Scalar::String, Vec::new()));
        structure.fields.push(plain_field("apiVersion".into(), text));
        structure.fields.push(plain_field("kind".into(), text));
        let meta = super::builtin().named("meta/v1.ObjectMeta").unwrap_or_else(TypeRef::untyped);
        let meta = self.add(NodeKind::Link(meta));
        structure.fields.push(plain_field("metadata".into(), meta));
    }

    /// The type of fields without a name of their own, if there may be any.
    fn rest(&mut self, schema: &Value, marks: Marks, depth: usize) -> Option<Id> {
        match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => Some(self.add(NodeKind::Any)),
            Some(inner @ Value::Map(_)) => Some(self.read(inner, marks, depth + 1)),
            _ if marks.preserve => Some(self.add(NodeKind::Any)),
            _ => None,
        }
    }

    fn array(&mut self, schema: &Value, marks: Marks, depth: usize) -> Id {
        let inner = Marks { resource: false, ..marks };
        let item = match schema.get("items") {
            Some(items) => self.read(items, inner, depth + 1),
            None => self.add(NodeKind::Any),
        };
        self.add(NodeKind::List { item, list: list_type(schema), wrapped: false })
    }
}

fn plain_field(name: Str, ty: Id) -> FieldDef {
    let (merge, via) = (MergeStrategy::default(), Str::new());
    FieldDef { name, ty, number: 0, flags: optional(), merge, default: None, via, place: 0 }
}

/// Fields of a custom resource are never printed unless they are there.
fn optional() -> Flags {
    Flags { pointer: true, omit_empty: true, ..Flags::default() }
}

fn reference(schema: &Value) -> Option<&str> {
    let text = schema.str_at(&["$ref"]).or_else(|| match schema.items_at(&["allOf"]) {
        [only] => only.str_at(&["$ref"]),
        _ => None,
    })?;
    text.rsplit_once('/').map(|(_, name)| name)
}

fn merge_strategy(schema: &Value) -> MergeStrategy {
    let words = schema.str_at(&["x-kubernetes-patch-strategy"]).unwrap_or_default();
    let has = |word| words.split(',').any(|found| found == word);
    MergeStrategy {
        merge: has("merge"),
        replace: has("replace"),
        retain_keys: has("retainKeys"),
        key: schema.str_at(&["x-kubernetes-patch-merge-key"]).map(Str::from),
    }
}

fn list_type(schema: &Value) -> ListType {
    match schema.str_at(&["x-kubernetes-list-type"]) {
        Some("map") => ListType::Map(
            schema
                .items_at(&["x-kubernetes-list-map-keys"])
                .iter()
                .filter_map(Value::as_str)
                .map(Str::from)
                .collect(),
        ),
        Some("set") => ListType::Set,
        Some(_) => ListType::Atomic,
        None => match merge_strategy(schema) {
            MergeStrategy { merge: true, key: Some(key), .. } => ListType::Map(vec![key]),
            MergeStrategy { merge: true, key: None, .. } => ListType::Set,
            _ => ListType::Atomic,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Shape;
    use crate::value;

    #[test]
    fn list_kinds_and_map_kinds_are_read() {
        let schema = Schema::from_openapi(&value!({
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {
                "items": {
                    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": {"type": "string", "default": "a"}}},
                },
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "plain": {"type": "array", "items": {"type": "string"}},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic",
                    "properties": {"a": {"type": "string"}}},
                "either": {"x-kubernetes-int-or-string": true},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "map": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}},
            }}},
        }));
        let spec = schema.root().field("spec").expect("spec").ty();
        let ty = |name| spec.field(name).expect(name).ty();
        assert_eq!(*ty("items").list_type(), ListType::Map(vec!["name".into()]));
        let item = ty("items").item().expect("item");
        assert_eq!(item.field("name").expect("name").default(), Some(&"a".into()));
        assert_eq!(*ty("tags").list_type(), ListType::Set);
        assert_eq!(*ty("plain").list_type(), ListType::Atomic);
        assert!(ty("whole").is_atomic());
        assert!(matches!(ty("either").shape(), Shape::Scalar(Scalar::IntOrString)));
        assert!(ty("free").child("x").expect("any").is_untyped());
        assert!(matches!(ty("map").child("x").expect("int").shape(), Shape::Scalar(Scalar::Int32)));
        assert!(spec.child("unknown").is_none());
    }

    #[test]
    fn metadata_is_that_of_every_object() {
        let schema =
            Schema::from_openapi(&value!({"type": "object", "properties": {"metadata": {"type": "object"}}}));
        let meta = schema.root().field("metadata").expect("metadata").ty();
        assert_eq!(meta.go_name(), "v1.ObjectMeta");
    }

    #[test]
    fn references_may_be_recursive() {
        let document = value!({"components": {"schemas": {"Node": {
            "type": "object",
            "properties": {"next": {"allOf": [{"$ref": "#/components/schemas/Node"}]}, "n": {"type": "string"}},
        }}}});
        let schema = Schema::from_document(&document, "Node").expect("Node");
        let next = schema.root().field("next").expect("next").ty();
        assert!(next.field("next").expect("next").ty().field("n").is_some());
    }

    #[test]
    fn a_schema_that_is_too_deep_ends_in_untyped() {
        let mut schema = value!({"type": "string"});
        for _ in 0..SCHEMA_DEPTH + 10 {
            schema = value!({"type": "object", "properties": {"a": serde_json::Value::from(&schema)}});
        }
        Schema::from_openapi(&schema);
    }
}
