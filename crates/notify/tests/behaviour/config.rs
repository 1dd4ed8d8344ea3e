//! Reading a configuration.

use lynceus_notify::{Config, Service, Sources, Templates, Triggers};
use lynceus_object::json;

use crate::{config, faults, parse};

#[test]
fn every_key_is_read() {
    let config = config(
        r#"
trigger.on-x: |
  - when: app.status.health.status == 'Degraded'
    oncePer: app.status.sync.revision
    description: what it is about
    send: [a, b]
trigger.on-created: |
  - when: true
    send: [a]
template.a: |
  message: hello
template.with.dots: |
  message: hello
service.slack: |
  token: $slack-token
service.webhook.build: |
  url: https://$user:$pass@host/$missing
context: |
  argocdUrl: https://argocd.example
  number: 5
defaultTriggers: |
  - on-x
defaultTriggers.slack: |
  - on-created
subscriptions: |
  - recipients: [slack:general]
    triggers: [on-x]
    selector: team=red
  - recipients: [slack:other]
    selector: '((('
unknown: ignored
"#,
        "{slack-token: xoxb-secret, user: me, pass: word}",
    );
    assert_eq!(config.triggers.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["on-created", "on-x"]);
    assert_eq!(config.triggers["on-created"][0].when, "true");
    assert_eq!(config.triggers["on-x"][0].send, ["a", "b"]);
    assert_eq!(config.templates.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["a", "with.dots"]);
    assert_eq!(config.services["slack"].options.str_at(&["token"]), Some("xoxb-secret"));
    let webhook = &config.services["build"];
    assert_eq!(webhook.kind, "webhook");
    assert_eq!(webhook.options.str_at(&["url"]), Some("https://me:word@host/$missing"));
    assert_eq!(config.context["number"], "5");
    assert_eq!(config.default_triggers, ["on-x"]);
    assert_eq!(config.service_default_triggers["slack"], ["on-created"]);
    assert_eq!(config.subscriptions.len(), 1);
    let told = faults(&config);
    assert!(told.contains("service.webhook.build: $missing is not in the Secret"), "{told}");
    assert!(told.contains("subscriptions: number 2: selector \"(((\""), "{told}");
}

#[test]
fn what_is_wrong_does_not_stop_the_rest_and_tells_no_secret() {
    let config = config(
        r#"
trigger.broken: "when: not a list"
trigger.good: |
  - {when: "true", send: [good]}
template.broken: "- a\n- b"
service.a.b.c: "token: $token"
service.slack: "token: [$token"
"#,
        "{token: very-secret}",
    );
    assert!(config.triggers.contains_key("good"));
    assert_eq!(
        config.faults.iter().map(|fault| fault.place.as_str()).collect::<Vec<_>>(),
        ["service.a.b.c", "service.slack", "template.broken", "trigger.broken"]
    );
    assert!(!faults(&config).contains("very-secret"));
}

#[test]
fn a_secret_that_cannot_be_read_is_told_by_its_key() {
    let secret = parse(
        "{data: {good: dG9rZW4=, bad: 'very secret', number: 5}, stringData: {list: [very secret], plain: p, count: 5}}",
    );
    let config_map =
        parse("data: {service.slack: 'token: $bad', service.webhook.x: 'url: $good$plain$count'}");
    let config =
        Config::read(Sources { config_map: Some(&config_map), secret: Some(&secret), self_service: None });
    let what = "is not in base64, so";
    let todo = "is not known; encode it, or move it to stringData";
    assert_eq!(
        faults(&config),
        format!(
            "argocd-notifications-secret: data.bad {what} $bad {todo}\n\
             argocd-notifications-secret: data.number {what} $number {todo}\n\
             argocd-notifications-secret: stringData.list: this has to be a text, not array\n\
             service.slack: $bad is not in the Secret; add it, or it is sent as it stands"
        )
    );
    assert_eq!(config.services["x"].options.str_at(&["url"]), Some("tokenp5"));
}

#[test]
fn expressions_and_templates_that_cannot_be_read_are_told_with_their_place() {
    let config = config(
        r#"
trigger.on-x: |
  - {when: "app.status.", send: [a]}
  - {when: "true", oncePer: "1 +", send: [a]}
template.a: |
  message: "{{.app"
  email: {subject: "{{nope}}"}
"#,
        "{}",
    );
    let (_, triggers) = Triggers::new(&config);
    let (_, templates) = Templates::new(&config);
    let told: Vec<String> = triggers.iter().chain(&templates).map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "trigger.on-x: app.status.: column 12: the expression ends too early",
            "trigger.on-x: 1 +: column 4: the expression ends too early",
            "template.a: template: a:1: function \"nope\" not defined",
            "template.a: template: a:1: unclosed action",
        ]
    );
}

#[test]
fn the_configuration_of_old_is_still_understood() {
    let config = config(
        r#"
config.yaml: |
  triggers:
  - {name: on-sync, condition: app.status.sync.status == 'Synced', template: t, enabled: true}
  templates:
  - {name: t, subject: the subject, body: the body, slack: {attachments: "[]"}}
  context: {argocdUrl: https://old}
  subscriptions:
  - {recipients: [slack:old]}
"#,
        "notifiers.yaml: |\n  slack: {token: abc}\n  webhook:\n  - {name: hook, url: https://hook}\n",
    );
    assert_eq!(faults(&config), "");
    assert_eq!(config.default_triggers, ["on-sync"]);
    assert_eq!(config.triggers["on-sync"][0].send, ["t"]);
    let template = &config.templates["t"];
    assert_eq!(
        json::to_string(template),
        r#"{"email":{"subject":"the subject"},"message":"the body","slack":{"attachments":"[]"}}"#
    );
    assert_eq!(config.services["hook"].kind, "webhook");
    assert_eq!(config.services["slack"].options.str_at(&["token"]), Some("abc"));
    assert_eq!(config.context["argocdUrl"], "https://old");
}

#[test]
fn nothing_at_all_is_a_configuration_too() {
    let config = Config::read(Sources::default());
    assert!(config.triggers.is_empty() && config.faults.is_empty());
}

#[test]
fn an_unknown_kind_of_service_is_told() {
    let config = config("service.pigeon: '{}'", "{}");
    let error = Service::new(&config.services["pigeon"]).err().unwrap();
    assert!(
        error.starts_with("services of the kind pigeon are not supported; these are: alertmanager"),
        "{error}"
    );
    assert!(parse("{}").is_empty());
}
