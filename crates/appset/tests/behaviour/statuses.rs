//! Conditions and resources.

use lynceus_api::{ApplicationSet, Time};
use lynceus_appset::rollout::Rollout;
use lynceus_appset::status::{Report, conditions, resources};
use lynceus_appset::{Fault, FaultKind, Place, limits};
use lynceus_object::{from_typed, json};

use crate::{applied, check, listed};

fn time(second: u32) -> Time {
    format!("2026-01-01T00:00:{second:02}Z").parse().expect("a time")
}

fn told(set: &ApplicationSet) -> String {
    let line = |one: &lynceus_api::ApplicationSetCondition| {
        let at = one.last_transition_time.map(|at| at.to_string()).unwrap_or_default();
        format!("{} {} {} {}: {}\n", &at[17..19], one.type_, one.status, one.reason, one.message)
    };
    set.status.conditions.iter().map(line).collect()
}

fn fault() -> Fault {
    Fault { kind: FaultKind::Parameters, place: Place::of("spec.generators[0].git"), message: "gone".into() }
}

#[test]
fn conditions_are_those_of_argo_cd_and_keep_their_times() {
    let mut set = listed(&["a"], "");
    set.status.conditions = conditions(&set, &Report::UpToDate, None, time(1));
    let fine = "01 ErrorOccurred False ApplicationSetUpToDate: All applications have been generated successfully\n\
         01 ParametersGenerated True ParametersGenerated: Successfully generated parameters for all Applications\n\
         01 ResourcesUpToDate True ApplicationSetUpToDate: All applications have been generated successfully";
    check(&told(&set), fine);
    set.status.conditions = conditions(&set, &Report::UpToDate, None, time(2));
    check(&told(&set), fine);
    set.status.conditions = conditions(&set, &Report::of(&[fault()], 3), None, time(3));
    check(
        &told(&set),
        "03 ErrorOccurred True ApplicationGenerationFromParamsError: spec.generators[0].git: gone (and 2 more)\n\
         03 ParametersGenerated False ErrorOccurred: spec.generators[0].git: gone (and 2 more)\n\
         03 ResourcesUpToDate False ErrorOccurred: spec.generators[0].git: gone (and 2 more)",
    );
    let invalid = Fault { kind: FaultKind::Validation, ..fault() };
    set.status.conditions = conditions(&set, &Report::of(&[invalid], 1), None, time(4));
    assert!(told(&set).contains("04 ParametersGenerated True"));
}

#[test]
fn a_rollout_has_conditions_of_its_own() {
    let mut set = listed(&["a"], "strategy: {type: RollingSync, rollingSync: {steps: [{}]}}");
    let rollout = Rollout { step: Some(2), problems: vec!["a".into(), "b".into()], ..Rollout::default() };
    set.status.conditions = conditions(&set, &Report::UpToDate, Some(&rollout), time(1));
    let now = told(&set);
    assert!(now.contains("01 InvalidRolloutConfig True ErrorOccurred: a; b"), "{now}");
    assert!(now.contains(
        "01 RolloutProgressing True ApplicationSetModified: ApplicationSet is performing rollout of step 2"
    ));
    // Nothing was said about it this time.
    set.status.conditions = conditions(&set, &Report::of(&[fault()], 1), None, time(2));
    assert!(told(&set).contains("01 RolloutProgressing True"));
    set.status.conditions = conditions(&set, &Report::UpToDate, Some(&Rollout::default()), time(3));
    assert!(told(&set).contains(
        "03 RolloutProgressing False ApplicationSetRolloutComplete: ApplicationSet Rollout has completed"
    ));
    assert!(!told(&set).contains("InvalidRolloutConfig"));
}

#[test]
fn a_long_message_is_cut() {
    let set = listed(&["a"], "");
    let long = Fault { message: "é".repeat(limits::MESSAGE_BYTES), ..fault() };
    let all = conditions(&set, &Report::of(&[long], 1), None, time(1));
    assert!(all.iter().all(|one| one.message.len() <= limits::MESSAGE_BYTES + 3));
}

#[test]
fn resources_are_listed_as_many_as_etcd_has_room_for() {
    let mut app = applied(&listed(&["a"], "")).remove(0);
    app.metadata.namespace = "a-namespace-with-a-long-name-in-which-applications-are".into();
    let all: Vec<_> = (0..20_000)
        .map(|at| {
            let mut app = app.clone();
            app.metadata.name = format!("application-with-a-rather-long-name-{at:05}").into();
            app
        })
        .collect();
    let (listed, count) = resources(&all, None).expect("a list");
    let bytes: usize =
        listed.iter().map(|one| json::to_string(&from_typed(one).expect("a value")).len() + 1).sum();
    assert!(
        count == 20_000 && listed.len() > 3_000 && bytes <= limits::STATUS_BYTES,
        "{} {bytes}",
        listed.len()
    );
    assert_eq!(resources(&all, Some(10)).expect("a list").0.len(), 10);
    let first = json::to_string(&from_typed(&listed[0]).expect("a value"));
    assert_eq!(
        first,
        r#"{"group":"argoproj.io","health":{},"kind":"Application","name":"application-with-a-rather-long-name-00000","namespace":"a-namespace-with-a-long-name-in-which-applications-are","version":"v1alpha1"}"#
    );
}
