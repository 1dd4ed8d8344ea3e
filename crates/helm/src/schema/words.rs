//! What is wrong with values, in the words of the library that Helm uses.

use std::error::Error as _;

use boon::{CompileError, ErrorKind, InstanceToken, ValidationError};
use serde_json::{Number, Value};

use crate::go::text;

/// The problems of a chart's values, a line for each.
pub(super) fn of_validation_error(error: &ValidationError<'_, '_>) -> String {
    let mut lines = Vec::new();
    collect(error, None, 0, &mut lines);
    let mut out = lines.join("\n");
    out.push('\n');
    out
}

/// Why a schema cannot be used.
pub(super) fn of_compile_error(error: &CompileError) -> String {
    match error {
        CompileError::LoadUrlError { url, src } => format!("failing loading {}: {src}", text::quote(url)),
        CompileError::ValidationError { url, src } => {
            let draft = if let ErrorKind::Schema { url } = &src.kind { quote(url) } else { String::new() };
            let problems = of_validation_error(src);
            let problems = problems.trim_end();
            let url = text::quote(url);
            format!(
                "{url} is not valid against metaschema: jsonschema validation failed with {draft}\n{problems}"
            )
        }
        CompileError::InvalidRegex { url, regex, src } => {
            format!("invalid regex {} at {}: {src}", text::quote(regex), text::quote(url))
        }
        CompileError::JsonPointerNotFound(place) => {
            format!("json-pointer in {} not found", text::quote(place))
        }
        CompileError::InvalidJsonPointer(place) => format!("invalid json-pointer {}", text::quote(place)),
        CompileError::AnchorNotFound { url, reference } => {
            format!("anchor in {} not found in schema {}", text::quote(reference), text::quote(url))
        }
        CompileError::UnsupportedDraft { url } => format!("draft {} is not supported", text::quote(url)),
        other => match other.source() {
            Some(source) => format!("{other}: {source}"),
            None => other.to_string(),
        },
    }
}

fn collect(
    error: &ValidationError<'_, '_>,
    parent: Option<&ErrorKind<'_, '_>>,
    mut indent: usize,
    lines: &mut Vec<String>,
) {
    // A single problem behind `allOf` is given without the word for it.
    if is_one_of_all(error.schema_url) && !matches!(parent, Some(ErrorKind::AllOf)) {
        lines.push(format!("{}- at {}: 'allOf' failed", blanks(indent), place(error)));
        indent += 1;
    }
    // A reference with one problem behind it is not told.
    let is_told = !(matches!(error.kind, ErrorKind::Reference { .. }) && error.causes.len() == 1);
    let is_root = matches!(error.kind, ErrorKind::Schema { .. });
    if is_told && !is_root {
        lines.push(format!("{}- at {}: {}", blanks(indent), place(error), words(&error.kind)));
    }
    let indent = if is_told { indent + 1 } else { indent };
    for cause in &error.causes {
        collect(cause, Some(&error.kind), indent, lines);
    }
}

fn blanks(indent: usize) -> String {
    "  ".repeat(indent.saturating_sub(1))
}

fn place(error: &ValidationError<'_, '_>) -> String {
    let place: String = error.instance_location.tokens.iter().map(token).collect();
    quote(&place)
}

/// Whether a schema is one of those that `allOf` lists.
fn is_one_of_all(url: &str) -> bool {
    let mut parts = url.rsplit('/');
    let is_index =
        parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_index && parts.next() == Some("allOf")
}

