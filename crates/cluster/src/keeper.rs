//! Keeps one kind in the cache as it is in the cluster: lists, watches, and goes on where it was when it has to.
//!
//! A position, once known, is only given up when the server says that it is too old or that the cluster was set back. So
//! a connection that is cut, or a server in trouble, costs a new watch and not a new list.

use std::sync::atomic::Ordering;
use std::time::Duration;

use lynceus_object::{Object, Value, value};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use crate::cache::Place;
use crate::door::{Line, Lines};
use crate::error::{ClusterError, Refusal, chain};
use crate::kind::Kind;
use crate::limits;
use crate::options::RespectRbac;
use crate::pause::{Backoff, up_to};
use crate::rows::{Kept, Listed};
use crate::trace;
use crate::watch::Shared;

/// The annotation of the bookmark that ends the objects of a streaming list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What a server says whose own cache of a kind has yet to be filled.
const INITIALIZING: &str = "storage is (re)initializing";

/// What is wrong with a list that cannot be followed by a watch.
const UNDATED: &str = "the server's list has no resourceVersion, so it is listed again and again instead of watched; \
                       mend the server of this kind, or exclude the kind (resource.exclusions)";

/// Keeps one kind, in one namespace or all.
pub(crate) struct Keeper {
    kind: Kind,
    place: Place,
    respect_rbac: RespectRbac,
    shared: Shared,
    first: Option<oneshot::Sender<()>>,
    /// The version up to which everything is known; none before the first list and when it has become useless.
    position: Option<String>,
    /// The highest version that this kind was ever known at, to see when the cluster was set back.
    highest: u64,
    /// Which history of the cluster the position is of.
    epoch: watch::Receiver<u64>,
    streams: bool,
    backoff: Backoff,
    failures: u32,
}

impl Keeper {
    pub(crate) fn new(
        kind: Kind,
        place: Place,
        respect_rbac: RespectRbac,
        shared: Shared,
        first: oneshot::Sender<()>,
    ) -> Self {
        Keeper {
            kind,
            place,
            respect_rbac,
            epoch: shared.weather.epoch(),
            shared,
            first: Some(first),
            position: None,
            highest: 0,
            streams: true,
            backoff: Backoff::new(limits::RETRY_MAX),
            failures: 0,
        }
    }

    /// Works until it is aborted.
    pub(crate) async fn run(mut self) {
        loop {
            let result = match self.position.clone() {
                Some(version) => self.watch(&version).await,
                None if self.can_stream() => self.stream().await,
                None => self.list().await,
            };
            if let Err(error) = result {
                self.recover(error).await;
            }
        }
    }

    fn can_stream(&self) -> bool {
        self.streams && !self.shared.no_streaming.load(Ordering::Relaxed)
    }

    /// Lists by a watch that begins with all objects, and goes on watching.
    async fn stream(&mut self) -> Result<(), ClusterError> {
        let permit = self.shared.lists.clone().acquire_owned().await;
        let query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=";
        let mut lines = match self.shared.door.watch(&self.watch_path(query)).await {
            Ok(lines) => lines,
            Err(ClusterError::Refused(Refusal { code: 400 | 422, message, .. })) => {
                self.give_up_streaming(&message);
                return Ok(());
            }
            // The server's own cache of the kind is not filled. Pages come from beneath it, or tell why it cannot be.
            Err(ClusterError::Refused(Refusal { code: 429, message, .. }))
                if message.contains(INITIALIZING) =>
            {
                drop(permit);
                return self.list().await;
            }
            Err(error) => return Err(error),
        };
        let mut objects = Vec::new();
        let mut lost = Lost::default();
        loop {
            match lines.next(limits::STREAM).await {
                Line::Event(event) => match self.initial(event, &mut objects, &mut lost)? {
                    Some(version) if version.is_empty() => {
                        self.give_up_streaming("the end of its objects has no version");
                        return Ok(());
                    }
                    Some(version) => {
                        self.listed(objects, &version, lost);
                        drop(permit);
                        return self.follow(lines, &version).await;
                    }
                    None => continue,
                },
                Line::Garbage(reason) => lost.note(reason),
                Line::End => {
                    // A server that does not know the parameters sends objects and then nothing.
                    self.give_up_streaming("the stream ended before its objects did");
                    return Ok(());
                }
            }
        }
    }

