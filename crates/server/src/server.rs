//! The one place that every question passes: who asks, may they, and who answers.

use std::sync::Arc;
use std::time::Instant;

use axum::http::HeaderMap;
use lynceus_engine::Engine;
use lynceus_object::{Object, ObjectKey, Value};
use tokio::sync::Semaphore;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info, info_span, warn};

use crate::access::{self, Access, Caller};
use crate::call::{Answer, Answered, Call};
use crate::method::{Flow, Method};
use crate::refusal::Refusal;
use crate::rights;
use crate::services;
use crate::streams::Streams;

/// Everything that questions are answered with.
pub struct Server {
    /// What looks at applications and clusters.
    pub(crate) engine: Arc<Engine>,
    /// Who people are, and what they may do.
    pub(crate) access: Access,
    /// Which repositories could be reached.
    pub(crate) trials: services::Trials,
    /// Which applications there are.
    pub(crate) roster: services::Roster,
    /// What streams of applications have in common.
    pub(crate) rolls: services::Rolls,
    /// What was found out of nodes.
    pub(crate) hosts: services::Hosts,
    /// The long answers that are open.
    pub(crate) streams: Streams,
    /// Rehearsals take much of the machine, so there is one at a time.
    pub(crate) rehearsing: Semaphore,
    /// Files that somebody sends are held in memory, so that they are taken one after the other.
    pub(crate) receiving: Semaphore,
}

impl Server {
    /// A server that answers from what an engine sees.
    pub fn new(engine: Arc<Engine>) -> Arc<Self> {
        let access = Access::new(engine.clone());
        let roster = services::Roster::of(engine.home().cache());
        Arc::new(Server {
            engine,
            access,
            trials: services::Trials::default(),
            roster,
            rolls: services::Rolls::default(),
            hosts: services::Hosts::default(),
            streams: Streams::default(),
            rehearsing: Semaphore::new(1),
            receiving: Semaphore::new(1),
        })
    }

    /// Gives an installation that has none the key that sessions are signed with, and the admin a password. Whoever logs
    /// in before it is done waits for it.
    pub async fn prepare(&self) -> Result<(), String> {
        self.access.prepare().await.map_err(|refusal| refusal.message)
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The namespace of Applications, projects and settings.
    pub(crate) fn namespace(&self) -> &str {
        &self.engine.options().namespace
    }

    /// What `argocd-cm` says about something; empty if it says nothing.
    pub(crate) fn setting(&self, key: &str) -> String {
        let map = ObjectKey::new("", "ConfigMap", self.namespace(), "argocd-cm");
        let found = self.engine.home().cache().get(&map);
        found.and_then(|map| Some(map.value().str_at(&["data", key])?.to_owned())).unwrap_or_default()
    }

    /// An object as it may be shown: without what the server keeps for itself, and without secrets.
    pub(crate) fn discreet(&self, object: &Object) -> Object {
        let mut object = object.clone();
        object.remove(&["metadata", "managedFields"]);
        let hidden = &self.engine.settings().comparing.hidden_annotations;
        lynceus_diff::mask(None, Some(&object), hidden).1.unwrap_or_default()
    }

    /// Refuses those who may not ask anything before what they send is received.
    pub(crate) async fn admit(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        self.access.caller(headers, &rights::of(method)).await.map(drop)
    }

    /// Answers a question: no method is reached in any other way, so none can be reached without its right.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        method: &Method,
        headers: &HeaderMap,
        request: Value,
    ) -> Answered {
        let began = Instant::now();
        let (service, name) = method.id();
        let span =
            info_span!(target: "lynceus::span", "call", service, method = name, code = Empty, error = Empty);
        let answered = self.permitted(method, headers, request).instrument(span.clone()).await;
        tell(&span, &answered.1);
        let (user, outcome) = match &answered {
            (user, Ok(_)) => (user, "ok"),
            (user, Err(refusal)) => (user, refusal.message.as_str()),
        };
        let took = began.elapsed().as_millis();
        match rights::of(method).changes() {
            true => info!(target: "audit", user, service, method = name, outcome, took, "asked for a change"),
            false => tracing::debug!(user, service, method = name, outcome, took, "asked"),
        }
        answered.1
    }

    async fn permitted(
        self: &Arc<Self>,
        method: &Method,
        headers: &HeaderMap,
        request: Value,
    ) -> (String, Answered) {
        let right = rights::of(method);
        let caller = match self.access.caller(headers, &right).await {
            Ok(caller) => caller,
            Err(refusal) => return (String::new(), Err(refusal)),
        };
        let user = caller.name().to_owned();
        let answered = self.asked(method, caller, request).await;
        (user, answered)
    }

    /// Answers somebody who is known.
    pub(crate) async fn asked(self: &Arc<Self>, method: &Method, caller: Caller, request: Value) -> Answered {
        let right = rights::of(method);
        let user = caller.name().to_owned();
        let later = caller.again();
        let call = Call { server: self.clone(), caller, request };
        if let Err(refusal) = right.check(&call).await {
            warn!(target: "audit", user, method = method.name, "refused");
            return Err(refusal);
        }
        // Before it is begun: a stream that is refused should cost nothing.
        let place = match method.flow {
            Flow::Answers => Some(self.streams.place(&user)?),
            Flow::Single | Flow::Questions => None,
        };
        services::answer(method, call).await.map(|answer| match answer {
            Answer::Many(messages) => Answer::Many(access::while_valid(self.clone(), later, place, messages)),
            one => one,
        })
    }
}

/// Writes down how a call went, in the words that gRPC has for it. What a refusal says is for the one who asked.
fn tell(span: &Span, answered: &Answered) {
    match answered {
        Ok(_) => {
            span.record("code", "OK");
        }
        Err(refusal) => {
            let code = format!("{:?}", refusal.code);
            span.record("code", code.as_str()).record("error", code.as_str());
        }
    }
}
