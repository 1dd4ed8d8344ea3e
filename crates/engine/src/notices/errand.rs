//! One application: what holds, what has been told, and what is sent.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use lynceus_api::{Application, GROUP, Kind as _};
use lynceus_cluster::EventType;
use lynceus_helm::World as _;
use lynceus_notify::{
    ConditionResult, Config, Destination, Facts, NOTIFIED_ANNOTATION, ROOT_CAUSE, Ran, Render, SendError,
    State, Subject, is_refreshed, state_key,
};
use lynceus_object::{Object, ObjectKey, Str, Value, value};
use tracing::{debug, info, warn};

use super::Notices;
use super::causes::Telling;
use super::facts::find_out;
use super::office::Office;
use crate::ambience::Ambience;
use crate::engine::Engine;
use crate::key::{AppKey, application_gvk};
use crate::limits;

/// What is about to be told: who looks again later knows that somebody else is at it.
const NOTIFYING: &str = "lynceus.dev/notifying";

/// A message that has to be sent.
struct Errand {
    office: Arc<Office>,
    trigger: Str,
    result: ConditionResult,
    to: Destination,
    key: String,
    /// The root cause that it is about, if it is about one.
    about: Option<Value>,
}

/// An application with what is known of it.
struct Case<'a> {
    engine: &'a Engine,
    key: &'a AppKey,
    application: Object,
    project: Option<Object>,
    facts: Facts,
}

impl Notices {
    /// Looks at one application, and tells what has to be told.
    pub(super) async fn tell_of(&self, engine: &Engine, key: &AppKey) {
        let cache = engine.home().cache();
        let Some(application) = cache.get(&key.object_key()).filter(|_| engine.takes(key)) else {
            self.queue.forget(key);
            self.state().pauses.retain(|(application, _), _| application != key);
            return;
        };
        let offices = self.offices_for(engine, key).await;
        // A status that is about to be renewed comes back by itself when it is.
        if offices.is_empty() || !is_refreshed(&application) {
            return;
        }
        let project = project_of(engine, &application);
        let mut case = Case { engine, key, application, project, facts: Facts::default() };
        let before = self.state_of(&case, NOTIFIED_ANNOTATION).await;
        let marked = self.state_of(&case, NOTIFYING).await;
        let (mut told, mut marks) = (before.clone(), marked.clone());
        let now = engine.clock().now();
        let stale =
            now.checked_sub(SignedDuration::try_from(limits::NOTIFYING).unwrap_or_default()).unwrap_or(now);
        for left in marks.before(stale) {
            told.forget(&left);
            marks.forget(&left);
        }
        let mut errands = Vec::new();
        for office in &offices {
            errands.extend(self.decide(&mut case, office, &mut told, now).await);
        }
        for errand in &errands {
            told.tell(&errand.key, now);
            marks.tell(&errand.key, now);
        }
        if !marks.is_empty() {
            self.later(engine, key, limits::NOTIFYING);
        }
        if told == before && marks == marked {
            return;
        }
        if !case.write(&told, &marks).await {
            // Somebody else has written it. What they wrote brings us back; this is for where it does not.
            self.later(engine, key, limits::RETRY_MIN);
            return;
        }
        let mut refused = Vec::new();
        for errand in &errands {
            if !self.run(&mut case, errand).await {
                refused.push(errand.key.as_str());
            }
        }
        let done: Vec<&str> = errands.iter().map(|errand| errand.key.as_str()).collect();
        case.settle(&done, &refused).await;
    }

    /// What an annotation of an application says. What cannot be read of it is told to its users, too: they get messages again.
    async fn state_of(&self, case: &Case<'_>, name: &str) -> State {
        let (state, fault) = State::of(&case.application, name);
        if let Some(fault) = fault
            && self.fault(&format!("application {}: {fault}", case.key))
            && let Ok(application) = Application::from_object(&case.application)
        {
            let message = format!("Notifications are sent again: {fault}");
            case.engine.tell(&application, EventType::Warning, "NotificationsForgotten", &message).await;
        }
        state
    }

    /// What has to be told. What no longer holds is forgotten, so that it is told when it holds again.
    async fn decide(
        &self,
        case: &mut Case<'_>,
        office: &Arc<Office>,
        told: &mut State,
        now: Timestamp,
    ) -> Vec<Errand> {
        let mut errands = Vec::new();
        let destinations = office.config.destinations(&case.application, case.project.as_ref());
        for fault in destinations.faults {
            let about = format!("application {}: {fault}", case.key);
            self.fault(&office.redactor.hide(&about));
        }
        for (trigger, listeners) in destinations.of_triggers {
            if !office.triggers.has(&trigger) {
                self.fault(&format!("trigger {trigger} is subscribed to and not configured"));
                continue;
            }
            if office.triggers.asks_for(&trigger, ROOT_CAUSE) {
                errands.extend(self.decide_causes(case, office, &trigger, &listeners, told, now).await);
                continue;
            }
            for result in self.results(case, office, &trigger, None, now).await {
                for to in &listeners {
                    let key = state_key(office.config.self_service.as_deref(), &trigger, &result, to);
                    if !result.triggered {
                        told.forget(&key);
                    } else if !told.has(&key) && !self.has_to_wait(case, &key) {
                        errands.push(Errand::new(office, &trigger, &result, to, key, None));
                    }
                }
            }
        }
        errands
    }

