//! What has to change in a cluster.

use lynceus_api::{Application, ApplicationSet, OperationState};
use lynceus_appset::plan::{Act, Deletion, Input, Settings, next_deletion};
use lynceus_appset::{Plan, plan};
use lynceus_object::json;

use crate::{applied, check, generated, listed, nothing, read, set};

fn planned_with(set: &ApplicationSet, existing: &[Application], settings: &Settings) -> Plan {
    let generation = generated(set, nothing);
    plan(&Input { set, generation: &generation, invalid: &[], existing, settings })
}

fn planned(set: &ApplicationSet, existing: &[Application]) -> String {
    planned_with(set, existing, &Settings::default()).to_string()
}

#[test]
fn what_is_missing_is_made_and_what_is_left_over_deleted() {
    let existing = applied(&listed(&["a", "old"], ""));
    check(
        &planned(&listed(&["a", "b"], ""), &existing),
        "keep a: nothing differs\ncreate b\ndelete old".replace("keep a", "keep   a").as_str(),
    );
}

#[test]
fn an_application_that_is_made_has_its_owner_and_its_finalizer() {
    let plan = planned_with(&listed(&["a"], ""), &[], &Settings::default());
    let Act::Create(app) = &plan.steps[0].act else { panic!("{plan}") };
    assert_eq!(app.metadata.owner_references[0].uid, "u1");
    assert_eq!(app.metadata.finalizers, ["resources-finalizer.argocd.argoproj.io"]);
    assert_eq!(app.metadata.namespace, "argocd");
}

#[test]
fn a_change_is_told_field_by_field_and_patched_alone() {
    let mut existing = applied(&listed(&["a"], ""));
    existing[0].spec.source.as_mut().expect("a source").path = "q".into();
    existing[0].metadata.labels.insert("more".into(), "x".into());
    existing[0].metadata.resource_version = "7".into();
    let set = listed(&["a"], "");
    check(
        &planned(&set, &existing),
        "update a\nmetadata.labels.more: - \"x\"\nspec.source.path: \"q\" -> \"p\"",
    );
    let plan = planned_with(&set, &existing, &Settings::default());
    let Act::Update { patch, .. } = &plan.steps[0].act else { panic!("{plan}") };
    assert_eq!(
        json::to_string(patch),
        r#"{"metadata":{"labels":{"more":null}},"spec":{"source":{"path":"p"}}}"#
    );
}

#[test]
fn policies_forbid_changes_and_deletions() {
    let mut existing = applied(&listed(&["a", "old"], ""));
    existing[0].spec.project = "other".into();
    for (policy, told) in [
        (
            "create-only",
            "keep   a: the policy allows no updates\ncreate b\nkeep   old: no longer generated, but the policy allows no deletions",
        ),
        (
            "create-update",
            "update a\nspec.project: \"other\" -> \"default\"\ncreate b\nkeep   old: no longer generated, but the policy allows no deletions",
        ),
        ("create-delete", "keep   a: the policy allows no updates\ncreate b\ndelete old"),
        ("sync", "update a\nspec.project: \"other\" -> \"default\"\ncreate b\ndelete old"),
    ] {
        let set = listed(&["a", "b"], &format!("syncPolicy: {{applicationsSync: {policy}}}"));
        check(&planned(&set, &existing), told);
    }
    // Of what is as it should be nothing is forbidden.
    let set = listed(&["a", "old"], "syncPolicy: {applicationsSync: create-only}");
    check(&planned(&set, &applied(&set)), "keep   a: nothing differs\nkeep   old: nothing differs");
    let set = listed(&["a", "b"], "syncPolicy: {applicationsSync: create-only}");
    let settings = Settings { may_choose_policy: false, ..Settings::default() };
    assert!(planned_with(&set, &existing, &settings).to_string().contains("delete old"));
}

