//! Several things wrong at once: all of them are found, and nothing else. `cargo xtask bench doctor` tries many more.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use lynceus_testkit::mixture::Mixture;

/// What is found has to be what was put in.
fn check(name: &str, mixture: &Mixture) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let verdict = mixture.judge(&runtime.block_on(mixture.examine()).unwrap());
    assert!(verdict.is_right(), "{name}: {verdict:?}");
}

#[test]
fn a_mixture_is_told_apart() {
    check("three causes", &Mixture::of(1));
}

#[test]
fn one_cause_between_healthy_applications_is_found_and_nothing_else() {
    for sort in ["wave-order", "failed-hook", "volume-fails"] {
        check(sort, &Mixture::only(sort, 1).unwrap());
    }
}
