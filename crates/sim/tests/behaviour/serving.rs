//! What the API server says of what it serves, and of the policies that it goes by.

use lynceus_object::Object;

use super::cluster::{Cluster, condition, count};

/// A line for an APIService: its name, priorities, and whether it is available.
fn line(service: &Object) -> String {
    let number = |field: &str| service.value().int_at(&["spec", field]).unwrap_or_default();
    let available = condition(service, "Available");
    format!("{} {} {} {available}", service.name(), number("groupPriorityMinimum"), number("versionPriority"))
}

#[tokio::test]
async fn every_version_that_is_served_has_an_api_service() {
    let cluster = Cluster::start().await;
    let available = "True Local: Local APIServices are always available";
    let of = |name: &str| line(&cluster.get("apiservices.apiregistration.k8s.io", name));
    for (name, priorities) in [
        ("v1.", "18000 1"),
        ("v1.apps", "17800 15"),
        ("v2.autoscaling", "17500 30"),
        ("v1.autoscaling", "17500 15"),
        ("v1.resource.k8s.io", "16200 21"),
    ] {
        assert_eq!(of(name), format!("{name} {priorities} {available}"));
    }
    assert!(cluster.find("apiservices.apiregistration.k8s.io", "v1.apiregistration.k8s.io").is_none());
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {name: things.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  \
         names: {plural: things, kind: Thing}\n  versions:\n  \
         - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n  \
         - {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}\n";
    cluster.apply(definition).await;
    assert_eq!(of("v1.example.com"), format!("v1.example.com 1000 100 {available}"));
    assert!(cluster.find("apiservices.apiregistration.k8s.io", "v2.example.com").is_none());
    // What is taken away is there again as long as it is served.
    cluster.delete("apiservices.apiregistration.k8s.io", "v1.example.com").await;
    assert_eq!(of("v1.example.com"), format!("v1.example.com 1000 100 {available}"));
    cluster.delete("customresourcedefinitions.apiextensions.k8s.io", "things.example.com").await;
    cluster.pass(1).await;
    assert!(cluster.find("apiservices.apiregistration.k8s.io", "v1.example.com").is_none());
}

#[tokio::test]
async fn an_api_service_behind_a_service_is_available_when_somebody_is_ready_there() {
    let cluster = Cluster::start().await;
    let available = || {
        let service = cluster.get("apiservices.apiregistration.k8s.io", "v1beta1.things.example.com");
        condition(&service, "Available")
    };
    cluster
        .apply(
            "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1beta1.things.example.com}\n\
             spec: {group: things.example.com, version: v1beta1, groupPriorityMinimum: 100, versionPriority: 100, \
             insecureSkipTLSVerify: true, service: {namespace: default, name: things}}\n",
        )
        .await;
    assert_eq!(available(), "False ServiceNotFound: service/things in \"default\" is not present");
    cluster
        .apply(
            "apiVersion: v1\nkind: Service\nmetadata: {name: things}\n\
             spec: {selector: {app: things}, ports: [{name: https, port: 443}]}\n",
        )
        .await;
    let words = "endpointslices for service/things in \"default\" have no addresses with port name \"https\"";
    assert_eq!(available(), format!("False MissingEndpoints: {words}"));
    cluster
        .apply(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: things, labels: {app: things}}\n\
             spec: {containers: [{name: main, image: things}]}\n",
        )
        .await;
    cluster.pass(5).await;
    assert_eq!(available(), "True Passed: all checks passed");
}

fn policy(name: &str, expression: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\n\
         spec:\n  matchConstraints:\n    resourceRules:\n    \
         - {{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments, statefulsets]}}\n  \
         variables: [{{name: size, expression: object.spec.replicas}}]\n  \
         validations: [{{expression: {expression:?}}}]\n"
    )
}

#[tokio::test]
async fn a_policy_is_checked_against_the_types_that_it_is_about() {
    let cluster = Cluster::start().await;
    let warned = |name: &str| -> Vec<String> {
        let policy = cluster.get("validatingadmissionpolicies.admissionregistration.k8s.io", name);
        assert_eq!(count(&policy, "observedGeneration"), policy.generation(), "{name}");
        assert!(policy.at(&["status", "typeChecking"]).is_some(), "{name}");
        let warnings = policy.value().items_at(&["status", "typeChecking", "expressionWarnings"]).iter();
        let text =
            |one: &lynceus_object::Value, field: &str| one.str_at(&[field]).unwrap_or_default().to_owned();
        warnings.map(|one| format!("{}: {}", text(one, "fieldRef"), text(one, "warning"))).collect()
    };
    cluster.apply(&policy("fine", "variables.size < 5 && object.metadata.name != request.name")).await;
    assert_eq!(warned("fine"), [""; 0]);
    cluster.apply(&policy("one", "object.spec.serviceName == 'a'")).await;
    let wanted = "spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field \
                  'serviceName'\n | object.spec.serviceName == 'a'\n | ...........^\n";
    assert_eq!(warned("one"), [wanted]);
    cluster.apply(&policy("both", "variables.size == 'a'")).await;
    let said = warned("both").join("");
    assert!(
        said.contains("apps/v1, Kind=Deployment: ERROR: <input>:1:16: found no matching overload"),
        "{said}"
    );
    assert!(
        said.contains("apps/v1, Kind=StatefulSet: ERROR: <input>:1:16: found no matching overload"),
        "{said}"
    );
}
