//! From sources to manifests: resolve, read, render, each remembered by content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use lynceus_api::ApplicationSource;
use lynceus_files::{FilePath, Severity, Tree};
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
    rendered: Mutex<Remembered<Arc<Rendered>>>,
    /// What each source became last, at whatever commit.
    last: Mutex<Remembered<Made>>,
    resolved: Mutex<HashMap<Asked, (Revision, Timestamp)>>,
}

impl Renderer {
    /// Reads repositories through `sources`.
    pub fn new(sources: Sources) -> Self {
        Renderer { sources, rendered: Mutex::default(), last: Mutex::default(), resolved: Mutex::default() }
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
                let last = (freshness < Freshness::Anew).then(|| self.last(source)).flatten();
                let work = move || {
                    last.map_or_else(|| render_anew(&*tree, &wanted), |last| last.again(&*tree, &wanted))
                };
                let made = tokio::task::spawn_blocking(work)
                    .await
                    .map_err(|_| RenderingError::Interrupted)?
                    .map_err(|error| RenderingError::Render {
                        repository: shown.clone(),
                        path: source.path.to_string(),
                        source: error,
                    })?;
                self.remember(source, &revision, made)
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

    fn remember(&self, source: &ApplicationSource, revision: &Revision, made: Made) -> Arc<Rendered> {
        let rendered = made.rendered.clone();
        self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(source_key(source), made);
        let mut memory = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        memory.insert(memory_key(source, revision), rendered.clone());
        rendered
    }

    fn last(&self, source: &ApplicationSource) -> Option<Made> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).get(&source_key(source))
    }
}

/// What a source became, and what the files looked like that were read for it.
#[derive(Clone)]
struct Made {
    rendered: Arc<Rendered>,
    /// None if they cannot be told from others without reading them.
    fingerprint: Option<String>,
}

impl Made {
    /// The same again if none of the files that were read has changed: a commit to another folder costs no rendering.
    fn again(self, tree: &dyn Tree, source: &ApplicationSource) -> Result<Made, RenderError> {
        if self.fingerprint.is_some() && self.rendered.read_set.fingerprint(tree) == self.fingerprint {
            return Ok(self);
        }
        render_anew(tree, source)
    }
}

fn render_anew(tree: &dyn Tree, source: &ApplicationSource) -> Result<Made, RenderError> {
    let rendered = render(tree, source)?;
    // What could not be read may be readable the next time.
    let whole = rendered.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
    let fingerprint = whole.then(|| rendered.read_set.fingerprint(tree)).flatten();
    Ok(Made { rendered: Arc::new(rendered), fingerprint })
}

/// What a rendering depends on: the commit and every field of the source but the name of the revision.
fn memory_key(source: &ApplicationSource, revision: &Revision) -> String {
    format!("{}\n{}", revision.commit, source_key(source))
}

/// Every field of a source but the name of the revision.
fn source_key(source: &ApplicationSource) -> String {
    let mut source = source.clone();
    source.target_revision = Default::default();
    serde_json::to_string(&source).unwrap_or_default()
}

/// The last renderings, the oldest forgotten first.
struct Remembered<T> {
    entries: HashMap<String, (u64, T)>,
    uses: u64,
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Remembered { entries: HashMap::new(), uses: 0 }
    }
}

impl<T: Clone> Remembered<T> {
    fn get(&mut self, key: &str) -> Option<T> {
        self.uses += 1;
        let (used, kept) = self.entries.get_mut(key)?;
        *used = self.uses;
        Some(kept.clone())
    }

    fn insert(&mut self, key: String, kept: T) {
        self.uses += 1;
        self.entries.insert(key, (self.uses, kept));
        if self.entries.len() > limits::RENDERED {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.entries.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_source::Settings;
    use lynceus_source::compose::{Change, Composition, Layout, Message};

    fn commit(repository: &Composition, file: &str, data: &str) {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {data}}}\n");
        let change = (FilePath::new(file).unwrap(), Change::Write(text.into_bytes()));
        let message = Message {
            name: "Test",
            email: "test@example.com",
            when: Timestamp::UNIX_EPOCH,
            text: "A change\n",
        };
        repository.commit("main", &message, [change]).unwrap();
    }

    #[tokio::test]
    async fn a_commit_that_touches_no_file_that_was_read_renders_nothing() {
        let folder = std::env::temp_dir().join(format!("lynceus-rendering-{}", std::process::id()));
        let repository = Composition::create(folder.join("repository"), Layout::Bare).unwrap();
        let renderer = Renderer::new(Sources::new(folder.join("mirrors"), Settings::default()));
        let source = ApplicationSource {
            repo_url: folder.join("repository").display().to_string().as_str().into(),
            path: "app".into(),
            target_revision: "main".into(),
            ..ApplicationSource::default()
        };
        let book = Arc::new(Book::default());
        let render = async || {
            let now = Timestamp::UNIX_EPOCH;
            renderer.render(&book, "default", &source, None, Freshness::Latest, now).await.unwrap()
        };
        commit(&repository, "app/a.yaml", "a");
        let first = render().await;
        commit(&repository, "other/b.yaml", "b");
        let second = render().await;
        assert_ne!(first.revision.commit, second.revision.commit);
        assert!(Arc::ptr_eq(&first.rendered, &second.rendered));
        commit(&repository, "app/a.yaml", "changed");
        let third = render().await;
        assert_eq!(third.rendered.manifests[0].object.name(), "changed");
        commit(&repository, "app/new.yaml", "new");
        assert_eq!(render().await.rendered.manifests.len(), 2, "a new file is one that would have been read");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
