//! Any bytes as an archive: as they are, and packed, because chance does not find a checksum.
#![no_main]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;
use lynceus_files::{FilePath, Tree as _};
use lynceus_fuzz::try_chart;
use lynceus_helm::Chart;

fuzz_target!(|data: &[u8]| {
    try_archive(data);
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    if packed.write_all(data).is_ok()
        && let Ok(packed) = packed.finish()
    {
        try_archive(&packed);
    }
});

fn try_archive(bytes: &[u8]) {
    if let Ok(tree) = Chart::unpack(bytes) {
        let _ = tree.list(&FilePath::root());
    }
    if let Ok(chart) = Chart::from_archive(bytes) {
        assert!(chart.raw().iter().all(|file| !file.name.starts_with(['/', '.']) || is_hidden(&file.name)));
        try_chart(chart);
    }
}

/// Whether a name begins with a dot as files do that are not shown, not as a path does that leads out.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.') && !name.split('/').any(|part| matches!(part, "." | ".."))
}
