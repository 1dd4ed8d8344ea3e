//! Who has which object: what several rules ask.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lynceus_api::ApplicationConditionType;
use lynceus_object::{ObjectKey, Str};

use crate::case::{App, Case};
use crate::finding::{Evidence, Finding};
use crate::node::{AppName, Node};
use crate::rules::taking::{self, Taking};
use crate::snapshot::Wanted;

/// So many objects in common are one trouble and not many.
const MANY: usize = 5;

/// An object that several applications have.
pub(super) struct Shared<'c, 'a> {
    pub(super) server: &'a str,
    pub(super) key: ObjectKey,
    pub(super) owners: Vec<Owner<'c, 'a>>,
}

/// One application that has it, and how it stands there if its sources were read.
#[derive(Clone)]
pub(super) struct Owner<'c, 'a> {
    pub(super) app: &'c App<'a>,
    pub(super) wanted: Option<&'a Wanted>,
}

type Claims<'c, 'a> = HashMap<(&'a str, ObjectKey), Vec<Owner<'c, 'a>>>;

/// The objects that several applications have: as their sources say, as their statuses list them where those were not read,
/// and as they are warned.
pub(super) fn shared<'c, 'a>(case: &'c Case<'a>) -> Vec<Shared<'c, 'a>> {
    let mut claims: Claims<'c, 'a> = HashMap::new();
    for app in case.apps() {
        claim(app, &mut claims);
    }
    for app in case.apps() {
        warned(case, app, &mut claims);
    }
    // Namespaces are brought along by many on purpose, and nobody minds.
    let is_namespace = |key: &ObjectKey| key.group.is_empty() && key.kind == "Namespace";
    let mut shared: Vec<Shared<'c, 'a>> = claims
        .into_iter()
        .filter(|((_, key), owners)| owners.len() > 1 && !is_namespace(key))
        .map(|((server, key), owners)| Shared { server, key, owners })
        .collect();
    shared.sort_by(|a, b| (a.server, &a.key).cmp(&(b.server, &b.key)));
    shared
}

fn claim<'c, 'a>(app: &'c App<'a>, claims: &mut Claims<'c, 'a>) {
    for one in app.wanted().iter().filter(|one| !one.object.name().is_empty()) {
        add(claims, app.server(), one.object.key(), Owner { app, wanted: Some(one) });
    }
    if !app.delivery.rendered {
        for (key, _) in app.resources().filter(|(_, one)| !one.requires_pruning && !one.hook) {
            add(claims, app.server(), key, Owner { app, wanted: None });
        }
    }
}

/// An application is asked for everything at once, so that only the last owner can be the same.
fn add<'c, 'a>(claims: &mut Claims<'c, 'a>, server: &'a str, key: ObjectKey, owner: Owner<'c, 'a>) {
    let owners = claims.entry((server, key)).or_default();
    if owners.last().is_none_or(|last| last.app.name != owner.app.name) {
        owners.push(owner);
    }
}

/// The same for one that is named out of turn.
fn add_named<'c, 'a>(claims: &mut Claims<'c, 'a>, server: &'a str, key: ObjectKey, owner: Owner<'c, 'a>) {
    let owners = claims.entry((server, key)).or_default();
    if !owners.iter().any(|known| known.app.name == owner.app.name) {
        owners.push(owner);
    }
}

/// `ConfigMap/x is part of applications argocd/a and b`, as Argo CD says it.
fn warned<'c, 'a>(case: &'c Case<'a>, app: &'c App<'a>, claims: &mut Claims<'c, 'a>) {
    let warnings: Vec<_> =
        app.told(ApplicationConditionType::SharedResourceWarning).filter_map(parse).collect();
    if warnings.is_empty() {
        return;
    }
    let listed: HashMap<(Str, Str), ObjectKey> =
        app.resources().map(|(key, _)| ((key.kind.clone(), key.name.clone()), key)).collect();
    for (kind, name, owners) in warnings {
        let namespace = app.application().spec.destination.namespace.clone();
        let listed = listed.get(&(kind.into(), name.into())).cloned();
        let key = listed.unwrap_or_else(|| ObjectKey::new("", kind, namespace, name));
        // What was rendered has the whole name.
        if app.delivery.rendered && !claims.contains_key(&(app.server(), key.clone())) {
            continue;
        }
        let owners = owners.iter().filter_map(|name| case.app(&named(case, name)));
        for owner in owners.filter(|owner| owner.server() == app.server() && !owner.delivery.rendered) {
            add_named(claims, app.server(), key.clone(), Owner { app: owner, wanted: None });
        }
    }
}

fn parse(message: &str) -> Option<(&str, &str, [&str; 2])> {
    let (object, rest) = message.split_once(" is part of applications ")?;
    let (kind, name) = object.rsplit_once('/')?;
    let (first, second) = rest.split_once(" and ")?;
    let second = second.split([' ', '(']).next()?;
    Some((kind.rsplit('/').next()?, name, [first.trim(), second.trim_end_matches('.')]))
}

/// `argocd/a`, `argocd_a` and `a` are one application.
fn named(case: &Case<'_>, text: &str) -> AppName {
    match text.split_once(['/', '_']) {
        Some((namespace, name)) => AppName::new(namespace, name),
        None => AppName::new(case.snapshot.home.clone(), text),
    }
}

/// What an application is told about an object that it shares.
pub(super) fn warning(app: &App<'_>, key: &ObjectKey) -> Option<Evidence> {
    let start = format!("{}/{} is part of", key.kind, key.name);
    let mut told = app.told(ApplicationConditionType::SharedResourceWarning);
    let message = told.find(|message| message.starts_with(&start))?;
    Some(app.status(format!("SharedResourceWarning: {message}")))
}

/// What applications share with one that nobody wants any more is that one's doing.
pub(super) fn unless_left_over<'c, 'a: 'c>(
    finding: Finding,
    apps: impl Iterator<Item = &'c App<'a>>,
    left_over: &HashSet<AppName>,
) -> Finding {
    let lost: Vec<Node> = apps.filter(|app| left_over.contains(&app.name)).map(App::node).collect();
    if lost.is_empty() { finding } else { finding.because(lost) }
}

