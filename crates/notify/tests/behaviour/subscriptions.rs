//! Who listens to what.

use lynceus_notify::Config;
use lynceus_object::Object;

use crate::{application, config, parse};

fn settings() -> Config {
    config(
        r#"
defaultTriggers: "[on-a, on-b]"
defaultTriggers.email: "[on-mail]"
subscriptions: |
  - {recipients: ["slack:everyone", "hook"], triggers: [on-global]}
  - {recipients: ["slack:defaults"]}
  - {recipients: ["slack:blue"], selector: team=blue, triggers: [on-global]}
"#,
        "{}",
    )
}

fn listening(application: &str, project: &str) -> String {
    let object = |annotations: &str| {
        let mut object = self::application();
        object.set(&["metadata", "annotations"], parse(annotations));
        object
    };
    let project = Object::new(object(project).into_value()).ok();
    let found = settings().destinations(&object(application), project.as_ref());
    let lines = found.of_triggers.iter().map(|(trigger, to)| {
        let to: Vec<String> = to.iter().map(|to| format!("{}:{}", to.service, to.recipient)).collect();
        format!("{trigger} -> {}", to.join(" "))
    });
    let faults = found.faults.iter().map(ToString::to_string);
    lines.chain(faults).collect::<Vec<_>>().join("\n")
}

const GLOBAL: &str = "on-a -> slack:defaults\non-b -> slack:defaults\non-global -> slack:everyone hook:";

#[test]
fn the_configuration_subscribes_by_labels() {
    assert_eq!(listening("{}", "{}"), GLOBAL);
}

#[test]
fn annotations_subscribe_to_one_trigger_or_to_the_default_ones() {
    let found = listening(
        r#"{"notifications.argoproj.io/subscribe.on-c.slack": " x ; y;;",
            "notifications.argoproj.io/subscribe.slack": "z",
            "notifications.argoproj.io/subscribe..teams": "t",
            "notifications.argoproj.io/subscribe.email": "a@b.c",
            "notifications.argoproj.io/subscribe.on-d.hook": ""}"#,
        "{}",
    );
    assert_eq!(
        found,
        "on-a -> slack:defaults teams:t slack:z\non-b -> slack:defaults teams:t slack:z\non-c -> slack:x slack:y\n\
         on-d -> hook:\non-global -> slack:everyone hook:\non-mail -> email:a@b.c"
    );
}

#[test]
fn projects_subscribe_too_and_nobody_is_told_twice() {
    let same = r#"{"notifications.argoproj.io/subscribe.on-c.slack": "x"}"#;
    assert_eq!(
        listening(same, same),
        format!(
            "on-a -> slack:defaults\non-b -> slack:defaults\non-c -> slack:x\non-global -> slack:everyone hook:"
        )
    );
}

#[test]
fn a_list_of_subscriptions_is_read() {
    let list = r#"
notifications.argoproj.io/subscriptions: |
  - trigger: [on-x, on-y]
    destinations:
    - {service: slack, recipients: [a, b]}
    - {service: email, recipients: [c@d]}
  - destinations:
    - {service: teams, recipients: [e]}
  - trigger: [on-z]
notifications.argoproj.io/subscriptions.broken: "{{"
"#;
    assert_eq!(
        listening(list, "{}"),
        "on-a -> slack:defaults teams:e\non-b -> slack:defaults teams:e\non-global -> slack:everyone hook:\n\
         on-x -> slack:a slack:b email:c@d\non-y -> slack:a slack:b email:c@d\n\
         notifications.argoproj.io/subscriptions: number 3 is left out: it has no destinations, so nobody is told\n\
         notifications.argoproj.io/subscriptions.broken: yaml: line 1: did not find expected node content"
    );
}

#[test]
fn a_subscription_that_cannot_be_read_is_told() {
    let told = |text: &str| {
        let found = listening(&format!("notifications.argoproj.io/subscriptions: \"{text}\""), "{}");
        found.lines().last().unwrap_or_default().to_owned()
    };
    let place = "notifications.argoproj.io/subscriptions";
    assert_eq!(told("on-x"), format!("{place}: this has to be a list of trigger and destinations"));
    let left = |why: &str| format!("{place}: number 1 is left out: {why}");
    assert_eq!(told("[{trigger: {a: b}}]"), left("trigger: this has to be a list, not object"));
    assert_eq!(told("[on-x]"), left("it has to be a map of trigger and destinations, not string"));
    assert_eq!(
        told("[{destinations: {service: slack, recipients: [a]}}]"),
        left("destinations has to be a list, not object")
    );
    assert_eq!(told("[{destinations: [{recipients: [a]}]}]"), left("a destination has no service"));
    assert_eq!(
        told("[{destinations: [{service: slack, recipients: a}]}]"),
        left("recipients: this has to be a list, not string")
    );
    assert_eq!(
        told("[{destinations: [{service: hook}]}]"),
        left("the destination hook has no recipients; write [\"\"] for a service that needs none")
    );
}

/// Argo CD goes on with what it understood of an item: with a trigger that is no list it subscribes to the default ones, which
/// nobody has asked for.
#[test]
fn a_wrong_item_is_left_out_as_a_whole_and_the_others_count() {
    let list = r#"
notifications.argoproj.io/subscriptions: |
  - {trigger: on-x, destinations: [{service: slack, recipients: [a]}]}
  - {trigger: [on-y], destinations: [{service: slack, recipients: [b]}]}
"#;
    assert_eq!(
        listening(list, "{}"),
        "on-a -> slack:defaults\non-b -> slack:defaults\non-global -> slack:everyone hook:\non-y -> slack:b\n\
         notifications.argoproj.io/subscriptions: number 1 is left out: trigger: this has to be a list, not string"
    );
}

#[test]
fn annotations_of_old_still_count() {
    let old = r#"{"recipients.argocd-notifications.argoproj.io": "slack:a, email:b@c",
                  "on-x.recipients.argocd-notifications.argoproj.io": "slack:d"}"#;
    assert_eq!(
        listening("{}", old),
        "on-a -> slack:defaults slack:a\non-b -> slack:defaults slack:a\non-global -> slack:everyone hook:\n\
         on-mail -> email:b@c\non-x -> slack:d"
    );
}
