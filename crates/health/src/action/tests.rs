use lynceus_object::yaml;

use super::*;

fn now() -> Timestamp {
    "2024-05-06T07:08:09Z".parse().unwrap()
}

fn object(text: &str) -> Object {
    Object::new(yaml::parse_str(text).unwrap()).unwrap()
}

/// What an action makes of an object, as YAML behind the operation.
fn acted(text: &str, name: &str, parameters: &Parameters<'_>) -> String {
    match act(&object(text), name, parameters, now()) {
        Ok(made) => made
            .into_iter()
            .map(|(operation, object)| {
                format!("{operation:?} {}", lynceus_object::json::to_string(object.value()))
            })
            .collect(),
        Err(error) => format!("error: {error}"),
    }
}

/// The names of the actions that can be run, and of those that cannot in parentheses.
fn offered(text: &str) -> String {
    let offers = offers(&object(text));
    let names = offers.iter().map(|offer| match offer.disabled {
        true => format!("({})", offer.name),
        false => offer.name.to_string(),
    });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_line_of_the_file_can_be_read_and_every_function_is_there() {
    let (actions, errors) = table::read(include_str!("../../data/actions.txt"));
    assert_eq!(errors, [""; 0]);
    let count: usize = actions.values().map(Vec::len).sum();
    assert_eq!(count, 94, "the 93 of Argo CD, and pausing a MongoDB");
    for edit in actions.values().flatten().flat_map(|action| &action.edits) {
        if let Edit::Do(what) = edit {
            let outcome = special::run(what, Object::default(), &[], now());
            assert!(
                !matches!(&outcome, Err(ActionError::State(text)) if text.contains("no function")),
                "{what}"
            );
        }
    }
}

#[test]
fn a_restart_changes_the_template() {
    let made = acted("{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {}}}}", "restart", &[]);
    assert_eq!(
        made,
        r#"Patch {"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2024-05-06T07:08:09Z"}},"spec":{}}}}"#
    );
}

#[test]
fn what_is_paused_can_be_resumed() {
    let deployment =
        |paused| format!("{{apiVersion: apps/v1, kind: Deployment, spec: {{paused: {paused}}}}}");
    assert_eq!(offered(&deployment(true)), "(pause) restart resume scale");
    assert_eq!(offered(&deployment(false)), "pause restart (resume) scale");
    assert_eq!(
        acted(&deployment(true), "resume", &[]),
        r#"Patch {"apiVersion":"apps/v1","kind":"Deployment","spec":{}}"#
    );
}

#[test]
fn scaling_takes_a_number() {
    let set = "{apiVersion: apps/v1, kind: StatefulSet, spec: {}}";
    let scaled = |replicas: Value| acted(set, "scale", &[("replicas", replicas)]);
    assert!(scaled("5".into()).contains(r#""replicas":5"#));
    assert!(scaled(Value::Int(0)).contains(r#""replicas":0"#));
    assert_eq!(scaled("five".into()), "error: parameter replicas: invalid number: five");
    assert_eq!(scaled("-1".into()), "error: parameter replicas: invalid number: -1");
    assert_eq!(acted(set, "scale", &[]), "error: parameter replicas: is required");
}

#[test]
fn a_job_is_made_of_a_cron_job() {
    let made = acted(
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, namespace: db, uid: u},
          spec: {jobTemplate: {metadata: {labels: {a: b}}, spec: {template: {}}}}}",
        "create-job",
        &[],
    );
    assert_eq!(
        made,
        r#"Create {"apiVersion":"batch/v1","kind":"Job","metadata":{"annotations":{"cronjob.kubernetes.io/instantiate":"manual"},"labels":{"a":"b"},"name":"backup-2405060708","namespace":"db","ownerReferences":[{"apiVersion":"batch/v1","blockOwnerDeletion":true,"controller":true,"kind":"CronJob","name":"backup","uid":"u"}]},"spec":{"template":{}}}"#
    );
}

#[test]
fn a_rollout_is_steered() {
    let rollout = "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {generation: 2},
        spec: {strategy: {canary: {steps: [{}, {}]}}},
        status: {currentPodHash: a, stableRS: b, currentStepIndex: 1, observedGeneration: '2', pauseConditions: [{}]}}";
    assert_eq!(offered(rollout), "abort pause promote-full restart resume (retry) skip-current-step");
    assert!(acted(rollout, "promote-full", &[]).contains(r#""promoteFull":true"#));
    let skipped = acted(rollout, "skip-current-step", &[]);
    assert!(skipped.contains(r#""currentStepIndex":2"#) && !skipped.contains("pauseConditions"), "{skipped}");
    assert!(!acted(rollout, "resume", &[]).contains("pauseConditions"));
    let done = rollout.replace("stableRS: b", "stableRS: a");
    assert_eq!(offered(&done), "(abort) (pause) (promote-full) restart resume (retry) skip-current-step");
}

#[test]
fn flux_is_asked_to_reconcile() {
    let release = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: x}, spec: {suspend: false}}";
    assert_eq!(offered(release), "reconcile (resume) suspend");
    assert!(
        acted(release, "reconcile", &[])
            .contains(r#""reconcile.fluxcd.io/requestedAt":"By Argo CD at: 2024-05-06T07:08:09""#)
    );
}

#[test]
fn the_next_healthy_instance_becomes_the_primary() {
    let cluster = "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: pg},
        status: {currentPrimary: pg-3, instancesStatus: {healthy: [pg-1, pg-2, pg-3]}}}";
    let promoted = |instance: &str| acted(cluster, "promote", &[("instance", instance.into())]);
    assert!(promoted("any").contains(r#""targetPrimary":"pg-1""#));
    assert!(promoted("2").contains(r#""targetPrimary":"pg-2""#));
    assert_eq!(promoted("9"), "error: Could not find a healthy instance matching the criteria: 9");
}

#[test]
fn what_is_owned_is_left_to_its_owner() {
    let pipeline = |owner: &str| {
        format!(
            "{{apiVersion: numaflow.numaproj.io/v1alpha1, kind: Pipeline, metadata: {{ownerReferences: [{{kind: {owner}}}]}}, spec: {{}}}}"
        )
    };
    assert!(offered(&pipeline("PipelineRollout")).contains("(pause)"));
    assert!(offered(&pipeline("Other")).split(' ').any(|name| name == "pause"));
}

#[test]
fn a_users_action_comes_first() {
    let settings = object(
        r#"
        data:
          resource.customizations.actions.apps_Deployment: |
            mergeBuiltinActions: true
            discovery.lua: |
              return {mark = {}, restart = {disabled = true}}
            definitions:
            - name: mark
              action.lua: |
                obj.metadata.labels = {marked = "yes"}
                return obj
            - name: restart
              action.lua: error("not today")
        "#,
    );
    let (settings, errors) = Customizations::read(&settings);
    assert_eq!(errors, []);
    let deployment = object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {}}");
    let world = World::at(now());
    let names: Vec<String> =
        settings.offers(&deployment, &world).unwrap().iter().map(|offer| offer.name.to_string()).collect();
    assert_eq!(names, ["mark", "pause", "restart", "resume", "scale"]);
    let made = settings.act(&deployment, "mark", &[], &world).unwrap();
    assert_eq!(made[0].1.label("marked"), Some("yes"));
    assert!(matches!(settings.act(&deployment, "restart", &[], &world), Err(ActionError::Script(_))));
    assert_eq!(settings.act(&deployment, "pause", &[], &world).unwrap().len(), 1);
    assert!(matches!(settings.act(&deployment, "dance", &[], &world), Err(ActionError::Unknown { .. })));
}
