//! The pods that objects would have, wherever they are described.

use lynceus_engine::AppKey;
use lynceus_object::{Object, Value};

use super::maps;
use crate::survey::Survey;

/// Every description of a pod, with the application that brings it and the object that holds it.
pub(crate) fn each<'a>(surveys: &[&'a Survey], mut then: impl FnMut(&'a AppKey, &'a Object, &'a Value)) {
    for (key, one) in surveys.iter().flat_map(|survey| &survey.applications) {
        for object in one.outcome.objects().filter(|object| object.kind() != "CustomResourceDefinition") {
            maps(object.value(), &mut |map| {
                if !map.items_at(&["containers"]).is_empty() {
                    then(key, object, map);
                }
            });
        }
    }
}

/// The containers of a pod.
pub(crate) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["initContainers", "containers"].into_iter().flat_map(|list| pod.items_at(&[list]))
}
