//! Turning instances into another version of their kind, by name only or by a webhook.
//!
//! This module knows what is asked and what an answer means; the call itself is made by
//! [`Core`](crate::core::Core).

use lynceus_object::{Gvk, Object, Str, Value, value};

use super::{default, prune};
use crate::hook;
use crate::kinds::Resource;

/// A webhook that converts the instances of a definition.
#[derive(Debug)]
pub struct Webhook {
    /// The `clientConfig` that says where it is.
    pub(crate) client: Value,
    /// The version of ConversionReview that it is sent: the first that both sides know.
    review: Option<&'static str>,
}

const REVIEWS: [&str; 2] = ["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"];

impl Webhook {
    /// The webhook of a definition's `spec.conversion`, unless versions differ in name only.
    pub(super) fn of(conversion: &Value) -> Option<Self> {
        if conversion.str_at(&["strategy"]) != Some("Webhook") {
            return None;
        }
        let webhook = conversion.get("webhook")?;
        let review = webhook.items_at(&["conversionReviewVersions"]).iter().find_map(|version| {
            let version = version.as_str()?;
            REVIEWS.into_iter().find(|known| known.rsplit('/').next() == Some(version))
        });
        Some(Webhook { client: webhook.get("clientConfig").cloned().unwrap_or_default(), review })
    }

    /// What is sent to have objects in the version `wanted`.
    pub(crate) fn request(&self, uid: &str, wanted: &str, objects: &[&Object]) -> Result<Value, String> {
        let review = self.review.ok_or("no supported conversion review versions")?;
        let objects: Value = objects.iter().map(|object| object.value().clone()).collect();
        Ok(value!({
            "kind": "ConversionReview", "apiVersion": review,
            "request": {"uid": uid, "desiredAPIVersion": wanted, "objects": objects},
        }))
    }

    /// The objects of an answer, in the order of those that were sent.
    pub(crate) fn answer(
        &self,
        answer: &Value,
        uid: &str,
        wanted: &str,
        sent: &[&Object],
    ) -> Result<Vec<Object>, String> {
        let of = sent.first().map(|object| object.gvk()).unwrap_or_default();
        let converted = self
            .converted(answer, uid)
            .map_err(|problem| format!("conversion webhook for {of} failed: {problem}"))?;
        if converted.len() != sent.len() {
            let (found, expected) = (converted.len(), sent.len());
            return Err(format!("conversion webhook for {of} returned {found} objects, expected {expected}"));
        }
        sent.iter()
            .zip(converted)
            .map(|(before, after)| {
                accept(before, after, wanted)
                    .map_err(|problem| format!("conversion webhook for {of} returned invalid {problem}"))
            })
            .collect()
    }

    fn converted<'a>(&self, answer: &'a Value, uid: &str) -> Result<&'a [Value], String> {
        let is_current = self.review == Some(REVIEWS[0]);
        let word = |field: &str| answer.str_at(&[field]).unwrap_or_default();
        let found = Gvk::from_manifest(word("apiVersion"), word("kind"));
        let expected = Gvk::from_manifest(REVIEWS[0], "ConversionReview");
        if is_current
            && found.group == expected.group
            && found.version == expected.version
            && found != expected
        {
            return Err(hook::unknown_kind(word("kind"), word("apiVersion")));
        }
        if is_current && found != expected {
            return Err(format!("expected webhook response of {expected}, got {found}"));
        }
        let response =
            answer.get("response").filter(|response| !response.is_null()).ok_or("no response provided")?;
        let found = response.str_at(&["uid"]).unwrap_or_default();
        if is_current && found != uid {
            return Err(format!("expected response.uid={uid:?}, got {found:?}"));
        }
        let status = response.str_at(&["result", "status"]).unwrap_or_default();
        if status == "Success" {
            return Ok(response.items_at(&["convertedObjects"]));
        }
        Err(match response.str_at(&["result", "message"]) {
            Some(message) if !message.is_empty() => message.to_owned(),
            _ => format!("response.result.status was '{status}', not 'Success'"),
        })
    }
}

/// Checks a converted object against the one that was sent. Of its metadata only labels and
/// annotations are the webhook's to change.
fn accept(before: &Object, after: &Value, wanted: &str) -> Result<Object, String> {
    let at = |problem: String| format!("object at index 0: {problem}");
    let word = |field: &str| after.str_at(&[field]).unwrap_or_default();
    if word("apiVersion") != wanted {
        let found = word("apiVersion");
        return Err(at(format!("invalid groupVersion (expected {wanted}, received {found})")));
    }
    if word("kind") != before.kind() {
        return Err(at(format!("invalid kind (expected {}, received {})", before.kind(), word("kind"))));
    }
    for (field, shown) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (old, new) = (before.meta_str(field), after.str_at(&["metadata", field]).unwrap_or_default());
        if old != new {
            return Err(format!("object: must have the same {shown}: {old} != {new}"));
        }
    }
    let metadata = after.get("metadata").ok_or("metadata: missing metadata in converted object")?;
    let mut kept = before.at(&["metadata"]).cloned().unwrap_or_default();
    for field in ["labels", "annotations"] {
        match metadata.get(field).filter(|words| !words.is_null()) {
            None => drop(kept.remove(&[field])),
            Some(words) => {
                check_words(field, words).map_err(|problem| format!("metadata: {problem}"))?;
                kept.set(&[field], words.clone());
            }
        }
    }
    let mut object = Object::new(after.clone()).map_err(|_| at("it is no map".into()))?;
    object.set(&["metadata"], kept);
    Ok(object)
}

