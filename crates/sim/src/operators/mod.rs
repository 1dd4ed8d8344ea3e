//! Operators as declarations: what a program in the cluster does with objects of its own kinds, said in YAML.
//!
//! A declaration says for a kind which other objects count, and case by case what is done: fields of the status are written,
//! fields of the object itself, other objects are made or deleted, and something is told. Expressions are CEL, and a script in Lua says what
//! they cannot. The same declaration stands for a program that is really there: it does nothing while no pod with its image is
//! ready.
//!
//! Everything is written by server-side apply under the operator's name, so that who wrote a field can be told as in a real
//! cluster. Those that are shipped are files in `crates/sim/operators`, to be read, copied and changed.

mod declaration;
mod form;
mod outcome;
mod pace;
mod script;
pub(crate) mod template;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};
use lynceus_object::{Object, Str};

use self::declaration::{Case, Course, Lookup, Named, Rule, Which, split};
use self::outcome::{Outcome, served};
use self::pace::{May, Pace};
use self::template::{Scope, run};
use self::watch::{Watched, Watches};
use crate::cel::{Ty, Val};
use crate::controllers::key::Key;
use crate::controllers::kind::POD;
use crate::controllers::steps::{Announcement, Step, Steps};
use crate::controllers::world::World;
use crate::controllers::{Controller, Refusal, Writer, pods, selector};
use crate::hash::QuickMap;
use crate::limits;
use crate::store::{Event, EventKind};
use crate::view::View as _;

pub use self::declaration::{Fault, Misread, Operator};

macro_rules! shipped {
    ($($name:literal)+) => {
        /// The declarations that are shipped, with their names.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../operators/", $name, ".yaml")))),+];
    };
}

shipped! {
    "argo-rollouts"
    "cert-manager"
    "clickhouse"
    "cloudnative-pg"
    "elastic"
    "envoy-gateway"
    "external-secrets"
    "gitea"
    "istio"
    "keycloak"
    "knative-serving"
    "kserve"
    "openshift-ai"
    "openshift-builds"
    "openshift-router"
    "openshift-service-mesh"
    "prometheus-operator"
    "strimzi"
    "tekton"
}

/// The operators that every cluster has, though they do nothing before somebody brings their kinds and their pods.
fn shipped() -> Vec<Arc<Operator>> {
    static READ: OnceLock<Vec<Arc<Operator>>> = OnceLock::new();
    let read = |(name, text): &(&str, &str)| match Operator::read(text) {
        Ok(operator) => Some(Arc::new(operator)),
        Err(fault) => {
            tracing::error!(operator = name, %fault, "a declaration that is shipped cannot be read");
            None
        }
    };
    READ.get_or_init(|| SHIPPED.iter().filter_map(read).collect()).clone()
}

/// Those that are shipped and others; of two with one name the other counts.
pub(crate) fn with(others: &[Arc<Operator>]) -> Vec<Arc<Operator>> {
    let is_replaced = |one: &Arc<Operator>| others.iter().any(|other| other.name == one.name);
    shipped().into_iter().filter(|one| !is_replaced(one)).chain(others.iter().cloned()).collect()
}

/// One operator at work.
pub(crate) struct Acting {
    operator: Arc<Operator>,
    /// The groups of its kinds, each once: a list, because it has one or two and every change is held against them.
    groups: Vec<Str>,
    /// The objects of its kinds.
    own: BTreeSet<Key>,
    /// The pods that it runs in, of those that are ready.
    pods: BTreeSet<Key>,
    /// Whether images are its own, of those that were seen: there are few, and every change of a pod asks.
    images: QuickMap<Str, bool>,
    /// Who has to be looked at when another object changes.
    watches: Watches,
    /// Who is looked at too often.
    pace: Pace,
    /// The case that an object is in by a rule, since when, and whether its news was told.
    since: BTreeMap<(Key, usize), (State, Timestamp, bool)>,
}

/// Which case it is, or what a script calls it.
type State = (usize, String);

impl Acting {
    pub(crate) fn new(operator: Arc<Operator>) -> Self {
        let groups: BTreeSet<Str> = operator.rules.iter().map(|rule| rule.group.as_str().into()).collect();
        Acting {
            groups: groups.into_iter().collect(),
            operator,
            own: BTreeSet::new(),
            pods: BTreeSet::new(),
            images: QuickMap::default(),
            watches: Watches::default(),
            pace: Pace::default(),
            since: BTreeMap::new(),
        }
    }

