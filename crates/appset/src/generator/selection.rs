//! Label selectors: of clusters by the labels of their Secrets, and of elements by their parameters.

use std::collections::BTreeMap;

use lynceus_api::LabelSelector;
use lynceus_object::selector::{Operator, Requirement, Selector, key_problems};
use lynceus_object::{Str, from_typed};

use super::{Element, Found, wrong};
use crate::flatten;
use crate::place::Place;

/// Keeps the elements whose parameters a selector fits. Values may be any text, such as the address of a cluster.
pub(super) fn select(
    selector: Option<&LabelSelector>,
    elements: Vec<Element>,
    place: &Place,
) -> Found<Vec<Element>> {
    let Some(selector) = selector else { return Ok(elements) };
    let requirements = requirements(selector).map_err(|why| wrong(place, format!("selector: {why}")))?;
    let mut chosen = Vec::new();
    for (at, element) in elements.into_iter().enumerate() {
        let flat = flatten::for_selector(&element.params).map_err(|why| wrong(&place.element(at), why))?;
        if requirements.iter().all(|one| one.matches(flat.get(&one.key).map(Str::as_str))) {
            chosen.push(element);
        }
    }
    Ok(chosen)
}

fn requirements(selector: &LabelSelector) -> Result<Vec<Requirement>, String> {
    let labels = selector.match_labels.iter().map(|(key, value)| {
        Ok(Requirement { key: key.clone(), operator: Operator::Equals, values: vec![value.clone()] })
    });
    let expressions = selector.match_expressions.iter().map(|one| {
        let operator = operator(&one.operator, !one.values.is_empty())?;
        Ok(Requirement { key: one.key.clone(), operator, values: one.values.clone() })
    });
    let all: Vec<Requirement> = labels.chain(expressions).collect::<Result<_, String>>()?;
    match all.iter().find_map(|one| Some((one, key_problems(&one.key).into_iter().next()?))) {
        Some((one, problem)) => {
            Err(format!("the key {:?} is not one that a label can have: {problem}", one.key))
        }
        None => Ok(all),
    }
}

fn operator(word: &str, has_values: bool) -> Result<Operator, String> {
    match (word, has_values) {
        ("In", true) => Ok(Operator::In),
        ("NotIn", true) => Ok(Operator::NotIn),
        ("Exists", false) => Ok(Operator::Exists),
        ("DoesNotExist", false) => Ok(Operator::DoesNotExist),
        ("In" | "NotIn", false) => Err(format!("{word} needs values")),
        ("Exists" | "DoesNotExist", true) => Err(format!("{word} takes no values")),
        _ => Err(format!("{word:?} is no operator; use In, NotIn, Exists or DoesNotExist")),
    }
}

/// A selector of objects in a cluster, whose values have to be ones that labels can have.
pub(super) fn of_labels(selector: &LabelSelector, place: &Place) -> Found<Selector> {
    // As nothing, it would select everything.
    let value = from_typed(selector).map_err(|error| wrong(place, format!("selector: {error}")))?;
    Selector::from_object(Some(&value)).map_err(|error| wrong(place, format!("selector: {error}")))
}

/// Whether labels fit a selector.
pub(super) fn fits(selector: &Selector, labels: &BTreeMap<Str, Str>) -> bool {
    selector.matches(|key| labels.get(key).map(Str::as_str))
}
