//! Models: the types of the schema table as OpenAPI schemas.

use std::collections::BTreeMap;

use lynceus_object::schema::{self, Field, ListType, Scalar, Shape, TypeRef};
use lynceus_object::{Gvk, Value, value};

use super::{name, words};
use crate::kinds::{self, Resource};

/// The two versions of OpenAPI, where they differ in how a schema is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    V2,
    V3,
}

/// The models of one document, made as they are referred to.
pub(super) struct Models {
    pub(super) dialect: Dialect,
    schemas: BTreeMap<String, Value>,
}

impl Models {
    pub(super) fn new(dialect: Dialect) -> Self {
        Models { dialect, schemas: BTreeMap::new() }
    }

    /// The models, by name.
    pub(super) fn into_schemas(self) -> Value {
        let mut schemas = value!({});
        for (name, schema) in self.schemas {
            schemas.set(&[&name], schema);
        }
        schemas
    }

    /// A reference to the model of a built-in kind; to nothing if the table has no such kind.
    pub(super) fn kind(&mut self, gvk: &Gvk) -> Value {
        match schema::builtin().of(gvk) {
            Some(ty) => self.reference_to(ty),
            None => value!({"type": "object"}),
        }
    }

    /// A reference to one of the kinds that every group shares.
    pub(super) fn shared(&mut self, kind: &str) -> Value {
        match schema::builtin().named(&format!("meta/v1.{kind}")) {
            Some(ty) => self.reference_to(ty),
            None => self
                .special(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"), value!({"type": "object"})),
        }
    }

    /// A reference to the model of a resource's objects, or of a list of them.
    pub(super) fn resource(&mut self, resource: &Resource, list: bool) -> Value {
        let kind = if list { &resource.list_kind } else { &resource.kind };
        if resource.custom.is_none() {
            return self.kind(&Gvk::new(resource.group.clone(), resource.version.clone(), kind.clone()));
        }
        let model = name::custom_model(resource, kind);
        if !self.schemas.contains_key(&model) {
            self.schemas.insert(model.clone(), Value::Null);
            let mut schema = if list { self.custom_list(resource) } else { self.custom(resource) };
            schema.set(
                &["x-kubernetes-group-version-kind"],
                vec![gvk_value(&resource.group, &resource.version, kind)],
            );
            self.schemas.insert(model.clone(), schema);
        }
        self.reference(&model)
    }

    fn reference(&self, model: &str) -> Value {
        let place = match self.dialect {
            Dialect::V2 => "definitions",
            Dialect::V3 => "components/schemas",
        };
        value!({"$ref": format!("#/{place}/{model}")})
    }

    /// A reference with something to say beside it, which version 3 does not allow directly.
    fn described(&self, reference: Value, description: &str, default: Option<&Value>) -> Value {
        let mut schema = reference;
        if self.dialect == Dialect::V3 && (!description.is_empty() || default.is_some()) {
            schema = value!({"allOf": [schema]});
        }
        if !description.is_empty() {
            schema.set(&["description"], description);
        }
        if let (Dialect::V3, Some(default)) = (self.dialect, default) {
            schema.set(&["default"], default.clone());
        }
        schema
    }

    fn special(&mut self, model: &str, schema: Value) -> Value {
        self.schemas.entry(model.to_owned()).or_insert(schema);
        self.reference(model)
    }

    fn reference_to(&mut self, ty: TypeRef<'_>) -> Value {
        let model = name::model(ty.full_name());
        if !self.schemas.contains_key(&model) {
            // The place is taken first: types may refer to themselves.
            self.schemas.insert(model.clone(), Value::Null);
            let schema = self.structure(ty);
            self.schemas.insert(model.clone(), schema);
        }
        self.reference(&model)
    }

    fn structure(&mut self, ty: TypeRef<'_>) -> Value {
        let full_name = ty.full_name();
        let mut schema = value!({"type": "object"});
        let description = words::of_type(full_name);
        if !description.is_empty() {
            schema.set(&["description"], description);
        }
        let mut required = Vec::new();
        let mut properties = value!({});
        for field in ty.fields() {
            if field.is_required() {
                required.push(field.name().to_owned());
            }
            let property = self.property(field, words::of_field(full_name, field.name()));
            properties.set(&[field.name()], property);
        }
        if !required.is_empty() {
            schema.set(&["required"], required);
        }
        if ty.fields().len() > 0 {
            schema.set(&["properties"], properties);
        }
        if ty.is_atomic() {
            schema.set(&["x-kubernetes-map-type"], "atomic");
        }
        let kinds = kinds_of(full_name);
        if !kinds.is_empty() {
            schema.set(&["x-kubernetes-group-version-kind"], kinds);
        }
        schema
    }

    fn property(&mut self, field: Field<'_>, description: &str) -> Value {
        let ty = field.ty();
        let mut schema = match self.referred(ty) {
            Some(reference) => {
                let structure = matches!(ty.shape(), Shape::Struct);
                let empty = value!({});
                let default = (structure && !field.is_pointer()).then_some(&empty);
                self.described(reference, description, default)
            }
            None => {
                let mut schema = self.inline(ty);
                if !description.is_empty() {
                    schema.set(&["description"], description);
                }
                if let (Dialect::V3, Some(default)) = (self.dialect, field.default()) {
                    schema.set(&["default"], default.clone());
                }
                schema
            }
        };
        if field.has_list_marker() {
            match field.list_type() {
                ListType::Atomic => schema.set(&["x-kubernetes-list-type"], "atomic"),
                ListType::Set => schema.set(&["x-kubernetes-list-type"], "set"),
                ListType::Map(keys) => {
                    schema.set(&["x-kubernetes-list-type"], "map");
                    schema.set(&["x-kubernetes-list-map-keys"], keys.clone());
                }
            }
        }
        if matches!(ty.shape(), Shape::Map(_)) && ty.is_atomic() {
            schema.set(&["x-kubernetes-map-type"], "atomic");
        }
        patch_strategy(field, &mut schema);
        schema
    }

    /// The reference that stands for a type, where it has a model of its own.
    fn referred(&mut self, ty: TypeRef<'_>) -> Option<Value> {
        const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
        const EXTENSIONS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
        let text = |format: &str| value!({"type": "string", "format": format});
        Some(match ty.shape() {
            Shape::Struct if !ty.full_name().is_empty() => self.reference_to(ty),
            Shape::Scalar(Scalar::Time) => self.special(&format!("{META}.Time"), text("date-time")),
            Shape::Scalar(Scalar::MicroTime) => self.special(&format!("{META}.MicroTime"), text("date-time")),
            Shape::Scalar(Scalar::Duration) => {
                self.special(&format!("{META}.Duration"), value!({"type": "string"}))
            }
            Shape::Scalar(Scalar::Fields) => {
                self.special(&format!("{META}.FieldsV1"), value!({"type": "object"}))
            }
            Shape::Scalar(Scalar::IntOrString) => {
                let schema = match self.dialect {
                    Dialect::V2 => text("int-or-string"),
                    Dialect::V3 => {
                        value!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
                    }
                };
                self.special("io.k8s.apimachinery.pkg.util.intstr.IntOrString", schema)
            }
            Shape::Scalar(Scalar::Quantity) => {
                let schema = match self.dialect {
                    Dialect::V2 => value!({"type": "string"}),
                    Dialect::V3 => value!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
                };
                self.special("io.k8s.apimachinery.pkg.api.resource.Quantity", schema)
            }
            Shape::Scalar(Scalar::Raw) => {
                self.special("io.k8s.apimachinery.pkg.runtime.RawExtension", value!({"type": "object"}))
            }
            Shape::Scalar(Scalar::Json) => self.special(&format!("{EXTENSIONS}.JSON"), value!({})),
            Shape::Scalar(Scalar::SchemaOrArray) => {
                self.special(&format!("{EXTENSIONS}.JSONSchemaPropsOrArray"), value!({}))
            }
            Shape::Scalar(Scalar::SchemaOrBool) => {
                self.special(&format!("{EXTENSIONS}.JSONSchemaPropsOrBool"), value!({}))
            }
            Shape::Scalar(Scalar::SchemaOrStrings) => {
                self.special(&format!("{EXTENSIONS}.JSONSchemaPropsOrStringArray"), value!({}))
            }
            _ => return None,
        })
    }

    fn inline(&mut self, ty: TypeRef<'_>) -> Value {
        match ty.shape() {
            Shape::List(item, _) => {
                let items = self.item(item);
                value!({"type": "array", "items": items})
            }
            Shape::Map(value) => {
                let values = self.item(value);
                value!({"type": "object", "additionalProperties": values})
            }
            Shape::Scalar(scalar) => {
                let mut schema = plain(scalar);
                if !ty.values().is_empty() {
                    schema.set(&["enum"], ty.values().to_vec());
                }
                schema
            }
            Shape::Struct | Shape::Any => value!({"type": "object"}),
        }
    }

    /// The schema of what a list or map holds.
    fn item(&mut self, ty: TypeRef<'_>) -> Value {
        match self.referred(ty) {
            Some(reference) => {
                let empty = value!({});
                let structure = matches!(ty.shape(), Shape::Struct);
                self.described(reference, "", structure.then_some(&empty))
            }
            None => {
                let mut schema = self.inline(ty);
                let zero = match ty.shape() {
                    Shape::Scalar(Scalar::String) => Some(Value::from("")),
                    Shape::Scalar(Scalar::Int32 | Scalar::Int64) => Some(Value::Int(0)),
                    _ => None,
                };
                if let (Dialect::V3, Some(zero)) = (self.dialect, zero) {
                    schema.set(&["default"], zero);
                }
                schema
            }
        }
    }

    /// The schema of a custom resource as its definition gives it, with the metadata of every object.
    fn custom(&mut self, resource: &Resource) -> Value {
        let given = custom_schema(resource);
        let open = given.is_none()
            || given.as_ref().is_some_and(|schema| {
                schema.bool_at(&["x-kubernetes-preserve-unknown-fields"]) == Some(true)
            });
        let mut schema =
            given.unwrap_or_else(|| value!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
        if open && self.dialect == Dialect::V2 {
            // Version 2 has no word for "anything else may stand here" that clients understand.
            return value!({"type": "object"});
        }
        let metadata = self.shared("ObjectMeta");
        let metadata = self.described(metadata, words::of_field("", "metadata"), None);
        for field in ["apiVersion", "kind"] {
            schema.set(
                &["properties", field],
                value!({"type": "string", "description": words::of_field("", field)}),
            );
        }
        schema.set(&["properties", "metadata"], metadata);
        schema
    }

    fn custom_list(&mut self, resource: &Resource) -> Value {
        let item = self.resource(resource, false);
        let metadata = self.shared("ListMeta");
        let metadata = self.described(metadata, words::of_field("", "metadata"), None);
        let text = |field: &str| value!({"type": "string", "description": words::of_field("", field)});
        value!({
            "type": "object", "required": ["items"],
            "description": format!("A list of {}.", resource.kind),
            "properties": {
                "apiVersion": text("apiVersion"), "kind": text("kind"), "metadata": metadata,
                "items": {"type": "array", "items": item, "description": words::of_field("", "items")},
            },
        })
    }
}

/// The schema that a definition gives a custom resource.
pub(super) fn custom_schema(resource: &Resource) -> Option<Value> {
    resource.custom.as_deref().and_then(crate::crd::openapi)
}

fn plain(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Bool => value!({"type": "boolean"}),
        Scalar::Int32 => value!({"type": "integer", "format": "int32"}),
        Scalar::Int64 => value!({"type": "integer", "format": "int64"}),
        Scalar::Float64 => value!({"type": "number", "format": "double"}),
        Scalar::Bytes => value!({"type": "string", "format": "byte"}),
        _ => value!({"type": "string"}),
    }
}

fn patch_strategy(field: Field<'_>, schema: &mut Value) {
    let merge = field.merge();
    let words = [(merge.merge, "merge"), (merge.replace, "replace"), (merge.retain_keys, "retainKeys")];
    let words: Vec<&str> = words.into_iter().filter(|(set, _)| *set).map(|(_, word)| word).collect();
    if !words.is_empty() {
        schema.set(&["x-kubernetes-patch-strategy"], words.join(","));
    }
    if let Some(key) = &merge.key {
        schema.set(&["x-kubernetes-patch-merge-key"], key.clone());
    }
}

/// A group, version and kind as operations and models name it.
pub(super) fn gvk_value(group: &str, version: &str, kind: &str) -> Value {
    value!({"group": group, "kind": kind, "version": version})
}

/// The kinds that a model stands for; kinds that every group shares stand for one in each.
fn kinds_of(full_name: &str) -> Vec<Value> {
    let Some((package, kind)) = full_name.rsplit_once('.') else { return Vec::new() };
    if package == "meta/v1" {
        let shared = matches!(kind, "DeleteOptions" | "WatchEvent");
        let single =
            matches!(kind, "Status" | "APIGroup" | "APIGroupList" | "APIResourceList" | "APIVersions");
        let mut versions: Vec<(&str, &str)> = match (shared, single) {
            (true, _) => kinds::resources().iter().map(|r| (r.group.as_str(), r.version.as_str())).collect(),
            (_, true) => vec![("", "v1")],
            _ => Vec::new(),
        };
        versions.sort_unstable();
        versions.dedup();
        return versions.into_iter().map(|(group, version)| gvk_value(group, version, kind)).collect();
    }
    let found = schema::builtin().kinds().filter(|(version, known)| {
        *known == kind
            && schema::builtin().of_manifest(version, known).is_some_and(|ty| ty.full_name() == full_name)
    });
    found
        .map(|(api_version, kind)| {
            let (group, version) = lynceus_object::split_api_version(api_version);
            gvk_value(group, version, kind)
        })
        .collect()
}