    fn give_up_streaming(&mut self, reason: &str) {
        debug!(kind = %self.place.0, reason, "the server does not stream this list; reading it in pages");
        self.streams = false;
        // What the server itself cannot do for its own kinds it can do for none.
        if self.place.0.group.is_empty() && reason.contains("sendInitialEvents") {
            self.shared.no_streaming.store(true, Ordering::Relaxed);
        }
    }

    /// Takes one event before the end of the objects; gives the version when that is reached.
    fn initial(
        &self,
        mut event: Value,
        objects: &mut Vec<Kept>,
        lost: &mut Lost,
    ) -> Result<Option<String>, ClusterError> {
        let object = event.remove(&["object"]);
        match event.str_at(&["type"]).unwrap_or_default() {
            "ADDED" | "MODIFIED" => match object.and_then(|value| self.item(value)) {
                Some(object) => objects.push(self.shared.cache.trimmed(object)),
                None => lost.note("an object has no name".to_owned()),
            },
            "BOOKMARK" => {
                let metadata = object.unwrap_or_default().remove(&["metadata"]).unwrap_or_default();
                if metadata.str_at(&["annotations", INITIAL_EVENTS_END]) == Some("true") {
                    return Ok(Some(metadata.str_at(&["resourceVersion"]).unwrap_or_default().to_owned()));
                }
            }
            "ERROR" => return Err(refusal(object.as_ref())),
            other => lost.note(format!("an event is of the unknown type {other:?}")),
        }
        Ok(None)
    }

    /// Reads every object in pages. Pages that expire before all are read are followed by one list of everything.
    async fn list(&mut self) -> Result<(), ClusterError> {
        let permit = self.shared.lists.clone().acquire_owned().await;
        let path = self.path();
        let mut objects = Vec::new();
        let mut lost = Lost::default();
        let mut more = String::new();
        loop {
            let query = match more.as_str() {
                "" => format!("{path}?limit={}", limits::PAGE),
                token => format!("{path}?limit={}&continue={token}", limits::PAGE),
            };
            let mut page = match self.shared.door.get(&query).await {
                Err(error) if error.is_expired() && !more.is_empty() => {
                    objects.clear();
                    self.shared.door.get_list(&path).await?
                }
                page => page?,
            };
            // Each is taken out, so that it is nobody else's any more and can be trimmed and shared in place.
            let items = match page.remove(&["items"]) {
                Some(Value::Seq(items)) => items,
                _ => lynceus_object::Seq::new(),
            };
            for item in items {
                match self.item(item) {
                    Some(object) => objects.push(self.shared.cache.trimmed(object)),
                    None => lost.note("an item has no name".to_owned()),
                }
            }
            more = page.str_at(&["metadata", "continue"]).unwrap_or_default().to_owned();
            if more.is_empty() {
                match page.str_at(&["metadata", "resourceVersion"]).filter(|version| !version.is_empty()) {
                    Some(version) => self.listed(objects, version, lost),
                    None => {
                        // Other kinds are read while this one waits.
                        drop(permit);
                        self.undated(objects, lost).await;
                    }
                }
                return Ok(());
            }
        }
    }

    /// Takes a list that is complete.
    fn listed(&mut self, objects: Vec<Kept>, version: &str, lost: Lost) {
        debug!(kind = %self.place.0, count = objects.len(), "listed");
        let number = version.parse().unwrap_or_default();
        let reset = number < self.highest || self.epoch.has_changed().unwrap_or_default();
        self.epoch.mark_unchanged();
        let (kind, namespace) = self.place.clone();
        self.shared.cache.replace(Listed { kind, namespace, objects, version: number, reset });
        if let Some(message) = lost.message() {
            warn!(kind = %self.place.0, message, "a part of a kind cannot be read");
            self.shared.cache.set_error(&self.place, message, true);
        }
        self.highest = number;
        self.reached(version.to_owned());
        self.went_well();
    }

