use super::*;
use crate::id::Kind;
use crate::resource::Resource;
use lynceus_object::value;

fn labelled(label: Value, object: Value) -> Result<Value, String> {
    labelled_with(label, object, &Config::defaults())
}

fn labelled_with(label: Value, object: Value, config: &Config) -> Result<Value, String> {
    let flag = |key: &str| label.bool_at(&[key]).unwrap_or_default();
    let spec = |spec: &Value| FieldSpec {
        kind: Kind::new("", spec.str_at(&["kind"]).unwrap_or_default()),
        path: spec.str_at(&["path"]).unwrap().into(),
        create: spec.bool_at(&["create"]).unwrap_or_default(),
    };
    let pair = |(key, value): (&Str, &Value)| (key.clone(), value.as_str().unwrap().into());
    let field = LabelField {
        pairs: label.get("pairs").and_then(Value::as_map).unwrap().iter().map(pair).collect(),
        include_selectors: flag("includeSelectors"),
        include_templates: flag("includeTemplates"),
        fields: label.items_at(&["fields"]).iter().map(spec).collect(),
    };
    let mut resources = Resources { list: vec![Resource::new(object)] };
    let done = Labels::of_field(&field, config).and_then(|labels| labels.apply(&mut resources));
    done.map_err(|error| error.message)?;
    Ok(resources.list.remove(0).value)
}

fn deployment(labels: Value, spec: Value) -> Value {
    value!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "labels": labels}, "spec": spec})
}

#[test]
fn labels_go_where_they_are_asked_to_go() {
    let plain = || value!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}});
    let label = value!({"a": "b"});
    let mut expected = plain();
    expected.set(&["metadata", "labels"], label.clone());
    assert_eq!(labelled(value!({"pairs": label}), plain()), Ok(expected.clone()));
    expected.set(&["spec", "template", "metadata", "labels"], label.clone());
    assert_eq!(labelled(value!({"pairs": label, "includeTemplates": true}), plain()), Ok(expected.clone()));
    expected.set(&["spec", "selector", "matchLabels"], label.clone());
    assert_eq!(labelled(value!({"pairs": label, "includeSelectors": true}), plain()), Ok(expected));
}

#[test]
fn what_is_empty_becomes_a_map_with_the_labels() {
    let label = value!({"a": "b"});
    let before = deployment(Value::Null, value!({"template": null}));
    let after = deployment(label.clone(), value!({"template": {"metadata": {"labels": label}}}));
    assert_eq!(labelled(value!({"pairs": label, "includeTemplates": true}), before), Ok(after));
}

#[test]
fn affinities_are_labelled_where_they_are() {
    let term = |labels: Value| {
        value!({"template": {"spec": {"affinity": {"podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {"matchLabels": labels}}]
        }}}}})
    };
    let done = labelled(
        value!({"pairs": {"a": "b"}, "includeSelectors": true}),
        deployment(value!({}), term(value!({"c": "d"}))),
    );
    let spec = done.unwrap().remove(&["spec", "template", "spec"]).unwrap();
    assert_eq!(&spec, term(value!({"a": "b", "c": "d"})).at(&["template", "spec"]).unwrap());
}

#[test]
fn own_fields_and_those_of_the_configuration_are_labelled_too() {
    let config = Config::with_files([b"labels: [{path: spec/two, create: true}]".as_slice()]).unwrap();
    let label =
        value!({"pairs": {"a": "b"}, "fields": [{"path": "spec/one", "kind": "Foo", "create": true}]});
    let foo = value!({"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "x"}});
    let done = labelled_with(label, foo, &config).unwrap();
    assert_eq!(done.at(&["spec"]), Some(&value!({"one": {"a": "b"}, "two": {"a": "b"}})));
}

#[test]
fn an_own_field_for_one_kind_keeps_the_default_of_all_kinds_away() {
    let label = |create: bool| value!({"pairs": {"a": "b"}, "fields": [{"path": "metadata/labels", "kind": "Foo", "create": create}]});
    let bar = value!({"apiVersion": "v1", "kind": "Bar", "metadata": {"name": "x"}});
    assert_eq!(labelled(label(true), bar.clone()), Ok(bar.clone()));
    let error = labelled(label(false), bar).unwrap_err();
    assert_eq!(error, "failed to merge labels: conflicting fieldspecs");
}

#[test]
fn a_label_stays_a_text() {
    let done = labelled(value!({"pairs": {"a": "true"}}), deployment(value!({"a": 1}), value!({}))).unwrap();
    assert_eq!(done.at(&["metadata", "labels"]), Some(&value!({"a": "true"})));
}

#[test]
fn a_new_name_that_is_no_text_cannot_be_printed() {
    let error = labelled(value!({"pairs": {"1": "x"}}), deployment(value!({}), value!({}))).unwrap_err();
    assert!(error.contains("unsupported type"), "{error}");
    assert!(labelled(value!({"pairs": {"1": "x"}}), deployment(value!({"1": "y"}), value!({}))).is_ok());
}

#[test]
fn the_plugin_sets_what_it_is_told() {
    let specs = FieldSpecs::new(vec![FieldSpec::of_all("x/y", true)]);
    let mut resources = Resources { list: vec![Resource::new(value!({"kind": "A"}))] };
    Labels { labels: vec![("a".into(), "b".into())], specs }.apply(&mut resources).unwrap();
    assert_eq!(resources.list[0].value, value!({"kind": "A", "x": {"y": {"a": "b"}}}));
}
