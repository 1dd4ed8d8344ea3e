//! Waves: the order in which objects of one phase are applied.

use lynceus_object::Object;

use crate::annotations;

/// The wave of an object: its annotation, else its Helm hook weight, else 0.
///
/// A value that is no number counts as not being there.
pub fn wave(object: &Object) -> i64 {
    number(object, annotations::SYNC_WAVE)
        .or_else(|| number(object, annotations::HELM_HOOK_WEIGHT))
        .unwrap_or(0)
}

fn number(object: &Object, annotation: &str) -> Option<i64> {
    object.annotation(annotation)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_object::{Gvk, Value};

    fn wave_of(annotations: &[(&str, &str)]) -> i64 {
        let mut object = Object::named(&Gvk::new("", "v1", "ConfigMap"), "shop", "cm");
        for (key, value) in annotations {
            object.set_annotation(key, Value::from(*value));
        }
        wave(&object)
    }

    #[test]
    fn the_annotation_wins_over_the_weight() {
        assert_eq!(wave_of(&[]), 0);
        assert_eq!(wave_of(&[(annotations::SYNC_WAVE, "-5")]), -5);
        assert_eq!(wave_of(&[(annotations::SYNC_WAVE, "+1"), (annotations::HELM_HOOK_WEIGHT, "7")]), 1);
        assert_eq!(wave_of(&[(annotations::SYNC_WAVE, "first"), (annotations::HELM_HOOK_WEIGHT, "7")]), 7);
    }
}
