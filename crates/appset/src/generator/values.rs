//! `values`: further parameters, which may use those of their generator.

use std::collections::BTreeMap;

use lynceus_object::Str;

use super::{Found, World};
use crate::param::{Param, Params};
use crate::place::{Fault, Place};

/// Adds the values to the parameters. They do not see each other, so that none can grow without bound.
pub(super) fn add(
    world: &World<'_, '_>,
    values: &BTreeMap<Str, Str>,
    params: &mut Params,
    place: &Place,
) -> Found<()> {
    if values.is_empty() {
        return Ok(());
    }
    let mut filled = BTreeMap::new();
    let filling = world.engine.fill_with(params);
    for (key, text) in values {
        let text = world.engine.replace(text, &filling).map_err(|error| {
            let field = Some(format!("values.{key}"));
            let place = Place { field, line: error.line, ..place.clone() };
            Fault::parameters(place, error.to_string())
        })?;
        filled.insert(key.clone(), text);
    }
    put(world, filled, params);
    Ok(())
}

/// Where the values stand among the parameters: under `values`, or each under a name of its own.
pub(super) fn put(world: &World<'_, '_>, values: BTreeMap<Str, Str>, params: &mut Params) {
    if values.is_empty() {
        return;
    }
    if world.engine.go {
        params.insert("values".into(), Param::TextMap(values));
    } else {
        params.extend(
            values.into_iter().map(|(key, text)| (format!("values.{key}").into(), Param::Text(text))),
        );
    }
}
