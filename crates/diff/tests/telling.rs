//! What a comparison tells beside the verdict: what rules did, who wrote a field, why it could not be told.

#![allow(clippy::expect_used, reason = "a test stops where it cannot go on")]

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{
    ChangeSet, DiffError, Ignore, IgnoreStatus, Pair, Pairs, RuleVerdict, ServerSide, Settings, Verdict,
    compare_all, sides,
};
use lynceus_object::{Object, Str, json, yaml};

fn object(text: &str) -> Object {
    Object::new(yaml::parse_str(text).expect("YAML")).expect("a map")
}

fn compared(desired: &str, live: &str, settings: &Settings) -> ChangeSet {
    let pair = Pair::Both { desired: object(desired), live: object(live) };
    compare_all(Pairs { pairs: vec![pair], hooks: Vec::new() }, settings, &|_| true)
}

fn rules(texts: &[&str]) -> Ignore {
    let rules: Vec<ResourceIgnoreDifferences> = texts
        .iter()
        .map(|text| {
            let value = yaml::parse_str(text).expect("YAML");
            let texts = |field: &str| -> Vec<Str> {
                value.items_at(&[field]).iter().filter_map(|item| item.as_str()).map(Str::from).collect()
            };
            ResourceIgnoreDifferences {
                group: value.str_at(&["group"]).unwrap_or_default().into(),
                kind: value.str_at(&["kind"]).unwrap_or_default().into(),
                name: value.str_at(&["name"]).unwrap_or_default().into(),
                json_pointers: texts("jsonPointers"),
                jq_path_expressions: texts("jqPathExpressions"),
                managed_fields_managers: texts("managedFieldsManagers"),
                ..ResourceIgnoreDifferences::default()
            }
        })
        .collect();
    let (ignore, errors) = Ignore::new(&rules);
    assert!(errors.is_empty(), "{errors:?}");
    ignore
}

const DESIRED: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop}, spec: {replicas: 1, paused: true}}";
const LIVE: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop, managedFields: [{manager: hpa, operation: Update, fieldsType: FieldsV1, apiVersion: apps/v1, time: '2026-01-01T00:00:00Z', fieldsV1: {'f:spec': {'f:replicas': {}}}}]}, spec: {replicas: 5, paused: true}, status: {replicas: 5}}";

/// What each rule did: objects it is for, objects it matched, fields it hid, and the verdict.
fn check_rules(texts: &[&str], desired: &str, live: &str, expect: &[(usize, usize, usize, RuleVerdict)]) {
    let settings = Settings { ignore: rules(texts), ..Settings::default() };
    let found = compared(desired, live, &settings).rules;
    let found: Vec<_> =
        found.iter().map(|rule| (rule.objects, rule.matched, rule.fields, rule.verdict())).collect();
    assert_eq!(found, expect);
}

#[test]
fn every_rule_knows_whether_it_matched() {
    let texts = [
        "{group: apps, kind: Deployment, jsonPointers: [/spec/replicas, /spec/nothing]}",
        "{group: '*', kind: '*', jqPathExpressions: ['.spec | .replicas, .paused']}",
        "{group: apps, kind: Deployment, managedFieldsManagers: [hpa]}",
        "{group: batch, kind: Job, jsonPointers: [/spec]}",
        "{group: apps, kind: Deployment, name: other, jsonPointers: [/spec/replicas]}",
        "{group: apps, kind: Deployment, jsonPointers: [/metadata/namespace, /spec]}",
    ];
    use RuleVerdict::{HidesAll, NoField, NoObject, Useful};
    check_rules(
        &texts,
        DESIRED,
        LIVE,
        &[
            // The manager's rule has taken the field away before.
            (1, 0, 0, NoField),
            (1, 0, 0, NoField),
            (1, 1, 1, Useful),
            (1, 1, 1, Useful),
            (0, 0, 0, NoObject),
            (0, 0, 0, NoObject),
            (1, 1, 1, Useful),
            (1, 1, 1, HidesAll),
        ],
    );
    check_rules(&texts[..1], DESIRED, LIVE, &[(1, 1, 1, Useful), (1, 0, 0, NoField)]);
}

#[test]
fn rules_are_counted_where_nothing_differs_too() {
    let same = LIVE.replace("replicas: 5, paused", "replicas: 1, paused");
    use RuleVerdict::{HidesAll, NoField, Useful};
    check_rules(
        &["{group: apps, kind: Deployment, jsonPointers: [/spec/replicas, /spec/nothing, /spec, /status]}"],
        DESIRED,
        &same,
        &[(1, 1, 1, Useful), (1, 0, 0, NoField), (1, 1, 1, HidesAll), (1, 1, 1, Useful)],
    );
}

