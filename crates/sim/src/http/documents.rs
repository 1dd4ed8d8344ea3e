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
pub(crate) struct Documents(Mutex<(u64, HashMap<String, Option<Document>>)>);

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
    _accept: &Accept,
) -> Option<Response<Body>> {
    let below = path.strip_prefix("/openapi/")?;
    let document = core.documents.get(core, below);
    let Some(document) = document else { return Some(page_not_found()) };
    let mut response = plain(200, "application/json", document.bytes);
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

impl Documents {
    fn get(&self, core: &Core, path: &str) -> Option<Document> {
        let registry = core.registry();
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if made.0 != registry.generation() {
            *made = (registry.generation(), HashMap::new());
        }
        if let Some(known) = made.1.get(path) {
            return known.clone();
        }
        let value: Option<Value> = match path {
            "v2" => Some(openapi::v2(&registry)),
            "v3" => Some(openapi::v3_index(&registry)),
            _ => path.strip_prefix("v3/").and_then(|group| openapi::v3_group(&registry, group)),
        };
        let document = value.map(|value| {
            let bytes: Bytes = json::to_vec(&value).into();
            let etag = format!("\"{}\"", hex(&Sha256::digest(&bytes))).into();
            Document { bytes, etag }
        });
        if document.is_some() {
            made.1.insert(path.to_owned(), document.clone());
        }
        document
    }
}
