//! Parameters that are written down.

use lynceus_api::ListGenerator;
use lynceus_object::{Map, Value, yaml};

use super::{Element, Found, World, wrong};
use crate::param::{Param, Params, kind, params_of};
use crate::place::Place;

pub(super) fn elements(world: &World<'_, '_>, list: &ListGenerator, place: &Place) -> Found<Vec<Element>> {
    let mut all = Vec::new();
    for (at, element) in list.elements.iter().enumerate() {
        let place = place.element(at);
        let params = match &element.0 {
            Value::Null => Params::new(),
            Value::Map(map) if !world.engine.go => texts(map, &place)?,
            other => params_of(other)
                .ok_or_else(|| wrong(&place, format!("it is {} and not a map", kind(other))))?,
        };
        all.push(Element { params, source: None });
    }
    all.extend(from_yaml(&list.elements_yaml, all.len(), place)?);
    Ok(all)
}

/// Without Go templates only texts can be filled in, and one level of `values`.
fn texts(map: &Map, place: &Place) -> Found<Params> {
    let mut params = Params::new();
    for (key, value) in map.iter() {
        match value {
            Value::Map(values) if key == "values" => {
                for (key, value) in values.iter() {
                    params.insert(
                        format!("values.{key}").into(),
                        text(&format!("values.{key}"), value, place)?,
                    );
                }
            }
            value if key == "values" => {
                return Err(wrong(place, format!("values is {} and not a map", kind(value))));
            }
            value => {
                params.insert(key.clone(), text(key, value, place)?);
            }
        }
    }
    Ok(params)
}

fn text(key: &str, value: &Value, place: &Place) -> Found<Param> {
    let kind = kind(value);
    value.as_str().map(Param::from).ok_or_else(|| {
        wrong(place, format!("{key} is {kind} and not a string; quote it, or set spec.goTemplate to true"))
    })
}

/// Elements in a text, which are taken as they are in both languages.
fn from_yaml(text: &str, before: usize, place: &Place) -> Found<Vec<Element>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let place = Place { field: Some("elementsYaml".to_owned()), ..place.clone() };
    let value = yaml::parse_str(text).map_err(|error| wrong(&place, format!("it is not YAML: {error}")))?;
    let items = match &value {
        Value::Null => &[],
        Value::Seq(items) => items.as_slice(),
        other => return Err(wrong(&place, format!("it is {} and not a list", kind(other)))),
    };
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let params = match item {
            Value::Null => Params::new(),
            item => params_of(item).ok_or_else(|| {
                wrong(&place.element(before + at), format!("it is {} and not a map", kind(item)))
            })?,
        };
        all.push(Element { params, source: None });
    }
    Ok(all)
}