fn token(token: &InstanceToken<'_>) -> String {
    match token {
        InstanceToken::Prop(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
        InstanceToken::Item(index) => format!("/{index}"),
    }
}

fn words(kind: &ErrorKind<'_, '_>) -> String {
    match kind {
        ErrorKind::Group | ErrorKind::Reference { .. } | ErrorKind::Schema { .. } => {
            "validation failed".into()
        }
        ErrorKind::ContentSchema => "'contentSchema' failed".into(),
        ErrorKind::PropertyName { prop } => format!("invalid propertyName {}", quote(prop)),
        ErrorKind::RefCycle { url, kw_loc1, kw_loc2 } => {
            format!("both {kw_loc1} and {kw_loc2} resolve to {} causing reference cycle", text::quote(url))
        }
        ErrorKind::FalseSchema => "false schema".into(),
        ErrorKind::Type { got, want } => {
            let want: Vec<String> = want.iter().map(|one| one.to_string()).collect();
            format!("got {got}, want {}", want.join(" or "))
        }
        ErrorKind::Enum { want } => of_enum(want),
        ErrorKind::Const { want } if is_plain(want) => format!("value must be {}", display(want)),
        ErrorKind::Const { .. } => "'const' failed".into(),
        ErrorKind::Format { got, want, err } => format!("{} is not valid {want}: {err}", display(got)),
        ErrorKind::Required { want } if want.len() == 1 => format!("missing property {}", quote(want[0])),
        ErrorKind::Required { want } => format!("missing properties {}", quoted(want)),
        ErrorKind::Dependency { prop, missing } | ErrorKind::DependentRequired { prop, missing } => {
            format!("properties {} required, if {} exists", quoted(missing), quote(prop))
        }
        ErrorKind::AdditionalProperties { got } => {
            let mut names: Vec<&str> = got.iter().map(|name| name.as_ref()).collect();
            names.sort_unstable();
            format!("additional properties {} not allowed", quoted(&names))
        }
        ErrorKind::Pattern { got, want } => format!("{} does not match pattern {}", quote(got), quote(want)),
        ErrorKind::ContentEncoding { want, err } => format!("value is not {} encoded: {err}", quote(want)),
        ErrorKind::ContentMediaType { want, err, .. } => {
            format!("value if not of mediatype {}: {err}", quote(want))
        }
        ErrorKind::Not => "'not' failed".into(),
        ErrorKind::AllOf => "'allOf' failed".into(),
        ErrorKind::AnyOf => "'anyOf' failed".into(),
        ErrorKind::OneOf(None) => "'oneOf' failed, none matched".into(),
        ErrorKind::OneOf(Some((first, second))) => {
            format!("'oneOf' failed, subschemas {first}, {second} matched")
        }
        other => of_counts(other),
    }
}

fn of_counts(kind: &ErrorKind<'_, '_>) -> String {
    let counts = |name: &str, got: usize, want: usize| {
        format!("{name}: got {}, want {}", grouped(got as f64), grouped(want as f64))
    };
    let numbers = |name: &str, got: &Number, want: &Number| {
        let float = |number: &Number| english(number.as_f64().unwrap_or_default());
        format!("{name}: got {}, want {}", float(got), float(want))
    };
    let places = |got: &[usize]| got.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    match kind {
        ErrorKind::MinProperties { got, want } => counts("minProperties", *got, *want),
        ErrorKind::MaxProperties { got, want } => counts("maxProperties", *got, *want),
        ErrorKind::MinItems { got, want } => counts("minItems", *got, *want),
        ErrorKind::MaxItems { got, want } => counts("maxItems", *got, *want),
        ErrorKind::MinLength { got, want } => counts("minLength", *got, *want),
        ErrorKind::MaxLength { got, want } => counts("maxLength", *got, *want),
        ErrorKind::Minimum { got, want } => numbers("minimum", got, want),
        ErrorKind::Maximum { got, want } => numbers("maximum", got, want),
        ErrorKind::ExclusiveMinimum { got, want } => numbers("exclusiveMinimum", got, want),
        ErrorKind::ExclusiveMaximum { got, want } => numbers("exclusiveMaximum", got, want),
        ErrorKind::MultipleOf { got, want } => numbers("multipleOf", got, want),
        ErrorKind::UniqueItems { got: [first, second] } => {
            format!("items at {} and {} are equal", grouped(*first as f64), grouped(*second as f64))
        }
        ErrorKind::AdditionalItems { got } => {
            format!("last {} additionalItem(s) not allowed", grouped(*got as f64))
        }
        ErrorKind::Contains => "no items match contains schema".into(),
        ErrorKind::MinContains { got, want } if got.is_empty() => {
            format!("min {want} items required to match contains schema, but none matched")
        }
        ErrorKind::MinContains { got, want } => format!(
            "min {want} items required to match contains schema, but matched {} items at {}",
            got.len(),
            places(got)
        ),
        ErrorKind::MaxContains { got, want } => format!(
            "max {want} items required to match contains schema, but matched {} items at {}",
            got.len(),
            places(got)
        ),
        other => other.to_string(),
    }
}

fn of_enum(want: &[Value]) -> String {
    if !want.iter().all(is_plain) {
        return "'enum' failed".into();
    }
    let words: Vec<String> = want.iter().map(display).collect();
    match words.as_slice() {
        [one] => format!("value must be {one}"),
        words => format!("value must be one of {}", words.join(", ")),
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn display(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Null => "<nil>".into(),
        Value::Array(_) | Value::Object(_) => "value".into(),
        other => other.to_string(),
    }
}

fn quote(name: &str) -> String {
    let quoted = text::quote(name).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", &quoted[1..quoted.len() - 1])
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ")
}

/// A number as it is written in English: from a million on, or when very small, with a power of ten.
fn english(number: f64) -> String {
    let general = lynceus_gotmpl::format::text(&lynceus_gotmpl::Value::Float(number), 64).map(String::from);
    match general.as_deref().ok().and_then(|text| text.split_once('e')) {
        Some((mantissa, exponent)) => {
            let raised = exponent.chars().filter_map(|char| match char {
                '-' => Some('⁻'),
                '0'..='9' => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(char as usize - '0' as usize),
                _ => None,
            });
            format!("{mantissa}×10{}", raised.collect::<String>())
        }
        None => grouped(number),
    }
}

/// A number as it is written in English: with commas between the thousands.
fn grouped(number: f64) -> String {
    let plain = format!("{number}");
    let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let (whole, fraction) = plain.split_once('.').map_or((plain, None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}
