//! Every combination of two generators.

use lynceus_api::MatrixGenerator;

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
    let mut params = texts(&outer.params);
    for (key, text) in texts(&inner.params) {
        if let Some(other) = params.get(&key).filter(|other| **other != text) {
            let message = format!(
                "both generators give {key}, the first {:?} and the second {:?}; rename one of them",
                other.printed(),
                text.printed()
            );
            return Err(wrong(place, message));
        }
        params.insert(key, text);
    }
    Ok(Element { params, source })
}

/// Without Go templates everything is text from here on.
fn texts(params: &Params) -> Params {
    params.iter().map(|(key, param)| (key.clone(), Param::Text(param.printed()))).collect()
}