#[test]
fn an_operation_of_the_template_is_asked_for_once() {
    let set = set("goTemplate: true
generators: [{list: {elements: [{name: a}]}}]
templatePatch: 'operation: {sync: {revision: v1}}'
template: {metadata: {name: '{{.name}}'}, spec: {project: default, source: {repoURL: r, path: p}, destination: {name: in-cluster}}}");
    let mut existing = applied(&set);
    let asked = existing[0].operation.take();
    assert!(asked.is_some());
    check(
        &planned(&set, &existing),
        "update a\noperation: + {\"initiatedBy\":{},\"retry\":{},\"sync\":{\"revision\":\"v1\"}}",
    );
    existing[0].status.operation_state =
        Some(OperationState { operation: asked.unwrap_or_default(), ..OperationState::default() });
    check(&planned(&set, &existing), "keep   a: nothing differs");
    existing[0].spec.source.as_mut().expect("a source").path = "q".into();
    check(
        &planned(&set, &existing),
        "update a\noperation: + {\"initiatedBy\":{},\"retry\":{},\"sync\":{\"revision\":\"v1\"}}\nspec.source.path: \"q\" -> \"p\"",
    );
}

#[test]
fn fields_of_others_are_left_alone() {
    let mut existing = applied(&listed(&["a"], ""));
    let meta = &mut existing[0].metadata;
    for key in ["notified.notifications.argoproj.io", "argocd.argoproj.io/refresh", "mine"] {
        meta.annotations.insert(key.into(), "x".into());
    }
    meta.labels.insert("kept".into(), "x".into());
    meta.finalizers.push("post-delete-finalizer.argocd.argoproj.io/cleanup".into());
    check(
        &planned(&listed(&["a"], "preservedFields: {annotations: [mine], labels: [kept]}"), &existing),
        "keep   a: nothing differs",
    );
    check(
        &planned(&listed(&["a"], ""), &existing),
        "update a\nmetadata.annotations.mine: - \"x\"\nmetadata.labels.kept: - \"x\"",
    );
}

#[test]
fn differences_can_be_ignored_by_pointer_by_jq_and_by_name() {
    let mut existing = applied(&listed(&["a", "b"], ""));
    for app in &mut existing {
        app.spec.source.as_mut().expect("a source").target_revision = "mine".into();
        app.spec.sync_policy = Some(read("automated: {enabled: false}"));
    }
    let rules = "ignoreApplicationDifferences: [{jsonPointers: [/spec/source/targetRevision]}, {name: a, jqPathExpressions: [.spec.syncPolicy]}]";
    check(
        &planned(&listed(&["a", "b"], rules), &existing),
        "keep   a: nothing differs\nupdate b\nspec.syncPolicy: - {\"automated\":{\"enabled\":false}}",
    );
    let broken = listed(&["a"], "ignoreApplicationDifferences: [{jqPathExpressions: ['.spec[']}]");
    let told = planned(&broken, &existing);
    assert!(
        told.contains("keep   a: not all") && told.contains("error: spec.ignoreApplicationDifferences"),
        "{told}"
    );
}

#[test]
fn what_means_nothing_is_no_difference() {
    let mut existing = applied(&listed(&["a"], ""));
    existing[0].spec.sync_policy = Some(Default::default());
    existing[0].spec.source.as_mut().expect("a source").helm = Some(Default::default());
    existing[0].spec.source.as_mut().expect("a source").directory = Some(Default::default());
    check(&planned(&listed(&["a"], ""), &existing), "keep   a: nothing differs");
}

#[test]
fn an_application_of_another_owner_is_never_taken() {
    let mut existing = applied(&listed(&["a", "b"], ""));
    existing[0].metadata.owner_references[0].name = "other".into();
    existing[1].metadata.owner_references.clear();
    let told = planned(&listed(&["a", "b"], ""), &existing);
    check(
        &told,
        "keep   a: it belongs to ApplicationSet other\nupdate b\n\
         metadata.ownerReferences: + [{\"apiVersion\":\"argoproj.io/v1alpha1\",\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":\"ApplicationSet\",\"name\":\"set\",\"uid\":\"u1\"}]\n\
         error: spec.generators[0].list, element 0: the Application a belongs to ApplicationSet other",
    );
    check(&planned(&listed(&["b"], ""), &existing[..1]), "create b");
}

#[test]
fn nothing_is_done_while_anything_is_wrong() {
    let mut set = listed(&["a"], "");
    set.spec.generators.push(read("git: {repoURL: r, revision: main, files: [{path: x}]}"));
    let existing = applied(&listed(&["a", "old"], ""));
    check(
        &planned(&set, &existing),
        "keep   a: not all Applications could be generated\nkeep   old: not all Applications could be generated",
    );
}

#[test]
fn what_is_noted_on_an_application_while_it_is_delivered_stays() {
    let mut existing = applied(&listed(&["a"], ""));
    for (key, text) in [("lynceus.dev/reasons", "[]"), ("lynceus.dev/sync-timeout", "1m")] {
        existing[0].metadata.annotations.insert(key.into(), text.into());
    }
    check(
        &planned(&listed(&["a"], ""), &existing),
        "update a\nmetadata.annotations.lynceus.dev/sync-timeout: - \"1m\"",
    );
}

/// Argo CD deletes here. A name that came out wrong is one that is missing, and what it named would be gone.
#[test]
fn nothing_is_deleted_while_an_application_cannot_be() {
    let existing = applied(&listed(&["a", "old"], ""));
    let generation = generated(&listed(&["a", "a"], ""), nothing);
    let fault = lynceus_appset::Fault {
        kind: lynceus_appset::FaultKind::Validation,
        place: generation.applications[1].place.clone(),
        message: "there is already an Application named a".to_owned(),
    };
    let invalid = [lynceus_appset::Invalid { at: 1, fault }];
    let (set, settings) = (listed(&["a", "a"], ""), Settings::default());
    let input = Input {
        set: &set,
        generation: &generation,
        invalid: &invalid,
        existing: &existing,
        settings: &settings,
    };
    check(
        &plan(&input).to_string(),
        "keep   a: nothing differs\nkeep   a: there is already an Application named a\n\
         keep   old: no longer generated, but nothing is deleted while there is anything wrong",
    );
    let mut taken = existing.clone();
    taken[0].metadata.owner_references[0].name = "other".into();
    assert!(
        planned(&listed(&["a"], ""), &taken).contains("nothing is deleted while there is anything wrong")
    );
}

#[test]
fn many_deletions_wait_for_a_confirmation() {
    let existing = applied(&listed(&["a", "b", "c", "d"], ""));
    let set = listed(&["a"], "");
    let plan = planned_with(&set, &existing, &Settings::default());
    let held = plan.held.clone().expect("held");
    assert_eq!((held.names.as_slice(), held.of), (&["b".to_owned(), "c".into(), "d".into()][..], 4));
    assert!(
        plan.to_string().contains("keep   b: no longer generated, but its deletion has to be confirmed"),
        "{plan}"
    );
    let confirmed = Settings { confirmed: Some(held.token.as_str().into()), ..Settings::default() };
    check(
        &planned_with(&set, &existing, &confirmed).to_string(),
        "keep   a: nothing differs\ndelete b\ndelete c\ndelete d",
    );
    // A confirmation is for these deletions, and no others.
    let other = planned_with(&listed(&["b"], ""), &existing, &confirmed);
    assert!(other.held.is_some_and(|other| other.token != held.token));
}

#[test]
fn a_finalizer_goes_first_where_the_cluster_is_gone() {
    let existing = applied(&listed(&["a", "old"], ""));
    let plan =
        planned_with(&listed(&["a"], ""), &existing, &Settings::default()).dropping_finalizers(|_| false);
    assert!(plan.to_string().contains("delete old without its finalizer"), "{plan}");
}

#[test]
fn applications_go_in_the_reverse_order_of_the_steps() {
    let strategy = "strategy: {type: RollingSync, deletionOrder: reverse, rollingSync: {steps: [\
         {matchExpressions: [{key: env, operator: In, values: [a]}]}, {matchExpressions: [{key: env, operator: In, values: [b, c]}]}]}}";
    let set = listed(&["a", "b", "c", "d"], strategy);
    let mut existing = applied(&set);
    assert_eq!(next_deletion(&set, &existing), Deletion::Delete("b".into()));
    existing[1].metadata.deletion_timestamp = Some("2026-01-01T00:00:00Z".parse().expect("a time"));
    assert_eq!(next_deletion(&set, &existing), Deletion::Wait("b".into()));
    existing.remove(1);
    assert_eq!(next_deletion(&set, &existing), Deletion::Delete("c".into()));
    existing.remove(1);
    assert_eq!(next_deletion(&set, &existing), Deletion::Delete("a".into()));
    existing.remove(0);
    // What no step selects goes with its owner.
    assert_eq!(next_deletion(&set, &existing), Deletion::Done);
}
