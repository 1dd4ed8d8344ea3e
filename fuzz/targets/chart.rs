//! The files of a chart, in the form that the tests have them in: loaded, rendered and looked over.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lynceus_files::FilePath;
use lynceus_fuzz::{tree, try_chart, try_lint};
use lynceus_helm::Chart;

fuzz_target!(|data: &[u8]| {
    let tree = tree(data);
    let directory = FilePath::root();
    match Chart::from_tree(&tree, &directory) {
        Ok(chart) => try_chart(chart),
        Err(error) => drop(error.to_string()),
    }
    try_lint(&tree, &directory);
});
