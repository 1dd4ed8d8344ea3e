//! Deleting, at once or in steps: grace periods, finalizers, dependents.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Propagation, Str, Value, json, value};

use super::change::is_finished;
use super::{Answer, Call, ListOptions, lifecycle, list};
use crate::attributes::Operation;
use crate::clock;
use crate::core::{CommitError, Core, storage_error};
use crate::store::{Expect, WriteError};
use crate::{ApiError, FieldError, crd, limits, strategy};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// How an object is deleted.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// How long the object may take to end.
    pub grace_seconds: Option<i64>,
    /// What happens to dependents, if the caller says.
    pub propagation: Option<Propagation>,
    /// The older way to say it.
    pub orphan_dependents: Option<bool>,
    /// Delete only the object with this uid.
    pub uid: Option<Str>,
    /// Delete only the object in this version.
    pub resource_version: Option<Str>,
    /// Whether nothing is done after all.
    pub dry_run: bool,
}

impl DeleteOptions {
    /// Whether the caller leaves open what happens to dependents.
    pub fn is_undecided(&self) -> bool {
        self.propagation.is_none() && self.orphan_dependents.is_none()
    }

    /// Reads a `DeleteOptions` object.
    pub fn from_value(options: &Value) -> Result<Self, ApiError> {
        check_kind(options)?;
        let mut errors = Vec::new();
        let orphan_dependents = options.bool_at(&["orphanDependents"]);
        let policy = options.str_at(&["propagationPolicy"]);
        if let (Some(_), Some(policy)) = (orphan_dependents, policy) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid("propagationPolicy", format!("{policy:?}"), detail));
        }
        let propagation = policy.and_then(Propagation::of);
        if let (None, Some(other)) = (propagation, policy) {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            errors.push(FieldError::not_supported("propagationPolicy", format!("{other:?}"), &known));
        }
        let dry_run = !options.items_at(&["dryRun"]).is_empty();
        let words = options.items_at(&["dryRun"]);
        if words.iter().any(|word| word.as_str() != Some("All")) {
            let shown = json::to_string(&words.iter().cloned().collect::<Value>());
            errors.push(FieldError::not_supported("dryRun", shown, &["All"]));
        }
        if !errors.is_empty() {
            return Err(ApiError::invalid("meta.k8s.io", "DeleteOptions", "", &errors));
        }
        let text = |field| options.str_at(&["preconditions", field]).map(Str::from);
        Ok(DeleteOptions {
            grace_seconds: options.int_at(&["gracePeriodSeconds"]),
            propagation,
            orphan_dependents,
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            dry_run,
        })
    }
}

/// Options may leave out what they are, but may not be something else.
fn check_kind(options: &Value) -> Result<(), ApiError> {
    let text = |field: &str| options.str_at(&[field]).unwrap_or_default();
    match text("kind") {
        "" | "DeleteOptions" => Ok(()),
        kind => Err(ApiError::bad_request(format!(
            "no kind {kind:?} is registered for version {:?} in scheme \"pkg/runtime/scheme.go:111\"",
            text("apiVersion")
        ))),
    }
}

/// Deletes one object, or sets it on its way.
pub(crate) async fn delete(core: &Core, call: &Call, options: &DeleteOptions) -> Result<Answer, ApiError> {
    lifecycle::check_delete(call)?;
    for _ in 0..limits::UPDATE_RETRIES {
        let Some((current, revision)) = core.read(&call.resource, &call.namespace, &call.name).await? else {
            return Err(call.not_found());
        };
        check_preconditions(call, &current, options)?;
        core.admission
            .validate(&core.store, &call.admission(Operation::Delete), None, Some(&current))
            .await?;
        if let Some(answer) = attempt(core, call, &current, revision, options).await? {
            return Ok(answer);
        }
    }
    Err(call.modified())
}

