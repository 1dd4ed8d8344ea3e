//! What is named and defined nowhere, and what is called almost so.

use std::collections::{BTreeMap, HashMap};

use lynceus_api::ApplicationConditionType;
use lynceus_object::{Object, ObjectKey};

use super::near;
use crate::case::{App, Case, Pods};
use crate::links::missing::{self, Missing};
use crate::node::AppName;

/// Something that is named and that nobody makes.
pub(super) struct Nowhere<'a> {
    /// What it is.
    pub(super) key: ObjectKey,
    /// The cluster's address.
    pub(super) server: &'a str,
    /// Who names it, and where.
    pub(super) users: Vec<Missing<'a>>,
    /// One of the same kind and namespace that is called almost so.
    pub(super) near: Option<&'a str>,
    /// One that says the same shorter or longer, if none is called almost so.
    pub(super) likely: Option<&'a str>,
    /// Another namespace that has one of the same name.
    pub(super) elsewhere: Option<&'a str>,
    /// Applications that might have it among what they want, which is not known.
    pub(super) unread: Vec<AppName>,
}

/// Everything that pods name, that is not there, and that nobody makes or wants.
pub(super) fn nowhere<'a>(case: &Case<'a>) -> Vec<Nowhere<'a>> {
    let missing = missing::missing(case);
    if missing.is_empty() {
        return Vec::new();
    }
    let origins = case.origins();
    let names = Names::new(case);
    let unread: Vec<&App<'a>> = case.apps().filter(|app| is_unread(app)).collect();
    let mut all: BTreeMap<(&'a str, ObjectKey), Vec<Missing<'a>>> = BTreeMap::new();
    for one in missing {
        let key = &one.key;
        let is_made = !case.wanted(one.server, key).is_empty()
            || origins.is_listed(one.server, key)
            || !origins.of(one.server, key).is_empty();
        if !is_made {
            all.entry((one.server, key.clone())).or_default().push(one);
        }
    }
    all.into_iter().map(|((server, key), users)| names.look(case, &unread, server, key, users)).collect()
}

/// The names of what can be named, by kind.
struct Names<'a> {
    here: HashMap<(&'a str, &'a str, &'a str), Vec<&'a str>>,
    anywhere: HashMap<(&'a str, &'a str, &'a str), &'a str>,
}

impl<'a> Names<'a> {
    fn new(case: &Case<'a>) -> Self {
        let mut names = Names { here: HashMap::new(), anywhere: HashMap::new() };
        for server in case.servers() {
            for kind in ["Secret", "ConfigMap", "ServiceAccount", "PersistentVolumeClaim"] {
                case.of_kind(server, "", kind).iter().for_each(|object| names.note(server, object));
            }
        }
        for app in case.apps() {
            app.wanted().iter().for_each(|wanted| names.note(app.server(), &wanted.object));
        }
        names
    }

    fn note(&mut self, server: &'a str, object: &'a Object) {
        if object.group().is_empty() {
            self.here.entry((server, object.kind(), object.namespace())).or_default().push(object.name());
            self.anywhere.entry((server, object.kind(), object.name())).or_insert(object.namespace());
        }
    }

    fn look(
        &self,
        case: &Case<'a>,
        unread: &[&App<'a>],
        server: &'a str,
        key: ObjectKey,
        users: Vec<Missing<'a>>,
    ) -> Nowhere<'a> {
        let beside = self
            .here
            .get(&(server, key.kind.as_str(), key.namespace.as_str()))
            .into_iter()
            .flatten()
            .copied();
        let beside: Vec<&'a str> = beside.collect();
        let near = near::nearest(&key.name, beside.iter().copied()).or_else(|| hashed(&key.name, &beside));
        let likely = || near::likely(&key.name, beside.iter().copied());
        Nowhere {
            likely: if near.is_none() {
                likely().filter(|name| would_do(case, server, &key, name, &users))
            } else {
                None
            },
            near,
            elsewhere: self.anywhere.get(&(server, key.kind.as_str(), key.name.as_str())).copied(),
            unread: unread
                .iter()
                .filter(|app| goes_to(app, server, &key))
                .map(|app| app.name.clone())
                .collect(),
            server,
            key,
            users,
        }
    }
}

/// Whether something that is called otherwise would do: it has the keys that are read, or it is a certificate as is wanted. A service
/// account has nothing in it.
fn would_do(case: &Case<'_>, server: &str, key: &ObjectKey, name: &str, users: &[Missing<'_>]) -> bool {
    if key.kind == "ServiceAccount" {
        return true;
    }
    let other = ObjectKey::new("", key.kind.clone(), key.namespace.clone(), name);
    let wanted = case.wanted(server, &other);
    let Some(object) = case.live(server, &other).or_else(|| wanted.first().map(|(_, one)| &one.object))
    else {
        return false;
    };
    let parts: Vec<&str> = users.iter().filter_map(|user| user.part.as_deref()).collect();
    let has = |part: &&str| ["data", "stringData"].iter().any(|field| object.at(&[field, part]).is_some());
    let is_certificate = object.value().str_at(&["type"]) == Some("kubernetes.io/tls");
    match parts.is_empty() {
        true => is_certificate && users.iter().all(|user| Pods::of(user.holder).is_none()),
        false => parts.iter().all(has),
    }
}

/// The name with the hash that a generator of Kustomize puts behind it, where whoever names it was not told.
fn hashed<'a>(name: &str, there: &[&'a str]) -> Option<&'a str> {
    there.iter().copied().find(|other| stem(other) == Some(name))
}

/// The name that a generator of Kustomize has put a hash behind. Hashes have no vowels, so that they make no words.
pub(super) fn stem(name: &str) -> Option<&str> {
    let (stem, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == 10 && hash.bytes().all(|byte| b"2456789bcdfghkmt".contains(&byte));
    is_hash.then_some(stem)
}

/// Whether it is not known what an application wants.
fn is_unread(app: &App<'_>) -> bool {
    let failed = app.errors().any(|(kind, _)| kind == ApplicationConditionType::ComparisonError);
    let is_listed = !app.application().status.resources.is_empty();
    app.wanted().is_empty() && (failed || (!app.delivery.rendered && !is_listed))
}

fn goes_to(app: &App<'_>, server: &str, key: &ObjectKey) -> bool {
    let namespace = &app.application().spec.destination.namespace;
    app.server() == server && (namespace.is_empty() || *namespace == key.namespace)
}