    /// Takes a list that does not say which version it is of. Nothing can be watched from there on, so the kind is read anew after
    /// a pause. It says nothing of the cluster's history: the version that was known before stays the highest.
    async fn undated(&mut self, objects: Vec<Kept>, lost: Lost) {
        self.epoch.mark_unchanged();
        let before = self.shared.cache.errors().get(&self.place.0).map(|error| error.message.clone());
        let (kind, namespace) = self.place.clone();
        self.shared.cache.replace(Listed { kind, namespace, objects, version: 0, reset: true });
        let lost = lost.message().map(|message| format!("; {message}")).unwrap_or_default();
        let message = format!("{UNDATED}{lost}");
        if before.as_ref() != Some(&message) {
            warn!(kind = %self.place.0, message, "a kind cannot be watched");
        }
        self.shared.cache.set_error(&self.place, message, true);
        self.tried();
        tokio::time::sleep(self.backoff.next(None)).await;
    }

    /// Opens a watch at a version that is known, and follows it.
    async fn watch(&mut self, version: &str) -> Result<(), ClusterError> {
        let path = self.watch_path(&format!("&resourceVersion={version}"));
        let lines = self.shared.door.watch(&path).await?;
        self.follow(lines, version).await
    }

    /// Follows changes until the watch ends, with the position after every one.
    async fn follow(&mut self, mut lines: Lines, version: &str) -> Result<(), ClusterError> {
        self.shared.cache.clear_error(&self.place);
        let began = Instant::now();
        let from = version.to_owned();
        loop {
            let line = tokio::select! {
                line = lines.next(limits::SILENCE) => line,
                // The cluster was set back: what it tells from here on would be wrong. The next list notices as well.
                Ok(()) = wait_for_change(self.epoch.clone()) => {
                    self.position = None;
                    return Ok(());
                }
            };
            match line {
                Line::Event(event) => {
                    let began = Instant::now();
                    self.take(event)?;
                    trace::event(self.shared.door.server(), &self.place.0, began.elapsed());
                }
                Line::Garbage(reason) => {
                    warn!(kind = %self.place.0, reason, "an event cannot be read; reading the kind anew");
                    self.position = None;
                    return Ok(());
                }
                Line::End => break,
            }
            if self.position.is_none() {
                return Ok(());
            }
        }
        self.shared.weather.check(&self.shared.door).await;
        // A watch that is closed at once, again and again, is a failure too.
        if self.position.as_ref() == Some(&from) && began.elapsed() < Duration::from_secs(1) {
            tokio::time::sleep(self.backoff.next(None)).await;
        } else {
            self.went_well();
        }
        Ok(())
    }

    /// Takes one event. A version that goes backwards means that the cluster was set back.
    fn take(&mut self, mut event: Value) -> Result<(), ClusterError> {
        let value = event.remove(&["object"]);
        let kind = event.str_at(&["type"]).unwrap_or_default();
        if kind == "ERROR" {
            return Err(refusal(value.as_ref()));
        }
        let Some(object) = value.and_then(|value| self.object(value)) else {
            debug!(kind = %self.place.0, event = kind, "an event without an object");
            return Ok(());
        };
        let version = object.resource_version().to_owned();
        if version.parse().is_ok_and(|version: u64| version < self.highest) {
            info!(kind = %self.place.0, version, "versions go backwards; reading the kind anew");
            self.position = None;
            return Ok(());
        }
        match kind {
            "ADDED" | "MODIFIED" => self.shared.cache.upsert(object),
            "DELETED" => self.shared.cache.remove(&object),
            _ => {}
        }
        self.reached(version);
        Ok(())
    }

    fn reached(&mut self, version: String) {
        self.highest = version.parse().unwrap_or(self.highest);
        self.position = Some(version).filter(|version| !version.is_empty());
    }

    fn went_well(&mut self) {
        self.backoff.reset();
        self.failures = 0;
        self.tried();
    }

    /// Tells the one who waits for the first try; it may have given up.
    fn tried(&mut self) {
        if let Some(first) = self.first.take() {
            let _ = first.send(());
        }
    }

