//! Generators: each gives sets of parameters.

mod cluster;
mod decision;
mod filter;
mod git;
mod list;
mod matrix;
mod merge;
mod plugin;
mod pull_request;
mod scm;
mod selection;
mod values;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use lynceus_api::{
    ApplicationSet, ApplicationSetGenerator, ApplicationSetNestedGenerator, ApplicationSetTemplate,
};
use lynceus_object::{from_typed, to_typed};
use serde::Serialize;

use crate::limits;
use crate::need::{Answer, Answers, Cluster, Need};
use crate::param::Params;
use crate::place::{Fault, Place};
use crate::replace::Replacer;
use crate::template::Engine;

/// One set of parameters, and what it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    pub(crate) params: Params,
    /// A file, cluster or the like, for people.
    pub(crate) source: Option<String>,
}

impl Element {
    fn new(params: Params, source: impl Into<String>) -> Self {
        Element { params, source: Some(source.into()) }
    }
}

/// Why a generator gave nothing.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is missing, and was written down.
    Need,
    /// Something is wrong.
    Fault(Box<Fault>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Stop::Fault(Box::new(fault))
    }
}

impl From<Box<Fault>> for Stop {
    fn from(fault: Box<Fault>) -> Self {
        Stop::Fault(fault)
    }
}

type Found<T> = Result<T, Stop>;

/// What all generators of one ApplicationSet share.
pub(crate) struct World<'a, 'e> {
    pub(crate) set: &'a ApplicationSet,
    pub(crate) engine: &'a Engine<'e>,
    pub(crate) answers: &'a Answers,
    /// What was asked for and is not there.
    pub(crate) needs: RefCell<BTreeMap<String, Need>>,
    /// How many elements were made so far, by inner generators as well.
    pub(crate) made: Cell<usize>,
}

impl World<'_, '_> {
    /// The answer to a need; an answer that says why there is none is a fault.
    fn ask(&self, need: Need, place: &Place) -> Found<&Answer> {
        let id = need.id();
        match self.answers.get(&id) {
            None => {
                self.needs.borrow_mut().insert(id, need);
                Err(Stop::Need)
            }
            Some(Answer::Failed(why)) => {
                Err(Fault::parameters(place.clone(), format!("{need} cannot be had: {why}")).into())
            }
            Some(answer) => Ok(answer),
        }
    }

    /// The registered clusters.
    fn clusters(&self, place: &Place) -> Found<&[Cluster]> {
        match self.ask(Need::Clusters, place)? {
            Answer::Clusters(clusters) => Ok(clusters),
            _ => Err(unexpected(place, &Need::Clusters)),
        }
    }

    /// Counts elements, and refuses what is more than anyone means.
    fn count(&self, more: usize, place: &Place) -> Found<()> {
        self.made.set(self.made.get().saturating_add(more));
        if more <= limits::ELEMENTS && self.made.get() <= limits::INNER_ELEMENTS {
            return Ok(());
        }
        let message = format!(
            "the generators give more than {} sets of parameters; narrow them with a selector or a filter",
            limits::ELEMENTS
        );
        Err(Fault::parameters(place.clone(), message).into())
    }
}

/// A fault of whoever answered with something else than was asked for, or with nothing where there is something.
fn unexpected(place: &Place, need: &Need) -> Stop {
    Fault::parameters(place.clone(), format!("{need} is not there")).into()
}

fn wrong(place: &Place, message: impl Into<String>) -> Stop {
    Fault::parameters(place.clone(), message).into()
}

/// One kind of generator of an entry, with the changes that it makes to the template.
pub(crate) struct Transformed {
    pub(crate) place: Place,
    pub(crate) elements: Found<Vec<Element>>,
    pub(crate) template: ApplicationSetTemplate,
}

/// Generators that have `values` of their own.
const WITH_VALUES: [&str; 6] =
    ["clusters", "git", "scmProvider", "clusterDecisionResource", "pullRequest", "plugin"];

/// Asks an entry of `generators` for its elements, each kind that it has.
pub(crate) fn transform(
    world: &World<'_, '_>,
    asked: &ApplicationSetGenerator,
    path: &str,
    params: &Params,
    depth: usize,
) -> Vec<Transformed> {
    let filled = filled(world, asked, path, params);
    let mut all = Vec::new();
    for (name, template) in kinds(asked) {
        let place = Place::of(format!("{path}.{name}"));
        let elements = match &filled {
            Ok(filled) => elements(world, filled, name, &place, depth),
            Err(fault) => Err(Stop::Fault(fault.clone())),
        };
        let elements =
            elements.and_then(|elements| selection::select(asked.selector.as_ref(), elements, &place));
        all.push(Transformed { place, elements, template: template.clone() });
    }
    all
}

