//! Repositories and files that are elsewhere, as anyone sees them: for commands that work without a controller.

use std::path::PathBuf;

use lynceus_source::{Settings, Sources};

/// Where to get them, with what was fetched kept for the next time.
pub(crate) fn sources() -> Sources {
    Sources::new(cache(), Settings::default())
}

/// Where what was fetched is kept.
pub(crate) fn cache() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("XDG_CACHE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("lynceus/sources")
}
