//! The files of kustomizations, in the form that the tests have them in: each directory that may be one is built.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lynceus_files::FilePath;
use lynceus_fuzz::{try_build, tree};

fuzz_target!(|data: &[u8]| {
    let tree = tree(data);
    for directory in ["", "base", "overlay", "component", "merge", "json", "fields"] {
        if let Ok(directory) = FilePath::new(directory) {
            try_build(&tree, &directory);
        }
    }
});
