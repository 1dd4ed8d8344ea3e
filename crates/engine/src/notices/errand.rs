//! One application: what holds, what has been told, and what is sent.

use jiff::{SignedDuration, Timestamp};
use lynceus_api::{Application, GROUP, Kind as _};
use lynceus_cluster::EventType;
use lynceus_helm::World as _;
use lynceus_notify::{
    ConditionResult, Destination, Facts, NOTIFIED_ANNOTATION, Ran, Render, SendError, State, Subject,
    is_refreshed, state_key,
};
use lynceus_object::{Object, ObjectKey, Str, Value, value};
use tracing::{debug, info, warn};

use super::Notices;
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
    trigger: Str,
    result: ConditionResult,
    to: Destination,
    key: String,
}

/// An application with what is known of it.
struct Case<'a> {
    engine: &'a Engine,
    office: &'a Office,
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
        let office = self.office();
        // A status that is about to be renewed comes back by itself when it is.
        if office.is_closed() || !is_refreshed(&application) {
            return;
        }
        let name = application.value().str_at(&["spec", "project"]).unwrap_or("default").to_owned();
        let project = cache.get(&ObjectKey::new(
            GROUP,
            "AppProject",
            engine.options().namespace.as_str(),
            name.as_str(),
        ));
        let mut case = Case { engine, office: &office, key, application, project, facts: Facts::default() };
        let before = State::read(case.application.annotation(NOTIFIED_ANNOTATION));
        let marked = State::read(case.application.annotation(NOTIFYING));
        let (mut told, mut marks) = (before.clone(), marked.clone());
        let now = engine.clock().now();
        let stale =
            now.checked_sub(SignedDuration::try_from(limits::NOTIFYING).unwrap_or_default()).unwrap_or(now);
        for left in marks.before(stale) {
            told.forget(&left);
            marks.forget(&left);
        }
        let errands = self.decide(&mut case, &mut told, now).await;
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

    /// What has to be told. What no longer holds is forgotten, so that it is told when it holds again.
    async fn decide(&self, case: &mut Case<'_>, told: &mut State, now: Timestamp) -> Vec<Errand> {
        let mut errands = Vec::new();
        let destinations = case.office.config.destinations(&case.application, case.project.as_ref());
        for (trigger, listeners) in destinations {
            let Some(ran) = case.ask(&trigger, now).await else {
                self.fault(&format!("trigger {trigger} is subscribed to and not configured"));
                continue;
            };
            for fault in &ran.faults {
                self.fault(&case.office.redactor.hide(&fault.to_string()));
            }
            for result in ran.results {
                let triggered = result.triggered;
                info!(target: "lynceus::measure", name = trigger.as_str(), triggered, "notification_trigger");
                for to in &listeners {
                    let key = state_key(case.office.config.self_service.as_deref(), &trigger, &result, to);
                    if !triggered {
                        told.forget(&key);
                    } else if !told.has(&key) && !self.has_to_wait(case, &key) {
                        let errand =
                            Errand { trigger: trigger.clone(), result: result.clone(), to: to.clone(), key };
                        errands.push(errand);
                    }
                }
            }
        }
        errands
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
        let Errand { trigger, to, .. } = errand;
        let sent = self.send(case, errand).await;
        let (service, succeeded) = (to.service.as_str(), sent.is_ok());
        info!(target: "lynceus::measure", trigger = trigger.as_str(), service, succeeded, "notification");
        let Err(error) = sent else {
            debug!(application = %case.key, %trigger, service, recipient = %to.recipient, "told");
            self.was_taken(case.key, &errand.key);
            return true;
        };
        let why = case.office.redactor.hide(&error.message);
        let recipient = case.office.redactor.hide(&to.recipient);
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
        let Some(service) = case.office.services.get(&errand.to.service) else {
            let name = &errand.to.service;
            return Err(SendError::lasting(format!("there is no service {name}; configure service.{name}")));
        };
        let now = case.engine.clock().now();
        for _ in 0..limits::NOTICE_ROUNDS {
            let needs = {
                let mut ambience = Ambience::at(now);
                let mut random = |bytes: &mut [u8]| ambience.random(bytes);
                let templates = &case.office.templates;
                let filled =
                    templates.fill(&errand.result.templates, case.subject(), &errand.to, now, &mut random);
                match filled.map_err(|fault| SendError::lasting(fault.to_string()))? {
                    Render::Needs(needs) => Err(needs),
                    Render::Filled(message) => Ok(service.deliver(&message, &errand.to, now, &mut random)?),
                }
            };
            match needs {
                Ok(delivery) => return self.post.send(delivery).await,
                Err(needs) => find_out(case.engine, &case.application, &needs, &mut case.facts).await,
            }
        }
        Err(SendError::lasting("the template needs more and more"))
    }
}

impl Case<'_> {
    fn subject(&self) -> Subject<'_> {
        Subject {
            application: self.application.value(),
            project: self.project.as_ref().map(Object::value),
            context: &self.office.config.context,
            secrets: Some(&self.office.config.secrets),
            facts: &self.facts,
            more: &[],
        }
    }

    /// Asks the conditions of a trigger, and finds out what they need.
    async fn ask(&mut self, trigger: &str, now: Timestamp) -> Option<Ran> {
        let mut ran = Ran::default();
        for _ in 0..limits::NOTICE_ROUNDS {
            ran = {
                let mut ambience = Ambience::at(now);
                let mut random = |bytes: &mut [u8]| ambience.random(bytes);
                self.office.triggers.run(trigger, self.subject(), now, &mut random)?
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
