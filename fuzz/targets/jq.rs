//! Any text as the jq expression of a rule, read and followed on one object. Its own bounds have to end it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::Ignore;
use lynceus_object::{Object, json};

/// The object that expressions are held to gojq on.
const OBJECT: &[u8] = include_bytes!("../../crates/diff/tests/jq/object.json");

static READ: LazyLock<Object> =
    LazyLock::new(|| json::parse(OBJECT).ok().and_then(|value| Object::new(value).ok()).unwrap_or_default());

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let rule = ResourceIgnoreDifferences {
        group: "*".into(),
        kind: "*".into(),
        jq_path_expressions: vec![text.into()],
        ..ResourceIgnoreDifferences::default()
    };
    let (ignore, errors) = Ignore::new([&rule]);
    for error in errors {
        let _ = error.to_string();
    }
    ignore.strip(&mut READ.clone());
});
