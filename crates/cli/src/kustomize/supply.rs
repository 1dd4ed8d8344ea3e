//! What a kustomization names that is elsewhere: files, Git repositories, charts.

use std::sync::Arc;

use lynceus_kustomize::{Fetched, Got, Need};
use lynceus_source::{Repository, Settings, SourceError, Sources};

/// Gets everything that is needed and not there yet. What cannot be had is remembered as that: a URL that is no file may
/// still be a repository, which the build decides.
pub(super) async fn fetch(needs: &[Need], fetched: &mut Fetched) {
    let sources = Sources::new(cache(), Settings::default());
    for need in needs {
        if !fetched.contains_key(need) {
            let got = get(&sources, need).await.unwrap_or_else(|error| Got::Failed(told(&error)));
            fetched.insert(need.clone(), got);
        }
    }
}

async fn get(sources: &Sources, need: &Need) -> Result<Got, SourceError> {
    match need {
        Need::File { url } => sources.file(url).await.map(Got::Bytes),
        Need::Repository { url, reference, .. } => {
            let repository = Repository::at(url.as_str());
            let revision = if reference.is_empty() { "HEAD" } else { reference.as_str() };
            let revision = sources.resolve(&repository, revision).await?;
            sources.tree(&repository, &revision).await.map(Got::Tree)
        }
        Need::Chart { repository, name, version } => {
            let repository = Repository::charts(repository.as_str());
            let version = sources.chart_version(&repository, name, version).await?;
            let archive: Arc<[u8]> = sources.chart_archive(&repository, &version).await?;
            Ok(Got::Bytes(archive))
        }
    }
}

/// Where what was fetched is kept for the next time.
fn cache() -> std::path::PathBuf {
    let named =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(std::path::PathBuf::from);
    named("XDG_CACHE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("lynceus/sources")
}

fn told(error: &SourceError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
