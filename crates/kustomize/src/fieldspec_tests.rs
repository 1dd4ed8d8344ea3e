use super::*;
use lynceus_object::value;

/// Sets every field at a path to `X`.
fn set(path: &str, create: bool, makes: Makes, value: Value) -> Result<Value, String> {
    let mut resource = Resource::new(value);
    let spec = Spec::new(FieldSpec::of_all(path, create));
    spec.edit(&mut resource, makes, &mut |field| {
        if let Value::Map(map) = field {
            map.insert("x", "X");
        } else {
            *field = Value::from("X");
        }
        Ok(())
    })
    .map_err(|error| error.message)?;
    Ok(resource.value)
}

#[test]
fn a_list_on_the_way_stands_for_all_its_items() {
    let before = value!({"a": [{"b": 1}, {"c": 2}, null, [{"b": 3}]]});
    let after = value!({"a": [{"b": "X"}, {"c": 2}, null, [{"b": "X"}]]});
    assert_eq!(set("a/b", false, Makes::Nothing, before.clone()), Ok(after.clone()));
    assert_eq!(set("a[]/b", true, Makes::Nothing, before), Ok(after));
}

#[test]
fn what_is_missing_is_made_only_if_asked_for() {
    assert_eq!(set("a/b", false, Makes::Map, value!({})), Ok(value!({})));
    assert_eq!(set("a/b", true, Makes::Nothing, value!({})), Ok(value!({})));
    assert_eq!(set("a/b", true, Makes::Scalar, value!({})), Ok(value!({"a": {"b": "X"}})));
    assert_eq!(set("a/b", true, Makes::Map, value!({"a": null})), Ok(value!({"a": {"b": {"x": "X"}}})));
}

#[test]
fn a_list_is_not_made_but_what_is_before_it_is() {
    assert_eq!(set("a/b[]/c", true, Makes::Map, value!({})), Ok(value!({"a": {}})));
}

#[test]
fn an_empty_field_becomes_an_empty_list_where_a_list_is_expected() {
    assert_eq!(set("a[]/b", true, Makes::Nothing, value!({"a": null})), Ok(value!({"a": []})));
    assert_eq!(set("a/b", false, Makes::Nothing, value!({"a": null})), Ok(value!({"a": null})));
}

#[test]
fn a_slash_may_be_part_of_a_name() {
    let value = value!({"a": {"b/c": 1}});
    assert_eq!(set(r"/a/b\/c", false, Makes::Nothing, value), Ok(value!({"a": {"b/c": "X"}})));
}

#[test]
fn what_cannot_be_walked_is_an_error() {
    let pod =
        |field: Value| value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "a": field});
    assert_eq!(
        set("a/b", false, Makes::Nothing, pod(value!("text"))).unwrap_err(),
        "considering field 'a/b' of object Pod.v1.[noGrp]/p.[noNs]: expected sequence or mapping node"
    );
    let error = set("a/b", false, Makes::Nothing, pod(value!([1]))).unwrap_err();
    assert!(error.ends_with("visit traversal on path: [b]: expected sequence or mapping node"), "{error}");
    let error = set("a/0", false, Makes::Nothing, pod(value!({"0": 1}))).unwrap_err();
    assert!(error.contains("wrong node kind: expected SequenceNode but got MappingNode"), "{error}");
    assert!(set("", false, Makes::Nothing, pod(value!(1))).unwrap_err().contains("empty field name"));
}

#[test]
fn specs_are_found_by_kind_in_their_order() {
    let spec = |kind: &str, path: &str| FieldSpec {
        kind: Kind { kind: kind.into(), ..Kind::default() },
        path: path.into(),
        create: false,
    };
    let specs =
        FieldSpecs::new(vec![spec("A", "1"), spec("", "2"), spec("B", "3"), spec("A", "4"), spec("", "5")]);
    let paths = |kind: &str| {
        let kind = Kind::new("v1", kind);
        specs.matching(&kind).map(|spec| spec.spec.path.to_string()).collect::<String>()
    };
    assert_eq!((paths("A"), paths("B"), paths("C")), ("1245".into(), "235".into(), "25".into()));
}

#[test]
fn a_shared_object_stays_shared_when_nothing_is_there_to_change() {
    let original = value!({"a": {"b": [1]}});
    let mut copy = original.clone();
    FieldPath::new("a/c").edit(&mut copy, false, Makes::Nothing, &mut |_| Ok(())).unwrap();
    let address = |value: &Value| value.items_at(&["a", "b"]).as_ptr();
    assert_eq!(address(&original), address(&copy));
}
