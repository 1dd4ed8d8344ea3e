//! A patch of either kind, for what it names itself and for everything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lynceus_files::FilePath;
use lynceus_fuzz::{RESOURCES, try_build, with};

const KUSTOMIZATION: &str = "resources: [r.yaml]\npatches: [{path: fuzzed.yaml}]\n";
const TARGETED: &str = "resources: [r.yaml]\npatches: [{path: fuzzed.yaml, target: {kind: '.*'}}]\n";

fuzz_target!(|data: &[u8]| {
    for kustomization in [KUSTOMIZATION, TARGETED] {
        let files = [("kustomization.yaml", kustomization.as_bytes()), ("r.yaml", RESOURCES.as_bytes())];
        try_build(&with(&files, data), &FilePath::root());
    }
});
