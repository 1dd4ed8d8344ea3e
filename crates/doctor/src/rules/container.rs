//! What the statuses of containers say.

use jiff::Timestamp;
use lynceus_object::{FieldPath, Object, Value};

use crate::case::{Case, Pods};
use crate::finding::Evidence;
use crate::words;

/// A container of a pod, as its status has it.
pub(super) struct Container<'a> {
    /// The pod.
    pub(super) pod: &'a Object,
    /// Its name.
    pub(super) name: &'a str,
    /// Whether it runs before the others.
    pub(super) is_early: bool,
    /// Where its status stands.
    pub(super) path: FieldPath,
    status: &'a Value,
}

impl<'a> Container<'a> {
    /// All containers of a pod, those that come first in its life first.
    pub(super) fn all(pod: &'a Object) -> Vec<Container<'a>> {
        let mut all = Vec::new();
        for (field, is_early) in [("initContainerStatuses", true), ("containerStatuses", false)] {
            for (place, status) in pod.value().items_at(&["status", field]).iter().enumerate() {
                let name = status.str_at(&["name"]).unwrap_or_default();
                let path = FieldPath::fields(["status", field]).index(place);
                all.push(Container { pod, name, is_early, path, status });
            }
        }
        all
    }

    /// Why it waits, if it does.
    pub(super) fn waits(&self) -> Option<&'a str> {
        self.status.at(&["state", "waiting"])?.str_at(&["reason"])
    }

    /// How it ended: now, or before it was started again.
    pub(super) fn ended(&self) -> Option<Ended<'a>> {
        let state = |which| self.status.at(&[which, "terminated"]).filter(|state| !state.is_null());
        let (which, state) = state("state")
            .map(|state| ("state", state))
            .or_else(|| state("lastState").map(|state| ("lastState", state)))?;
        Some(Ended {
            code: state.int_at(&["exitCode"]).unwrap_or_default(),
            reason: state.str_at(&["reason"]).unwrap_or_default(),
            message: state.str_at(&["message"]).unwrap_or_default().trim(),
            is_now: which == "state",
        })
    }

    /// Since when it runs, if it does.
    pub(super) fn runs_since(&self) -> Option<&'a str> {
        self.status.at(&["state", "running"])?.str_at(&["startedAt"])
    }

    /// Whether it runs.
    pub(super) fn runs(&self) -> bool {
        self.status.at(&["state", "running"]).is_some_and(|state| !state.is_null())
    }

    /// Whether it says that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        self.status.bool_at(&["ready"]).unwrap_or_default()
    }

    /// How often it was started again.
    pub(super) fn restarts(&self) -> i64 {
        self.status.int_at(&["restartCount"]).unwrap_or_default()
    }

    /// `container web`, `init container wait`.
    pub(super) fn told(&self) -> String {
        if self.is_early {
            format!("init container {}", self.name)
        } else {
            format!("container {}", self.name)
        }
    }

    /// Its status as evidence, in words.
    pub(super) fn evidence(&self, words: impl Into<String>) -> Evidence {
        Evidence::Field { object: self.pod.key(), path: self.path.clone(), value: words.into() }
    }

    /// The same container in the template of what owns the pod.
    pub(super) fn in_template<'o>(&self, owner: &'o Object) -> Option<(FieldPath, &'o Value)> {
        let all = Pods::of(owner)?.containers();
        all.into_iter().find(|(_, container)| container.str_at(&["name"]) == Some(self.name))
    }
}

/// How a container ended.
pub(super) struct Ended<'a> {
    /// Its exit code.
    pub(super) code: i64,
    /// The reason, such as `OOMKilled`.
    pub(super) reason: &'a str,
    /// Its last words.
    pub(super) message: &'a str,
    /// Whether that is its present state.
    pub(super) is_now: bool,
}

impl Ended<'_> {
    /// `exit code 1: no such table`.
    pub(super) fn told(&self) -> String {
        match self.message {
            "" => format!("exit code {}", self.code),
            message => format!("exit code {}: {}", self.code, words::quote(message)),
        }
    }
}

/// How long ago something was when the snapshot was taken, in seconds; nothing if that cannot be told.
pub(super) fn age(case: &Case<'_>, stamp: &str) -> Option<i64> {
    let then: Timestamp = stamp.parse().ok()?;
    let seconds = case.snapshot.taken_at.duration_since(then).as_secs();
    (seconds >= 0).then_some(seconds)
}

/// How long something takes, as people say it.
pub(super) fn long(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} minutes", seconds / 60),
        7200..172_800 => format!("{} hours", seconds / 3600),
        _ => format!("{} days", seconds / 86400),
    }
}
