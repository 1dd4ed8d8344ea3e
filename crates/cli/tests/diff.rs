//! `lynceus diff` as a user types it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use lynceus_object::{Value, json};
use support::Home;

const DESIRED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 1, paused: true}\n";
const LIVE: &str = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "managedFields": [
  {"manager": "hpa", "operation": "Update", "subresource": "scale", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
  "spec": {"replicas": 5, "paused": true}}"#;

/// Writes files and compares two of them: the exit code and what was printed on stdout and stderr.
fn diff(files: &[(&str, &str)], arguments: &[&str]) -> (i32, String, String) {
    let home = Home::new();
    std::fs::create_dir_all(&home.folder).unwrap();
    for (name, text) in files {
        std::fs::write(home.folder.join(name), text).unwrap();
    }
    let given = [&["diff", "--desired", "desired", "--live", "live"], arguments].concat();
    let output = home.run(&given);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn found(files: &[(&str, &str)], arguments: &[&str]) -> (i32, Value) {
    let (code, out, err) = diff(files, &[arguments, &["-o", "json"]].concat());
    (code, json::parse(out.as_bytes()).unwrap_or_else(|_| panic!("{out}{err}")))
}

#[test]
fn a_difference_is_told_with_its_writer_and_ends_with_1() {
    let files = [("desired", DESIRED), ("live", LIVE)];
    let (code, value) = found(&files, &[]);
    assert_eq!(code, 1);
    assert_eq!(value.bool_at(&["modified"]), Some(true));
    assert_eq!(value.int_at(&["normalizedLive", "spec", "replicas"]), Some(5));
    assert_eq!(value.int_at(&["predictedLive", "spec", "replicas"]), Some(1));
    assert_eq!(
        json::to_string(&value.items_at(&["fields"])[0]),
        r#"{"desired":1,"live":5,"manager":"hpa","operation":"Update","origin":"writer","path":".spec.replicas","subresource":"scale","time":"2026-01-01T00:00:00Z"}"#
    );
    let (code, out, _) = diff(&files, &[]);
    assert_eq!(code, 1);
    assert!(out.starts_with("===== apps/Deployment shop/web ======\n"), "{out}");
    assert!(
        out.ends_with(".spec.replicas: written by hpa (Update) at 2026-01-01T00:00:00Z, writer\n"),
        "{out}"
    );
}

#[test]
fn rules_come_from_a_file_or_from_the_text_and_say_what_they_did() {
    let rule = "- {group: apps, kind: Deployment, jsonPointers: [/spec/replicas, /spec/nothing]}";
    let files = [("desired", DESIRED), ("live", LIVE), ("rules.yaml", rule)];
    for given in ["rules.yaml", rule] {
        let (code, value) = found(&files, &["--ignore", given]);
        assert_eq!((code, value.bool_at(&["modified"])), (0, Some(false)), "{given}");
        let rules = value.items_at(&["rules"]);
        assert_eq!(rules[0].int_at(&["fields"]), Some(1));
        assert_eq!(rules[0].get("remark"), None);
        assert_eq!(
            rules[1].str_at(&["remark"]),
            Some("the rule /spec/nothing for apps/Deployment names no field that an object has")
        );
    }
    let (code, out, err) = diff(&files, &["--ignore", rule]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert_eq!(err, "note: the rule /spec/nothing for apps/Deployment names no field that an object has\n");
}

#[test]
fn secrets_are_never_shown() {
    let secret = |word: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations:\n    \
             kubectl.kubernetes.io/last-applied-configuration: '{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"stringData\":{{\"word\":\"{word}\"}}}}'\n\
             stringData: {{word: {word}}}\n"
        )
    };
    let (desired, live) = (secret("hush-one"), secret("hush-two"));
    for output in [&["-o", "json"][..], &[]] {
        let (code, out, err) = diff(&[("desired", &desired), ("live", &live)], output);
        assert_eq!(code, 1, "{err}");
        assert!(out.contains("++++++++") && !out.contains("hush") && !out.contains("aHVza"), "{out}");
    }
}

#[test]
fn an_object_on_one_side_only_is_compared_too() {
    let (code, value) = found(&[("desired", DESIRED), ("live", "")], &[]);
    assert_eq!((code, value.bool_at(&["modified"])), (1, Some(true)));
    assert_eq!(value.get("normalizedLive"), Some(&Value::Null));
    let (code, value) = found(&[("desired", ""), ("live", LIVE)], &[]);
    assert_eq!((code, value.bool_at(&["modified"])), (0, Some(false)));
}

#[test]
fn settings_of_an_installation_are_followed() {
    let config = "apiVersion: v1\nkind: ConfigMap\ndata:\n  resource.customizations.ignoreDifferences.apps_Deployment: |\n    \
                  jsonPointers: [/spec/replicas]\n  resource.compareoptions: 'ignoreResourceStatusField: some'\n";
    let files = [("desired", DESIRED), ("live", LIVE), ("cm.yaml", config)];
    let (code, out, err) = diff(&files, &["--config", "cm.yaml"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("resource.compareoptions.ignoreResourceStatusField"), "{err}");
}

#[test]
fn what_would_be_passed_over_without_a_word_is_told() {
    let misspelled = "[{group: apps, kind: Deployment, jsonPointer: [/spec/replicas]}]";
    let (code, _, told) = diff(&[("desired", DESIRED), ("live", LIVE)], &["--ignore", misspelled]);
    assert_eq!(code, 1);
    assert!(
        told.starts_with("warning: rule 0 has a field \"jsonPointer\"; there are group, kind,"),
        "{told}"
    );
    let two = format!("{DESIRED}---\n{DESIRED}");
    let (code, _, told) = diff(&[("desired", &two), ("live", LIVE)], &[]);
    assert_eq!(code, 2);
    assert!(told.contains("it has more than one object, another begins at line 6"), "{told}");
}

#[test]
fn what_cannot_be_told_ends_with_2() {
    let bad = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{image: a}]}\n";
    for (desired, arguments) in [
        ("{", &[][..]),
        ("[1]", &[]),
        (DESIRED, &["--ignore", "[{kind: x, jqPathExpressions: ['.a[']}]"]),
        (DESIRED, &["--ignore", "no-such-file"]),
        (DESIRED, &["--config", "no-such-file"]),
        (bad, &[]),
    ] {
        let live = if desired == bad { bad } else { LIVE };
        let (code, _, err) = diff(&[("desired", desired), ("live", live)], arguments);
        assert_eq!(code, 2, "{desired} {arguments:?}: {err}");
        assert!(err.starts_with("error: "), "{err}");
    }
}
