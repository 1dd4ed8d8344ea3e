//! What is a difference and what is not: text in, text out.

#![allow(clippy::expect_used, reason = "a test stops where it cannot go on")]

use lynceus_api::ResourceIgnoreDifferences;
use lynceus_diff::{Ignore, Pairs, Settings, Verdict, Why, compare_all, pair};
use lynceus_object::{Object, Str, yaml};

fn object(text: &str) -> Object {
    Object::new(yaml::parse_str(text).expect("YAML")).expect("a map")
}

/// The differing fields, one per line.
fn differences(desired: &str, live: &str, settings: &Settings) -> String {
    let pairs = pair(&[object(desired)], &[object(live)], "shop", &|_| Some(true));
    let changes = compare_all(pairs, settings, &|_| true);
    assert_eq!(changes.changes.len(), 1, "the two are one object");
    match &changes.changes[0].verdict {
        Verdict::Same => "same".to_owned(),
        Verdict::Update(update) => {
            let shown = |value: &Option<lynceus_object::Value>| {
                value.as_ref().map_or("nothing".to_owned(), lynceus_object::json::to_string)
            };
            let lines = update.fields.iter().map(|field| {
                format!("{:#}: {} -> {}", field.path, shown(&field.live), shown(&field.desired))
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        other => format!("{other:?}"),
    }
}

fn check(desired: &str, live: &str, expect: &str) {
    assert_eq!(differences(desired, live, &Settings::default()), expect);
}

const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: 'a:1'";

#[test]
fn what_the_server_fills_in_is_no_difference() {
    check(
        &format!("{POD}}}]}}}}"),
        &format!(
            "{POD}, imagePullPolicy: IfNotPresent, resources: {{}}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}}],
            restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, securityContext: {{}},
            terminationGracePeriodSeconds: 30, nodeName: n1}}, status: {{phase: Running}}}}"
        ),
        "same",
    );
}

#[test]
fn quantities_and_empty_fields_are_compared_by_what_they_mean() {
    check(
        &format!(
            "{POD}, resources: {{limits: {{cpu: '1', memory: 1024Mi}}}}, env: []}}], nodeSelector: {{}}}}}}"
        ),
        &format!("{POD}, resources: {{limits: {{cpu: 1000m, memory: 1Gi}}}}}}]}}}}"),
        "same",
    );
}

#[test]
fn a_change_names_the_field_and_both_values() {
    check(
        &format!("{POD}}}]}}}}"),
        &format!("{POD}, command: [sleep]}}]}}}}").replace("a:1", "a:2"),
        r#".spec.containers[name="c"].image: "a:2" -> "a:1""#,
    );
}

#[test]
fn what_was_applied_and_is_no_longer_desired_goes() {
    let live = r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  namespace: shop
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"2"}}'
data: {a: "1", b: "2", c: "by somebody else"}
"#;
    check(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1'}}",
        live,
        r#".data.b: "2" -> nothing"#,
    );
}

#[test]
fn fields_of_a_custom_resource_that_others_added_stay() {
    check(
        "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {size: 1}}",
        "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t, namespace: shop, uid: u}, spec: {size: 1, filledIn: yes}, status: {ok: true}}",
        "same",
    );
    check(
        "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {size: 2, list: [1]}}",
        "{apiVersion: x.io/v1, kind: Thing, metadata: {name: t, namespace: shop}, spec: {size: 1, list: [1, 2]}}",
        ".spec.list[1]: 2 -> nothing\n.spec.size: 1 -> 2",
    );
}

#[test]
fn string_data_of_a_secret_is_data_and_its_values_are_never_shown() {
    let live = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, type: Opaque, data: {key: aHVzaA==, empty: ''}}";
    check(
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {key: hush, empty: ''}}",
        live,
        "same",
    );
    check(
        "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {key: loud, empty: ''}}",
        live,
        r#".data.key: "++++++++++++" -> "++++++++""#,
    );
}

#[test]
fn empty_rules_and_no_rules_are_the_same_and_aggregated_ones_can_be_left_out() {
    let role = |rules: &str| {
        format!(
            "{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{name: r, namespace: shop}}, aggregationRule: {{clusterRoleSelectors: [{{matchLabels: {{a: b}}}}]}}{rules}}}"
        )
    };
    check(&role(", rules: []"), &role(", rules: null"), "same");
    let settings = Settings { ignore_aggregated_roles: true, ..Settings::default() };
    let live = role(", rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]");
    assert_eq!(differences(&role(", rules: []"), &live, &settings), "same");
    assert_ne!(differences(&role(", rules: []"), &live, &Settings::default()), "same");
}

#[test]
fn the_order_of_endpoints_means_nothing() {
    let endpoints = |addresses: &str| {
        format!(
            "{{apiVersion: v1, kind: Endpoints, metadata: {{name: e, namespace: shop}}, subsets: [{{addresses: [{addresses}], ports: [{{port: 80}}]}}]}}"
        )
    };
    check(&endpoints("{ip: 10.0.0.2}, {ip: 10.0.0.1}"), &endpoints("{ip: 10.0.0.1}, {ip: 10.0.0.2}"), "same");
}

#[test]
fn claim_templates_of_a_stateful_set_get_defaults_that_only_the_server_knows() {
    let set = |claim: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: s, namespace: shop}}, spec: {{serviceName: s, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: 'a:1'}}]}}}}, volumeClaimTemplates: [{{metadata: {{name: data}}, spec: {{accessModes: [ReadWriteOnce]{claim}}}}}]}}}}"
        )
    };
    check(&set(""), &set(", storageClassName: fast"), "same");
}

