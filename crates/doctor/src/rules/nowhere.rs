//! What is named and defined nowhere, and what is called almost so.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lynceus_api::ApplicationConditionType;
use lynceus_object::{FieldPath, Object, ObjectKey, Str};

use super::{claims, near};
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
    /// What is called as it is and makes another one, with the field that says which.
    pub(super) maker: Option<(&'a Object, FieldPath)>,
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
    let names = Names::new(case, all.keys().cloned());
    all.into_iter().map(|((server, key), users)| names.look(case, &unread, server, key, users)).collect()
}

/// What can be named, by cluster, group and kind.
struct Names<'a>(HashMap<(&'a str, &'a str, &'a str), Vec<&'a Object>>);

impl<'a> Names<'a> {
    fn new(case: &Case<'a>, keys: impl Iterator<Item = (&'a str, ObjectKey)>) -> Self {
        let mut names = Names(HashMap::new());
        let kinds: BTreeSet<(&'a str, Str, Str)> =
            keys.map(|(server, key)| (server, key.group, key.kind)).collect();
        for (server, group, kind) in &kinds {
            case.of_kind(server, group, kind).iter().for_each(|object| names.note(server, object));
        }
        for app in case.apps() {
            for wanted in app.wanted() {
                let object = &wanted.object;
                if kinds.contains(&(app.server(), object.group().into(), object.kind().into())) {
                    names.note(app.server(), object);
                }
            }
        }
        names
    }

    fn note(&mut self, server: &'a str, object: &'a Object) {
        self.0.entry((server, object.group(), object.kind())).or_default().push(object);
    }

    fn look(
        &self,
        case: &Case<'a>,
        unread: &[&App<'a>],
        server: &'a str,
        key: ObjectKey,
        users: Vec<Missing<'a>>,
    ) -> Nowhere<'a> {
        let all = self.0.get(&(server, key.group.as_str(), key.kind.as_str())).map_or(&[][..], Vec::as_slice);
        // What names something without a namespace of its own may mean one of any.
        let is_beside =
            |one: &&&Object| key.namespace.is_empty() || one.namespace() == key.namespace.as_str();
        let beside: Vec<&'a str> = all.iter().filter(is_beside).map(|one| one.name()).collect();
        // Whoever names what a generator makes names it without the hash.
        let written = || beside.iter().map(|name| stem(name).unwrap_or(name));
        let near = hashed(&key.name, &beside).or_else(|| near::nearest(&key.name, written()));
        let other = made_by_namesake(case, server, &key);
        let likely = || {
            let alike = near::likely(&key.name, written()).or_else(|| only_generated(&beside));
            alike.filter(|name| would_do(&users, all.iter().filter(is_beside).copied(), name))
        };
        let only = || {
            only_certificate(&users, all.iter().filter(is_beside).copied())
                .or_else(|| only_unused(case, server, &key, &beside))
        };
        Nowhere {
            likely: match (near, &other) {
                (None, Some((_, _, name))) => Some(*name),
                (None, None) => likely().or_else(only),
                (Some(_), _) => None,
            },
            near,
            maker: other.map(|(maker, path, _)| (maker, path)),
            elsewhere: all.iter().find(|one| one.name() == key.name.as_str()).map(|one| one.namespace()),
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

/// What is called as a Secret is that is needed, and makes one that is called otherwise: with the field that says so and the other name.
fn made_by_namesake<'a>(
    case: &Case<'a>,
    server: &str,
    key: &ObjectKey,
) -> Option<(&'a Object, FieldPath, &'a str)> {
    if key.kind != "Secret" {
        return None;
    }
    let makers: [(&str, &str, &[&str]); 2] = [
        ("external-secrets.io", "ExternalSecret", &["spec", "target", "name"]),
        ("cert-manager.io", "Certificate", &["spec", "secretName"]),
    ];
    makers.into_iter().find_map(|(group, kind, path)| {
        let namesake = ObjectKey::new(group, kind, key.namespace.clone(), key.name.clone());
        let wanted = case.wanted(server, &namesake);
        let maker = case.live(server, &namesake).or_else(|| wanted.first().map(|(_, one)| &one.object))?;
        let other = maker.value().str_at(path).filter(|other| *other != key.name.as_str())?;
        Some((maker, FieldPath::fields(path.iter().copied()), other))
    })
}

/// The one that a generator makes, if it makes one only.
fn only_generated<'a>(there: &[&'a str]) -> Option<&'a str> {
    let mut generated: Vec<&'a str> = there.iter().filter_map(|name| stem(name)).collect();
    generated.sort_unstable();
    generated.dedup();
    generated.pop().filter(|_| generated.is_empty())
}

/// The only certificate of a namespace, for those who want one.
fn only_certificate<'a>(users: &[Missing<'_>], there: impl Iterator<Item = &'a Object>) -> Option<&'a str> {
    let is_asked = users.iter().all(|user| {
        let path = user.path.to_string();
        path.contains("certificateRefs") || path.contains("tls")
    });
    let is_certificate = |one: &&Object| one.value().str_at(&["type"]) == Some("kubernetes.io/tls");
    let mut all: Vec<&'a str> = there.filter(is_certificate).map(Object::name).collect();
    all.sort_unstable();
    all.dedup();
    all.pop().filter(|_| is_asked && all.is_empty())
}

/// The only claim that nothing uses, if its name has a word of the other.
fn only_unused<'a>(case: &Case<'_>, server: &str, key: &ObjectKey, there: &[&'a str]) -> Option<&'a str> {
    if key.kind != "PersistentVolumeClaim" {
        return None;
    }
    let words = |name: &str| name.split(['-', '.', '_']).map(str::to_owned).collect::<BTreeSet<String>>();
    let own = words(&key.name);
    let is_akin = |name: &&&str| words(name).iter().any(|word| word.len() > 2 && own.contains(word));
    let is_unused =
        |name: &&&str| claims::is_unused(case, server, &ObjectKey { name: (**name).into(), ..key.clone() });
    let all: BTreeSet<&'a str> = there.iter().filter(is_akin).filter(is_unused).copied().collect();
    all.first().copied().filter(|_| all.len() == 1)
}

/// Whether something that is called otherwise would do: it has the keys that are read, or it is a certificate as is wanted. A service
/// account has nothing in it.
fn would_do<'a>(users: &[Missing<'_>], mut there: impl Iterator<Item = &'a Object>, name: &str) -> bool {
    let Some(object) = there.find(|one| one.name() == name || stem(one.name()) == Some(name)) else {
        return false;
    };
    if object.kind() == "ServiceAccount" {
        return true;
    }
    let parts: Vec<&str> = users.iter().filter_map(|user| user.part.as_deref()).collect();
    let has = |part: &&str| ["data", "stringData"].iter().any(|field| object.at(&[field, part]).is_some());
    let is_certificate = object.value().str_at(&["type"]) == Some("kubernetes.io/tls");
    match parts.is_empty() {
        true => {
            let is_of_pods = users.iter().any(|user| Pods::of(user.holder).is_some());
            stem(object.name()).is_some() || is_certificate && !is_of_pods
        }
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
