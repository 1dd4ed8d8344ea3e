//! Parameters from the registered clusters.

use std::collections::BTreeMap;

use lynceus_api::{ClusterGenerator, labels};
use lynceus_object::Str;

use super::{Element, Found, World, selection, values};
use crate::name::normalize;
use crate::need::{Cluster, IN_CLUSTER_SERVER};
use crate::param::{Param, Params};
use crate::place::Place;

pub(super) fn elements(
    world: &World<'_, '_>,
    asked: &ClusterGenerator,
    place: &Place,
) -> Found<Vec<Element>> {
    let selector = selection::of_labels(&asked.selector, place)?;
    let mut chosen: BTreeMap<&str, &Cluster> = BTreeMap::new();
    for cluster in world.clusters(place)? {
        if is_registered(cluster) && selection::fits(&selector, &cluster.labels) {
            chosen.insert(&cluster.name, cluster);
        }
    }
    let mut all = Vec::new();
    for cluster in chosen.values() {
        all.push(element(world, asked, cluster, true, place, all.len())?);
    }
    // The local cluster has no Secret whose labels a selector could look at.
    let has_local = chosen.values().any(|cluster| cluster.server == IN_CLUSTER_SERVER);
    if selector.is_everything() && !has_local {
        all.push(element(world, asked, &Cluster::local(), false, place, all.len())?);
    }
    Ok(if asked.flat_list { vec![flat(all)] } else { all })
}

/// Whether it has the label that makes a Secret one of a cluster. An edge that asks for nothing else may leave it out.
fn is_registered(cluster: &Cluster) -> bool {
    cluster.labels.get(labels::SECRET_TYPE).is_none_or(|kind| kind == labels::SECRET_TYPE_CLUSTER)
}

fn element(
    world: &World<'_, '_>,
    asked: &ClusterGenerator,
    cluster: &Cluster,
    has_secret: bool,
    place: &Place,
    at: usize,
) -> Found<Element> {
    let source = format!("cluster {}", cluster.name);
    let place = Place { source: Some(source.clone()), ..place.element(at) };
    let mut params = Params::from([
        ("name".into(), cluster.name.clone().into()),
        ("nameNormalized".into(), normalize(&cluster.name).into()),
        ("server".into(), cluster.server.clone().into()),
        ("project".into(), cluster.project.clone().into()),
    ]);
    if has_secret {
        params.extend(metadata(world.engine.go, cluster));
    }
    values::add(world, &asked.values, &mut params, &place)?;
    Ok(Element::new(params, source))
}

fn metadata(go: bool, cluster: &Cluster) -> Params {
    let both = [("annotations", &cluster.annotations), ("labels", &cluster.labels)];
    let both = both.into_iter().filter(|(_, map)| !map.is_empty());
    if go {
        let nested = both.map(|(name, map)| (Str::from(name), Param::TextMap(map.clone()))).collect();
        return Params::from([("metadata".into(), Param::Map(nested))]);
    }
    let flat = both.flat_map(|(name, map)| {
        map.iter().map(move |(key, text)| (format!("metadata.{name}.{key}").into(), text.clone().into()))
    });
    flat.collect()
}

/// All clusters in one set of parameters.
fn flat(all: Vec<Element>) -> Element {
    let source = format!("{} clusters", all.len());
    let clusters = all.into_iter().map(|element| element.params).collect();
    Element::new(Params::from([("clusters".into(), Param::Maps(clusters))]), source)
}
