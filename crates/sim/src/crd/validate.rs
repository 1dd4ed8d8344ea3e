//! Checks a value against a schema and says what is wrong in the words of the original's validator.
//!
//! Two names run side by side: the *path* that stands inside messages starts at the value that is
//! checked, while the *field* of an error also has the prefix where that value lives.

use lynceus_object::Value;

use super::format::{self, Format};
use super::schema::{Additional, Checks, ListType, Schema, Type};
use super::shown::{float, quoted, shown};
use crate::error::{FieldError, FieldErrorKind};

/// Checks a new value. `prefix` is the field that holds it; empty for a whole object.
pub(crate) fn validate(value: &Value, schema: &Schema, prefix: &str) -> Vec<FieldError> {
    Walk { prefix }.node(value, schema, "", None).errors
}

/// Checks a changed value. What was wrong before and has not changed is let through.
pub(crate) fn validate_update(value: &Value, old: &Value, schema: &Schema, prefix: &str) -> Vec<FieldError> {
    Walk { prefix }.node(value, schema, "", Some(old)).errors
}

/// Errors, and how many checks were made: of several alternatives the one that came farthest is told.
#[derive(Default)]
struct Outcome {
    errors: Vec<FieldError>,
    made: u64,
}

impl Outcome {
    fn merge(&mut self, other: Outcome) {
        self.made += other.made;
        self.errors.extend(other.errors);
    }
}

struct Walk<'a> {
    prefix: &'a str,
}

