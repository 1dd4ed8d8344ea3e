//! What a client gets: objects in the form it asked for.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY, WARNING};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use jiff::Timestamp;
use lynceus_object::schema::{self, TypeRef};
use lynceus_object::{Object, Value, json, protobuf, value, yaml};

use super::negotiate::{Accept, Format, Transform, Wanted};
use super::{Body, full};
use crate::kinds::Resource;
use crate::table::{self, Include};
use crate::verbs::Page;
use crate::{ApiError, limits};

/// How answers about one resource are written.
pub(super) struct Writer<'a> {
    pub(super) resource: &'a Resource,
    pub(super) wanted: Wanted,
    pub(super) include: Include,
    pub(super) now: Timestamp,
}

impl Writer<'_> {
    /// One object.
    pub(super) fn object(
        &self,
        code: u16,
        object: Object,
        warnings: &[String],
    ) -> Result<Response<Body>, ApiError> {
        let is_status = object.kind() == "Status" && object.api_version() == "v1";
        let value = if is_status { object.into_value() } else { self.transform(object, true) };
        let mut response = self.value(code, &value)?;
        for warning in warnings {
            warn(&mut response, warning);
        }
        Ok(response)
    }

    /// A page of a list.
    pub(super) fn page(&self, page: Page) -> Result<Response<Body>, ApiError> {
        let value = match self.wanted.transform {
            Transform::None => page.into_object(self.resource).into_value(),
            Transform::Table(version) => {
                let metadata = page.metadata();
                let table = table::render(self.resource, &page.items, metadata, self.include, true, self.now);
                with_version(table, version)
            }
            Transform::Metadata(_) if !self.wanted.metadata_list => {
                return Err(self.wrong_form("PartialObjectMetadata", "a list", "List"));
            }
            Transform::Metadata(version) => {
                let mut list = value!({"kind": "PartialObjectMetadataList"});
                list.set(&["apiVersion"], format!("meta.k8s.io/{version}"));
                list.set(&["metadata"], page.metadata());
                let items: Value = page.items.iter().map(|item| partial(item, version)).collect();
                // As Go prints a list that nothing was added to.
                list.set(&["items"], if items.is_empty() { Value::Null } else { items });
                list
            }
        };
        self.value(200, &value)
    }

    /// 406 for metadata that was asked for under the wrong name. The original shows its own type of the kind.
    fn wrong_form(&self, asked: &str, is: &str, suffix: &str) -> ApiError {
        let package = match self.resource.group.split('.').next() {
            Some("") | None => "core",
            Some(first) => first,
        };
        let shown = match self.resource.custom {
            Some(_) => format!("*unstructured.Unstructured{suffix}"),
            None => format!("*{package}.{}{suffix}", self.resource.kind),
        };
        let message = format!("you requested {asked}, but the requested object is {is} ({shown})");
        ApiError::new(406, "NotAcceptable", message)
    }

    /// An object as it is sent; `headers` says whether a table has its column definitions.
    pub(super) fn transform(&self, object: Object, headers: bool) -> Value {
        match self.wanted.transform {
            Transform::None => object.into_value(),
            Transform::Table(version) => {
                let metadata = value!({"resourceVersion": object.resource_version()});
                let objects = [object];
                let table = table::render(self.resource, &objects, metadata, self.include, headers, self.now);
                with_version(table, version)
            }
            Transform::Metadata(version) => partial(&object, version),
        }
    }

    /// A value in the form that the client wants.
    fn value(&self, code: u16, value: &Value) -> Result<Response<Body>, ApiError> {
        encoded(code, value, self.wanted.format)
    }
}

fn with_version(mut value: Value, version: &str) -> Value {
    if version != "v1" {
        value.set(&["apiVersion"], format!("meta.k8s.io/{version}"));
        if let Some(Value::Seq(rows)) = value.at_mut(&["rows"]) {
            for object in rows.make_mut().iter_mut().filter_map(|row| row.at_mut(&["object"])) {
                if object.str_at(&["kind"]) == Some("PartialObjectMetadata") {
                    object.set(&["apiVersion"], format!("meta.k8s.io/{version}"));
                }
            }
        }
    }
    value
}

