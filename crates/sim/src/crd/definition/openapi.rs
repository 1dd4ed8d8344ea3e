//! The rules for schemas that are not about structure: which keywords, list types, rules.

use lynceus_object::{Object, Value};

use super::{defaults, go_form, structural};
use crate::crd::format::Format;
use crate::crd::schema::Schema;
use crate::crd::shown::{json, quoted};
use crate::crd::{field_path, rule};
use crate::error::FieldError;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// What may stand at the root when status is a subresource, by the names that messages use.
const AT_ROOT: [(&str, &str); 22] = [
    ("description", "Description"),
    ("type", "Type"),
    ("format", "Format"),
    ("title", "Title"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("required", "Required"),
    ("items", "Items"),
    ("properties", "Properties"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
    ("x-kubernetes-validations", "XValidations"),
];

/// Validates the `schema` (or `validation`) part of a definition. `path` names that part.
pub(super) fn validate(part: &Value, has_status: bool, path: &str, errors: &mut Vec<FieldError>) {
    let Some(schema) = part.get("openAPIV3Schema").filter(|schema| !schema.is_null()) else { return };
    let start = errors.len();
    if has_status {
        root_with_status(schema, path, errors);
    }
    let path = format!("{path}.openAPIV3Schema");
    if schema.bool_at(&["nullable"]) == Some(true) {
        errors.push(FieldError::forbidden(format!("{path}.nullable"), "nullable cannot be true at the root"));
    }
    let mut late = None;
    let mut rules_known = false;
    let compiled = Schema::compile(schema);
    if let Some(problem) = structural::unsupported(schema) {
        late = Some(FieldError::invalid(path.clone(), quoted(""), problem));
    } else {
        let mut problems = structural::validate(schema, &path);
        if problems.is_empty() {
            problems = defaults::validate(&compiled, schema, &path);
        }
        rules_known = problems.is_empty();
        errors.extend(problems);
    }
    let walk = Walk { rules_known };
    let mut found = Found::default();
    walk.node(schema, Some(&compiled), &path, Place::root(), &mut found);
    errors.extend(found.schema);
    errors.extend(found.rules);
    if errors.len() == start {
        errors.extend(late);
    }
}

fn root_with_status(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let ty = schema.str_at(&["type"]).unwrap_or_default();
    for (name, value) in schema.as_map().into_iter().flat_map(lynceus_object::Map::iter) {
        if value.is_empty() || matches!(value, Value::Bool(false)) {
            continue;
        }
        if name == "type" && ty != "object" {
            let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            errors.push(FieldError::invalid(format!("{path}.openAPIV3Schema.type"), quoted(ty), detail));
            return;
        }
        if !AT_ROOT.iter().any(|(known, _)| known == name) {
            let names: Vec<&str> = AT_ROOT.iter().map(|(_, name)| *name).collect();
            let detail = format!(
                "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
                names.join(" ")
            );
            errors.push(FieldError::invalid(
                format!("{path}.openAPIV3Schema"),
                go_form::schema(schema),
                detail,
            ));
            return;
        }
    }
}

#[derive(Default)]
struct Found {
    schema: Vec<FieldError>,
    rules: Vec<FieldError>,
}

/// Where in the schema we are, as far as it changes what is allowed.
#[derive(Clone, Default)]
struct Place {
    is_root: bool,
    inside_meta: bool,
    no_defaults: Option<String>,
    /// The first ancestor whose items cannot be found again in an old object.
    uncorrelated: Option<String>,
}

impl Place {
    fn root() -> Self {
        Place { is_root: true, ..Place::default() }
    }

    fn below(&self) -> Self {
        Place { is_root: false, ..self.clone() }
    }
}

struct Walk {
    rules_known: bool,
}

impl Walk {
    fn node(&self, schema: &Value, compiled: Option<&Schema>, path: &str, place: Place, found: &mut Found) {
        let before = found.schema.len();
        keywords(schema, path, &place, &mut found.schema);
        if schema.bool_at(&["uniqueItems"]) == Some(true) {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            found.schema.push(FieldError::forbidden(format!("{path}.uniqueItems"), detail));
        }
        let has_properties = schema.get("properties").is_some_and(|properties| !properties.is_empty());
        if has_properties
            && matches!(schema.get("additionalProperties"), Some(Value::Map(_) | Value::Bool(false)))
        {
            let detail = "additionalProperties and properties are mutual exclusive";
            found.schema.push(FieldError::forbidden(format!("{path}.additionalProperties"), detail));
        }
        self.children(schema, compiled, path, &place, found);
        extensions(schema, path, &mut found.schema);
        rule_words(schema, compiled, path, &mut found.schema);
        if let (true, true, Some(compiled)) = (found.schema.len() == before, self.rules_known, compiled) {
            rules(schema, compiled, path, &place, &mut found.rules);
        }
    }

    fn children(
        &self,
        schema: &Value,
        compiled: Option<&Schema>,
        path: &str,
        place: &Place,
        found: &mut Found,
    ) {
        let embedded = schema.bool_at(&["x-kubernetes-embedded-resource"]).unwrap_or(false);
        for (relative, child) in structural::children(schema) {
            let mut below = place.below();
            let mut child_compiled = None;
            if let Some(name) = relative.strip_prefix("properties[").and_then(|name| name.strip_suffix(']')) {
                child_compiled = compiled.and_then(|compiled| compiled.properties.get(name));
                if (place.is_root || embedded) && matches!(name, "metadata" | "kind" | "apiVersion") {
                    below.inside_meta = true;
                    if place.is_root {
                        below.no_defaults = Some(format!("in top-level {name}"));
                    }
                }
            } else if relative == "additionalProperties" {
                child_compiled = compiled.and_then(|compiled| compiled.field("\u{0}"));
                if place.inside_meta {
                    below.no_defaults =
                        Some("inside additionalProperties applying to object metadata".into());
                }
            } else if relative == "items" {
                child_compiled = compiled.and_then(|compiled| compiled.items.as_deref());
                if schema.str_at(&["x-kubernetes-list-type"]) != Some("map") && below.uncorrelated.is_none() {
                    below.uncorrelated = Some(path.to_owned());
                }
            }
            self.node(child, child_compiled, &format!("{path}.{relative}"), below, found);
        }
    }
}

fn keywords(schema: &Value, path: &str, place: &Place, errors: &mut Vec<FieldError>) {
    let set = |name: &str| schema.get(name).is_some_and(|value| !value.is_null());
    let ty = schema.str_at(&["type"]).unwrap_or_default();
    if !ty.is_empty() && !TYPES.contains(&ty) {
        errors.push(FieldError::not_supported(format!("{path}.type"), quoted(ty), &TYPES));
    }
    if let (true, Some(reason)) = (set("default"), &place.no_defaults) {
        errors.push(FieldError::forbidden(format!("{path}.default"), format!("must not be set {reason}")));
    }
    for name in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if set(name) && schema.get(name).is_some_and(|value| !value.is_empty() || name == "additionalItems") {
            errors.push(FieldError::forbidden(format!("{path}.{name}"), format!("{name} is not supported")));
        }
    }
    if ty == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(format!("{path}.type"), detail));
    }
    if matches!(schema.get("items"), Some(Value::Seq(_))) {
        let detail = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(format!("{path}.items"), detail));
    }
    if place.inside_meta && schema.bool_at(&["x-kubernetes-embedded-resource"]) == Some(true) {
        let detail = "must not be used inside of resource meta";
        errors.push(FieldError::forbidden(format!("{path}.x-kubernetes-embedded-resource"), detail));
    }
}

