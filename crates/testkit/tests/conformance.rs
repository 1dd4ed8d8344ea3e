//! Replays the recorded answers of the real programs, where the environment says where they are.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use std::path::PathBuf;

use lynceus_testkit::conformance::{self, Report};

fn check(replay: impl Fn(&std::path::Path) -> std::io::Result<Report>) {
    let Some(dir) = std::env::var_os("LYNCEUS_CASES").map(PathBuf::from) else { return };
    let report = replay(&dir).expect("the cases can be read");
    let unexplained: Vec<_> = report.unexplained().collect();
    let shown: Vec<String> =
        unexplained.iter().take(20).map(|failure| format!("{}: {}", failure.case, failure.detail)).collect();
    assert!(unexplained.is_empty(), "{} of {} agree\n{}", report.passed, report.ran, shown.join("\n"));
    assert!(report.passed * 100 >= report.ran * 99, "only {} of {} agree", report.passed, report.ran);
}

#[test]
fn syncs_go_as_the_real_engine_ran_them() {
    check(conformance::sync::run);
}

#[test]
fn kustomizations_are_built_as_kustomize_built_them() {
    check(conformance::kustomize::run);
}

#[test]
fn the_shorter_way_of_a_comparison_ends_as_the_full_one() {
    check(conformance::diff::change);
}

#[test]
fn comparisons_end_as_the_real_engine_ended_them() {
    check(conformance::diff::run);
}