impl Walk<'_> {
    fn node(&self, value: &Value, schema: &Schema, path: &str, old: Option<&Value>) -> Outcome {
        let mut out = Outcome::default();
        self.check_type(value, schema, path, &mut out);
        if let Some(checks) = schema.checks.as_deref() {
            if !value.is_null() {
                self.alternatives(value, checks, path, &mut out);
                self.scalar(value, schema, checks, path, &mut out);
            }
            if let Value::Seq(items) = value {
                self.items(items, schema, path, old, &mut out);
                self.item_counts(items, checks, path, &mut out);
            }
            self.allowed_values(value, checks, path, &mut out);
        } else {
            match value {
                Value::Seq(items) => self.items(items, schema, path, old, &mut out),
                Value::Float(_) => self.range(value, schema, None, path, &mut out),
                _ => {}
            }
        }
        if let Value::Map(_) = value {
            self.fields(value, schema, path, old, &mut out);
        }
        out.made += 1;
        if !out.errors.is_empty() && old.is_some_and(|old| old == value) {
            out.errors.clear();
        }
        out
    }

    fn check_type(&self, value: &Value, schema: &Schema, path: &str, out: &mut Outcome) {
        let wanted = if schema.int_or_string { "integer,string" } else { schema.ty.word() };
        if wanted.is_empty() {
            return;
        }
        out.made += 1;
        if value.is_null() && schema.nullable {
            return;
        }
        let found = go_type(value);
        let fits = match schema.ty {
            _ if schema.int_or_string => matches!(value, Value::Int(_) | Value::Str(_)) || is_whole(value),
            Type::Any => true,
            Type::Object => matches!(value, Value::Map(_)),
            Type::Array => matches!(value, Value::Seq(_)),
            Type::String => matches!(value, Value::Str(_)),
            Type::Integer => matches!(value, Value::Int(_)) || is_whole(value),
            Type::Number => matches!(value, Value::Int(_) | Value::Float(_)),
            Type::Boolean => matches!(value, Value::Bool(_)),
        };
        if fits {
            out.made += 1;
            return;
        }
        // A string format without `string` data is reported by its format, as the original does.
        let format = schema.checks.as_ref().and_then(|checks| checks.format);
        let (wanted, found) = match format {
            Some(format) if !matches!(value, Value::Str(_) | Value::Seq(_) | Value::Null) => {
                (format.word(), go_format(value))
            }
            Some(Format::Text(_)) if matches!(value, Value::Seq(_)) => return,
            _ => (wanted, found),
        };
        let detail = format!("{path} in body must be of type {wanted}: {}", quoted(found));
        out.errors.push(self.error(FieldErrorKind::TypeInvalid, path, quoted(found), detail));
    }

    fn alternatives(&self, value: &Value, checks: &Checks, path: &str, out: &mut Outcome) {
        out.made += 1;
        if !checks.any_of.is_empty() {
            self.any_of(value, &checks.any_of, path, out);
        }
        if !checks.one_of.is_empty() {
            self.one_of(value, &checks.one_of, path, out);
        }
        if !checks.all_of.is_empty() {
            let mut valid = 0;
            for schema in &checks.all_of {
                let result = self.node(value, schema, path, None);
                valid += usize::from(result.errors.is_empty());
                out.merge(result);
            }
            if valid < checks.all_of.len() {
                let rest = if valid == 0 { ". None validated" } else { "" };
                out.errors.push(
                    self.general(format!("{} must validate all the schemas (allOf){rest}", quoted(path))),
                );
            }
        }
        if let Some(not) = &checks.not
            && self.node(value, not, path, None).errors.is_empty()
        {
            out.errors.push(self.general(format!("{} must not validate the schema (not)", quoted(path))));
        }
    }

    fn any_of(&self, value: &Value, schemas: &[Schema], path: &str, out: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for schema in schemas {
            let result = self.node(value, schema, path, None);
            if result.errors.is_empty() {
                return out.merge(result);
            }
            if best.as_ref().is_none_or(|best| result.made > best.made) {
                best = Some(result);
            }
        }
        out.errors.push(self.general(format!("{} must validate at least one schema (anyOf)", quoted(path))));
        out.merge(best.unwrap_or_default());
    }

    fn one_of(&self, value: &Value, schemas: &[Schema], path: &str, out: &mut Outcome) {
        let (mut best, mut first): (Option<Outcome>, Option<Outcome>) = (None, None);
        let mut valid = 0;
        for schema in schemas {
            let result = self.node(value, schema, path, None);
            if result.errors.is_empty() {
                valid += 1;
                best = None;
                first.get_or_insert(result);
            } else if valid == 0 && best.as_ref().is_none_or(|best| result.made > best.made) {
                best = Some(result);
            }
        }
        if valid == 1 {
            return out.merge(first.unwrap_or_default());
        }
        let found = match valid {
            0 => "Found none valid".to_owned(),
            many => format!("Found {many} valid alternatives"),
        };
        out.errors.push(
            self.general(format!("{} must validate one and only one schema (oneOf). {found}", quoted(path))),
        );
        out.merge(best.unwrap_or_default());
    }

    fn scalar(&self, value: &Value, schema: &Schema, checks: &Checks, path: &str, out: &mut Outcome) {
        match value {
            Value::Str(text) => {
                out.made += 1;
                if let Some(error) = self.text(text, checks, path) {
                    out.errors.push(error);
                }
                if let Some(Format::Text(name)) = checks.format {
                    out.made += 1;
                    if !format::is_valid(name, text) {
                        let detail = format!("{path} in body must be of type {name}: {}", quoted(text));
                        out.errors.push(self.error(FieldErrorKind::TypeInvalid, path, quoted(text), detail));
                    }
                }
            }
            Value::Int(_) | Value::Float(_) => {
                out.made += 2;
                self.number(value, schema, checks, path, out);
            }
            _ => {}
        }
    }

    fn text(&self, text: &str, checks: &Checks, path: &str) -> Option<FieldError> {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = checks.max_length.filter(|max| length > *max) {
            let bytes = if max == 1 { "byte" } else { "bytes" };
            let detail = if max < 0 {
                "value is too long".into()
            } else {
                format!("may not be more than {max} {bytes}")
            };
            return Some(self.error(FieldErrorKind::TooLong, path, String::new(), detail));
        }
        if let Some(min) = checks.min_length.filter(|min| length < *min) {
            let detail = format!("{path} in body should be at least {min} chars long");
            return Some(self.error(FieldErrorKind::Invalid, path, quoted(text), detail));
        }
        let pattern = checks.pattern.as_ref().filter(|pattern| !pattern.is_match(text))?;
        let detail = format!("{path} in body should match '{}'", pattern.source());
        Some(self.error(FieldErrorKind::Invalid, path, quoted(text), detail))
    }

    fn number(&self, value: &Value, schema: &Schema, checks: &Checks, path: &str, out: &mut Outcome) {
        self.range(value, schema, checks.format, path, out);
        let refuse = |out: &mut Outcome, detail: String| {
            out.errors.push(self.error(FieldErrorKind::Invalid, path, shown(value), detail));
        };
        if let Some(factor) = checks.multiple_of {
            match value {
                // A whole value is divided by the whole part of the factor, which may be nothing.
                Value::Int(_) if factor < 1.0 => {
                    let detail =
                        format!("factor MultipleOf declared for {path} must be positive: {}", factor as i64);
                    let shown = (factor as i64).to_string();
                    out.errors.push(self.error(FieldErrorKind::Invalid, path, shown, detail));
                }
                Value::Int(i) if i % (factor as i64) != 0 => {
                    refuse(out, format!("{path} in body should be a multiple of {}", factor as i64));
                }
                Value::Float(f) if !is_multiple(*f, factor) => {
                    refuse(out, format!("{path} in body should be a multiple of {}", float(factor)));
                }
                _ => {}
            }
        }
        if let Some((min, exclusive)) = checks.minimum
            && beyond(min, value, exclusive)
        {
            let words = if exclusive { "greater than" } else { "greater than or equal to" };
            refuse(out, format!("{path} in body should be {words} {}", bound(min, value)));
        }
        if let Some((max, exclusive)) = checks.maximum
            && below(max, value, exclusive)
        {
            let words = if exclusive { "less than" } else { "less than or equal to" };
            refuse(out, format!("{path} in body should be {words} {}", bound(max, value)));
        }
    }

    fn range(&self, value: &Value, schema: &Schema, format: Option<Format>, path: &str, out: &mut Outcome) {
        if schema.int_or_string || schema.ty != Type::Integer {
            return;
        }
        let whole = match value {
            Value::Int(i) => Some(*i),
            Value::Float(f) if f.fract() == 0.0 && f.abs() < i64::MAX as f64 => Some(*f as i64),
            _ => None,
        };
        let (fits, words) = match format {
            Some(Format::Int32) => (whole.is_some_and(|i| i32::try_from(i).is_ok()), "with format int32"),
            Some(Format::Int64) => (whole.is_some(), "with format int64"),
            _ => (whole.is_some(), "(default format)"),
        };
        if !fits {
            out.errors.push(self.general(format!("Checked value must be of type integer {words} in {path}")));
        }
    }

    fn allowed_values(&self, value: &Value, checks: &Checks, path: &str, out: &mut Outcome) {
        out.made += 1;
        if checks.one_of_values.is_empty() || (!value.is_null() && checks.one_of_values.contains(value)) {
            return;
        }
        let texts: Vec<String> = checks
            .one_of_values
            .iter()
            .map(|allowed| match allowed {
                Value::Str(text) => text.to_string(),
                other => super::shown::json(other),
            })
            .collect();
        let list: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        let detail = format!("supported values: {}", list.join(", "));
        out.errors.push(self.error(FieldErrorKind::NotSupported, path, shown(value), detail));
    }

    fn items(&self, items: &[Value], schema: &Schema, path: &str, old: Option<&Value>, out: &mut Outcome) {
        out.made += 2;
        let Some(item_schema) = schema.items.as_deref() else { return };
        let old_items = old.and_then(Value::as_seq).unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            let before = old_item(old_items, item, &schema.list);
            out.merge(self.node(item, item_schema, &format!("{path}[{at}]"), before));
        }
    }

    fn item_counts(&self, items: &[Value], checks: &Checks, path: &str, out: &mut Outcome) {
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        if let Some(min) = checks.min_items.filter(|min| count < *min) {
            let detail = format!("{path} in body should have at least {min} items");
            out.errors.push(self.error(FieldErrorKind::Invalid, path, count.to_string(), detail));
        }
        if let Some(max) = checks.max_items.filter(|max| count > *max) {
            out.errors.push(self.too_many(path, count, max));
        }
        if checks.unique_items && items.iter().enumerate().any(|(at, item)| items[..at].contains(item)) {
            let detail = format!("{path} in body shouldn't contain duplicates");
            out.errors.push(self.error(FieldErrorKind::Invalid, path, quoted(""), detail));
        }
    }

    fn fields(&self, value: &Value, schema: &Schema, path: &str, old: Option<&Value>, out: &mut Outcome) {
        let Some(map) = value.as_map() else { return };
        out.made += 1;
        let checks = schema.checks.as_deref();
        let count = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(min) = checks.and_then(|checks| checks.min_properties).filter(|min| count < *min) {
            let detail = format!("{path} in body should have at least {min} properties");
            out.errors.push(self.error(FieldErrorKind::Invalid, path, count.to_string(), detail));
        }
        if let Some(max) = checks.and_then(|checks| checks.max_properties).filter(|max| count > *max) {
            out.errors.push(self.too_many(path, count, max));
        }
        for (name, field) in map.iter() {
            let before = old.filter(|_| !path.is_empty() || !matches!(name.as_str(), "apiVersion" | "kind"));
            let before = before.and_then(|old| old.get(name));
            if let Some(property) = schema.properties.get(name) {
                let below = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                out.merge(self.node(field, property, &below, before));
            } else if let Some(Additional::Schema(other)) = &schema.additional {
                out.merge(self.node(field, other, &format!("{path}.{name}"), before));
            } else if let Some(Additional::Forbidden) = &schema.additional {
                let detail = format!("{path}.{name} in body is a forbidden property");
                out.errors.push(self.error(FieldErrorKind::Invalid, path, quoted(name), detail));
            }
        }
        for name in checks.iter().flat_map(|checks| &checks.required) {
            if !map.contains(name) {
                let field = format!("{path}.{name}");
                out.errors.push(self.error(FieldErrorKind::Required, &field, String::new(), String::new()));
            }
        }
    }

    fn too_many(&self, path: &str, count: i64, max: i64) -> FieldError {
        let items = if max == 1 { "item" } else { "items" };
        let detail = format!("must have at most {max} {items}");
        self.error(FieldErrorKind::TooMany, path, count.to_string(), detail)
    }

    fn error(&self, kind: FieldErrorKind, path: &str, value: String, detail: String) -> FieldError {
        let path = path.strip_prefix('.').unwrap_or(path);
        let field = match (self.prefix, path) {
            ("", "") => "<nil>".to_owned(),
            ("", path) => path.to_owned(),
            (prefix, "") => prefix.to_owned(),
            (prefix, path) => format!("{prefix}.{path}"),
        };
        FieldError { kind, field, value, detail }
    }

    /// An error that names no field: it stands at the prefix, with an empty value.
    fn general(&self, detail: String) -> FieldError {
        self.error(FieldErrorKind::Invalid, "", quoted(""), detail)
    }
}

