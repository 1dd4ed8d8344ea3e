//! Labels and annotations that are one in several places.
//!
//! Kustomize puts one node into all the places where it adds a label to a resource: metadata, selectors, templates.
//! Whatever changes it in one of them later changes it in all, until the resource is printed and read anew. A value
//! cannot be in two places, so it is remembered which belong together, and after each step the others follow.

use lynceus_object::{Map, Str, Value};

use crate::fieldspec::Place;

/// A text that is the same in several maps.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// What it is called in these maps.
    name: Str,
    /// What it was when somebody looked last.
    value: Value,
    /// The maps, in the order in which a patch is merged.
    places: Vec<Place>,
}

impl Shared {
    /// A text that was added to these maps; nothing if no two of them can differ.
    pub(crate) fn new(name: &Str, text: &Str, mut places: Vec<Place>) -> Option<Self> {
        places.sort();
        places.dedup();
        (places.len() > 1).then(|| Shared { name: name.clone(), value: text.clone().into(), places })
    }

    /// Makes all places equal after one was changed. Where it is gone it does not come back. Says whether there is
    /// still something to keep equal.
    pub(crate) fn settle(&mut self, object: &mut Value) -> bool {
        self.places.retain(|place| scalar_at(object, place, &self.name).is_some());
        let mut found = self.places.iter().filter_map(|place| scalar_at(object, place, &self.name));
        let changed = found.rfind(|found| **found != self.value).cloned();
        self.set(object, changed)
    }

    /// The same after a patch was merged. What it says last counts, be it what was there before, and what it puts in
    /// the place of a whole map is a text of its own.
    pub(crate) fn settle_merged(&mut self, object: &mut Value, patch: &Value) -> bool {
        let mut changed = None;
        let Shared { name, value, places } = self;
        places.retain(|place| {
            let Some(found) = scalar_at(object, place, name) else { return false };
            if place.is_in_list() {
                // The items may have moved.
                return found == value;
            }
            match said(patch, place, name) {
                Said::Anew => return false,
                Said::Text => changed = Some(found.clone()),
                Said::Nothing => {}
            }
            true
        });
        self.set(object, changed)
    }

    fn set(&mut self, object: &mut Value, changed: Option<Value>) -> bool {
        if let Some(changed) = changed {
            for place in &self.places {
                if let Some(Value::Map(map)) = place.find_mut(object) {
                    map.insert(self.name.clone(), changed.clone());
                }
            }
            self.value = changed;
        }
        self.places.len() > 1
    }
}

fn scalar_at<'v>(object: &'v Value, place: &Place, name: &str) -> Option<&'v Value> {
    place.find(object)?.get(name).filter(|found| !matches!(found, Value::Map(_) | Value::Seq(_)))
}

/// What a patch says about a text.
enum Said {
    Nothing,
    Text,
    /// A map that it is in is replaced.
    Anew,
}

fn said(patch: &Value, place: &Place, name: &str) -> Said {
    let replaces = |map: &Map| map.get("$patch").is_some();
    let mut here = patch;
    for step in place.names() {
        match here {
            Value::Map(map) if replaces(map) => return Said::Anew,
            Value::Map(map) => match map.get(step) {
                Some(next) => here = next,
                None => return Said::Nothing,
            },
            _ => return Said::Nothing,
        }
    }
    match here {
        Value::Map(map) if replaces(map) => Said::Anew,
        Value::Map(map) if map.get(name).is_some_and(|said| !said.is_null()) => Said::Text,
        _ => Said::Nothing,
    }
}
