//! Turning an instance into another version of its kind.
//!
//! Without a webhook only `apiVersion` changes. With one, the caller sends [`review`] and reads the
//! answer with [`unpack`]: this module does no IO.

use lynceus_object::{Object, Value, value};

use super::{default, prune};
use crate::ApiError;
use crate::kinds::Resource;

/// Turns an instance into another version of its kind by changing `apiVersion`. What the version does
/// not know goes, and what it has a default for is filled in: also when the schema changed after the
/// instance was written.
pub fn convert(mut object: Object, to: &Resource) -> Result<Object, ApiError> {
    object.set(&["apiVersion"], to.api_version());
    if let Some(custom) = &to.custom {
        prune::prune(object.value_mut(), &custom.schema);
        default::fill(object.value_mut(), &custom.schema);
    }
    Ok(object)
}

/// The ConversionReview that asks a webhook for objects in another version.
pub fn review(uid: &str, objects: &[Object], desired: &str) -> Value {
    let objects: Vec<Value> = objects.iter().map(|object| object.value().clone()).collect();
    value!({
        "kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1",
        "request": {"uid": uid, "desiredAPIVersion": desired, "objects": objects},
    })
}

/// The converted objects of a webhook's answer, checked against what was asked.
pub fn unpack(answer: &Value, uid: &str, asked: &[Object], desired: &str) -> Result<Vec<Object>, String> {
    let response = answer.get("response").filter(|response| !response.is_null()).ok_or("no response provided")?;
    if response.str_at(&["uid"]) != Some(uid) {
        return Err(format!("expected response.uid={uid:?}, got {:?}", response.str_at(&["uid"]).unwrap_or_default()));
    }
    if response.str_at(&["result", "status"]) != Some("Success") {
        return Err(response.str_at(&["result", "message"]).unwrap_or_default().to_owned());
    }
    let converted = response.items_at(&["convertedObjects"]);
    if converted.len() != asked.len() {
        return Err(format!(
            "conversion webhook returned {} objects, expected {}",
            converted.len(),
            asked.len()
        ));
    }
    converted.iter().zip(asked).enumerate().map(|(at, (value, asked))| check(value, asked, at, desired)).collect()
}

fn check(value: &Value, asked: &Object, at: usize, desired: &str) -> Result<Object, String> {
    let object = Object::new(value.clone()).map_err(|_| format!("invalid converted object at index {at}"))?;
    let wrong = |what: &str| format!("invalid converted object at index {at}: invalid {what}");
    if object.api_version() != desired {
        return Err(wrong("groupVersion"));
    }
    if object.kind() != asked.kind() {
        return Err(wrong("kind"));
    }
    if [("name"), ("namespace"), ("uid")].iter().any(|field| object.meta_str(field) != asked.meta_str(field)) {
        return Err(wrong("metadata"));
    }
    // A webhook may change labels and annotations; the rest of the metadata is the server's.
    let mut out = object.clone();
    let mut metadata = asked.at(&["metadata"]).cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        match object.at(&["metadata", field]) {
            Some(found) => metadata.set(&[field], found.clone()),
            None => drop(metadata.remove(&[field])),
        }
    }
    out.set(&["metadata"], metadata);
    Ok(out)
}