#[test]
fn a_rule_that_cannot_be_followed_says_so() {
    let endless = ". as $all | select(first($all | .. | $all | .. | $all | .. | $all | .. | $all | .. | select(false)))";
    let settings = Settings {
        ignore: rules(&[&format!(
            "{{group: apps, kind: Deployment, jqPathExpressions: [{}]}}",
            json::to_string(&endless.into())
        )]),
        ..Settings::default()
    };
    let found = compared(DESIRED, LIVE, &settings);
    assert_eq!(found.rules[0].verdict(), RuleVerdict::Failed);
    let remark = found.rules[0].remark().expect("there is something to say");
    assert!(
        remark.ends_with("for apps/Deployment cannot be followed: it takes more than 10000000 steps"),
        "{remark}"
    );
    assert!(matches!(found.changes[0].verdict, Verdict::Update(_)), "the rest is compared");
}

/// `path: manager origin` of each differing field.
fn origins(desired: &str, live: &str, applied: bool) -> Vec<String> {
    let settings = Settings { applied, ..Settings::default() };
    let changes = compared(desired, live, &settings);
    let Verdict::Update(update) = &changes.changes[0].verdict else { return Vec::new() };
    let one = |field: &lynceus_diff::FieldChange| {
        let manager = field.writer.as_ref().map_or("nobody", |writer| writer.manager.as_str());
        format!("{:#}: {manager}, {}", field.path, field.origin.as_str())
    };
    update.fields.iter().map(one).collect()
}

fn map(data: &str, last: &str, ours: &str) -> String {
    let last = match last.is_empty() {
        true => String::new(),
        false => format!(
            "annotations: {{kubectl.kubernetes.io/last-applied-configuration: '{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"c\"}},\"data\":{last}}}'}}, "
        ),
    };
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c, {last}managedFields: [{{manager: argocd-controller, operation: Update, fieldsV1: {{'f:data': {ours}}}}}, {{manager: editor, operation: Update, time: '2026-01-01T00:00:00Z', fieldsV1: {{'f:data': {{'f:theirs': {{}}}}}}}}]}}, data: {data}}}"
    )
}

#[test]
fn a_difference_says_how_it_came_about() {
    let desired = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1', theirs: '1'}}";
    let ours = "{'f:a': {}}";
    // Somebody else wrote it.
    let live = map("{a: '1', theirs: '2'}", "", ours);
    assert_eq!(origins(desired, &live, true), [".data.theirs: editor, writer"]);
    // We wrote what stands there: Git is newer.
    let live = map("{a: '0', theirs: '1'}", r#"{"a":"0","theirs":"1"}"#, ours);
    assert_eq!(origins(desired, &live, false), [".data.a: argocd-controller, source"]);
    // We wrote what Git says, and something else stands there under our name.
    let live = map("{a: 'mutated', theirs: '1'}", r#"{"a":"1","theirs":"1"}"#, ours);
    assert_eq!(origins(desired, &live, false), [".data.a: argocd-controller, admission"]);
    // The same, where only the sync tells what was written.
    let live = map("{a: 'mutated', theirs: '1'}", "", ours);
    assert_eq!(origins(desired, &live, true), [".data.a: argocd-controller, admission"]);
    assert_eq!(origins(desired, &live, false), [".data.a: argocd-controller, source"]);
}

#[test]
fn what_nobody_wrote_was_filled_in_by_the_server() {
    let desired = "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {list: [{a: 1}, {a: 2}]}}";
    let live = "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t, managedFields: [{manager: argocd-controller, operation: Update, fieldsV1: {'f:spec': {'f:other': {}}}}]}, spec: {list: [{a: 1, filled: in}]}}";
    assert_eq!(
        origins(desired, live, false),
        [".spec.list[0].filled: nobody, server-default", ".spec.list[1]: nobody, source"]
    );
}

fn predicted(answer: Option<Result<Object, Str>>, include_mutations: bool) -> Verdict {
    let live = object(LIVE);
    let predictions = answer.map(|answer| (live.key(), answer)).into_iter().collect();
    let server_side = Some(ServerSide { predictions, include_mutations });
    let mut changes = compared(DESIRED, LIVE, &Settings { server_side, ..Settings::default() });
    changes.changes.remove(0).verdict
}

#[test]
fn a_dry_run_that_failed_or_was_not_asked_for_is_a_failure_and_never_the_same() {
    let failed = predicted(Some(Err("denied".into())), false);
    assert_eq!(failed, Verdict::Failed(DiffError::DryRun("denied".to_owned())));
    assert_eq!(predicted(None, false), Verdict::Failed(DiffError::NotAsked));
}

#[test]
fn the_servers_word_counts_and_that_of_webhooks_only_if_asked_for() {
    let mut answer = object(LIVE);
    assert_eq!(predicted(Some(Ok(answer.clone())), true), Verdict::Same);
    answer.set(&["metadata", "labels"], lynceus_object::value!({"by": "hook"}));
    answer.set(
        &["metadata", "managedFields"],
        lynceus_object::value!([{"manager": "argocd-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]),
    );
    assert_eq!(predicted(Some(Ok(answer.clone())), false), Verdict::Same);
    let fields = |verdict: Verdict| match verdict {
        Verdict::Update(update) => update.fields.iter().map(|field| format!("{:#}", field.path)).collect(),
        other => vec![format!("{other:?}")],
    };
    assert_eq!(fields(predicted(Some(Ok(answer.clone())), true)), [".metadata.labels"]);
    answer.set(&["spec", "replicas"], 1);
    assert_eq!(fields(predicted(Some(Ok(answer)), false)), [".spec.replicas"]);
}

#[test]
fn status_is_left_out_as_it_is_set() {
    let with = |kind: &str, status: &str| {
        format!("{{apiVersion: {kind}, metadata: {{name: x}}, status: {{ok: {status}}}}}")
    };
    let same = |kind: &str, ignore_status| {
        let settings = Settings { ignore_status, ..Settings::default() };
        let changes = compared(&with(kind, "true"), &with(kind, "false"), &settings);
        changes.changes[0].verdict == Verdict::Same
    };
    let (thing, definition) =
        ("x.io/v1, kind: Thing", "apiextensions.k8s.io/v1, kind: CustomResourceDefinition");
    for (kind, ignore, expect) in [
        (thing, IgnoreStatus::None, false),
        (thing, IgnoreStatus::Definitions, false),
        (thing, IgnoreStatus::All, true),
        (definition, IgnoreStatus::None, false),
        (definition, IgnoreStatus::Definitions, true),
        (definition, IgnoreStatus::All, true),
    ] {
        assert_eq!(same(kind, ignore), expect, "{kind} {ignore:?}");
    }
}

#[test]
fn annotations_that_are_to_be_hidden_are_not_shown_and_still_differ() {
    let with = |token: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c, annotations: {{a.io/token: {token}}}}}, data: {{a: b}}}}"
        )
    };
    let settings = Settings { hidden_annotations: vec!["a.io/token".into()], ..Settings::default() };
    let changes = compared(&with("hush"), &with("hushed"), &settings);
    let Verdict::Update(update) = &changes.changes[0].verdict else { panic!("it differs") };
    assert_eq!(update.fields.len(), 1);
    assert_eq!(update.fields[0].live, Some("++++++++++++".into()));
    assert!(!format!("{update:?}").contains("hush"));
}