fn check_words(field: &str, words: &Value) -> Result<(), String> {
    let Value::Map(words) = words else {
        let found = super::instance::go_type(words);
        return Err(format!("invalid metadata.{field} of type {found} in converted object"));
    };
    match words.iter().find(|(_, value)| value.as_str().is_none()) {
        None => Ok(()),
        Some((key, value)) => {
            let found = super::instance::go_type(value);
            Err(format!("metadata.{field}[{key}] must be a string, but is {found} in converted object"))
        }
    }
}

/// An instance in a version that differs from its own in name only, or that a webhook gave it. What
/// the version does not know goes, and what it has a default for is filled in: also when the schema
/// changed after the instance was written.
pub fn convert(object: Object, to: &Resource) -> Object {
    let Some(custom) = &to.custom else { return object };
    let mut object = rename(object, &to.api_version());
    prune::prune(object.value_mut(), &custom.schema);
    default::fill(object.value_mut(), &custom.schema);
    object
}

/// An instance of `from` as it is stored: what the stored version does not know is lost.
pub fn keep(object: Object, from: &Resource) -> Object {
    let mut object = rename(object, &from.storage.api_version());
    if let Some(schema) = from.custom.as_ref().and_then(|custom| custom.stored.as_deref()) {
        prune::prune(object.value_mut(), schema);
        default::fill(object.value_mut(), schema);
    }
    object
}

fn rename(mut object: Object, api_version: &str) -> Object {
    if object.api_version() != api_version {
        object.set(&["apiVersion"], Str::from(api_version));
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook() -> Webhook {
        Webhook::of(&value!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v7", "v1"]}}))
            .unwrap()
    }

    fn thing(version: &str) -> Object {
        Object::new(value!({"apiVersion": format!("e.com/{version}"), "kind": "Thing",
            "metadata": {"name": "x", "uid": "1", "labels": {"a": "b"}, "finalizers": ["f"]}}))
        .unwrap()
    }

    /// What becomes of a Thing of `v1` after the answer's response was changed at a path.
    fn answered(path: &[&str], change: Value) -> String {
        let sent = thing("v1");
        let mut answer = value!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1",
            "response": {"uid": "u", "result": {"status": "Success"}}});
        let mut converted = thing("v2").into_value();
        match path {
            ["object", rest @ ..] => converted.set(rest, change),
            _ => {
                answer.set(&["response", "convertedObjects"], vec![converted.clone()]);
                answer.set(path, change);
            }
        }
        if path.first() == Some(&"object") {
            answer.set(&["response", "convertedObjects"], vec![converted]);
        }
        match webhook().answer(&answer, "u", "e.com/v2", &[&sent]) {
            Ok(objects) => {
                objects.iter().map(|object| lynceus_object::json::to_string(object.value())).collect()
            }
            Err(problem) => problem,
        }
    }

    #[test]
    fn the_first_review_that_both_know_is_sent() {
        let sent = webhook().request("u", "e.com/v2", &[&thing("v1")]).unwrap();
        assert_eq!(sent.str_at(&["apiVersion"]), Some("apiextensions.k8s.io/v1"));
        assert_eq!(sent.str_at(&["request", "desiredAPIVersion"]), Some("e.com/v2"));
        assert_eq!(sent.items_at(&["request", "objects"]).len(), 1);
    }

    #[test]
    fn only_labels_and_annotations_are_the_webhooks_to_change() {
        let found =
            answered(&["object", "metadata"], value!({"name": "x", "uid": "1", "labels": {"c": "d"}}));
        assert!(found.contains(r#""finalizers":["f"],"labels":{"c":"d"}"#), "{found}");
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_said() {
        let of = "conversion webhook for e.com/v1, Kind=Thing";
        for (path, change, expected) in [
            (&["response", "uid"][..], value!("v"), "failed: expected response.uid=\"u\", got \"v\""),
            (&["response"], value!(null), "failed: no response provided"),
            (
                &["response", "result"],
                value!({"status": "Failed"}),
                "failed: response.result.status was 'Failed', not 'Success'",
            ),
            (&["response", "result"], value!({"message": "no such field"}), "failed: no such field"),
            (&["response", "convertedObjects"], value!([]), "returned 0 objects, expected 1"),
            (
                &["object", "kind"],
                value!("Other"),
                "returned invalid object at index 0: invalid kind (expected Thing, received Other)",
            ),
            (
                &["object", "metadata", "name"],
                value!("y"),
                "returned invalid object: must have the same name: x != y",
            ),
            (
                &["object", "metadata", "labels"],
                value!({"a": 1}),
                "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
            ),
        ] {
            assert_eq!(answered(path, change), format!("{of} {expected}"));
        }
    }
}
