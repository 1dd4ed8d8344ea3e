use jiff::Timestamp;
use lynceus_object::{Object, yaml};

use super::*;

fn object(text: &str) -> Object {
    Object::new(yaml::parse_str(text).unwrap()).unwrap()
}

fn read(text: &str) -> (Customizations, Vec<String>) {
    let (read, errors) = Customizations::read(&object(text));
    (read, errors.iter().map(ToString::to_string).collect())
}

/// The health of an object of a kind, as `Status message`.
fn health(settings: &Customizations, api_version: &str, kind: &str) -> String {
    let thing = object(&format!("{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x}}}}"));
    match settings.assess(&thing, &World::at(Timestamp::UNIX_EPOCH)) {
        Some(health) => format!("{} {}", health.status, health.message),
        None => "none".to_owned(),
    }
}

#[test]
fn both_forms_of_keys_are_read() {
    let (settings, errors) = read(
        r#"
        kind: ConfigMap
        data:
          resource.customizations: |
            example.com/Thing:
              health.lua: |
                return {status = "Healthy", message = "by the map"}
            example.com/Open:
              health.lua.useOpenLibs: true
              health.lua: |
                return {status = "Healthy", message = string.upper("open")}
          resource.customizations.health.example.com_Other: |
            return {status = "Degraded", message = "by the key"}
          resource.customizations.health.example.com_Text: |
            return {status = "Healthy", message = string.upper("open")}
          resource.customizations.useOpenLibs.example.com_Text: "true"
          resource.customizations.health.Pod: return {status = "Suspended", message = "a pod"}
          resource.customizations.ignoreDifferences.all: "{}"
        "#,
    );
    assert_eq!(errors, [""; 0]);
    assert_eq!(health(&settings, "example.com/v1", "Thing"), "Healthy by the map");
    assert_eq!(health(&settings, "example.com/v1", "Open"), "Healthy OPEN");
    assert_eq!(health(&settings, "example.com/v1", "Other"), "Degraded by the key");
    assert_eq!(health(&settings, "example.com/v1", "Text"), "Healthy OPEN");
    // A user's check comes before the one that is built in.
    assert_eq!(health(&settings, "v1", "Pod"), "Suspended a pod");
    assert_eq!(health(&settings, "example.com/v1", "Unheard"), "none");
}

#[test]
fn an_exact_key_comes_before_a_wildcard_and_a_long_one_before_a_short_one() {
    let (settings, errors) = read(
        r#"
        data:
          resource.customizations: |
            "*.example.com/*": {health.lua: 'return {status = "Healthy", message = "wide"}'}
            "*.db.example.com/*": {health.lua: 'return {status = "Healthy", message = "narrow"}'}
            a.db.example.com/Exact: {health.lua: 'return {status = "Healthy", message = "exact"}'}
            a.db.example.com/Other: {ignoreDifferences: ""}
        "#,
    );
    assert_eq!(errors, [""; 0]);
    assert_eq!(health(&settings, "a.db.example.com/v1", "Exact"), "Healthy exact");
    // A key without a check does not hide the wildcard.
    assert_eq!(health(&settings, "a.db.example.com/v1", "Other"), "Healthy narrow");
    assert_eq!(health(&settings, "a.example.com/v1", "Thing"), "Healthy wide");
    assert_eq!(health(&settings, "example.com/v1", "Thing"), "none");
}

#[test]
fn an_underscore_is_no_wildcard() {
    let (settings, errors) = read(
        "data: {resource.customizations.health.a_b_c: x, resource.customizations.health.example.com__: x}",
    );
    assert!(
        errors[0].contains("resource.customizations.health.a_b_c: does not end with a kind"),
        "{errors:?}"
    );
    assert_eq!(health(&settings, "example.com/v1", "Thing"), "none");
}

