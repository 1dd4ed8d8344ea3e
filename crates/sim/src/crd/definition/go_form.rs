//! Parts of a definition as messages show them: the JSON of the original's own types, every field
//! there, by its Go name and in the order of the type.

use lynceus_object::{Map, Value};

use crate::crd::shown::json;

/// How a field that is not set looks.
#[derive(Clone, Copy)]
enum Zero {
    Text,
    Flag,
    Number,
    Null,
}

use Zero::{Flag, Null, Number, Text};

/// The fields of a schema: Go name, name in the manifest, and how it looks when it is not set.
const SCHEMA: [(&str, &str, Zero); 44] = [
    ("ID", "id", Text),
    ("Schema", "$schema", Text),
    ("Ref", "$ref", Null),
    ("Description", "description", Text),
    ("Type", "type", Text),
    ("Nullable", "nullable", Flag),
    ("Format", "format", Text),
    ("Title", "title", Text),
    ("Default", "default", Null),
    ("Maximum", "maximum", Null),
    ("ExclusiveMaximum", "exclusiveMaximum", Flag),
    ("Minimum", "minimum", Null),
    ("ExclusiveMinimum", "exclusiveMinimum", Flag),
    ("MaxLength", "maxLength", Null),
    ("MinLength", "minLength", Null),
    ("Pattern", "pattern", Text),
    ("MaxItems", "maxItems", Null),
    ("MinItems", "minItems", Null),
    ("UniqueItems", "uniqueItems", Flag),
    ("MultipleOf", "multipleOf", Null),
    ("Enum", "enum", Null),
    ("MaxProperties", "maxProperties", Null),
    ("MinProperties", "minProperties", Null),
    ("Required", "required", Null),
    ("Items", "items", Null),
    ("AllOf", "allOf", Null),
    ("OneOf", "oneOf", Null),
    ("AnyOf", "anyOf", Null),
    ("Not", "not", Null),
    ("Properties", "properties", Null),
    ("AdditionalProperties", "additionalProperties", Null),
    ("PatternProperties", "patternProperties", Null),
    ("Dependencies", "dependencies", Null),
    ("AdditionalItems", "additionalItems", Null),
    ("Definitions", "definitions", Null),
    ("ExternalDocs", "externalDocs", Null),
    ("Example", "example", Null),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Null),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Flag),
    ("XIntOrString", "x-kubernetes-int-or-string", Flag),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Null),
    ("XListType", "x-kubernetes-list-type", Null),
    ("XMapType", "x-kubernetes-map-type", Null),
    ("XValidations", "x-kubernetes-validations", Null),
];

const RULE: [(&str, &str, Zero); 6] = [
    ("Rule", "rule", Text),
    ("Message", "message", Text),
    ("MessageExpression", "messageExpression", Text),
    ("Reason", "reason", Null),
    ("FieldPath", "fieldPath", Text),
    ("OptionalOldSelf", "optionalOldSelf", Null),
];

const VERSION: [(&str, &str, Zero); 9] = [
    ("Name", "name", Text),
    ("Served", "served", Flag),
    ("Storage", "storage", Flag),
    ("Deprecated", "deprecated", Flag),
    ("DeprecationWarning", "deprecationWarning", Null),
    ("Schema", "schema", Null),
    ("Subresources", "subresources", Null),
    ("AdditionalPrinterColumns", "additionalPrinterColumns", Null),
    ("SelectableFields", "selectableFields", Null),
];

const COLUMN: [(&str, &str, Zero); 6] = [
    ("Name", "name", Text),
    ("Type", "type", Text),
    ("Format", "format", Text),
    ("Description", "description", Text),
    ("Priority", "priority", Number),
    ("JSONPath", "jsonPath", Text),
];

/// A rule of `x-kubernetes-validations`.
pub(super) fn rule(value: &Value) -> String {
    fields(value, &RULE, |_, value| json(value))
}

/// A schema.
pub(super) fn schema(value: &Value) -> String {
    fields(value, &SCHEMA, |name, value| match name {
        "allOf" | "oneOf" | "anyOf" => list(value, schema),
        "not" => schema(value),
        "properties" | "patternProperties" | "definitions" => map(value, schema),
        "items" => match value {
            Value::Seq(_) => format!("{{\"Schema\":null,\"JSONSchemas\":{}}}", list(value, schema)),
            one => format!("{{\"Schema\":{},\"JSONSchemas\":null}}", schema(one)),
        },
        "additionalProperties" | "additionalItems" => match value {
            Value::Bool(allows) => format!("{{\"Allows\":{allows},\"Schema\":null}}"),
            one => format!("{{\"Allows\":true,\"Schema\":{}}}", schema(one)),
        },
        "externalDocs" => {
            let word = |field: &str| json(&value.str_at(&[field]).unwrap_or_default().into());
            format!("{{\"Description\":{},\"URL\":{}}}", word("description"), word("url"))
        }
        "x-kubernetes-validations" => list(value, rule),
        _ => json(value),
    })
}

/// The versions of a definition, without the parts that were moved up.
pub(super) fn versions(versions: &[Value], is_shared: impl Fn(&str) -> bool) -> String {
    let shown = versions.iter().map(|version| {
        fields(version, &VERSION, |name, value| match name {
            name if is_shared(name) => "null".into(),
            "schema" => {
                let root = value.get("openAPIV3Schema").map_or_else(|| "null".into(), schema);
                format!("{{\"OpenAPIV3Schema\":{root}}}")
            }
            "subresources" => subresources(value),
            "additionalPrinterColumns" => {
                list(value, |column| fields(column, &COLUMN, |_, value| json(value)))
            }
            "selectableFields" => list(value, |field| {
                format!("{{\"JSONPath\":{}}}", json(&field.str_at(&["jsonPath"]).unwrap_or_default().into()))
            }),
            _ => json(value),
        })
    });
    format!("[{}]", shown.collect::<Vec<_>>().join(","))
}

fn subresources(value: &Value) -> String {
    const SCALE: [(&str, &str, Zero); 3] = [
        ("SpecReplicasPath", "specReplicasPath", Text),
        ("StatusReplicasPath", "statusReplicasPath", Text),
        ("LabelSelectorPath", "labelSelectorPath", Null),
    ];
    let status = if value.get("status").is_some_and(|status| !status.is_null()) { "{}" } else { "null" };
    let scale = match value.get("scale").filter(|scale| !scale.is_null()) {
        Some(scale) => fields(scale, &SCALE, |_, value| json(value)),
        None => "null".into(),
    };
    format!("{{\"Status\":{status},\"Scale\":{scale}}}")
}

fn fields(value: &Value, table: &[(&str, &str, Zero)], show: impl Fn(&str, &Value) -> String) -> String {
    let parts = table.iter().map(|(go, name, zero)| {
        let shown = match value.get(name).filter(|field| !field.is_null()) {
            Some(field) => show(name, field),
            None => match zero {
                Text => "\"\"",
                Flag => "false",
                Number => "0",
                Null => "null",
            }
            .into(),
        };
        format!("\"{go}\":{shown}")
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

fn list(value: &Value, show: impl Fn(&Value) -> String) -> String {
    let items: Vec<String> = value.as_seq().unwrap_or_default().iter().map(show).collect();
    format!("[{}]", items.join(","))
}

fn map(value: &Value, show: impl Fn(&Value) -> String) -> String {
    let entries = value.as_map().into_iter().flat_map(Map::iter);
    let entries: Vec<String> =
        entries.map(|(name, value)| format!("{}:{}", json(&name.clone().into()), show(value))).collect();
    format!("{{{}}}", entries.join(","))
}
