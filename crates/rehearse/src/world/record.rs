//! The line between the engine and the clusters: writes down what is written, in order, and what came of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use lynceus_api::annotations::SKIP_RECONCILE;
use lynceus_cluster::Behalf;
use lynceus_engine::AppKey;
use lynceus_object::{Object, ObjectKey, Str, Value, json};
use lynceus_sim::Sim;
use lynceus_sim::attributes::User;
use lynceus_sim::clock::{Clock as _, ManualClock};
use lynceus_sim::view::View as _;
use tower::ServiceExt as _;

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
    /// Applications that nobody is to look at.
    skipped: BTreeSet<AppKey>,
}

/// Where a request goes.
struct Target {
    group: String,
    plural: String,
    namespace: String,
    name: String,
    is_part: bool,
}

impl Record {
    pub(crate) fn new(clock: ManualClock, skipped: BTreeSet<AppKey>) -> Self {
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

    /// Keeps everybody from looking at an Application that cannot be played.
    pub(crate) fn mark(&self, object: &mut Object) {
        let key = AppKey::new(object.namespace(), object.name());
        if object.kind() == "Application" && self.0.skipped.contains(&key) {
            object.set_annotation(SKIP_RECONCILE, "true");
        }
    }

    async fn send(self, sim: Sim, server: Str, request: Request<Body>) -> Result<Answer, BoxError> {
        let below = sim.service(User::admin());
        if request.method() == Method::GET {
            return Ok(below.oneshot(request).await?.map(|body| body.map_err(BoxError::from).boxed_unsync()));
        }
        let (parts, body) = request.into_parts();
        let mut body = body.collect_bytes().await?;
        let sent = json::parse(&body).unwrap_or_default();
        let target = Target::of(&parts.method, parts.uri.path(), &sent);
        let query = parts.uri.query().unwrap_or_default();
        let is_trial = query.contains("dryRun=") || !sent.items_at(&["dryRun"]).is_empty();
        if let Some(marked) = self.marked(&parts.method, &sent) {
            body = Bytes::from(json::to_vec(&marked));
        }
        let before = sim.local().get(&target.group, &target.plural, &target.namespace, &target.name);
        let behalf = parts.extensions.get::<Behalf>().map(|behalf| behalf.0.clone()).unwrap_or_default();
        let method = parts.method.clone();
        let answer = below.oneshot(Request::from_parts(parts, Body::from(body))).await?;
        let (head, body) = answer.into_parts();
        let bytes = body.collect().await.map_err(BoxError::from)?.to_bytes();
        if !is_trial && target.counts() {
            let after = json::parse(&bytes).unwrap_or_default();
            let refused = (!head.status.is_success()).then_some(head.status.as_u16());
            if let Some((key, effect)) = effect(&method, &target, before.as_ref(), &after, refused, &sent) {
                let at = self.0.clock.now();
                self.lock().push(Written { at, application: behalf, server, key, effect });
            }
        }
        let body = Full::new(bytes).map_err(|never| match never {}).boxed_unsync();
        Ok(Response::from_parts(head, body))
    }

    /// An Application that is made and that nobody is to look at, with the mark for it.
    fn marked(&self, method: &Method, sent: &Value) -> Option<Value> {
        if self.0.skipped.is_empty() || *method != Method::POST || sent.str_at(&["kind"]) != Some("Application") {
            return None;
        }
        let mut object = Object::new(sent.clone()).ok()?;
        self.mark(&mut object);
        Some(object.into_value())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Written>> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target {
    fn of(method: &Method, path: &str, sent: &Value) -> Self {
        let mut parts = path.trim_start_matches('/').split('/');
        let group = if parts.next() == Some("apis") { parts.next().unwrap_or_default() } else { "" };
        let _version = parts.next();
        let mut rest: Vec<&str> = parts.collect();
        let mut namespace = "";
        // A namespace has subresources of its own.
        if rest.first() == Some(&"namespaces") && rest.get(2).is_some_and(|part| !matches!(*part, "finalize" | "status")) {
            namespace = rest[1];
            rest.drain(..2);
        }
        let part = |at: usize| rest.get(at).copied().unwrap_or_default();
        let named = sent.str_at(&["metadata", "name"]).unwrap_or_default();
        let name = if part(1).is_empty() && *method == Method::POST { named } else { part(1) };
        Target {
            group: group.to_owned(),
            plural: part(0).to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            is_part: !part(2).is_empty(),
        }
    }

    /// Whether it is about something that is delivered, and not a record of the engine's own.
    fn counts(&self) -> bool {
        !self.is_part && self.plural != "events" && !self.group.ends_with("authorization.k8s.io")
    }
}

/// What a write did; none if it did nothing that anybody delivered.
fn effect(
    method: &Method,
    target: &Target,
    before: Option<&Object>,
    after: &Value,
    refused: Option<u16>,
    sent: &Value,
) -> Option<(ObjectKey, Effect)> {
    let is_application = target.plural == "applications" && target.group == lynceus_api::GROUP;
    if is_application && *method == Method::PATCH && sent.get("spec").is_none() {
        return None;
    }
    let named = |value: &Value| value.str_at(&["kind"]).filter(|kind| *kind != "Status").map(str::to_owned);
    let kind = before.map(|object| object.kind().to_owned()).or_else(|| named(after)).or_else(|| named(sent));
    let name = after.str_at(&["metadata", "name"]).unwrap_or(&target.name);
    let name = if target.name.is_empty() { name } else { &target.name };
    let key = ObjectKey::new(
        target.group.as_str(),
        kind.unwrap_or_else(|| target.plural.clone()),
        target.namespace.as_str(),
        name,
    );
    if let Some(code) = refused {
        // Somebody else was faster, or it is gone: the engine tries again by itself.
        let is_passing = matches!(code, 404 | 409) && *method != Method::POST;
        let message = after.str_at(&["message"]).unwrap_or_default().to_owned();
        return (!is_passing).then_some((key, Effect::Refused(message)));
    }
    let effect = match before {
        _ if *method == Method::DELETE => Effect::Deleted,
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
