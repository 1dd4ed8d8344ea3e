//! Whatever bytes a client sends, an answer comes back.

#![allow(clippy::expect_used, reason = "a test may panic")]

use lynceus_object::apply::FieldSet;
use lynceus_object::schema::{Schema, builtin, check, round_trip};
use lynceus_object::{Object, Value, patch, protobuf, value};
use proptest::prelude::*;

/// Any JSON, with keys that mean something in a patch or a set of fields now and then.
fn json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-z]{1,3}",
        Just("spec".to_owned()),
        Just("containers".to_owned()),
        Just("name".to_owned()),
        Just("$patch".to_owned()),
        Just("$retainKeys".to_owned()),
        Just("$setElementOrder/containers".to_owned()),
        Just("$deleteFromPrimitiveList/finalizers".to_owned()),
        Just("f:spec".to_owned()),
        Just("k:{\"name\":\"a\"}".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/%0-9]{0,4}".prop_map(Value::from),
        Just(Value::from("replace")),
        Just(Value::from("delete")),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..5)
                .prop_map(|fields| Value::Map(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn protobuf_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0_usize..4) {
        let kind = ["Pod", "Secret", "Status", "Event"][kind];
        let mut message = b"k8s\0\n".to_vec();
        message.push(6 + kind.len() as u8);
        message.extend_from_slice(b"\n\x02v1\x12");
        message.push(kind.len() as u8);
        message.extend_from_slice(kind.as_bytes());
        message.push(0x12);
        message.push(bytes.len() as u8 & 0x7f);
        message.extend_from_slice(&bytes);
        let _ = protobuf::decode(&message);
    }

    #[test]
    fn what_protobuf_decodes_it_encodes(labels in prop::collection::btree_map("[a-z]{1,9}", ".{0,9}", 0..5)) {
        let labels = Value::Map(labels.into_iter().collect());
        let mut object = Object::new(value!({"apiVersion": "v1", "kind": "ConfigMap"})).expect("map");
        object.set(&["data"], labels);
        round_trip(object.value_mut(), builtin().of_manifest("v1", "ConfigMap").expect("kind"));
        let bytes = protobuf::encode(&object).expect("encode");
        prop_assert_eq!(protobuf::decode(&bytes).expect("decode"), object);
    }

    #[test]
    fn patches_never_panic(original in json(), change in json()) {
        let ty = builtin().of_manifest("v1", "Pod").expect("kind");
        let _ = patch::strategic(&original, &change, ty);
        let _ = patch::merge(&original, &change);
        let _ = patch::json(&original, &change);
        let _ = patch::create::two_way(&original, &change, ty);
        let _ = patch::create::three_way(&original, &change, &original, ty);
    }

    #[test]
    fn a_merge_patch_does_what_it_was_made_for(original in json(), modified in json()) {
        // A merge patch cannot say `null`, so that there may be none in the objects.
        let clean = |value: Value| match patch::merge(&Value::Map(Default::default()), &value) {
            Ok(Value::Map(map)) => Some(Value::Map(map)),
            _ => None,
        };
        if let (Some(original), Some(modified)) = (clean(original), clean(modified)) {
            let made = patch::create::merge_two_way(&original, &modified).expect("patch");
            prop_assert_eq!(patch::merge(&original, &made).expect("merge"), modified);
        }
    }

    #[test]
    fn odd_objects_are_checked_and_printed(value in json()) {
        let ty = builtin().of_manifest("v1", "Pod").expect("kind");
        check(&value, ty);
        let mut printed = value;
        round_trip(&mut printed, ty);
        let once = printed.clone();
        round_trip(&mut printed, ty);
        prop_assert_eq!(printed, once);
    }

    #[test]
    fn sets_of_fields_survive(value in json()) {
        if let Ok(set) = FieldSet::from_value(&value) {
            prop_assert_eq!(FieldSet::from_value(&set.to_value()).expect("set"), set);
        }
    }

    #[test]
    fn any_schema_is_read(value in json()) {
        Schema::from_openapi(&value);
    }
}
