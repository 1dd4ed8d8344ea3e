//! JSON patch (RFC 6902), with the leniences and the words of the library that API servers use.

use super::PatchError;
use crate::limits::JSON_PATCH_COPY_BYTES;
use crate::map::Map;
use crate::value::{Str, Value};

/// Applies a JSON patch: a list of operations, each on the result of the one before.
pub fn json(original: &Value, patch: &Value) -> Result<Value, PatchError> {
    let malformed = |found: &Value, wanted: &str| {
        let found = json_name(found);
        PatchError::Malformed(format!(
            "json: cannot unmarshal {found} into Go value of type jsonpatch.{wanted}"
        ))
    };
    let Value::Seq(operations) = patch else { return Err(malformed(patch, "Patch")) };
    let mut document = Document { root: original.clone(), copied: 0 };
    for operation in operations {
        let Value::Map(fields) = operation else { return Err(malformed(operation, "Operation")) };
        document.apply(fields).map_err(PatchError::Unprocessable)?;
    }
    Ok(document.root)
}

struct Document {
    root: Value,
    /// How many bytes `copy` has added, so that a small patch cannot make a huge object.
    copied: usize,
}

const MISSING: &str = "missing value";

impl Document {
    fn apply(&mut self, operation: &Map) -> Result<(), String> {
        let value = operation.get("value");
        match operation.get("op").and_then(Value::as_str).unwrap_or("unknown") {
            "add" => self.add(operation, value),
            "remove" => self.remove(operation),
            "replace" => self.replace(operation, value),
            "move" => self.relocate(operation),
            "copy" => self.copy(operation),
            "test" => self.test(operation, value),
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    fn add(&mut self, operation: &Map, value: Option<&Value>) -> Result<(), String> {
        let path = path(operation).map_err(|_| format!("add operation failed to decode path: {MISSING}"))?;
        let Some((holder, key)) = self.holder(path) else {
            return Err(format!("add operation does not apply: doc is missing path: \"{path}\": {MISSING}"));
        };
        add_to(holder, &key, value.cloned().unwrap_or_default())
            .map_err(|why| format!("error in add for path: '{path}': {why}"))
    }

    fn remove(&mut self, operation: &Map) -> Result<(), String> {
        let path =
            path(operation).map_err(|_| format!("remove operation failed to decode path: {MISSING}"))?;
        let Some((holder, key)) = self.holder(path) else {
            return Err(format!(
                "remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"
            ));
        };
        remove_from(holder, &key).map_err(|why| format!("error in remove for path: '{path}': {why}"))
    }

    fn replace(&mut self, operation: &Map, value: Option<&Value>) -> Result<(), String> {
        let path =
            path(operation).map_err(|why| format!("replace operation failed to decode path: {why}"))?;
        let value = value.cloned().unwrap_or_default();
        if path.is_empty() {
            if !matches!(value, Value::Map(_) | Value::Seq(_)) {
                return Err("replace operation value must be object or array: %!w(<nil>)".to_owned());
            }
            self.root = value;
            return Ok(());
        }
        let Some((holder, key)) = self.holder(path) else {
            return Err(format!("replace operation does not apply: doc is missing path: {path}: {MISSING}"));
        };
        match holder {
            // A key that is not there is added: the library is that lenient.
            Value::Map(map) => {
                map.insert(key, value);
            }
            Value::Seq(items) => {
                let at = existing_index(items.len(), &key).map_err(|_| {
                    format!("replace operation does not apply: doc is missing key: {path}: {MISSING}")
                })?;
                items.make_mut()[at] = value;
            }
            _ => {}
        }
        Ok(())
    }

    fn relocate(&mut self, operation: &Map) -> Result<(), String> {
        let from = from(operation).map_err(|why| format!("move operation failed to decode from: {why}"))?;
        let Some((holder, key)) = self.holder(from) else {
            return Err(format!(
                "move operation does not apply: doc is missing from path: {from}: {MISSING}"
            ));
        };
        let in_move = |why| format!("error in move for path: '{key}': {why}");
        let value = get_from(holder, &key).map_err(in_move)?.unwrap_or_default();
        remove_from(holder, &key).map_err(in_move)?;
        let path = path(operation).map_err(|why| format!("move operation failed to decode path: {why}"))?;
        let Some((holder, key)) = self.holder(path) else {
            return Err(format!(
                "move operation does not apply: doc is missing destination path: {path}: {MISSING}"
            ));
        };
        add_to(holder, &key, value).map_err(|why| format!("error in move for path: '{path}': {why}"))
    }

    fn copy(&mut self, operation: &Map) -> Result<(), String> {
        let from = from(operation).map_err(|why| format!("copy operation failed to decode from: {why}"))?;
        let Some((holder, key)) = self.holder(from) else {
            return Err(format!(
                "copy operation does not apply: doc is missing from path: {from}: {MISSING}"
            ));
        };
        let value = get_from(holder, &key)
            .map_err(|why| format!("error in copy for from: '{from}': {why}"))?
            .unwrap_or_default();
        let path = path(operation).map_err(|_| format!("copy operation failed to decode path: {MISSING}"))?;
        self.copied = self.copied.saturating_add(json_size(&value));
        let copied = self.copied;
        let Some((holder, key)) = self.holder(path) else {
            return Err(format!(
                "copy operation does not apply: doc is missing destination path: {path}: {MISSING}"
            ));
        };
        if copied > JSON_PATCH_COPY_BYTES {
            return Err(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {JSON_PATCH_COPY_BYTES}"
            ));
        }
        add_to(holder, &key, value).map_err(|why| format!("error while adding value during copy: {why}"))
    }

    fn test(&mut self, operation: &Map, value: Option<&Value>) -> Result<(), String> {
        let path = path(operation).map_err(|why| format!("test operation failed to decode path: {why}"))?;
        let found = if path.is_empty() {
            Some(self.root.clone())
        } else {
            let Some((holder, key)) = self.holder(path) else {
                return Err(format!("test operation does not apply: is missing path: {path}: {MISSING}"));
            };
            get_from(holder, &key).map_err(|why| format!("error in test for path: '{path}': {why}"))?
        };
        if found.unwrap_or_default() == *value.unwrap_or(&Value::Null) {
            return Ok(());
        }
        Err(format!("testing value {path} failed: test failed"))
    }

    /// The container that the last step of a path is looked up in, and that step.
    fn holder(&mut self, path: &str) -> Option<(&mut Value, Str)> {
        let (parents, last) = path.rsplit_once('/')?;
        let mut here = &mut self.root;
        // What stands before the first slash is ignored.
        for step in parents.split('/').skip(1) {
            let step = unescape(step);
            here = match here {
                Value::Map(map) => map.get_mut(&step)?,
                Value::Seq(items) => {
                    let at = existing_index(items.len(), &step).ok()?;
                    items.make_mut().get_mut(at)?
                }
                _ => return None,
            };
        }
        matches!(here, Value::Map(_) | Value::Seq(_)).then(|| (here, unescape(last)))
    }
}

fn path(operation: &Map) -> Result<&str, String> {
    text(operation, "path", "operation missing path field")
}

fn from(operation: &Map) -> Result<&str, String> {
    text(operation, "from", "operation, missing from field")
}

fn text<'m>(operation: &'m Map, field: &str, missing: &str) -> Result<&'m str, String> {
    match operation.get(field) {
        None | Some(Value::Null) => Err(format!("{missing}: {MISSING}")),
        Some(Value::Str(text)) => Ok(text),
        Some(other) => {
            Err(format!("json: cannot unmarshal {} into Go value of type string", json_name(other)))
        }
    }
}

