//! Several things wrong at once: all of them are found, and nothing else. `cargo xtask bench doctor` tries many more.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has to stop")]

use lynceus_testkit::mixture::Mixture;

#[test]
fn what_is_wrong_is_found_and_nothing_else() {
    for seed in [1, 2, 3, 4] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mixture = Mixture::of(seed);
        let verdict = mixture.judge(&runtime.block_on(mixture.examine()).unwrap());
        assert!(verdict.is_right(), "{seed}: {verdict:?}");
    }
}
