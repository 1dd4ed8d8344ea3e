use super::*;
use crate::config::Config;
use crate::fieldspec::FieldSpec;
use lynceus_object::value;

fn changed_object(images: Value, object: Value) -> Result<Value, String> {
    let image = |image: &Value| {
        let text = |key: &str| Str::from(image.str_at(&[key]).unwrap_or_default());
        Image {
            name: text("name"),
            new_name: text("newName"),
            tag_suffix: text("tagSuffix"),
            new_tag: text("newTag"),
            digest: text("digest"),
        }
    };
    let images = images.as_seq().unwrap().iter().map(image).collect();
    let mut resources = Resources { list: vec![Resource::new(object)] };
    let done = Images::new(images, Config::defaults().images).and_then(|images| images.apply(&mut resources));
    done.map_err(|error| error.message)?;
    Ok(resources.list.remove(0).value)
}

/// What becomes of an image in a list of containers that only its name tells.
fn changed(images: Value, image: &str) -> String {
    let object = value!({"kind": "A", "deep": [{"containers": [{"image": image}]}]});
    let object = changed_object(images, object).unwrap();
    let containers = object.items_at(&["deep"])[0].items_at(&["containers"]);
    containers[0].str_at(&["image"]).unwrap().to_owned()
}

#[test]
fn names_tags_and_digests_are_replaced() {
    let nginx = |change: Value, image: &str| {
        let mut change = change;
        change.set(&["name"], "nginx");
        changed(value!([change]), image)
    };
    assert_eq!(nginx(value!({"newTag": "2"}), "nginx:1"), "nginx:2");
    assert_eq!(nginx(value!({"newTag": "2"}), "nginx"), "nginx:2");
    assert_eq!(nginx(value!({"newTag": "2"}), "nginx@sha256:abc"), "nginx:2");
    assert_eq!(nginx(value!({"newTag": "2", "digest": "sha256:d"}), "nginx:1"), "nginx:2@sha256:d");
    assert_eq!(nginx(value!({"digest": "sha256:d"}), "nginx:1"), "nginx@sha256:d");
    assert_eq!(nginx(value!({"newName": "a.b:5000/c"}), "nginx:1@sha256:abc"), "a.b:5000/c:1@sha256:abc");
    assert_eq!(nginx(value!({"newName": "other"}), "nginx2:1"), "nginx2:1");
    assert_eq!(nginx(value!({"newName": "other"}), "x/nginx:1"), "x/nginx:1");
    assert_eq!(nginx(value!({"newTag": "2"}), "nginx:{TAG}"), "nginx:2");
    assert_eq!(nginx(value!({"newTag": "2"}), "nginx:a b"), "nginx:a b");
}

#[test]
fn a_port_belongs_to_the_name() {
    let images = value!([{"name": "my.registry:5000/a/b", "newTag": "2"}]);
    assert_eq!(changed(images.clone(), "my.registry:5000/a/b:1"), "my.registry:5000/a/b:2");
    assert_eq!(changed(images.clone(), "my.registry:5000/a/b"), "my.registry:5000/a/b:2");
    assert_eq!(changed(images, "my_registry:5000/a/b"), "my_registry:5000/a/b:2");
}

#[test]
fn a_name_is_a_regular_expression() {
    let images = value!([{"name": "(foo|bar)+", "newTag": "2"}]);
    assert_eq!(changed(images.clone(), "foobar:1"), "foobar:2");
    assert_eq!(changed(images, "foobaz:1"), "foobaz:1");
    let error = changed_object(value!([{"name": "a(", "newTag": "2"}]), value!({"kind": "A"})).unwrap_err();
    assert!(error.contains("no regular expression"), "{error}");
}

#[test]
fn one_image_after_the_other_is_replaced() {
    let images =
        value!([{"name": "a", "newName": "b"}, {"name": "b", "newName": "c", "newTag": "9"}, {"name": "d"}]);
    assert_eq!(changed(images, "a:1"), "c:9");
}

#[test]
fn a_suffix_is_added_by_the_list_and_by_the_field_as_well() {
    let pod = |image: &str| value!({"kind": "Pod", "spec": {"containers": [{"image": image}]}});
    let done = changed_object(value!([{"name": "a", "tagSuffix": "-s"}]), pod("a:1"));
    assert_eq!(done, Ok(pod("a:1-s-s")));
}

#[test]
fn fields_of_the_configuration_are_changed_and_definitions_are_not() {
    let volume =
        |image: &str| value!({"kind": "Pod", "spec": {"volumes": [{"image": {"reference": image}}]}});
    assert_eq!(changed_object(value!([{"name": "a", "newTag": "2"}]), volume("a:1")), Ok(volume("a:2")));
    let definition = value!({"kind": "CustomResourceDefinition", "spec": {"containers": [{"image": "a:1"}]}});
    assert_eq!(changed_object(value!([{"name": "a", "newTag": "2"}]), definition.clone()), Ok(definition));
}

#[test]
fn empty_lists_of_containers_become_lists() {
    let pod = |containers: Value| value!({"kind": "Pod", "spec": {"initContainers": containers}});
    assert_eq!(changed_object(value!([{"name": "a", "newTag": "2"}]), pod(Value::Null)), Ok(pod(value!([]))));
}

#[test]
fn containers_that_are_none_are_an_error() {
    for object in [value!({"containers": ["a"]}), value!({"x": {"containers": [{"image": {"a": "b"}}]}})] {
        let error = changed_object(value!([{"name": "a", "newTag": "2"}]), object).unwrap_err();
        assert!(error.starts_with("wrong node kind: expected "), "{error}");
    }
}

#[test]
fn the_plugin_looks_into_its_own_fields() {
    let image = Image { name: "a".into(), new_tag: "2".into(), ..Image::default() };
    let specs = FieldSpecs::new(vec![FieldSpec::of_all("x/my[]/img", false)]);
    let mut resources =
        Resources { list: vec![Resource::new(value!({"kind": "A", "x": {"my": [{"img": "a"}]}}))] };
    Images::new(vec![image], specs).unwrap().apply(&mut resources).unwrap();
    assert_eq!(resources.list[0].value, value!({"kind": "A", "x": {"my": [{"img": "a:2"}]}}));
}