fn unescape(step: &str) -> Str {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

fn get_from(holder: &Value, key: &str) -> Result<Option<Value>, String> {
    match holder {
        Value::Map(map) => Ok(map.get(key).cloned()),
        Value::Seq(items) => existing_index(items.len(), key).map(|at| items.get(at).cloned()),
        _ => Ok(None),
    }
}

fn add_to(holder: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match holder {
        Value::Map(map) => {
            map.insert(key, value);
        }
        Value::Seq(items) if key == "-" => items.push(value),
        Value::Seq(items) => {
            let at = parse_index(key)
                .map_err(|why| format!("value was not a proper array index: '{key}': {why}"))?;
            items.insert(within(at, items.len() + 1)?, value);
        }
        _ => {}
    }
    Ok(())
}

fn remove_from(holder: &mut Value, key: &str) -> Result<(), String> {
    match holder {
        Value::Map(map) => match map.remove(key) {
            Some(_) => Ok(()),
            None => Err(format!("Unable to remove nonexistent key: {key}: {MISSING}")),
        },
        Value::Seq(items) => {
            items.remove(existing_index(items.len(), key)?);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn existing_index(length: usize, key: &str) -> Result<usize, String> {
    within(parse_index(key)?, length)
}

/// An index into a list of `length` items; a negative one counts from the end.
fn within(index: i64, length: usize) -> Result<usize, String> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if index < 0 { index + length } else { index };
    usize::try_from(at)
        .ok()
        .filter(|_| at < length)
        .ok_or_else(|| format!("Unable to access invalid index: {index}: invalid index referenced"))
}

fn parse_index(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("strconv.Atoi: parsing {text:?}: invalid syntax"));
    }
    text.parse().map_err(|_| format!("strconv.Atoi: parsing {text:?}: value out of range"))
}

fn json_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Seq(_) => "array",
        Value::Map(_) => "object",
    }
}

