//! Parameters from a plugin.

use lynceus_api::PluginGenerator;
use lynceus_object::{Map, Value};

use super::{Element, Found, World, unexpected, values, wrong};
use crate::flatten::flat_params;
use crate::need::{Answer, Need};
use crate::param::{Param, Params};
use crate::place::Place;

pub(super) fn elements(world: &World<'_, '_>, asked: &PluginGenerator, place: &Place) -> Found<Vec<Element>> {
    let need = Need::Plugin { config_map: asked.config_map_ref.name.clone(), body: body(world, asked) };
    let found = match world.ask(need.clone(), place)? {
        Answer::Parameters(found) => found,
        _ => return Err(unexpected(place, &need)),
    };
    let mut all = Vec::new();
    for given in found {
        let place = place.element(all.len());
        let mut params = own(world.engine.go, given).map_err(|why| wrong(&place, why))?;
        params.insert("generator".into(), input(asked));
        values::add(world, &asked.values, &mut params, &place)?;
        all.push(Element::new(params, format!("plugin {}", asked.config_map_ref.name)));
    }
    Ok(all)
}

/// What the plugin is sent.
fn body(world: &World<'_, '_>, asked: &PluginGenerator) -> Value {
    let mut body = Value::default();
    body.set(&["applicationSetName"], world.set.metadata.name.clone());
    body.set(&["input", "parameters"], Value::Map(parameters(asked)));
    body
}

fn parameters(asked: &PluginGenerator) -> Map {
    asked.input.parameters.iter().map(|(key, value)| (key.clone(), value.0.clone())).collect()
}

fn own(go: bool, given: &Map) -> Result<Params, String> {
    let params = given.iter().map(|(key, value)| (key.clone(), Param::from(value))).collect();
    if go { Ok(params) } else { flat_params(&params) }
}

/// What the plugin was given, for templates to use.
fn input(asked: &PluginGenerator) -> Param {
    let inner = |key: &str, param| Param::Map(Params::from([(key.into(), param)]));
    inner("input", inner("parameters", Param::from(&Value::Map(parameters(asked)))))
}