/// Two applications that have much in common.
pub(super) struct Overlap<'c, 'a> {
    pub(super) umbrella: &'c App<'a>,
    pub(super) other: &'c App<'a>,
    pub(super) objects: Vec<ObjectKey>,
}

/// The applications that have so much of others that they include them. The larger one includes the smaller.
pub(super) fn overlaps<'c, 'a>(shared: &[Shared<'c, 'a>]) -> Vec<Overlap<'c, 'a>> {
    let mut counts: HashMap<&AppName, usize> = HashMap::new();
    for owner in shared.iter().flat_map(|one| &one.owners) {
        *counts.entry(&owner.app.name).or_default() += 1;
    }
    let mut pairs: BTreeMap<(&AppName, &AppName), Overlap<'c, 'a>> = BTreeMap::new();
    for one in shared {
        let weight = |owner: &&Owner<'_, '_>| {
            let count = counts.get(&owner.app.name).copied().unwrap_or_default();
            (owner.app.size(), count, std::cmp::Reverse(owner.app.name.clone()))
        };
        let Some(hub) = one.owners.iter().max_by_key(weight) else { continue };
        for owner in one.owners.iter().filter(|owner| owner.app.name != hub.app.name) {
            let overlap = pairs.entry((&hub.app.name, &owner.app.name)).or_insert_with(|| Overlap {
                umbrella: hub.app,
                other: owner.app,
                objects: Vec::new(),
            });
            overlap.objects.push(one.key.clone());
        }
    }
    let (mut umbrellas, rest): (Vec<_>, Vec<_>) = pairs.into_values().partition(Overlap::is_umbrella);
    // What takes in one application by reading its files takes in others, too, however small they are.
    let takers: HashSet<AppName> =
        umbrellas.iter().filter(|one| one.reads_the_same()).map(|one| one.umbrella.name.clone()).collect();
    let is_taken = |one: &Overlap<'_, '_>| {
        takers.contains(&one.umbrella.name) && one.objects.len() == one.other.size() && one.reads_the_same()
    };
    umbrellas.extend(rest.into_iter().filter(is_taken));
    umbrellas.sort_by_key(|one| (one.umbrella.name.clone(), one.other.name.clone()));
    umbrellas
}

impl<'c, 'a> Overlap<'c, 'a> {
    /// Whether one includes the other: most of it, or so much that it cannot be an accident.
    fn is_umbrella(&self) -> bool {
        let (common, own) = (self.objects.len(), self.other.size());
        let is_most = common >= 3 && own > 0 && common * 2 > own;
        let is_all = common == 2 && own == 2 && self.umbrella.size() > 2;
        common >= MANY || is_most || is_all
    }

    /// Whether both have all of it from the same files, of which the umbrella could leave out those of the other.
    fn reads_the_same(&self) -> bool {
        taking::left_out(&[self.taking()]).is_some()
    }

    pub(super) fn taking(&self) -> Taking<'_, 'a> {
        Taking { wide: self.umbrella, other: self.other, objects: &self.objects }
    }
}

/// The objects that are in common between applications of which one includes the other.
pub(super) fn included(overlaps: &[Overlap<'_, '_>]) -> BTreeSet<(Str, ObjectKey)> {
    let objects = overlaps.iter().flat_map(|one| one.objects.iter().map(|key| (one.umbrella.server(), key)));
    objects.map(|(server, key)| (Str::from(server), key.clone())).collect()
}
