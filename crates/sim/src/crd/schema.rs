//! A structural schema, compiled from `openAPIV3Schema` to the form that every later step walks.

use std::collections::BTreeMap;

use lynceus_object::{Str, Value};

use super::format::Format;
use super::limits::SCHEMA_DEPTH;
use super::rule::Rule;
use crate::cel::Pattern;

/// The JSON types that a schema can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// No `type` is given.
    #[default]
    Any,
    /// `object`
    Object,
    /// `array`
    Array,
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// `boolean`
    Boolean,
}

impl Type {
    /// Reads the word; an unknown one asks for nothing (the definition's own validation refuses it).
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "object" => Type::Object,
            "array" => Type::Array,
            "string" => Type::String,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            _ => Type::Any,
        }
    }

    /// The word, as it stands in a schema; empty for [`Type::Any`].
    pub(crate) fn word(self) -> &'static str {
        match self {
            Type::Any => "",
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
        }
    }
}

/// How items of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    /// The list is one value.
    #[default]
    Atomic,
    /// Items are scalars and appear once.
    Set,
    /// Items are objects, told apart by these fields.
    Map(Vec<Str>),
}

/// What a map may hold beside its named properties.
#[derive(Clone, Debug)]
pub(crate) enum Additional {
    /// `additionalProperties: true`
    Any,
    /// `additionalProperties: false`
    Forbidden,
    /// Every other key has this schema.
    Schema(Box<Schema>),
}

/// One node of a compiled schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// The JSON type.
    pub ty: Type,
    /// Whether `null` is a value of its own here.
    pub nullable: bool,
    /// `x-kubernetes-int-or-string`
    pub int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    pub preserve: bool,
    /// `x-kubernetes-embedded-resource`
    pub embedded: bool,
    /// The named fields.
    pub properties: BTreeMap<Str, Schema>,
    /// The other fields.
    pub additional: Option<Additional>,
    /// The items of an array.
    pub items: Option<Box<Schema>>,
    /// What an absent field becomes.
    pub default: Option<Value>,
    /// How the items of an array are told apart.
    pub list: ListType,
    /// What a value has to satisfy beyond its type; boxed because most nodes have nothing here.
    pub checks: Option<Box<Checks>>,
    /// `x-kubernetes-validations`, compiled.
    pub rules: Vec<Rule>,
    /// Whether this node or one below it has rules, so that a walk can skip the rest.
    pub has_rules: bool,
    /// Whether this node or one below it has a default.
    pub has_defaults: bool,
    /// Whether a node below it is an object of its own.
    pub has_objects: bool,
}

/// The value validations of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    /// A known string, integer or number format.
    pub format: Option<Format>,
    /// `maximum`, and whether it is exclusive.
    pub maximum: Option<(f64, bool)>,
    /// `minimum`, and whether it is exclusive.
    pub minimum: Option<(f64, bool)>,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `maxLength`
    pub max_length: Option<i64>,
    /// `minLength`
    pub min_length: Option<i64>,
    /// `pattern`
    pub pattern: Option<Pattern>,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `minItems`
    pub min_items: Option<i64>,
    /// `uniqueItems`
    pub unique_items: bool,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `required`
    pub required: Vec<Str>,
    /// `enum`
    pub one_of_values: Vec<Value>,
    /// `allOf`
    pub all_of: Vec<Schema>,
    /// `anyOf`
    pub any_of: Vec<Schema>,
    /// `oneOf`
    pub one_of: Vec<Schema>,
    /// `not`
    pub not: Option<Box<Schema>>,
}

impl Schema {
    /// Compiles an `openAPIV3Schema`. Rules stay out: [`super::rule::attach`] adds them, because they
    /// need the finished tree to know their types.
    pub(crate) fn compile(source: &Value) -> Self {
        compile(source, 0)
    }

    /// A root that keeps everything, for a version without a schema.
    pub(crate) fn open() -> Self {
        Schema { ty: Type::Object, preserve: true, ..Schema::default() }
    }

    /// The schema of one field of a map, if it has one.
    pub(crate) fn field(&self, name: &str) -> Option<&Schema> {
        match (self.properties.get(name), &self.additional) {
            (Some(schema), _) => Some(schema),
            (None, Some(Additional::Schema(schema))) => Some(schema),
            _ => None,
        }
    }
}

