//! Any bytes as the text of a template; a first line that begins with `!` says how actions are marked.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use lynceus_gotmpl::{Functions, Str, Templates, sprig};

static FUNCTIONS: LazyLock<Arc<Functions>> = LazyLock::new(|| Arc::new(sprig::functions()));

fuzz_target!(|data: &[u8]| {
    let mut templates = Templates::new("t", FUNCTIONS.clone());
    let mut text = data;
    if let Some(marked) = data.strip_prefix(b"!") {
        let end = marked.iter().position(|byte| *byte == b'\n').unwrap_or(marked.len());
        let marks = String::from_utf8_lossy(&marked[..end]).into_owned();
        let (left, right) = marks.split_once(' ').unwrap_or((&marks, ""));
        templates = templates.with_delims(left, right);
        text = &marked[end..];
    }
    match templates.parse(&"t".into(), &Str::from_bytes(text)) {
        // What was parsed can be shown again, as errors do.
        Ok(tree) => drop(format!("{}", tree.name())),
        Err(error) => drop(error.to_string()),
    }
});