    /// Whether a change is of an object of its kinds. Every change passes here, and the group tells most apart.
    fn is_own(&self, event: &Event) -> bool {
        let is_of = |rule: &Rule| event.place.group == rule.group && event.object.kind() == rule.kind;
        self.groups.contains(&event.place.group) && self.operator.rules.iter().any(is_of)
    }

    /// Whether it runs in a pod.
    fn runs_in(&mut self, pod: &Object) -> bool {
        !self.operator.images.is_empty() && pods::images(pod).any(|image| self.is_its_own(image))
    }

    fn is_its_own(&mut self, image: &str) -> bool {
        if let Some(known) = self.images.get(image) {
            return *known;
        }
        let is_its_own = self.operator.images.iter().any(|pattern| pattern.matches(image));
        if self.images.len() >= limits::OPERATOR_IMAGES {
            self.images.clear();
        }
        self.images.insert(image.into(), is_its_own);
        is_its_own
    }

    /// Takes note of one of its own pods. Says whether that decides something.
    fn note(&mut self, key: &Key, pod: &Object, is_gone: bool) -> bool {
        let before = self.pods.is_empty();
        if !is_gone && pods::is_ready(pod) {
            self.pods.insert(key.clone());
        } else {
            self.pods.remove(key);
        }
        before != self.pods.is_empty()
    }

    fn forget(&mut self, key: &Key) {
        self.own.remove(key);
        self.since.retain(|(known, _), _| known != key);
        self.watches.forget(key);
        self.pace.forget(key);
    }

    /// Does what a rule says of an object.
    fn follow(
        &mut self,
        (index, rule): (usize, &Rule),
        (key, object): (&Key, &Object),
        world: &World<'_>,
        out: &mut Steps,
    ) -> Result<(), String> {
        let mut scope: Scope<'_> = vec![("self", Val::lift(object.value(), &Ty::Dyn))];
        for (name, named) in &rule.names {
            let value = match named {
                Named::Expression(program) => run(program, &scope),
                Named::Objects(lookup) => self.look_up(lookup, (key, object), &scope, world),
            };
            scope.push((name, value.map_err(|problem| format!("{name}: {problem}"))?));
        }
        let place = (key.clone(), index);
        let Some(Decision { state, after, what }) = decide(&rule.course, &scope, world.now)? else {
            self.since.remove(&place);
            return Ok(());
        };
        let before = self.since.get(&place).filter(|(known, ..)| *known == state);
        let (since, is_told) = before.map_or((world.now, false), |(_, since, is_told)| (*since, *is_told));
        let due = since.saturating_add(after).unwrap_or(since);
        self.since.insert(place, (state, since, world.now >= due));
        if world.now < due {
            out.again_at(due);
            return Ok(());
        }
        let outcome = match what {
            What::Said(outcome) => outcome,
            What::Case(case) => case.fill(&scope)?,
        };
        let from = out.steps.len();
        outcome.act(object, !is_told, world, out)?;
        // What it made is made again when somebody deletes or changes it.
        for step in &out.steps[from..] {
            if let Step::Apply { key: made, object, .. } = step
                && made != key
            {
                let watched = Watched::new(object.group(), object.kind(), object.namespace(), object.name());
                self.watches.add(key, watched);
            }
        }
        Ok(())
    }

    fn look_up(
        &mut self,
        lookup: &Lookup,
        (key, object): (&Key, &Object),
        scope: &Scope<'_>,
        world: &World<'_>,
    ) -> Result<Val, String> {
        let text = lookup.kind.fill_text(scope)?;
        let (group, kind) = split(&text);
        let namespace = match &lookup.namespace {
            Some(namespace) => namespace.fill_text(scope)?,
            None => object.namespace().to_owned(),
        };
        let resource = served(world, group, kind);
        let namespace = match &resource {
            Some(resource) if !resource.namespaced => String::new(),
            _ => namespace,
        };
        match &lookup.which {
            Which::Name(name) => {
                let name = name.fill_text(scope)?;
                self.watches.add(key, Watched::new(group, kind, &namespace, &name));
                // Nobody knows whether a kind has namespaces that is not defined yet.
                if resource.is_none() {
                    self.watches.add(key, Watched::new(group, kind, "", &name));
                }
                let found = resource
                    .filter(|_| !name.is_empty())
                    .and_then(|resource| world.local.get(group, &resource.plural, &namespace, &name));
                Ok(found.map_or(Val::Null, |found| Val::lift(found.value(), &Ty::Dyn)))
            }
            Which::Labels(labels) => {
                self.watches.add(key, Watched::any(group, kind));
                let labels = labels.fill(scope)?;
                let place = (namespace != "*").then_some(namespace.as_str());
                let found = resource.map(|resource| world.local.list(group, &resource.plural, place));
                let found = found.unwrap_or_default();
                let chosen = found
                    .iter()
                    .filter(|object| selector::has_all(Some(&labels), object.at(&["metadata", "labels"])));
                Ok(Val::list(chosen.map(|object| Val::lift(object.value(), &Ty::Dyn))))
            }
        }
    }
}