fn extensions(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let ty = schema.str_at(&["type"]).unwrap_or_default();
    if schema.bool_at(&["x-kubernetes-preserve-unknown-fields"]) == Some(false) {
        let field = format!("{path}.x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(field, "false", "must be true or undefined"));
    }
    let mut needs_type = |extension: &str, wanted: &str| {
        let detail = format!("must be {wanted} if {extension} is specified");
        let field = format!("{path}.type");
        match ty {
            ty if ty == wanted => return true,
            "" => errors.push(FieldError::required(field, detail)),
            ty => errors.push(FieldError::invalid(field, quoted(ty), detail)),
        }
        false
    };
    let map_type = schema.str_at(&["x-kubernetes-map-type"]);
    if map_type.is_some() {
        needs_type("x-kubernetes-map-type", "object");
    }
    let list_type = schema.str_at(&["x-kubernetes-list-type"]);
    let is_array = list_type.is_some() && needs_type("x-kubernetes-list-type", "array");
    if let Some(map_type) = map_type.filter(|map_type| !matches!(*map_type, "atomic" | "granular")) {
        let field = format!("{path}.x-kubernetes-map-type");
        errors.push(FieldError::not_supported(field, quoted(map_type), &["atomic", "granular"]));
    }
    if list_type == Some("set") && is_array {
        atomic_items(schema, path, errors);
    }
    if let Some(list_type) = list_type.filter(|list_type| !matches!(*list_type, "atomic" | "set" | "map")) {
        let field = format!("{path}.x-kubernetes-list-type");
        errors.push(FieldError::not_supported(field, quoted(list_type), &["atomic", "set", "map"]));
    }
    map_keys(schema, list_type, path, errors);
}

fn atomic_items(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(items) = schema.get("items") else { return };
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list_type = items.str_at(&["x-kubernetes-list-type"]);
    match items.str_at(&["type"]) {
        Some("array") if list_type.is_some_and(|list_type| list_type != "atomic") => {
            let shown = list_type.map_or("null".into(), quoted);
            errors.push(FieldError::invalid(format!("{path}.items.x-kubernetes-list-type"), shown, detail));
        }
        Some("object") if items.str_at(&["x-kubernetes-map-type"]) != Some("atomic") => {
            let shown = list_type.map_or("null".into(), quoted);
            errors.push(FieldError::invalid(format!("{path}.items.x-kubernetes-map-type"), shown, detail));
        }
        _ => {}
    }
}

fn map_keys(schema: &Value, list_type: Option<&str>, path: &str, errors: &mut Vec<FieldError>) {
    let keys = schema.items_at(&["x-kubernetes-list-map-keys"]);
    let field = format!("{path}.x-kubernetes-list-type");
    if !keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => FieldError::required(field, detail),
            Some(other) => FieldError::invalid(field, quoted(other), detail),
        });
    }
    if !matches!(list_type, Some("map" | "set")) {
        return;
    }
    let items = schema.get("items").filter(|items| items.as_map().is_some());
    if list_type == Some("map") {
        map_items(schema, keys, items, path, errors);
    }
    let Some(items) = items else { return };
    if items.bool_at(&["nullable"]) == Some(true) {
        let detail =
            format!("cannot be nullable when x-kubernetes-list-type is {}", list_type.unwrap_or_default());
        errors.push(FieldError::forbidden(format!("{path}.items.nullable"), detail));
    }
    if list_type != Some("map") {
        return;
    }
    for key in keys.iter().filter_map(Value::as_str) {
        let Some(property) = items.at(&["properties", key]) else { continue };
        let required = items.items_at(&["required"]).iter().any(|name| name.as_str() == Some(key));
        let field = format!("{path}.items.properties[{key}]");
        if !required && property.get("default").is_none_or(Value::is_null) {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(format!("{field}.default"), detail));
        }
        if property.bool_at(&["nullable"]) == Some(true) {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(format!("{field}.nullable"), detail));
        }
    }
}