#[test]
fn all_is_every_kind() {
    let (settings, _) = read(
        "data: {resource.customizations.health.all: 'return {status = \"Healthy\", message = \"all\"}'}",
    );
    assert_eq!(health(&settings, "example.com/v1", "Thing"), "Healthy all");
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_stands() {
    let (settings, errors) = read(
        r#"
        data:
          resource.customizations: |
            example.com/Broken: {health.lua: "if then"}
            example.com/Odd: 3
          resource.customizations.colour.Pod: blue
          resource.customizations.useOpenLibs.Pod: perhaps
          resource.customizations.actions.Job: "- 1"
          resource.customizations.health.example.com_Fine: return {status = "Healthy"}
        "#,
    );
    let expected = [
        "resource.customizations: example.com/Odd: is no map",
        "resource.customizations.colour.Pod: there is no customization \"colour\"",
        "resource.customizations.useOpenLibs.Pod: \"perhaps\" is neither true nor false",
        "Job: actions: is a array, not a map",
        "example.com/Broken: health.lua: <string>:1: unexpected symbol near 'then'",
    ];
    assert_eq!(errors, expected);
    assert_eq!(health(&settings, "example.com/v1", "Fine"), "Healthy ");
    let broken = health(&settings, "example.com/v1", "Broken");
    assert_eq!(broken, "Unknown <string>:1: unexpected symbol near 'then'");
}

#[test]
fn a_script_that_fails_makes_the_health_unknown() {
    let (settings, _) = read(
        r#"
        data:
          resource.customizations: |
            example.com/Nil: {health.lua: "return {status = obj.status.phase}"}
            example.com/Word: {health.lua: "return {status = 'Splendid'}"}
            example.com/Silent: {health.lua: "return {}"}
            example.com/Loop: {health.lua: "while true do end"}
        "#,
    );
    let of = |kind| health(&settings, "example.com/v1", kind);
    assert_eq!(of("Nil"), "Unknown <string>:1: attempt to index field 'status' (a nil value)");
    assert_eq!(of("Word"), "Unknown Lua returned an invalid health status");
    assert_eq!(of("Silent"), "none");
    assert_eq!(of("Loop"), "Unknown <string>:1: the script takes more than 20000000 instructions");
}

#[test]
fn the_resource_of_openshift_is_read() {
    let (settings, errors) = read(
        r#"
        apiVersion: argoproj.io/v1beta1
        kind: ArgoCD
        spec:
          resourceHealthChecks:
          - {group: example.com, kind: Thing, check: 'return {status = "Healthy", message = "operator"}'}
          - {kind: Pod, check: 'return {status = "Healthy", message = "core"}'}
          - {group: example.com, check: x}
          extraConfig:
            resource.customizations.health.example.com_More: return {status = "Healthy", message = "more"}
        "#,
    );
    let kindless = "resource.customizations.health.example.com_";
    assert_eq!(errors, [format!("{kindless}: does not end with a kind as group_Kind or Kind")]);
    assert_eq!(health(&settings, "example.com/v1", "Thing"), "Healthy operator");
    assert_eq!(health(&settings, "v1", "Pod"), "Healthy core");
    assert_eq!(health(&settings, "example.com/v1", "More"), "Healthy more");
}

#[test]
fn what_is_being_deleted_is_not_asked() {
    let (settings, _) = read("data: {resource.customizations.health.Pod: 'return {status = \"Degraded\"}'}");
    let pod = object("{apiVersion: v1, kind: Pod, metadata: {deletionTimestamp: '2024-01-01T00:00:00Z'}}");
    let world = World::at(Timestamp::UNIX_EPOCH);
    assert_eq!(settings.assess(&pod, &world).unwrap().message, "Pending deletion");
    assert_eq!(settings.check(&pod, &world).unwrap().status, HealthStatusCode::Degraded);
}

#[test]
fn a_script_that_always_runs_into_its_limits_is_given_up() {
    let (settings, _) = read("data: {resource.customizations.health.Pod: 'while true do end'}");
    for _ in 0..3 {
        assert!(health(&settings, "v1", "Pod").contains("more than 20000000 instructions"));
    }
    assert!(health(&settings, "v1", "Pod").contains("is not run again until it is changed"));
}