/// About as many bytes as the value has in JSON.
fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Int(_) | Value::Float(_) => 8,
        Value::Str(text) => text.len() + 2,
        Value::Seq(items) => 2 + items.iter().map(|item| json_size(item) + 1).sum::<usize>(),
        Value::Map(map) => 2 + map.iter().map(|(key, value)| key.len() + 4 + json_size(value)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    fn applied(original: &Value, patch: &Value) -> Result<Value, String> {
        json(original, patch).map_err(|error| error.to_string())
    }

    #[test]
    fn each_operation_does_its_work() {
        let original = value!({"a": {"b": [1, 2, 3]}, "c/d": "x"});
        for (patch, expected) in [
            (
                value!([{"op": "add", "path": "/a/b/1", "value": 9}]),
                value!({"a": {"b": [1, 9, 2, 3]}, "c/d": "x"}),
            ),
            (
                value!([{"op": "add", "path": "/a/b/-", "value": 9}]),
                value!({"a": {"b": [1, 2, 3, 9]}, "c/d": "x"}),
            ),
            (value!([{"op": "remove", "path": "/a/b/-1"}]), value!({"a": {"b": [1, 2]}, "c/d": "x"})),
            (value!([{"op": "remove", "path": "/c~1d"}]), value!({"a": {"b": [1, 2, 3]}})),
            (value!([{"op": "replace", "path": "/a", "value": null}]), value!({"a": null, "c/d": "x"})),
            (
                value!([{"op": "replace", "path": "/new", "value": 1}]),
                value!({"a": {"b": [1, 2, 3]}, "c/d": "x", "new": 1}),
            ),
            (
                value!([{"op": "move", "from": "/a/b", "path": "/e"}]),
                value!({"a": {}, "c/d": "x", "e": [1, 2, 3]}),
            ),
            (
                value!([{"op": "copy", "from": "/c~1d", "path": "/a/b/0"}]),
                value!({"a": {"b": ["x", 1, 2, 3]}, "c/d": "x"}),
            ),
            (value!([{"op": "test", "path": "/a/b", "value": [1, 2, 3]}]), original.clone()),
            (value!([{"op": "test", "path": "/none", "value": null}]), original.clone()),
        ] {
            assert_eq!(applied(&original, &patch), Ok(expected), "{patch:?}");
        }
    }

    #[test]
    fn failures_are_told_in_the_words_that_clients_know() {
        let original = value!({"a": {"b": [1]}});
        for (patch, message) in [
            (
                value!([{"op": "remove", "path": "/x"}]),
                "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
            ),
            (
                value!([{"op": "add", "path": "/x/y", "value": 1}]),
                "add operation does not apply: doc is missing path: \"/x/y\": missing value",
            ),
            (
                value!([{"op": "add", "path": "/a/b/7", "value": 1}]),
                "error in add for path: '/a/b/7': Unable to access invalid index: 7: invalid index referenced",
            ),
            (
                value!([{"op": "replace", "path": "/a/b/7", "value": 1}]),
                "replace operation does not apply: doc is missing key: /a/b/7: missing value",
            ),
            (
                value!([{"op": "test", "path": "/a/b/0", "value": 2}]),
                "testing value /a/b/0 failed: test failed",
            ),
            (
                value!([{"op": "remove", "path": "/a/b/x"}]),
                "error in remove for path: '/a/b/x': strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            (value!([{"op": "frob", "path": "/a"}]), "Unexpected kind: frob"),
            (value!([{"op": "add", "value": 1}]), "add operation failed to decode path: missing value"),
            (value!({"op": "add"}), "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ] {
            assert_eq!(applied(&original, &patch), Err(message.to_owned()));
        }
    }

    #[test]
    fn copying_may_not_make_an_object_grow_without_end() {
        let mut operations = vec![value!({"op": "add", "path": "/a", "value": ["0123456789"]})];
        operations.extend((0..40).map(|_| value!({"op": "copy", "from": "/a", "path": "/a/-"})));
        let message = applied(&value!({}), &operations.into()).unwrap_err();
        assert!(message.starts_with("Unable to complete the copy"), "{message}");
    }
}