    /// The same for a trigger that is about root causes. What one stops is often many applications, and people want to hear of it
    /// once: the first of those applications tells it whose subscription names them.
    async fn decide_causes(
        &self,
        case: &mut Case<'_>,
        office: &Arc<Office>,
        trigger: &Str,
        listeners: &[Destination],
        told: &mut State,
        now: Timestamp,
    ) -> Vec<Errand> {
        // Before the first examination nothing is known to be over.
        let Some(causes) = self.causes.found() else { return Vec::new() };
        let namespace = office.config.self_service.as_deref();
        told.forget_causes(namespace, trigger, |id| !causes.iter().any(|cause| cause.id == id));
        let mut errands = Vec::new();
        for cause in causes.iter().filter(|cause| cause.stops(case.key.to_string().as_str())) {
            let about = cause.to_value();
            for result in self.results(case, office, trigger, Some(&about), now).await {
                for to in listeners.iter().filter(|_| result.triggered) {
                    let key = state_key(namespace, trigger, &result, to);
                    let telling = Telling { engine: case.engine, office, cause, trigger, to };
                    let is_ours = || self.causes.is_told_by(case.key, &telling, &key);
                    if !told.has(&key) && is_ours() && !self.has_to_wait(case, &key) {
                        errands.push(Errand::new(office, trigger, &result, to, key, Some(about.clone())));
                    }
                }
            }
        }
        errands
    }

    /// What the conditions of a trigger come to, told to those who count.
    async fn results(
        &self,
        case: &mut Case<'_>,
        office: &Office,
        trigger: &Str,
        about: Option<&Value>,
        now: Timestamp,
    ) -> Vec<ConditionResult> {
        let Some(ran) = case.ask(office, trigger, about, now).await else { return Vec::new() };
        for fault in &ran.faults {
            self.fault(&office.redactor.hide(&fault.to_string()));
        }
        for ConditionResult { triggered, .. } in &ran.results {
            info!(target: "lynceus::measure", name = trigger.as_str(), triggered, "notification_trigger");
        }
        ran.results
    }

    fn has_to_wait(&self, case: &Case<'_>, key: &str) -> bool {
        let until = self.pause(case.key, key);
        let waits = until.filter(|until| case.engine.clock().monotonic() < *until);
        if let Some(until) = waits {
            self.queue.add(case.key.clone(), until, crate::queue::Freshness::Recent);
        }
        waits.is_some()
    }

    /// Sends one message. False if it was not taken and is to be tried again.
    async fn run(&self, case: &mut Case<'_>, errand: &Errand) -> bool {
        let Errand { office, trigger, to, .. } = errand;
        let sent = self.send(case, errand).await;
        let (service, succeeded) = (to.service.as_str(), sent.is_ok());
        info!(target: "lynceus::measure", trigger = trigger.as_str(), service, succeeded, "notification");
        let Err(error) = sent else {
            debug!(application = %case.key, %trigger, service, recipient = %to.recipient, "told");
            self.was_taken(case.key, &errand.key);
            return true;
        };
        let why = office.redactor.hide(&error.message);
        let recipient = office.redactor.hide(&to.recipient);
        warn!(application = %case.key, %trigger, service, recipient, error = why, "a notification was not taken");
        if let Ok(application) = Application::from_object(&case.application) {
            let message = format!("Notification {trigger} to {service}:{recipient} was not taken: {why}");
            case.engine.tell(&application, EventType::Warning, "NotificationFailed", &message).await;
        }
        if error.is_final {
            return true;
        }
        self.was_refused(case.engine, case.key, &errand.key, error.is_lasting);
        false
    }

