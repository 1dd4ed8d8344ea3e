use super::*;
use crate::prefix::Prefix;
use crate::resource::Resource;
use lynceus_object::value;

fn is_cluster_scoped(kind: &Kind) -> bool {
    kind.kind.starts_with("Cluster") || kind.kind.ends_with("WebhookConfiguration")
}

fn resource(api: &str, kind: &str, namespace: &str, name: &str) -> Resource {
    let mut value = value!({"apiVersion": api, "kind": kind, "metadata": {"name": name}});
    if !namespace.is_empty() {
        value.set(&["metadata", "namespace"], namespace);
    }
    Resource::new(value)
}

/// A resource that was renamed.
fn renamed(api: &str, kind: &str, namespace: &str, name: &str, now: &str) -> Resource {
    let mut resource = resource(api, kind, namespace, name);
    resource.remember_id(is_cluster_scoped(&resource.kind()));
    resource.value.set(&["metadata", "name"], now);
    resource
}

fn with(mut resource: Resource, path: &[&str], value: Value) -> Resource {
    resource.value.set(path, value);
    resource
}

fn repaired(list: Vec<Resource>) -> Result<Vec<Value>, String> {
    let mut resources = Resources { list };
    repair(&mut resources, &Config::defaults(), &is_cluster_scoped).map_err(|error| error.message)?;
    Ok(resources.list.into_iter().map(|resource| resource.value).collect())
}

fn deployment(namespace: &str, map: &str) -> Resource {
    let spec = value!({"template": {"spec": {"volumes": [{"configMap": {"name": map}}]}}});
    with(resource("apps/v1", "Deployment", namespace, "web"), &["spec"], spec)
}

fn map_of(deployment: &Value) -> Value {
    let volumes = deployment.items_at(&["spec", "template", "spec", "volumes"]);
    volumes[0].at(&["configMap", "name"]).unwrap().clone()
}

#[test]
fn a_reference_follows_what_was_renamed() {
    let done = repaired(vec![renamed("v1", "ConfigMap", "", "c", "c-hash"), deployment("", "c")]).unwrap();
    assert_eq!(map_of(&done[1]), value!("c-hash"));
    let done = repaired(vec![renamed("v1", "Secret", "", "c", "c-hash"), deployment("", "c")]).unwrap();
    assert_eq!(map_of(&done[1]), value!("c"));
}

#[test]
fn any_former_name_will_do() {
    let mut map = renamed("v1", "ConfigMap", "", "one", "two");
    map.remember_id(false);
    map.value.set(&["metadata", "name"], "three");
    for name in ["one", "two"] {
        let done = repaired(vec![map.clone(), deployment("", name)]).unwrap();
        assert_eq!(map_of(&done[1]), value!("three"));
    }
}

#[test]
fn a_reference_stays_within_its_namespace() {
    let maps =
        || vec![renamed("v1", "ConfigMap", "a", "c", "c-a"), renamed("v1", "ConfigMap", "b", "c", "c-b")];
    for (namespace, expected) in [("a", "c-a"), ("b", "c-b"), ("", "c")] {
        let mut list = maps();
        list.push(deployment(namespace, "c"));
        assert_eq!(map_of(&repaired(list).unwrap()[2]), value!(expected));
    }
}

#[test]
fn the_same_prefixes_decide_between_two() {
    let prefixed = |mut list: Vec<Resource>, prefix: &str| {
        let mut resources = Resources { list: std::mem::take(&mut list) };
        Prefix { prefix: prefix.into(), specs: Config::defaults().name_prefix }
            .apply(&mut resources, &is_cluster_scoped)
            .unwrap();
        resources.list
    };
    let base =
        |prefix: &str| prefixed(vec![resource("v1", "ConfigMap", "", "c"), deployment("", "c")], prefix);
    let mut list = base("a-");
    list.extend(base("b-"));
    let done = repaired(prefixed(list, "top-")).unwrap();
    assert_eq!(map_of(&done[1]), value!("top-a-c"));
    assert_eq!(map_of(&done[3]), value!("top-b-c"));
}

