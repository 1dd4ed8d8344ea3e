//! Filling templates.

use lynceus_notify::{Commit, Destination, Render, Templates};
use lynceus_object::{json, value};

use crate::{World, config, now, random};

fn filled(data: &str, wanted: &[&str], world: &World) -> String {
    let config = config(data, "{token: very-secret}");
    let (templates, _) = Templates::new(&config);
    let wanted: Vec<_> = wanted.iter().map(|name| (*name).into()).collect();
    let mut subject = world.subject();
    subject.secrets = Some(&config.secrets);
    match templates.fill(&wanted, subject, &Destination::parse("slack:general"), now(), &mut random) {
        Ok(Render::Filled(notification)) => json::to_string(&notification.to_value()),
        Ok(Render::Needs(needs)) => format!("needs {needs:?}"),
        Err(fault) => format!("fault {fault}"),
    }
}

#[test]
fn every_text_of_a_template_is_filled() {
    let data = r#"
template.a: |
  message: "{{.app.metadata.name}} to {{.recipient}} by {{.serviceType}} and {{.context.notificationType}}"
  email: {subject: "{{.app.status.health.status | lower}} {{.context.argocdUrl}}"}
  slack: {notifyBroadcast: true, attachments: '[{"text": {{(index .app.status.conditions 0).message | toJson}}}]'}
  opsgenie: {tags: ["{{.app.spec.project}}"], details: {a: "{{.app.nope}}"}}
"#;
    assert_eq!(
        filled(data, &["a"], &World::new()),
        r#"{"email":{"subject":"degraded https://lynceus.example"},"message":"shop to general by slack and slack","opsgenie":{"details":{"a":"<no value>"},"tags":["default"]},"slack":{"attachments":"[{\"text\": \"a \\\"quoted\\\" message\"}]","notifyBroadcast":true}}"#
    );
}

#[test]
fn a_later_template_goes_before_an_earlier_one() {
    let data = r#"
template.a: '{message: one, email: {subject: one, body: kept}}'
template.b: '{message: two, email: {subject: two, body: ""}}'
"#;
    assert_eq!(
        filled(data, &["a", "b"], &World::new()),
        r#"{"email":{"body":"kept","subject":"two"},"message":"two"}"#
    );
    assert_eq!(filled(data, &["a", "c"], &World::new()), "fault template.c: there is no such template");
}

#[test]
fn functions_of_the_environment_are_called() {
    let data = r#"
template.a: |
  message: |-
    {{(call .time.Parse .app.status.operationState.startedAt).Local.Format "15:04"}} {{call .strings.ToUpper "x"}} {{call .repo.FullNameByRepoURL .app.spec.source.repoURL}} {{call .repo.QueryEscape "a b"}} {{(call .time.Now).Year}} {{call .sync.GetInfoItem .app "reason"}}
"#;
    let mut world = World::new();
    let info = value!([{"name": "reason", "value": "because"}]);
    world.application.set(&["status", "operationState", "operation", "info"], info);
    assert_eq!(filled(data, &["a"], &world), r#"{"message":"02:59 X example/shop a+b 2026 because"}"#);
}

#[test]
fn a_commit_is_asked_for_and_then_told() {
    let data = r#"
template.a: |
  message: "{{with call .repo.GetCommitMetadata .app.status.sync.revision}}{{.Author}}: {{.Message}} {{.Date.Year}} {{.Tags}}{{end}}"
template.b: |
  message: "{{(call .repo.GetAppDetails).Helm.GetParameterValueByName \"image.tag\"}} {{(call .repo.GetAppDetails).Type}}"
"#;
    let mut world = World::new();
    assert_eq!(filled(data, &["a"], &world), "needs [Commit(\"abc123\")]");
    assert_eq!(filled(data, &["b"], &world), "needs [Details]");
    let commit = Commit { message: "fix".into(), author: "Eve".into(), date: now(), tags: vec!["v1".into()] };
    world.facts.commits.insert("abc123".into(), Ok(commit));
    let helm = value!({"type": "Helm", "helm": {"parameters": [{"name": "image.tag", "value": "v2"}]}});
    world.facts.details = Some(Ok(helm));
    assert_eq!(filled(data, &["a"], &world), r#"{"message":"Eve: fix 2026 [v1]"}"#);
    assert_eq!(filled(data, &["b"], &world), r#"{"message":"v2 Helm"}"#);
}

#[test]
fn parts_have_the_fields_that_nobody_wrote() {
    let data = r#"
template.a: '{github: {status: {state: success}}, alertmanager: {labels: {severity: low}}}'
"#;
    assert_eq!(
        filled(data, &["a"], &World::new()),
        r#"{"alertmanager":{"generatorURL":"https://github.com/example/shop.git","labels":{"alertname":"a","severity":"low"}},"github":{"repoURLPath":"https://github.com/example/shop.git","revisionPath":"abc123","status":{"state":"success"}}}"#
    );
}

#[test]
fn secrets_can_be_told_where_somebody_wants_it() {
    let data = r#"template.a: 'message: "{{ .secrets.token | toString }}"'"#;
    assert_eq!(filled(data, &["a"], &World::new()), r#"{"message":"very-secret"}"#);
}

#[test]
fn a_template_that_never_ends_is_stopped() {
    let endless =
        "template.a: |\n  message: '{{define \"x\"}}{{template \"x\" .}}{{end}}{{template \"x\" .}}'\n";
    let told = filled(endless, &["a"], &World::new());
    assert!(
        told.starts_with("fault template.a: ") && told.contains("exceeded maximum template depth"),
        "{told}"
    );
    let long = "template.a: |\n  message: '{{range until 1000}}{{range until 1000}}{{range until 1000}}x{{end}}{{end}}{{end}}'\n";
    let told = filled(long, &["a"], &World::new());
    assert!(told.contains("more than"), "{told}");
    let large = "template.a: |\n  message: '{{repeat 5000000 \"x\"}}'\n";
    assert!(filled(large, &["a"], &World::new()).contains("the message has more than 4194304 bytes"));
    let environment = "template.a: |\n  message: '{{env \"HOME\"}}{{expandenv \"$HOME\"}}'\n";
    assert!(filled(environment, &["a"], &World::new()).contains("function \"env\" not defined"));
    let lookup = "template.a: |\n  message: '{{getHostByName \"localhost\"}}'\n";
    assert!(filled(lookup, &["a"], &World::new()).contains("function \"getHostByName\" not defined"));
}