impl Controller for Acting {
    fn component(&self) -> &'static str {
        self.operator.name
    }

    fn writer(&self) -> Writer {
        Writer { user: self.operator.user, manager: self.operator.name }
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        let object = &event.object;
        if self.is_own(event) {
            let key = Key::of(&event.place, object);
            if event.kind == EventKind::Deleted {
                self.forget(&key);
            } else {
                self.own.insert(key.clone());
                wake.push(key);
            }
        }
        // Most clusters have none of an operator's kinds, and every change passes here.
        if !self.watches.is_empty() {
            wake.extend(self.watches.woken_by(object).cloned());
        }
        // Its own pods decide whether it does anything at all.
        if POD.is(&event.place)
            && self.runs_in(object)
            && self.note(&Key::of(&event.place, object), object, event.kind == EventKind::Deleted)
        {
            wake.extend(self.own.iter().cloned());
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key).filter(|object| !object.is_deleting()) else { return };
        if !self.operator.images.is_empty() && self.pods.is_empty() {
            return;
        }
        if let May::Rest(until, begins) = self.pace.count(key, world.now) {
            if begins {
                let message = "it changes again and again: somebody undoes what is done for it";
                out.announce(Announcement::warning(&object, "OperatorFault", message));
            }
            out.again_at(until);
            return;
        }
        self.watches.forget(key);
        let operator = Arc::clone(&self.operator);
        for (index, rule) in operator.rules.iter().enumerate().filter(|(_, rule)| is_of(&object, rule)) {
            if let Err(problem) = self.follow((index, rule), (key, &object), world, out) {
                let message =
                    format!("rules[{index}] of the operator {} cannot be followed: {problem}", operator.name);
                out.announce(Announcement::warning(&object, "OperatorFault", message));
                // It may be that a kind is missing, which somebody defines later.
                self.watches.add(key, Watched::any("apiextensions.k8s.io", "CustomResourceDefinition"));
            }
        }
    }

    fn refused(&mut self, key: &Key, why: &Refusal<'_>, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key) else { return };
        let (reason, message) = match why.step {
            Step::Apply { key: wanted, object: made, .. } if wanted != key => {
                ("FailedCreate", format!("Error creating: {} {:?}: {}", made.kind(), made.name(), why.error))
            }
            Step::Delete { key: wanted, .. } => (
                "FailedDelete",
                format!("Error deleting: {} {:?}: {}", wanted.place.resource, wanted.name, why.error),
            ),
            Step::Apply { .. } | Step::Merge { .. } => ("OperatorFault", why.error.to_string()),
            _ => return,
        };
        out.announce(Announcement::warning(&object, reason, message));
    }
}

fn is_of(object: &Object, rule: &Rule) -> bool {
    object.kind() == rule.kind && object.group() == rule.group
}

/// What is so with an object, and what is done when it has been so for long enough.
struct Decision<'a> {
    state: State,
    after: SignedDuration,
    what: What<'a>,
}

enum What<'a> {
    /// To be filled in when its time has come.
    Case(&'a Case),
    /// What a script said.
    Said(Outcome),
}

/// Asks the script, or finds the first case that holds.
fn decide<'a>(course: &'a Course, scope: &Scope<'_>, now: Timestamp) -> Result<Option<Decision<'a>>, String> {
    let cases = match course {
        Course::Cases(cases) => cases,
        Course::Script(script) => {
            let said = script.run(scope, now)?;
            return Ok(said.map(|(name, after, outcome)| Decision {
                state: (0, name),
                after,
                what: What::Said(outcome),
            }));
        }
    };
    for (number, case) in cases.iter().enumerate() {
        let holds = match &case.when {
            Some(when) => matches!(run(when, scope)?, Val::Bool(true)),
            None => true,
        };
        if holds {
            let state = (number, String::new());
            return Ok(Some(Decision { state, after: case.after, what: What::Case(case) }));
        }
    }
    Ok(None)
}