/// The item of the old list that is the same one, where items can be told apart.
pub(crate) fn old_item<'a>(old: &'a [Value], item: &Value, list: &ListType) -> Option<&'a Value> {
    let ListType::Map(keys) = list else { return None };
    old.iter().find(|candidate| keys.iter().all(|key| candidate.get(key) == item.get(key)))
}

fn go_type(value: &Value) -> &'static str {
    value.type_name()
}

fn go_format(value: &Value) -> &'static str {
    match value {
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        _ => "",
    }
}

/// A float counts as an integer where JSON can hold it exactly.
fn is_whole(value: &Value) -> bool {
    const EXACT: f64 = ((1_u64 << 53) - 1) as f64;
    matches!(value, Value::Float(f) if f.fract() == 0.0 && f.abs() <= EXACT)
}

fn is_multiple(number: f64, factor: f64) -> bool {
    let quotient = if factor < 1.0 { 1.0 / factor * number } else { number / factor };
    (quotient - quotient.round()).abs() < 1e-9 * quotient.abs().max(1.0)
}

/// Whole values are compared with the whole part of a bound, as the original does.
fn bound(bound: f64, value: &Value) -> String {
    match value {
        Value::Int(_) => (bound as i64).to_string(),
        _ => float(bound),
    }
}

fn beyond(min: f64, value: &Value, exclusive: bool) -> bool {
    match value {
        Value::Int(i) => *i < min as i64 || (exclusive && *i == min as i64),
        _ => value.as_float().is_some_and(|f| f < min || (exclusive && f == min)),
    }
}

