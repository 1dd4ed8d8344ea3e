//! What a kustomization names that is elsewhere, as anyone sees it.

use std::path::PathBuf;

use lynceus_engine::{Ways, get_base};
use lynceus_kustomize::{Fetched, Need};
use lynceus_source::{Repository, Settings, Sources};

/// Gets everything that is needed and not there yet. What cannot be had is remembered as that: a URL that is no file may
/// still be a repository, which the build decides.
pub(super) async fn fetch(needs: &[Need], fetched: &mut Fetched) {
    let sources = Sources::new(cache(), Settings::default());
    let ways =
        Ways { repository: &|url| Ok(Repository::at(url)), charts: &|url| Ok(Repository::charts(url)) };
    for need in needs {
        if !fetched.contains_key(need) {
            fetched.insert(need.clone(), get_base(&sources, need, &ways).await);
        }
    }
}

/// Where what was fetched is kept for the next time.
fn cache() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("XDG_CACHE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("lynceus/sources")
}
