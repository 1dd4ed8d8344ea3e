use lynceus_api::{Kind as _, Word as _};
use lynceus_object::{Value, value};

use lynceus_api::ApplicationConditionType;

use super::*;
use crate::action::{Deed, Method};

/// An application of these finalizers, with options of its policy and annotations.
fn application(finalizers: &[&str], options: &[&str], annotations: Value) -> Application {
    let mut object = Object::new(value!({
        "metadata": {"name": "shop", "namespace": "argocd", "deletionTimestamp": "2026-01-01T00:01:00Z"},
        "spec": {"project": "default", "destination": {}, "source": {"repoURL": "r", "path": "p"}},
    }))
    .unwrap();
    object.set(&["metadata", "finalizers"], finalizers.to_vec());
    object.set(&["metadata", "annotations"], annotations);
    object.set(&["spec", "syncPolicy", "syncOptions"], options.to_vec());
    Application::from_object(&object).unwrap()
}

/// Objects, one per line: `Kind name key=value…`, where a key is an annotation by its last word, `deleting`, `finalizer`,
/// `health`, or `made` in seconds before the deletion.
fn objects(text: &str) -> Vec<Object> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(object).collect()
}

fn object(line: &str) -> Object {
    let mut words = line.split(' ');
    let (kind, name) = (words.next().unwrap(), words.next().unwrap());
    let api_version = match kind {
        "Job" => "batch/v1",
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
        _ => "v1",
    };
    let gvk = lynceus_object::Gvk::from_manifest(api_version, kind);
    let mut object = Object::named(&gvk, "shop", name);
    for word in words {
        let (key, text) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "deleting" => object.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:01:01Z"),
            "finalizer" => object.set(&["metadata", "finalizers"], vec![text]),
            "made" => object.set(&["metadata", "creationTimestamp"], text),
            "generateName" => {
                object.set(&["metadata", "generateName"], text);
                object.remove(&["metadata", "name"]);
            }
            "health" => object.set(&["status", "health"], text),
            "helm" => object.set_annotation("helm.sh/hook", text),
            "keep" => object.set_annotation("helm.sh/resource-policy", "keep"),
            _ => object.set_annotation(&format!("argocd.argoproj.io/{key}"), text),
        };
    }
    object
}

fn health(object: &Object) -> Option<Health> {
    let status = lynceus_api::HealthStatusCode::parse(object.value().str_at(&["status", "health"])?)?;
    Some(Health { status, message: Str::new() })
}

fn check(application: &Application, live: &str, desired: Option<&str>, second: i64) -> String {
    let desired = desired.map(objects);
    let now: Timestamp = "2026-01-01T00:01:00Z".parse().unwrap();
    let decision = decide(&Situation {
        application,
        key: &ObjectKey::new("argoproj.io", "Application", "argocd", "shop"),
        live: &objects(live),
        desired: desired.as_deref(),
        health: &health,
        now: now + jiff::SignedDuration::from_secs(second),
    });
    match decision {
        Decision::Ask => "ask".into(),
        Decision::Done => "done".into(),
        Decision::Release(finalizers) => format!("release {}", finalizers.join(" ")),
        Decision::Fail { message, again_at } => {
            format!("fail: {message}; again in {}", again_at.duration_since(now).as_secs() - second)
        }
        Decision::Wait { actions, for_ } => {
            let mut lines: Vec<String> = actions.iter().map(told).collect();
            lines.extend(for_.iter().map(|one| format!("wait for {one}")));
            lines.join("\n")
        }
    }
}

fn told(action: &Action) -> String {
    let what = match &action.deed {
        Deed::Write(write) if write.method == Method::Create => "create".to_owned(),
        Deed::Delete(propagation) | Deed::Prune(propagation) => format!("delete ({})", propagation.as_str()),
        Deed::RemoveHookFinalizer => "free".to_owned(),
        other => format!("{other:?}"),
    };
    format!("{what} {}/{}", action.object.kind(), action.object.name())
}

const ALL: &[&str] = &[finalizers::RESOURCES];
const BEFORE: &[&str] = &[finalizers::PRE_DELETE, finalizers::PRE_DELETE_CLEANUP, finalizers::RESOURCES];
const AFTER: &[&str] = &[finalizers::POST_DELETE, finalizers::POST_DELETE_CLEANUP];