fn below(max: f64, value: &Value, exclusive: bool) -> bool {
    match value {
        Value::Int(i) => *i > max as i64 || (exclusive && *i == max as i64),
        _ => value.as_float().is_some_and(|f| f > max || (exclusive && f == max)),
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn check(schema: Value, object: Value, expected: &[&str]) {
        let found: Vec<String> =
            validate(&object, &Schema::compile(&schema), "").iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    fn spec(property: Value) -> Value {
        value!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": property}}}})
    }

    #[test]
    fn numbers_have_bounds() {
        check(
            spec(value!({"type": "integer", "minimum": 1, "maximum": 5})),
            value!({"spec": {"x": 0}}),
            &["spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"],
        );
        check(
            spec(value!({"type": "number", "maximum": 1.5, "exclusiveMaximum": true})),
            value!({"spec": {"x": 1.5}}),
            &["spec.x: Invalid value: 1.5: spec.x in body should be less than 1.5"],
        );
        check(
            spec(value!({"type": "integer", "multipleOf": 5})),
            value!({"spec": {"x": 7}}),
            &["spec.x: Invalid value: 7: spec.x in body should be a multiple of 5"],
        );
        check(
            spec(value!({"type": "integer", "format": "int32"})),
            value!({"spec": {"x": 4_000_000_000_i64}}),
            &[
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.x",
            ],
        );
    }

    #[test]
    fn types_have_to_fit() {
        check(
            spec(value!({"type": "integer"})),
            value!({"spec": {"x": "one"}}),
            &["spec.x: Invalid value: \"string\": spec.x in body must be of type integer: \"string\""],
        );
        check(
            spec(value!({"type": "string"})),
            value!({"spec": {"x": null}}),
            &["spec.x: Invalid value: \"null\": spec.x in body must be of type string: \"null\""],
        );
        check(spec(value!({"type": "string", "nullable": true})), value!({"spec": {"x": null}}), &[]);
        check(spec(value!({"x-kubernetes-int-or-string": true})), value!({"spec": {"x": "50%"}}), &[]);
        check(
            spec(value!({"x-kubernetes-int-or-string": true})),
            value!({"spec": {"x": true}}),
            &[
                "spec.x: Invalid value: \"boolean\": spec.x in body must be of type integer,string: \"boolean\"",
            ],
        );
    }

    #[test]
    fn strings_have_lengths_patterns_formats_and_enums() {
        check(
            spec(value!({"type": "string", "maxLength": 3})),
            value!({"spec": {"x": "long"}}),
            &["spec.x: Too long: may not be more than 3 bytes"],
        );
        check(
            spec(value!({"type": "string", "minLength": 1, "pattern": "^a"})),
            value!({"spec": {"x": "b"}}),
            &["spec.x: Invalid value: \"b\": spec.x in body should match '^a'"],
        );
        check(
            spec(value!({"type": "string", "format": "ipv4"})),
            value!({"spec": {"x": "no"}}),
            &["spec.x: Invalid value: \"no\": spec.x in body must be of type ipv4: \"no\""],
        );
        check(
            spec(value!({"type": "string", "enum": ["a", "b"]})),
            value!({"spec": {"x": "c"}}),
            &["spec.x: Unsupported value: \"c\": supported values: \"a\", \"b\""],
        );
    }

    #[test]
    fn lists_and_maps_have_counts_and_required_fields() {
        check(
            spec(value!({"type": "array", "maxItems": 1, "items": {"type": "string"}})),
            value!({"spec": {"x": ["a", 1]}}),
            &[
                "spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type string: \"integer\"",
                "spec.x: Too many: 2: must have at most 1 item",
            ],
        );
        check(
            spec(
                value!({"type": "object", "required": ["a"], "maxProperties": 2, "additionalProperties": {"type": "string"}}),
            ),
            value!({"spec": {"x": {"b": 1}}}),
            &[
                "spec.x.b: Invalid value: \"integer\": spec.x.b in body must be of type string: \"integer\"",
                "spec.x.a: Required value",
            ],
        );
    }

    #[test]
    fn alternatives_are_told_apart() {
        let schema = value!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        check(
            spec(schema.clone()),
            value!({"spec": {"x": {}}}),
            &[
                "<nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found none valid",
                "spec.x.a: Required value",
            ],
        );
        check(
            spec(schema),
            value!({"spec": {"x": {"a": "1", "b": "2"}}}),
            &[
                "<nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ],
        );
    }

    #[test]
    fn an_unchanged_field_is_let_through() {
        let schema = Schema::compile(&spec(value!({"type": "string", "enum": ["a"]})));
        let old = value!({"spec": {"x": "old", "y": 1}});
        assert_eq!(validate_update(&value!({"spec": {"x": "old", "y": 2}}), &old, &schema, ""), []);
        assert_eq!(validate_update(&value!({"spec": {"x": "new"}}), &old, &schema, "").len(), 1);
    }
}