/// One try. `None` means that someone else changed the object meanwhile.
async fn attempt(
    core: &Core,
    call: &Call,
    current: &Object,
    revision: u64,
    options: &DeleteOptions,
) -> Result<Option<Answer>, ApiError> {
    let dry_run = options.dry_run || call.options.dry_run;
    let next = mark(call, current.clone(), options, core.now());
    let gone = match &next {
        Marked::Pending => return Ok(Some(Answer::ok(current.clone()))),
        Marked::Changed(object) => is_finished(call, object),
        Marked::Gone => true,
    };
    let object = match next {
        Marked::Changed(object) => object,
        Marked::Gone | Marked::Pending => current.clone(),
    };
    let stored = if dry_run || (!gone && object == *current) {
        object
    } else {
        match core.write(&call.resource, object, Expect::Revision(revision), gone).await {
            Ok(stored) => stored,
            Err(CommitError::Store(WriteError::Changed | WriteError::Gone)) => return Ok(None),
            Err(CommitError::Store(error)) => return Err(storage_error(&error)),
            Err(CommitError::Api(error)) => return Err(error),
        }
    };
    Ok(Some(answer(call, stored, gone, options)))
}

fn answer(call: &Call, object: Object, gone: bool, options: &DeleteOptions) -> Answer {
    if gone && !strategy::returns_deleted(&call.resource) {
        let mut details = value!({"name": call.name.as_str(), "kind": call.resource.plural.as_str()});
        if !call.resource.group.is_empty() {
            details.set(&["group"], call.resource.group.clone());
        }
        details.set(&["uid"], object.uid());
        return Answer::success(200, Some(details));
    }
    let accepted = !gone && options.orphan_dependents == Some(false);
    Answer { code: if accepted { 202 } else { 200 }, object, warnings: Vec::new() }
}

enum Marked {
    /// Nothing holds it: it goes now.
    Gone,
    /// It was on its way already.
    Pending,
    /// It has to wait for a grace period or for finalizers.
    Changed(Object),
}

/// The object as a deletion leaves it.
fn mark(call: &Call, mut object: Object, options: &DeleteOptions, now: Timestamp) -> Marked {
    if call.resource.is("", "namespaces") {
        return mark_namespace(call, object, options, now);
    }
    if call.resource.is("apiextensions.k8s.io", "customresourcedefinitions") {
        crd::mark_deleted(&mut object, now);
        return Marked::Changed(object);
    }
    let graceful = match grace(call, &mut object, options, now) {
        Grace::Pending => return Marked::Pending,
        Grace::Set => true,
        Grace::None => false,
    };
    set_dependents_finalizers(call, &mut object, options);
    if object.finalizers().next().is_some() {
        if !graceful {
            mark_deleting(&mut object, now, 0);
        }
        return Marked::Changed(object);
    }
    if graceful && object.value().int_at(&["metadata", "deletionGracePeriodSeconds"]) != Some(0) {
        return Marked::Changed(object);
    }
    if graceful { Marked::Changed(object) } else { Marked::Gone }
}

/// A namespace goes when its contents have gone and its finalizers are done.
fn mark_namespace(call: &Call, mut object: Object, options: &DeleteOptions, now: Timestamp) -> Marked {
    set_dependents_finalizers(call, &mut object, options);
    mark_deleting(&mut object, now, 0);
    object.remove(&["metadata", "deletionGracePeriodSeconds"]);
    object.set(&["status", "phase"], "Terminating");
    Marked::Changed(object)
}

fn mark_deleting(object: &mut Object, now: Timestamp, seconds: i64) {
    if object.is_deleting() {
        return;
    }
    object.set(&["metadata", "deletionTimestamp"], clock::text(now));
    object.set(&["metadata", "deletionGracePeriodSeconds"], seconds);
    if object.generation() > 0 {
        object.set(&["metadata", "generation"], object.generation() + 1);
    }
}

enum Grace {
    None,
    Set,
    Pending,
}

