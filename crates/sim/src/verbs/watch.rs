//! Following changes.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str, value};
use tokio::sync::watch::Receiver;

use super::list::{history_error, parse_version};
use super::{Call, Selection};
use crate::attributes::Attributes;
use crate::core::{Core, place};
use crate::faults::{Asked, Standing};
use crate::kinds::Resource;
use crate::registry::Registry;
use crate::store::{Event, EventKind, HistoryError, Place};
use crate::{ApiError, FieldError, conversion, limits, strategy};

/// How a watch is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchOptions {
    pub(crate) selection: Selection,
    pub(crate) resource_version: Str,
    pub(crate) resource_version_match: Str,
    pub(crate) bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout_seconds: Option<i64>,
}

/// One thing that a watcher is told.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    /// An object was added, changed or deleted; the event it comes from if it is sent as stored.
    Change(EventKind, Object, Option<Arc<Event>>),
    /// Nothing older than this version will come any more.
    Bookmark(Object),
    /// The watch is over.
    Error(ApiError),
}

/// A watch under way.
pub(crate) struct Watcher {
    core: Arc<Core>,
    place: Place,
    resource: Arc<Resource>,
    namespace: Str,
    selection: Selection,
    bookmarks: bool,
    initial_end: bool,
    queue: VecDeque<Frame>,
    revision: u64,
    changed: Receiver<u64>,
    /// Wakes the watch of a custom resource when its definition changes.
    served: Receiver<Arc<Registry>>,
    /// Wakes the watch when something is made to go wrong.
    troubled: Receiver<Arc<Vec<Standing>>>,
    /// Who watches, and the request as faults see it.
    user: Str,
    request: Attributes,
    /// The cuts that were made before the watch began.
    known_cuts: Vec<Str>,
    ends: BoxFuture<'static, ()>,
    bookmark_at: Timestamp,
    finished: bool,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("place", &self.place).field("revision", &self.revision).finish()
    }
}

/// Starts to follow changes.
pub(crate) async fn watch(core: &Arc<Core>, call: &Call, options: WatchOptions) -> Result<Watcher, ApiError> {
    check_options(&options)?;
    let place = place(&call.resource);
    let version = options.resource_version.as_str();
    let initial = match options.send_initial_events {
        Some(wanted) => wanted,
        None => matches!(version, "" | "0"),
    };
    let seconds = options.timeout_seconds.filter(|seconds| *seconds > 0).unwrap_or(limits::WATCH_SECONDS);
    let now = core.now();
    let mut watcher = Watcher {
        changed: core.store.follow_place(&place),
        served: core.follow_registry(),
        troubled: core.faults.changes(),
        user: call.user.name.clone(),
        request: request(call),
        known_cuts: core.faults.cuts_made(now),
        core: Arc::clone(core),
        place,
        resource: Arc::clone(&call.resource),
        namespace: call.namespace.clone(),
        selection: options.selection,
        bookmarks: options.bookmarks,
        initial_end: options.send_initial_events == Some(true) && options.bookmarks,
        queue: VecDeque::new(),
        revision: 0,
        ends: core.clock.sleep_until(after(now, seconds)),
        bookmark_at: after(now, limits::BOOKMARK_SECONDS),
        finished: false,
    };
    let asked = match version {
        "" | "0" => None,
        version => Some(parse_version(version)?),
    };
    match asked {
        Some(revision) if !initial => watcher.revision = revision,
        None if !initial => watcher.revision = core.store.revision(),
        _ => watcher.queue_initial(asked).await?,
    }
    Ok(watcher)
}

