//! One request and what a real server answered.

use lynceus_object::{Object, Value, json, protobuf, value};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// What stands in a text for bytes that it could not hold.
const LOST: char = '\u{fffd}';

/// One request and its answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Recording {
    pub(super) number: i64,
    pub(super) method: String,
    /// With the query.
    pub(super) path: String,
    pub(super) accept: String,
    pub(super) content_type: String,
    pub(super) body: String,
    pub(super) status: i64,
    pub(super) answer_type: String,
    pub(super) answer: String,
}

impl Recording {
    pub(super) fn read(case: &Value) -> Self {
        let text = |field: &str| case.str_at(&[field]).unwrap_or_default().to_owned();
        Recording {
            number: case.int_at(&["seq"]).unwrap_or_default(),
            method: text("method"),
            path: text("path"),
            accept: text("accept"),
            content_type: text("ct"),
            body: text("req"),
            status: case.int_at(&["status"]).unwrap_or_default(),
            answer_type: text("rct"),
            answer: text("resp"),
        }
    }

    /// Why the request cannot be sent again, if it cannot.
    pub(super) fn cannot_be_replayed(&self) -> Option<&'static str> {
        if self.is_watch() {
            return Some("a watch: what it says depends on when others write");
        }
        if self.content_type == PROTOBUF && self.body.contains(LOST) {
            return Some("its protobuf body was recorded as text, which lost bytes");
        }
        None
    }

    pub(super) fn is_watch(&self) -> bool {
        self.query().any(|(key, value)| key == "watch" && value != "false" && value != "0")
    }

    pub(super) fn query(&self) -> impl Iterator<Item = (&str, &str)> {
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|pair| pair.split_once('='))
    }

    /// The path without the query.
    pub(super) fn bare_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// The answer, if enough of it was kept to be read.
    pub(super) fn answered(&self) -> Option<Value> {
        if self.answer_type.starts_with(PROTOBUF) {
            if self.answer.contains(LOST) {
                return None;
            }
            return protobuf::decode(self.answer.as_bytes()).ok().map(Object::into_value);
        }
        json::parse(self.answer.as_bytes()).ok()
    }

    /// The objects that the answer shows, each with the collection that it lies in.
    pub(super) fn objects(&self) -> Vec<(Object, String)> {
        let Some(answer) = self.answered().filter(|_| (200..300).contains(&self.status)) else {
            return Vec::new();
        };
        let is_whole = |object: &Object| !matches!(object.kind(), "Status" | "Table" | "");
        if !self.is_collection() || self.method == "POST" {
            let whole = Object::new(answer).ok().filter(is_whole);
            return whole.into_iter().map(|object| (object, self.collection())).collect();
        }
        let kind = answer.str_at(&["kind"]).unwrap_or_default().trim_end_matches("List").to_owned();
        let version = answer.str_at(&["apiVersion"]).unwrap_or_default().to_owned();
        let item = |item: &Value| {
            let mut item = item.clone();
            item.set(&["kind"], kind.clone());
            item.set(&["apiVersion"], version.clone());
            Object::new(item).ok()
        };
        answer
            .items_at(&["items"])
            .iter()
            .filter_map(item)
            .map(|object| (object, self.collection()))
            .collect()
    }

    /// Whether the request left a new object behind.
    pub(super) fn creates(&self) -> bool {
        self.method == "POST" && self.status == 201 && self.query().all(|(key, _)| key != "dryRun")
    }

    /// The objects of a table's rows, as far as it shows them.
    pub(super) fn rows(&self, version: &str, kind: &str) -> Vec<Object> {
        let row = |row: &Value| {
            let metadata = row.at(&["object", "metadata"])?.clone();
            Object::new(value!({"apiVersion": version, "kind": kind, "metadata": metadata})).ok()
        };
        let answer = self.answered().unwrap_or_default();
        answer.items_at(&["rows"]).iter().filter_map(row).collect()
    }

    /// The name of an object in `collection` that the path speaks of.
    pub(super) fn name_within(&self, collection: &str) -> Option<&str> {
        let rest = self.bare_path().strip_prefix(collection)?.strip_prefix('/')?;
        rest.split('/').next()
    }

    pub(super) fn asks_for_protobuf(&self) -> bool {
        self.accept.starts_with(PROTOBUF)
    }

    /// The path of the collection that a create goes to, or that an object's path lies in.
    pub(super) fn collection(&self) -> String {
        let path = self.bare_path();
        if self.method == "POST" || self.is_collection() {
            return path.to_owned();
        }
        path.rsplit_once('/').map_or(path, |(collection, _)| collection).to_owned()
    }

    /// Whether the path is one of a group's version, which is answered with its resources.
    pub(super) fn is_discovery(&self) -> bool {
        matches!(self.bare_path().trim_matches('/').split('/').collect::<Vec<_>>()[..], ["apis", _, _])
    }

    /// Whether the path is one of a collection: `…/v1/pods`, `…/namespaces/x/pods`.
    pub(super) fn is_collection(&self) -> bool {
        let parts: Vec<&str> = self.bare_path().trim_matches('/').split('/').collect();
        let skip = if parts.first() == Some(&"api") { 2 } else { 3 };
        matches!(parts.get(skip..).unwrap_or_default(), [_] | ["namespaces", _, _])
    }
}
