//! Messages as definitions, made as they are referred to.

use std::collections::BTreeMap;

use lynceus_object::schema::{Field, Scalar, Shape, TypeRef};
use lynceus_object::{Value, value};

/// How the definition of a refusal is called.
pub(super) const ERROR: &str = "runtimeError";

/// The definitions of a description.
#[derive(Default)]
pub(super) struct Models {
    definitions: BTreeMap<String, Value>,
}

impl Models {
    /// The definitions by name, with that of a refusal among them.
    pub(super) fn into_definitions(mut self) -> Value {
        self.definitions.insert(ERROR.to_owned(), refusal());
        let mut all = value!({});
        for (name, definition) in self.definitions {
            all.set(&[&name], definition);
        }
        all
    }

    /// What stands for a type: a reference where it is a message, itself otherwise.
    pub(super) fn of(&mut self, ty: TypeRef<'_>) -> Value {
        match ty.shape() {
            Shape::Struct => self.message(ty),
            Shape::List(item, _) => value!({"type": "array", "items": self.of(item)}),
            Shape::Map(inner) => value!({"type": "object", "additionalProperties": self.of(inner)}),
            Shape::Scalar(kind) => scalar(kind),
            Shape::Any => value!({}),
        }
    }

    fn message(&mut self, ty: TypeRef<'_>) -> Value {
        let name = name(ty);
        if !self.definitions.contains_key(&name) {
            // The place is taken first: messages may hold themselves.
            self.definitions.insert(name.clone(), Value::Null);
            let definition = self.definition(ty);
            self.definitions.insert(name.clone(), definition);
        }
        reference(&name)
    }

    fn definition(&mut self, ty: TypeRef<'_>) -> Value {
        let mut definition = value!({"type": "object"});
        for (_, field, property) in beside().into_iter().filter(|(name, ..)| *name == ty.full_name()) {
            definition.set(&["properties", field], property);
        }
        for field in ty.fields() {
            let mut property = self.of(field.ty());
            if may_be_null(field) {
                property.set(&["x-nullable"], true);
            }
            definition.set(&["properties", field.name()], property);
        }
        definition
    }
}

/// Fields that Lynceus answers beside those of Argo CD, in messages of Argo CD.
fn beside() -> [(&'static str, &'static str, Value); 1] {
    let text = value!({"type": "string"});
    let writer = value!({"type": "object", "properties": {
        "manager": text.clone(), "operation": text.clone(), "time": text.clone(),
    }});
    let field = value!({"type": "object", "properties": {
        "path": text.clone(), "origin": text, "desired": {}, "live": {}, "writer": writer,
    }});
    let description = "The fields that differ, with who wrote them.";
    let fields = value!({"type": "array", "items": field, "description": description});
    [("v1alpha1.ResourceDiff", "fields", fields)]
}

/// A reference to a definition.
pub(super) fn reference(name: &str) -> Value {
    value!({"$ref": format!("#/definitions/{name}")})
}

/// The name of a message as Argo CD's description has it: the last word of its package before its own.
fn name(ty: TypeRef<'_>) -> String {
    let package = ty.full_name().rsplit_once('.').map_or("", |(package, _)| package);
    let package = match package.rsplit('/').next().unwrap_or_default() {
        // Two packages of Go are one in the definitions of the services; of the other only the name is older.
        "repositories" => "repository",
        "settings" => "cluster",
        package => package,
    };
    format!("{package}{}", ty.name())
}

/// Go writes a list, a map, a pointer or a time that is not there as `null`, unless the field says that it is left out.
fn may_be_null(field: Field<'_>) -> bool {
    let can = match field.ty().shape() {
        Shape::List(..) | Shape::Map(_) | Shape::Any => true,
        Shape::Scalar(kind) => !matches!(
            kind,
            Scalar::String
                | Scalar::Bool
                | Scalar::Int32
                | Scalar::Int64
                | Scalar::Float64
                | Scalar::Quantity
        ),
        Shape::Struct => false,
    };
    (can || field.is_pointer()) && !field.omits_empty() || is_time(field)
}

/// A time is a struct to Go, which is written even where the field says that it is left out if empty.
fn is_time(field: Field<'_>) -> bool {
    matches!(field.ty().shape(), Shape::Scalar(Scalar::Time | Scalar::MicroTime))
}

/// A value that is no message.
pub(super) fn scalar(kind: Scalar) -> Value {
    let text = |format: &str| value!({"type": "string", "format": format});
    let whole = |format: &str| value!({"type": "integer", "format": format});
    match kind {
        Scalar::String | Scalar::Duration | Scalar::Quantity => value!({"type": "string"}),
        Scalar::Bool => value!({"type": "boolean"}),
        Scalar::Int32 => whole("int32"),
        Scalar::Int64 => whole("int64"),
        Scalar::Float64 => value!({"type": "number", "format": "double"}),
        Scalar::Bytes => text("byte"),
        Scalar::Time | Scalar::MicroTime => text("date-time"),
        Scalar::Raw | Scalar::Fields => value!({"type": "object"}),
        Scalar::IntOrString
        | Scalar::Json
        | Scalar::SchemaOrArray
        | Scalar::SchemaOrBool
        | Scalar::SchemaOrStrings => value!({}),
    }
}

fn refusal() -> Value {
    let text = value!({"type": "string"});
    value!({"type": "object", "properties": {
        "code": {"type": "integer", "format": "int32", "description": "The number that gRPC has for it."},
        "error": text.clone(),
        "message": text,
    }})
}
