use super::*;
use crate::resource::Resource;
use lynceus_object::value;

fn expanded(text: &str) -> Value {
    let values = HashMap::from([
        ("A", Value::from("x")),
        ("N", Value::Int(80)),
        ("F", Value::Float(1e30)),
        ("B", Value::Bool(true)),
        ("M", value!({"a": 1})),
    ]);
    expand(text, &values, &mut HashSet::new())
}

#[test]
fn variables_are_replaced_within_texts() {
    for (text, expected) in [
        ("$(A)", "x"),
        ("a $(A) $(N) $(B) $(F)", "a x 80 true 1e+30"),
        ("$(UNKNOWN)-$(A)", "$(UNKNOWN)-x"),
        ("$$(A) $$$(A)", "$(A) $x"),
        ("$(A", "$(A"),
        ("$", "$"),
        ("a$", "a$"),
        ("$é $A $(A)", "$é $A x"),
        ("$()", "$()"),
        ("$(M)", "$(M)"),
    ] {
        assert_eq!(expanded(text), Value::from(expected), "{text}");
    }
}

#[test]
fn a_variable_alone_keeps_its_type() {
    assert_eq!(expanded("$(N)"), Value::Int(80));
    assert_eq!(expanded("$(B)"), Value::Bool(true));
    assert_eq!(expanded("$(N) "), Value::from("80 "));
}

fn service(name: &str, namespace: &str) -> Resource {
    Resource::new(value!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": namespace}, "spec": {"ports": [{"port": 80}]}}))
}

fn variable(name: &str, object: Value, field: &str) -> Variable {
    let text = |key: &str| Str::from(object.str_at(&[key]).unwrap_or_default());
    let kind = Kind { group: text("group"), version: text("version"), kind: text("kind") };
    Variable::new(name.into(), &text("apiVersion"), kind, text("name"), text("namespace"), field.into())
}

fn pod(args: Value) -> Resource {
    Resource::new(
        value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {"a": "$(PORT)"}},
        "spec": {"containers": [{"args": args}]}}),
    )
}

fn replaced(variables: &[Variable], list: Vec<Resource>) -> Result<(Resources, Vec<Str>), String> {
    let mut resources = Resources { list };
    let mut all = Variables::default();
    let done = all
        .add(variables, &mut resources, &|_| false)
        .and_then(|()| all.replace(&mut resources, &Config::defaults()))
        .map_err(|error| error.message)?;
    Ok((resources, done))
}

#[test]
fn a_variable_is_read_from_a_field_and_written_where_the_configuration_says() {
    let object = value!({"apiVersion": "v1", "kind": "Service", "name": "s"});
    let variables = [variable("PORT", object.clone(), "spec.ports[0].port"), variable("NAME", object, "")];
    let (resources, unused) =
        replaced(&variables, vec![service("s", "x"), pod(value!(["--port=$(PORT)", "$(PORT)"]))]).unwrap();
    let pod = &resources.list[1].value;
    assert_eq!(pod.items_at(&["spec", "containers"])[0].at(&["args"]), Some(&value!(["--port=80", 80])));
    assert_eq!(pod.at(&["metadata", "annotations", "a"]), Some(&Value::Int(80)));
    assert_eq!(unused, ["NAME"]);
}

#[test]
fn the_namespace_tells_resources_of_one_name_apart() {
    let list = || vec![service("s", "x"), service("s", "y")];
    let object = value!({"apiVersion": "v1", "kind": "Service", "name": "s"});
    let error = replaced(&[variable("V", object, "metadata.namespace")], list()).unwrap_err();
    assert_eq!(
        error,
        "found 2 resId matches for var {V Service.v1.[noGrp] {metadata.namespace}} (unable to disambiguate)"
    );
    let object = value!({"apiVersion": "v1", "kind": "Service", "name": "s", "namespace": "y"});
    let (resources, _) = replaced(&[variable("V", object, "metadata.namespace")], list()).unwrap();
    assert_eq!(resources.list[1].variables, ["V"]);
}

#[test]
fn a_resource_is_found_by_what_it_was_called() {
    let mut renamed = service("s", "x");
    renamed.remember_id(false);
    renamed.value.set(&["metadata", "name"], "prefix-s");
    let object = value!({"version": "v1", "kind": "Service", "name": "s"});
    let (resources, _) =
        replaced(&[variable("PORT", object, "metadata.name")], vec![renamed, pod(value!([]))]).unwrap();
    assert_eq!(resources.list[1].value.str_at(&["metadata", "annotations", "a"]), Some("prefix-s"));
}

#[test]
fn what_is_not_there_is_an_error() {
    let object = value!({"kind": "Service", "name": "s"});
    let error = replaced(&[variable("V", object, "metadata.name")], vec![service("s", "x")]).unwrap_err();
    assert_eq!(
        error,
        "var '{V Service.[noVer].[noGrp] {metadata.name}}' cannot be mapped to a field in the set of known resources"
    );
    let object = value!({"apiVersion": "v1", "kind": "Service", "name": "s"});
    let error = replaced(&[variable("V", object, "spec.none")], vec![service("s", "x")]).unwrap_err();
    assert!(error.ends_with("not found in corresponding resource"), "{error}");
}

#[test]
fn lists_with_variables_hold_texts_only() {
    let object = value!({"apiVersion": "v1", "kind": "Service", "name": "s"});
    let variables = [variable("V", object, "metadata.name")];
    let error = replaced(&variables, vec![service("s", "x"), pod(value!(["a", 1]))]).unwrap_err();
    assert_eq!(
        error,
        "considering field 'spec/containers/args' of object Pod.v1.[noGrp]/p.[noNs]: visit traversal on path: \
         [args]: invalid value type expect a string"
    );
}

#[test]
fn a_variable_can_be_defined_once() {
    let object = value!({"apiVersion": "v1", "kind": "Service", "name": "s"});
    let variables = [variable("V", object.clone(), "metadata.name"), variable("V", object, "metadata.name")];
    assert_eq!(replaced(&variables, vec![service("s", "x")]).unwrap_err(), "var 'V' already encountered");
    let mut one = Variables::default();
    one.add(&variables[..1], &mut Resources::default(), &|_| false).unwrap();
    assert!(one.clone().add_all(one).is_err());
}