#[test]
fn objects_go_wave_by_wave_the_last_first() {
    let application = application(ALL, &[], value!({}));
    let live = "ConfigMap a sync-wave=-1\nConfigMap b sync-wave=5\nConfigMap c sync-wave=5\nConfigMap d";
    assert_eq!(
        check(&application, live, None, 0),
        "delete (Foreground) ConfigMap/b\ndelete (Foreground) ConfigMap/c\n\
         wait for deletion of /ConfigMap/shop/b\nwait for deletion of /ConfigMap/shop/c"
    );
    let live = "ConfigMap a sync-wave=-1\nConfigMap c sync-wave=5 deleting";
    assert_eq!(check(&application, live, None, 0), "wait for deletion of /ConfigMap/shop/c");
    assert_eq!(check(&application, "", None, 0), "release resources-finalizer.argocd.argoproj.io");
}

#[test]
fn what_is_asked_to_stay_stays() {
    let live = "ConfigMap a sync-options=Delete=false\nConfigMap b keep\nCustomResourceDefinition c";
    let release = "release resources-finalizer.argocd.argoproj.io";
    assert_eq!(check(&application(ALL, &[], value!({})), live, None, 0), release);
    let keeps = application(ALL, &["Delete=false"], value!({}));
    assert_eq!(check(&keeps, "ConfigMap a", None, 0), release);
    let own = "ConfigMap a sync-options=Delete=true";
    assert_eq!(
        check(&keeps, own, None, 0),
        "delete (Foreground) ConfigMap/a\nwait for deletion of /ConfigMap/shop/a"
    );
}

#[test]
fn nothing_goes_before_it_is_confirmed() {
    let live = "ConfigMap a sync-options=Delete=confirm\nConfigMap b sync-options=Prune=confirm\nConfigMap c";
    let waits = "wait for deletion confirmation of /ConfigMap/shop/a\n\
                 wait for deletion confirmation of /ConfigMap/shop/b";
    assert_eq!(check(&application(ALL, &[], value!({})), live, None, 0), waits);
    let approved = |at: &str| {
        let annotations = value!({"argocd.argoproj.io/deletion-approved": at});
        check(&application(ALL, &[], annotations), live, None, 0)
    };
    assert_eq!(approved("2026-01-01T00:00:59Z"), waits);
    assert!(approved("2026-01-01T00:01:00Z").starts_with("delete (Foreground) ConfigMap/a\n"));
    let policy = application(ALL, &["Delete=confirm"], value!({}));
    assert_eq!(check(&policy, "ConfigMap c", None, 0), "wait for deletion confirmation of /ConfigMap/shop/c");
}

#[test]
fn what_is_held_is_told_and_our_own_finalizer_is_taken_off() {
    let application = application(&[finalizers::RESOURCES_BACKGROUND], &[], value!({}));
    let live =
        "ConfigMap a finalizer=example.com/hold deleting\nJob b finalizer=argocd.argoproj.io/hook-finalizer";
    assert_eq!(
        check(&application, live, None, 0),
        "free Job/b\nwait for deletion of /ConfigMap/shop/a, held by example.com/hold"
    );
    assert_eq!(
        check(&application, "ConfigMap a", None, 0),
        "delete (Background) ConfigMap/a\nwait for deletion of /ConfigMap/shop/a"
    );
}

#[test]
fn hooks_run_before_anything_is_deleted() {
    let application = application(BEFORE, &[], value!({}));
    let desired =
        Some("Job backup hook=PreDelete\nJob helm helm=pre-delete\nJob late hook=PostDelete\nConfigMap a");
    assert_eq!(check(&application, "ConfigMap a", None, 0), "ask");
    assert_eq!(
        check(&application, "ConfigMap a", desired, 0),
        "create Job/backup\ncreate Job/helm\nwait for completion of hook batch/Job/shop/backup\n\
         wait for completion of hook batch/Job/shop/helm"
    );
    let live =
        "ConfigMap a\nJob backup hook=PreDelete health=Progressing\nJob helm helm=pre-delete health=Healthy";
    assert_eq!(check(&application, live, desired, 0), "wait for completion of hook batch/Job/shop/backup");
    let live =
        "ConfigMap a\nJob backup hook=PreDelete health=Healthy\nJob helm helm=pre-delete health=Healthy";
    assert_eq!(check(&application, live, desired, 0), "release pre-delete-finalizer.argocd.argoproj.io");
}

