//! The line between the engine and the clusters: writes down what is written, in order, and what came of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use lynceus_cluster::Behalf;
use lynceus_object::{Object, ObjectKey, Str, Value, json};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_sim::clock::{Clock as _, ManualClock};
use lynceus_sim::view::View as _;
use tower::ServiceExt as _;

use super::Skipped;
use super::call::Call;
use crate::limits;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Created,
    /// These fields are others now.
    Changed(Vec<String>),
    Deleted,
    /// The server said no, and why.
    Refused(String),
}

/// A write that did something, or that was refused.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) at: Timestamp,
    /// The application on whose behalf it was, as `namespace/name`.
    pub(crate) application: Str,
    pub(crate) server: Str,
    pub(crate) key: ObjectKey,
    pub(crate) effect: Effect,
}

/// The line.
#[derive(Clone)]
pub(crate) struct Record(Arc<Inner>);

struct Inner {
    clock: ManualClock,
    written: Mutex<Vec<Written>>,
    /// What nobody is to look at.
    skipped: Skipped,
}

impl Record {
    pub(crate) fn new(clock: ManualClock, skipped: Skipped) -> Self {
        Record(Arc::new(Inner { clock, written: Mutex::default(), skipped }))
    }

    /// A client of a cluster whose writes are written down.
    pub(crate) fn client(&self, sim: &Sim, server: &str) -> Client {
        let (record, sim, server) = (self.clone(), sim.clone(), Str::from(server));
        let service = tower::service_fn(move |request: Request<Body>| {
            record.clone().send(sim.clone(), server.clone(), request)
        });
        Client::new(service, "default")
    }

    /// Everything so far, in order.
    pub(crate) fn written(&self) -> Vec<Written> {
        self.lock().clone()
    }

    async fn send(self, sim: Sim, server: Str, request: Request<Body>) -> Result<Answer, BoxError> {
        let below = sim.service(User::admin());
        if request.method() == Method::GET {
            return Ok(below.oneshot(request).await?.map(|body| body.map_err(BoxError::from).boxed_unsync()));
        }
        let (parts, body) = request.into_parts();
        let mut body = body.collect_bytes().await?;
        let call = Call::new(&parts.method, &parts.uri, &body);
        if let Some(marked) = self.marked(&call) {
            body = Bytes::from(json::to_vec(&marked));
        }
        let before = before(&sim, &call);
        let behalf = parts.extensions.get::<Behalf>().map(|behalf| behalf.0.clone()).unwrap_or_default();
        let answer = below.oneshot(Request::from_parts(parts, Body::from(body))).await?;
        let (head, body) = answer.into_parts();
        let bytes = body.collect().await.map_err(BoxError::from)?.to_bytes();
        if !call.is_dry_run() && counts(&call) {
            let after = json::parse(&bytes).unwrap_or_default();
            if let Some((key, effect)) = effect(&call, before.as_ref(), &after, head.status) {
                let at = self.0.clock.now();
                self.lock().push(Written { at, application: behalf, server, key, effect });
            }
        }
        let body = Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
        Ok(Response::from_parts(head, body))
    }

    /// Something that is made and that nobody is to look at, with the mark for it.
    fn marked(&self, call: &Call) -> Option<Value> {
        let kind = call.body.str_at(&["kind"]).unwrap_or_default();
        let is_made = matches!(call.verb, "create" | "apply") && kind.starts_with("Application");
        if self.0.skipped.is_empty() || !is_made {
            return None;
        }
        let mut object = Object::new(call.body.clone()).ok()?;
        self.0.skipped.mark(&mut object);
        Some(object.into_value())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Written>> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a request is about something that is delivered, and not a record of the engine's own.
fn counts(call: &Call) -> bool {
    call.subresource.is_empty()
        && call.resource != "events"
        && !call.resource.ends_with("authorization.k8s.io")
}

/// The object that a request is about, as it is before it.
fn before(sim: &Sim, call: &Call) -> Option<Object> {
    let (plural, group) = call.resource.split_once('.').unwrap_or((&call.resource, ""));
    sim.local().get(group, plural, &call.namespace, &call.name)
}

/// What a write did; none if it did nothing that anybody delivered.
fn effect(
    call: &Call,
    before: Option<&Object>,
    after: &Value,
    code: StatusCode,
) -> Option<(ObjectKey, Effect)> {
    // The engine's own words on an Application or an ApplicationSet are no delivery.
    let is_own = matches!(call.resource.as_str(), "applications.argoproj.io" | "applicationsets.argoproj.io");
    if is_own && call.verb == "patch" && call.body.get("spec").is_none() {
        return None;
    }
    let key = key(call, before, after);
    if !code.is_success() {
        // Somebody else was faster, or it is gone: the engine tries again by itself.
        let is_passing = matches!(code.as_u16(), 404 | 409) && call.verb != "create";
        let message = after.str_at(&["message"]).unwrap_or_default().to_owned();
        return (!is_passing).then_some((key, Effect::Refused(message)));
    }
    let effect = match before {
        _ if call.verb == "delete" => Effect::Deleted,
        None => Effect::Created,
        Some(before) => {
            let after = Object::new(after.clone()).ok()?;
            let fields = changed(before, &after);
            if fields.is_empty() || before.resource_version() == after.resource_version() {
                return None;
            }
            Effect::Changed(fields)
        }
    };
    Some((key, effect))
}

fn key(call: &Call, before: Option<&Object>, after: &Value) -> ObjectKey {
    let named = |value: &Value| value.str_at(&["kind"]).filter(|kind| *kind != "Status").map(Str::from);
    let kind = before.map(|object| Str::from(object.kind())).or_else(|| named(after));
    let kind = kind.or_else(|| named(&call.body)).unwrap_or_else(|| call.resource.as_str().into());
    let group = call.resource.split_once('.').map_or("", |(_, group)| group);
    // A name that the server makes up is in its answer only.
    let made_up = after.str_at(&["metadata", "name"]).filter(|_| call.verb == "create");
    ObjectKey::new(group, kind, call.namespace.as_str(), made_up.unwrap_or(&call.name))
}

/// The fields that differ, without what servers and tools keep for themselves. Names only, so that nothing secret is among it.
fn changed(before: &Object, after: &Object) -> Vec<String> {
    let clean = |object: &Object| {
        let mut object = object.clone();
        for field in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"] {
            object.remove(&["metadata", field]);
        }
        object.remove(&["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"]);
        object.remove(&["status"]);
        object
    };
    let mut fields = Vec::new();
    differing(clean(before).value(), clean(after).value(), &mut String::new(), &mut fields);
    fields
}

fn differing(left: &Value, right: &Value, path: &mut String, out: &mut Vec<String>) {
    if left == right || out.len() >= limits::FIELDS {
        return;
    }
    let length = path.len();
    match (left, right) {
        (Value::Map(one), Value::Map(other)) => {
            let keys: BTreeSet<&Str> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{dot}{key}"));
                let null = Value::Null;
                differing(one.get(key).unwrap_or(&null), other.get(key).unwrap_or(&null), path, out);
                path.truncate(length);
            }
        }
        (Value::Seq(one), Value::Seq(other)) if one.len() == other.len() => {
            for (at, (left, right)) in one.iter().zip(other.iter()).enumerate() {
                path.push_str(&format!("[{at}]"));
                differing(left, right, path, out);
                path.truncate(length);
            }
        }
        _ => out.push(path.clone()),
    }
}
