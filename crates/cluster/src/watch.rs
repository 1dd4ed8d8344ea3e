//! Keeps the cache as the cluster is: one task per kind lists, watches, and starts again when it has to.
//!
//! A kind that fails is an entry in the cache's errors and is tried again with growing pauses; no other kind
//! notices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lynceus_object::{GroupKind, Object, Value};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tracing::{debug, warn};

use crate::cache::Cache;
use crate::door::Door;
use crate::error::ClusterError;
use crate::kind::{Kind, Kinds};
use crate::limits;

/// The tasks that keep the cache, by kind.
#[derive(Default)]
pub(crate) struct Watches {
    tasks: BTreeMap<GroupKind, (Kind, AbortHandle)>,
}

impl Drop for Watches {
    fn drop(&mut self) {
        for (_, task) in self.tasks.values() {
            task.abort();
        }
    }
}

impl Watches {
    /// Starts what is new, stops what is no longer served. Gives a receiver per new kind that resolves when the
    /// kind has been tried once.
    pub(crate) fn follow(
        &mut self,
        kinds: &Kinds,
        excluded: impl Fn(&GroupKind) -> bool,
        door: &Door,
        cache: &Arc<Cache>,
    ) -> Vec<tokio::sync::oneshot::Receiver<()>> {
        let wanted: BTreeMap<GroupKind, &Kind> = kinds
            .watchable()
            .map(|kind| (kind.gvk.group_kind(), kind))
            .filter(|(name, _)| !excluded(name))
            .collect();
        self.tasks.retain(|name, (kind, task)| {
            let stays = wanted.get(name).is_some_and(|wanted| *wanted == kind);
            if !stays {
                task.abort();
                cache.drop_kind(name);
            }
            stays
        });
        let lists = Arc::new(Semaphore::new(limits::PARALLEL_LISTS));
        let mut firsts = Vec::new();
        for (name, kind) in wanted {
            if self.tasks.contains_key(&name) {
                continue;
            }
            let (first, tried) = tokio::sync::oneshot::channel();
            let keeper = Keeper {
                kind: kind.clone(),
                name: name.clone(),
                door: door.clone(),
                cache: cache.clone(),
                lists: lists.clone(),
                first: Some(first),
            };
            let task = tokio::spawn(keeper.run()).abort_handle();
            self.tasks.insert(name, (kind.clone(), task));
            firsts.push(tried);
        }
        firsts
    }
}

/// Keeps one kind.
struct Keeper {
    kind: Kind,
    name: GroupKind,
    door: Door,
    cache: Arc<Cache>,
    lists: Arc<Semaphore>,
    first: Option<tokio::sync::oneshot::Sender<()>>,
}

/// Where a kind's list stands: from here a watch goes on.
enum From {
    Nothing,
    Version(String),
}

impl Keeper {
    async fn run(mut self) {
        let mut from = From::Nothing;
        let mut pause = limits::RETRY_MIN;
        loop {
            let result = match &from {
                From::Nothing => self.list().await.map(From::Version),
                From::Version(version) => self.watch(version.clone()).await,
            };
            if let Some(first) = self.first.take() {
                // The one who waits may have given up.
                let _ = first.send(());
            }
            match result {
                Ok(next) => {
                    pause = limits::RETRY_MIN;
                    from = next;
                }
                Err(error) => {
                    warn!(kind = %self.name, %error, "a kind cannot be read; trying again");
                    self.cache.set_error(&self.name, Some(chain(&error)));
                    from = From::Nothing;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(limits::RETRY_MAX);
                }
            }
        }
    }

    /// Reads every object in pages and gives the version that the list is of.
    async fn list(&self) -> Result<String, ClusterError> {
        // A closed semaphore would only mean that nobody limits us.
        let _permit = self.lists.acquire().await;
        let path = self.kind.collection_path("");
        let mut objects = Vec::new();
        let mut more = String::new();
        loop {
            let mut query = format!("{path}?limit={}", limits::PAGE);
            if !more.is_empty() {
                query.push_str("&continue=");
                query.push_str(&more);
            }
            let page = self.door.get(&query).await?;
            objects.extend(page.items_at(&["items"]).iter().filter_map(|item| self.object(item)));
            more = page.str_at(&["metadata", "continue"]).unwrap_or_default().to_owned();
            if more.is_empty() {
                let version = page.str_at(&["metadata", "resourceVersion"]).unwrap_or_default().to_owned();
                debug!(kind = %self.name, count = objects.len(), "listed");
                self.cache.replace_kind(&self.name, objects);
                return Ok(version);
            }
        }
    }

    /// Follows changes until the server closes the watch, and says where to go on.
    async fn watch(&self, mut version: String) -> Result<From, ClusterError> {
        let path = self.kind.collection_path("");
        let seconds = limits::WATCH.as_secs();
        let query = format!(
            "{path}?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={version}"
        );
        let mut lines = match self.door.watch(&query).await {
            Ok(lines) => lines,
            Err(error) if is_gone(&error) => return Ok(From::Nothing),
            Err(error) => return Err(error),
        };
        self.cache.set_error(&self.name, None);
        // A server that says nothing for longer than it was asked to is not there any more.
        let silence = limits::WATCH + Duration::from_secs(30);
        loop {
            let event = match tokio::time::timeout(silence, lines.next()).await {
                Ok(event) => event?,
                Err(_) => return Ok(From::Version(version)),
            };
            let Some(event) = event else { return Ok(From::Version(version)) };
            match self.take(&event) {
                Some(next) => version = next,
                None => return Ok(From::Nothing),
            }
        }
    }

    /// Takes one event and gives the version that it brings; none when the watch has to start over.
    fn take(&self, event: &Value) -> Option<String> {
        let object = event.get("object").and_then(|value| self.object(value));
        match (event.str_at(&["type"]).unwrap_or_default(), object) {
            ("ADDED" | "MODIFIED", Some(object)) => {
                let version = object.resource_version().to_owned();
                self.cache.upsert(object);
                Some(version)
            }
            ("DELETED", Some(object)) => {
                self.cache.remove(&object);
                Some(object.resource_version().to_owned())
            }
            ("BOOKMARK", Some(object)) => Some(object.resource_version().to_owned()),
            _ => None,
        }
    }

    /// Items of a list carry no kind of their own.
    fn object(&self, item: &Value) -> Option<Object> {
        let mut object = Object::new(item.clone()).ok()?;
        if object.kind() != self.kind.gvk.kind {
            object.set(&["kind"], self.kind.gvk.kind.clone());
        }
        if object.api_version().is_empty() {
            object.set(&["apiVersion"], self.kind.gvk.api_version());
        }
        Some(object)
    }
}

fn is_gone(error: &ClusterError) -> bool {
    error.refusal().is_some_and(|refusal| refusal.code == 410)
}

/// An error with what caused it, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
