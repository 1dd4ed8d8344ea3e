//! Applying without touching what is left out of the account.

use lynceus_object::{Map, Object, Value, patch};

use crate::error::DiffError;
use crate::kinds::Known;
use crate::settings::Settings;

/// The desired object with every ignored field as it is live, for `RespectIgnoreDifferences`.
pub fn respect(desired: &Object, live: &Object, settings: &Settings) -> Result<Object, DiffError> {
    let (mut plain_desired, mut plain_live) = (desired.clone(), live.clone());
    let mut tally = settings.ignore.tally();
    settings.ignore.apply_managers(&mut plain_desired, &mut plain_live, &mut tally);
    for object in [&mut plain_desired, &mut plain_live] {
        settings.ignore.apply(object, &mut tally);
        settings.known_types.apply(object);
    }
    let without_status = |object: &Object| {
        let mut object = object.clone();
        // Status is never ours to apply.
        object.remove(&["status"]);
        object.into_value()
    };
    let (ignored, whole) = (without_status(&plain_live), without_status(live));
    let patched = match Known::of(desired) {
        Some(known) => {
            let patch =
                patch::create::three_way(&whole, &whole, &ignored, known.ty).map_err(DiffError::Patch)?;
            patch::strategic(plain_desired.value(), &patch, known.ty)
        }
        None => {
            let patch = patch::create::merge_two_way(&ignored, &whole).map_err(DiffError::Patch)?;
            patch::merge(plain_desired.value(), &patch)
        }
    };
    let mut patched = patched.map_err(DiffError::Apply)?;
    if let Value::Map(patched) = &mut patched {
        restore(patched, desired.map(), plain_desired.map(), Some(plain_live.map()));
    }
    Ok(Object::new(patched).unwrap_or_else(|_| desired.clone()))
}

/// Undoes what a list or map that is replaced as a whole took along: fields that no rule names stay as desired.
fn restore(patched: &mut Map, desired: &Map, plain_desired: &Map, plain_live: Option<&Map>) {
    for (key, wanted) in desired.iter() {
        let plain = plain_desired.get(key);
        match (patched.get_mut(key), wanted, plain) {
            (Some(Value::Map(patched)), Value::Map(wanted), Some(Value::Map(plain))) => {
                restore(
                    patched,
                    wanted,
                    plain,
                    plain_live.and_then(|live| live.get(key)).and_then(Value::as_map),
                );
            }
            (found, wanted, Some(plain)) if plain == wanted && found.as_deref() != Some(wanted) => {
                patched.insert(key.clone(), wanted.clone());
            }
            _ => {}
        }
    }
    patched.retain(|key, _| desired.contains(key) || plain_live.is_none_or(|live| !live.contains(key)));
}

#[cfg(test)]
mod tests {
    use lynceus_api::ResourceIgnoreDifferences;
    use lynceus_object::value;

    use super::*;
    use crate::ignore::Ignore;

    fn check(pointers: &[&str], desired: Value, live: Value, expect: Value) {
        let rule = ResourceIgnoreDifferences {
            group: "*".into(),
            kind: "*".into(),
            json_pointers: pointers.iter().map(|pointer| (*pointer).into()).collect(),
            ..ResourceIgnoreDifferences::default()
        };
        let settings = Settings { ignore: Ignore::new([&rule]).0, ..Settings::default() };
        let object = |value: Value| Object::new(value).expect("a map");
        let found = respect(&object(desired), &object(live), &settings).expect("it fits");
        assert_eq!(found.into_value(), expect);
    }

    #[test]
    fn an_ignored_field_is_applied_as_it_is_live_and_others_as_desired() {
        check(
            &["/spec/replicas"],
            value!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1, "paused": true}}),
            value!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 7, "paused": false}, "status": {"x": 1}}),
            value!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 7, "paused": true}}),
        );
        check(
            &["/spec/size"],
            value!({"apiVersion": "x.io/v1", "kind": "Thing", "spec": {"color": "red"}}),
            value!({"apiVersion": "x.io/v1", "kind": "Thing", "spec": {"color": "blue", "size": 3}}),
            value!({"apiVersion": "x.io/v1", "kind": "Thing", "spec": {"color": "red", "size": 3}}),
        );
    }
}
