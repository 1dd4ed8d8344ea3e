//! Parameters from objects that choose clusters.

use std::collections::BTreeMap;

use lynceus_api::DuckTypeGenerator;
use lynceus_object::{Map, Str, Value};

use super::{Element, Found, World, selection, unexpected, values, wrong};
use crate::need::{Answer, Cluster, IN_CLUSTER_SERVER, Need};
use crate::param::{Param, Params};
use crate::place::Place;

pub(super) fn elements(
    world: &World<'_, '_>,
    asked: &DuckTypeGenerator,
    place: &Place,
) -> Found<Vec<Element>> {
    let config = config(world, asked, place)?;
    let objects = objects(world, asked, config, place)?;
    let clusters = world.clusters(place)?;
    let get = |key: &str| config.get(key).map(Str::as_str).filter(|text| !text.is_empty());
    let Some(match_key) = get("matchKey") else {
        let message = format!("the ConfigMap {} has no matchKey", asked.config_map_ref);
        return Err(wrong(place, message));
    };
    let list = get("statusListKey").unwrap_or("clusters");
    let mut all = Vec::new();
    for decision in decisions(objects, list, place)? {
        let place = place.element(all.len());
        if let Some(cluster) = chosen(decision, match_key, clusters).map_err(|why| wrong(&place, why))? {
            let made = element(world, asked, decision, &cluster);
            all.push(made.map_err(|why| wrong(&place, why))?);
        }
    }
    Ok(all)
}

fn config<'a>(
    world: &'a World<'_, '_>,
    asked: &DuckTypeGenerator,
    place: &Place,
) -> Found<&'a BTreeMap<Str, Str>> {
    let need = Need::ConfigMap { name: asked.config_map_ref.clone() };
    match world.ask(need.clone(), place)? {
        Answer::ConfigMap(config) => Ok(config),
        _ => Err(unexpected(place, &need)),
    }
}

fn objects<'a>(
    world: &'a World<'_, '_>,
    asked: &DuckTypeGenerator,
    config: &BTreeMap<Str, Str>,
    place: &Place,
) -> Found<&'a [Value]> {
    let get = |key: &str| config.get(key).cloned().unwrap_or_default();
    let (api_version, resource) = (get("apiVersion"), get("kind"));
    if resource.is_empty() || api_version.find('/').is_none_or(|at| at == 0) {
        let message = "needs apiVersion, as group/version, and kind, as the plural name of the resource";
        return Err(wrong(place, format!("the ConfigMap {} {message}", asked.config_map_ref)));
    }
    let selector = asked.label_selector.clone();
    let by_labels = !selector.match_labels.is_empty() || !selector.match_expressions.is_empty();
    if asked.name.is_empty() != by_labels {
        return Err(wrong(place, "it needs either a name or a labelSelector, and not both"));
    }
    selection::of_labels(&selector, place)?;
    let need = Need::Decisions { api_version, resource, name: asked.name.clone(), selector };
    match world.ask(need.clone(), place)? {
        Answer::Objects(objects) if !objects.is_empty() => Ok(objects),
        _ => Err(unexpected(place, &need)),
    }
}

/// What the objects have decided. One without a status has not yet.
fn decisions<'a>(objects: &'a [Value], list: &str, place: &Place) -> Found<Vec<&'a Map>> {
    let mut all = Vec::new();
    for object in objects {
        let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
        let status = object.get("status").filter(|status| !status.is_empty());
        let Some(status) = status else { continue };
        let items = status.get(list).and_then(Value::as_seq).ok_or_else(|| {
            wrong(place, format!("status.{list} of {name} is not a list; statusListKey names it"))
        })?;
        for item in items {
            let item = item.as_map();
            all.push(item.ok_or_else(|| {
                wrong(place, format!("status.{list} of {name} has an item that is no map"))
            })?);
        }
    }
    Ok(all)
}

/// The registered cluster whose name a decision has; what is not registered is passed over.
fn chosen(decision: &Map, match_key: &str, clusters: &[Cluster]) -> Result<Option<Cluster>, String> {
    let Some(name) = decision.get(match_key) else { return Ok(None) };
    let name = Param::from(name).printed()?;
    let found = clusters.iter().find(|cluster| cluster.name == name && !name.is_empty());
    let has_local = clusters.iter().any(|cluster| cluster.server == IN_CLUSTER_SERVER);
    let local = || Some(Cluster::local()).filter(|local| !has_local && local.name == name);
    Ok(found.cloned().or_else(local))
}

fn element(
    world: &World<'_, '_>,
    asked: &DuckTypeGenerator,
    decision: &Map,
    cluster: &Cluster,
) -> Result<Element, String> {
    let mut params = Params::from([
        ("name".into(), cluster.name.clone().into()),
        ("server".into(), cluster.server.clone().into()),
    ]);
    for (key, value) in decision.iter() {
        params.insert(key.clone(), Param::Text(Param::from(value).printed()?));
    }
    // Argo CD does not fill these values.
    values::put(world, asked.values.clone(), &mut params);
    Ok(Element::new(params, format!("cluster {}", cluster.name)))
}
