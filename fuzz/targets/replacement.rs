//! Replacements, as a file that a kustomization names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lynceus_files::FilePath;
use lynceus_fuzz::{RESOURCES, try_build, with};

const KUSTOMIZATION: &str = "resources: [r.yaml]\nreplacements: [{path: fuzzed.yaml}]\n";

fuzz_target!(|data: &[u8]| {
    let files = [("kustomization.yaml", KUSTOMIZATION.as_bytes()), ("r.yaml", RESOURCES.as_bytes())];
    try_build(&with(&files, data), &FilePath::root());
});