/// The kinds of generators that an entry has, with their templates.
fn kinds(asked: &ApplicationSetGenerator) -> Vec<(&'static str, &ApplicationSetTemplate)> {
    let all = [
        ("list", asked.list.as_ref().map(|one| &one.template)),
        ("clusters", asked.clusters.as_ref().map(|one| &one.template)),
        ("git", asked.git.as_ref().map(|one| &one.template)),
        ("scmProvider", asked.scm_provider.as_ref().map(|one| &one.template)),
        ("clusterDecisionResource", asked.cluster_decision_resource.as_ref().map(|one| &one.template)),
        ("pullRequest", asked.pull_request.as_ref().map(|one| &one.template)),
        ("matrix", asked.matrix.as_ref().map(|one| &one.template)),
        ("merge", asked.merge.as_ref().map(|one| &one.template)),
        ("plugin", asked.plugin.as_ref().map(|one| &one.template)),
    ];
    all.into_iter().filter_map(|(name, template)| Some((name, template?))).collect()
}

/// The entry with the parameters of an outer generator filled in.
fn filled(
    world: &World<'_, '_>,
    asked: &ApplicationSetGenerator,
    path: &str,
    params: &Params,
) -> Result<ApplicationSetGenerator, Box<Fault>> {
    if params.is_empty() {
        return Ok(asked.clone());
    }
    let filling = world.engine.fill_with(params);
    let replacer = Replacer::new(world.engine, &filling).keeping_values_of(&WITH_VALUES);
    let asked = written(asked).map_err(|why| Box::new(Fault::parameters(Place::of(path), why)))?;
    let value = replacer.value(&asked).map_err(|found| {
        let message = format!("the parameters of the first generator cannot be filled in: {}", found.error);
        let place = Place { field: Some(found.field), line: found.error.line, ..Place::of(path) };
        Box::new(Fault::parameters(place, message))
    })?;
    to_typed(&value).map_err(|error| Box::new(Fault::parameters(Place::of(path), error.to_string())))
}

/// A generator as a value. One that cannot be written down is a fault: as nothing, it would give no Applications.
fn written(typed: &impl Serialize) -> Result<lynceus_object::Value, String> {
    from_typed(typed).map_err(|error| format!("it cannot be written down: {error}"))
}

fn elements(
    world: &World<'_, '_>,
    asked: &ApplicationSetGenerator,
    name: &str,
    place: &Place,
    depth: usize,
) -> Found<Vec<Element>> {
    let found = match name {
        "list" => asked.list.as_ref().map(|one| list::elements(world, one, place)),
        "clusters" => asked.clusters.as_ref().map(|one| cluster::elements(world, one, place)),
        "git" => asked.git.as_ref().map(|one| git::elements(world, one, place)),
        "scmProvider" => asked.scm_provider.as_ref().map(|one| scm::elements(world, one, place)),
        "clusterDecisionResource" => {
            asked.cluster_decision_resource.as_ref().map(|one| decision::elements(world, one, place))
        }
        "pullRequest" => asked.pull_request.as_ref().map(|one| pull_request::elements(world, one, place)),
        "matrix" => asked.matrix.as_ref().map(|one| matrix::elements(world, one, place, depth)),
        "merge" => asked.merge.as_ref().map(|one| merge::elements(world, one, place, depth)),
        _ => asked.plugin.as_ref().map(|one| plugin::elements(world, one, place)),
    };
    let found = found.unwrap_or_else(|| Ok(Vec::new()))?;
    world.count(found.len(), place)?;
    Ok(found)
}

/// How deep generators may stand inside each other: a matrix in a matrix, and no further.
const DEPTH: usize = 1;

/// Asks a generator inside another one, which has to be exactly one.
fn nested(
    world: &World<'_, '_>,
    asked: &ApplicationSetNestedGenerator,
    path: &str,
    params: &Params,
    depth: usize,
) -> Found<Vec<Element>> {
    let place = Place::of(path);
    let is_combined = asked.matrix.is_some() || asked.merge.is_some();
    if is_combined && depth >= DEPTH {
        return Err(wrong(
            &place,
            "a matrix or merge may hold another one, but that one must not hold a third",
        ));
    }
    let asked = written(asked).map_err(|why| wrong(&place, why))?;
    let asked: ApplicationSetGenerator =
        to_typed(&asked).map_err(|error| wrong(&place, error.to_string()))?;
    check_known(&asked, path)?;
    let mut all = transform(world, &asked, path, params, depth + 1);
    match all.len() {
        1 => all.remove(0).elements,
        _ => {
            let names: Vec<_> = kinds(&asked).into_iter().map(|(name, _)| name).collect();
            let names = names.join(" and ");
            Err(wrong(
                &place,
                format!("a generator inside another one must be of one kind, and this one has {names}"),
            ))
        }
    }
}

/// Refuses an entry without a generator: it would come to no Application, and all that there are would be deleted.
pub(crate) fn check_known(asked: &ApplicationSetGenerator, path: &str) -> Result<(), Box<Fault>> {
    if !kinds(asked).is_empty() {
        return Ok(());
    }
    let unknown: Vec<&str> = asked.extra.keys().map(|key| key.as_str()).collect();
    let message = match unknown.as_slice() {
        [] => "it has no generator; add list, clusters, git, scmProvider, clusterDecisionResource, pullRequest, \
               matrix, merge or plugin"
            .to_owned(),
        names => format!("{} is no generator that is known here", names.join(", ")),
    };
    Err(Box::new(Fault::parameters(Place::of(path), message)))
}
