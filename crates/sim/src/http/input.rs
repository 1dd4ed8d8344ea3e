//! What a client sent: read within bounds and turned into a value.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use lynceus_object::yaml::{self, DuplicateKeys};
use lynceus_object::{Map, Object, Value, json, protobuf};

use super::negotiate::{Format, content_type, input_format};
use crate::verbs::{Body, Patch, PatchKind};
use crate::{ApiError, limits};

/// Reads a whole body. One that is too large or too slow is refused.
pub(super) async fn read<B>(parts: &Parts, body: B) -> Result<Bytes, ApiError>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || {
        let message = format!("Request entity too large: limit is {}", limits::REQUEST_BODY);
        ApiError::new(413, "RequestEntityTooLarge", message)
    };
    let length =
        parts.headers.get(http::header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > limits::REQUEST_BODY) {
        return Err(too_large());
    }
    let collected = Limited::new(Box::pin(body), limits::REQUEST_BODY).collect();
    match tokio::time::timeout(Duration::from_secs(limits::BODY_SECONDS), collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => Err(too_large()),
        Ok(Err(error)) => Err(ApiError::bad_request(format!("error reading the body: {error}"))),
        Err(_) => Err(ApiError::new(408, "Timeout", "the body of the request did not arrive in time")),
    }
}

/// An object in a body. `kind` is what is expected, for messages.
pub(super) fn object(headers: &HeaderMap, body: &Bytes, kind: &str) -> Result<Body, ApiError> {
    let format = input_format(headers)?;
    let (value, oddities) = match format {
        Format::Json => read_json(body).map_err(|error| unrecognized(kind, body, &error))?,
        Format::Yaml => parse_yaml(body).map_err(|error| unrecognized(kind, body, &error))?,
        Format::Protobuf => {
            let object = protobuf::decode(body).map_err(|error| {
                ApiError::bad_request(format!(
                    "the object provided is unrecognized (must be of type {kind}): {error}"
                ))
            })?;
            return Ok(Body::from(object));
        }
    };
    match Object::new(value) {
        Ok(object) => Ok(Body { object, oddities }),
        Err(other) => Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse \
             error: json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
             Kind string \"json:\\\"kind,omitempty\\\"\" }} ({})",
            other.type_name(),
            summary(body)
        ))),
    }
}

/// A patch in a body, of the kind that the content type says.
pub(super) fn patch(headers: &HeaderMap, body: &Bytes) -> Result<Patch, ApiError> {
    let kind = match content_type(headers).as_str() {
        "application/json-patch+json" => PatchKind::Json,
        "application/merge-patch+json" => PatchKind::Merge,
        "application/strategic-merge-patch+json" => PatchKind::Strategic,
        "application/apply-patch+yaml" => PatchKind::Apply,
        _ => {
            let error = ApiError::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
            return Err(error.with_details(Value::Map(Map::new())));
        }
    };
    let parsed = match kind {
        PatchKind::Apply => parse_yaml(body).map_err(|error| {
            ApiError::bad_request(format!("error decoding YAML: error converting YAML to JSON: {error}"))
        }),
        PatchKind::Strategic => read_json(body).map_err(ApiError::bad_request),
        PatchKind::Json | PatchKind::Merge => {
            read_json(body).map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))
        }
    };
    let (value, oddities) = parsed?;
    let expected = match kind {
        PatchKind::Json if !matches!(value, Value::Seq(_) | Value::Null) => "[]handlers.jsonPatchOp",
        PatchKind::Merge if !matches!(value, Value::Map(_) | Value::Null) => "map[string]interface {}",
        _ => return Ok(Patch { kind, value, oddities }),
    };
    let found = value.type_name();
    let message =
        format!("error decoding patch: json: cannot unmarshal {found} into Go value of type {expected}");
    Err(ApiError::bad_request(message))
}

/// Options in a body, such as `DeleteOptions`.
pub(super) fn options(headers: &HeaderMap, body: &Bytes) -> Result<Value, ApiError> {
    match input_format(headers)? {
        Format::Json => read_json(body).map(|(value, _)| value).map_err(|error| {
            ApiError::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
        }),
        Format::Yaml => parse_yaml(body).map(|(value, _)| value).map_err(ApiError::bad_request),
        Format::Protobuf => protobuf::decode(body)
            .map(Object::into_value)
            .map_err(|error| ApiError::bad_request(error.to_string())),
    }
}

type Parsed = (Value, Vec<String>);

/// JSON with what a strict decoder has to say of it; or Go's words for what is wrong with it.
fn read_json(body: &[u8]) -> Result<Parsed, String> {
    let parsed = json::read(body).map_err(|error| error.problem)?;
    let oddities = parsed.duplicates.iter().map(|duplicate| format!("duplicate field {:?}", duplicate.path));
    Ok((parsed.value, oddities.collect()))
}

fn parse_yaml(body: &[u8]) -> Result<Parsed, String> {
    let options = yaml::Options { duplicate_keys: DuplicateKeys::LastWins, ..yaml::Options::default() };
    let mut documents = yaml::documents(body, &options).into_iter().filter(|document| !document.is_empty);
    let Some(document) = documents.next() else { return Ok((Value::Null, Vec::new())) };
    let oddities = document
        .duplicates
        .iter()
        .map(|duplicate| {
            format!(
                "yaml: unmarshal errors:\n  line {}: key {:?} already set in map",
                duplicate.line, duplicate.key
            )
        })
        .collect();
    document.result.map(|value| (value, oddities)).map_err(|error| error.to_string())
}

fn unrecognized(kind: &str, body: &[u8], error: &str) -> ApiError {
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: \
         {error} ({})",
        summary(body)
    ))
}

/// The start of a body as the real server shows it: what looks like JSON as text, all else as bytes.
fn summary(body: &[u8]) -> String {
    let start = &body[..body.len().min(30)];
    let shown = match start.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    if body.len() > start.len() { format!("{shown} ...") } else { shown }
}
