use super::*;
use crate::config::Config;
use lynceus_object::value;

fn is_cluster_scoped(kind: &Kind) -> bool {
    matches!(
        kind.kind.as_str(),
        "Namespace" | "ClusterRoleBinding" | "CustomResourceDefinition" | "APIService"
    )
}

fn moved_by(namespace: &Namespace, objects: Vec<Value>) -> Result<Vec<Value>, String> {
    let mut resources = Resources { list: objects.into_iter().map(Resource::new).collect() };
    namespace.apply(&mut resources, &is_cluster_scoped).map_err(|error| error.message)?;
    Ok(resources.list.into_iter().map(|resource| resource.value).collect())
}

fn to_prod(specs: FieldSpecs) -> Namespace {
    Namespace { namespace: "prod".into(), specs, unset_only: false, subjects: Subjects::default() }
}

fn moved(object: Value) -> Value {
    let namespace = to_prod(Config::defaults().namespace);
    moved_by(&namespace, vec![object]).unwrap().remove(0)
}

#[test]
fn what_can_be_in_a_namespace_is_moved() {
    let pod = |namespace: Value| value!({"apiVersion": "v1", "kind": "Pod", "metadata": namespace});
    assert_eq!(moved(pod(value!({"name": "x"}))), pod(value!({"name": "x", "namespace": "prod"})));
    assert_eq!(
        moved(pod(value!({"name": "x", "namespace": "dev"}))),
        pod(value!({"name": "x", "namespace": "prod"}))
    );
}

#[test]
fn the_namespace_itself_is_renamed_but_no_other_kind_of_that_name() {
    let own = value!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}});
    assert_eq!(moved(own).str_at(&["metadata", "name"]), Some("prod"));
    let other = value!({"apiVersion": "example.com/v1", "kind": "Namespace", "metadata": {"name": "x"}});
    assert_eq!(moved(other).str_at(&["metadata", "name"]), Some("x"));
}

#[test]
fn services_of_definitions_are_moved_along() {
    let service = moved(
        value!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "x"}}),
    );
    assert_eq!(service.at(&["spec"]), Some(&value!({"service": {"namespace": "prod"}})));
    let webhook = |namespace: &str| value!({"conversion": {"webhook": {"clientConfig": {"service": {"name": "s", "namespace": namespace}}}}});
    let crd = |spec: Value| {
        value!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "x"}, "spec": spec})
    };
    assert_eq!(moved(crd(webhook("dev"))), crd(webhook("prod")));
    let without = crd(value!({"conversion": {"strategy": "None"}}));
    assert_eq!(moved(without.clone()), without);
}

fn subjects(mode: &str, unset_only: bool) -> Value {
    let binding = value!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "x"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "default", "namespace": "dev"},
            {"kind": "ServiceAccount", "name": "default"},
            {"kind": "ServiceAccount", "name": "other", "namespace": "dev"},
            {"kind": "User", "name": "default"}
        ]
    });
    let namespace =
        Namespace { unset_only, subjects: Subjects::read(mode).unwrap(), ..to_prod(FieldSpecs::default()) };
    let mut moved = moved_by(&namespace, vec![binding]).unwrap().remove(0);
    let namespaces = moved.remove(&["subjects"]).unwrap();
    let namespace = |subject: &Value| subject.get("namespace").cloned().unwrap_or_default();
    namespaces.as_seq().unwrap().iter().map(namespace).collect()
}

#[test]
fn subjects_are_moved_as_the_mode_says() {
    assert_eq!(subjects("", false), value!(["prod", "prod", "dev", "prod"]));
    assert_eq!(subjects("defaultOnly", true), value!(["dev", "prod", "dev", "prod"]));
    assert_eq!(subjects("allServiceAccounts", false), value!(["prod", "prod", "prod", null]));
    assert_eq!(subjects("none", false), value!(["dev", null, "dev", null]));
    assert!(Subjects::read("some").unwrap_err().message.contains("invalid value \"some\""));
}

#[test]
fn fields_of_a_plugin_have_to_lead_to_a_text() {
    let specs = FieldSpecs::new(vec![crate::FieldSpec::of_all("subjects", false)]);
    let namespace = to_prod(specs);
    let binding = value!({"apiVersion": "example.com/v1", "kind": "RoleBinding", "metadata": {"name": "x"},
        "subjects": [{"name": "default"}]});
    let error = moved_by(&namespace, vec![binding]).unwrap_err();
    assert!(
        error.starts_with("namespace field specs must target scalar nodes: considering field"),
        "{error}"
    );
    assert!(error.contains("wrong node kind: expected ScalarNode but got SequenceNode"), "{error}");
}

#[test]
fn what_would_take_the_place_of_something_else_is_a_conflict() {
    let map = |namespace: &str| value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": namespace}});
    let namespace = to_prod(Config::defaults().namespace);
    let error = moved_by(&namespace, vec![map("a"), map("b")]).unwrap_err();
    assert!(error.starts_with("namespace transformation produces ID conflict: "), "{error}");
}

#[test]
fn what_comes_from_a_chart_stays_where_it_is() {
    let pod = value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}});
    let resource = Resource { is_from_chart: true, ..Resource::new(pod.clone()) };
    let mut resources = Resources { list: vec![resource] };
    to_prod(Config::defaults().namespace).apply(&mut resources, &is_cluster_scoped).unwrap();
    assert_eq!(resources.list[0].value, pod);
}