#[test]
fn a_hook_of_a_former_time_is_made_anew_and_one_without_a_name_gets_one() {
    let application = application(AFTER, &[], value!({}));
    let desired = Some("Job x generateName=bye- hook=PostDelete");
    let old = "Job bye hook=PostDelete health=Healthy made=2026-01-01T00:00:00Z";
    assert_eq!(
        check(&application, old, desired, 0),
        "delete (Background) Job/bye\nwait for deletion of hook batch/Job/shop/bye"
    );
    let name = "bye-postdelete-1767225660";
    assert_eq!(
        check(&application, "", desired, 0),
        format!("create Job/{name}\nwait for completion of hook batch/Job/shop/{name}")
    );
    let live = format!("Job {name} hook=PostDelete health=Healthy made=2026-01-01T00:01:02Z");
    assert_eq!(check(&application, &live, desired, 0), "release post-delete-finalizer.argocd.argoproj.io");
}

#[test]
fn a_hook_that_fails_blocks_the_deletion_and_is_tried_again() {
    let mut application = application(BEFORE, &[], value!({}));
    let desired = Some("Job backup hook=PreDelete");
    let live = "Job backup hook=PreDelete health=Degraded";
    let message = "error executing pre-delete hooks: PreDelete hook(s) failed: shop/backup";
    assert_eq!(check(&application, live, desired, 0), format!("fail: {message}; again in 30"));
    application.status.conditions = vec![lynceus_api::ApplicationCondition {
        type_: ApplicationConditionType::DeletionError.into(),
        message: message.into(),
        last_transition_time: Some("2026-01-01T00:01:00Z".parse::<Timestamp>().unwrap().into()),
        ..Default::default()
    }];
    assert_eq!(check(&application, live, desired, 10), format!("fail: {message}; again in 20"));
    assert_eq!(
        check(&application, live, desired, 30),
        "delete (Background) Job/backup\nwait for deletion of hook batch/Job/shop/backup"
    );
}

#[test]
fn hooks_are_cleaned_up_as_their_policies_say() {
    let cleanup = application(&[finalizers::POST_DELETE_CLEANUP], &[], value!({}));
    let done = "release post-delete-finalizer.argocd.argoproj.io/cleanup";
    assert_eq!(check(&cleanup, "Job a hook=PostDelete health=Healthy", None, 0), done);
    let succeeded = "Job a hook=PostDelete hook-delete-policy=HookSucceeded health=Healthy";
    assert_eq!(
        check(&cleanup, succeeded, None, 0),
        "delete (Background) Job/a\nwait for deletion of hook batch/Job/shop/a"
    );
    let failed = "Job a hook=PostDelete hook-delete-policy=HookFailed health=Degraded";
    assert!(check(&cleanup, failed, None, 0).starts_with("delete (Background) Job/a"));
    assert_eq!(check(&cleanup, &failed.replace("Degraded", "Healthy"), None, 0), done);
    assert_eq!(check(&application(&["example.com/other"], &[], value!({})), "Job a", None, 0), "done");
}

#[test]
fn hooks_in_the_sources_ask_for_finalizers() {
    let after = |before: &[&str], desired: &str| {
        let before: Vec<Str> = before.iter().map(|one| Str::from(*one)).collect();
        finalizers_for(&before, &objects(desired)).join(" ")
    };
    let both = "Job a hook=PreSync,PreDelete\nJob b helm=post-delete";
    assert_eq!(
        after(&["example.com/own"], both),
        "example.com/own pre-delete-finalizer.argocd.argoproj.io \
         pre-delete-finalizer.argocd.argoproj.io/cleanup post-delete-finalizer.argocd.argoproj.io \
         post-delete-finalizer.argocd.argoproj.io/cleanup"
    );
    assert_eq!(after(&[finalizers::PRE_DELETE, "example.com/own"], "ConfigMap a"), "example.com/own");
    let reversed = [finalizers::POST_DELETE_CLEANUP, finalizers::POST_DELETE];
    assert_eq!(after(&reversed, "Job b helm=post-delete"), reversed.join(" "));
}