#[test]
fn rules_leave_fields_out_for_the_objects_that_they_name() {
    let desired =
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 1, paused: true}}";
    let live = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop}, spec: {replicas: 5, paused: true}}";
    let with = |group: &str, name: &str, pointers: &[&str], jq: &[&str]| {
        let texts = |list: &[&str]| list.iter().map(|text| Str::from(*text)).collect();
        let rule = ResourceIgnoreDifferences {
            group: group.into(),
            kind: "Deploy*".into(),
            name: name.into(),
            json_pointers: texts(pointers),
            jq_path_expressions: texts(jq),
            ..ResourceIgnoreDifferences::default()
        };
        let (ignore, errors) = Ignore::new([&rule]);
        assert!(errors.is_empty(), "{errors:?}");
        differences(desired, live, &Settings { ignore, ..Settings::default() })
    };
    assert_eq!(with("apps", "", &["/spec/replicas"], &[]), "same");
    assert_eq!(with("*", "d", &[], &[".spec.replicas"]), "same");
    for still in [
        with("batch", "", &["/spec/replicas"], &[]),
        with("apps", "e", &["/spec/replicas"], &[]),
        with("apps", "", &["/spec/nothing"], &[]),
    ] {
        assert_eq!(still, ".spec.replicas: 5 -> 1");
    }
}

#[test]
fn a_rule_that_is_not_jq_is_told_of_and_left_out() {
    let rule = ResourceIgnoreDifferences {
        kind: "Pod".into(),
        jq_path_expressions: vec![".spec[".into(), ".spec".into()],
        ..ResourceIgnoreDifferences::default()
    };
    let (_, errors) = Ignore::new([&rule]);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].to_string().contains(".spec["));
}

#[test]
fn fields_of_a_trusted_manager_are_left_out_where_they_differ() {
    let rule = ResourceIgnoreDifferences {
        group: "apps".into(),
        kind: "Deployment".into(),
        managed_fields_managers: vec!["hpa".into()],
        ..ResourceIgnoreDifferences::default()
    };
    let (ignore, _) = Ignore::new([&rule]);
    let live = |manager: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d, namespace: shop, managedFields: [{{manager: {manager}, operation: Update, fieldsV1: {{'f:spec': {{'f:replicas': {{}}}}}}}}]}}, spec: {{replicas: 5}}}}"
        )
    };
    let desired = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 1}}";
    let settings = Settings { ignore, ..Settings::default() };
    assert_eq!(differences(desired, &live("hpa"), &settings), "same");
    assert_eq!(differences(desired, &live("me"), &settings), ".spec.replicas: 5 -> 1");
}

#[test]
fn applying_on_the_servers_side_removes_only_what_we_own() {
    let live = |manager: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c, namespace: shop, annotations: {{argocd.argoproj.io/sync-options: ServerSideApply=true}}, managedFields: [{{manager: {manager}, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {{'f:data': {{'f:a': {{}}, 'f:b': {{}}}}}}}}]}}, data: {{a: '1', b: '2'}}}}"
        )
    };
    let desired = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {argocd.argoproj.io/sync-options: ServerSideApply=true}}, data: {a: '1'}}";
    check(desired, &live("argocd-controller"), r#".data.b: "2" -> nothing"#);
    check(desired, &live("somebody"), "same");
}

#[test]
fn a_change_of_the_tracking_method_alone_is_no_difference() {
    let desired = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {argocd.argoproj.io/tracking-id: 'a:/ConfigMap:shop/c'}}}";
    let live = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, labels: {app.kubernetes.io/instance: a}}}";
    let settings =
        Settings { former_tracking_label: Some("app.kubernetes.io/instance".into()), ..Settings::default() };
    assert_eq!(differences(desired, live, &settings), "same");
    assert_ne!(differences(desired, live, &Settings::default()), "same");
}

#[test]
fn an_object_that_does_not_fit_its_type_is_an_error_of_that_object_alone() {
    let bad = object("{apiVersion: v1, kind: Pod, metadata: {name: bad}, spec: {containers: [{image: a}]}}");
    let good = object("{apiVersion: v1, kind: ConfigMap, metadata: {name: good}}");
    let mut live = [bad.clone(), good.clone()];
    for object in &mut live {
        object.set(&["metadata", "namespace"], "shop");
    }
    let pairs = pair(&[bad, good], &live, "shop", &|_| Some(true));
    let changes = compare_all(pairs, &Settings::default(), &|_| true);
    assert!(matches!(changes.changes[0].verdict, Verdict::Failed(_)));
    assert_eq!(changes.changes[1].verdict, Verdict::Same);
}

#[test]
fn extra_objects_are_pruned_unless_they_or_their_marks_say_otherwise() {
    let extra = |annotations: &str| {
        object(&format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: shop, annotations: {{{annotations}}}}}}}"
        ))
    };
    let verdict = |live: Object, own: bool| {
        let pairs: Pairs = pair(&[], &[live], "shop", &|_| Some(true));
        compare_all(pairs, &Settings::default(), &|_| own).changes.remove(0).verdict
    };
    assert_eq!(verdict(extra(""), true), Verdict::Prune);
    assert_eq!(verdict(extra(""), false), Verdict::Ignored(Why::Copied));
    assert_eq!(verdict(extra("argocd.argoproj.io/hook: PreSync"), true), Verdict::Ignored(Why::Hook));
    let ignored = extra("argocd.argoproj.io/compare-options: IgnoreExtraneous");
    assert_eq!(verdict(ignored, true), Verdict::Ignored(Why::Extraneous));
    let adopted = pair(&[extra("")], &[extra("")], "shop", &|_| Some(true));
    assert_eq!(compare_all(adopted, &Settings::default(), &|_| false).changes[0].verdict, Verdict::Same);
}