fn compile(source: &Value, depth: usize) -> Schema {
    if depth > SCHEMA_DEPTH {
        return Schema::open();
    }
    let child = |value: &Value| compile(value, depth + 1);
    let flag = |name: &str| source.bool_at(&[name]).unwrap_or(false);
    let properties: BTreeMap<Str, Schema> = source
        .get("properties")
        .and_then(Value::as_map)
        .into_iter()
        .flat_map(lynceus_object::Map::iter)
        .map(|(name, schema)| (name.clone(), child(schema)))
        .collect();
    let additional = source.get("additionalProperties").and_then(|value| match value {
        Value::Bool(true) => Some(Additional::Any),
        Value::Bool(false) => Some(Additional::Forbidden),
        Value::Map(_) => Some(Additional::Schema(Box::new(child(value)))),
        _ => None,
    });
    let items =
        source.get("items").filter(|items| items.as_map().is_some()).map(|items| Box::new(child(items)));
    let default = source.get("default").filter(|default| !default.is_null()).cloned();
    let list = match source.str_at(&["x-kubernetes-list-type"]) {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(texts(source.items_at(&["x-kubernetes-list-map-keys"]))),
        _ => ListType::Atomic,
    };
    let below = properties.values().chain(items.as_deref()).chain(match &additional {
        Some(Additional::Schema(schema)) => Some(&**schema),
        _ => None,
    });
    let has_defaults = below.clone().any(|schema| schema.has_defaults || schema.default.is_some());
    let has_objects = below.clone().any(|schema| schema.has_objects || schema.embedded);
    Schema {
        ty: Type::parse(source.str_at(&["type"]).unwrap_or_default()),
        nullable: flag("nullable"),
        int_or_string: flag("x-kubernetes-int-or-string"),
        preserve: flag("x-kubernetes-preserve-unknown-fields"),
        embedded: flag("x-kubernetes-embedded-resource"),
        properties,
        additional,
        items,
        default,
        list,
        checks: checks(source, depth).map(Box::new),
        rules: Vec::new(),
        has_rules: false,
        has_defaults,
        has_objects,
    }
}

fn checks(source: &Value, depth: usize) -> Option<Checks> {
    let number = |name: &str| source.get(name).and_then(Value::as_float);
    let count = |name: &str| source.int_at(&[name]);
    let flag = |name: &str| source.bool_at(&[name]).unwrap_or(false);
    let each =
        |name: &str| source.items_at(&[name]).iter().map(|item| compile(item, depth + 1)).collect::<Vec<_>>();
    let checks = Checks {
        format: source
            .str_at(&["format"])
            .and_then(|format| Format::parse(format, source.str_at(&["type"]).unwrap_or_default())),
        maximum: number("maximum").map(|max| (max, flag("exclusiveMaximum"))),
        minimum: number("minimum").map(|min| (min, flag("exclusiveMinimum"))),
        multiple_of: number("multipleOf"),
        max_length: count("maxLength"),
        min_length: count("minLength"),
        pattern: source.str_at(&["pattern"]).filter(|text| !text.is_empty()).map(Pattern::new),
        max_items: count("maxItems"),
        min_items: count("minItems"),
        unique_items: flag("uniqueItems"),
        max_properties: count("maxProperties"),
        min_properties: count("minProperties"),
        required: texts(source.items_at(&["required"])),
        one_of_values: source.items_at(&["enum"]).to_vec(),
        all_of: each("allOf"),
        any_of: each("anyOf"),
        one_of: each("oneOf"),
        not: source
            .get("not")
            .filter(|not| not.as_map().is_some())
            .map(|not| Box::new(compile(not, depth + 1))),
    };
    (!checks.is_empty()).then_some(checks)
}

impl Checks {
    fn is_empty(&self) -> bool {
        self.format.is_none()
            && self.maximum.is_none()
            && self.minimum.is_none()
            && self.multiple_of.is_none()
            && self.max_length.is_none()
            && self.min_length.is_none()
            && self.pattern.is_none()
            && self.max_items.is_none()
            && self.min_items.is_none()
            && !self.unique_items
            && self.max_properties.is_none()
            && self.min_properties.is_none()
            && self.required.is_empty()
            && self.one_of_values.is_empty()
            && self.all_of.is_empty()
            && self.any_of.is_empty()
            && self.one_of.is_empty()
            && self.not.is_none()
    }
}

fn texts(items: &[Value]) -> Vec<Str> {
    items.iter().filter_map(Value::as_str).map(Str::from).collect()
}
