//! Every combination of two generators.

use std::collections::BTreeMap;

use lynceus_api::MatrixGenerator;
use lynceus_object::Str;

use super::{Element, Found, World, nested, wrong};
use crate::merge::put_over;
use crate::param::{Param, Params};
use crate::place::Place;

/// The second generator is asked anew for each element of the first, whose parameters it may use.
pub(super) fn elements(
    world: &World<'_, '_>,
    asked: &MatrixGenerator,
    place: &Place,
    depth: usize,
) -> Found<Vec<Element>> {
    let [first, second] = asked.generators.as_slice() else {
        let count = asked.generators.len();
        return Err(wrong(place, format!("a matrix has exactly two generators, and this one has {count}")));
    };
    let path = |at: usize| format!("{}.generators[{at}]", place.generator);
    let mut all = Vec::new();
    let mut stopped = None;
    for outer in nested(world, first, &path(0), &Params::new(), depth)? {
        match nested(world, second, &path(1), &outer.params, depth) {
            Ok(inner) => {
                for inner in inner {
                    all.push(pair(world.engine.go, &outer, inner, place)?);
                }
            }
            // What others need can be asked for at the same time.
            Err(super::Stop::Need) => stopped = Some(super::Stop::Need),
            Err(fault) => return Err(fault),
        }
    }
    stopped.map_or(Ok(all), Err)
}

fn pair(go: bool, outer: &Element, inner: Element, place: &Place) -> Found<Element> {
    let sources: Vec<&str> =
        [&outer.source, &inner.source].into_iter().flatten().map(String::as_str).collect();
    let source = (!sources.is_empty()).then(|| sources.join(" × "));
    if go {
        let mut params = inner.params;
        put_over(&mut params, &outer.params);
        return Ok(Element { params, source });
    }
    let mut all = texts(&outer.params).map_err(|why| wrong(place, why))?;
    for (key, text) in texts(&inner.params).map_err(|why| wrong(place, why))? {
        if let Some(other) = all.get(&key).filter(|other| **other != text) {
            let message = format!(
                "both generators give {key}, the first {other:?} and the second {text:?}; rename one of them"
            );
            return Err(wrong(place, message));
        }
        all.insert(key, text);
    }
    let params = all.into_iter().map(|(key, text)| (key, Param::Text(text))).collect();
    Ok(Element { params, source })
}

/// Without Go templates everything is text from here on.
fn texts(params: &Params) -> Result<BTreeMap<Str, Str>, String> {
    let text = |(key, param): (&Str, &Param)| {
        let text = param.printed().map_err(|why| format!("{key}: {why}"))?;
        Ok((key.clone(), text))
    };
    params.iter().map(text).collect()
}
