//! Webhooks that the stage plays.

use super::*;
use crate::stage::Stage;

fn chain(webhooks: &str) -> Chain {
    let text = format!("apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\nwebhooks:\n{webhooks}");
    Chain::declaring(Stage::read("stage.yaml", &text).unwrap().webhooks)
}

const CLIENT: &str = "{name: guard, namespace: policies, path: /check}";

fn guarded(kind: &str, changes: Value) -> Shelf {
    let client = lynceus_object::yaml::parse_str(CLIENT).unwrap();
    let mut all = value!({"clientConfig": {"service": client}});
    for (field, change) in changes.as_map().unwrap().iter() {
        all.set(&[field], change.clone());
    }
    Shelf::default().hook(kind, "", all)
}

async fn answer(webhooks: &str, view: Shelf) -> String {
    let object = config_map();
    match chain(webhooks).validate(&view, &admission(Operation::Create), Some(&object), None).await {
        Ok(warnings) => format!("fine {warnings:?}"),
        Err(error) => format!("{} {}", error.code, error.message),
    }
}

const FAILED: &str = "500 Internal error occurred: failed calling webhook \"hook.example.com\": failed to call webhook: Post \
                      \"https://guard.policies.svc:443/check?timeout=10s\"";

#[tokio::test]
async fn a_stage_answers_for_a_webhook_by_its_configuration_or_its_service() {
    let denied = "403 admission webhook \"hook.example.com\" denied the request: k of c is v";
    let rules =
        "rules: [{when: \"object.data.k == 'v'\", deny: 'k of ${object.metadata.name} is ${object.data.k}'}]";
    for (who, expected) in [
        ("configuration: conf*", denied.to_owned()),
        ("service: policies/guard", denied.to_owned()),
        ("configuration: config, webhook: hook.*", denied.to_owned()),
        ("configuration: config, webhook: other", format!("{FAILED}: service \"guard\" not found")),
        ("configuration: other", format!("{FAILED}: service \"guard\" not found")),
        ("service: policies/other", format!("{FAILED}: service \"guard\" not found")),
    ] {
        let found = answer(&format!("- {{{who}, {rules}}}"), guarded(VALIDATING, value!({}))).await;
        assert_eq!(found, expected, "{who}");
    }
}

#[tokio::test]
async fn the_first_rule_that_holds_counts() {
    for (rules, expected) in [
        ("{when: 'false', deny: never}", "fine []".to_owned()),
        ("{when: request.operation == 'CREATE', allow: true, warn: ['hello ${request.userInfo.username}']}, {deny: never}", "fine [\"hello alice\"]".to_owned()),
        ("{deny: first}, {deny: second}", "403 admission webhook \"hook.example.com\" denied the request: first".to_owned()),
        ("{fails: connection refused}", format!("{FAILED}: dial tcp guard.policies.svc:443: connect: connection refused")),
        ("{fails: timeout}", format!("{FAILED}: context deadline exceeded")),
        ("{fails: EOF}", format!("{FAILED}: EOF")),
        ("{when: object.data.gone == '', deny: never}", "500 Internal error occurred: failed calling webhook \"hook.example.com\": failed to call webhook: no such key: gone".to_owned()),
    ] {
        let webhooks = format!("- {{configuration: config, rules: [{rules}]}}");
        assert_eq!(answer(&webhooks, guarded(VALIDATING, value!({}))).await, expected, "{rules}");
    }
    let broken = "- {configuration: config, rules: [{fails: timeout}]}";
    assert_eq!(answer(broken, guarded(VALIDATING, value!({"failurePolicy": "Ignore"}))).await, "fine []");
}

#[tokio::test]
async fn an_injector_is_played_by_a_patch() {
    let webhooks = "- {configuration: config, rules: [{patch: [{op: add, path: /data/new, value: '${object.data.k}!'}]}]}";
    let view = guarded("MutatingWebhookConfiguration", value!({}));
    let mut object = config_map();
    let (chain, admission) = (chain(webhooks), admission(Operation::Create));
    chain.mutate(&view, &admission, TypeRef::untyped(), &mut object, None).await.unwrap();
    assert_eq!(object.at(&["data"]), Some(&value!({"k": "v", "new": "v!"})));
}

#[tokio::test]
async fn who_stands_for_a_program_answers_while_it_runs() {
    let webhooks = "- {configuration: config, image: '*/guard:*', rules: [{deny: never}]}";
    let pod = |ready: &str| {
        value!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guard", "namespace": "policies"},
            "spec": {"containers": [{"name": "a", "image": "e.com/guard:v1"}]},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    };
    let view = |ready: &str| {
        let service = value!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "guard", "namespace": "policies"},
            "spec": {"ports": [{"port": 443}]}});
        guarded(VALIDATING, value!({})).with(pod(ready)).with(service)
    };
    assert_eq!(
        answer(webhooks, view("True")).await,
        "403 admission webhook \"hook.example.com\" denied the request: never"
    );
    let missing = format!("{FAILED}: no endpoints available for service \"guard\"");
    assert_eq!(answer(webhooks, view("False")).await, missing);
    // No container ever runs: nobody else would answer there either.
    let endpoints = value!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "guard", "namespace": "policies"},
        "subsets": [{"addresses": [{"ip": "10.244.0.7", "targetRef": {"kind": "Pod"}}], "ports": [{"port": 9443}]}]});
    let refused = format!("{FAILED}: dial tcp 10.244.0.7:9443: connect: connection refused");
    assert_eq!(answer(webhooks, view("False").with(endpoints)).await, refused);
}
