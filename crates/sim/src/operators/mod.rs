//! Operators as declarations: what a program in the cluster does with objects of its own kinds, said in YAML.
//!
//! A declaration says for a kind which other objects count, and case by case what is done: fields of the status are written,
//! fields of the object itself, other objects are made, and something is told. Expressions are CEL. The same declaration stands
//! for a program that is really there: it does nothing while no pod with its image is ready.
//!
//! Everything is written by server-side apply under the operator's name, so that who wrote a field can be told as in a real
//! cluster. Those that are shipped are files in `crates/sim/operators`, to be read, copied and changed.

mod declaration;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use lynceus_object::{Object, Str, Value, value};

use self::declaration::{Case, Lookup, Rule, Which, split};
use self::template::{Scope, run};
use crate::cel::{Ty, Val};
use crate::controllers::key::Key;
use crate::controllers::kind::POD;
use crate::controllers::steps::{Announcement, Step, Steps};
use crate::controllers::time::stamp;
use crate::controllers::world::World;
use crate::controllers::{Controller, Writer, condition, selector};
use crate::kinds::Resource;
use crate::store::{Event, EventKind};
use crate::view::View as _;

pub use self::declaration::{Fault, Operator};

macro_rules! shipped {
    ($($name:literal)+) => {
        /// The declarations that are shipped, with their names.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../operators/", $name, ".yaml")))),+];
    };
}

shipped! {
    "cert-manager"
    "cloudnative-pg"
    "external-secrets"
    "openshift-router"
    "strimzi"
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
    /// The objects of its kinds.
    own: BTreeSet<Key>,
    /// The pods that it runs in, of those that are ready.
    pods: BTreeSet<Key>,
    /// Who has to be looked at when an object of a group and a kind changes: by the object's namespace and name, both of
    /// which are empty where any will do.
    watched: BTreeMap<Watched, BTreeSet<Key>>,
    /// The case that an object is in by a rule, since when, and whether its news was told.
    since: BTreeMap<(Key, usize), (usize, Timestamp, bool)>,
}

type Watched = (Str, Str, Str, Str);

impl Acting {
    pub(crate) fn new(operator: Arc<Operator>) -> Self {
        Acting {
            operator,
            own: BTreeSet::new(),
            pods: BTreeSet::new(),
            watched: BTreeMap::new(),
            since: BTreeMap::new(),
        }
    }

    fn is_own(&self, object: &Object) -> bool {
        self.operator.rules.iter().any(|rule| is_of(object, rule))
    }

    /// Takes note of one of its own pods. Says whether that decides something.
    fn note(&mut self, key: &Key, pod: &Object, is_gone: bool) -> bool {
        let before = self.pods.is_empty();
        if !is_gone && condition::is_true(pod, "Ready") {
            self.pods.insert(key.clone());
        } else {
            self.pods.remove(key);
        }
        before != self.pods.is_empty()
    }

