//! Which Applications nobody else creates.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_engine::AppKey;
use lynceus_object::{Object, Str};

use super::manifest::Found;
use super::rendering::key;
use super::{HOME, Root, Survey, SurveyedSet};
use crate::error::RehearseError;
use crate::premises::Premises;
use crate::report::{Place, Unrehearsed};

/// The namespace that most Applications are in.
pub(crate) fn home(found: &[Found]) -> Str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let is_one = |one: &&Found| {
        matches!(one.object.kind(), "Application" | "ApplicationSet") && !one.object.namespace().is_empty()
    };
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
    let unanswered = survey.sets.iter().filter_map(|(key, set)| unplayed(key, set));
    survey.unrehearsed.extend(unanswered.collect::<Vec<_>>());
    let has_sets = survey.sets.values().any(|set| set.place.is_some());
    if survey.applications.is_empty() && !has_sets {
        return Err(RehearseError::NoApplications { place });
    }
    let parents = parents(survey);
    let (roots, sets) = match chosen.is_empty() {
        true => (first(survey, found, &parents)?, first_sets(survey)),
        false => named(survey, chosen, &place)?,
    };
    let of_sets = sets.iter().filter_map(|key| survey.sets.get(key)).flat_map(|set| &set.creates);
    let all: Vec<AppKey> = roots.iter().chain(of_sets).cloned().collect();
    survey.planned = reached(survey, &all);
    let mut objects = projects(survey, found);
    for key in sets {
        // Of one that nobody can generate, nothing would come.
        let Some(set) = survey.sets.get(&key).filter(|set| set.unanswered.is_none()) else { continue };
        let mut object = set.object.clone();
        object.set(&["metadata", "namespace"], key.namespace.as_str());
        objects.push(Root { object, place: set.place.clone() });
    }
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
        for child in survey.created_by(one).filter(|child| *child != key) {
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
    let is_read = |key: &AppKey, one: &Found| is_read(survey, Some(key), &one.place);
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
        let what = names.join(", ");
        survey.unrehearsed.push(Unrehearsed { what, application: None, at_fault: None, why, place: None });
    }
    Ok(roots)
}

/// Whether an Application, another one than this, is rendered from a file.
fn is_read(survey: &Survey, but: Option<&AppKey>, place: &Place) -> bool {
    let others = survey.applications.iter().filter(|(other, _)| Some(*other) != but);
    others.into_iter().any(|(_, other)| other.read.iter().any(|file| file.as_str() == place.file))
}

/// The ApplicationSets of the files that nobody creates.
fn first_sets(survey: &Survey) -> Vec<AppKey> {
    let created: BTreeSet<&AppKey> = survey.applications.values().flat_map(|one| &one.sets).collect();
    let is_first = |(key, set): &(&AppKey, &SurveyedSet)| {
        let Some(place) = &set.place else { return false };
        !created.contains(*key) && !is_read(survey, None, place)
    };
    survey.sets.iter().filter(is_first).map(|(key, _)| key.clone()).collect()
}

/// Those that a user has named, by name or by the file that they stand in: Applications, and ApplicationSets.
fn named(
    survey: &Survey,
    chosen: &[String],
    place: &str,
) -> Result<(Vec<AppKey>, Vec<AppKey>), RehearseError> {
    let (mut roots, mut sets) = (Vec::new(), Vec::new());
    for wanted in chosen {
        let short = wanted.trim_start_matches("./");
        let is_named = |key: &AppKey, place: Option<&Place>| {
            let file = place.map(|place| place.file.as_str()).unwrap_or_default();
            key.name == wanted.as_str()
                || key.to_string() == *wanted
                || file == short
                || (!file.is_empty() && std::path::Path::new(wanted).ends_with(file))
        };
        let before = roots.len() + sets.len();
        let fits =
            |(key, set): &(&AppKey, &SurveyedSet)| set.place.is_some() && is_named(key, set.place.as_ref());
        sets.extend(survey.sets.iter().filter(fits).map(|(key, _)| key.clone()));
        // What a set makes stands in its file, and is brought by it.
        let made: BTreeSet<&AppKey> = survey.sets.values().flat_map(|set| &set.creates).collect();
        let fits = |(key, one): &(&AppKey, &super::Surveyed)| {
            key.name == wanted.as_str() || (!made.contains(*key) && is_named(key, one.place.as_ref()))
        };
        roots.extend(survey.applications.iter().filter(fits).map(|(key, _)| key.clone()));
        if roots.len() + sets.len() == before {
            let names = survey.applications.keys().chain(survey.sets.keys()).map(|key| key.name.as_str());
            let similar = lynceus_source::similar(wanted, names);
            return Err(RehearseError::NoSuchApplication {
                name: wanted.clone(),
                place: place.to_owned(),
                similar,
            });
        }
    }
    Ok((roots, sets))
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
            open.extend(survey.created_by(one).cloned());
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

/// What is said of an ApplicationSet that nobody can generate.
fn unplayed(key: &AppKey, set: &SurveyedSet) -> Option<Unrehearsed> {
    Some(Unrehearsed {
        what: format!("ApplicationSet {}", key.name),
        application: None,
        at_fault: None,
        why: set.unanswered.clone()?,
        place: set.place.clone(),
    })
}
