//! Hiding secret data without hiding that it differs.

use lynceus_api::annotations;
use lynceus_object::{Object, Str, Value, json};

use crate::normalize::secret;

/// What the first value of a field is shown as; every further one is longer.
const MASK: &str = "++++++++";
const LONGER: &str = "++++";

/// Whether objects like this hold data that must not be shown.
pub fn is_secret(object: &Object) -> bool {
    object.kind() == "Secret" && object.group().is_empty()
}

/// Hides the data of a Secret, and the annotations named, in the desired and the live object alike.
///
/// Equal values stay equal and different ones different, also inside the last applied configuration.
pub fn mask(
    desired: Option<&Object>,
    live: Option<&Object>,
    hidden: &[Str],
) -> (Option<Object>, Option<Object>) {
    let mut sides = [Side::new(desired), Side::new(live)];
    let mut objects: Vec<&mut Object> = sides.iter_mut().flat_map(Side::objects).collect();
    for object in &mut objects {
        secret(object);
    }
    let mut keys: Vec<Str> = objects
        .iter()
        .filter_map(|object| object.at(&["data"])?.as_map())
        .flat_map(|map| map.keys().cloned())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for key in &keys {
        hide(&mut objects, &["data", key]);
    }
    for name in hidden.iter().filter(|name| *name != annotations::LAST_APPLIED) {
        hide(&mut objects, &["metadata", "annotations", name]);
    }
    let all = hidden.iter().any(|name| name == annotations::LAST_APPLIED);
    let [desired, live] = sides.map(|side| side.finish(all));
    (desired, live)
}

/// An object and the configuration that was last applied to it.
struct Side {
    object: Option<Object>,
    last_applied: LastApplied,
}

enum LastApplied {
    None,
    Unreadable,
    Object(Object),
}

impl Side {
    fn new(object: Option<&Object>) -> Self {
        let text = object.and_then(|object| object.annotation(annotations::LAST_APPLIED));
        let last_applied = match text.map(|text| json::parse(text.as_bytes()).map(Object::new)) {
            None => LastApplied::None,
            Some(Ok(Ok(object))) => LastApplied::Object(object),
            Some(_) => LastApplied::Unreadable,
        };
        Side { object: object.cloned(), last_applied }
    }

    fn objects(&mut self) -> impl Iterator<Item = &mut Object> {
        let last_applied = match &mut self.last_applied {
            LastApplied::Object(object) => Some(object),
            _ => None,
        };
        self.object.iter_mut().chain(last_applied)
    }

    fn finish(self, hide_last_applied: bool) -> Option<Object> {
        let mut object = self.object?;
        match self.last_applied {
            LastApplied::None => {}
            LastApplied::Object(last) if !hide_last_applied => {
                object.set_annotation(annotations::LAST_APPLIED, json::go_string(last.value()));
            }
            _ => object.set_annotation(annotations::LAST_APPLIED, MASK),
        }
        Some(object)
    }
}

fn hide(objects: &mut [&mut Object], path: &[&str]) {
    let mut seen: Vec<Value> = Vec::new();
    for object in objects {
        let Some(value) = object.at(path).cloned() else { continue };
        let at = seen.iter().position(|known| *known == value).unwrap_or_else(|| {
            seen.push(value);
            seen.len() - 1
        });
        object.set(path, format!("{MASK}{}", LONGER.repeat(at)));
    }
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    fn secret(data: Value) -> Object {
        Object::new(value!({"apiVersion": "v1", "kind": "Secret", "data": data})).expect("a map")
    }

    fn data(object: Option<Object>) -> Value {
        object.and_then(|object| object.at(&["data"]).cloned()).unwrap_or_default()
    }

    #[test]
    fn equal_values_look_equal_and_different_ones_do_not() {
        let (desired, live) = mask(
            Some(&secret(value!({"same": "YQ==", "other": "Yg==", "new": "Yw=="}))),
            Some(&secret(value!({"same": "YQ==", "other": "eHg="}))),
            &[],
        );
        assert_eq!(data(desired), value!({"same": "++++++++", "other": "++++++++", "new": "++++++++"}));
        assert_eq!(data(live), value!({"same": "++++++++", "other": "++++++++++++"}));
    }

    #[test]
    fn string_data_is_hidden_too() {
        let desired =
            Object::new(value!({"apiVersion": "v1", "kind": "Secret", "stringData": {"key": "hush"}}))
                .expect("a map");
        let (desired, _) = mask(Some(&desired), None, &[]);
        assert!(!json::to_string(desired.expect("it").value()).contains("hush"));
    }

    #[test]
    fn the_last_applied_configuration_is_hidden_even_if_it_cannot_be_read() {
        for last in
            [r#"{"kind":"Secret","apiVersion":"v1","data":{"key":"aHVzaA=="}}"#, "aHVzaA== is not JSON"]
        {
            let mut live = secret(value!({"key": "aHVzaA=="}));
            live.set_annotation(annotations::LAST_APPLIED, last);
            let (_, live) = mask(None, Some(&live), &[]);
            assert!(!json::to_string(live.expect("it").value()).contains("aHVzaA"), "{last}");
        }
    }
}