fn partial(object: &Object, version: &str) -> Value {
    let mut value = value!({"kind": "PartialObjectMetadata"});
    value.set(&["apiVersion"], format!("meta.k8s.io/{version}"));
    value.set(&["metadata"], table::shown_metadata(object));
    value
}

/// A value as bytes in a form.
pub(super) fn encode(value: &Value, format: Format) -> Result<Bytes, ApiError> {
    Ok(match format {
        Format::Json => json_line(value, type_of(value)).into(),
        Format::Yaml => yaml::to_string(value).into(),
        Format::Protobuf => {
            let object = Object::new(value.clone()).unwrap_or_default();
            protobuf::encode(&object).map_err(ApiError::internal)?.into()
        }
    })
}

fn encoded(code: u16, value: &Value, format: Format) -> Result<Response<Body>, ApiError> {
    Ok(plain(code, format.media_type(), encode(value, format)?))
}

/// A refusal.
pub(super) fn failure(error: &ApiError, accept: &Accept) -> Response<Body> {
    let status = error.to_status();
    let mut response = encoded(error.code, &status, accept.status_format())
        .unwrap_or_else(|_| plain(error.code, Format::Json.media_type(), json::go_vec(&status)));
    let retry = status.int_at(&["details", "retryAfterSeconds"]);
    if let Some(seconds) = retry {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    for warning in &error.warnings {
        warn(&mut response, warning);
    }
    if error.code == 401 {
        let challenge = HeaderValue::from_static("Bearer realm=\"kubernetes-master\"");
        response.headers_mut().insert(http::header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// JSON that is the same for everyone, of a type of `meta/v1`.
pub(super) fn json_response(value: &Value, type_name: &str) -> Response<Body> {
    let ty = schema::builtin().named(&format!("meta/v1.{type_name}")).unwrap_or(TypeRef::untyped());
    plain(200, Format::Json.media_type(), json_line(value, ty))
}

/// The type of an object by its own account. Custom resources have none, and are printed in order of name.
pub(super) fn type_of(value: &Value) -> TypeRef<'static> {
    let text = |field| value.str_at(&[field]).unwrap_or_default();
    schema::builtin().of_manifest(text("apiVersion"), text("kind")).unwrap_or(TypeRef::untyped())
}

fn json_line(value: &Value, ty: TypeRef<'_>) -> String {
    let mut text = json::typed_string(value, ty);
    text.push('\n');
    text
}

/// Bytes of a media type.
pub(super) fn plain(code: u16, media_type: &str, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(bytes));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(media_type) = HeaderValue::try_from(media_type) {
        headers.insert(CONTENT_TYPE, media_type);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// The answer for a path that leads nowhere.
pub(super) fn page_not_found() -> Response<Body> {
    let mut response = plain(404, "text/plain; charset=utf-8", "404 page not found\n");
    let nosniff = (HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    response.headers_mut().insert(nosniff.0, nosniff.1);
    response
}

/// Compresses a large answer for a client that can read it.
pub(super) async fn compress(request: &HeaderMap, response: Response<Body>) -> Response<Body> {
    let size = response.body().size_hint().exact().unwrap_or(0);
    let accepted = request
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.split(';').next().is_some_and(|coding| coding.trim() == "gzip"));
    if !accepted || size <= limits::GZIP_FROM as u64 || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(collected) = body.collect().await;
    let bytes = collected.to_bytes();
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    match encoder.write_all(&bytes).and_then(|()| encoder.finish()) {
        Ok(compressed) => {
            parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
            Response::from_parts(parts, full(compressed))
        }
        Err(_) => Response::from_parts(parts, full(bytes)),
    }
}

/// Adds something that the client should tell its user.
pub(super) fn warn(response: &mut Response<Body>, text: &str) {
    if let Ok(text) = HeaderValue::try_from(format!("299 - {}", quoted(text))) {
        response.headers_mut().append(WARNING, text);
    }
}

/// A string in quotes, as a Warning header wants it; control characters are dropped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
    out
}
