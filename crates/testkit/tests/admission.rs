//! What the cluster's own admission refuses and fills in: Pod Security levels, quotas, limit ranges, policies.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::Reason;
use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, automated, config_map, deployment, once};
use lynceus_testkit::world::World;

/// The reasons of the application, a line each.
fn told(world: &World) -> String {
    Reason::of(&world.application("shop").metadata).iter().map(ToString::to_string).collect()
}

/// A world with the namespace `shelter`, and what rules over it.
async fn sheltered(labels: &str, rule: &str) -> World {
    let world = World::new().await;
    world
        .apply(&format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: shelter, labels: {{{labels}}}}}\n"
        ))
        .await;
    if !rule.is_empty() {
        world.apply(rule).await;
    }
    // A real API server takes a moment to know new rules, and its controllers to count.
    world.pass(jiff::SignedDuration::from_secs(2)).await;
    world
}

/// A policy, with `shelter` as the place that is delivered to.
fn to_shelter(policy: Value) -> Value {
    let place = value!({"destination": {"namespace": "shelter"}});
    lynceus_object::patch::merge(&policy, &place).unwrap()
}

/// What the controllers told of their failures to make pods, with the ends of names cut off.
async fn failures(world: &World) -> Vec<String> {
    let path = "/api/v1/namespaces/shelter/events?fieldSelector=reason=FailedCreate";
    let (_, list) = world.ask("GET", path, "application/json", &Value::Null).await;
    let said = list.items_at(&["items"]).iter().filter_map(|event| event.str_at(&["message"]));
    let mut lines: Vec<String> = said.map(without_suffix).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// `pods "web-5d4-x7k2m"` as `pods "web-…"`: the end differs from cluster to cluster.
fn without_suffix(text: &str) -> String {
    match text.split_once("pods \"web-").and_then(|(before, rest)| Some((before, rest.split_once('"')?.1))) {
        Some((before, rest)) => format!("{before}pods \"web-…\"{rest}"),
        None => text.to_owned(),
    }
}

#[tokio::test]
async fn pods_that_the_level_of_their_namespace_forbids_are_told_of() {
    let world = sheltered("pod-security.kubernetes.io/enforce: baseline", "").await;
    let rooted = deployment("web", 0) + "        securityContext: {privileged: true}\n";
    world.commit(&[("app/web.yaml", &rooted)]);
    world.deliver("shop", "app", &to_shelter(automated())).await;
    world.until("the reason", |world| told(world).contains("[PodsRefused]")).await;
    let refusal = "violates PodSecurity \"baseline:latest\": privileged (container \"main\" must not set \
                   securityContext.privileged=true)";
    assert!(told(&world).contains(refusal), "{}", told(&world));
    let event = format!("Error creating: pods \"web-…\" is forbidden: {refusal}");
    assert!(failures(&world).await.contains(&event), "{event}");
    let fixed = deployment("web", 0) + "        securityContext: {privileged: false}\n";
    world.commit(&[("app/web.yaml", &fixed)]);
    world.until("the sync", |world| world.state("shop") == FINE && told(world).is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_quota_that_is_full_keeps_pods_back_until_it_is_raised() {
    let quota = |pods: &str| {
        format!(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: few, namespace: shelter}}\nspec: {{hard: {{pods: \"{pods}\"}}}}\n"
        )
    };
    let world = sheltered("", &quota("1")).await;
    world.commit(&[("app/web.yaml", &deployment("web", 0))]);
    world.deliver("shop", "app", &to_shelter(automated())).await;
    world.until("the reason", |world| told(world).contains("exceeded quota")).await;
    let event = "Error creating: pods \"web-…\" is forbidden: exceeded quota: few, requested: pods=1, used: \
             pods=1, limited: pods=1";
    assert!(failures(&world).await.iter().any(|told| told == event), "{event}");
    let path = "/api/v1/namespaces/shelter/resourcequotas/few";
    let (_, found) = world.ask("GET", path, "application/json", &Value::Null).await;
    assert_eq!(found.str_at(&["status", "used", "pods"]), Some("1"));
    world.apply(&quota("2")).await;
    world.until("the sync", |world| world.state("shop") == FINE && told(world).is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn what_a_limit_range_fills_in_is_no_drift() {
    let range = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: usual, namespace: shelter}\nspec: {limits: [{type: Container, default: {memory: 64Mi}, defaultRequest: {cpu: 10m}}]}\n";
    let world = sheltered("", range).await;
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: [{name: main, image: example/alone:1}]}\n";
    world.commit(&[("app/pod.yaml", pod)]);
    world.deliver("shop", "app", &to_shelter(automated())).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    let pod = world.object("", "Pod", "shelter", "alone").unwrap();
    assert_eq!(
        pod.annotation("kubernetes.io/limit-ranger"),
        Some(
            "LimitRanger plugin set: cpu, memory request for container main; memory limit for container main"
        )
    );
    let container = pod.value().items_at(&["spec", "containers"])[0].clone();
    let filled = value!({"limits": {"memory": "64Mi"}, "requests": {"cpu": "10m", "memory": "64Mi"}});
    assert_eq!(container.get("resources"), Some(&filled));
    world.pass(jiff::SignedDuration::from_secs(10)).await;
    assert_eq!(world.state("shop"), FINE);
    world.end().await;
}

#[tokio::test]
async fn an_object_beyond_the_limits_fails_its_sync_with_the_limit_in_words() {
    let range = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: most, namespace: shelter}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Gi}}]}\n";
    let world = sheltered("", range).await;
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}\n";
    world.commit(&[("app/claim.yaml", claim)]);
    world.deliver("shop", "app", &to_shelter(once())).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    let words = "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi";
    world.until("the words", |world| told(world).contains(words)).await;
    world.end().await;
}

#[tokio::test]
async fn a_policy_that_refuses_is_quoted() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: keys}\nspec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]\n    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shelter}}\n  validations: [{expression: \"object.data.key != 'bad'\", messageExpression: \"'no ' + object.data.key + ' keys here'\"}]\n";
    let binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: keys}\nspec: {policyName: keys, validationActions: [Deny]}\n";
    let world = sheltered("", policy).await;
    world.apply(binding).await;
    world.pass(jiff::SignedDuration::from_secs(2)).await;
    world.commit(&[("app/a.yaml", &config_map("a", "bad"))]);
    world.deliver("shop", "app", &to_shelter(once())).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    let words = "ValidatingAdmissionPolicy 'keys' with binding 'keys' denied request: no bad keys here";
    world.until("the words", |world| told(world).contains(words)).await;
    world.end().await;
}
