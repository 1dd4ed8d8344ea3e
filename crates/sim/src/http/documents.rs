//! The OpenAPI documents, made once for each state of the registry.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use lynceus_object::{Value, json};
use sha2::{Digest, Sha256};

use super::discovery::hex;
use super::negotiate::Accept;
use super::output::{page_not_found, plain};
use super::{Body, full};
use crate::core::Core;
use crate::openapi;

/// What was made so far, for one generation of the registry.
#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<Made>);

#[derive(Debug, Default)]
struct Made {
    generation: u64,
    documents: HashMap<(String, Form), Document>,
}

#[derive(Clone, Debug)]
struct Document {
    bytes: Bytes,
    etag: Arc<str>,
}

/// Answers `/openapi/v2`, `/openapi/v3` and below.
pub(super) fn answer(
    core: &Core,
    path: &str,
    headers: &HeaderMap,
    accept: &Accept,
) -> Option<Response<Body>> {
    let below = path.strip_prefix("/openapi/")?;
    let Some(form) = Form::wanted(accept, below == "v2") else {
        return Some(plain(406, "text/plain; charset=utf-8", Bytes::new()));
    };
    let document = core.documents.get(core, below, form);
    let Some(document) = document else { return Some(page_not_found()) };
    let mut response = plain(200, form.media_type(), document.bytes);
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == document.etag.as_bytes()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = full("");
    }
    if let Ok(etag) = HeaderValue::try_from(&*document.etag) {
        response.headers_mut().insert(ETAG, etag);
    }
    Some(response)
}

/// What a document is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Json,
    Protobuf,
}

/// The name that gnostic's protobuf goes by, and the one it had before, which is no media type.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

impl Form {
    /// The first form that the client takes and that there is.
    fn wanted(accept: &Accept, protobuf: bool) -> Option<Self> {
        let clauses = accept.clauses();
        let known = clauses.iter().find_map(|clause| match clause.media_type() {
            _ if clause.is_json() => Some(Form::Json),
            name if protobuf && PROTOBUF.contains(&name) => Some(Form::Protobuf),
            _ => None,
        });
        if clauses.is_empty() { Some(Form::Json) } else { known }
    }

    fn media_type(self) -> &'static str {
        match self {
            Form::Json => "application/json",
            Form::Protobuf => PROTOBUF[0],
        }
    }
}

impl Documents {
    fn get(&self, core: &Core, path: &str, form: Form) -> Option<Document> {
        let registry = core.registry();
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if made.generation != registry.generation() {
            *made = Made { generation: registry.generation(), documents: HashMap::new() };
        }
        let key = (path.to_owned(), form);
        if let Some(known) = made.documents.get(&key) {
            return Some(known.clone());
        }
        let value: Option<Value> = match path {
            "v2" => Some(openapi::v2(&registry)),
            "v3" => Some(openapi::v3_index(&registry)),
            _ => path.strip_prefix("v3/").and_then(|group| openapi::v3_group(&registry, group)),
        };
        let document = value.map(|value| {
            let bytes: Bytes = match form {
                Form::Json => json::to_vec(&value).into(),
                Form::Protobuf => openapi::v2_protobuf(&value).into(),
            };
            let etag = format!("\"{}\"", hex(&Sha256::digest(&bytes))).into();
            Document { bytes, etag }
        })?;
        made.documents.insert(key, document.clone());
        Some(document)
    }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn a_document_comes_in_the_first_form_that_there_is() {
        for (accept, expected) in [
            ("", Some(Form::Json)),
            ("*/*", Some(Form::Json)),
            (PROTOBUF[0], Some(Form::Protobuf)),
            (PROTOBUF[1], Some(Form::Protobuf)),
            (
                "application/com.github.proto-openapi.spec.v2@v1.0+protobuf, application/json",
                Some(Form::Protobuf),
            ),
            ("application/json;q=0.9, application/yaml", Some(Form::Json)),
            ("application/yaml", None),
        ] {
            let mut headers = HeaderMap::new();
            if !accept.is_empty() {
                headers.insert(ACCEPT, accept.parse().unwrap());
            }
            assert_eq!(Form::wanted(&Accept::of(&headers), true), expected, "{accept}");
        }
    }
}