    fn forget(&mut self, key: &Key) {
        self.own.remove(key);
        self.since.retain(|(known, _), _| known != key);
        self.watched.retain(|_, who| {
            who.remove(key);
            !who.is_empty()
        });
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
        for (name, lookup) in &rule.with {
            let found = self.look_up(lookup, (key, object), &scope, world)?;
            scope.push((name, found));
        }
        let mut chosen = None;
        for (number, case) in rule.cases.iter().enumerate() {
            let holds = match &case.when {
                Some(when) => matches!(run(when, &scope)?, Val::Bool(true)),
                None => true,
            };
            if holds {
                chosen = Some((number, case));
                break;
            }
        }
        let place = (key.clone(), index);
        let Some((number, case)) = chosen else {
            self.since.remove(&place);
            return Ok(());
        };
        let before = self.since.get(&place).filter(|(known, ..)| *known == number);
        let (since, is_told) = before.map_or((world.now, false), |(_, since, is_told)| (*since, *is_told));
        let due = since.saturating_add(case.after).unwrap_or(since);
        self.since.insert(place, (number, since, world.now >= due));
        if world.now < due {
            out.again_at(due);
            return Ok(());
        }
        act(case, object, &scope, !is_told, world, out)
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
        let mut watch = |namespace: &str, name: &str| {
            let watched = (group.into(), kind.into(), namespace.into(), name.into());
            self.watched.entry(watched).or_default().insert(key.clone());
        };
        match &lookup.which {
            Which::Name(name) => {
                let name = name.fill_text(scope)?;
                watch(&namespace, &name);
                let found = resource
                    .filter(|_| !name.is_empty())
                    .and_then(|resource| world.local.get(group, &resource.plural, &namespace, &name));
                Ok(found.map_or(Val::Null, |found| Val::lift(found.value(), &Ty::Dyn)))
            }
            Which::Labels(labels) => {
                watch("", "");
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
        let key = Key::of(&event.place, object);
        if self.is_own(object) {
            if event.kind == EventKind::Deleted {
                self.forget(&key);
            } else {
                self.own.insert(key.clone());
                wake.push(key);
            }
        }
        // Most clusters have none of its kinds, and every change passes here.
        if !self.watched.is_empty() {
            let (group, kind): (Str, Str) = (object.group().into(), object.kind().into());
            for (namespace, name) in [(object.namespace(), object.name()), ("", "")] {
                let watched = (group.clone(), kind.clone(), namespace.into(), name.into());
                wake.extend(self.watched.get(&watched).into_iter().flatten().cloned());
            }
        }
        // What it made is made again, and its own pods decide whether it does anything at all.
        if let Some(owner) = object.controller() {
            let owned =
                self.own.iter().filter(|key| key.name == owner.name && key.namespace == object.namespace());
            wake.extend(owned.cloned());
        }
        let is_its_pod = |image| POD.is(&event.place) && has_image(object, image);
        if self.operator.image.as_ref().is_some_and(is_its_pod)
            && self.note(&Key::of(&event.place, object), object, event.kind == EventKind::Deleted)
        {
            wake.extend(self.own.iter().cloned());
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(object) = world.find(key).filter(|object| !object.is_deleting()) else { return };
        if self.operator.image.is_some() && self.pods.is_empty() {
            return;
        }
        let operator = Arc::clone(&self.operator);
        for (index, rule) in operator.rules.iter().enumerate().filter(|(_, rule)| is_of(&object, rule)) {
            if let Err(problem) = self.follow((index, rule), (key, &object), world, out) {
                let message =
                    format!("rules[{index}] of the operator {} cannot be followed: {problem}", operator.name);
                out.announce(Announcement::warning(&object, "OperatorFault", message));
            }
        }
    }
}

fn is_of(object: &Object, rule: &Rule) -> bool {
    object.kind() == rule.kind && object.group() == rule.group
}

fn has_image(pod: &Object, image: &lynceus_api::Glob) -> bool {
    let containers = pod.value().items_at(&["spec", "containers"]);
    containers.iter().any(|container| container.str_at(&["image"]).is_some_and(|name| image.matches(name)))
}

/// How a kind is served, in the version that it is kept in.
fn served(world: &World<'_>, group: &str, kind: &str) -> Option<Arc<Resource>> {
    let registry = world.local.registry();
    let mut found = registry.resources().iter().filter(|one| one.group == group && one.kind == kind);
    found.find(|one| one.storage.version == one.version).cloned()
}

/// Does what a case says.
fn act(
    case: &Case,
    object: &Object,
    scope: &Scope<'_>,
    is_news: bool,
    world: &World<'_>,
    out: &mut Steps,
) -> Result<(), String> {
    for template in &case.create {
        let mut made =
            Object::new(template.fill(scope)?).map_err(|_| "what is made is no object".to_owned())?;
        let Some(resource) = served(world, made.group(), made.kind()) else {
            return Err(format!("no {} is served", made.kind()));
        };
        if resource.namespaced && made.namespace().is_empty() {
            made.set(&["metadata", "namespace"], object.namespace());
        }
        if made.namespace() == object.namespace() && made.at(&["metadata", "ownerReferences"]).is_none() {
            made.set(&["metadata", "ownerReferences"], vec![owner(object)]);
        }
        push(&resource, "", made, out);
    }
    let Some(resource) = served(world, object.group(), object.kind()) else { return Ok(()) };
    let part = |fields: Value| {
        let mut part = Object::named(&object.gvk(), object.namespace(), object.name());
        merge(part.value_mut(), fields);
        part
    };
    if let Some(set) = &case.set {
        push(&resource, "", part(set.fill(scope)?), out);
    }
    if let Some(status) = &case.status {
        let status = dated(status.fill(scope)?, object, world.now);
        let has_status = resource.subresources.iter().any(|one| one.name == "status");
        push(&resource, if has_status { "status" } else { "" }, part(value!({"status": status})), out);
    }
    for news in case.events.iter().filter(|_| is_news) {
        let message = news.message.fill_text(scope)?;
        let told = Announcement::normal(object, news.reason, message);
        out.announce(Announcement { warning: news.warning, ..told });
    }
    Ok(())
}

/// Puts fields into a value, beside those that are there.
fn merge(into: &mut Value, fields: Value) {
    match fields {
        Value::Map(fields) => {
            let map = into.as_map_or_insert();
            for (name, field) in fields {
                match map.get_mut(&name) {
                    Some(known) => merge(known, field),
                    None => {
                        map.insert(name, field);
                    }
                }
            }
        }
        other => *into = other,
    }
}

fn push(resource: &Resource, subresource: &'static str, object: Object, out: &mut Steps) {
    let place = crate::store::Place::new(&resource.group, &resource.plural);
    out.steps.push(Step::Apply { key: Key::of(&place, &object), subresource, object });
}

fn owner(object: &Object) -> Value {
    value!({
        "apiVersion": object.api_version(), "kind": object.kind(), "name": object.name(), "uid": object.uid(),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// A status whose conditions say since when they are as they are.
fn dated(mut status: Value, object: &Object, now: Timestamp) -> Value {
    let Some(conditions) = status.at_mut(&["conditions"]).and_then(Value::as_seq_mut) else { return status };
    for one in conditions.make_mut().iter_mut().filter(|one| one.get("lastTransitionTime").is_none()) {
        let before = condition::get(object, one.str_at(&["type"]).unwrap_or_default());
        let same = before.filter(|before| before.str_at(&["status"]) == one.str_at(&["status"]));
        let since = same.and_then(|before| before.get("lastTransitionTime").cloned());
        one.set(&["lastTransitionTime"], since.unwrap_or_else(|| Value::from(stamp(now))));
    }
    status
}