fn map_items(
    schema: &Value,
    keys: &[Value],
    items: Option<&Value>,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let keys_field = format!("{path}.x-kubernetes-list-map-keys");
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(keys_field.clone(), detail));
    }
    if schema.get("items").is_none() {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(format!("{path}.items"), detail));
    }
    let Some(items) = items else { return };
    let ty = items.str_at(&["type"]).unwrap_or_default();
    if ty != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(format!("{path}.items.type"), quoted(ty), detail));
        return;
    }
    let shown_keys = || json(&Value::Seq(keys.iter().cloned().collect()));
    for (at, key) in keys.iter().enumerate() {
        let name = key.as_str().unwrap_or_default();
        match items.at(&["properties", name]) {
            Some(property) => {
                if matches!(property.str_at(&["type"]), Some("array" | "object")) {
                    let field = format!("{path}.items.properties[{name}].type");
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    errors.push(FieldError::invalid(field, quoted(ty), detail));
                }
            }
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(keys_field.clone(), shown_keys(), detail));
            }
        }
        if keys[..at].contains(key) {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(keys_field.clone(), shown_keys(), detail));
        }
    }
}

fn rule_words(schema: &Value, compiled: Option<&Schema>, path: &str, errors: &mut Vec<FieldError>) {
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    for (at, rule) in schema.items_at(&["x-kubernetes-validations"]).iter().enumerate() {
        let field = |name: &str| format!("{path}.x-kubernetes-validations[{at}].{name}");
        let word = |name: &str| rule.str_at(&[name]).unwrap_or_default();
        let breaks = |text: &str| text.contains(['\n', '\r']);
        let (text, message) = (word("rule").trim(), word("message").trim());
        if text.is_empty() {
            errors.push(FieldError::required(field("rule"), "rule is not specified"));
        } else if !word("message").is_empty() && message.is_empty() {
            errors.push(FieldError::invalid(
                field("message"),
                quoted(word("message")),
                "must be non-empty if specified",
            ));
        } else if breaks(message) {
            errors.push(FieldError::invalid(
                field("message"),
                quoted(word("message")),
                "must not contain line breaks",
            ));
        } else if breaks(text) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(field("message"), detail));
        }
        if !word("messageExpression").is_empty() && word("messageExpression").trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(field("messageExpression"), detail));
        }
        if let Some(reason) = rule.str_at(&["reason"]).filter(|reason| !REASONS.contains(reason)) {
            errors.push(FieldError::not_supported(field("reason"), quoted(reason), &REASONS));
        }
        let place = word("fieldPath");
        if place.is_empty() {
            continue;
        }
        let mut refuse =
            |detail: &str| errors.push(FieldError::invalid(field("fieldPath"), quoted(place), detail));
        if place.trim().is_empty() {
            refuse("must be non-empty if specified");
        }
        if breaks(place) {
            refuse("must not contain line breaks");
        }
        if compiled.is_some_and(|compiled| field_path::resolve(place, compiled).is_err()) {
            refuse("must be a valid path");
        }
    }
}

