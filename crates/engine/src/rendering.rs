//! From sources to manifests: resolve, read, render, each remembered by content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::ApplicationSource;
use lynceus_files::FilePath;
use lynceus_render::{RenderError, Rendered, render};
use lynceus_source::{Book, Repository, Revision, SourceError, Sources, Target};

use crate::limits;
use crate::queue::Freshness;

/// One source at one revision, rendered.
#[derive(Clone)]
pub struct Sourced {
    /// The source as the application has it.
    pub source: ApplicationSource,
    /// The commit that it was taken from, and what that was resolved from.
    pub revision: Revision,
    /// What it became.
    pub rendered: Arc<Rendered>,
}

/// Why a source gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum RenderingError {
    /// The revision, the files or the path could not be had.
    #[error("cannot read {repository}")]
    Source {
        /// The repository, without credentials.
        repository: String,
        /// What is wrong.
        #[source]
        source: SourceError,
    },
    /// The files could not be made into manifests.
    #[error("cannot render {path} of {repository}")]
    Render {
        /// The repository, without credentials.
        repository: String,
        /// The path in it.
        path: String,
        /// What is wrong.
        #[source]
        source: RenderError,
    },
    /// The work was stopped.
    #[error("rendering was interrupted")]
    Interrupted,
}

/// What a revision was resolved from: repository, name, and the prefix of tags.
type Asked = (String, String, String);

/// Renders sources and remembers what they became.
pub struct Renderer {
    sources: Sources,
    rendered: Mutex<Remembered>,
    resolved: Mutex<HashMap<Asked, (Revision, Timestamp)>>,
}

impl Renderer {
    /// Reads repositories through `sources`.
    pub fn new(sources: Sources) -> Self {
        Renderer { sources, rendered: Mutex::default(), resolved: Mutex::default() }
    }

    /// The repositories.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Renders one source. `pinned` is the revision to take instead of the source's own, if there is one.
    pub async fn render(
        &self,
        book: &Arc<Book>,
        project: &str,
        source: &ApplicationSource,
        pinned: Option<&str>,
        freshness: Freshness,
        now: Timestamp,
    ) -> Result<Sourced, RenderingError> {
        let repository = book.find(&source.repo_url, project);
        let shown = repository.shown();
        let failed = |source: SourceError| RenderingError::Source { repository: shown.clone(), source };
        let revision = self.resolve(&repository, source, pinned, freshness, now).await.map_err(failed)?;
        let cached = (freshness < Freshness::Anew).then(|| self.remembered(source, &revision)).flatten();
        let rendered = match cached {
            Some(rendered) => rendered,
            None => {
                let tree = self.sources.tree(&repository, &revision).await.map_err(failed)?;
                let path = FilePath::new(&source.path).map_err(|error| RenderingError::Render {
                    repository: shown.clone(),
                    path: source.path.to_string(),
                    source: error.into(),
                })?;
                self.sources.check_path(&repository, &revision, &*tree, &path).await.map_err(failed)?;
                let wanted = source.clone();
                let rendered = tokio::task::spawn_blocking(move || render(&*tree, &wanted))
                    .await
                    .map_err(|_| RenderingError::Interrupted)?
                    .map_err(|error| RenderingError::Render {
                        repository: shown.clone(),
                        path: source.path.to_string(),
                        source: error,
                    })?;
                self.remember(source, &revision, Arc::new(rendered))
            }
        };
        Ok(Sourced { source: source.clone(), revision, rendered })
    }

    /// The commit that a source stands at. Without a need for the latest, what was found last time will do.
    async fn resolve(
        &self,
        repository: &Repository,
        source: &ApplicationSource,
        pinned: Option<&str>,
        freshness: Freshness,
        now: Timestamp,
    ) -> Result<Revision, SourceError> {
        let wanted = pinned.unwrap_or(&source.target_revision);
        let key = (repository.url.clone(), wanted.to_owned(), source.tag_prefix.to_string());
        if freshness == Freshness::Recent
            && let Some((revision, _)) =
                self.resolved.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
        {
            return Ok(revision.clone());
        }
        let target = Target { revision: wanted, tag_prefix: &source.tag_prefix };
        let revision = self.sources.resolve(repository, target).await?;
        let mut resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        resolved.insert(key, (revision.clone(), now));
        // What nobody has asked for in a day belongs to an application that is gone.
        let old = Duration::from_secs(24 * 3600);
        resolved.retain(|_, (_, at)| now.duration_since(*at).unsigned_abs() < old);
        Ok(revision)
    }

    fn remembered(&self, source: &ApplicationSource, revision: &Revision) -> Option<Arc<Rendered>> {
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner).get(&memory_key(source, revision))
    }

    fn remember(
        &self,
        source: &ApplicationSource,
        revision: &Revision,
        rendered: Arc<Rendered>,
    ) -> Arc<Rendered> {
        let mut memory = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        memory.insert(memory_key(source, revision), rendered.clone());
        rendered
    }
}

/// What a rendering depends on: the commit and every field of the source but the name of the revision.
fn memory_key(source: &ApplicationSource, revision: &Revision) -> String {
    let mut source = source.clone();
    source.target_revision = Default::default();
    let fields = serde_json::to_string(&source).unwrap_or_default();
    format!("{}\n{fields}", revision.commit)
}

/// The last renderings, the oldest forgotten first.
#[derive(Default)]
struct Remembered {
    entries: HashMap<String, (u64, Arc<Rendered>)>,
    uses: u64,
}

impl Remembered {
    fn get(&mut self, key: &str) -> Option<Arc<Rendered>> {
        self.uses += 1;
        let (used, rendered) = self.entries.get_mut(key)?;
        *used = self.uses;
        Some(rendered.clone())
    }

    fn insert(&mut self, key: String, rendered: Arc<Rendered>) {
        self.uses += 1;
        self.entries.insert(key, (self.uses, rendered));
        if self.entries.len() > limits::RENDERED {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.entries.remove(&oldest);
            }
        }
    }
}
