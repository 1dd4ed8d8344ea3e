//! Which Applications nobody else creates.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_engine::AppKey;
use lynceus_object::{Object, Str};

use super::manifest::Found;
use super::rendering::key;
use super::{HOME, Root, Survey};
use crate::error::RehearseError;
use crate::premises::Premises;
use crate::report::Unrehearsed;

/// The namespace that most Applications are in.
pub(crate) fn home(found: &[Found]) -> Str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let is_one = |one: &&Found| one.object.kind() == "Application" && !one.object.namespace().is_empty();
    for one in found.iter().filter(is_one) {
        *counts.entry(one.object.namespace()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(HOME, |(namespace, _)| namespace).into()
}

/// Finds what is applied by hand.
pub(crate) fn choose(
    survey: &mut Survey,
    found: &[Found],
    chosen: &[String],
    premises: &Premises,
) -> Result<(), RehearseError> {
    let place = match premises.scope().is_root() {
        true => "the repository".to_owned(),
        false => premises.scope().to_string(),
    };
    let sets = found.iter().filter(|one| one.object.kind() == "ApplicationSet");
    let sets: Vec<Unrehearsed> = sets.map(|one| unplayed(&one.object, Some(one))).collect();
    survey.unrehearsed.extend(sets);
    if survey.applications.is_empty() && survey.unrehearsed.is_empty() {
        return Err(RehearseError::NoApplications { place });
    }
    let parents = parents(survey);
    let roots = match chosen.is_empty() {
        true => first(survey, found, &parents)?,
        false => named(survey, chosen, &place)?,
    };
    survey.planned = reached(survey, &roots);
    let mut objects = projects(survey, found);
    for key in roots {
        let Some(one) = survey.applications.get(&key) else { continue };
        let mut object = one.object.clone();
        object.set(&["metadata", "namespace"], key.namespace.as_str());
        objects.push(Root { object, place: one.place.clone() });
    }
    survey.roots = objects;
    Ok(())
}

/// Who creates whom, without those that create themselves.
fn parents(survey: &Survey) -> BTreeMap<AppKey, BTreeSet<AppKey>> {
    let mut parents: BTreeMap<AppKey, BTreeSet<AppKey>> = BTreeMap::new();
    for (key, one) in &survey.applications {
        for child in one.creates.iter().filter(|child| *child != key) {
            parents.entry(child.clone()).or_default().insert(key.clone());
        }
    }
    parents
}

/// Those of the files that nobody else creates.
fn first(
    survey: &mut Survey,
    found: &[Found],
    parents: &BTreeMap<AppKey, BTreeSet<AppKey>>,
) -> Result<Vec<AppKey>, RehearseError> {
    let is_one = |one: &&Found| one.object.kind() == "Application";
    let candidates: Vec<(AppKey, &Found)> =
        found.iter().filter(is_one).map(|one| (key(&one.object, &survey.home), one)).collect();
    let is_read = |key: &AppKey, one: &Found| {
        let others = survey.applications.iter().filter(|(other, _)| *other != key);
        others.into_iter().any(|(_, other)| other.read.iter().any(|file| file.as_str() == one.place.file))
    };
    let mut roots: Vec<AppKey> = Vec::new();
    for (key, one) in &candidates {
        if !parents.contains_key(key) && !is_read(key, one) && !roots.contains(key) {
            roots.push(key.clone());
        }
    }
    let reached = reached(survey, &roots);
    let left: BTreeSet<AppKey> = candidates
        .iter()
        .map(|(key, _)| key.clone())
        .filter(|key| !reached.contains(key) && parents.contains_key(key))
        .collect();
    if let Some(names) = cycle(&left, parents) {
        if roots.is_empty() {
            return Err(RehearseError::Cycle { names });
        }
        let why = format!("they create each other, and nobody creates the first: {}", names.join(" -> "));
        survey.unrehearsed.push(Unrehearsed { what: names.join(", "), application: None, why, place: None });
    }
    Ok(roots)
}

/// Those that a user has named: by name, or by the file that they stand in.
fn named(survey: &Survey, chosen: &[String], place: &str) -> Result<Vec<AppKey>, RehearseError> {
    let mut roots = Vec::new();
    for wanted in chosen {
        let short = wanted.trim_start_matches("./");
        let fits = |(key, one): &(&AppKey, &super::Surveyed)| {
            let file = one.place.as_ref().map(|place| place.file.as_str()).unwrap_or_default();
            key.name == wanted.as_str()
                || key.to_string() == *wanted
                || file == short
                || (!file.is_empty() && std::path::Path::new(wanted).ends_with(file))
        };
        let before = roots.len();
        roots.extend(survey.applications.iter().filter(fits).map(|(key, _)| key.clone()));
        if roots.len() == before {
            let names = survey.applications.keys().map(|key| key.name.as_str());
            let similar = lynceus_source::similar(wanted, names);
            return Err(RehearseError::NoSuchApplication {
                name: wanted.clone(),
                place: place.to_owned(),
                similar,
            });
        }
    }
    Ok(roots)
}

/// The projects of the files that no Application brings.
fn projects(survey: &Survey, found: &[Found]) -> Vec<Root> {
    let brought: BTreeSet<&str> =
        survey.rendered().filter(|object| object.kind() == "AppProject").map(Object::name).collect();
    let is_one = |one: &&Found| one.object.kind() == "AppProject" && !brought.contains(one.object.name());
    let object = |one: &Found| {
        let mut object = one.object.clone();
        // A project counts where the installation is.
        object.set(&["metadata", "namespace"], survey.home.as_str());
        Root { object, place: Some(one.place.clone()) }
    };
    found.iter().filter(is_one).map(object).collect()
}

fn reached(survey: &Survey, roots: &[AppKey]) -> BTreeSet<AppKey> {
    let mut reached: BTreeSet<AppKey> = BTreeSet::new();
    let mut open: Vec<AppKey> = roots.to_vec();
    while let Some(key) = open.pop() {
        if let Some(one) = survey.applications.get(&key).filter(|_| reached.insert(key)) {
            open.extend(one.creates.iter().cloned());
        }
    }
    reached
}

/// A way round among those that nobody reaches, from one back to itself.
fn cycle(left: &BTreeSet<AppKey>, parents: &BTreeMap<AppKey, BTreeSet<AppKey>>) -> Option<Vec<String>> {
    let mut way: Vec<&AppKey> = vec![left.first()?];
    loop {
        let last = way.last()?;
        let next = parents.get(*last)?.iter().find(|parent| left.contains(*parent))?;
        if let Some(start) = way.iter().position(|key| *key == next) {
            let mut names: Vec<String> = way[start..].iter().rev().map(|key| key.name.to_string()).collect();
            names.extend(names.first().cloned());
            return Some(names);
        }
        way.push(next);
    }
}

/// What is said of an ApplicationSet.
pub(crate) fn unplayed(object: &Object, found: Option<&Found>) -> Unrehearsed {
    Unrehearsed {
        what: format!("ApplicationSet {}", object.name()),
        application: None,
        why: "the Applications that an ApplicationSet makes are not rehearsed yet".to_owned(),
        place: found.map(|one| one.place.clone()),
    }
}
