//! Several generators, merged by keys.

use std::collections::{BTreeMap, BTreeSet};

use lynceus_api::MergeGenerator;
use lynceus_object::{Str, Value, json};

use super::{Element, Found, Stop, World, nested, wrong};
use crate::merge::put_over;
use crate::param::{Param, Params};
use crate::place::Place;

/// The first generator says which elements there are; the others only change them.
pub(super) fn elements(
    world: &World<'_, '_>,
    asked: &MergeGenerator,
    place: &Place,
    depth: usize,
) -> Found<Vec<Element>> {
    if asked.generators.len() < 2 {
        let count = asked.generators.len();
        return Err(wrong(place, format!("a merge has two generators or more, and this one has {count}")));
    }
    if asked.merge_keys.is_empty() {
        return Err(wrong(place, "mergeKeys is empty; name the parameters by which elements are the same"));
    }
    let mut sets = inner(world, asked, place, depth)?.into_iter();
    let mut base = keyed(&asked.merge_keys, sets.next().unwrap_or_default(), place, 0)?;
    for (at, overrides) in sets.enumerate() {
        for (key, over) in keyed(&asked.merge_keys, overrides, place, at + 1)? {
            if let Some(element) = base.get_mut(&key) {
                put(world.engine.go, element, over);
            }
        }
    }
    Ok(base.into_values().collect())
}

/// The elements of all inner generators. All are asked, even if one needs something first.
fn inner(
    world: &World<'_, '_>,
    asked: &MergeGenerator,
    place: &Place,
    depth: usize,
) -> Found<Vec<Vec<Element>>> {
    let mut sets = Vec::new();
    let mut needs = false;
    for (at, generator) in asked.generators.iter().enumerate() {
        let path = format!("{}.generators[{at}]", place.generator);
        match nested(world, generator, &path, &Params::new(), depth) {
            Ok(elements) => sets.push(elements),
            Err(Stop::Need) => needs = true,
            Err(fault) => return Err(fault),
        }
    }
    if needs { Err(Stop::Need) } else { Ok(sets) }
}

/// Elements by the values of their keys, which have to tell them apart.
fn keyed(keys: &[Str], elements: Vec<Element>, place: &Place, at: usize) -> Found<BTreeMap<String, Element>> {
    let keys: BTreeSet<&Str> = keys.iter().collect();
    let mut all = BTreeMap::new();
    for (number, element) in elements.into_iter().enumerate() {
        let key = keys.iter().map(|key| {
            let value = element.params.get(*key).map_or(Value::Null, Param::to_json);
            ((*key).clone(), value)
        });
        let key = json::to_string(&Value::Map(key.collect()));
        if all.contains_key(&key) {
            let place = Place::of(format!("{}.generators[{at}]", place.generator)).element(number);
            return Err(wrong(&place, format!("two elements have the same mergeKeys {key}")));
        }
        all.insert(key, element);
    }
    Ok(all)
}

fn put(go: bool, element: &mut Element, over: Element) {
    if go {
        put_over(&mut element.params, &over.params);
    } else {
        element.params.extend(over.params);
    }
}