fn rules(schema: &Value, compiled: &Schema, path: &str, place: &Place, errors: &mut Vec<FieldError>) {
    let list = schema.items_at(&["x-kubernetes-validations"]);
    if list.is_empty() {
        return;
    }
    let (_, problems) = rule::compile(schema, compiled, place.is_root || compiled.embedded);
    for (at, (problem, source)) in problems.into_iter().zip(list).enumerate() {
        let field = |name: &str| format!("{path}.x-kubernetes-validations[{at}].{name}");
        if let Some(detail) = problem.rule {
            errors.push(FieldError::invalid(field("rule"), go_form::rule(source), detail));
        }
        if let Some(detail) = problem.message {
            errors.push(FieldError::invalid(field("messageExpression"), go_form::rule(source), detail));
        }
        match (&place.uncorrelated, problem.uses_old) {
            (Some(ancestor), true) => {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {ancestor}"
                );
                let text = quoted(source.str_at(&["rule"]).unwrap_or_default());
                errors.push(FieldError::invalid(field("rule"), text, detail));
            }
            (_, false) if source.get("optionalOldSelf").is_some() => {
                let shown = source.bool_at(&["optionalOldSelf"]).unwrap_or(false).to_string();
                let detail = "may not be set if oldSelf is not used in rule";
                errors.push(FieldError::invalid(field("optionalOldSelf"), shown, detail));
            }
            _ => {}
        }
    }
}

/// Formats of a definition that nobody checks, in order of appearance.
pub(super) fn unknown_formats(definition: &Object) -> Vec<String> {
    fn walk(schema: &Value, out: &mut Vec<String>) {
        let format = schema.str_at(&["format"]).unwrap_or_default();
        let ty = schema.str_at(&["type"]).unwrap_or_default();
        if !format.is_empty() && Format::parse(format, ty).is_none() {
            out.push(format.to_owned());
        }
        structural::children(schema).for_each(|(_, child)| walk(child, out));
    }
    let mut out = Vec::new();
    let mut seen: Vec<&Value> = Vec::new();
    for version in definition.value().items_at(&["spec", "versions"]) {
        if let Some(schema) = version.at(&["schema", "openAPIV3Schema"])
            && !seen.contains(&schema)
        {
            seen.push(schema);
            walk(schema, &mut out);
        }
    }
    out
}