impl Watcher {
    /// The next thing to tell, or `None` when the watch is over.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.queue.pop_front() {
                return Some(frame);
            }
            if self.finished {
                return None;
            }
            // Marked as seen before reading, so that a change in between wakes us again.
            self.changed.mark_unchanged();
            self.served.mark_unchanged();
            self.troubled.mark_unchanged();
            self.finished |= self.core.faults.cuts(&self.asked(), &self.known_cuts);
            self.read().await;
            if !self.queue.is_empty() || self.finished {
                continue;
            }
            let bookmark = self.bookmarks.then(|| self.core.clock.sleep_until(self.bookmark_at));
            let bookmark = async {
                match bookmark {
                    Some(sleep) => sleep.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                changed = self.changed.changed() => if changed.is_err() { self.finished = true },
                changed = self.served.changed(), if self.resource.custom.is_some() => {
                    if changed.is_err() { self.finished = true }
                }
                changed = self.troubled.changed() => if changed.is_err() { self.finished = true },
                () = &mut self.ends => self.finished = true,
                () = bookmark => {
                    self.revision = self.revision.max(self.core.store.revision());
                    self.queue_bookmark(false);
                }
            }
        }
    }

    /// What is watched.
    pub(crate) fn resource(&self) -> Arc<Resource> {
        Arc::clone(&self.resource)
    }

    /// What is ready to be told without waiting, for tests and for coalescing writes.
    pub(crate) fn ready(&mut self) -> Option<Frame> {
        if conversion::webhook(&self.resource).is_some() {
            // A call that is not waited for would be made in vain.
            return self.queue.pop_front();
        }
        self.next().now_or_never().flatten()
    }

    async fn read(&mut self) {
        // Asked first: what happened before the definition went is still told.
        self.finished |= !self.is_served();
        let forgotten = self.core.faults.forgotten(&self.asked());
        if self.revision < forgotten {
            self.finished = true;
            let error = history_error(HistoryError::TooOld { oldest: forgotten }, self.revision);
            self.queue.push_back(Frame::Error(error));
            return;
        }
        match self.core.store.events_since(&self.place, self.revision, limits::WATCH_BATCH) {
            Ok((events, complete)) => match self.frames(&events).await {
                Ok(frames) => {
                    self.revision = complete;
                    self.queue.extend(frames);
                }
                Err(error) => {
                    self.finished = true;
                    self.queue.push_back(Frame::Error(error));
                }
            },
            // A client that has seen a newer version than there is waits until there is one.
            Err(HistoryError::Future { .. }) => {}
            Err(error) => {
                self.finished = true;
                self.queue.push_back(Frame::Error(history_error(error, self.revision)));
            }
        }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { user: &self.user, request: &self.request, now: self.core.now() }
    }

    /// A definition that goes away ends the watches of its objects.
    fn is_served(&self) -> bool {
        let resource = &self.resource;
        resource.custom.is_none()
            || self.core.registry().find(&resource.group, &resource.version, &resource.plural).is_some()
    }

    /// What is told of events, in their order.
    async fn frames(&mut self, events: &[Arc<Event>]) -> Result<Vec<Frame>, ApiError> {
        let everywhere = self.namespace.is_empty() || !self.resource.namespaced;
        let seen = events.iter().filter(|event| everywhere || event.object.namespace() == self.namespace);
        let seen: Vec<&Arc<Event>> = seen.collect();
        let stored = seen.iter().flat_map(|event| [Some(&event.object), event.previous.as_ref()]);
        let stored = stored.flatten().cloned().collect();
        let mut served = conversion::serve(&self.core, stored, &self.resource).await?.into_iter();
        let frames = seen.into_iter().filter_map(|event| {
            let now = served.next()?;
            let previous = event.previous.as_ref().and_then(|_| served.next());
            self.frame(event, now, previous)
        });
        Ok(frames.collect())
    }

    /// The event as this watcher sees it: an object that starts or stops to match comes or goes.
    fn frame(&self, event: &Arc<Event>, now: Object, previous: Option<Object>) -> Option<Frame> {
        let matches_now = event.kind != EventKind::Deleted && self.selection.matches(&self.resource, &now);
        let matched_before =
            previous.as_ref().is_some_and(|previous| self.selection.matches(&self.resource, previous));
        let as_stored = (self.resource.gvk() == self.resource.storage).then(|| Arc::clone(event));
        match (matched_before, matches_now) {
            (false, false) => None,
            (false, true) => Some(Frame::Change(EventKind::Added, now, as_stored)),
            (true, true) => Some(Frame::Change(EventKind::Modified, now, as_stored)),
            (true, false) if event.kind == EventKind::Deleted => {
                Some(Frame::Change(EventKind::Deleted, now, as_stored))
            }
            // The last state that the watcher knows of, with the version at which it left.
            (true, false) => {
                let mut last = previous?;
                last.set(&["metadata", "resourceVersion"], event.object.resource_version());
                Some(Frame::Change(EventKind::Deleted, last, None))
            }
        }
    }

    /// Starts with the objects that are there.
    async fn queue_initial(&mut self, at_least: Option<u64>) -> Result<(), ApiError> {
        let namespace = Some(self.namespace.as_str()).filter(|namespace| !namespace.is_empty());
        let (objects, revision) = self.core.store.read_all(&self.place, namespace);
        if let Some(asked) = at_least.filter(|asked| *asked > revision) {
            return Err(history_error(HistoryError::Future { current: revision }, asked));
        }
        for object in conversion::serve(&self.core, objects, &self.resource).await? {
            if self.selection.matches(&self.resource, &object) {
                self.queue.push_back(Frame::Change(EventKind::Added, object, None));
            }
        }
        self.revision = revision;
        if self.initial_end {
            self.queue_bookmark(true);
        }
        Ok(())
    }

    fn queue_bookmark(&mut self, initial_end: bool) {
        self.bookmark_at = after(self.core.now(), limits::BOOKMARK_SECONDS);
        let mut bookmark = value!({
            "kind": self.resource.kind.as_str(), "apiVersion": self.resource.api_version().as_str(),
            "metadata": {"resourceVersion": self.revision.to_string()},
        });
        if initial_end {
            bookmark.set(&["metadata", "annotations", "k8s.io/initial-events-end"], "true");
        }
        if let Ok(mut bookmark) = Object::new(bookmark) {
            if self.resource.custom.is_none() {
                lynceus_object::schema::fill_zero(bookmark.value_mut(), strategy::schema(&self.resource));
            }
            self.queue.push_back(Frame::Bookmark(bookmark));
        }
    }
}

/// A watch as faults see it.
fn request(call: &Call) -> Attributes {
    Attributes {
        verb: "watch".into(),
        group: call.resource.group.clone(),
        version: call.resource.version.clone(),
        resource: call.resource.plural.clone(),
        namespace: call.namespace.clone(),
        name: call.name.clone(),
        ..Attributes::default()
    }
}

fn after(now: Timestamp, seconds: i64) -> Timestamp {
    now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

fn check_options(options: &WatchOptions) -> Result<(), ApiError> {
    let version_match = options.resource_version_match.as_str();
    let field = "resourceVersionMatch";
    let mut errors = Vec::new();
    if options.send_initial_events.is_some() {
        if version_match != "NotOlderThan" {
            errors.push(FieldError::forbidden(
                field,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        if !version_match.is_empty() && version_match != "NotOlderThan" {
            errors.push(FieldError::not_supported(field, format!("{version_match:?}"), &["NotOlderThan"]));
        }
    } else if !version_match.is_empty() {
        errors.push(FieldError::forbidden(
            field,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", &errors))
}