    async fn send(&self, case: &mut Case<'_>, errand: &Errand) -> Result<(), SendError> {
        let office = &errand.office;
        let Some(service) = office.services.get(&errand.to.service) else {
            let name = &errand.to.service;
            return Err(SendError::lasting(format!("there is no service {name}; configure service.{name}")));
        };
        let now = case.engine.clock().now();
        for _ in 0..limits::NOTICE_ROUNDS {
            let needs = {
                let mut ambience = Ambience::at(now);
                let mut random = |bytes: &mut [u8]| ambience.random(bytes);
                let more = more(errand.about.as_ref());
                let subject = case.subject(office, &more);
                let filled =
                    office.templates.fill(&errand.result.templates, subject, &errand.to, now, &mut random);
                match filled.map_err(|fault| SendError::lasting(fault.to_string()))? {
                    Render::Needs(needs) => Err(needs),
                    Render::Filled(message) => Ok(service.deliver(&message, &errand.to, now, &mut random)?),
                }
            };
            match needs {
                Ok(delivery) => {
                    for left_out in delivery.left_out() {
                        let templates = errand.result.templates.join(", ");
                        self.fault(&office.redactor.hide(&format!("template {templates}: {left_out}")));
                    }
                    return self.post.send(delivery).await;
                }
                Err(needs) => find_out(case.engine, &case.application, &needs, &mut case.facts).await,
            }
        }
        Err(SendError::lasting("the template needs more and more"))
    }
}

impl Errand {
    fn new(
        office: &Arc<Office>,
        trigger: &Str,
        result: &ConditionResult,
        to: &Destination,
        key: String,
        about: Option<Value>,
    ) -> Self {
        let (office, trigger) = (office.clone(), trigger.clone());
        Errand { office, trigger, result: result.clone(), to: to.clone(), key, about }
    }
}

/// The project of an application.
pub(super) fn project_of(engine: &Engine, application: &Object) -> Option<Object> {
    let name = application.value().str_at(&["spec", "project"]).unwrap_or("default");
    let key = ObjectKey::new(GROUP, "AppProject", engine.options().namespace.as_str(), name);
    engine.home().cache().get(&key)
}

/// The names beside the usual ones.
fn more(about: Option<&Value>) -> Vec<(&'static str, Value)> {
    about.map(|cause| (ROOT_CAUSE, cause.clone())).into_iter().collect()
}

impl Case<'_> {
    fn subject<'a>(&'a self, office: &'a Office, more: &'a [(&'static str, Value)]) -> Subject<'a> {
        let Config { context, secrets, self_service, .. } = &office.config;
        Subject {
            application: self.application.value(),
            project: self.project.as_ref().map(Object::value),
            context,
            secrets: self_service.is_none().then_some(secrets),
            facts: &self.facts,
            more,
        }
    }

    /// Asks the conditions of a trigger, and finds out what they need.
    async fn ask(
        &mut self,
        office: &Office,
        trigger: &str,
        about: Option<&Value>,
        now: Timestamp,
    ) -> Option<Ran> {
        let more = more(about);
        let mut ran = Ran::default();
        for _ in 0..limits::NOTICE_ROUNDS {
            ran = {
                let mut ambience = Ambience::at(now);
                let mut random = |bytes: &mut [u8]| ambience.random(bytes);
                office.triggers.run(trigger, self.subject(office, &more), now, &mut random)?
            };
            if ran.needs.is_empty() {
                break;
            }
            find_out(self.engine, &self.application, &ran.needs, &mut self.facts).await;
        }
        Some(ran)
    }

    /// Writes what has been told and what is about to be, if nobody else has written meanwhile.
    async fn write(&mut self, told: &State, marks: &State) -> bool {
        let patch = patch(told, marks, self.application.resource_version());
        let home = self.engine.home();
        match home.patch_record(&application_gvk(), &self.key.namespace, &self.key.name, &patch).await {
            Ok(_) => true,
            Err(error) if error.is_conflict() || error.is_not_found() => false,
            Err(error) => {
                warn!(application = %self.key, error = crate::words(&error), "what was told cannot be written down");
                false
            }
        }
    }

    /// Takes the marks off what has been sent, and forgets what was not taken.
    async fn settle(&self, done: &[&str], refused: &[&str]) {
        let home = self.engine.home();
        for _ in 0..limits::OVERTAKEN {
            let Ok(Some(live)) = home.get(&application_gvk(), &self.key.namespace, &self.key.name).await
            else {
                break;
            };
            let mut told = State::read(live.annotation(NOTIFIED_ANNOTATION));
            let mut marks = State::read(live.annotation(NOTIFYING));
            done.iter().for_each(|key| marks.forget(key));
            refused.iter().for_each(|key| told.forget(key));
            let patch = patch(&told, &marks, live.resource_version());
            match home.patch_record(&application_gvk(), &self.key.namespace, &self.key.name, &patch).await {
                Err(error) if error.is_conflict() => {}
                Ok(_) => return,
                Err(_) => break,
            }
        }
        // The marks are left, and after a while it is told once more.
        warn!(application = %self.key, "that something was told cannot be written down; it may be told again");
    }
}

fn patch(told: &State, marks: &State, version: &str) -> Value {
    let text = |state: &State| state.write().map_or(Value::Null, Value::from);
    value!({"metadata": {
        "resourceVersion": (version),
        "annotations": {(NOTIFIED_ANNOTATION): (text(told)), (NOTIFYING): (text(marks))},
    }})
}