    /// Waits as long as an error asks for, and decides whether the position is still good.
    async fn recover(&mut self, error: ClusterError) {
        if error.is_expired() {
            debug!(kind = %self.place.0, "the version is too old; reading the kind anew");
            self.position = None;
            self.failures += 1;
            if self.failures > 1 {
                tokio::time::sleep(self.backoff.next(None)).await;
            }
            return;
        }
        if error.is_unreachable() && self.shared.weather.wait_out(&self.shared.door, &error).await {
            return;
        }
        if error.is_forbidden() && self.is_to_be_left_out().await {
            info!(kind = %self.place.0, namespace = %self.place.1, "left out: we may not read it");
            self.shared.cache.leave_out(&self.place);
            self.position = None;
            self.tried();
            tokio::time::sleep(limits::FORBIDDEN + up_to(limits::FORBIDDEN)).await;
            return;
        }
        self.failures += 1;
        let before = self.shared.cache.errors().get(&self.place.0).map(|error| error.message.clone());
        let message = chain(&error);
        if before.as_ref() != Some(&message) {
            warn!(kind = %self.place.0, error = message, "a kind cannot be read; trying again");
        }
        self.shared.cache.set_error(&self.place, message, false);
        self.tried();
        if self.failures >= limits::RESUME_TRIES {
            self.position = None;
        }
        let asked = error.refusal().and_then(|refusal| refusal.retry_after);
        tokio::time::sleep(self.backoff.next(asked)).await;
    }

    /// Whether a refusal is to be respected; in the strict mode only if an access review confirms it.
    async fn is_to_be_left_out(&self) -> bool {
        match self.respect_rbac {
            RespectRbac::Off => false,
            RespectRbac::Normal => true,
            RespectRbac::Strict => !self.may_list().await.unwrap_or(true),
        }
    }

    async fn may_list(&self) -> Result<bool, ClusterError> {
        let review = value!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "namespace": self.place.1.clone(), "verb": "list",
                "group": self.kind.gvk.group.clone(), "resource": self.kind.plural.clone(),
            }},
        });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let answer = self.shared.door.ask(path, &review).await?;
        Ok(answer.bool_at(&["status", "allowed"]).unwrap_or_default())
    }

    fn path(&self) -> String {
        self.kind.collection_path(&self.place.1)
    }

    fn watch_path(&self, query: &str) -> String {
        let seconds = (limits::WATCH + up_to(limits::WATCH)).as_secs();
        format!("{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}{query}", self.path())
    }

    /// An object that has a name.
    fn item(&self, item: Value) -> Option<Object> {
        self.object(item).filter(|object| !object.name().is_empty())
    }

    /// An object with its kind, which items of a list do not carry; none if it cannot be one.
    fn object(&self, item: Value) -> Option<Object> {
        let mut object = Object::new(item).ok()?;
        object.at(&["metadata"])?.as_map()?;
        if object.kind() != self.kind.gvk.kind {
            object.set(&["kind"], self.kind.gvk.kind.clone());
        }
        if object.api_version().is_empty() {
            object.set(&["apiVersion"], self.kind.gvk.api_version());
        }
        Some(object)
    }
}

async fn wait_for_change(mut epoch: watch::Receiver<u64>) -> Result<(), watch::error::RecvError> {
    epoch.changed().await
}

/// Objects that came and could not be read.
#[derive(Default)]
struct Lost {
    count: usize,
    reason: String,
}

impl Lost {
    fn note(&mut self, reason: String) {
        self.count += 1;
        self.reason = reason;
    }

    fn message(self) -> Option<String> {
        (self.count > 0)
            .then(|| format!("{} objects cannot be read, the last because {}", self.count, self.reason))
    }
}

/// The error that came as an event.
fn refusal(status: Option<&Value>) -> ClusterError {
    let code = status.and_then(|status| status.int_at(&["code"])).unwrap_or(500);
    let mut refusal = Refusal::read(u16::try_from(code).unwrap_or(500), status, "");
    let seconds = status.and_then(|status| status.int_at(&["details", "retryAfterSeconds"]));
    refusal.retry_after = seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
    ClusterError::Refused(refusal)
}