/// Starts or shortens a grace period.
fn grace(call: &Call, object: &mut Object, options: &DeleteOptions, now: Timestamp) -> Grace {
    if object.is_deleting() {
        let running = object.value().int_at(&["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
        if running == 0 {
            return Grace::None;
        }
        let Some(seconds) = options.grace_seconds.filter(|seconds| *seconds < running) else {
            return Grace::Pending;
        };
        let until: Timestamp = object.meta_str("deletionTimestamp").parse().unwrap_or(now);
        let until = until.saturating_sub(SignedDuration::from_secs(running - seconds)).unwrap_or(now);
        object.set(&["metadata", "deletionTimestamp"], clock::text(until));
        object.set(&["metadata", "deletionGracePeriodSeconds"], seconds);
        return Grace::Set;
    }
    if !call.resource.is("", "pods") {
        return Grace::None;
    }
    let pod = object.value();
    let wanted =
        options.grace_seconds.or_else(|| pod.int_at(&["spec", "terminationGracePeriodSeconds"])).unwrap_or(0);
    let unscheduled = pod.str_at(&["spec", "nodeName"]).unwrap_or_default().is_empty();
    let ended = matches!(pod.str_at(&["status", "phase"]), Some("Succeeded" | "Failed"));
    let seconds = match wanted {
        _ if unscheduled || ended => 0,
        seconds if seconds < 0 => 1,
        seconds => seconds,
    };
    let until = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
    mark_deleting(object, until, seconds);
    Grace::Set
}

/// Adds or removes the finalizers by which the garbage collector knows what to do with dependents.
fn set_dependents_finalizers(call: &Call, object: &mut Object, options: &DeleteOptions) {
    if !strategy::has_dependents(&call.resource) {
        return;
    }
    let has = |name| object.finalizers().any(|finalizer| finalizer == name);
    let policy = match (options.orphan_dependents, options.propagation) {
        (Some(true), _) => Propagation::Orphan,
        (Some(false), _) => Propagation::Background,
        (None, Some(policy)) => policy,
        (None, None) if has(ORPHAN) => Propagation::Orphan,
        (None, None) if has(FOREGROUND) => Propagation::Foreground,
        (None, None) if strategy::orphans_by_default(&call.resource) => Propagation::Orphan,
        (None, None) => Propagation::Background,
    };
    let wanted = match policy {
        Propagation::Orphan => Some(ORPHAN),
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Background => None,
    };
    let mut finalizers: Vec<Str> = object
        .finalizers()
        .filter(|finalizer| ![ORPHAN, FOREGROUND].contains(finalizer) || Some(*finalizer) == wanted)
        .map(Str::from)
        .collect();
    if let Some(wanted) = wanted
        && !finalizers.iter().any(|finalizer| finalizer == wanted)
    {
        finalizers.push(wanted.into());
    }
    if finalizers.is_empty() {
        object.remove(&["metadata", "finalizers"]);
    } else if !object.finalizers().eq(finalizers.iter().map(Str::as_str)) {
        object.set(&["metadata", "finalizers"], finalizers);
    }
}

pub(super) fn check_preconditions(
    call: &Call,
    current: &Object,
    options: &DeleteOptions,
) -> Result<(), ApiError> {
    // The original says the kind here, where other conflicts say the resource.
    let refuse = |what: &str, wanted: &str, found: &str, end: &str| {
        let why = format!(
            "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). \
             The object might have been {end}"
        );
        let resource = &call.resource;
        Err(ApiError::conflict(&resource.group, &resource.kind, &call.name, &why))
    };
    match (options.uid.as_deref(), options.resource_version.as_deref()) {
        (Some(uid), _) if uid != current.uid() => {
            refuse("UID", uid, current.uid(), "deleted and then recreated")
        }
        (_, Some(version)) if version != current.resource_version() => {
            refuse("ResourceVersion", version, current.resource_version(), "modified")
        }
        _ => Ok(()),
    }
}

/// Deletes every object of a list. Gives the list.
pub(crate) async fn delete_collection(
    core: &Core,
    call: &Call,
    options: &DeleteOptions,
    listing: &ListOptions,
) -> Result<Object, ApiError> {
    let page = list(core, call, listing).await?;
    let mut deleted = Vec::with_capacity(page.items.len());
    for item in &page.items {
        let mut call = call.clone();
        call.name = item.name().into();
        call.namespace = item.namespace().into();
        match delete(core, &call, options).await {
            Ok(answer) if answer.object.kind() == "Status" => deleted.push(item.clone()),
            Ok(answer) => deleted.push(answer.object),
            Err(error) if error.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(page.with_items(deleted).into_object(&call.resource))
}