#[test]
fn two_that_may_be_meant_are_an_error_unless_they_have_one_name() {
    let list = |one: &str, two: &str| {
        vec![
            renamed("v1", "ConfigMap", "", "c", one),
            renamed("v1", "ConfigMap", "", "c", two),
            deployment("", "c"),
        ]
    };
    let error = repaired(list("one", "two")).unwrap_err();
    assert_eq!(
        error,
        "updating name reference in 'spec/template/spec/volumes/configMap/name' field of \
         'Deployment.v1.apps/web.[noNs]': considering field 'spec/template/spec/volumes/configMap/name' of object \
         Deployment.v1.apps/web.[noNs]: visit traversal on path: [configMap name]: found multiple possible \
         referrals: ConfigMap.v1.[noGrp]/one.[noNs], ConfigMap.v1.[noGrp]/two.[noNs]"
    );
    assert_eq!(map_of(&repaired(list("one", "one")).unwrap()[2]), value!("one"));
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

fn binding(kind: &str, namespace: &str, role: &str, subjects: Value) -> Resource {
    let role = value!({"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": "r"});
    with(with(resource(RBAC, kind, namespace, "b"), &["roleRef"], role), &["subjects"], subjects)
}

#[test]
fn a_role_is_told_by_its_kind() {
    let list = |role: &str| {
        vec![
            renamed(RBAC, "Role", "", "r", "r-role"),
            renamed(RBAC, "ClusterRole", "", "r", "r-cluster"),
            binding("RoleBinding", "", role, value!([])),
        ]
    };
    for (role, expected) in [("Role", "r-role"), ("ClusterRole", "r-cluster")] {
        assert_eq!(repaired(list(role)).unwrap()[2].str_at(&["roleRef", "name"]), Some(expected));
    }
}

#[test]
fn subjects_get_the_name_and_the_namespace() {
    let account = |was: &str, now: &str| {
        let mut account = renamed("v1", "ServiceAccount", was, "s", "new-s");
        account.value.set(&["metadata", "namespace"], now);
        account
    };
    let subject = |name: &str, namespace: &str| value!({"kind": "ServiceAccount", "name": name, "namespace": namespace});
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        let list = vec![
            account("", "prod"),
            binding(kind, "prod", "Role", value!([{"kind": "ServiceAccount", "name": "s"}])),
        ];
        assert_eq!(
            repaired(list).unwrap()[1].get("subjects"),
            Some(&value!([subject("new-s", "prod")])),
            "{kind}"
        );
    }
    // From another namespace only what the binding names is seen, by what it is called now.
    let list = vec![
        account("a", "prod"),
        account("b", "dev"),
        binding("RoleBinding", "else", "Role", value!([subject("s", "dev"), subject("s", "none")])),
    ];
    let expected = value!([subject("new-s", "dev"), subject("s", "none")]);
    assert_eq!(repaired(list).unwrap()[2].get("subjects"), Some(&expected));
    // From outside of namespaces the first namespace counts if anything was in it.
    let list = vec![
        account("a", "prod"),
        account("prod", "dev"),
        binding("ClusterRoleBinding", "", "Role", value!([subject("s", "prod"), subject("s", "dev")])),
    ];
    let expected = value!([subject("new-s", "dev"), subject("new-s", "dev")]);
    assert_eq!(repaired(list).unwrap()[2].get("subjects"), Some(&expected));
}

#[test]
fn subjects_have_to_be_whole() {
    let error =
        repaired(vec![binding("ClusterRoleBinding", "", "Role", value!([{"kind": "User"}]))]).unwrap_err();
    assert!(error.ends_with("path config error; no 'name' field in node"), "{error}");
    let blank = value!([{"kind": "ServiceAccount", "name": "s", "namespace": null}]);
    let error = repaired(vec![binding("RoleBinding", "", "Role", blank)]).unwrap_err();
    assert!(error.starts_with("Invalid Input: namespace is blank for resource"), "{error}");
}

#[test]
fn names_in_a_list_are_repaired_one_by_one() {
    let role = with(
        resource(RBAC, "ClusterRole", "", "r"),
        &["rules"],
        value!([{"resourceNames": ["c", "d"]}, {"resourceNames": null}, {}]),
    );
    let done = repaired(vec![renamed("v1", "ConfigMap", "x", "c", "c-new"), role]).unwrap();
    assert_eq!(
        done[1].get("rules"),
        Some(&value!([{"resourceNames": ["c-new", "d"]}, {"resourceNames": null}, {}]))
    );
}

#[test]
fn a_resource_may_refer_to_itself() {
    let config = Config::with_files([
        b"nameReference: [{kind: Foo, fieldSpecs: [{kind: Foo, path: metadata/annotations/self}]}]"
            .as_slice(),
    ])
    .unwrap();
    let foo = with(renamed("v1", "Foo", "", "x", "p-x"), &["metadata", "annotations"], value!({"self": "x"}));
    let mut resources = Resources { list: vec![foo] };
    repair(&mut resources, &config, &is_cluster_scoped).unwrap();
    assert_eq!(resources.list[0].value.str_at(&["metadata", "annotations", "self"]), Some("p-x"));
}

#[test]
fn webhooks_get_the_namespace_of_their_service() {
    let service = with(renamed("v1", "Service", "", "s", "p-s"), &["metadata", "namespace"], value!("prod"));
    let hook = with(
        resource("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "w"),
        &["webhooks"],
        value!([{"clientConfig": {"service": {"name": "s", "namespace": "default"}}}]),
    );
    let done = repaired(vec![service, hook]).unwrap();
    let expected = value!([{"clientConfig": {"service": {"name": "p-s", "namespace": "prod"}}}]);
    assert_eq!(done[1].get("webhooks"), Some(&expected));
}