/// The short way and the full one come to the same, on objects that one field makes different or not.
#[test]
fn the_short_way_is_as_strict_as_the_full_one() {
    let base = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop}, spec: {replicas: 1, strategy: {type: RollingUpdate}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, creationTimestamp: null}, spec: {containers: [{name: c, image: 'a:1', env: [{name: A, value: '1'}], args: [x], resources: {limits: {cpu: 1000m}}}], volumes: [{name: v, emptyDir: {}}], nodeSelector: {}, hostNetwork: false, tolerations: [{key: k}]}}}}";
    let live = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop, uid: u}, spec: {replicas: 1, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'a:1', env: [{name: A, value: '1'}], args: [x], resources: {limits: {cpu: '1'}}, terminationMessagePath: /dev/termination-log}], volumes: [{name: v, emptyDir: {}}], tolerations: [{key: k}], restartPolicy: Always}}}, status: {replicas: 1}}";
    let changes = [
        ("", ""),
        ("a:1", "a:2"),
        ("replicas: 1, strategy", "replicas: 2, strategy"),
        ("{a: b}, creationTimestamp", "{a: c}, creationTimestamp"),
        ("args: [x]", "args: [x, y]"),
        ("args: [x]", "args: []"),
        ("cpu: 1000m", "cpu: 1001m"),
        ("hostNetwork: false", "hostNetwork: true"),
        ("nodeSelector: {}", "nodeSelector: {x: y}"),
        ("{name: A, value: '1'}", "{name: A, value: '1'}, {name: B, value: '2'}"),
        ("{name: A, value: '1'}", "{name: B, value: '1'}"),
        ("tolerations: [{key: k}]", "tolerations: [{key: k, operator: Exists}]"),
        ("emptyDir: {}", "configMap: {name: x}"),
        ("type: RollingUpdate", "type: Recreate"),
        ("name: d, namespace: shop", "name: d, namespace: shop, labels: {new: one}"),
        ("containers: [{name: c", "unknown: 1, containers: [{name: c"),
        ("spec: {replicas: 1", "spec: {minReadySeconds: 0, replicas: 1"),
    ];
    for (from, to) in changes {
        let desired = object(&base.replacen(from, to, 1));
        let live = object(live);
        let full = sides(Some(&desired), Some(&live), &Settings::default()).expect("they can be compared");
        let pair = Pair::Both { desired, live };
        let short =
            compare_all(Pairs { pairs: vec![pair], hooks: Vec::new() }, &Settings::default(), &|_| true);
        assert_eq!(short.in_sync(), !full.is_modified(), "{from} -> {to}");
    }
}
